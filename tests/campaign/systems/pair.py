# SPDX-License-Identifier: Apache-2.0
"""Equal calls side by side, treated differently: `pair.py PORT`.

GET /page/WORD asks $USERS for an owner and a guest at the same time, in an order of chance, and
answers 503 without the owner; without the guest it says so to $AUDIT. The word says what their
requests look like: a row of REQUESTS. `apart`: the guest is asked for when the owner is known.
Anything else is answered with 200, after a moment.
"""
import http.client
import http.server
import itertools
import json
import os
import random
import sys
import threading
import time
import urllib.parse

UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c330"
numbers = itertools.count(1)
REQUESTS = {"ids": lambda: ("/users/7", "/users/8"),
            "uuids": lambda: (f"/users/{UUID}1", f"/users/{UUID}2"),
            "queries": lambda: ("/users?id=7&at=%d" % time.time_ns(),
                                "/users?id=8&at=%d" % time.time_ns()),
            "fresh": lambda: (f"/users/{next(numbers)}", f"/users/{next(numbers)}"),
            "same": lambda: ("/me", "/me"),
            "apart": lambda: ("/me", "/me")}


def ask(where, path, out):
    time.sleep(random.random() * 0.002)
    link = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ[where]).netloc, timeout=10)
    try:
        link.request("GET", path)
        answer = link.getresponse()
        answer.read()
        out.append(answer.status)
    except (OSError, http.client.HTTPException):
        pass
    finally:
        link.close()


def page(word):
    owner, guest = [], []
    threads = [threading.Thread(target=ask, args=("USERS", path, out))
               for path, out in zip(REQUESTS[word](), (owner, guest))]
    for thread in threads:
        thread.start()
        if word == "apart":
            thread.join()
    for thread in threads:
        thread.join()
    if owner != [200]:
        return 503, {}
    if guest != [200]:
        ask("AUDIT", "/missing", [])
    return 200, {"guest": guest == [200]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        word = self.path.partition("/page/")[2]
        status, document = page(word) if word else (200, {})
        if not word:
            time.sleep(0.02)
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *rest):
        pass


http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
