#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small service to try `outfox proxy` with: it charges cards, and says how often it did.

    payment.py [PORT]     listens on 127.0.0.1; port 0, the default, is chosen by the system

POST /charge charges, but not twice for the same Idempotency-Key. GET /charges says how often it
charged.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Payment(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    charges = 0
    keys = set()

    def reply(self, status, answer):
        body = json.dumps(answer).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/charges":
            self.reply(200, {"charges": Payment.charges})
        else:
            self.reply(404, {"error": "there is nothing here"})

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key = self.headers.get("Idempotency-Key")
        if self.path == "/charge":
            Payment.charges += key not in Payment.keys
            Payment.keys |= {key} - {None}
            self.reply(200, {"charged": True})
        else:
            self.reply(404, {"error": "there is nothing here"})

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if sys.argv[1:] else 0), Payment)
print(f"payment: listening on http://127.0.0.1:{server.server_port}", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
