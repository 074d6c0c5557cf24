# SPDX-License-Identifier: Apache-2.0
"""NATS by its text protocol: as little as clients, roles and checks of these plans need."""
import base64
import json
import os
import socket
import time

NODES = ("nats1", "nats2", "nats3")
GONE = (OSError, ValueError, KeyError)  # all that is no answer
INBOX = f"_INBOX.{os.getpid()}.{time.monotonic_ns()}"
HELLO = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "lang": "python", "version": "0"}


class Server:
    """A connection to one server; each request waits `patience_s` for its answer."""

    def __init__(self, node, patience_s=1.0):
        self.node, self.patience_s, self.count, self.rest = node, patience_s, 0, b""
        self.socket = socket.create_connection((os.environ[f"OUTFOX_IP_{node}"], 4222), timeout=patience_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.until = time.monotonic() + patience_s
        self.line()  # INFO
        self.socket.sendall(f"CONNECT {json.dumps(HELLO)}\r\nSUB {INBOX}.* 1\r\nPING\r\n".encode())
        while self.line() != b"PONG":
            pass

    def close(self):
        self.socket.close()

    def more(self):
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{self.node}: no answer within {self.patience_s} s")
        self.socket.settimeout(left)
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError(f"{self.node}: connection closed")
        self.rest += data

    def line(self):
        while b"\r\n" not in self.rest:
            self.more()
        line, self.rest = self.rest.split(b"\r\n", 1)
        if line.startswith(b"-ERR"):
            raise ConnectionError(f"{self.node}: {line.decode()}")
        return line

    def take(self, size):
        while len(self.rest) < size + 2:
            self.more()
        data, self.rest = self.rest[:size], self.rest[size + 2:]
        return data

    def message(self):
        """The next one: subject, header, payload."""
        while True:
            words = self.line().split()
            if words[:1] == [b"PING"]:
                self.socket.sendall(b"PONG\r\n")
            elif words[:1] in ([b"MSG"], [b"HMSG"]):
                head = int(words[-2]) if words[0] == b"HMSG" else 0
                data = self.take(int(words[-1]))
                return words[1].decode(), data[:head], data[head:]

    def ask(self, subject, payload=b""):
        """The answer, a document; raises one of GONE."""
        self.count += 1
        mine = f"{INBOX}.{self.count}"
        self.until = time.monotonic() + self.patience_s
        self.socket.sendall(f"PUB {subject} {mine} {len(payload)}\r\n".encode() + payload + b"\r\n")
        while True:
            to, head, data = self.message()
            if to != mine:
                continue  # an answer to an earlier one, too late
            if head and not data:
                raise ConnectionError(f"{self.node}: nobody answers")
            answer = json.loads(data)
            if "error" in answer:
                raise ValueError(f"{self.node}: {answer['error'].get('description', 'error')}")
            return answer

    def read(self, stream):
        """All messages of a stream, in order."""
        state = self.ask(f"$JS.API.STREAM.INFO.{stream}")["state"]
        if not state["messages"]:
            return []
        asked = (json.dumps({"seq": n}).encode() for n in range(state["first_seq"], state["last_seq"] + 1))
        return [base64.b64decode(self.ask(f"$JS.API.STREAM.MSG.GET.{stream}", one)["message"]["data"]) for one in asked]


def anyone(act, patience_s=3.0):
    """What `act` gives on the first server that answers."""
    why = OSError("no server")
    for node in NODES:
        try:
            server = Server(node, patience_s)
            try:
                return act(server)
            finally:
                server.close()
        except GONE as error:
            why = error
    raise why
