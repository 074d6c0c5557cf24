# SPDX-License-Identifier: Apache-2.0
"""What the services in Python share: JSON over HTTP with the standard library."""
import json
import os
import re
import signal
import sys
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit


def compiled(routes):
    """[(method, pattern of the path, handler)] of {"GET /stations/<name>": handler}."""
    found = []
    for route, handler in {"GET /health": lambda asked: (200, {"ok": True}), **routes}.items():
        method, path = route.split(" ")
        found.append((method, re.compile(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", path)), handler))
    return found


class Asked:
    """A request: what its path says, its query and its body."""

    def __init__(self, path, query, body):
        self.path = {name: unquote(value) for name, value in path.items()}
        self.query, self.body = dict(parse_qsl(query)), body


def serve(routes):
    """Serves {"GET /stations/<name>": lambda asked: (status, answer)} at $PORT."""
    known = compiled(routes)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self):
            text = self.rfile.read(int(self.headers.get("content-length") or 0))
            url = urlsplit(self.path)
            status, answer = 404, {"error": "no such path"}
            for method, pattern, handler in known:
                matched = pattern.fullmatch(url.path)
                if method == self.command and matched:
                    status, answer = self.answer_of(handler, matched, url.query, text)
                    break
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @staticmethod
        def answer_of(handler, matched, query, text):
            try:
                return handler(Asked(matched.groupdict(), query, json.loads(text or "{}")))
            except Exception as error:
                traceback.print_exc()
                return 500, {"error": repr(error)}

        do_GET = do_POST = do_PUT = do_DELETE = handle_any

        def log_message(self, *words):
            """Says nothing: only what goes wrong is of interest."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Server(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
