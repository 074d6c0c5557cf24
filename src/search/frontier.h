/* SPDX-License-Identifier: Apache-2.0
 *
 * The frontier: faultloads that wait for their turn. An order is a row of the table in frontier.c: its
 * name, and a struct order_ops that says what an item is worth, how it is put in, which is taken out
 * and which would be after that, and what to make of a run. Adding an order is adding a row. */
#ifndef OUTFOX_SEARCH_FRONTIER_H
#define OUTFOX_SEARCH_FRONTIER_H

#include "base/random.h"
#include "core/fault.h"
#include "search/search.h"

struct frontier_item {
    faultload faultload;
    uint32_t edge; /* what it is meant to show; NODE_NONE: nothing in particular */
};

struct search;
struct frontier;

/* What an order does. Pure, as the search is: equal observations give equal decisions. */
struct order_ops {
    uint32_t (*score)(const struct search *s, faultload f); /* the lower, the sooner, if it cares */
    void (*push)(struct frontier *f, struct frontier_item item, uint32_t score);
    struct frontier_item (*pop)(struct frontier *f);
    struct frontier_item (*peek)(const struct frontier *f, uint64_t after);
    /* What a run of this item showed; it was popped before. NULL: the order does not learn. */
    void (*observed)(struct frontier *f, struct frontier_item item, const struct trace *trace,
                     const struct verdict *verdict);
};

extern const struct order_ops *const order_ops; /* as many as order_rows, in their order */

struct frontier {
    const struct order_ops *ops;
    struct rng rng;
    uint64_t n;
    VEC(struct frontier_bucket {
        VEC(struct frontier_item) items;
        uint32_t head; /* items before it are gone */
    })
    buckets;        /* by size; the orders that do not care use the first */
    uint32_t first; /* no bucket before it has items */
};

void frontier_init(struct frontier *f, const struct order_ops *with, uint64_t seed);
void frontier_deinit(struct frontier *f);
void frontier_push(struct frontier *f, struct frontier_item item, uint32_t score);
bool frontier_pop(struct frontier *f, struct frontier_item *out) MUST_USE;

/* A run of this item was observed. */
void frontier_observed(struct frontier *f, struct frontier_item item, const struct trace *trace,
                       const struct verdict *verdict);

/* What would be popped after so many others if nothing were pushed. Of the random order it is a
 * guess. False: there are not as many. */
bool frontier_peek(const struct frontier *f, uint64_t after, struct frontier_item *out) MUST_USE;

#endif
