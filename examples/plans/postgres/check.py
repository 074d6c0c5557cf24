# SPDX-License-Identifier: Apache-2.0
"""check.py            are all rows there of which the commit was acknowledged?
check.py order      were they also made in the order of their times (`made`), by the server's clock?
check.py ready      the table is there, and all standbys stream

The truth is what the standby has if it was promoted, else what the primary has; then the standby must have the
same within a minute, too."""
import json
import os
import sys
import time

import pg

PATIENCE_S = 60
pg.patience["s"] = 10


def ready():
    one = pg.connect("primary")
    pg.ask(one, "CREATE TABLE IF NOT EXISTS numbers (number int PRIMARY KEY, text text, made timestamptz DEFAULT clock_timestamp())")
    standbys = sum(name.startswith("OUTFOX_IP_standby") for name in os.environ)
    streaming = pg.ask(one, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")[0]
    here = [pg.ask(pg.connect(name[len("OUTFOX_IP_"):]), "SELECT to_regclass('numbers')")[0]
            for name in os.environ if name.startswith("OUTFOX_IP_standby")]
    return streaming == standbys and all(here), f"{streaming} of {standbys} standbys stream"


def rows(name):
    """The numbers in the order of their commits: one client makes one row after the other."""
    with pg.connect(name).cursor() as cursor:
        cursor.execute("SELECT number, made FROM numbers ORDER BY number")
        return dict(cursor.fetchall())


def truth():
    """The rows of the server that counts."""
    if pg.takes_writes(pg.connect("standby")):
        return rows("standby")
    until = time.monotonic() + PATIENCE_S
    while (there := rows("primary")) != rows("standby"):
        if time.monotonic() > until:
            sys.exit(f"after {PATIENCE_S} s the standby does not have what the primary has")
        time.sleep(0.2)
    return there


def acknowledged():
    """At which moment of the run each commit was."""
    with open(os.environ["OUTFOX_HISTORY"], encoding="utf-8") as history:
        operations = map(json.loads, history)
        return {int(one["said"].split()[0]): one["at_ms"] for one in operations
                if one["ok"] and not one["said"].startswith("read")}


def lost():
    told, there = acknowledged(), truth()
    gone = sorted(told[number] for number in told.keys() - there.keys())
    when = f", told OK from {gone[0] / 1000:.1f} s to {gone[-1] / 1000:.1f} s" if gone else ""
    return not gone, f"{len(gone)} of {len(told)} acknowledged commits are lost{when}"


def order():
    made = list(truth().values())
    back = [(a - b).total_seconds() for a, b in zip(made, made[1:]) if b < a]
    return not back, f"of {len(made)} rows {len(back)} are older than the row before, by up to {max(back, default=0):.1f} s"


try:
    good, sentence = {"ready": ready, "order": order, "lost": lost}[sys.argv[1] if sys.argv[1:] else "lost"]()
except pg.GONE as error:
    good, sentence = False, " ".join(str(error).split())
print(sentence)
sys.exit(0 if good else 1)
