# SPDX-License-Identifier: Apache-2.0
"""check.py              are all acknowledged messages in the stream, once, and in their order?
check.py ready        makes the stream; is it there, with a leader and all its followers?
check.py copies       do all followers have all, within 20 s?
check.py leader       the node that leads the stream
check.py follower     one that does not"""
import json
import os
import sys
import time

import nats

PATIENCE_S = 40
STREAM = {"name": "numbers", "subjects": ["numbers"], "num_replicas": int(os.environ["REPLICAS"]), "storage": os.environ["STORAGE"]}


def cluster():
    return nats.anyone(lambda server: server.ask("$JS.API.STREAM.INFO.numbers"))["cluster"]


def ready():
    nats.anyone(lambda server: server.ask("$JS.API.STREAM.CREATE.numbers", json.dumps(STREAM).encode()))
    seen = cluster()
    current = [one["name"] for one in seen.get("replicas", []) if one["current"]]
    return "leader" in seen and len(current) == STREAM["num_replicas"] - 1, str(seen)


def copies():
    """How many followers have all that the leader has."""
    until = time.monotonic() + 20
    while True:
        followers = cluster().get("replicas", [])
        good = [one["name"] for one in followers if one["current"] and not one.get("offline")]
        if len(good) == STREAM["num_replicas"] - 1 or time.monotonic() > until:
            return len(good) == STREAM["num_replicas"] - 1, f"{len(good)} of {STREAM['num_replicas'] - 1} followers have all"
        time.sleep(0.5)


def stream():
    """All that is in the stream, when it can be read."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return nats.anyone(lambda server: server.read("numbers"), 10)
        except nats.GONE as error:
            if time.monotonic() > until:
                sys.exit(f"after {PATIENCE_S} s the stream cannot be read: {error}")
            time.sleep(0.5)


def whole():
    told = {}
    with open(os.environ["OUTFOX_HISTORY"], encoding="utf-8") as history:
        for operation in map(json.loads, history):
            if operation["ok"]:
                told[int(operation["said"].split()[0])] = operation
    found = [int(data) for data in stream()]
    lost = sorted(told[number]["at_ms"] for number in told.keys() - set(found))
    twice = len(found) - len(set(found))
    late, last = 0, {}
    for number in found:
        if number in told:  # what failed for the client may come later, or never
            client = told[number]["client"]
            late += number < last.get(client, 0)
            last[client] = number
    when = f", told OK from {lost[0] / 1000:.1f} s to {lost[-1] / 1000:.1f} s" if lost else ""
    return not (lost or twice or late), (f"{len(lost)} of {len(told)} acknowledged messages are lost{when}; "
                                         f"{twice} are there twice, {late} after a later one")


ANSWERS = {
    "ready": ready,
    "copies": copies,
    "leader": lambda: (True, cluster()["leader"]),
    "follower": lambda: (True, next(node for node in nats.NODES if node != cluster()["leader"])),
    "whole": whole,
}
try:
    good, sentence = ANSWERS[sys.argv[1] if sys.argv[1:] else "whole"]()
except nats.GONE as error:
    good, sentence = False, str(error)
print(sentence)
sys.exit(0 if good else 1)
