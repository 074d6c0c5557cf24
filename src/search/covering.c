/* SPDX-License-Identifier: Apache-2.0
 *
 * Covering arrays: rows of values such that any t factors take every combination of their values in
 * some row. Rows with at most one value other than 0 are taken as given. Greedy: a row starts from
 * a combination that is still missing; every further factor takes the value that covers most
 * missing combinations together with what the row has already, ties drawn by lot. The best of
 * several such rows is kept. Equal arguments give equal rows. */
#include "search/search_int.h"

enum { T_MAX = 4, TUPLES_MAX = 1 << 18, WORK_MAX = 1 << 20, ROWS_TRIED = 32 };

#define UNSET UINT32_MAX /* no value chosen yet */

struct covering {
    const uint32_t *n_values;
    uint32_t n, t;
    VEC(struct subset {
        uint32_t factor[T_MAX];
        uint32_t first; /* of its combinations, in covered[] */
    })
    subsets;
    VEC(bool) covered;      /* by subset and combination of values */
    uint32_t missing, next; /* no combination before `next` is missing */
    struct rng rng;
};

static bool add_subsets(struct covering *c, struct subset *part, uint32_t k, uint32_t from)
{
    if (k == c->t) {
        uint64_t size = 1;
        for (uint32_t i = 0; i < c->t && size <= TUPLES_MAX; i++)
            size *= c->n_values[part->factor[i]];
        if (c->covered.n + size > TUPLES_MAX)
            return false;
        part->first = c->covered.n;
        vec_push(&c->subsets, *part);
        for (uint64_t i = 0; i < size; i++)
            vec_push(&c->covered, false);
        return true;
    }
    for (uint32_t f = from; f < c->n; f++) {
        part->factor[k] = f;
        if (!add_subsets(c, part, k + 1, f + 1))
            return false;
    }
    return true;
}

/* Where the row's values of a subset stand in covered[]; UNSET when one is not chosen yet. */
static uint32_t place(const struct covering *c, const struct subset *subset, const uint32_t *row)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->t; i++) {
        uint32_t value = row[subset->factor[i]];
        if (value == UNSET)
            return UNSET;
        at = at * c->n_values[subset->factor[i]] + value;
    }
    return subset->first + at;
}

static bool has_factor(const struct covering *c, const struct subset *subset, uint32_t factor)
{
    for (uint32_t i = 0; i < c->t; i++)
        if (subset->factor[i] == factor)
            return true;
    return false;
}

/* Puts the first missing combination into an empty row. */
static void start_row(struct covering *c, uint32_t *row)
{
    uint32_t i = 0;
    while (c->covered.at[c->next])
        c->next++;
    while (i + 1 < c->subsets.n && c->subsets.at[i + 1].first <= c->next)
        i++;
    const struct subset *subset = &c->subsets.at[i];
    uint32_t at = c->next - subset->first;
    for (uint32_t k = c->t; k-- > 0;) {
        uint32_t n = c->n_values[subset->factor[k]];
        row[subset->factor[k]] = at % n;
        at /= n;
    }
}

static void choose_value(struct covering *c, uint32_t *row, uint32_t factor)
{
    uint32_t best = 0, best_gain = 0, ties = 0;
    for (uint32_t v = 0; v < c->n_values[factor]; v++) {
        uint32_t gain = 0;
        row[factor] = v;
        for (uint32_t i = 0; i < c->subsets.n; i++) {
            if (!has_factor(c, &c->subsets.at[i], factor))
                continue;
            uint32_t at = place(c, &c->subsets.at[i], row);
            gain += at != UNSET && !c->covered.at[at];
        }
        ties = gain > best_gain ? 1 : ties + (gain == best_gain);
        if (gain > best_gain || (gain == best_gain && rng_below(&c->rng, ties) == 0))
            best = v;
        if (gain > best_gain)
            best_gain = gain;
    }
    row[factor] = best;
}

/* How many missing combinations a row has; with `mark`, they are missing no more. */
static uint32_t cover(struct covering *c, const uint32_t *row, bool mark)
{
    uint32_t gain = 0;
    for (uint32_t i = 0; i < c->subsets.n; i++) {
        uint32_t at = place(c, &c->subsets.at[i], row);
        gain += !c->covered.at[at];
        if (mark)
            c->covered.at[at] = true;
    }
    c->missing -= mark ? gain : 0;
    return gain;
}

static void cover_given(struct covering *c, uint32_t *row)
{
    memset(row, 0, c->n * sizeof *row);
    cover(c, row, true);
    for (uint32_t f = 0; f < c->n; f++) {
        for (row[f] = 1; row[f] < c->n_values[f]; row[f]++)
            cover(c, row, true);
        row[f] = 0;
    }
}

/* Fills best[] with the best of several rows. */
static void best_row(struct covering *c, uint32_t *row, uint32_t *best)
{
    uint32_t best_gain = 0;
    uint32_t tries = (uint64_t)c->subsets.n * c->n < WORK_MAX / 64 ? ROWS_TRIED : 1;
    for (uint32_t k = 0; k < tries; k++) {
        uint32_t shift = rng_below(&c->rng, c->n);
        for (uint32_t f = 0; f < c->n; f++)
            row[f] = UNSET;
        start_row(c, row);
        for (uint32_t i = 0; i < c->n; i++) {
            uint32_t f = (i + shift) % c->n;
            if (row[f] == UNSET)
                choose_value(c, row, f);
        }
        uint32_t gain = cover(c, row, false);
        if (gain > best_gain) {
            best_gain = gain;
            memcpy(best, row, c->n * sizeof *row);
        }
    }
}

bool covering_array(const uint32_t *n_values, uint32_t n, uint32_t t,
                    void (*emit)(void *ctx, const uint32_t *values), void *ctx)
{
    struct covering c = {.n_values = n_values, .n = n, .t = t < T_MAX ? t : T_MAX};
    struct subset part = {0};
    bool fits = add_subsets(&c, &part, 0, 0);
    uint32_t *row = mem_alloc(n * sizeof *row), *best = mem_alloc(n * sizeof *best);
    c.missing = fits ? c.covered.n : 0;
    if (fits)
        cover_given(&c, row);
    while (c.missing > 0) {
        best_row(&c, row, best);
        cover(&c, best, true);
        emit(ctx, best);
    }
    mem_free(row);
    mem_free(best);
    vec_deinit(&c.subsets);
    vec_deinit(&c.covered);
    return fits;
}
