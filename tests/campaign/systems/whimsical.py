# SPDX-License-Identifier: Apache-2.0
"""whimsical.py front|back PORT: `front` asks each of the services at $BACK for something else every
time, and does not mind when they fail."""
import os
import random
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        for back in os.environ.get("BACK", "").split():
            word = "".join(random.choice("bdfgklmnprst") + random.choice("aeiou") for _ in "123")
            try:
                urllib.request.urlopen(f"{back}/{word}", timeout=10).read()
            except OSError:
                pass
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
