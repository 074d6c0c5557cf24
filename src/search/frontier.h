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
struct suite;
struct frontier;

/* What an order does. Pure, as the search is: equal observations give equal decisions. What is NULL is
 * not done; score, push, pop and peek are always there. */
struct order_ops {
    /* What it knows of one search is in s->frontier.own; it is made before anything is pushed. */
    void (*open)(struct search *s);
    void (*close)(struct search *s);
    uint32_t (*score)(const struct search *s, faultload f); /* the lower, the sooner, if it cares */
    void (*push)(struct frontier *f, struct frontier_item item, uint32_t score);
    struct frontier_item (*pop)(struct frontier *f);
    struct frontier_item (*peek)(const struct frontier *f, uint64_t after);
    /* Takes the item of this faultload out, wherever it is: somebody has run it. False: it is not
     * queued. NULL: what comes before it is picked too, see flight.c. */
    bool (*take)(struct search *s, faultload f, struct frontier_item *out);
    /* What a run of this item showed; it was popped before. s->reading and s->now are of this run. */
    void (*observed)(struct search *s, struct frontier_item item, const struct trace *trace,
                     const struct verdict *verdict);
    /* Of what this search gives next: which of several searches comes first? The lowest; equal ones go
     * round. NULL: they go round. Something is queued. */
    uint64_t (*rank)(const struct search *s);
    /* The same, decided over all of them at once (suite_turn). */
    uint32_t (*choose)(struct suite *suite, const bool *ready);
};

extern const struct order_ops *const *const order_ops; /* as many as order_rows, in their order */

struct frontier {
    const struct order_ops *ops;
    struct rng rng;
    uint64_t n;
    void *own; /* of the order */
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

/* Takes this one out, whatever its turn; false: it is not there, or the order cannot tell. */
bool frontier_take(struct search *s, faultload f, struct frontier_item *out) MUST_USE;

/* What would be popped after so many others if nothing were pushed. Of the random order it is a
 * guess. False: there are not as many. */
bool frontier_peek(const struct frontier *f, uint64_t after, struct frontier_item *out) MUST_USE;

#endif
