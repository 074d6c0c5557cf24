/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections that speak HTTP: to clients, and to services. */
#ifndef OUTFOX_PROXY_LINK_INT_H
#define OUTFOX_PROXY_LINK_INT_H

#include "proxy/worker_int.h"

/* HTTP/2 error codes that are used here. */
enum { H2_INTERNAL_ERROR = 2, H2_REFUSED_STREAM = 7, H2_CANCEL = 8 };

/* ---- link.c ---- */

/* A connection with a wire on it: to a client (server side), or to a service. */
struct link {
    struct worker *worker;
    struct conn *conn;
    struct wire *wire; /* NULL: not known yet which protocol */
    struct link *next, **self;
    struct site *site;         /* of a client's */
    struct upstream *upstream; /* of a service's */
    struct generation *generation;
    struct link *next_idle, **idle_self; /* in upstream->idle or upstream->shared */
    int64_t idle_ns;                     /* since when it is idle */
    int64_t call_ns;                     /* when its last call began */
    char sniffed[24]; /* the first bytes of the peer: of a client's, until the protocol is known */
    uint8_t n_sniffed;
    uint32_t memo;      /* the director's */
    uint32_t n_calls;   /* exchanges that have a stream on it */
    uint32_t resetting; /* how often it was looked whether the peer has all bytes before a reset */
    bool unfinished;    /* a client's, HTTP/1.1: its request has begun, and not ended */
    bool killed;        /* by us, in the middle of calls */
    bool heard;         /* the peer has sent something */
    bool looked;        /* a client's: it was looked whether it says something at all */
    bool leaving;       /* is being freed */
    bool heading;       /* the deadline of a head is running */
    bool pooled;        /* upstream: when it was last taken, it had been idle before */
    bool alone;         /* upstream: for one call, and not to be used again */
    bool served;        /* upstream, HTTP/1.1: that call has had all of its answer */
    bool used;          /* it has carried a call */
    bool parted;        /* a client's, HTTP/2: it was asked to take another one */
    bool ready;         /* the connection stands */
    bool failed;        /* upstream: it never came to stand */
    const char *why;    /* then: why; valid during the event */
};

/* What streams tell: exchange.c's (request.c, answer.c). */
extern const struct wire_events down_events, up_events;

void link_accept(struct site *site, int fd);
struct link *link_connect(struct upstream *u, bool h2);

/* There is something to write. */
static inline void link_touch(struct link *l)
{
    conn_touch(l->conn);
}

/* The same; and whether to read may have changed. */
void link_refresh(struct link *l);

static inline struct link *link_of(const struct stream *s)
{
    return s->wire->owner;
}

/* An exchange has taken a stream on it, or let go of it. */
void link_use(struct link *l);
void link_unuse(struct link *l);

/* No new calls on it; closes it when none is left. */
void link_shutdown(struct link *l);
void link_kill(struct link *l);

/* A client's that has carried calls, and carries none now: asks for another one in its place. What
 * the client has sent already is still answered. One that was never used is as good as new, and
 * whoever has just opened it is about to use it: clients do not forgive being sent away twice. */
void link_part(struct link *l);

/* ---- upstream.c ---- */

/* Connections to one service. */
struct upstream {
    struct worker *worker;
    struct generation *generation;
    uint32_t door;
    struct link *idle;   /* HTTP/1.1, not in use; the last used first */
    struct link *shared; /* HTTP/2 */
    uint32_t n_links;
    bool heard; /* the service has sent a byte, ever */
};

/* How careful to be with connections that were used before. */
enum upstream_care {
    CARE_NOT,
    CARE_ONCE,  /* what is sent must not be sent again: only one that is surely open */
    CARE_FRESH, /* a new one */
    CARE_ALONE, /* a new one that no other call will have */
};

/* A stream to the service, on a connection that is there or is being made; NULL when there are too
 * many. */
struct stream *upstream_open(struct upstream *u, bool h2, enum upstream_care care);

/* A link of a service was written or read: is it idle now? */
void upstream_settle(struct link *l);
void upstream_forget(struct link *l);
void upstream_close(struct upstream *u);

#endif
