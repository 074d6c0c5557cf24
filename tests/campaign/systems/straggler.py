# SPDX-License-Identifier: Apache-2.0
"""straggler.py front|back PORT [pass] [poll] [long]: `front` asks $A and $B side by side, $B once more 60 ms
(`long`: 250 ms) after it has failed, and answers 503 as soon as one of them is lost. So when both fail, the second
try of $B comes when the answer is long there. `pass`: the trace context is passed on. `poll`: $B is
asked for its health all the time, on behalf of nobody."""
import http.client
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

CONTEXT = ("traceparent", "tracestate")


def send(url, headers):
    """The request is on its way when this returns."""
    link = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    link.request("GET", urlsplit(url).path, headers={**headers, "connection": "close"})
    return link


def is_good(link):
    try:
        answer = link.getresponse()
        answer.read()
        return answer.status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        link.close()


class Asking:
    """Both are asked; the answer is known when one is lost for good, or both are there."""

    def __init__(self, headers):
        self.lost, self.changed, self.n = False, threading.Condition(), 0
        sent = [(url, send(os.environ[url], headers)) for url in ("A", "B")]
        for url, link in sent:
            threading.Thread(target=self.work, args=(url, link, headers), daemon=True).start()

    def work(self, url, link, headers):
        good = is_good(link)
        if not good and url == "B":
            time.sleep(0.25 if "long" in sys.argv else 0.06)
            good = is_good(send(os.environ[url], headers))
        with self.changed:
            self.n += good
            self.lost |= not good
            self.changed.notify()

    def wait(self):
        with self.changed:
            self.changed.wait_for(lambda: self.lost or self.n == 2)
        return 503 if self.lost else 200


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status = 200
        if sys.argv[1] == "front":
            passed = CONTEXT if "pass" in sys.argv else ()
            status = Asking({name: self.headers[name] for name in passed
                             if name in self.headers}).wait()
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def poll():
    while True:
        time.sleep(0.07)
        is_good(send(os.environ["B"] + "/health", {}))


if "poll" in sys.argv:
    threading.Thread(target=poll, daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
