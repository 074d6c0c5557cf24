# SPDX-License-Identifier: Apache-2.0
"""Adds to a set, one number after the other, on whichever Redis the sentinels call the primary, and says of
each whether it was acknowledged. The connection is kept while it works, as drivers do it: who is the primary
is asked when it breaks. Environment: PRIMARY, a node: always there, whatever the sentinels say. WAIT, a
number: a write counts as acknowledged when so many replicas have it, too. Lines as docs/plans.md says."""
import os
import time

import redis

PATIENCE_S = 0.5
SENTINELS = [redis.Redis(host=os.environ[f"OUTFOX_IP_sentinel{n}"], port=26379, socket_timeout=PATIENCE_S,
                         socket_connect_timeout=PATIENCE_S) for n in (1, 2, 3)]
FIXED = os.environ.get("PRIMARY")
WAIT = int(os.environ.get("WAIT", "0"))


def connect(host):
    return redis.Redis(host=host, socket_timeout=PATIENCE_S, socket_connect_timeout=PATIENCE_S)


def primary():
    if FIXED:
        return connect(os.environ[f"OUTFOX_IP_{FIXED}"])
    for sentinel in SENTINELS:
        try:
            return connect(sentinel.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")[0].decode())
        except (redis.RedisError, OSError, TypeError):
            continue
    raise redis.ConnectionError("no sentinel answers")


connection = None
number = 1000000 if FIXED else 0  # each client has numbers of its own
while True:
    number += 1
    begun = time.monotonic()
    word, why = "ok", ""
    try:
        connection = connection or primary()
        connection.sadd("numbers", number)
        if WAIT and connection.execute_command("WAIT", WAIT, int(PATIENCE_S * 800)) < WAIT:
            connection, word, why = None, "fail", "too few replicas have it"
    except (redis.RedisError, OSError) as error:
        connection, word, why = None, "fail", str(error)
    print(f"{word} {(time.monotonic() - begun) * 1e6:.0f}us {number} {why}".rstrip(), flush=True)
    time.sleep(0.002 if word == "ok" else 0.05)
