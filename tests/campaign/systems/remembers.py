# SPDX-License-Identifier: Apache-2.0
"""Services that remember something from one request to the next: `remembers.py PORT [HABIT...]`.

GET /page does what each habit says, in their order, and answers 200:

    breaker   asks $PRICES, behind a circuit breaker that opens for a minute after two failures
    cache     asks $REVIEWS, and keeps a good answer for a minute
    counter   asks $AUDIT in every third request only
    trail     asks $AUDIT at /entries/N, with another N in each request, in a word
    basket    has one item more in each request, and asks $PRICES for each
    wait      asks $AUDIT twice, once, three times, twice, ...
    stamp     posts a random number to $AUDIT
    hello     asks $AUDIT as it starts, before it listens
    weary     does not start a fourth time (counts in the file `weary`)

Anything else is answered with 200.
"""
import http.client
import http.server
import os
import pathlib
import random
import sys
import time
import urllib.parse

port, *habits = sys.argv[1:]
failures = open_until = cached_until = requests = 0
basket = []
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi".split()


def ask(where, path="/", body=None):
    link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ[where]).netloc, timeout=5)
    try:
        link.request("POST" if body else "GET", path, body)
        answer = link.getresponse()
        answer.read()
        return answer.status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        link.close()


def breaker():
    global failures, open_until
    if time.time() < open_until:
        return
    failures = 0 if ask("PRICES") else failures + 1
    if failures >= 2:
        open_until = time.time() + 60


def cache():
    global cached_until
    if time.time() >= cached_until and ask("REVIEWS"):
        cached_until = time.time() + 60


def counter():
    if requests % 3 == 0:
        ask("AUDIT")


def trail():
    ask("AUDIT", f"/entries/{WORDS[requests % 16]}-{WORDS[requests // 16 % 16]}")


def add_to_basket():
    basket.append(1)
    for _ in basket:
        ask("PRICES")


def wait():
    for _ in range((2, 1, 3)[(requests - 1) % 3]):
        ask("AUDIT")


def stamp():
    ask("AUDIT", body='{"number": %d}' % random.randrange(1 << 30))


ACTS = {"breaker": breaker, "cache": cache, "counter": counter, "trail": trail,
        "basket": add_to_basket, "wait": wait, "stamp": stamp}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def do_GET(self):
        global requests
        if self.path == "/page":
            requests += 1
            for habit in habits:
                if habit in ACTS:
                    ACTS[habit]()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *rest):
        pass


if "hello" in habits:
    ask("AUDIT", "/hello")
if "weary" in habits:
    starts = pathlib.Path("weary")
    with starts.open("a", encoding="ascii") as file:
        file.write(".")
    if starts.stat().st_size > 3:
        sys.exit("too weary to start")
http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
