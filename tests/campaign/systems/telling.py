# SPDX-License-Identifier: Apache-2.0
"""Services that tell something: `telling.py NAME PORT`.

`front` asks $A, once more where $AGAIN is set, and answers 500 after a traceback in its log when that
fails; then it asks $B, and does without. The others answer 200. All write a line for each request.
"""
import http.client
import http.server
import os
import sys
import traceback
import urllib.parse

NAME, PORT = sys.argv[1], int(sys.argv[2])


def ask(where):
    link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ[where]).netloc, timeout=5)
    link.request("GET", "/")
    answer = link.getresponse()
    answer.read()
    link.close()
    if answer.status != 200:
        raise ValueError(f"{where.lower()} answered {answer.status}")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status = 200
        print(f"{NAME} handles {self.path}", flush=True)
        if NAME == "front":
            try:
                try:
                    ask("A")
                except ValueError:
                    if "AGAIN" not in os.environ:
                        raise
                    ask("A")
            except ValueError:
                traceback.print_exc()
                status = 500
            try:
                ask("B")
            except ValueError:
                pass
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *rest):
        pass


http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
