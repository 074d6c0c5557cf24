/* SPDX-License-Identifier: Apache-2.0
 *
 * Links (http/link.h) as the proxy has them: of callers, and of services. */
#ifndef OUTFOX_PROXY_PEER_INT_H
#define OUTFOX_PROXY_PEER_INT_H

#include "http/pool.h"
#include "proxy/worker_int.h"

/* What streams tell: exchange.c's (request.c, answer.c). */
extern const struct wire_events down_events, up_events;

struct caller {
    struct link link; /* first: it frees the whole */
    struct site *site;
    struct generation *generation;
    uint32_t memo; /* the director's */
};

static inline struct caller *caller_of(struct link *l)
{
    return OWNER(l, struct caller, link);
}

/* A client has connected. */
void caller_accept(struct site *site, int fd);

/* Connections to one service, for one worker. */
struct upstream {
    struct link_pool pool;
    struct worker *worker;
    struct generation *generation;
    uint32_t door;
};

static inline struct upstream *upstream_of(const struct link *l)
{
    return OWNER(l->pool, struct upstream, pool);
}

/* The links of a generation, and who keeps them. */
void peers_init(struct worker *w, struct generation *g);

#endif
