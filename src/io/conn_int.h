/* SPDX-License-Identifier: Apache-2.0
 *
 * What conn.c (connections that somebody owns) and conn_close.c (how they end) share. */
#ifndef OUTFOX_IO_CONN_INT_H
#define OUTFOX_IO_CONN_INT_H

#include "io/conn.h"

/* conn.c: has libuv watch for what the connection now waits for. */
void conn_watch(struct conn *c);

/* conn_close.c: the events of a connection that nobody owns any more. */
extern const struct conn_events conn_nobody;

/* conn_close.c: closes the socket; no event follows. The memory goes when libuv is done with it, or
 * when the connection, touched, is next to be flushed: that calls conn_free if it is `dead`. */
void conn_release(struct conn *c);
void conn_free(struct conn *c);

/* conn_close.c: says `gone`, with the words for an errno, and releases. */
void conn_gone(struct conn *c, int code);

/* conn_close.c: the connection broke. What a service said before that is still worth something to
 * its caller, so it is read first, now or when the owner reads again, and `failed` is set; a client
 * that left wants no answer. Else the connection is gone. */
void conn_break(struct conn *c, int code);

/* conn_close.c: all was written, CLOSING -> LINGERING or CLOSED. */
void conn_finish(struct conn *c);

#endif
