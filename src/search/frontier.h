/* SPDX-License-Identifier: Apache-2.0
 *
 * The frontier: faultloads that wait for their turn. An order is a row of the table in frontier.c:
 * how an item is put in, which is taken out, and which
 * would be after that. Adding an order is adding a row. */
#ifndef OUTFOX_SEARCH_FRONTIER_H
#define OUTFOX_SEARCH_FRONTIER_H

#include "base/rng.h"
#include "core/fault.h"
#include "search/search.h"

struct frontier_item {
    faultload faultload;
    uint32_t edge; /* what it is meant to show; NODE_NONE: nothing in particular */
};

struct frontier {
    uint32_t order;
    struct rng rng;
    uint64_t n;
    VEC(struct frontier_bucket {
        VEC(struct frontier_item) items;
        uint32_t head; /* items before it are gone */
    })
    buckets;        /* by size; the orders that do not care use the first */
    uint32_t first; /* no bucket before it has items */
};

void frontier_init(struct frontier *f, uint32_t order, uint64_t seed);
void frontier_deinit(struct frontier *f);
void frontier_push(struct frontier *f, struct frontier_item item, uint32_t size);
bool frontier_pop(struct frontier *f, struct frontier_item *out) MUST_USE;

/* What would be popped after so many others if nothing were pushed. Of the random order it is a
 * guess. False: there are not as many. */
bool frontier_peek(const struct frontier *f, uint64_t after, struct frontier_item *out) MUST_USE;

#endif
