# SPDX-License-Identifier: Apache-2.0
"""Services that call each other: `chain.py PORT [WORD ...]`. Those to be called are in $CALLEES.
Words:

  pass:HEADER,...  passes these headers on
  fallback         calls the second only when the first fails
  keep             keeps its connections open
  lose             passes nothing on (which is so anyway)
  large            answers with much
  file             fails unless there is a file `well`, and writes that it misses it
  never            is never ready
  background       calls without waiting for the answer
  exit             ends at once when a call fails
  silent           never answers
  die-later        ends 0.2 s after an answer during which a call failed
"""
import http.client
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

words = sys.argv[2:]
passed = [name for word in words if word.startswith("pass:") for name in word[5:].split(",")]
callees = os.environ["CALLEES"].split()


kept = {}


def ask(url, headers):
    link = kept.get(url) or http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=10)
    try:
        link.request("GET", "/value", headers=headers)
        answer = link.getresponse()
        answer.read()
        return answer.status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        if "keep" in words:
            kept[url] = link
        else:
            link.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, **body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        if self.path == "/health":
            return self.answer(503 if "never" in words else 200)
        if "file" in words and not os.path.exists("well"):
            print("there is no file `well`", file=sys.stderr, flush=True)
            return self.answer(500)
        headers = {name: self.headers[name] for name in passed if self.headers[name]}
        fine, fallback = True, "fallback" in words
        for callee in callees:
            if "background" in words:
                threading.Thread(target=ask, args=(callee, headers), daemon=True).start()
                continue
            answered = ask(callee, headers)
            fine = answered if fallback else fine and answered
            if fallback and fine:
                break
        if "silent" in words:
            threading.Event().wait()
        if not fine and "exit" in words:
            os._exit(3)
        if not fine and "die-later" in words:
            threading.Thread(target=lambda: (time.sleep(0.2), os._exit(3))).start()
        many = ["x" * 1000] * 200 if "large" in words else []
        return self.answer(200 if fine else 503, many=many, last=7)

    def log_message(self, *rest):
        pass


http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
