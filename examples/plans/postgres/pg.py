# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL for clients and checks of these plans: connections and statements that do not wait for ever for a
server that is frozen or cut off. psycopg2 has no time limits of its own for that, but lets us wait ourselves."""
import os
import select
import time

import psycopg2
from psycopg2 import extensions

GONE = (psycopg2.Error, OSError)
patience = {"s": 1.0, "cancel": False}


def wait(connection):
    """Until the statement or the connection is done. With `cancel`, a statement that takes too long is cancelled, as
    drivers do it for their query timeouts, and its answer awaited; without, the connection is given up."""
    until, cancelled = time.monotonic() + patience["s"], False
    while (state := connection.poll()) != extensions.POLL_OK:
        left = until - time.monotonic()
        if left <= 0 and patience["cancel"] and not cancelled:
            connection.cancel()
            until, cancelled = until + patience["s"], True
        elif left <= 0:
            raise psycopg2.OperationalError(f"no answer within {patience['s']} s")
        readable = [connection] if state == extensions.POLL_READ else []
        writable = [connection] if state == extensions.POLL_WRITE else []
        select.select(readable, writable, [], max(0.01, min(left, 1)))


extensions.set_wait_callback(wait)


def connect(node):
    one = psycopg2.connect(host=os.environ[f"OUTFOX_IP_{node}"], user="postgres", dbname="postgres")
    one.autocommit = True
    return one


def ask(connection, statement, *values):
    """The first row, or None."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchone() if cursor.description else None


def takes_writes(connection):
    return not ask(connection, "SELECT pg_is_in_recovery()")[0]


def server(hosts):
    """A connection to the first one that takes writes: what drivers do with target_session_attrs=read-write."""
    why = "no server takes writes"
    for host in hosts:
        try:
            one = connect(host)
            if takes_writes(one):
                return one
        except GONE as error:
            why = error
    raise OSError(why)
