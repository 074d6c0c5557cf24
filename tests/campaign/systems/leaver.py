# SPDX-License-Identifier: Apache-2.0
"""leaver.py front|back PORT: `front` begins to send a body to `back`, and leaves before its end."""
import os
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if sys.argv[1] == "front":
            back = urlsplit(os.environ["BACK"])
            with socket.create_connection((back.hostname, back.port)) as link:
                link.sendall(b"POST /x HTTP/1.1\r\nhost: back\r\ncontent-length: 10\r\n\r\nabc")
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
