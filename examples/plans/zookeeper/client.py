# SPDX-License-Identifier: Apache-2.0
"""client.py write            adds to a set and sets the register, both in one transaction, on any server
client.py read SERVER      reads the register on this server; with SYNC=true only when that has caught up
client.py times            is the register's time of change, which is that of the leader's clock, near our own?"""
import os
import sys
import time

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError, SequentialThreadingHandler

import register

SERVERS = ("zk1", "zk2", "zk3")
REGISTER = "/register"
TIMEOUT = 2  # seconds for one answer
servers = [sys.argv[2]] if sys.argv[1] == "read" else SERVERS
client = KazooClient(hosts=",".join(f"{os.environ['OUTFOX_IP_' + name]}:2181" for name in servers), timeout=float(os.environ.get("SESSION", "4")),
                     handler=SequentialThreadingHandler(), randomize_hosts=False,
                     connection_retry={"max_tries": -1, "delay": 0.1, "max_delay": 0.5})
GONE = (KazooException, KazooTimeoutError, OSError)


def term(number):
    """The upper half of a number is the epoch: the term of the leader that wrote."""
    return number >> 32


def write(count):
    print("event writing", flush=True)
    both = client.transaction()
    both.create(f"/set/{count}")
    both.set_data(REGISTER, str(count).encode())
    answers = both.commit_async().get(timeout=TIMEOUT)
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    number = answers[1].mzxid
    return count, number, term(number)


def read(_):
    if "SYNC" in os.environ:
        client.sync_async(REGISTER).get(timeout=TIMEOUT)
    value, stat = client.get_async(REGISTER).get(timeout=TIMEOUT)
    return value.decode() or "0", stat.mzxid, term(stat.mzxid)


def times():
    """Operations forever: a time that is wrong by more than a minute is a failure."""
    while True:
        begun = time.monotonic()
        try:
            wrong = client.get_async(REGISTER).get(timeout=TIMEOUT)[1].last_modified - time.time()
            word, said = "ok" if abs(wrong) < 60 else "fail", f"time {wrong:+.1f}s"
        except GONE as why:
            word, said = "fail", f"no time: {type(why).__name__}"
        print(f"{word} {(time.monotonic() - begun) * 1e6:.0f}us {said}", flush=True)
        time.sleep(0.1)


client.start(timeout=60)
if sys.argv[1] == "write":
    register.repeat("write", write, GONE, 0.02)
elif sys.argv[1] == "times":
    times()
else:
    register.repeat("read", read, GONE, 0.05)
