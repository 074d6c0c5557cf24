/* SPDX-License-Identifier: Apache-2.0
 *
 * Trace context: what requests carry through services, in every dialect that is in use. A run has a
 * trace id of 128 bits; its lower half identifies it in all dialects (some have no more). Our own
 * key `outfox` in `tracestate` and in `baggage` says also which call it was that the request was
 * made on behalf of.
 *
 *   tracestate: outfox=RUN-CALL,...    RUN: 16 hex digits (lower half of the trace id)
 *   baggage:    outfox=RUN-CALL,...    CALL: hex number of the call within its run
 *
 * Pure functions over heads; nothing here trusts what it reads. */
#ifndef OUTFOX_TRACK_CONTEXT_H
#define OUTFOX_TRACK_CONTEXT_H

#include "wire/message.h"

/* Dialects; a row of a table each. Headers of users come on top (context_read's `custom`). */
enum dialect {
    DIALECT_TRACESTATE, /* tells run and call */
    DIALECT_BAGGAGE,    /* tells run and call */
    DIALECT_TRACEPARENT,
    DIALECT_B3,         /* single header `b3` */
    DIALECT_B3_MULTI,   /* x-b3-traceid, x-b3-spanid, x-b3-sampled */
    DIALECT_REQUEST_ID, /* x-request-id */
    DIALECT_JAEGER,     /* uber-trace-id */
    DIALECT_DATADOG,    /* x-datadog-trace-id, x-datadog-parent-id */
    DIALECT_XRAY,       /* x-amzn-trace-id */
    DIALECT_CUSTOM,     /* headers that the user names: the whole value is 32 hex digits */
    DIALECTS
};

struct trace_id {
    uint64_t high, low; /* low is never 0 */
};

/* What a request says. The most telling dialect first: run and call by tracestate, by baggage, else
 * the run alone by the first of the others. */
struct context {
    uint32_t seen;   /* bits 1 << enum dialect: that were there and well-formed, whatever trace */
    uint64_t run;    /* lower half of the trace id; 0: nothing was said */
    uint32_t call;   /* index of the call that it was made on behalf of; UINT32_MAX: not said */
    enum dialect by; /* which dialect said so; DIALECTS: none */
};

/* `known` decides whether a lower half is one of ours: ids of others are passed over. */
void context_read(const struct head *h, const slice *custom, uint32_t n_custom,
                  bool (*known)(void *ctx, uint64_t run), void *ctx, struct context *out);

/* The fields of a request as it is to be sent on: `from` with our keys replaced (leftmost in
 * tracestate, W3C limits kept, foreign members kept, malformed foreign headers left alone), for the
 * dialects of `write`. DIALECT_TRACESTATE and DIALECT_BAGGAGE name the call (where one of them is
 * written, our key is taken out of the other, which would tell of an earlier call); the others are
 * only written where the request has none of theirs (a request that starts a trace: the
 * scenario's). A tracestate needs a traceparent: it is written, too, when there is none. Everything
 * new lives in `a`; the result has all fields, in their order. */
void context_write(const struct head *from, uint32_t write, const slice *custom, uint32_t n_custom,
                   struct trace_id id, uint32_t call, struct arena *a, const struct field **fields,
                   uint32_t *n_fields);

/* For the environment of a command: the value of TRACEPARENT, TRACESTATE, BAGGAGE. */
void context_traceparent(struct trace_id id, struct buf *out);
void context_member(struct trace_id id, uint32_t call, struct buf *out); /* outfox=RUN-CALL */

#endif
