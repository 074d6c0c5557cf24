# SPDX-License-Identifier: Apache-2.0
"""Publishes to a stream, one number after the other, and says of each whether it was acknowledged: whether a
majority has it. A number is published once; when no answer comes, the next server is used. SERVER, a node: always
that one. FIRST, a number: the first one, for clients must not share any."""
import os
import time

import nats

nodes = [os.environ["SERVER"]] if "SERVER" in os.environ else list(nats.NODES)
server = None
number = int(os.environ.get("FIRST", "0"))
while True:
    number += 1
    begun = time.monotonic()
    word, why = "ok", ""
    try:
        server = server or nats.Server(nodes[0])
        why = server.ask("numbers", str(number).encode())["seq"]
    except nats.GONE as error:
        if server:
            server.close()
        nodes.append(nodes.pop(0))
        server, word, why = None, "fail", error
    print(f"{word} {(time.monotonic() - begun) * 1e6:.0f}us {number} {why}", flush=True)
    time.sleep(0.003 if word == "ok" else 0.05)
