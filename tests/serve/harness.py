# SPDX-License-Identifier: Apache-2.0
"""What the scripts of tests/serve share: `outfox sim serve` as a child, and requests to it."""
import http.client
import importlib.util
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True


def load_proxy_harness():
    where = Path(os.environ["TOP"], "tests/proxy/harness.py")
    spec = importlib.util.spec_from_file_location("proxy_harness", where)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


proxy = load_proxy_harness()
checks, each, run, TOP, HOST = proxy.checks, proxy.each, proxy.run, proxy.TOP, proxy.HOST
SANITIZED, PATIENCE_S, wait_until = proxy.SANITIZED, proxy.PATIENCE_S, proxy.wait_until
EXAMPLES, CORPUS = TOP / "examples", TOP / "examples/corpus"
SLACK_S = 12  # how late something may be on a busy machine


class Answer(NamedTuple):
    status: int
    body: object  # a value, or text that is no JSON; None: nothing
    seconds: float
    type: str = ""


class Served(proxy.Child):
    """`outfox sim serve`, listening. `urls`: by service."""

    def __init__(self, file, *words, services, env=None, limit=None, binary=None):
        super().__init__([binary or proxy.OUTFOX, "sim", "serve", file, *words], env=env,
                         limit=limit)
        self.urls = {}
        for nth in range(services):
            found = self.match(r"^(\S+) (http://127\.0\.0\.1:\d+)$", after=nth)
            if not found:
                checks.that(False, f"serves {file}", self.said)
                end()
            self.urls[found[1]] = found[2]

    def end(self, how=signal.SIGTERM):
        self.signal(how)
        code = self.wait()
        checks.equal(code, 0, f"ends well: {' '.join(self.command[1:])[:200]} {self.said[-1500:]}")


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


def ask(url, method, path, payload=None, headers=None, timeout=PATIENCE_S):
    """One request on a connection of its own."""
    link = http.client.HTTPConnection(HOST, proxy.port_of(url), timeout=timeout)
    started = time.monotonic()
    try:
        body = None if payload is None else json.dumps(payload)
        link.request(method, path, body=body, headers=headers or {})
        answer = link.getresponse()
        text = answer.read()
        return Answer(answer.status, value_of(text), time.monotonic() - started,
                      answer.getheader("content-type") or "")
    finally:
        link.close()


def value_of(text):
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors="replace")


def in_memory(file, *words):
    """Status and body of the run without faults."""
    document = run("sim", "run", file, "--json", *words).json
    return document["status"], document["body"]


class Stub:
    """A server that treats its nth connection as the nth function says: function(socket)."""

    def __init__(self, *acts):
        self.acts, self.seen = list(acts), 0
        self.socket = socket.create_server((HOST, 0))
        self.url = f"http://{HOST}:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                link, _ = self.socket.accept()
            except OSError:
                return
            act = self.acts[min(self.seen, len(self.acts) - 1)]
            self.seen += 1
            threading.Thread(target=self.one, args=(act, link), daemon=True).start()

    @staticmethod
    def one(act, link):
        with link:
            try:
                act(link)
            except OSError:
                pass

    def close(self):
        self.socket.close()


def end():
    for child in list(proxy.children):
        if isinstance(child, Served) and child.process.poll() is None:
            child.end()
    proxy.end_children()
    checks.end()
