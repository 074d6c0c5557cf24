/* SPDX-License-Identifier: Apache-2.0
 *
 * The client of a scenario: sends one request to a service, from the loop, and collects the answer.
 * HTTP/1.1, or HTTP/2 with prior knowledge (gRPC), plain or TLS. Each request has a connection of
 * its own; or, when asked for, they are kept and used again, and a kept one that turns out to be
 * stale is replaced without a word: a request is sent again only when the service's system has not
 * taken a byte of it. A service that crashes on a request is not asked a second time.
 *
 * Also used to ask whether a service is ready. */
#ifndef OUTFOX_LIVE_CLIENT_H
#define OUTFOX_LIVE_CLIENT_H

#include "findings/answer.h"
#include "io/conn.h"
#include "wire/wire.h"

struct client;
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

/* fresh: no connection carries a second request. */
struct client *client_new(struct loop *l, bool fresh);

/* Cancels what is under way. Not from within `done`. */
void client_free(struct client *c);

/* `done` is called once, from the loop, never from within client_send. The answer lives during the
 * call. */
struct client_call *client_send(struct client *c, const struct client_request *r,
                                void (*done)(void *user, const struct client_answer *a),
                                void *user);

/* Forgets a call whose `done` was not called yet. */
void client_cancel(struct client_call *call);

#endif
