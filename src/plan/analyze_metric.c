/* SPDX-License-Identifier: Apache-2.0
 *
 * What is expected of samples, judged: each series by itself, of those that were measured in the run. */
#include <math.h>

#include "plan/analyze_int.h"

enum {
    GROWTH_PART = 10, /* the beginning and the end are a tenth of the samples each */
    GROWTH_LEAST = 4, /* samples */
    SERIES_TOLD = 3,  /* in one sentence */
};

/* The samples of a series that were measured, in the order of time. */
static void add_samples(struct plan_values *out, const struct plan_run *r,
                        const struct plan_series *series)
{
    for (uint32_t i = 0; i < series->samples.n; i++)
        if (series->samples.at[i].at_ns >= r->from_ns && series->samples.at[i].at_ns < r->to_ns)
            vec_push(out, series->samples.at[i].value);
}

static double median_of(const double *values, uint32_t n)
{
    struct plan_values sorted = {0};
    for (uint32_t i = 0; i < n; i++)
        vec_push(&sorted, values[i]);
    plan_values_sort(&sorted);
    double median = plan_values_percentile(&sorted, 50);
    vec_deinit(&sorted);
    return median;
}

static bool is_within(const struct plan_expect *x, double value)
{
    return x->bound == BOUND_MOST    ? value <= x->number
           : x->bound == BOUND_LEAST ? value >= x->number
                                     : value <= x->number && value >= x->number;
}

/* Each sample: "4.1M to 12.0M, above 10.0M first at 1.2s". */
static bool judge_samples(const struct scene *s, const struct plan_series *series, struct buf *seen)
{
    static const char *const sides[] = {
        [BOUND_MOST] = "above", [BOUND_LEAST] = "below", [BOUND_EQUALS] = "not"};
    const struct plan_expect *x = s->expect;
    const struct plan_sample *first = NULL;
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (uint32_t i = 0; i < series->samples.n; i++) {
        const struct plan_sample *sample = &series->samples.at[i];
        if (sample->at_ns < s->run->from_ns || sample->at_ns >= s->run->to_ns)
            continue;
        least = fmin(least, sample->value);
        most = fmax(most, sample->value);
        if (!first && !is_within(x, sample->value))
            first = sample;
    }
    plan_add_value(seen, x->metric, least);
    buf_adds(seen, " to ");
    plan_add_value(seen, x->metric, most);
    if (first) {
        buf_addf(seen, ", %s ", sides[x->bound]);
        plan_add_value(seen, x->metric, x->number);
        buf_adds(seen, " first at ");
        analyze_add_time(seen, first->at_ns);
    }
    return !first;
}

static bool judge_growth(const struct scene *s, const struct plan_values *values, struct buf *seen)
{
    uint32_t part = values->n / GROWTH_PART ? values->n / GROWTH_PART : 1;
    double begin = median_of(values->at, part);
    double end = median_of(values->at + values->n - part, part);
    if (values->n < GROWTH_LEAST) {
        buf_addf(seen, "too few samples (%u; at least %d)", values->n, GROWTH_LEAST);
        return false;
    }
    buf_adds(seen, "at the end ");
    plan_add_value(seen, s->expect->metric, end);
    buf_adds(seen, ", at the beginning ");
    plan_add_value(seen, s->expect->metric, begin);
    if (begin > 0)
        buf_addf(seen, ": %.2f times", end / begin);
    return end <= begin * s->expect->number;
}

static const struct plan_series *find_series(const struct plan_run *r, slice name, slice of)
{
    for (uint32_t i = 0; i < r->measures.list.n; i++)
        if (slice_eq(r->measures.list.at[i].name, name) && slice_eq(r->measures.list.at[i].of, of))
            return &r->measures.list.at[i];
    return NULL;
}

static bool judge_ratio(const struct scene *s, const struct plan_series *series,
                        struct plan_values *values, struct buf *seen)
{
    struct plan_values reference = {0};
    bool holds = s->run->reference;
    for (uint32_t i = 0; i < s->n_references; i++) {
        const struct plan_series *other =
            s->references[i]->broken.n ? NULL
                                       : find_series(s->references[i], series->name, series->of);
        if (other)
            add_samples(&reference, s->references[i], other);
    }
    uint32_t fewer = values->n < reference.n ? values->n : reference.n;
    if (s->run->reference)
        buf_adds(seen, "is a reference");
    else if (fewer < PLAN_COMPARE_LEAST)
        buf_addf(seen, "too few samples to compare (%u%s; at least %d)", fewer,
                 values->n <= reference.n ? "" : " in the references", PLAN_COMPARE_LEAST);
    else
        holds = analyze_compare(s, values, &reference, 1e-9, seen);
    vec_deinit(&reference);
    return holds;
}

static bool judge_series(const struct scene *s, const struct plan_series *series, struct buf *seen)
{
    struct plan_values values = {0};
    bool holds = false;
    add_samples(&values, s->run, series);
    if (values.n == 0)
        buf_adds(seen, "no sample");
    else if (s->expect->bound == BOUND_RATIO)
        holds = judge_ratio(s, series, &values, seen);
    else if (s->expect->bound == BOUND_GROWTH)
        holds = judge_growth(s, &values, seen);
    else
        holds = judge_samples(s, series, seen);
    if (series->left_out)
        buf_addf(seen, " (of the first %d samples)", PLAN_SAMPLES_MAX);
    vec_deinit(&values);
    return holds;
}

/* Each series by itself. Those of which it does not hold are told first. */
bool analyze_metric(const struct scene *s, struct buf *seen)
{
    uint32_t n = 0, failed = 0;
    struct buf good = BUF_INIT(SEEN_BYTES_MAX);
    for (uint32_t i = 0; i < s->run->measures.list.n; i++) {
        const struct plan_series *series = &s->run->measures.list.at[i];
        if (!slice_eq(series->name, s->expect->metric) ||
            (s->expect->of.n && !slice_eq(series->of, s->expect->of)))
            continue;
        struct buf one = BUF_INIT(SEEN_BYTES_MAX);
        bool holds = judge_series(s, series, &one);
        struct buf *to = holds ? &good : seen;
        n++;
        failed += !holds;
        if ((holds ? n - failed : failed) <= SERIES_TOLD) {
            buf_adds(to, to->n ? "; " : "");
            if (!s->expect->of.n)
                buf_addf(to, "%.*s: ", SLICE_ARG(series->of));
            buf_add(to, buf_slice(&one));
        }
        buf_deinit(&one);
    }
    if (!failed)
        buf_add(seen, buf_slice(&good));
    uint32_t all = failed ? failed : n;
    if (all > SERIES_TOLD)
        buf_addf(seen, "; and %u more", all - SERIES_TOLD);
    if (!n)
        buf_adds(seen, s->run->measures.left_out ? "no sample of those for which there was room"
                                                 : "no sample");
    buf_deinit(&good);
    return n && !failed;
}
