# SPDX-License-Identifier: Apache-2.0
"""poison.py PORT: `/first` asks $BACK; when that fails, `/second` answers 500 until the service is started
anew. `/second` asks $BACK too, and does not need it. Anything else is answered with 200."""
import http.client
import os
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

poisoned = False


def ask():
    link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ["BACK"]).netloc, timeout=10)
    try:
        link.request("GET", "/value")
        return link.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        link.close()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        global poisoned
        status = 200
        if self.path == "/first":
            poisoned |= not ask()
        elif self.path == "/second":
            ask()
            status = 500 if poisoned else 200
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
