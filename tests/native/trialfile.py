# SPDX-License-Identifier: Apache-2.0
"""The shared file of a trial (include/outfox/abi.h), as outfox writes it and as tests read it.

    with TrialFile(path, rule=POINT, key=..., nth=2) as trial:
        ... run a program with trial.environment() ...
        trial.injection.done, trial.counted(), trial.requests
"""
import ctypes
import mmap
import os
from ctypes import c_char, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64

MAGIC, ABI = 0x316C616972746F66, 1
NODES, MODULES, FRAMES, PATH, SOCKET = 16, 32, 24, 240, 108
NO_MODULE, NO_STATE = 0xFFFF, 0xFFFFFFFF
ERROR, DELAY, SHORT = 1, 2, 4
NONE, POINT, STATE, NEW, REQUEST = range(5)
UP, INJECTED = 1, 2
MASK = (1 << 64) - 1


class Point(ctypes.Structure):
    _fields_ = [("key", c_uint64), ("caller", c_uint64), ("filled", c_uint32), ("requests", c_uint32),
                ("node", c_uint16), ("module", c_uint16), ("state_module", c_uint16), ("caller_module", c_uint16),
                ("site", c_uint32), ("state", c_uint32), ("reserved", c_uint64 * 3)]


class Module(ctypes.Structure):
    _fields_ = [("id", c_uint64), ("filled", c_uint32), ("sites", c_uint32), ("states", c_uint32),
                ("functions", c_uint32), ("enabled", c_uint64), ("muted", c_uint64), ("seen", c_uint64),
                ("reserved", c_uint64), ("path", c_char * PATH)]


class Frame(ctypes.Structure):
    _fields_ = [("module", c_uint16), ("reserved", c_uint16 * 3), ("address", c_uint64)]


class Injection(ctypes.Structure):
    _fields_ = [("done", c_uint32), ("act", c_uint32), ("point", Point), ("error", c_int32), ("pid", c_int32),
                ("tid", c_int32), ("where", c_uint32), ("at_ns", c_int64), ("asked", c_uint64), ("given", c_uint64),
                ("request", c_uint64), ("frames", c_uint32), ("reserved", c_uint32), ("frame", Frame * FRAMES)]


class Trial(ctypes.Structure):
    _fields_ = [("magic", c_uint64), ("abi", c_uint32), ("refused", c_uint32), ("bytes", c_uint64),
                ("reserved", c_uint64),
                ("armed", c_uint32), ("rule", c_uint32), ("act", c_uint32), ("chance", c_uint32),
                ("key", c_uint64), ("nth", c_uint64), ("seed", c_uint64), ("delay_ns", c_uint64),
                ("error", c_int32), ("reserved2", c_uint32),
                ("nodes", c_uint64), ("quiet", c_uint64), ("points", c_uint64), ("n_points", c_uint32),
                ("reserved_1", c_uint32), ("socket", c_char * SOCKET), ("reserved_2", c_uint32 * 7),
                ("requests", c_uint64), ("lost", c_uint64), ("claimed", c_uint32), ("attached", c_uint32),
                ("reserved_3", c_uint64 * 5),
                ("injection", Injection), ("module", Module * MODULES)]


class Event(ctypes.Structure):
    _fields_ = [("abi", c_uint32), ("kind", c_uint32), ("pid", c_int32), ("node", c_uint32)]


def mix(h, v):
    h = ((h ^ v) * 0x9E3779B97F4A7C15) & MASK
    return h ^ h >> 29


def point_key(p):
    h = mix(0x6F7574666F78, p.node << 32 | p.module)
    h = mix(h, p.site << 32 | p.state)
    h = mix(h, p.state_module << 32 | p.caller_module)
    return mix(h, p.caller) or 1


def state_key(node, module, state):
    return node << 48 | module << 32 | state


class TrialFile:
    """A file with room for so many points, and so many bytes for what is enabled, muted and seen of modules."""

    def __init__(self, path, n_points=256, tables=1 << 16, armed=1, act=ERROR, nodes=MASK, **fields):
        self.path = path
        self.points_at = -(-ctypes.sizeof(Trial) // 64) * 64
        self.tables_at = self.points_at + n_points * ctypes.sizeof(Point)
        size = self.tables_at + tables
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        os.fchmod(self.fd, 0o666)
        os.posix_fallocate(self.fd, 0, size)
        self.memory = mmap.mmap(self.fd, size)
        self.trial = Trial.from_buffer(self.memory)
        for name, value in {"magic": MAGIC, "abi": ABI, "bytes": size, "points": self.points_at, "n_points": n_points,
                            "rule": NONE, "act": act, "nodes": nodes, "nth": 1, **fields, "armed": armed}.items():
            setattr(self.trial, name, value)

    def add_module(self, identity, sites, states, functions, enabled=(), muted=()):
        """Enters a module; what of it is enabled and muted is named by number. Returns its entry."""
        number = next(n for n in range(MODULES) if not self.trial.module[n].id)
        entry = self.trial.module[number]
        for name, of in (("enabled", functions), ("muted", sites), ("seen", states * NODES)):
            setattr(entry, name, self.tables_at)
            self.tables_at += of
        for number in enabled:
            self.memory[entry.enabled + number] = 1
        for number in muted:
            self.memory[entry.muted + number] = 1
        entry.sites, entry.states, entry.functions = sites, states, functions
        entry.id, entry.filled = identity, 1
        return entry

    def environment(self, node=0):
        return {**os.environ, "OUTFOX_TRIAL": str(self.path), "OUTFOX_NODE": str(node)}

    def counted(self):
        table = (Point * self.trial.n_points).from_buffer_copy(self.memory, self.points_at)
        return [p for p in table if p.key]

    def __getattr__(self, name):
        return getattr(self.trial, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd) # the memory goes when nobody looks at it any more
        os.unlink(self.path)
