# SPDX-License-Identifier: Apache-2.0
"""Are all writes there that were acknowledged? Waits until the sentinels agree on a primary and no
other node takes itself for one, so that there is one truth, then holds the set of the primary against the history of the
run. With a number of seconds as its argument, so much of the writes may be lost, from the first lost one to
the last: what `min-replicas-max-lag` promises."""
import json
import os
import sys
import time

import redis

PATIENCE_S = 50


def role(name):
    """"master", "slave", or None if it does not answer."""
    try:
        return redis.Redis(host=os.environ[f"OUTFOX_IP_{name}"], socket_timeout=2).info("replication")["role"]
    except (redis.RedisError, OSError):
        return None


def settled():
    """The primary on which all sentinels agree, if all others that live are replicas and one is up to date."""
    try:
        hosts = {redis.Redis(host=os.environ[f"OUTFOX_IP_sentinel{n}"], port=26379, socket_timeout=2)
                 .execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")[0] for n in (1, 2, 3)}
        if len(hosts) != 1 or [role(f"redis{n}") for n in (1, 2, 3)].count("master") != 1:
            return None
        one = redis.Redis(host=hosts.pop().decode(), socket_timeout=5)
        info = one.info("replication")
        behind = [info["master_repl_offset"] - info[key]["offset"] for key in info if key.startswith("slave")]
        return one if info["role"] == "master" and behind and min(behind) < 1000 else None
    except (redis.RedisError, OSError):
        return None


until = time.monotonic() + PATIENCE_S
while not (primary := settled()):
    if time.monotonic() > until:
        sys.exit(f"after {PATIENCE_S} s there is not one primary")
    time.sleep(0.3)

acknowledged = {}
with open(os.environ["OUTFOX_HISTORY"], encoding="utf-8") as history:
    for line in history:
        operation = json.loads(line)
        if operation["ok"]:
            acknowledged[int(operation["said"].split()[0])] = operation["at_ms"]
found = {int(number) for number in primary.smembers("numbers")}
lost = sorted(acknowledged[number] for number in acknowledged.keys() - found)
print(f"{len(lost)} of {len(acknowledged)} acknowledged writes are lost", end="")
print(f", told OK from {lost[0] / 1000:.1f} s to {lost[-1] / 1000:.1f} s" if lost else "")
allowed = float(sys.argv[1]) if len(sys.argv) > 1 else 0
sys.exit(1 if lost and lost[-1] - lost[0] >= allowed * 1000 else 0)
