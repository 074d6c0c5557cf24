/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies: the table, and those that remember little. */
#include "trial/policy_int.h"

/* ---- point: what somebody wants, once ---- */

struct point_policy {
    struct trial_policy base;
    bool asked;
};

static bool point_next(struct trial_policy *p, struct trial_order *order)
{
    struct point_policy *self = (struct point_policy *)p;
    const struct trial_order *wanted = &p->setup.point;
    if (self->asked)
        return false;
    self->asked = true;
    order->rule = OUTFOX_RULE_POINT;
    order->key = wanted->key;
    order->nth = wanted->nth;
    order->error = wanted->error;
    order->seed = wanted->seed;
    return true;
}

static const struct policy_ops point_ops = {
    .name = "point",
    .doc = "one request, as given: replays",
    .bytes = sizeof(struct point_policy),
    .next = point_next,
};

/* ---- exhaustive: the first request of each point, with each error ---- */

struct exhaustive {
    struct trial_policy base;
    struct map known; /* of keys: where in `todo` the first of it is */
    VEC(struct {
        uint64_t key;
        int error; /* 0: whichever */
    })
    todo;
    uint32_t at; /* before it, all were tried */
};

static bool exhaustive_next(struct trial_policy *p, struct trial_order *order)
{
    struct exhaustive *self = (struct exhaustive *)p;
    if (!self->known.items.n) {
        order->rule = OUTFOX_RULE_NONE;
        return true;
    }
    if (self->at == self->todo.n)
        return false;
    order->rule = OUTFOX_RULE_POINT;
    order->key = self->todo.at[self->at].key;
    order->error = self->todo.at[self->at].error;
    order->nth = 1;
    self->at++;
    return true;
}

static void exhaustive_took(struct trial_policy *p, const struct trial_order *order,
                            const struct trial_seen *seen)
{
    struct exhaustive *self = (struct exhaustive *)p;
    (void)order;
    for (uint32_t i = 0; i < seen->n_points; i++) {
        const struct outfox_point *point = &seen->point[i];
        int errors[OUTFOX_ERRORS] = {0};
        uint32_t n = 0;
        if (!point->requests || map_get(&self->known, point->key))
            continue;
        map_set(&self->known, point->key, self->todo.n);
        if (p->setup.act == OUTFOX_ERROR && p->setup.errors)
            n = p->setup.errors(p->setup.user, point->module, point->site, errors);
        for (uint32_t k = 0; k < (n ? n : 1); k++) {
            vec_reserve_one(&self->todo);
            self->todo.at[self->todo.n].key = point->key;
            self->todo.at[self->todo.n++].error = n ? errors[k] : 0;
        }
    }
}

static void exhaustive_deinit(struct trial_policy *p)
{
    struct exhaustive *self = (struct exhaustive *)p;
    map_deinit(&self->known);
    vec_deinit(&self->todo);
}

static const struct policy_ops exhaustive_ops = {
    .name = "exhaustive",
    .doc = "each point with each of its errors, at its first request, in the order of discovery",
    .bytes = sizeof(struct exhaustive),
    .next = exhaustive_next,
    .took = exhaustive_took,
    .deinit = exhaustive_deinit,
};

/* ---- random: one of so many requests as a trial has when nothing is harmed ---- */

struct random {
    struct trial_policy base;
    uint64_t requests; /* of the last trial in which nothing was made; 0: there was none */
};

/* 0 .. bound-1. */
static uint64_t below(struct rng *r, uint64_t bound)
{
    return bound <= UINT32_MAX ? rng_below(r, (uint32_t)bound) : rng_next(r) % bound;
}

static bool random_next(struct trial_policy *p, struct trial_order *order)
{
    struct random *self = (struct random *)p;
    order->rule = self->requests ? OUTFOX_RULE_REQUEST : OUTFOX_RULE_NONE;
    order->nth = self->requests ? 1 + below(&p->rng, self->requests) : 0;
    return true;
}

/* Trials with a fault may have lost requests by it. */
static void random_took(struct trial_policy *p, const struct trial_order *order,
                        const struct trial_seen *seen)
{
    (void)order;
    if (!seen->injection && seen->requests)
        ((struct random *)p)->requests = seen->requests;
}

static const struct policy_ops random_ops = {
    .name = "random",
    .doc = "one of all requests that a trial without a fault had, each as likely as the other",
    .bytes = sizeof(struct random),
    .next = random_next,
    .took = random_took,
};

/* ---- new-state: the first request in a state in which no fault was made yet ---- */

enum { IDLE_MOST = 20 };

struct new_state {
    struct trial_policy base;
    struct map harmed;
    uint32_t idle; /* so many trials one after the other in which no state was new */
};

static bool new_state_next(struct trial_policy *p, struct trial_order *order)
{
    order->rule = OUTFOX_RULE_NEW;
    return ((struct new_state *)p)->idle < IDLE_MOST;
}

static void new_state_took(struct trial_policy *p, const struct trial_order *order,
                           const struct trial_seen *seen)
{
    struct new_state *self = (struct new_state *)p;
    if (order->rule != OUTFOX_RULE_NEW)
        return;
    self->idle = seen->injection ? 0 : self->idle + 1;
    if (seen->injection)
        map_set(&self->harmed, policy_state(&seen->injection->point), 1);
}

static bool new_state_knows(const struct trial_policy *p, uint64_t state)
{
    return map_get(&((const struct new_state *)p)->harmed, state) != NULL;
}

static void new_state_deinit(struct trial_policy *p)
{
    map_deinit(&((struct new_state *)p)->harmed);
}

static const struct policy_ops new_state_ops = {
    .name = "new-state",
    .doc = "the first request in a state in which no fault was made yet",
    .bytes = sizeof(struct new_state),
    .next = new_state_next,
    .took = new_state_took,
    .knows = new_state_knows,
    .deinit = new_state_deinit,
};

/* ---- the table ---- */

const struct policy_ops *const policies[] = {&bsrr_ops,       &random_ops, &new_state_ops,
                                             &exhaustive_ops, &point_ops,  NULL};

const struct policy_ops *policy_find(slice name)
{
    for (size_t i = 0; policies[i]; i++)
        if (slice_is(name, policies[i]->name))
            return policies[i];
    return NULL;
}

struct trial_policy *policy_new(const struct policy_ops *ops, const struct policy_setup *setup)
{
    struct trial_policy *p = mem_zero(ops->bytes);
    p->ops = ops;
    p->setup = *setup;
    p->rng = (struct rng){outfox_mix(setup->seed, setup->act)};
    return p;
}

void policy_free(struct trial_policy *p)
{
    if (p && p->ops->deinit)
        p->ops->deinit(p);
    mem_free(p);
}

bool policy_next(struct trial_policy *p, struct trial_order *order)
{
    order->act = p->setup.act;
    order->delay_ns = p->setup.delay_ns;
    order->nodes = p->setup.nodes;
    return p->ops->next(p, order);
}

void policy_took(struct trial_policy *p, const struct trial_order *order,
                 const struct trial_seen *seen)
{
    if (p->ops->took)
        p->ops->took(p, order, seen);
}

bool policy_knows(const struct trial_policy *p, uint64_t state)
{
    return p->ops->knows && p->ops->knows(p, state);
}
