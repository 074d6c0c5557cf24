# SPDX-License-Identifier: Apache-2.0
"""Services with good and bad habits: `habits.py PORT [PATH STEP ...]...`.

A word that starts with `/` begins what is done for requests to that path; any other path is answered
with 200 at once. Requests that change something are answered with 201. A step is

  NAME:METHOD:/path[:OPTION,...]   calls the service at $NAME; when that fails, the answer is 502
  sleep:SECONDS

and an option is

  timeout=SECONDS  without it the answer is waited for
  tries=N          the call is made up to N times
  wait=SECONDS     so much time between two tries
  key, new-key     an idempotency key: one for all tries, one for each
  soft             a failure is taken as it is, without a word
  pass             the status of a failure is passed on
  lock             a lock is held during the call
  text             a failure is told in the body of a success
"""
import http.client
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse
import uuid

CONTEXT = ("traceparent", "tracestate")
lock = threading.Lock()


def steps_by_path(words):
    found, steps = {}, None
    for word in words:
        if word.startswith("/"):
            steps = found.setdefault(word, [])
        else:
            steps.append(word)
    return found


def attempt(url, method, headers, timeout):
    """The status of the answer; 0: there was none."""
    parts = urllib.parse.urlsplit(url)
    link = http.client.HTTPConnection(parts.netloc, timeout=timeout)
    try:
        link.request(method, parts.path, b'{"amount": 7}' if method == "POST" else None, headers)
        answer = link.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        link.close()


def try_call(url, method, context, options):
    """The status of the last try."""
    headers, status = dict(context), 0
    for number in range(int(options.get("tries", 1))):
        if number:
            time.sleep(float(options.get("wait", 0)))
        if "new-key" in options or ("key" in options and not number):
            headers["idempotency-key"] = uuid.uuid4().hex
        timeout = float(options["timeout"]) if "timeout" in options else None
        status = attempt(url, method, headers, timeout)
        if 200 <= status < 300:
            break
    return status


def call(step, context):
    name, method, path, *rest = step.split(":")
    options = dict(one.partition("=")[::2] for one in "".join(rest).split(",") if one)
    url = os.environ[name] + path
    if "lock" not in options:
        return try_call(url, method, context, options), options
    with lock:
        return try_call(url, method, context, options), options


def handle(steps, context):
    """(status, body) or None: all is well."""
    answer = None
    for step in steps:
        if step.startswith("sleep:"):
            time.sleep(float(step.partition(":")[2]))
            continue
        status, options = call(step, context)
        if 200 <= status < 300 or "soft" in options:
            continue
        if "text" in options:
            answer = 200, {"error": "cannot reach it"}
            continue
        return (status if "pass" in options and status else 502), {"sorry": True}
    return answer


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    paths = {}

    def answer(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        context = {name: self.headers[name] for name in CONTEXT if name in self.headers}
        status, body = 201 if self.command == "POST" else 200, {"well": True}
        steps = self.paths.get(self.path, [])
        status, body = handle(steps, context) or (status, body)
        text = json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            pass  # nobody waits any more

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


Handler.paths = steps_by_path(sys.argv[2:])
Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
