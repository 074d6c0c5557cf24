/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a suite (suite.c), for the orders that choose over all of its searches, and for what
 * these share (shared.c). */
#ifndef OUTFOX_SEARCH_SUITE_INT_H
#define OUTFOX_SEARCH_SUITE_INT_H

#include "base/index.h"
#include "search/frontier.h"
#include "search/knowledge.h"
#include "search/suite.h"

struct suite {
    VEC(struct search *) searches; /* by seat; NULL: it is not there, now */
    const struct order_ops *ops;
    struct rng rng;
    uint32_t last;               /* made a run */
    VEC(bool) sure;              /* of suite_turn */
    void *own;                   /* of the order */
    struct knowledge *knowledge; /* that they share; NULL: each explores for itself, */
    struct knowledge *made;      /* and it is the suite's own */
    struct map facts;            /* for their audits */
    VEC(bool) awake;             /* by seat, see suite_turn */
};

/* The search takes its seat, and gives it up; what is queued by the one that sits there. */
void suite_join(struct search *s);
void suite_leave(struct search *s);
uint64_t suite_queued(const struct suite *suite, uint32_t seat);

/* It had a turn: from what was observed, so that one that is gone on with goes on alike. */
void suite_went(struct search *s);

/* The one with the lowest rank; of equal ones the next after the last turn. */
uint32_t suite_lowest(const struct suite *suite, const bool *ready,
                      uint64_t (*rank)(const struct search *s));

#endif
