# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 frames as bytes, written and read one by one. Nothing is checked: a peer that breaks the
rules is what this is for."""
import socket
import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, \
    CONTINUATION = range(10)
TYPES = ("DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY",
         "WINDOW_UPDATE", "CONTINUATION")
ERRORS = ("NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
          "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
          "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED")
ACK = END_STREAM = 1
END_HEADERS, PADDED, WITH_PRIORITY = 4, 8, 32
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) \
        + struct.pack(">I", stream) + payload


def number(value):
    return struct.pack(">I", value)


def settings(**values):
    """settings(x4=65535): one setting of the number 4."""
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", int(name[1:], 16), value)
                                            for name, value in values.items()))


def window_update(stream, n):
    return frame(WINDOW_UPDATE, 0, stream, number(n))


def rst(stream, code=8):
    return frame(RST_STREAM, 0, stream, number(code))


# ---- HPACK ----

def integer(value, bits, first=0):
    most = (1 << bits) - 1
    if value < most:
        return bytes((first | value,))
    out = bytearray((first | most,))
    value -= most
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes((value,))


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return integer(len(raw), 7) + raw


def field(name, value, indexed=False):
    """A literal field, and whether the peer is to remember it."""
    return (b"\x40" if indexed else b"\x00") + text(name) + text(value)


def fields(pairs):
    return b"".join(field(*pair) for pair in pairs)


def request_fields(path="/", method="GET"):
    return [(":method", method), (":scheme", "http"), (":authority", "a"), (":path", path)]


def headers(stream, pairs, flags=END_HEADERS | END_STREAM):
    return frame(HEADERS, flags, stream, fields(pairs))


def get(stream, path="/", more=()):
    return headers(stream, request_fields(path) + list(more))


def post(stream, path="/", more=()):
    return headers(stream, request_fields(path, "POST") + list(more), END_HEADERS)


# ---- a connection ----

class Link:
    """A client's connection that has sent its preface and SETTINGS, unless `bare`."""

    def __init__(self, port, bare=False, timeout=30, **values):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.kept = b""
        if not bare:
            self.send(PREFACE, settings(**values))

    def send(self, *frames):
        try:
            self.socket.sendall(b"".join(frames))
        except OSError:
            pass  # the peer has had enough; what it said before is read

    def frames(self):
        """(type, flags, stream, payload) of each frame, until the connection ends."""
        while True:
            while len(self.kept) < 9 or len(self.kept) < 9 + self.length():
                try:
                    got = self.socket.recv(65536)
                except ConnectionError:
                    got = b""
                if not got:
                    return
                self.kept += got
            n = self.length()
            kind, flags = self.kept[3], self.kept[4]
            stream = struct.unpack(">I", self.kept[5:9])[0] & 0x7fffffff
            payload, self.kept = self.kept[9:9 + n], self.kept[9 + n:]
            yield kind, flags, stream, payload

    def length(self):
        return int.from_bytes(self.kept[:3], "big")

    def close(self):
        self.socket.close()
