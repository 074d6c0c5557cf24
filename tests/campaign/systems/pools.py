# SPDX-License-Identifier: Apache-2.0
"""Services that keep connections: `pools.py PORT WORD ...`. What arrives is written to the file
arrivals, a line for each request: the service's name and which of its connections it came on.

  back      answers; with the word `drop`, a request on a connection that it has seen before is
            read, and dropped together with the connection
  front     calls $BACK on a connection that it keeps, and does as HTTP libraries do: when a
            connection that was used before breaks, the call is made once more on a new one
  careless  front, and it raises an exception where the answer of back is not there
"""
import http.client
import http.server
import json
import os
import sys
import urllib.parse

words = sys.argv[2:]
kept = {}


def call():
    """As a library would: nobody above it sees the second try."""
    reused = "link" in kept
    link = kept.pop("link", None) or http.client.HTTPConnection(
        urllib.parse.urlsplit(os.environ["BACK"]).netloc, timeout=10)
    try:
        link.request("GET", "/value")
        answer = link.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException):
        link.close()
        return call() if reused else None
    if not answer.will_close:
        kept["link"] = link
    return json.loads(body)["value"] if answer.status == 200 else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = 0

    def answer(self, status, value):
        text = json.dumps({"value": value}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        with open("arrivals", "a", encoding="ascii") as file:
            file.write(f"{words[0]} {self.client_address[1]}\n")
        self.seen += 1
        if words[0] == "back":
            if "drop" in words and self.seen > 1:
                self.close_connection = True
                return
            self.answer(200, 3)
            return
        value = call()
        if "careless" in words:
            value += 1  # an exception: the connection is closed without an answer
        self.answer(200 if value else 503, value)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
