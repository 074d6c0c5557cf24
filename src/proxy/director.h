/* SPDX-License-Identifier: Apache-2.0
 *
 * director: somebody who decides about calls in place of rules, and is told how each of them ended.
 * A campaign is one. It is called in the thread of the plane's loop, and never waits. */
#ifndef OUTFOX_PROXY_DIRECTOR_H
#define OUTFOX_PROXY_DIRECTOR_H

#include "base/chain.h"
#include "core/mode.h"
#include "wire/message.h"

/* A call, as it arrives. */
struct call_arrival {
    uint32_t door;  /* which proxy of the configuration it came to */
    int fd;         /* the caller's connection */
    uint32_t *memo; /* of that connection, 0 at first: for what the director found out about it */
    const struct head *head;
    slice interface;
    bool grpc, h2;
    const struct chain *body; /* as far as it was waited for */
    bool whole;               /* that is all of it; of gRPC, the first message is there */
    int64_t start_ns;
    struct arena *arena; /* for text that must live as long as the call */
};

/* What becomes of it. All zero: it is passed on as if nobody were there. */
struct call_fate {
    bool told; /* `ended` is called for it */
    mode mode;
    uint64_t run; /* the director's own, as is `call`: handed back by `ended` */
    uint32_t call;
    slice fault;                /* names the fault in x-outfox-fault */
    const struct field *fields; /* in place of the request's; NULL: they stay */
    uint32_t n_fields;
    uint32_t keep;   /* so many bytes of the answer's body are wanted when it has ended */
    uint16_t answer; /* answered with this status, and JSON; 0: it is not */
    slice body;
};

/* How it ended. */
struct call_end {
    outcome seen, reply; /* what the caller saw, what the service answered */
    bool handled;        /* the service got the request */
    bool fired;          /* the fault was acted out */
    const char *unfit;   /* why it could not be, at this answer; NULL: no reason is known */
    uint32_t door;       /* as it arrived */
    slice interface;
    const struct head *head;    /* the request */
    const struct chain *body;   /* of the request; NULL: not all of it was kept */
    const struct chain *answer; /* the beginning of what the caller got, as far as it was wanted */
    slice coding;               /* how that is compressed; empty: not at all */
    bool grpc;
    int64_t end_ns;
};

struct director {
    void *ctx;
    /* Is the body needed to decide? */
    bool (*wants_body)(void *ctx, const struct call_arrival *a);
    void (*decide)(void *ctx, const struct call_arrival *a, struct call_fate *out);
    void (*ended)(void *ctx, const struct call_fate *fate, const struct call_end *end);
};

#endif
