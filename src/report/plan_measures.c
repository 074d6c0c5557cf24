/* SPDX-License-Identifier: Apache-2.0
 *
 * What was measured in a run, for its document: columns that are thinned so that extremes stay, and
 * bounded over all runs. */
#include "data/json.h"
#include "data/secret.h"
#include "report/plan_int.h"

enum {
    VALUES_MAX = 200000, /* of all series of all runs */
    SLOTS_MOST = 120,    /* each with two values */
    SLOTS_LEAST = 5,
    NAME_BYTES = 1000,
};

static uint32_t choose_slots(const struct plan_result *r)
{
    uint32_t series = 1;
    for (uint32_t i = 0; i < r->runs.n; i++)
        series += r->runs.at[i]->measures.list.n;
    uint32_t slots = VALUES_MAX / 4 / series; /* two samples of two figures each */
    return slots > SLOTS_MOST ? SLOTS_MOST : slots < SLOTS_LEAST ? SLOTS_LEAST : slots;
}

/* Is an expectation or a trigger about it? */
static bool is_named(const struct plan *p, const struct plan_series *s)
{
    for (uint32_t i = 0; i < p->expects.n; i++) {
        const struct plan_expect *x = &p->expects.at[i];
        if (x->kind == EXPECT_METRIC && slice_eq(x->metric, s->name) &&
            (!x->of.n || slice_eq(x->of, s->of)))
            return true;
    }
    for (uint32_t i = 0; i < p->events.n; i++) {
        const struct plan_trigger *t = &p->events.at[i].trigger;
        if (t->kind == TRIGGER_METRIC && slice_eq(t->metric, s->name) &&
            (!t->of.n || slice_eq(t->of, s->of)))
            return true;
    }
    return false;
}

/* Names are of whoever is measured: without secrets. */
static void put_name(struct json_out *j, const char *key, slice text)
{
    struct buf masked = BUF_INIT(NAME_BYTES);
    secret_mask(text, &masked);
    json_take(j, key, &masked);
    buf_deinit(&masked);
}

static void put_column(struct json_out *j, const char *key, const struct plan_samples *samples,
                       bool moments)
{
    json_list(j, key);
    j->style = JSON_SPACED;
    for (uint32_t i = 0; i < samples->n; i++)
        json_num(j, NULL,
                 moments ? (double)(samples->at[i].at_ns / 1000) / 1000 : samples->at[i].value);
    json_list_end(j);
    j->style = JSON_PRETTY;
}

static void put_measure(struct json_out *j, const struct plan *p, const struct plan_run *r,
                        const struct plan_series *s, uint32_t slots)
{
    struct plan_samples samples = {0};
    const char *unit = plan_process_unit(s->name);
    plan_series_thin(s, r->from_ns, r->to_ns, slots, &samples);
    json_map(j, NULL);
    put_name(j, "name", s->name);
    put_name(j, "of", s->of);
    json_text(j, "unit", unit ? unit : slice_is(s->name, "call-ms") ? "ms" : "");
    json_bool(j, "named", is_named(p, s));
    json_uint(j, "samples", s->samples.n + s->left_out);
    json_uint(j, "left_out", s->left_out);
    put_column(j, "at_ms", &samples, true);
    put_column(j, "values", &samples, false);
    json_map_end(j);
    vec_deinit(&samples);
}

static void put_collectors(struct json_out *j, const struct plan *p, const struct plan_run *r)
{
    json_list(j, "collectors");
    for (uint32_t i = 0; i < r->sources.n && i < p->collects.n; i++) {
        const struct plan_source *s = &r->sources.at[i];
        json_map(j, NULL);
        json_str(j, "name", p->collects.at[i].name);
        json_uint(j, "samples", s->samples);
        json_uint(j, "tries", s->tries);
        json_uint(j, "failed", s->failed);
        if (s->why.n)
            put_name(j, "why", s->why);
        json_map_end(j);
    }
    json_list_end(j);
}

void plan_put_measures(struct json_out *j, const struct plan_result *result,
                       const struct plan_run *r)
{
    uint32_t slots = choose_slots(result);
    json_list(j, "measures");
    for (uint32_t i = 0; i < r->measures.list.n; i++)
        put_measure(j, result->plan, r, &r->measures.list.at[i], slots);
    json_list_end(j);
    json_uint(j, "measures_left_out", r->measures.left_out);
    put_collectors(j, result->plan, r);
}
