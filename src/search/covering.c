/* SPDX-License-Identifier: Apache-2.0
 *
 * Covering arrays: rows of values such that any t factors take every combination of their values in some row.
 * Greedy: a row starts from a combination that is still missing; every further factor takes the value that covers
 * most missing combinations together with what the row has already. */
#include "search/search_int.h"

enum { T_MAX = 4, TUPLES_MAX = 1 << 22, UNSET = UINT32_MAX };

struct covering {
    const uint32_t *n_values;
    uint32_t n, t;
    VEC(struct subset {
        uint32_t factor[T_MAX];
        uint32_t first; /* of its combinations, in covered[] */
    }) subsets;
    VEC(bool) covered; /* by subset and combination of values */
    uint32_t missing, next; /* no combination before `next` is missing */
};

static bool add_subsets(struct covering *c, struct subset *part, uint32_t k, uint32_t from)
{
    if (k == c->t) {
        uint64_t size = 1;
        for (uint32_t i = 0; i < c->t; i++)
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

static void choose_value(const struct covering *c, uint32_t *row, uint32_t factor)
{
    uint32_t best = 0, best_gain = 0;
    for (uint32_t v = 0; v < c->n_values[factor]; v++) {
        uint32_t gain = 0;
        row[factor] = v;
        for (uint32_t i = 0; i < c->subsets.n; i++) {
            if (!has_factor(c, &c->subsets.at[i], factor))
                continue;
            uint32_t at = place(c, &c->subsets.at[i], row);
            gain += at != UNSET && !c->covered.at[at];
        }
        if (gain > best_gain) {
            best_gain = gain;
            best = v;
        }
    }
    row[factor] = best;
}

static void cover(struct covering *c, const uint32_t *row)
{
    for (uint32_t i = 0; i < c->subsets.n; i++) {
        uint32_t at = place(c, &c->subsets.at[i], row);
        c->missing -= !c->covered.at[at];
        c->covered.at[at] = true;
    }
}

bool covering_array(const uint32_t *n_values, uint32_t n, uint32_t t,
                    void (*emit)(void *ctx, const uint32_t *values), void *ctx)
{
    struct covering c = {.n_values = n_values, .n = n, .t = t < T_MAX ? t : T_MAX};
    struct subset part = {0};
    bool fits = add_subsets(&c, &part, 0, 0);
    uint32_t *row = mem_alloc(n * sizeof *row);
    c.missing = fits ? c.covered.n : 0;
    while (c.missing > 0) {
        for (uint32_t f = 0; f < n; f++)
            row[f] = UNSET;
        start_row(&c, row);
        for (uint32_t f = 0; f < n; f++)
            if (row[f] == UNSET)
                choose_value(&c, row, f);
        cover(&c, row);
        emit(ctx, row);
    }
    mem_free(row);
    vec_deinit(&c.subsets);
    vec_deinit(&c.covered);
    return fits;
}
