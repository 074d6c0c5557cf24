# SPDX-License-Identifier: Apache-2.0
"""Four services of a book store, in one file: `store.py NAME PORT` starts one of them.

    page --+-- stock               both are asked at the same time
           `-- reviews --- ratings

They pass on B3 headers, and do nothing else for tracing.

THE BUG: without `ratings`, `reviews` has nothing to say: 204, an answer without content. That is a
success, so `page` reads what is not there.
"""
import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import flask
import requests

app = flask.Flask(__name__)
pool = ThreadPoolExecutor(8)
TIMEOUT_S = 5
B3 = ("x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "x-b3-flags")


def b3():
    """What calls made on behalf of this request must carry."""
    return {name: flask.request.headers[name] for name in B3 if name in flask.request.headers}


def get(service, path, headers):
    """The answer of another service; None when there is none, or it is not well."""
    try:
        answer = requests.get(os.environ[service] + path, headers=headers, timeout=TIMEOUT_S)
    except requests.RequestException:
        return None
    return answer.json() if answer.ok else None


def page(book):
    headers = b3()
    stock = pool.submit(get, "STOCK", f"/stock/{book}", headers)
    reviews = pool.submit(get, "REVIEWS", f"/reviews/{book}", headers)
    stock, reviews = stock.result(), reviews.result()
    if not stock:
        return {"error": "we do not know whether we have it"}, 503
    return {"book": book, "left": stock["left"], "stars": reviews["stars"] if reviews else None}


def reviews(book):
    ratings = get("RATINGS", f"/ratings/{book}", b3())
    return {"stars": ratings["stars"]} if ratings else ("", 204)


ROUTES = {
    "page": ("/books/<book>", page),
    "reviews": ("/reviews/<book>", reviews),
    "stock": ("/stock/<book>", lambda book: {"left": 3}),
    "ratings": ("/ratings/<book>", lambda book: {"stars": 4}),
}

if __name__ == "__main__":
    name, port = sys.argv[1:]
    path, handler = ROUTES[name]
    app.add_url_rule(path, name, handler)
    app.add_url_rule("/health", "health", lambda: {"ok": True})
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app.run("127.0.0.1", int(port))
