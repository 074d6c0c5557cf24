# SPDX-License-Identifier: Apache-2.0
"""Services that take faults badly, quick to start: `fragile.py PORT [BEHAVIOUR]`.

Without a behaviour it answers GET /value with a number. With one it asks the services at $BACK, one
after the other, for theirs, and does what the behaviour says when some of them fail; until then it
is well. GET /health never asks anybody, and GET /nothing fails and writes that it does.
"""
import ctypes
import http.client
import http.server
import json
import os
import resource
import sys
import threading
import time
import urllib.parse

DESCRIPTORS = 64


# Requests that are answered with an error by themselves, before anybody is asked.
HICCUPS = {"hiccup": lambda n: n == 6, "limp": lambda n: n > 5 and n % 3 == 0}


class State:
    asked = 0
    broken = False
    staggering = False
    leaked = []


def leak(failed):
    """Ten descriptors are lost each time; there are not many."""
    for _ in range(10):
        State.leaked.append(os.open(os.devnull, os.O_RDONLY))


def drip(failed):
    """One descriptor is lost each time."""
    State.leaked.append(os.open(os.devnull, os.O_RDONLY))


def swell(failed):
    """A mebibyte is kept each time."""
    State.leaked.append(b"x" * (1 << 20))


def fill(failed):
    """Both at once, but it knows when it has enough."""
    if len(State.leaked) < 50:
        drip(failed)
        State.leaked.append(b"x" * (2 << 20))


def stagger(failed):
    """The next request is not well answered; those after it are."""
    State.staggering = True


def spoil(failed):
    State.broken = True


def linger(failed):
    """The connection is gone at once; the process, which still listens, a moment later."""
    threading.Timer(0.15, os._exit, [3]).start()
    raise ConnectionAbortedError


def collapse(failed):
    """It answers, and dies a moment later."""
    threading.Timer(0.04, os._exit, [3]).start()


def hang(failed):
    threading.Event().wait()


# What is done when so many of the services fail; gives the status of the answer, if not 503.
BEHAVIOURS = {
    "apologise": lambda failed: 503,
    "tolerate": lambda failed: 200,
    "stumble": lambda failed: 200 if failed == 1 else 500,  # over the second one
    "exit": lambda failed: os._exit(3),
    "linger": linger,
    "collapse": collapse,
    "hiccup": lambda failed: 200,
    "limp": lambda failed: 200,
    "segfault": lambda failed: ctypes.string_at(0),
    "hang": hang,
    "slow": lambda failed: time.sleep(0.3),
    "leak": leak,
    "drip": drip,
    "swell": swell,
    "fill": fill,
    "stagger": stagger,
    "spoil": spoil,
}


def ask(url):
    """The value of the other service; None when it fails."""
    link = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc,
                                      timeout=float(os.environ.get("PATIENCE", "10")))
    try:
        link.request("GET", "/value")
        answer = link.getresponse()
        body = answer.read()
        return json.loads(body)["value"] if answer.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        link.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    behaviour = None

    def answer(self, status, **body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, ok=True)
        if self.path == "/nothing":
            print("there is nothing at /nothing", file=sys.stderr, flush=True)
            return self.answer(500)
        if not self.behaviour:
            return self.answer(200, value=7)
        State.asked += 1
        if self.behaviour in HICCUPS and HICCUPS[self.behaviour](State.asked):
            return self.answer(503, error="a hiccup")
        if State.broken:
            return self.answer(500, error="broken for ever")
        if State.staggering:
            State.staggering = False
            return self.answer(500, error="a moment, please")
        values = [ask(back) for back in os.environ["BACK"].split()]
        failed = values.count(None)
        status = (BEHAVIOURS[self.behaviour](failed) or 503) if failed else 200
        return self.answer(status, value=sum(value or 0 for value in values))

    do_POST = do_GET

    def log_message(self, *words):
        pass


def main():
    port, *rest = sys.argv[1:]
    Handler.behaviour = rest[0] if rest else None
    if Handler.behaviour == "leak":
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    http.server.ThreadingHTTPServer.daemon_threads = True
    http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main()
