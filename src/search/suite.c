/* SPDX-License-Identifier: Apache-2.0 */
#include "search/shared_int.h"

struct suite *suite_new(uint32_t n, const struct search_options *options)
{
    struct suite *suite = mem_zero(sizeof *suite);
    suite->ops = order_ops[options->order];
    suite->rng.state = options->seed;
    suite->last = n - 1;
    while (suite->searches.n < n) {
        vec_push(&suite->searches, NULL);
        vec_push(&suite->sure, false);
        vec_push(&suite->awake, false);
    }
    if (options->assume >> REDUCE_STATELESS & 1 && !options->knowledge)
        suite->made = knowledge_new(true);
    suite->knowledge = options->knowledge ? options->knowledge : suite->made;
    return suite;
}

void suite_free(struct suite *suite)
{
    if (!suite)
        return;
    vec_deinit(&suite->searches);
    vec_deinit(&suite->sure);
    vec_deinit(&suite->awake);
    knowledge_free(suite->made);
    map_deinit(&suite->facts);
    mem_free(suite);
}

void suite_join(struct search *s)
{
    if (s->opt.suite)
        s->opt.suite->searches.at[s->opt.seat] = s;
}

void suite_leave(struct search *s)
{
    struct suite *suite = s->opt.suite;
    if (suite && suite->searches.at[s->opt.seat] == s)
        suite->searches.at[s->opt.seat] = NULL; /* nobody else has taken it */
}

void suite_went(struct search *s)
{
    if (s->opt.suite)
        s->opt.suite->last = s->opt.seat;
}

uint64_t suite_queued(const struct suite *suite, uint32_t seat)
{
    const struct search *s = suite->searches.at[seat];
    uint64_t runs, queued = 0;
    if (s)
        search_progress(s, &runs, &queued);
    return queued;
}

uint32_t suite_lowest(const struct suite *suite, const bool *ready,
                      uint64_t (*rank_of)(const struct search *s))
{
    uint32_t n = suite->searches.n, best = n;
    uint64_t best_rank = 0;
    for (uint32_t k = 1; k <= n; k++) {
        uint32_t i = (suite->last + k) % n;
        if (!ready[i])
            continue;
        const struct search *s = suite->searches.at[i];
        uint64_t rank = s && rank_of && s->frontier.n ? rank_of(s) : 0;
        if (best == n || rank < best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

/* Those whose next is no guess, if there are any: an order that draws can hardly say what comes after a
 * run whose result is not known. */
static const bool *prefer_sure(struct suite *suite, const bool *ready)
{
    bool any = false;
    for (uint32_t i = 0; i < suite->searches.n; i++) {
        const struct search *s = suite->searches.at[i];
        any |= suite->sure.at[i] = ready[i] && s && !flight_guesses(s);
    }
    return any ? suite->sure.at : ready;
}

uint32_t suite_turn(struct suite *suite, const bool *ready)
{
    uint32_t n = suite->searches.n, next = n, some = 0;
    for (uint32_t i = 0; i < n && next == n; i++) {
        const struct search *s = suite->searches.at[i];
        bool empty = suite_queued(suite, i) == 0, sleeps = s && empty && shared_sleeps(s);
        suite->awake.at[i] = ready[i] && !sleeps;
        some += suite->awake.at[i];
        if (suite->awake.at[i] && empty)
            next = i;
    }
    if (next == n && some)
        next = suite->ops->choose ? suite->ops->choose(suite, prefer_sure(suite, suite->awake.at))
                                  : suite_lowest(suite, suite->awake.at, suite->ops->rank);
    return next < n ? next : SUITE_NOBODY;
}
