# SPDX-License-Identifier: Apache-2.0
"""An everyday service: `trial.py PORT [WORD ...]`. It calls what $NEXT names, one after the other,
and answers 200, or 503 when a call fails. It speaks HTTP/1.1 and keeps connections open. Words:

  tries:N    tries each call N times
  absorb     answers 200 all the same
  raise      has a bug: a failed call is an exception that nobody catches, and no answer
  hiccup:N   answers its Nth request with 503 before it calls anybody
  pause:N    takes 200 ms longer for its Nth request and the third after it
  id         has a random id and the time in its answers
  list       has a list in its answers, which is empty when a call failed
  gzip       compresses its answers
  cache      calls only until a call succeeds
"""
import gzip
import http.server
import json
import os
import sys
import time
import urllib.request
import uuid

words = dict(word.partition(":")[::2] for word in sys.argv[2:])
callees = os.environ.get("NEXT", "").split()
asked = {"times": 0}
cached = []


def call(url):
    for _ in range(int(words.get("tries", 1))):
        try:
            with urllib.request.urlopen(url + "/value", timeout=5) as answer:
                body = answer.read()
                json.loads(gzip.decompress(body) if answer.headers["Content-Encoding"] else body)
                return True
        except (OSError, ValueError):
            pass
    return False


def calls():
    if "cache" in words and cached:
        return True
    fine = all([call(url) for url in callees])
    if fine:
        cached.append(fine)
    return fine


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, {})
        asked["times"] += 1
        if asked["times"] == int(words.get("hiccup", 0)):
            return self.answer(503, {})
        if asked["times"] - int(words.get("pause", -9)) in (0, 3):
            time.sleep(0.2)
        fine = calls()
        if not fine and "raise" in words:
            raise RuntimeError("nobody catches this")
        body = {"fine": True}
        if "id" in words:
            body.update(id=str(uuid.uuid4()), at=time.time())
        if "list" in words:
            body.update(list=[1, 2] if fine else [])
        return self.answer(200 if fine or "absorb" in words else 503, body)

    do_POST = do_GET

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        if "gzip" in words:
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *rest):
        pass


http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
