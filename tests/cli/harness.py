# SPDX-License-Identifier: Apache-2.0
"""What the scripts of tests/cli share: running the program, and counting what was checked.

A script is a table of cases and a loop over it. It ends with `checks.end()`, which prints what did
not hold and, as its last line, how many checks there were.
"""
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

OUTFOX = os.environ["OUTFOX"]
TOP = Path(os.environ["TOP"])
EXAMPLES = TOP / "examples"
CORPUS = EXAMPLES / "corpus"
SANITIZED = "san" in Path(OUTFOX).parts
VOLUME = os.environ.get("VOLUME", "test")  # check, test or soak
TIME_LIMIT_S = 120  # on a machine that is busy with other things
MEMORY_LIMIT = 2 << 30  # bytes of address space; sanitizers need far more of it
CLEAN = ("NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM", "COLORTERM")


class Result(NamedTuple):
    code: int  # negative: the signal that ended it
    out: str
    err: str

    @property
    def json(self):
        """The document on standard output, or None."""
        try:
            return json.loads(self.out)
        except ValueError:
            return None

    @property
    def crashed(self):
        """Ended by a signal, by a sanitizer or by the lack of memory or time."""
        return (self.code < 0 or self.code not in (0, 1, 2, 3, 4, 130)
                or "Sanitizer" in self.err or "runtime error" in self.err
                or "out of memory" in self.err)


def free_port():
    """One on this machine that is known before it is used: no port that the system gives to whoever asks for any,
    and one that other tests hardly choose too."""
    while True:
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port := random.SystemRandom().randrange(10000, 32000)))
                return port
            except OSError:
                continue


def environment(changes):
    """The own environment without what changes colours, and with the changes."""
    kept = {name: value for name, value in os.environ.items() if name not in CLEAN}
    return {**kept, **(changes or {})}


def limit_memory():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


# Said of what another test, at the same time, has killed.
OTHERS = re.compile(r"^outfox: ended \d+ process(es)? that an earlier outfox left behind when it was killed\n", re.MULTILINE)


def run(*words, stdin=b"", env=None, timeout=TIME_LIMIT_S, stdout=subprocess.PIPE):
    """Runs outfox with these words; a run that does not end in time counts as ended by SIGALRM."""
    try:
        done = subprocess.run([OUTFOX, *map(str, words)], input=stdin, stdout=stdout,
                              stderr=subprocess.PIPE, env=environment(env), timeout=timeout,
                              preexec_fn=limit_memory, check=False)
    except subprocess.TimeoutExpired:
        return Result(-signal.SIGALRM, "", f"not ended after {timeout} s")
    return Result(done.returncode, (done.stdout or b"").decode(errors="replace"),
                  OTHERS.sub("", done.stderr.decode(errors="replace")))


class Checks:
    """Counts checks, and keeps those that did not hold."""

    def __init__(self):
        self.count = 0
        self.failures = []

    def that(self, holds, what, seen=""):
        self.count += 1
        if not holds:
            self.failures.append(f"{what}" + (f"\n    {seen}" if seen != "" else ""))
        return bool(holds)

    def equal(self, got, wanted, what):
        return self.that(got == wanted, what, f"wanted {wanted!r}, got {got!r}")

    def end(self):
        for failure in self.failures[:100]:
            print("NOT:", failure[:2000])
        if self.failures:
            print(f"{len(self.failures)} of {self.count} checks did not hold")
        print(f"checks: {self.count}")
        sys.exit(1 if self.failures else 0)


checks = Checks()
