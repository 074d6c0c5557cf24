# SPDX-License-Identifier: Apache-2.0
"""Are all writes there that were acknowledged? Reads the history of the run, and the set of the Redis
that is the primary in the end; with PRIMARY, a port, that one."""
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
if "PRIMARY" in os.environ:
    primary = redis.Redis(port=int(os.environ["PRIMARY"]))
else:
    sentinel = redis.Redis(port=int(os.environ["SENTINELS"].split()[0]))
    host, port = sentinel.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
    primary = redis.Redis(host=host.decode(), port=int(port))
found = {int(number) for number in primary.smembers("numbers")}
lost = sorted(acknowledged - found)
print(f"{len(lost)} of {len(acknowledged)} acknowledged writes are lost", *(lost[:5]))
sys.exit(1 if lost else 0)
