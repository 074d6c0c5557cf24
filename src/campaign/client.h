/* SPDX-License-Identifier: Apache-2.0
 *
 * The client of a scenario: sends one request to a service, from the loop, and collects the answer.
 * HTTP/1.1, or HTTP/2 with prior knowledge (gRPC), plain or TLS. Each request has a connection of
 * its own; or, when asked for, they are kept and used again, and a kept one that turns out to be
 * stale is replaced without a word: a request is sent again only when the service's system has not
 * taken a byte of it. A service that crashes on a request is not asked a second time.
 *
 * Also used to ask whether a service is ready. */
#ifndef OUTFOX_CAMPAIGN_CLIENT_H
#define OUTFOX_CAMPAIGN_CLIENT_H

#include "core/mode.h"
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

struct client_answer {
    outcome seen;            /* status, gRPC code, or refused, reset, closed, timeout */
    const struct head *head; /* of the answer; NULL: none */
    const struct head *trailers;
    slice body;
    bool cut;                 /* there was more of the body */
    const char *coded;        /* the body could not be decompressed: why; NULL: it is plain */
    const char *error;        /* for people; NULL: there was an answer */
    int64_t start_ns, end_ns; /* clock_ns; start: just before it is sent */
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
