# SPDX-License-Identifier: Apache-2.0
"""A feed with asyncio: `feed.py NAME PORT` starts one of the services. Answers are compressed for
those who accept it, as the pool does.

    feed --+-- profiles            who reads
           +-- posts --- likes     the posts, with how many like them; likes are optional
           `-- ads                 optional

The three are asked side by side, through one pool of connections per service.

Correct: timeouts, the longer the nearer to the client; without ads there are none, without likes posts say null ("not known").
FLAW: without a profile feed says 404, as if there were no such user.
FLAW: posts are tried again at once.
"""
import asyncio
import os
import sys

import aiohttp
from aiohttp import web

PROBLEMS = (aiohttp.ClientError, asyncio.TimeoutError)


async def get(request, service, path):
    pool = request.app["pool"]
    async with pool.get(os.environ[service] + path) as answer:
        answer.raise_for_status()
        return await answer.json()


async def optional(answer, otherwise):
    try:
        return await answer
    except PROBLEMS:
        return otherwise


async def twice(request, service, path):
    try:
        return await get(request, service, path)
    except PROBLEMS:
        return await get(request, service, path)


def reply(body, status=200):
    answer = web.json_response(body, status=status)
    answer.enable_compression()
    return answer


async def feed(request):
    user = request.match_info["id"]
    profile, posts, ads = await asyncio.gather(
        get(request, "PROFILES", f"/profiles/{user}"), twice(request, "POSTS", f"/posts/{user}"),
        optional(get(request, "ADS", "/ads"), []), return_exceptions=True)
    if isinstance(profile, Exception):
        return reply({"error": "no such user"}, 404)
    if isinstance(posts, Exception):
        return reply({"error": "no posts now"}, 503)
    return reply({"for": profile["name"], "posts": posts, "ads": ads})


async def posts(request):
    likes = await optional(get(request, "LIKES", "/likes/1"), {"count": None})
    return reply([{"id": 1, "text": "hello", "likes": likes["count"]}])


def fixed(body):
    async def handler(_request):
        return reply(body)
    return handler


ROUTES = {
    "feed": ("/feed/{id}", feed),
    "posts": ("/posts/{id}", posts),
    "profiles": ("/profiles/{id}", fixed({"name": "Ann"})),
    "likes": ("/likes/{id}", fixed({"count": 4})),
    "ads": ("/ads", fixed([{"text": "buy this"}])),
}


async def pool(app):
    patience = aiohttp.ClientTimeout(total=1.5 if name == "feed" else 0.5)
    app["pool"] = aiohttp.ClientSession(timeout=patience,
                                        connector=aiohttp.TCPConnector(limit=10))
    yield
    await app["pool"].close()


if __name__ == "__main__":
    name, port = sys.argv[1:]
    app = web.Application()
    app.cleanup_ctx.append(pool)
    app.router.add_get("/health", fixed({}))
    app.router.add_get(*ROUTES[name])
    web.run_app(app, host="127.0.0.1", port=int(port), print=None, access_log=None)
