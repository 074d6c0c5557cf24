/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the client: client.c is about calls, client_request.c about what they send,
 * client_link.c about connections. */
#ifndef OUTFOX_LIVE_CLIENT_INT_H
#define OUTFOX_LIVE_CLIENT_INT_H

#include "live/client.h"

/* HTTP/2 error codes that are used here. */
enum { H2_CANCEL = 8 };

/* Connections to one address in one protocol. */
struct client_pool {
    struct client_pool *next;
    struct client *client;
    const struct addr *to;
    struct tls_context *tls; /* held; NULL: plain */
    bool h2;
    struct client_link *free; /* those that may take a call, the last used first. HTTP/1.1: idle
                                 ones; HTTP/2: all, as each carries many calls */
};

/* A connection with a wire on it. */
struct client_link {
    struct client_link *next, **self;           /* in client->links */
    struct client_link *next_free, **free_self; /* in pool->free; free_self NULL: is not */
    struct client_pool *pool;
    struct conn *conn;
    struct wire *wire;
    int64_t idle_ns;  /* since when it is idle */
    uint32_t n_calls; /* that have a stream on it */
    bool ready;       /* the connection stands */
    bool failed;      /* it never came to stand */
    bool heard;       /* the peer has sent something */
    bool only_h2;     /* asked in HTTP/1.1, the service answers in HTTP/2 */
    bool pooled;      /* when it was last taken, it had been idle before */
    const char *why;  /* failed: why; valid during the event */
};

struct client {
    struct loop *loop;
    bool fresh; /* a link carries one call */
    struct client_pool *pools;
    struct client_link *links;
    struct client_call *calls;               /* under way */
    struct client_call *over, **over_behind; /* those whose `done` is due, in order */
    struct client_call *spare;               /* to be used again */
    uint32_t n_spare;
    bool delivering;
};

/* ---- client_link.c ---- */

struct client_pool *client_pool_for(struct client *c, const struct addr *to,
                                    struct tls_context *tls, bool h2);
void client_pools_free(struct client *c);

/* A stream on a connection that is surely open, or on a new one. */
struct stream *client_link_open(struct client_pool *p, bool fresh);

static inline struct client_link *client_link_of(const struct stream *s)
{
    return s->wire->owner;
}

/* A call has lost its stream. */
void client_link_lost(struct client_link *l);

/* A call has left before its end: a connection that is of no more use is closed. Not from within an
 * event of the link's wire. */
void client_link_left(struct client_link *l);

/* ---- client_request.c ---- */

/* The head and the body as they are sent, in `a`. */
struct head *client_request_make(struct arena *a, const struct client_request *r, slice *body);

/* Why it cannot be sent; NULL: it can. */
const char *client_request_flaw(const struct head *h);

/* ---- client.c ---- */

extern const struct wire_events client_wire_events;

/* Calls `done` of all calls that are over. The last thing that an event of the loop does: whoever
 * is called may begin and cancel calls. */
void client_deliver(struct client *c);

#endif
