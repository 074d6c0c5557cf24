/* SPDX-License-Identifier: Apache-2.0
 *
 * Fitness: which fault test of a suite is likely to break something? A test that did is changed in
 * one attribute, and that is tried next (docs/search.md; after IntelliFT).
 *
 *   stock --choose--> a scenario --pop--> an item --(a run)--> fitness_learn
 *
 * Every scenario and every site is tested once. A run has an impact, by what became of the client's
 * request and of the scenario, and by whether that is new. Tests of high impact are kept in a bounded
 * queue by their fitness, which is their impact at first and fades with every change that is made of
 * them. A parent is drawn from it in proportion, then an axis in proportion to what changes along it
 * have brought lately, then what to change it to, by what is known of callers, modes, requests and
 * scenarios. Only what is queued is chosen; when there is nothing like that, anything is.
 *
 * Whole numbers only, and a generator of its own: equal seeds, items and results give equal choices
 * on every machine. */
#ifndef OUTFOX_SEARCH_FITNESS_H
#define OUTFOX_SEARCH_FITNESS_H

#include "search/stock.h"

struct fitness;

/* What comes when nothing is left to change. */
enum fitness_rest { REST_RANDOM, REST_BY_SCORE };

struct fitness *fitness_new(uint64_t seed, enum fitness_rest rest);
void fitness_free(struct fitness *fit);

/* There is a scenario of this number, and nothing is queued in it. What was learned of it stays. */
void fitness_clear(struct fitness *fit, uint32_t scenario);

/* The calls that requests bring about without faults: those that bring about the same are alike. */
void fitness_call(struct fitness *fit, const struct stock_place *place);

/* Something that could be run; of equal places the lowest score comes first. key: faultload_key. */
void fitness_put(struct fitness *fit, const struct stock_place *place, struct frontier_item item,
                 uint64_t key, uint32_t score);

/* Takes what has this key from its place. False: it is not there. */
bool fitness_take(struct fitness *fit, const struct stock_place *place, uint64_t key,
                  struct frontier_item *out) MUST_USE;

/* Which of the scenarios with something queued makes the next run; STOCK_NONE: none of those that
 * are ready has anything. What it is to run is kept for fitness_pop. */
uint32_t fitness_choose(struct fitness *fit, const bool *ready);

/* What this scenario is to run next: what fitness_choose had in mind, or else the best that this
 * scenario has. It has something. */
struct frontier_item fitness_pop(struct fitness *fit, uint32_t scenario);

/* How many it has, and one of them. */
uint32_t fitness_queued(const struct fitness *fit, uint32_t scenario);
struct frontier_item fitness_peek(const struct fitness *fit, uint32_t scenario, uint32_t after);

/* What came of a run. */
struct fitness_result {
    bool request_ok; /* the client's request under which the last fault was succeeded, */
    bool pass;       /* and so did the scenario */
    uint64_t backup; /* a call was made that only faults bring about and no run of this scenario had
                         shown before: the same for such calls of all scenarios; 0: none */
    bool passed_on;  /* the caller of the call that failed last failed, too */
    uint64_t failure; /* the same for failures that count as one */
};

void fitness_learn(struct fitness *fit, const struct stock_place *place, faultload f,
                   const struct fitness_result *result);

/* The impact of a run: five cases. */
uint32_t fitness_impact(const struct fitness_result *result);

/* The order `fitness` for this search (order_fitness.c): what order_ops.open does. */
void fitness_open(struct search *s, enum fitness_rest rest);
struct fitness *fitness_of(const void *own); /* of what that puts into frontier.own */

/* Something that is the same in all scenarios is known now; is it? For whoever uses it. */
void fitness_know(struct fitness *fit, uint64_t what);
bool fitness_known(const struct fitness *fit, uint64_t what);

/* How many different failures were seen, in one scenario first. */
uint32_t fitness_failures(const struct fitness *fit, uint32_t scenario);

#endif
