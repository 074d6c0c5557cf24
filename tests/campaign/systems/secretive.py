# SPDX-License-Identifier: Apache-2.0
"""A service whose answers, headers and log are full of secrets. PORT front|back|dies; CALLEE."""
import http.client
import json
import os
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = ["s3cr3t-password", "s3cr3t-token", "s3cr3t-cookie", "s3cr3t-bearer", "s3cr3t-url",
           "s3cr3t-card"]


def ask(url):
    link = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=10)
    link.request("GET", "/value?token=s3cr3t-token", headers={"Authorization": "Bearer s3cr3t-bearer"})
    answer = link.getresponse()
    answer.read()
    return answer.status


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status):
        body = {"user": {"password": "s3cr3t-password", "name": "fox"},
                "list": [{"accessToken": "s3cr3t-token"}], "card": "s3cr3t-card",
                "line": "Authorization: Bearer s3cr3t-bearer", "db": "pg://a:s3cr3t-url@den/x"}
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Set-Cookie", "id=s3cr3t-cookie")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        callee = os.environ.get("CALLEE")
        if self.path.startswith("/health") or not callee:
            return self.answer(200)
        print("login password=s3cr3t-password card=s3cr3t-card", file=sys.stderr, flush=True)
        if ask(callee) == 200:
            return self.answer(200)
        if sys.argv[2] == "dies":
            print('died {"token": "s3cr3t-token"} Cookie: s3cr3t-cookie', file=sys.stderr, flush=True)
            os._exit(3)
        return self.answer(500)

    def log_message(self, *words):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
