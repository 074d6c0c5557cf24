/* SPDX-License-Identifier: Apache-2.0
 *
 * reading: what the trace of a run says. */
#ifndef OUTFOX_SEARCH_READ_INT_H
#define OUTFOX_SEARCH_READ_INT_H

#include "search/search.h"

/* What a trace says, call by call. Refilled for every observation. */
struct reading {
    struct trace_order order;
    VEC(uint32_t) post;   /* calls, callees before callers, without the first */
    VEC(uint32_t) node;   /* by call: the prefix before it in its handler's tree */
    VEC(uint32_t) causes; /* by call: how many of `fired` fired before it */
    VEC(uint32_t) below;  /* by call: how many of those after them fired below it */
    VEC(int64_t)
    busy;                    /* by call: when its handler and all below it had done their work, as
                                far as the trace tells */
    VEC(struct fault) fired; /* in causal order */
    VEC(faultload) prefix;   /* prefix[k]: the first k of `fired` */
    VEC(uint32_t) handlers;  /* calls that were handled, and */
    VEC(uint32_t) ends;      /* the node at which each one's transcript ends */
};

void reading_fill(struct search *s, const struct trace *trace);
void reading_deinit(struct reading *r);

/* A hash of all that the run showed, with the outcome of `point` (and all below it) left out. */
uint64_t reading_signature(const struct search *s, const struct trace *trace, uid point,
                           bool without_below);

#endif
