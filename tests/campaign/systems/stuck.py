# SPDX-License-Identifier: Apache-2.0
"""A service that hangs: `stuck.py PORT`.

GET /stuck asks $A, and never answers without it. GET /stuck/slow then asks $B; without that it answers
503, after 4 s. Anything else is answered with 200.
"""
import http.client
import http.server
import os
import sys
import threading
import time
import urllib.parse


def ask(where):
    link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ[where]).netloc, timeout=5)
    link.request("GET", "/")
    answer = link.getresponse()
    answer.read()
    link.close()
    return answer.status == 200


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status = 200
        if self.path.startswith("/stuck") and not ask("A"):
            threading.Event().wait()
        if self.path == "/stuck/slow" and not ask("B"):
            time.sleep(4)
            status = 503
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *rest):
        pass


http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
