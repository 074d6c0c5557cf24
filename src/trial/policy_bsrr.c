/* SPDX-License-Identifier: Apache-2.0
 *
 * Budgeted state round robin: section 4.3 and Algorithm 2 of Legolas (NSDI 24).
 *
 * Most requests come from few states: who takes requests as they come never sees the others. So each
 * trial has one state in focus, all states take turns, and a state that was harmed `budget` times
 * leaves the round until all others were too. In a state with c requests the chance of each is
 * 1 - e^(ln epsilon / (c + 1)): the trial is not wasted, and the fault comes neither always first nor
 * always last.
 *
 *   next: all budgets used?  --> all full again, all in the round
 *         what was in focus  --> to the end of the round, or out of it if its budget is used
 *         the first with a budget is in focus: rule STATE with its chance
 *   took: new states to the end of the round; c; a fault costs its state one of its budget
 *
 * Where this says more than the paper does:
 *
 * 1. A state is a node with an abstract state. (The code that was published with the paper also tells
 *    task, site and fault apart, which makes many more, smaller groups.) All requests of a node in no
 *    state are of one more.
 * 2. c is of one trial: the mean of those trials in which the state was met. Algorithm 2 only ever
 *    adds to it, by the letter; then chances fall with each trial and most trials are wasted, against
 *    what its rationale says. `total` is by the letter, to measure that.
 * 3. States of trials without faults are known before the first trial, so nothing was in focus, and
 *    nothing goes to the end of the round before it.
 * 4. Budgets come back when all are used, and at no other time. (The published code also starts anew
 *    when less than half of 30 trials had a fault.) A state that is met too seldom to use its budget
 *    costs one trial in each round. */
#include <math.h>

#include "trial/policy_int.h"

struct info {
    uint64_t key;
    uint64_t requests, trials; /* in which it was met */
    uint32_t budget;
};

struct bsrr {
    struct trial_policy base;
    struct map known;       /* of keys: places in `state` */
    VEC(struct info) state; /* in the order of discovery */
    VEC(uint32_t) round;    /* of states; the first is in focus */
    bool focused;           /* it was, in a trial that has begun */
};

double policy_chance(double epsilon, double c)
{
    return 1 - exp(log(epsilon) / (c + 1));
}

static void pop(struct bsrr *self)
{
    self->round.n--;
    memmove(self->round.at, self->round.at + 1, self->round.n * sizeof *self->round.at);
}

static void reset_if_all_used(struct bsrr *self)
{
    for (uint32_t i = 0; i < self->state.n; i++)
        if (self->state.at[i].budget)
            return;
    self->round.n = 0;
    self->focused = false;
    for (uint32_t i = 0; i < self->state.n; i++) {
        self->state.at[i].budget = self->base.setup.budget;
        vec_push(&self->round, i);
    }
}

/* Lines 3 to 13 of Algorithm 2. The loop appends the first state that it pops with a budget: where
 * what was in focus has none left, that is the one behind it, which then waits for a round more. */
static void rotate(struct bsrr *self)
{
    while (self->focused && self->round.n) {
        uint32_t s = self->round.at[0];
        pop(self);
        if (self->state.at[s].budget) {
            vec_push(&self->round, s);
            break;
        }
    }
    while (self->round.n && !self->state.at[self->round.at[0]].budget)
        pop(self);
}

static bool bsrr_next(struct trial_policy *p, struct trial_order *order)
{
    struct bsrr *self = (struct bsrr *)p;
    if (!self->state.n) {
        order->rule = OUTFOX_RULE_NONE;
        return true;
    }
    reset_if_all_used(self);
    rotate(self);
    const struct info *focus = &self->state.at[self->round.at[0]];
    double c = (double)focus->requests / (double)(p->setup.total ? 1 : focus->trials);
    order->rule = OUTFOX_RULE_STATE;
    order->key = focus->key;
    order->chance = (uint32_t)(policy_chance(p->setup.epsilon, c) * 0x1p32);
    self->focused = true;
    return true;
}

static uint32_t place_of(struct bsrr *self, uint64_t key)
{
    uint32_t at = map_index(&self->known, key, self->state.n);
    if (at == self->state.n) {
        vec_push(&self->state, (struct info){.key = key, .budget = self->base.setup.budget});
        vec_push(&self->round, at);
    }
    return at;
}

static void bsrr_took(struct trial_policy *p, const struct trial_order *order,
                      const struct trial_seen *seen)
{
    struct bsrr *self = (struct bsrr *)p;
    struct map met = {0}; /* states of this trial */
    (void)order;
    for (uint32_t i = 0; i < seen->n_points; i++) {
        const struct outfox_point *point = &seen->point[i];
        uint64_t key = policy_state(point);
        if (!point->requests)
            continue;
        uint32_t at = place_of(self, key);
        struct info *info = &self->state.at[at];
        info->requests += point->requests;
        info->trials += map_count(&met, key) == 1;
    }
    map_deinit(&met);
    if (!seen->injection)
        return;
    uint32_t at = place_of(self, policy_state(&seen->injection->point));
    struct info *harmed = &self->state.at[at];
    harmed->trials += !harmed->trials; /* it was met, even if its requests were lost */
    harmed->budget -= harmed->budget > 0;
}

static void bsrr_deinit(struct trial_policy *p)
{
    struct bsrr *self = (struct bsrr *)p;
    map_deinit(&self->known);
    vec_deinit(&self->state);
    vec_deinit(&self->round);
}

const struct policy_ops bsrr_ops = {
    .name = "bsrr",
    .doc = "a state in focus, each in turn, harmed at most `budget` times in a round",
    .bytes = sizeof(struct bsrr),
    .next = bsrr_next,
    .took = bsrr_took,
    .deinit = bsrr_deinit,
};
