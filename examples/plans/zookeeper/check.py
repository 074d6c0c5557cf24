# SPDX-License-Identifier: Apache-2.0
"""check.py lost|stale [SECONDS]|terms  what came of a run: see register.py
check.py ready                    do all servers serve, one of them as leader? Then makes what clients use
check.py leader|follower          the name of the leader; of a server that follows it"""
import os
import socket
import sys

from kazoo.client import KazooClient

import register

SERVERS = ("zk1", "zk2", "zk3")


def client():
    one = KazooClient(hosts=",".join(f"{os.environ['OUTFOX_IP_' + name]}:2181" for name in SERVERS), timeout=10)
    one.start(timeout=20)
    return one


def lost():
    """All that is in the set, by a server that has caught up."""
    one = client()
    one.sync("/set")
    return register.check_lost(register.history(), set(one.get_children("/set")))


def modes():
    """What each server that answers says it is: leader, follower."""
    found = {}
    for name in SERVERS:
        try:
            with socket.create_connection((os.environ["OUTFOX_IP_" + name], 2181), timeout=1) as door:
                door.settimeout(1)
                door.sendall(b"srvr")
                words = b"".join(iter(lambda: door.recv(65536), b"")).decode().split()
                found[name] = words[words.index("Mode:") + 1]
        except (OSError, ValueError):
            continue
    return found


def ready():
    found = modes()
    if sorted(found.values()) != ["follower", "follower", "leader"]:
        return False, f"not three servers with a leader: {found}"
    one = client()
    for path in ("/set", "/register"):
        one.ensure_path(path)
    return True, "ready"


def who(mode):
    found = [name for name, what in modes().items() if what == mode]
    return bool(found), found[-1] if found else f"no {mode}"


ANSWERS = {
    "lost": lost,
    "stale": lambda: register.check_stale(register.history(), float(sys.argv[2]) if len(sys.argv) > 2 else 0),
    "terms": lambda: register.check_terms(register.history()),
    "ready": ready,
    "leader": lambda: who("leader"),
    "follower": lambda: who("follower"),
}
good, sentence = ANSWERS[sys.argv[1]]()
print(sentence)
sys.exit(0 if good else 1)
