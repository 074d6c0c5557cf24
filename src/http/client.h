/* SPDX-License-Identifier: Apache-2.0
 *
 * client: sends requests from a loop, and collects the answers. HTTP/1.1, or HTTP/2 with prior
 * knowledge (gRPC), plain or TLS. Each request has a connection of its own; or, when asked for, they
 * are kept and used again, and a kept one that turns out to be stale is replaced without a word, by
 * the rule of http/link.h for what must not be done twice: a service that crashes on a request is
 * not asked a second time. */
#ifndef OUTFOX_HTTP_CLIENT_H
#define OUTFOX_HTTP_CLIENT_H

#include "http/answer.h"
#include "http/link.h"

struct client_call;

struct client_request {
    const struct addr *to;   /* lives as long as the client */
    struct tls_context *tls; /* NULL: plain */
    bool grpc;               /* HTTP/2; body becomes one message, the answer's first message is
                                unwrapped */
    const struct head *head; /* method, scheme, authority, target, fields; copied */
    slice body;              /* copied */
    int64_t timeout_ns;      /* of the whole */
    size_t body_max;         /* of the answer that is kept; the rest is dropped */
};

/* Connections to one address. */
struct client_pool {
    struct client_pool *next;
    struct link_pool pool; /* holds its TLS context */
};

struct client {
    struct link_terms terms;
    bool fresh;
    struct link *links;
    struct client_pool *pools;
    struct client_call *calls;               /* under way */
    struct client_call *over, **over_behind; /* those whose `done` is due, in order */
    struct turn deliver;
    struct client_call *spare; /* to be used again */
    uint32_t n_spare;
    bool delivering;
};

/* fresh: no connection carries a second request. */
struct client *client_new(struct loop *l, bool fresh);

/* Cancels what is under way. Not from within `done`. */
void client_free(struct client *c);

/* `done` is called once, from the loop, never from within client_send; whoever is called may begin
 * and cancel calls. The answer lives during the call. */
struct client_call *client_send(struct client *c, const struct client_request *r,
                                void (*done)(void *user, const struct client_answer *a),
                                void *user);

/* Forgets a call whose `done` was not called yet. */
void client_cancel(struct client_call *call);

#endif
