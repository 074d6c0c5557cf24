# SPDX-License-Identifier: Apache-2.0
"""Adds to a set, one number after the other, on whichever Redis the sentinels call the primary, and
says of each whether it was acknowledged; with PRIMARY, a port, always there. Lines as docs/plans.md
describes them."""
import os
import time

import redis

sentinels = [redis.Redis(port=int(port), socket_timeout=0.3) for port in os.environ.get("SENTINELS", "").split()]
number = 1000000 if "PRIMARY" in os.environ else 0  # each client has numbers of its own


def primary():
    if "PRIMARY" in os.environ:
        return redis.Redis(port=int(os.environ["PRIMARY"]), socket_timeout=0.3)
    for sentinel in sentinels:
        try:
            host, port = sentinel.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
            return redis.Redis(host=host.decode(), port=int(port), socket_timeout=0.3)
        except (redis.RedisError, OSError, TypeError):
            continue
    raise redis.ConnectionError("no sentinel answers")


connection = None
while True:
    number += 1
    begun = time.monotonic()
    try:
        connection = connection or primary()
        connection.sadd("numbers", number)
        word = "ok"
    except (redis.RedisError, OSError):
        connection, word = None, "fail"
    print(f"{word} {(time.monotonic() - begun) * 1e6:.0f}us {number}", flush=True)
    time.sleep(0.002 if word == "ok" else 0.05)
