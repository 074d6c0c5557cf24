# SPDX-License-Identifier: Apache-2.0
"""A shop that takes faults well: `shop.py PORT [shop]`.

The shop asks stock ($STOCK) for prices, hints ($HINTS) for something nice, and lets payment
($PAYMENT) charge for an order. It passes the trace context on. Without hints it sells all the same;
without the others it answers 503. The others answer whatever they are asked.

  POST /carts    looks up one price
  POST /orders   looks up two prices, asks for hints, charges
  GET /orders    looks up one price
"""
import http.client
import http.server
import json
import os
import sys
import urllib.parse

PASSED = ("traceparent", "tracestate", "baggage")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    shop = False

    def answer(self, status):
        text = json.dumps({"ok": status == 200}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def ask(self, name, method, path, **body):
        link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ[name]).netloc,
                                          timeout=10)
        headers = {key: self.headers[key] for key in PASSED if self.headers[key]}
        try:
            link.request(method, path, json.dumps(body),
                         {**headers, "Content-Type": "application/json"})
            answer = link.getresponse()
            answer.read()
            return answer.status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            link.close()

    def order(self):
        if not all(self.ask("STOCK", "GET", "/prices", item=item) for item in ("tea", "milk")):
            return False
        self.ask("HINTS", "GET", "/hints")
        return self.ask("PAYMENT", "POST", "/charge", cents=700)

    def serve(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        if not self.shop or self.path == "/health":
            return self.answer(200)
        if self.command == "POST" and self.path == "/orders":
            return self.answer(200 if self.order() else 503)
        return self.answer(200 if self.ask("STOCK", "GET", "/prices", item="tea") else 503)

    do_GET = do_POST = serve

    def log_message(self, *words):
        pass


if __name__ == "__main__":
    Handler.shop = "shop" in sys.argv[2:]
    http.server.ThreadingHTTPServer.daemon_threads = True
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
