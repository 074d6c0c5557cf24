# SPDX-License-Identifier: Apache-2.0
"""Are all writes there that were acknowledged? Reads the history of the run, and the set of the Redis
that has most of it: whatever becomes the primary, it cannot have more."""
import json
import os
import sys

import redis

acknowledged = set()
with open(os.environ["OUTFOX_HISTORY"], encoding="utf-8") as history:
    for line in history:
        operation = json.loads(line)
        if operation["ok"]:
            acknowledged.add(int(operation["said"]))
found = set()
for port in os.environ["PORTS"].split():
    try:
        here = {int(number) for number in redis.Redis(port=int(port)).smembers("numbers")}
    except redis.RedisError:
        continue
    found = max(found, here, key=len)
lost = sorted(acknowledged - found)
print(f"{len(lost)} of {len(acknowledged)} acknowledged writes are lost", *(lost[:5]))
sys.exit(1 if lost else 0)
