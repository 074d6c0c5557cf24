/* SPDX-License-Identifier: Apache-2.0
 *
 * exchange: one call, and what acts on it. */
#ifndef OUTFOX_PROXY_EXCHANGE_INT_H
#define OUTFOX_PROXY_EXCHANGE_INT_H

#include "base/arena.h"
#include "proxy/director.h"
#include "proxy/pace_int.h"
#include "proxy/rule.h"
#include "proxy/worker_int.h"
#include "wire/grpc.h"

/* ---- exchange.c ---- */

enum exchange_state {
    EX_COLLECT, /* the body is waited for, to name the call */
    EX_WAIT,    /* a fault lets it wait before it is forwarded */
    EX_FORWARD, /* with the service */
    EX_HELD,    /* a fault keeps the caller waiting */
    EX_DONE,
};

struct exchange {
    struct exchange *next, **self;
    struct worker *worker;
    struct generation *generation;
    uint32_t door;
    enum exchange_state state;
    struct stream *down, *up; /* to the caller, to the service; NULL: none (any more) */
    struct timer timer;
    struct arena arena; /* holds all text below */

    struct head *request;
    struct head *request_trailers;
    struct chain body; /* of the request, as far as it is kept */
    bool grpc, h2;
    bool request_ended, replayable, continued;
    uint64_t request_bytes;
    uint64_t passed;        /* bytes of the body that have left for the service, in this attempt */
    uint64_t consumed;      /* as the caller's wire was told */
    uint64_t unread;        /* bytes of the answer that the service's wire was not told of yet */
    struct sending sending; /* its tries */

    const struct rule *rule;        /* NULL: none, or a director decides */
    struct call_arrival arrival;    /* as a director was asked about it */
    struct call_fate fate;          /* as it has decided */
    const struct rule_dress *dress; /* of what is injected */
    slice fault;                    /* names it */
    mode mode;                      /* what is being acted out; MODE_NONE: nothing (any more) */
    bool fired;
    slice interface; /* "" unless calls are named */
    uint32_t payload, n;
    size_t named; /* bytes of the first message of gRPC, as far as it is there */

    const struct reply_way *way; /* what happens to the service's answer */
    struct head *answer;         /* kept by a way that holds it */
    struct head *answer_trailers;
    struct chain held;      /* body of the answer, kept */
    slice coding;           /* how the body is compressed that the caller gets */
    struct chain told_body; /* what the caller got of it, for the director */
    bool answer_begun, answer_ended, tunnel;
    bool told;               /* the caller has got a final head */
    int64_t told_ns;         /* when, if it is a client of a run */
    uint64_t response_bytes; /* to the caller */
    uint64_t promised; /* length of the answer's body as the caller was told; UINT64_MAX: not */
    uint64_t budget;   /* of ways that count bytes */
    struct pace pace;  /* of those that let them go slowly */
    struct grpc_framing framing;
    uint64_t dice;

    outcome seen, reply;
    int64_t start_ns, forward_ns, answer_ns, active_ns;
    const char *error; /* in the arena, or static; NULL: none */
};

/* The end of a call, whatever it was: one record, both streams let go, the memory used again. */
void exchange_finish(struct exchange *x, outcome seen);

/* A failure of our own or of the service, in words: 502 or 504, UNAVAILABLE or DEADLINE_EXCEEDED.
 */
void exchange_fail(struct exchange *x, uint16_t status, const char *text);

/* Breaks the caller's stream off and finishes. */
void exchange_break(struct exchange *x, enum wire_finish how, uint32_t code, outcome seen);

static inline const struct setup *exchange_setup(const struct exchange *x)
{
    return x->generation->setup;
}

static inline const struct limits *exchange_limits(const struct exchange *x)
{
    return &x->generation->setup->config->limits;
}

/* Breaks off the calls of a run of the director. */
void exchange_cut(struct worker *w, uint64_t run);

/* The calls of a run of the director that wait for an event go on. */
void exchange_go_on(struct worker *w, uint64_t run, bool begun);

/* lost-reply, duplicate: the service has answered once. */
void act_after_reply(struct exchange *x);

/* Every second: calls that stall or last too long. */
void exchange_sweep(struct timer *t);

/* ---- answer.c ---- */

/* Brings the call to the service, or again. */
void exchange_forward(struct exchange *x);

/* Bytes of the request's body for the service. */
void exchange_give(struct exchange *x, slice bytes);

/* n bytes of the answer are done with. */
void exchange_consume(struct exchange *x, size_t n);

/* What happens to the service's answer on its way to the caller. */
struct reply_way {
    void (*head)(struct exchange *x, const struct head *h, bool end);
    void (*data)(struct exchange *x, slice bytes);
    void (*end)(struct exchange *x, const struct head *trailers);
    void (*tick)(struct exchange *x); /* the timer fired; NULL: none runs */
    bool takes_over;                  /* data counts as consumed at once, not when passed on */
};

extern const struct reply_way way_pass, way_drop;
const struct reply_way *reply_way_for(mode m);

/* ---- log.c ---- */

/* Finds its interface. */
void naming_interface(struct exchange *x);

#endif
