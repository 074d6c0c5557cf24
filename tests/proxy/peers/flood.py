#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile peers. Run as

  flood.py caller NAME PORT SECONDS [CONNECTIONS]   floods a proxy
  flood.py service NAME                             says `listening PORT`, and floods who asks

A flood of a caller is a generator of bytes, sent as fast as the other side takes them; a connection
that ends is made again. `reads`: what comes is read and dropped; else the receiving side is left to
fill up. At the end it says how many bytes it sent, on how many connections."""
import itertools
import select
import socket
import ssl
import struct
import sys
import threading
import time

import frames as h2

OPEN = h2.PREFACE + h2.settings()
HOST = "127.0.0.1"
callers, services = {}, {}


def caller(reads=True, connections=4):
    def add(make):
        callers[make.__name__] = (make, reads, connections)
        return make
    return add


def service(make):
    services[make.__name__] = make
    return make


def streams():
    return itertools.count(1, 2)


def numbered(frames, first=1, count=2000):
    """The frames of stream 1 again and again, each time of the next stream. As fast as Python can:
    whole copies, in which only the numbers are set."""
    at = [i for i in offsets(frames) if frames[i + 5:i + 9] != bytes(4)]
    many = bytearray(frames * count)
    for start in itertools.count(first, 2 * count):
        for i in range(count):
            for place in at:
                struct.pack_into(">I", many, i * len(frames) + place + 5, start + 2 * i)
        yield bytes(many)


def offsets(frames):
    at = 0
    while at < len(frames):
        yield at
        at += 9 + int.from_bytes(frames[at:at + 3], "big")


# a request of six bytes: indexed fields, and an authority
SMALL = h2.frame(h2.HEADERS, 5, 1, b"\x82\x86\x84\x01\x01a")


# ---- HTTP/2, callers ----

@caller(reads=False)
def unread_answers():
    """A few at a time, until the other side has filled the socket; then all that it takes."""
    yield OPEN
    few = numbered(SMALL, count=20)
    for piece in itertools.islice(few, 2000):
        yield piece
    yield from numbered(SMALL, 80001)


@caller(reads=False)
def unread_bodies():
    """The socket itself is full at once; what is owed piles up behind it."""
    yield OPEN + b"".join(h2.get(n, "/bytes/200000") for n in range(1, 401, 2))
    yield from numbered(SMALL, 401)


@caller()
def settings_frames():
    yield OPEN
    while True:
        yield h2.settings(x4=65535) * 1000


@caller(reads=False)
def settings_unread():
    yield from settings_frames()


@caller()
def pings():
    yield OPEN
    while True:
        yield h2.frame(h2.PING, 0, 0, b"12345678") * 1000


@caller(reads=False)
def pings_unread():
    yield from pings()


@caller()
def rapid_reset():
    yield OPEN
    yield from numbered(SMALL + h2.rst(1))


@caller()
def made_reset():
    """The peer is made to reset each stream."""
    yield OPEN
    yield from numbered(SMALL + h2.window_update(1, 0x7fffffff))


@caller()
def refused_streams():
    yield OPEN
    yield from numbered(h2.post(1))


@caller()
def priorities():
    yield OPEN
    yield from numbered(h2.frame(h2.PRIORITY, 0, 1, h2.number(1001) + b"\x10"))


@caller()
def window_updates():
    yield OPEN + h2.post(1, "/held")
    while True:
        yield (h2.window_update(0, 1) + h2.window_update(1, 1)) * 500


@caller()
def empty_data():
    yield OPEN + h2.post(1, "/held")
    while True:
        yield h2.frame(h2.DATA, 0, 1) * 1000


@caller()
def padding():
    yield OPEN + h2.post(1, "/held")
    while True:
        yield (h2.frame(h2.DATA, h2.PADDED, 1, b"\xff" + bytes(255)) + h2.window_update(0, 1)) * 100


@caller()
def continuations():
    yield OPEN + h2.headers(1, h2.request_fields(), 0)
    while True:
        yield h2.frame(h2.CONTINUATION, 0, 1) * 1000


@caller()
def continued_fields():
    yield OPEN + h2.headers(1, h2.request_fields(), 0)
    while True:
        yield h2.frame(h2.CONTINUATION, 0, 1, h2.field("x", "y" * 8000) * 2) * 10


def bomb(stream, count):
    """A field of 3,900 bytes, and count bytes that stand for it."""
    head = h2.fields(h2.request_fields()) + h2.field("x", "v" * 3900, indexed=True)
    return h2.frame(h2.HEADERS, h2.END_STREAM, stream, head) \
        + h2.frame(h2.CONTINUATION, h2.END_HEADERS, stream, b"\xbe" * count)


@caller()
def hpack_bombs():
    yield OPEN
    for n in streams():
        yield bomb(n, 12000)


@caller()
def hpack_bombs_within_the_limit():
    yield OPEN + bomb(1, 1)
    head = h2.fields(h2.request_fields()) + b"\xbe" * 15
    yield from numbered(h2.frame(h2.HEADERS, 5, 1, head), 3)


@caller()
def large_heads():
    yield OPEN
    for n in streams():
        yield h2.frame(h2.HEADERS, h2.END_STREAM, n, h2.fields(h2.request_fields())) \
            + h2.frame(h2.CONTINUATION, 0, n, h2.field("x", "y" * 16000)) * 5 \
            + h2.frame(h2.CONTINUATION, h2.END_HEADERS, n)


@caller()
def table_sizes():
    yield OPEN
    yield from numbered(h2.settings(x1=0) + h2.settings(x1=4096) + h2.frame(
        h2.HEADERS, 5, 1, b"\x20\x3f\xe1\x1f" + h2.fields(h2.request_fields())))


@caller()
def zero_window():
    yield h2.PREFACE + h2.settings(x4=0)
    yield b"".join(h2.get(n, "/bytes/200000") for n in range(1, 401, 2))
    while True:
        yield h2.frame(h2.PING, 0, 0, b"12345678")
        time.sleep(0.01)


@caller()
def closed_streams():
    yield OPEN + h2.get(1)
    time.sleep(0.05)
    while True:
        yield h2.frame(h2.DATA, 0, 1, b"x" * 100) * 100


@caller()
def large_trailers():
    yield OPEN
    for n in streams():
        yield h2.post(n) + h2.frame(h2.HEADERS, h2.END_STREAM, n, h2.field("x", "y" * 16000)) \
            + h2.frame(h2.CONTINUATION, 0, n, h2.field("x", "y" * 16000)) * 5 \
            + h2.frame(h2.CONTINUATION, h2.END_HEADERS, n)


@caller()
def unknown_frames():
    yield OPEN
    while True:
        yield h2.frame(0x20, 0xff, 1, bytes(16384)) * 10


# ---- HTTP/1.1, callers ----

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@caller()
def pipelined():
    while True:
        yield GET * 1000


@caller(reads=False)
def pipelined_unread():
    while True:
        yield GET * 1000


@caller()
def endless_head():
    yield GET[:-2]
    while True:
        yield b"X: " + b"y" * 8000 + b"\r\n"


@caller()
def endless_extensions():
    yield b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;"
    while True:
        yield b"x" * 8000


@caller()
def small_chunks():
    yield b"POST /held HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    while True:
        yield b"1\r\nx\r\n" * 2000


@caller()
def endless_trailers():
    yield b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    while True:
        yield b"X: " + b"y" * 8000 + b"\r\n"


@caller(connections=200)
def slow_heads():
    for byte in itertools.chain(GET[:-2], itertools.cycle(b"X: y\r\n")):
        yield bytes((byte,))
        time.sleep(0.001)


@caller(connections=50)
def dripped_bodies():
    yield b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n"
    while True:
        yield b"x"
        time.sleep(0.001)


@caller()
def connections():
    yield b""


@caller()
def tls_hellos():
    """The first word of a handshake, which costs the other side most of it, and no other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(into, out, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        yield out.read()
    time.sleep(0.001)


@caller()
def garbage():
    while True:
        yield b"\xff\x00" * 4000


# ---- services; a caller in this process asks them, through the proxy, and does not read ----

def asker(port, is_h2):
    link = socket.create_connection((HOST, port), timeout=60)
    link.sendall(OPEN + h2.get(1, "/hostile") if is_h2
                 else b"GET /hostile HTTP/1.1\r\nHost: a\r\n\r\n")
    return link


def h1_answer(link):
    link.recv(65536)


def h2_answer(link):
    """Reads up to the request, and gives its stream."""
    link.sendall(h2.settings())
    kept, seen = b"", len(h2.PREFACE)
    while True:
        kept += link.recv(65536)
        while len(kept) >= seen + 9 and len(kept) >= seen + 9 + int.from_bytes(
                kept[seen:seen + 3], "big"):
            n, kind = int.from_bytes(kept[seen:seen + 3], "big"), kept[seen + 3]
            stream = int.from_bytes(kept[seen + 5:seen + 9], "big")
            seen += 9 + n
            if kind == h2.HEADERS:
                return stream


@service
def interim_h1(link):
    h1_answer(link)
    while True:
        link.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 500)


@service
def interim_h2(link):
    n = h2_answer(link)
    while True:
        link.sendall(h2.headers(n, [(":status", "103"), ("link", "x" * 100)], h2.END_HEADERS) * 500)


@service
def head_h1(link):
    h1_answer(link)
    link.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        link.sendall(b"X: " + b"y" * 8000 + b"\r\n")


@service
def head_h2(link):
    n = h2_answer(link)
    link.sendall(h2.headers(n, [(":status", "200")], 0))
    while True:
        link.sendall(h2.frame(h2.CONTINUATION, 0, n, h2.field("x", "y" * 16000)))


@service
def body_h1(link):
    h1_answer(link)
    link.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        link.sendall(bytes(65536))


@service
def body_h2(link):
    """That does not care about windows."""
    n = h2_answer(link)
    link.sendall(h2.headers(n, [(":status", "200")], h2.END_HEADERS))
    while True:
        link.sendall(h2.frame(h2.DATA, 0, n, bytes(16000)))


@service
def trailers_h1(link):
    h1_answer(link)
    link.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    while True:
        link.sendall(b"X: " + b"y" * 8000 + b"\r\n")


@service
def chunks_h1(link):
    h1_answer(link)
    link.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        link.sendall(b"1\r\nx\r\n" * 2000)


@service
def tunnel(link):
    """Of an upgrade that the caller asked for."""
    h1_answer(link)
    link.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
    while True:
        link.sendall(bytes(65536))


@service
def pings_h2(link):
    h2_answer(link)
    while True:
        link.sendall((h2.frame(h2.PING, 0, 0, b"12345678") + h2.settings()) * 500)


@service
def bombs_h2(link):
    n = h2_answer(link)
    link.sendall(h2.frame(h2.HEADERS, 0, n, h2.field(":status", "200")
                          + h2.field("x", "v" * 3900, indexed=True)))
    while True:
        link.sendall(h2.frame(h2.CONTINUATION, 0, n, b"\xbe" * 12000))


# ---- running them ----

class Flood:
    """One connection of a caller."""

    def __init__(self, make, reads, port):
        self.make, self.reads, self.port = make, reads, port
        self.bytes = self.made = 0
        self.link = None
        self.connect()

    def connect(self):
        self.link = socket.socket()
        if not self.reads:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.link.settimeout(10)
        self.link.connect((HOST, self.port))
        self.link.setblocking(False)
        self.made += 1
        self.pieces, self.left = self.make(), b""

    def again(self):
        self.link.close()
        try:
            self.connect()
        except OSError:
            time.sleep(0.01)

    def turn(self, readable):
        try:
            if readable and not self.link.recv(1 << 20):
                self.again()
                return
            if not self.left:
                self.left = next(self.pieces)
            n = self.link.send(self.left)
            self.left = self.left[n:]
            self.bytes += n
        except BlockingIOError:
            pass
        except (OSError, StopIteration):
            self.again()


def run_caller(name, port, seconds, count):
    make, reads, usual = callers[name]
    floods = [Flood(make, reads, port) for _ in range(count or usual)]
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        by = {flood.link: flood for flood in floods}
        readable, writable, _ = select.select([link for link in by if by[link].reads], by, [], 0.1)
        for link in {*readable, *writable}:
            by[link].turn(link in readable)
    print(f"sent {sum(one.bytes for one in floods)} bytes on {sum(one.made for one in floods)}"
          f" connections", flush=True)


def run_service(name):
    """The port of the proxy comes on standard input, then for how long it is asked."""
    made = socket.create_server((HOST, 0))

    def serve(link):
        try:
            services[name](link)
        except OSError:
            link.close()

    def accept():
        while True:
            threading.Thread(target=serve, args=(made.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print(f"listening {made.getsockname()[1]}", flush=True)
    port, seconds = sys.stdin.readline().split()
    ends = time.monotonic() + float(seconds)
    asked = [asker(int(port), name.endswith("_h2")) for _ in range(4)]
    upgrade = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
    if name == "tunnel":
        for link in asked:
            link.close()
        asked = [socket.create_connection((HOST, int(port))) for _ in range(4)]
        for link in asked:
            link.sendall(upgrade)
    time.sleep(max(0, ends - time.monotonic()))
    print("done", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "caller":
        run_caller(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]),
                   int(sys.argv[5]) if len(sys.argv) > 5 else 0)
    elif sys.argv[1] == "service":
        run_service(sys.argv[2])
    else:
        print(*callers, "--", *services)
