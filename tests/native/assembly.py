# SPDX-License-Identifier: Apache-2.0
"""Programs with records of include/outfox/abi.h by hand, as outfox cc would leave them, for tests that need no LLVM:
assembler text, made of calls, and cc makes an ELF file of it."""
import subprocess
from pathlib import Path

SITE, STATE, FUNCTION = 0x0F517E00, 0x0F57A700, 0x0FF01C00
ABI = 1
CALL, ORIGIN = 1, 2
ERROR, DELAY, SHORT = 1, 2, 4


class Assembly:
    def __init__(self, abi=ABI):
        self.abi = abi
        self.texts = {}
        self.lines = {"outfox_sites": [], "outfox_functions": [], "outfox_states": []}
        self.facts = []
        self.functions = {}

    def text(self, text):
        """The label of a text."""
        return self.texts.setdefault(text, f".Ltext{len(self.texts)}")

    def put(self, section, *lines):
        self.lines[section] += lines

    def site(self, file, function, callee, line, kind=CALL, subject=1, can=ERROR, result=1, errors=(), reason=0, value=-1,
             column=1, names=0):
        pairs = [byte for error in errors for byte in error] + [0] * (24 - 2 * len(errors))
        self.put("outfox_sites", f".long {SITE + self.abi:#x}",
                 *(f".long {self.text(text)} - ." for text in (file, function, callee)),
                 f".long {line}", f".short {column}",
                 f".byte {kind}, {subject}, {can}, {result}, {len(errors)}, {reason}",
                 ".byte " + ", ".join(map(str, pairs)), f".long {value}, {names}, 0")

    def function(self, file, name, line, flags=0, label=None, names=0):
        label = label or f".Lfunction{len(self.functions)}"
        self.functions[name] = label
        self.put("outfox_functions", f"{label}:", f".long {FUNCTION + self.abi:#x}",
                 f".long {self.text(file)} - .",
                 f".long {self.text(name)} - .", f".long {line}, {flags}, 0, {names}, 0")

    def state(self, function, variable, line, branch, index):
        self.put("outfox_states", f".long {STATE + self.abi:#x}", f".long {self.functions[function]} - .",
                 f".long {self.text(variable)} - .", f".long {line}, {branch}", f".short {index}, 0", ".long 0, 0")

    def fact(self, *words):
        self.facts.append("\\t".join(map(str, words)) + "\\n")

    def source(self):
        flags = {"outfox_sites": "a", "outfox_functions": "aw", "outfox_states": "a"}
        out = [".section .rodata"]
        out += [f'{label}: .asciz "{text}"' for text, label in self.texts.items()]
        for name, lines in self.lines.items():
            if lines:
                out += [f'.section {name},"{flags[name]}"', ".balign 4", *lines]
        if self.facts:
            out += ['.section outfox_facts,""', *(f'.ascii "{fact}"' for fact in self.facts)]
        return "\n".join([*out, '.section .note.GNU-stack,""', ""])

    def write(self, path):
        Path(path).write_text(self.source(), encoding="utf-8")
        return path


def cc(*words):
    subprocess.run(["cc", *map(str, words)], check=True, capture_output=True, timeout=60)
