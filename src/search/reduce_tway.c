/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduction `t-way`. A single fault is *absorbed* when everything but its own call goes on as
 * without faults. Points whose faults are absorbed are independent factors; their combinations are
 * not tried one by one but as rows of a covering array: every t of them take all their values
 * together in some run. Three phases, each begins when the frontier is empty:
 *
 *   SINGLES   combinations wait; single faults show what is absorbed
 *   ROWS      the rows are run; combinations of factors wait, all others are searched exactly
 *   CHECKED   a combination whose every t faults did fire together in some run is skipped; what
 *             a row failed to show, one fault keeping another from firing, is searched exactly */
#include "search/search_int.h"

#include "base/hash.h"

#define TWAY_ABSENT UINT32_MAX

static uint32_t factor_of(const struct tway *t, uid point)
{
    uint32_t i = 0;
    while (i < t->factors.n && t->factors.at[i].point != point)
        i++;
    return i;
}

static uint32_t value_of(const struct tway_factor *factor, mode m)
{
    uint32_t v = 0;
    while (v < factor->n_values && factor->value[v] != m)
        v++;
    return v;
}

/* The faults of f as (factor, value); false when one of them is not a factor's. */
static bool as_values(const struct search *s, faultload f, uint32_t (*out)[2], uint32_t max,
                      uint32_t *n)
{
    *n = 0;
    for (; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        struct fault fault = s->fl->rows.at[f].last;
        uint32_t i = factor_of(&s->tway, fault.point);
        uint32_t v = i < s->tway.factors.n ? value_of(&s->tway.factors.at[i], fault.mode) : 0;
        if (i == s->tway.factors.n || v == s->tway.factors.at[i].n_values || *n == max)
            return false;
        out[*n][0] = i;
        out[*n][1] = v;
        ++*n;
    }
    return true;
}

/* Did some run have all of these values together? */
static bool together(const struct tway *t, uint32_t (*chosen)[2], uint32_t k)
{
    uint32_t width = t->factors.n;
    for (uint32_t row = 0; row + width <= t->values.n; row += width) {
        uint32_t i = 0;
        while (i < k && t->values.at[row + chosen[i][0]] == chosen[i][1])
            i++;
        if (i == k)
            return true;
    }
    return false;
}

/* Is every choice of k more of the values from `from` on covered together with the chosen ones? */
static bool covered(const struct tway *t, uint32_t (*all)[2], uint32_t n, uint32_t from,
                    uint32_t (*chosen)[2], uint32_t have, uint32_t k)
{
    if (have == k)
        return together(t, chosen, k);
    for (uint32_t i = from; i + (k - have) <= n; i++) {
        chosen[have][0] = all[i][0];
        chosen[have][1] = all[i][1];
        if (!covered(t, all, n, i + 1, chosen, have + 1, k))
            return false;
    }
    return true;
}

enum tway_answer tway_ask(struct search *s, faultload f)
{
    enum { MANY = 64 };
    uint32_t values[MANY][2], chosen[4][2], n;
    if (faultload_size(s->fl, f) < 2)
        return TWAY_RUN;
    if (s->tway.phase == TWAY_SINGLES)
        return TWAY_WAIT;
    if (!as_values(s, f, values, MANY, &n))
        return TWAY_RUN;
    if (s->tway.phase == TWAY_ROWS)
        return TWAY_WAIT;
    uint32_t k = n < s->opt.t_way ? n : s->opt.t_way;
    return covered(&s->tway, values, n, 0, chosen, 0, k) ? TWAY_SKIP : TWAY_RUN;
}

static void observe_single(struct search *s, const struct trace *trace)
{
    faultload f = s->now.item.faultload;
    if (f == FAULTLOAD_EMPTY) {
        for (uint32_t i = 1; i < trace->calls.n; i++) {
            uid u = trace->calls.at[i].uid;
            map_set(&s->tway.baseline, u, hash_fold(reading_signature(s, trace, u, true)));
        }
    } else if (faultload_size(s->fl, f) == 1) {
        struct fault fault = s->fl->rows.at[f].last;
        const uint32_t *normal = map_get(&s->tway.baseline, fault.point);
        if (normal && *normal == hash_fold(reading_signature(s, trace, fault.point, true)))
            vec_push(&s->tway.absorbed, fault);
    }
}

void tway_observe(struct search *s, const struct trace *trace)
{
    struct tway *t = &s->tway;
    if (t->phase == TWAY_SINGLES) {
        observe_single(s, trace);
        return;
    }
    uint32_t row = t->values.n;
    for (uint32_t i = 0; i < t->factors.n; i++)
        vec_push(&t->values, TWAY_ABSENT);
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        uint32_t f = factor_of(t, trace->calls.at[i].uid);
        if (f < t->factors.n)
            t->values.at[row + f] = value_of(&t->factors.at[f], trace->calls.at[i].mode);
    }
}

/* Points with absorbed faults, none below another. */
static void choose_factors(struct search *s)
{
    struct tway *t = &s->tway;
    for (uint32_t i = 0; i < t->absorbed.n; i++) {
        struct fault fault = t->absorbed.at[i];
        uint32_t f = factor_of(t, fault.point);
        bool related = false;
        for (uint32_t k = 0; k < t->factors.n && k != f; k++)
            related |= uid_contains(s->names, fault.point, t->factors.at[k].point) ||
                       uid_contains(s->names, t->factors.at[k].point, fault.point);
        if (f == t->factors.n && !related)
            vec_push(&t->factors, (struct tway_factor){.point = fault.point, .n_values = 1});
        if (f < t->factors.n && t->factors.at[f].n_values < 65)
            t->factors.at[f].value[t->factors.at[f].n_values++] = fault.mode;
    }
}

static void queue_row(void *ctx, const uint32_t *values)
{
    struct search *s = ctx;
    faultload f = FAULTLOAD_EMPTY;
    for (uint32_t i = 0; i < s->tway.factors.n; i++)
        if (values[i] > 0)
            f = faultload_extend(s->fl, f,
                                 (struct fault){s->tway.factors.at[i].point,
                                                s->tway.factors.at[i].value[values[i]]});
    if (faultload_size(s->fl, f) > 1)
        search_queue(s, (struct frontier_item){f, NODE_NONE});
}

static void queue_rows(struct search *s)
{
    struct tway *t = &s->tway;
    choose_factors(s);
    uint32_t n = t->factors.n;
    uint32_t *n_values = mem_alloc(n * sizeof *n_values);
    for (uint32_t i = 0; i < n; i++)
        n_values[i] = t->factors.at[i].n_values;
    bool fits = false;
    while (n >= 2 && !fits && s->opt.t_way >= 2) {
        fits = covering_array(n_values, n, s->opt.t_way < n ? s->opt.t_way : n, queue_row, s);
        s->opt.t_way -= !fits; /* too large an array: a weaker one */
    }
    if (!fits)
        t->factors.n = 0; /* nothing to combine, or too much: search exactly */
    mem_free(n_values);
}

/* Asks again for everything that waits. What a row has shown already is skipped all the same, and
 * not dropped: the row had further faults, so what follows when they are absent may be news. */
static void ask_waiting(struct search *s)
{
    struct tway *t = &s->tway;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->waiting.n; i++) {
        struct frontier_item item = t->waiting.at[i];
        bool seen = s->tree.nodes.at[item.edge].state == EDGE_SEEN;
        enum tway_answer answer = tway_ask(s, item.faultload);
        if (answer == TWAY_WAIT)
            t->waiting.at[kept++] = item;
        else if (answer == TWAY_SKIP && seen)
            search_count_skip(s, item, REDUCE_T_WAY);
        else if (answer == TWAY_SKIP)
            search_skip(s, item, REDUCE_T_WAY);
        else if (seen)
            s->n_dropped++;
        else
            search_queue(s, item);
    }
    t->waiting.n = kept;
}

bool tway_advance(struct search *s)
{
    if (s->tway.phase == TWAY_CHECKED)
        return false;
    if (s->tway.phase == TWAY_SINGLES)
        queue_rows(s);
    s->tway.phase++;
    ask_waiting(s);
    return true;
}
