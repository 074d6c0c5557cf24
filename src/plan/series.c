/* SPDX-License-Identifier: Apache-2.0
 *
 * Series are found by walking over them: there are few, and samples come some thousand times a
 * second at most. */
#include "plan/series.h"

#include <math.h>

static const struct {
    const char *name, *unit;
} process[] = {
    [PROCESS_CPU] = {"cpu", "cores"},
    [PROCESS_MEMORY] = {"memory", "bytes"},
    [PROCESS_THREADS] = {"threads", ""},
    [PROCESS_DESCRIPTORS] = {"descriptors", ""},
};
const char *const plan_process_metrics[] = {"cpu", "memory", "threads", "descriptors", NULL};

const char *plan_process_unit(slice name)
{
    for (size_t i = 0; i < sizeof process / sizeof *process; i++)
        if (slice_is(name, process[i].name))
            return process[i].unit;
    return NULL;
}

/* No character is cut in two. */
static slice cut(slice text)
{
    if (text.n > PLAN_METRIC_BYTES) {
        text.n = PLAN_METRIC_BYTES;
        while (text.n > 0 && ((uint8_t)text.p[text.n] & 0xc0) == 0x80)
            text.n--;
    }
    return text;
}

static struct plan_series *series_of(struct plan_measures *m, slice name, slice of)
{
    for (uint32_t i = 0; i < m->list.n; i++)
        if (slice_eq(m->list.at[i].name, name) && slice_eq(m->list.at[i].of, of))
            return &m->list.at[i];
    if (m->list.n == PLAN_SERIES_MAX)
        return NULL;
    vec_push(&m->list, (struct plan_series){.name = slice_copy(&m->arena, name),
                                            .of = slice_copy(&m->arena, of)});
    return &m->list.at[m->list.n - 1];
}

const struct plan_series *plan_measure(struct plan_measures *m, slice name, slice of, int64_t at_ns,
                                       double value, double *before)
{
    struct plan_series *s = series_of(m, cut(name), cut(of));
    if (!s) {
        m->left_out++;
        return NULL;
    }
    *before = s->samples.n ? s->last : (double)NAN;
    s->last = value;
    if (s->samples.n == PLAN_SAMPLES_MAX)
        s->left_out++;
    else
        vec_push(&s->samples, (struct plan_sample){at_ns, value});
    return s;
}

void plan_measures_deinit(struct plan_measures *m)
{
    for (uint32_t i = 0; i < m->list.n; i++)
        vec_deinit(&m->list.at[i].samples);
    vec_deinit(&m->list);
    arena_deinit(&m->arena);
}

void plan_add_value(struct buf *out, slice name, double value)
{
    static const char units[] = "KMGT";
    const char *unit = plan_process_unit(name);
    int power = 0;
    if (!unit || !slice_is(slice_of(unit), "bytes") || value < 1024) {
        buf_addf(out, "%.4g", value);
        return;
    }
    for (value /= 1024; value >= 1024 && power < 3; power++)
        value /= 1024;
    buf_addf(out, "%.1f%c", value, units[power]);
}

/* The places of the least and the most of samples from..to, in the order of time. */
static void push_extremes(const struct plan_series *s, uint32_t from, uint32_t to,
                          struct plan_samples *out)
{
    uint32_t least = from, most = from;
    for (uint32_t i = from + 1; i < to; i++) {
        least = s->samples.at[i].value < s->samples.at[least].value ? i : least;
        most = s->samples.at[i].value > s->samples.at[most].value ? i : most;
    }
    vec_push(out, s->samples.at[least < most ? least : most]);
    if (least != most)
        vec_push(out, s->samples.at[least < most ? most : least]);
}

void plan_series_thin(const struct plan_series *s, int64_t from_ns, int64_t to_ns, uint32_t slots,
                      struct plan_samples *out)
{
    uint32_t first = 0, end = s->samples.n;
    out->n = 0;
    while (first < end && s->samples.at[first].at_ns < from_ns)
        first++;
    while (end > first && s->samples.at[end - 1].at_ns >= to_ns)
        end--;
    if (end - first <= 2 * slots)
        slots = 0; /* each sample by itself */
    for (uint32_t i = first, slot = 0, next; i < end; i = next) {
        int64_t until = to_ns;
        while (slots && (until = from_ns + (int64_t)((double)(to_ns - from_ns) * (slot + 1) /
                                                     slots)) <= s->samples.at[i].at_ns)
            slot++;
        for (next = i + 1; slots && next < end && s->samples.at[next].at_ns < until; next++)
            ;
        push_extremes(s, i, next, out);
    }
}
