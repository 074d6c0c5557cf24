# SPDX-License-Identifier: Apache-2.0
"""Services whose every word is hostile to whoever prints it: `foul.py PORT front|back`.

`front` asks $BACK by HTTP/1.1 (GET /plain) and by HTTP/2, whose paths may hold nearly any byte. When
that fails it says so with foul words in its status line, its headers, its body and its log. `back`
speaks HTTP/2 and HTTP/1.1. Nothing here is a proper implementation of either: it is just enough.
"""
import os
import socket
import socketserver
import struct
import sys
import urllib.parse

COMMANDS = ["##[error]pwned", "##vso[task.complete result=Failed;]done", "##teamcity[x name='y']",
            "::error::pwned", "  ::set-output name=a::b", "\u00a0::stop-commands::x",
            "section_start:1:x\r\x1b[0Kfold", "##\u200b[group]x"]
CHARACTERS = ["\x1b[31mred\x1b]0;title\x07", "\x9b2J", "\u202eabc", "\u2066x\u2069", "\u200b", "\ufeff",
              "\u2028::error::a", "\u2029##[b]", "\x00nul\x00", "\x7f", "\U000e0041", "\u00ad"]
PAGE = ["</script><script>owned=1</script>", "<img src=x onerror=owned=1>", "<!--<script>", "\"'><svg onload=owned=1>",
        "javascript:owned=1", "]]>", "&lt;b&gt;&#x202e;", "${owned=1}", "{{owned=1}}"]
BYTES = b"\xff\xfe\xc3(\xed\xa0\x80\x9b\x80"
LINES = [word.encode() for word in COMMANDS + CHARACTERS + PAGE] + [BYTES]
FOUL = b"\n".join(LINES)
ONE_LINE = b" ".join(LINES).replace(b"\n", b" ").replace(b"\r", b" ").replace(b"\0", b" ")
# What HTTP/2 lets through in a path (no controls of ASCII, no blanks).
PATH = "/é\u0085\u009b2J\u202e\u2028\u200b##[error]x##vso[y]</script><img/src=x/onerror=owned=1><!--\"'".encode() + BYTES
STATUS_OK = 0x88  # ":status 200" of the static table


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def take(reader, n):
    data = reader.read(n)
    if len(data) < n:
        raise EOFError
    return data


def frames(reader):
    while True:
        head = take(reader, 9)
        yield (head[3], head[4], struct.unpack(">I", head[5:9])[0] & 0x7fffffff,
               take(reader, struct.unpack(">I", b"\0" + head[:3])[0]))


def ask_h2(host, port):
    """True when it was answered with 200."""
    with socket.create_connection((host, port), timeout=5) as s, s.makefile("rb") as reader:
        head = b"".join(literal(*pair) for pair in (
            (b":method", b"GET"), (b":scheme", b"http"), (b":path", PATH), (b":authority", b"back")))
        s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 5, 1, head))
        for kind, flags, stream, payload in frames(reader):
            if kind == 4 and not flags & 1:
                s.sendall(frame(4, 1, 0, b""))
            elif kind in (3, 7):
                return False
            elif kind == 1 and stream == 1:
                return payload[0] == STATUS_OK
    return False


def ask_h1(host, port):
    with socket.create_connection((host, port), timeout=5) as s:
        s.sendall(b"GET /plain HTTP/1.1\r\nHost: back\r\nX-Foul: ##[error]x \xe2\x80\xae\xff\r\n"
                  b"Connection: close\r\n\r\n")
        with s.makefile("rb") as reader:
            return reader.readline().split()[1:2] == [b"200"]


class Back(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            first = self.rfile.readline()
            if first.startswith(b"PRI "):
                self.serve_h2()
            elif first:
                while self.rfile.readline().strip():
                    pass
                self.wfile.write(b"HTTP/1.1 200 " + ONE_LINE[:40].replace(b"\x1b", b"") + b"\r\n"
                                 b"X-Foul: ##[error]x\r\nContent-Length: 2\r\n"
                                 b"Connection: close\r\n\r\nok")
        except (EOFError, OSError):
            pass

    def serve_h2(self):
        take(self.rfile, len(b"\r\nSM\r\n\r\n"))
        self.wfile.write(frame(4, 0, 0, b""))
        for kind, flags, stream, payload in frames(self.rfile):
            if kind in (4, 6) and not flags & 1:
                self.wfile.write(frame(kind, 1, 0, payload if kind == 6 else b""))
            elif kind == 1:
                self.wfile.write(frame(1, 4, stream, bytes([STATUS_OK])) + frame(0, 1, stream, b"ok"))


class Front(socketserver.StreamRequestHandler):
    def handle(self):
        words = self.rfile.readline().split()
        while self.rfile.readline().strip():
            pass
        if words[1:2] == [b"/health"]:
            self.answer(b"200 OK", b"well")
            return
        back = urllib.parse.urlsplit(os.environ["BACK"])
        try:
            good = ask_h1(back.hostname, back.port) and ask_h2(back.hostname, back.port)
        except (EOFError, OSError):
            good = False
        if good:
            self.answer(b"200 OK", b"well")
            return
        sys.stdout.buffer.write(FOUL + b"\n")
        sys.stdout.flush()
        if os.environ.get("WHEN_FOUL") == "die":
            os._exit(3)
        self.answer(b"500 ##[error]x \xe2\x80\xae", FOUL)

    def answer(self, status, body):
        self.wfile.write(b"HTTP/1.1 " + status + b"\r\nX-Foul: ##[error]x \xe2\x80\xae\xff\r\n"
                         b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    if sys.argv[1] == "print":  # a test
        sys.stdout.buffer.write(FOUL + b"\n")
        sys.stdout.flush()
        front = urllib.parse.urlsplit(os.environ["FRONT"])
        with socket.create_connection((front.hostname, front.port), timeout=10) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: front\r\n\r\n")
            answer = client.makefile("rb").read()
        sys.exit(b"well" not in answer)
    Server(("127.0.0.1", int(sys.argv[1])), Front if sys.argv[2] == "front" else Back).serve_forever()
