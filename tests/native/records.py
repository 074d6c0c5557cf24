# SPDX-License-Identifier: Apache-2.0
"""Reads what outfox cc leaves in a program or shared library: records and facts, straight from the
file, as include/outfox/abi.h says, so that tests need no other part of Outfox to be right."""
import struct
from collections import namedtuple
from pathlib import Path

Function = namedtuple("Function", "file name line flags enabled")
State = namedtuple("State", "function variable line branch index")
Site = namedtuple("Site", "file function callee line column kind subject can result errors reason value")
Fact = namedtuple("Fact", "unit words")

ORIGIN = 2
REASONS = ["none", "negative", "null", "code", "annotated"]
SITE_BYTES, STATE_BYTES, FUNCTION_BYTES = 64, 32, 32


class Binary:
    """The sections of an ELF file of 64 bits, little end first."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        assert self.data[:6] == b"\x7fELF\2\1", f"{path} is no ELF file of 64 bits"
        at, = struct.unpack_from("<Q", self.data, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.data, 0x3A)
        heads = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size) for i in range(count)]
        base = heads[names][4]
        self.sections = {}
        for head in heads:
            name = self.data[base + head[0]:self.data.index(b"\0", base + head[0])].decode()
            self.sections[name] = head
        self.loaded = [h for h in heads if h[2] & 2 and h[1] != 8]

    def raw(self, name):
        head = self.sections.get(name)
        return (head[3], self.data[head[4]:head[4] + head[5]]) if head else (0, b"")

    def text(self, address):
        for head in self.loaded:
            if head[3] <= address < head[3] + head[5]:
                at = head[4] + address - head[3]
                return self.data[at:self.data.index(b"\0", at)].decode()
        raise AssertionError(f"nothing is loaded at {address:#x}")

    def functions(self):
        """{address of the record: Function}"""
        found = {}
        base, raw = self.raw("outfox_functions")
        for at in range(0, len(raw), FUNCTION_BYTES):
            _, file, name, line, flags, enabled = struct.unpack_from("<Iiiiii", raw, at)
            here = base + at
            found[here] = Function(self.text(here + 4 + file), self.text(here + 8 + name), line,
                                   flags, enabled)
        return found

    def states(self):
        """All of them, in order; `function` is a Function."""
        functions, found = self.functions(), []
        base, raw = self.raw("outfox_states")
        for at in range(0, len(raw), STATE_BYTES):
            _, function, variable, line, branch, index, _ = struct.unpack_from("<IiiIIHH", raw, at)
            here = base + at
            found.append(State(functions[here + 4 + function], self.text(here + 8 + variable), line,
                               branch, index))
        return found

    def sites(self):
        found = []
        base, raw = self.raw("outfox_sites")
        for at in range(0, len(raw), SITE_BYTES):
            _, file, function, callee, line, column, *few = struct.unpack_from(
                "<IiiiIHBBBBBB", raw, at)
            value, = struct.unpack_from("<i", raw, at + 52)
            here = base + at
            found.append(Site(self.text(here + 4 + file), self.text(here + 8 + function),
                              self.text(here + 12 + callee), line, column, *few, value))
        return found

    def origins(self):
        return [s for s in self.sites() if s.kind == ORIGIN]

    def facts(self):
        unit, found = "", []
        for line in self.raw("outfox_facts")[1].replace(b"\0", b"").decode().splitlines():
            words = line.split("\t")
            if words[0] == "unit":
                unit = words[1]
            else:
                found.append(Fact(unit, words))
        return found
