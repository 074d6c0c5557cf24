# SPDX-License-Identifier: Apache-2.0
"""What clients of a replicated store say of each operation, and whether that can be true. All of them write and
read one register, whose writes the store itself numbers: etcd by revision, ZooKeeper by zxid. So the order of
the writes is known and need not be searched for: the history is linearizable exactly if no operation that began
after another one had ended has a smaller number, and if a number always has the same value.

The checks of a run, which its directory and history are the input of:

    lost     are all writes there that were acknowledged?
    stale    did nobody read what had been overwritten before the read began (or so many seconds before)?
    terms    was there only one leader, by the terms in the answers?

With STALE=SECONDS a reader is told by the writers what they know, and calls a read that is older than that failed:
so it can be seen while it happens. The checks do not need that.
"""
import bisect
import json
import os
import time
from collections import namedtuple

# number: of the write that was made or read; begun, ended: of this machine's monotonic clock
Operation = namedtuple("Operation", "client kind value number term begun ended")


def say(word, kind, value, number, term, begun, ended):
    """A line for Outfox; what is after the time is Operation, kept in the history."""
    print(f"{word} {(ended - begun) * 1e6:.0f}us {kind} {value} {number} {term} {begun:.6f} {ended:.6f}", flush=True)


class Board:
    """What has been acknowledged, and when: a file that writers add to and readers follow."""

    def __init__(self, limit):
        self.limit, self.waiting, self.known = float(limit), [], 0
        self.file = open(os.path.join(os.environ["OUTFOX_DIR"], "acknowledged"), "a+", encoding="utf-8")

    def write(self, number, ended):
        self.file.write(f"{number} {ended:.6f}\n")
        self.file.flush()

    def stale(self, number, begun):
        """Is this less than what was acknowledged long enough before?"""
        self.waiting += [line.split() for line in self.file.read().splitlines()]
        while self.waiting and float(self.waiting[0][1]) < begun - self.limit:
            self.known = max(self.known, int(self.waiting.pop(0)[0]))
        return number < self.known


def repeat(kind, act, patience, pause):
    """Operations forever: `act(count)` is a (value, number, term), or raises one of `patience`."""
    board = Board(os.environ["STALE"]) if "STALE" in os.environ else None
    count = 0
    while True:
        count += 1
        begun = time.monotonic()
        try:
            value, number, term = act(count)
            ended = time.monotonic()
            if board and kind == "write":
                board.write(number, ended)
            word = "fail" if board and kind == "read" and board.stale(number, begun) else "ok"
            say(word, kind, value, number, term, begun, ended)
        except patience as why:
            took = time.monotonic() - begun
            print(f"fail {took * 1e6:.0f}us no {kind} {count}: {type(why).__name__} {why}"[:200], flush=True)
        time.sleep(pause)


def history():
    """All operations that have an answer."""
    found = []
    with open(os.environ["OUTFOX_HISTORY"], encoding="utf-8") as lines:
        for line in lines:
            one = json.loads(line)
            if one["said"].startswith(("write ", "read ")):
                kind, value, number, term, begun, ended = one["said"].split()
                found.append(Operation(one["client"], kind, value, int(number), term, float(begun), float(ended)))
    return found


def stale(operations):
    """Operations that know less than another one that had ended before they began, each with the seconds since
    the first write that they should have known of was known to somebody."""
    ended = sorted(operations, key=lambda operation: operation.ended)
    newest, known, at, found = [], [], 0, []  # newest, known: rising numbers, and when each was first known
    for operation in sorted(operations, key=lambda operation: operation.begun):
        while ended[at].ended < operation.begun:
            if not newest or ended[at].number > newest[-1]:
                newest.append(ended[at].number)
                known.append(ended[at].ended)
            at += 1
        missed = bisect.bisect_right(newest, operation.number)
        if missed < len(newest):
            found.append((operation, operation.begun - known[missed]))
    return found


def check_stale(operations, limit):
    """Whether all that was read was new or at most `limit` seconds old, and a number had one value; a sentence."""
    values = {}
    for operation in operations:
        if values.setdefault(operation.number, operation.value) != operation.value:
            return False, f"write {operation.number} was {values[operation.number]} and {operation.value}"
    wrong = [(operation, age) for operation, age in stale(operations) if age > limit]
    if not wrong:
        return True, f"0 of {len(operations)} operations are stale" + (f" by more than {limit:g} s" if limit else "")
    age = max(age for _, age in wrong)
    clients = ", ".join(sorted({operation.client for operation, _ in wrong}))
    return False, f"{len(wrong)} of {len(operations)} operations are stale, by up to {age:.1f} s: {clients}"


def check_lost(operations, there):
    """Whether all acknowledged writes are among `there`; a sentence."""
    written = {operation.value for operation in operations if operation.kind == "write"}
    lost = sorted(written - there)
    return not lost, " ".join([f"{len(lost)} of {len(written)} acknowledged writes are lost", *lost[:5]])


def check_terms(operations):
    """Whether one leader answered all; a sentence."""
    terms = sorted({operation.term for operation in operations})
    return len(terms) == 1, f"{len(terms)} leader{'s' * (len(terms) != 1)}, by the terms: {', '.join(terms)}"
