# SPDX-License-Identifier: Apache-2.0
"""Reads from the primary alone."""
import time

import pg

connection = None
while True:
    begun = time.monotonic()
    try:
        connection = connection or pg.connect("primary")
        word, said = "ok", pg.ask(connection, "SELECT count(*) FROM numbers")[0]
    except pg.GONE as error:
        if connection:
            connection.close()
        connection, word, said = None, "fail", " ".join(str(error).split())
    print(f"{word} {(time.monotonic() - begun) * 1e6:.0f}us read {said}", flush=True)
    time.sleep(0.03)
