# SPDX-License-Identifier: Apache-2.0
"""Inserts a row, one number after the other, on whichever server takes writes, and says of each whether its commit
was acknowledged. It keeps a connection while it works. Environment: HOSTS, names of nodes. CANCEL=1: what takes too
long is cancelled, not given up. BYTES: of each row."""
import os
import time

import pg

hosts = os.environ.get("HOSTS", "primary standby").split()
pg.patience["cancel"] = "CANCEL" in os.environ
text = "x" * int(os.environ.get("BYTES", "20"))
connection = None
number = 1000000 if len(hosts) == 1 else 0  # each client has numbers of its own
while True:
    number += 1
    begun = time.monotonic()
    word, why = "ok", ""
    try:
        connection = connection or pg.server(hosts)
        pg.ask(connection, "INSERT INTO numbers (number, text) VALUES (%s, %s)", number, text)
        why = " ".join(connection.notices).strip().replace("\n", " ")
        connection.notices.clear()
    except pg.GONE as error:
        if connection:
            connection.close()
        connection, word, why = None, "fail", " ".join(str(error).split())
    print(f"{word} {(time.monotonic() - begun) * 1e6:.0f}us {number} {why}".rstrip(), flush=True)
    time.sleep(0.005 if word == "ok" else 0.05)
