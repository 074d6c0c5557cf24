/* SPDX-License-Identifier: Apache-2.0
 *
 * Which policy makes how many faultloads impossible. Their sum is known from the trees (space.c);
 * the shares come from explaining faultloads one by one: all of them when the space is small, a
 * sample otherwise. */
#include "search/search_int.h"

#include <math.h>

enum { ALL_MAX = 20000, SAMPLE = 2000, TRIES = 100000 };

struct sharing {
    const struct search *s;
    VEC(uid) points;
    VEC(uint32_t) n_modes; /* that each takes */
    VEC(uint32_t) digits;  /* per point: 0, or 1 + which of the modes that it takes */
    uint64_t count[POLICIES], n;
};

/* The k-th of the modes that a point takes. */
static mode mode_of(const struct search *s, uid point, uint32_t k)
{
    uint32_t i = 0;
    for (;; i++)
        if (search_takes(s, point, s->opt.modes[i]) && k-- == 0)
            return s->opt.modes[i];
}

/* Explains the faultload that the digits stand for. */
static void explain_digits(struct sharing *x)
{
    const struct search *s = x->s;
    struct explanation why;
    uint32_t keep = s->fl->rows.n;
    faultload f = FAULTLOAD_EMPTY;
    for (uint32_t i = 0; i < x->points.n; i++)
        if (x->digits.at[i] > 0)
            f = faultload_extend(
                s->fl, f,
                (struct fault){x->points.at[i], mode_of(s, x->points.at[i], x->digits.at[i] - 1)});
    explain_predict(s, f, false, &why);
    s->fl->rows.n = keep; /* it was only asked about */
    if (why.kind != EXPLAIN_IMPOSSIBLE || why.policy == POLICY_DOWNSTREAM)
        return;
    x->count[why.policy]++;
    x->n++;
}

static bool next_digits(struct sharing *x)
{
    for (uint32_t i = 0; i < x->points.n; i++) {
        if (++x->digits.at[i] <= x->n_modes.at[i])
            return true;
        x->digits.at[i] = 0;
    }
    return false;
}

static void sample(struct sharing *x)
{
    struct rng rng = {1};
    for (uint32_t k = 0; k < TRIES && x->n < SAMPLE; k++) {
        for (uint32_t i = 0; i < x->points.n; i++)
            x->digits.at[i] = rng_below(&rng, x->n_modes.at[i] + 1);
        explain_digits(x);
    }
}

bool policies_share(const struct search *s, double space, double n, double *saved)
{
    struct sharing x = {.s = s};
    bool all = space <= ALL_MAX;
    for (uid u = 0; u < s->seen_in.n; u++)
        if (search_point(s, u)) {
            vec_push(&x.points, u);
            vec_push(&x.n_modes, search_modes(s, u));
            vec_push(&x.digits, 0);
        }
    if (all)
        do
            explain_digits(&x);
        while (next_digits(&x));
    else if (n > 0)
        sample(&x);
    double rest = n;
    for (enum policy p = POLICY_EXCLUSION; p <= POLICY_INCLUSION && x.n > 0; p++) {
        saved[p] = fmin(rest, round(n * ((double)x.count[p] / (double)x.n)));
        rest -= saved[p];
    }
    saved[POLICY_UNREACHABLE] = rest;
    vec_deinit(&x.points);
    vec_deinit(&x.n_modes);
    vec_deinit(&x.digits);
    return !all && n > 0;
}
