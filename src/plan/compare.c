/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "plan/result.h"

enum {
    SAMPLE_MOST = 2000, /* for the bootstrap, whose time is this times RESAMPLES */
    RESAMPLES = 1000,
    TAIL = RESAMPLES / 40, /* 2.5 % on each side of the interval */
};

/* Which place a percentile has among n, from 0. */
static uint32_t percentile_place(uint32_t n, double percentile)
{
    double rank = percentile * n / 100;
    if (!(rank > 1))
        return 0;
    if (rank >= n)
        return n - 1;
    /* The least rank that is not below it; 99.9 % of 1000 is 999, whatever a double makes of it. */
    uint32_t whole = (uint32_t)rank;
    return rank - whole > 1e-6 ? whole : whole - 1;
}

int64_t plan_percentile(const int64_t *sorted, uint32_t n, double percentile)
{
    return sorted[percentile_place(n, percentile)];
}

double plan_values_percentile(const struct plan_values *v, double percentile)
{
    return v->at[percentile_place(v->n, percentile)];
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void plan_values_sort(struct plan_values *v)
{
    if (v->n)
        qsort(v->at, v->n, sizeof *v->at, compare_doubles);
}

static double ratio(double a, double b, double least)
{
    return fmax(a, least) / fmax(b, least);
}

/* Cliff's delta of two sorted samples. */
static double effect_size(const struct plan_values *a, const struct plan_values *b)
{
    uint32_t less = 0, not_more = 0; /* of b, than the value of a */
    double sum = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        while (less < b->n && b->at[less] < a->at[i])
            less++;
        while (not_more < b->n && b->at[not_more] <= a->at[i])
            not_more++;
        sum += (double)less - (double)(b->n - not_more);
    }
    return sum / a->n / b->n;
}

/* Romano's bounds, which most who use the measure use. */
static const char *effect_word(double delta)
{
    double size = delta < 0 ? -delta : delta;
    return size < 0.147 ? "negligible" : size < 0.33 ? "small" : size < 0.474 ? "medium" : "large";
}

/* Every so manieth of a sorted sample that is large: its percentiles stay where they are. */
static void thin(struct plan_values *t)
{
    if (t->n <= SAMPLE_MOST)
        return;
    for (uint32_t i = 0; i < SAMPLE_MOST; i++)
        t->at[i] = t->at[(2 * (uint64_t)i + 1) * t->n / (2 * SAMPLE_MOST)];
    t->n = SAMPLE_MOST;
}

/* The percentile of a sample drawn from t, which is sorted, with replacement. Counting how often
 * each was drawn gives it without sorting. */
static double resampled(const struct plan_values *t, double percentile, struct rng *rng)
{
    uint16_t drawn[SAMPLE_MOST] = {0};
    uint32_t place = percentile_place(t->n, percentile), i = 0;
    for (uint32_t k = 0; k < t->n; k++)
        drawn[rng_below(rng, t->n)]++;
    for (uint32_t before = drawn[0]; before <= place; before += drawn[i])
        i++;
    return t->at[i];
}

void plan_compare(struct plan_values *a, struct plan_values *b, double percentile, double least,
                  uint64_t seed, struct plan_comparison *out)
{
    double factor[RESAMPLES];
    struct rng rng = {seed};
    plan_values_sort(a);
    plan_values_sort(b);
    out->factor =
        ratio(plan_values_percentile(a, percentile), plan_values_percentile(b, percentile), least);
    out->delta = effect_size(a, b);
    out->effect = effect_word(out->delta);
    thin(a);
    thin(b);
    for (uint32_t i = 0; i < RESAMPLES; i++) {
        double of_a = resampled(a, percentile, &rng);
        factor[i] = ratio(of_a, resampled(b, percentile, &rng), least);
    }
    qsort(factor, RESAMPLES, sizeof *factor, compare_doubles);
    /* Thinning may move the last percentiles a little: the interval must still hold the factor. */
    out->low = fmin(out->factor, factor[TAIL]);
    out->high = fmax(out->factor, factor[RESAMPLES - 1 - TAIL]);
}
