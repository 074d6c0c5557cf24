# SPDX-License-Identifier: Apache-2.0
"""Services that compress their answers: `packed.py PORT CODING`. With $STOCK it asks there for an
item, and answers 503 when that has no price."""
import gzip
import http.server
import json
import os
import sys
import urllib.request
import zlib

CODING = sys.argv[2]
PACK = {"gzip": gzip.compress, "deflate": zlib.compress, "br": lambda text: b"\x8b\x02\x80" + text}


def price():
    with urllib.request.urlopen(os.environ["STOCK"] + "/item", timeout=10) as answer:
        body, coding = answer.read(), answer.headers["Content-Encoding"]
    unpack = {"gzip": gzip.decompress, "deflate": zlib.decompress}.get(coding, bytes)
    return json.loads(unpack(body)).get("price")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asks = "STOCK" in os.environ
        value = price() if asks else 12
        text = json.dumps({"price": value, "left": 3}).encode()
        self.send_response(200 if value else 503)
        self.send_header("Content-Encoding", CODING)
        self.end_headers()
        self.wfile.write(PACK[CODING](text))

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
