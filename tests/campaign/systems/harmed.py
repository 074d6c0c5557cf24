# SPDX-License-Identifier: Apache-2.0
"""A shop whose front writes to an audit (without a timeout), then asks for a price, or for that of
yesterday. One program for all of its services: harmed.py PORT."""
import os
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def ask(service, path, timeout=None):
    with urllib.request.urlopen(os.environ[service] + path, timeout=timeout) as answer:
        return answer.read().decode()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        status, text = 200, "7"
        if self.path == "/page":
            status, text = page()
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


def page():
    try:
        ask("AUDIT", "/seen")
    except OSError:
        pass
    try:
        return 200, ask("PRICES", "/price", 2)
    except OSError:
        pass
    try:
        return 200, ask("YESTERDAY", "/price", 2)
    except OSError:
        return 500, "no price"


class Server(ThreadingHTTPServer):
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
