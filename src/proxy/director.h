/* SPDX-License-Identifier: Apache-2.0
 *
 * director: somebody who decides about calls in place of rules, and is told how each of them ended.
 * A campaign is one. It is called in the thread of the plane's loop, and never waits. */
#ifndef OUTFOX_PROXY_DIRECTOR_H
#define OUTFOX_PROXY_DIRECTOR_H

#include "base/chain.h"
#include "core/trace.h"
#include "wire/message.h"

/* A call, as it arrives. It is filled in once, and stays as long as the call. */
struct call_arrival {
    uint32_t door;  /* which proxy of the configuration it came to */
    int fd;         /* the caller's connection */
    uint32_t *memo; /* of that connection, 0 at first: for what the director found out about it */
    struct head *head; /* its fields may be replaced: so they go on to the service */
    slice interface;
    bool grpc, h2;
    const struct chain *body; /* as far as it is there */
    bool waited;              /* for the body: it is not asked for again */
    bool whole;               /* that is all of it; of gRPC, the first message is there */
    int64_t start_ns;
    struct arena *arena; /* for text that must live as long as the call */
};

/* How it ended. */
struct call_end {
    outcome seen, reply;        /* what the caller saw, what the service answered */
    bool handled;               /* the service got the request */
    bool fired;                 /* the fault was acted out */
    bool kept;                  /* all of the request's body is still in `body` of the arrival */
    const char *unfit;          /* why it could not be, at this answer; NULL: no reason is known */
    const struct chain *answer; /* to a client: the beginning of what it got, RUN_BODY_MAX bytes */
    slice coding;               /* how that is compressed; empty: not at all */
    int64_t told_ns;            /* to a client: when it got the head of the answer; 0: never */
    int64_t end_ns;
};

enum arrived {
    ARRIVED_DECIDED,       /* *fate says what becomes of it */
    ARRIVED_WAIT_FOR_BODY, /* to be asked once more, when the body is there as far as is waited */
};

struct director {
    void *ctx;
    slice fault; /* names what it injects, in x-outfox-fault; `arrived` may set it for its call */
    enum arrived (*arrived)(void *ctx, struct call_arrival *a, struct call_fate *fate);
    /* A mode ACT_EVENT: what it names is to begin. The call waits until plane_go_on. */
    void (*event)(void *ctx, const struct call_arrival *a, const struct call_fate *fate);
    /* Only for calls of a run. */
    void (*ended)(void *ctx, const struct call_arrival *a, const struct call_fate *fate,
                  const struct call_end *end);
    /* A connection to a door of tcp:// comes. NULL: nobody wants to know. */
    void (*connected)(void *ctx, uint32_t door);
};

#endif
