/* SPDX-License-Identifier: Apache-2.0
 *
 * call: the record of one call. trace: all calls of one run, in the order in which they started;
 * the first is the scenario's own request. Every call has exactly one record.
 *
 * A trace is read in *causal order*: the calls of a handler in the order in which they started,
 * those that started together in an order that does not depend on chance (see trace_order). */
#ifndef OUTFOX_CORE_TRACE_H
#define OUTFOX_CORE_TRACE_H

#include "base/clock.h"
#include "base/index.h"
#include "base/vec.h"
#include "core/fault.h"

#define CALL_NONE UINT32_MAX

/* What is known of a call besides how it went. */
enum call_flag {
    CALL_EXEMPT = 1, /* never failed: it was made by the scenario's client itself, or is hushed */
    CALL_HTTP = 2,   /* which modes make sense at it; neither: all of them */
    CALL_GRPC = 4,
    CALL_AMBIGUOUS = 8, /* who made it was guessed: several calls of the caller were open */
    CALL_OPEN = 16,     /* had not ended when its run did */
    CALL_HUSHED = 32,   /* in a block that prepares a test or looks at what came of it: neither it
                           nor what is below it is part of what is tested */
    CALL_HTTP2 = 64,    /* of CALL_HTTP: it came in HTTP/2. (gRPC always does) */
};

struct call {
    uid uid;
    uint32_t parent;          /* index of the call whose handler made it; CALL_NONE for the first */
    mode mode;                /* the fault that fired at it, or MODE_NONE */
    uid fault_point;          /* the point of that fault: uid, or the one with n = N_ANY */
    outcome seen;             /* what the caller saw */
    bool handled;             /* did the service get the request? */
    uint8_t flags;            /* enum call_flag */
    outcome reply;            /* what the service answered, when handled */
    uint32_t request;         /* hash of what was asked, path and body as sent; 0: not known */
    uint32_t key;             /* hash of its idempotency key; 0: it has none */
    uint32_t answer;          /* run.answers[answer - 1] is what the client received; 0: not kept */
    int64_t start_ns, end_ns; /* end >= start + 1 */
};

struct trace {
    VEC(struct call) calls;
};

/* What becomes of a call that arrives. All zero: it is of no run, and passed on as if nobody were
 * there. */
struct call_fate {
    uint64_t run;  /* the key of its run; 0: none */
    uint32_t call; /* its index in the trace of that run */
    mode mode;
    bool client; /* the client of a command makes it: what it receives is to be kept */
};

/* Can calls with these flags be failed in this way? (Both kinds at once count as neither.) */
bool call_flags_take(uint8_t flags, mode m);

static inline bool call_takes(const struct call *c, mode m)
{
    return !(c->flags & (CALL_EXEMPT | CALL_HTTP | CALL_GRPC)) || call_flags_take(c->flags, m);
}

/* Is it a request that a command made as the client, of which a user would speak? */
static inline bool call_is_request(const struct call *c)
{
    return c->parent == 0 && (c->flags & (CALL_EXEMPT | CALL_HUSHED)) == CALL_EXEMPT;
}

/* Is it this fault that failed it? */
bool call_hit_by(const struct call *c, const struct names *names, struct fault fault);

/* Did its caller stop waiting before the answer of the service, or what a fault makes of it, was
 * there? */
bool call_late(const struct call *c);

/* What stands for this call in its caller's transcript. A call that was left is one that was left,
 * whatever a fault did to the answer. */
static inline label call_label(const struct call *c)
{
    return c->mode != MODE_NONE && !call_late(c) ? mode_label(c->mode) : c->seen;
}

/* How it was failed, or what its caller saw. */
static inline label call_way(const struct call *c)
{
    return c->mode != MODE_NONE ? mode_label(c->mode) : c->seen;
}

/* Replaces what *out holds by a copy. */
void trace_copy(const struct trace *from, struct trace *out);

/* The same without hushed calls: what is tested. */
void trace_copy_tested(const struct trace *from, struct trace *out);

/* The longest time in which a handler worked and had none of its calls open. The time that a fault
 * takes is no work, nor are the scenario's client and calls without an end of that kind. */
int64_t trace_pause(const struct trace *trace);

/* The causal order: children of calls[i] are child[first[i]] .. child[first[i + 1] - 1]. */
struct trace_order {
    VEC(uint32_t) first;
    VEC(uint32_t) child;
};

/* Of two calls of one handler, the one that started first comes first; of calls that started
 * together, the smaller element (element_cmp). A fault changes when and how its call ends, which
 * can only matter to calls that start later: so what stands before a call in this order stays the
 * same when that call is made to fail. (Ends must not enter the order: an injected failure comes
 * sooner than a genuine answer.) */
void trace_order(const struct trace *trace, const struct names *names, struct trace_order *out);
void trace_order_deinit(struct trace_order *order);

/* ---- calls that are made at the same time ---- */

/* Calls of a handler that overlap and have one name but for their number: which of them is the
 * first is decided by chance. */
struct overlap_equal {
    uid handler;
    uint32_t element; /* of one of them */
    uint32_t most;    /* so many were seen at a time */
    bool differ;      /* what they ask was seen to differ */
    bool together;    /* they were seen to start within OVERLAP_TOGETHER_NS: it is no second try
                         that is made while the first is waited for */
};

#define OVERLAP_TOGETHER_NS MS(5)

/* On real sockets calls that are made at the same time arrive one after the other, in an order of
 * chance, and one that is failed at once has ended before the next arrives. What is known of them
 * is learned over the runs: which calls of a handler were ever seen to overlap. */
struct overlaps {
    struct map pairs; /* (handler, element, element), and (handler) for those that have any */
    VEC(struct overlap_equal) equal;
    struct map equal_at; /* (handler, element but for its number) -> index in equal */
    struct trace_order order;
};

enum {
    OVERLAPS_MAX = 1 << 20, /* pairs; no more are learned */
    ALIGN_MAX = 1024        /* calls of one handler; those of one with more are left as they are */
};

/* Learns from a trace: two calls of one handler overlap when each starts before the other ends. One
 * that its caller left, or that did not end, overlaps with no later call: the caller may have gone
 * on because it waited no longer. Zero-initialised is empty. */
void overlaps_learn(struct overlaps *o, const struct names *names, const struct trace *trace);
void overlaps_deinit(struct overlaps *o);

/* Makes calls that are known to overlap start together, so that trace_order orders them by name.
 * Of two calls of a handler that are not known to overlap, the one that started first stays before
 * the other; what is left free by that is grouped. So calls that are made one after the other are
 * never grouped, and a group reads the same whatever the order of arrival was. To be called once,
 * after overlaps_learn, which must not see it again: a call that was moved seems to overlap with
 * ones that it followed. So what is stored, to be learned from again, is the trace as it was. */
void trace_align(struct trace *trace, struct overlaps *o, const struct names *names);

/* What a scenario's expectation says of one run. */
struct verdict {
    bool pass;
    outcome status;  /* what the client saw */
    const char *why; /* the sentence of the broken expectation; "" when it passed. Lives as long as
                        the scenario; equal for equal reasons, so without figures of one run */
    const char *detail; /* what it was in this run: "status 503, not 200"; NULL: nothing to add.
                           Lives as long as the run */
};

#endif
