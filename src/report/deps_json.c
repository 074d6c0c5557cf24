/* SPDX-License-Identifier: Apache-2.0
 *
 * Dependencies as one JSON document; the fields are described in docs/json.md. */
#include "report/deps.h"
#include "report/json_int.h"
#include "report/words.h"

static json_t *call_text(const struct summary *s, uid u)
{
    struct buf text = BUF_INIT(1 << 16);
    if (u == UID_NONE)
        return json_null();
    uid_print(s->names, u, &text);
    json_t *value = doc_take(&text);
    buf_deinit(&text);
    return value;
}

static json_t *service_text(const struct summary *s, uid u)
{
    struct buf text = BUF_INIT(1 << 16);
    if (u == UID_NONE)
        return json_null();
    buf_add(&text, names_text(s->names, uid_element(s->names, u)->service));
    json_t *value = doc_take(&text);
    buf_deinit(&text);
    return value;
}

static json_t *label_text(label l)
{
    struct buf text = BUF_INIT(MODE_TEXT_MAX);
    label_print(l, &text);
    json_t *value = doc_take(&text);
    buf_deinit(&text);
    return value;
}

static void add_faultload(json_t *out, const struct summary *s, faultload f, uint64_t number)
{
    struct buf text = BUF_INIT(1 << 20);
    faultload_print(s->names, s->faultloads, f, &text);
    json_object_set_new(out, "faultload", doc_take(&text));
    json_object_set_new(out, "run", json_integer((json_int_t)number));
    words_replay_run(s, f, number, &text);
    json_object_set_new(out, "replay", doc_take(&text));
    buf_deinit(&text);
}

static void add_by(json_t *out, const struct summary *s, enum dep_by by, uid instead, uid at)
{
    bool absorbed = by != DEP_BY_NOTHING;
    json_object_set_new(out, "absorbed_by", absorbed ? json_string(dep_by_names[by]) : json_null());
    json_object_set_new(out, "absorbed_in", absorbed ? service_text(s, at) : json_null());
    json_object_set_new(out, "instead", call_text(s, instead));
}

static json_t *way_json(const struct summary *s, const struct dep_way *way)
{
    json_t *out = json_object();
    json_object_set_new(out, "failure", label_text(way->label));
    json_object_set_new(out, "fails", json_boolean(way->fails));
    json_object_set_new(out, "lasting", json_boolean(way->lasting));
    json_object_set_new(out, "status", doc_outcome(way->status));
    add_by(out, s, way->by, way->instead, way->at);
    add_faultload(out, s, way->faultload, way->number);
    return out;
}

static json_t *causes_json(const struct summary *s, const struct dep_causes *all)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < all->n; i++) {
        json_t *calls = json_array();
        for (uint32_t k = 0; k < all->at[i].n; k++)
            json_array_append_new(calls, call_text(s, all->at[i].calls[k]));
        json_array_append_new(out, calls);
    }
    return out;
}

static json_t *dep_json(const struct summary *s, const struct dep *d)
{
    struct buf text = BUF_INIT(1 << 20);
    json_t *out = json_object(), *ways = json_array();
    json_object_set_new(out, "call", call_text(s, d->call));
    json_object_set_new(out, "caller", service_text(s, uid_parent(s->names, d->call)));
    json_object_set_new(out, "service", service_text(s, d->call));
    json_object_set_new(out, "kind", json_string(dep_kind_names[d->kind]));
    add_by(out, s, d->by, d->instead, d->at);
    json_object_set_new(out, "retried", json_boolean(d->retried));
    if (d->after_fault)
        faultload_print(s->names, s->faultloads, d->after, &text);
    json_object_set_new(out, "only_after", d->after_fault ? doc_take(&text) : json_null());
    json_object_set_new(out, "causes", causes_json(s, &d->causes));
    words_dep(s, d, &text);
    json_object_set_new(out, "text", doc_take(&text));
    for (uint32_t i = 0; i < d->ways.n; i++)
        json_array_append_new(ways, way_json(s, &d->ways.at[i]));
    json_object_set_new(out, "failures", ways);
    buf_deinit(&text);
    return out;
}

static json_t *pairs_json(const struct deps_report *r)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < r->deps.pairs.n; i++) {
        const struct dep_pair *p = &r->deps.pairs.at[i];
        json_t *pair = json_object(), *calls = json_array();
        json_array_append_new(calls, call_text(r->summary, p->a));
        json_array_append_new(calls, call_text(r->summary, p->b));
        json_object_set_new(pair, "calls", calls);
        json_object_set_new(pair, "status", doc_outcome(p->status));
        add_faultload(pair, r->summary, p->faultload, p->number);
        json_array_append_new(list, pair);
    }
    return list;
}

static json_t *redundant_json(const struct deps_report *r)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < r->deps.redundant.n; i++) {
        const struct dep_twice *x = &r->deps.redundant.at[i];
        json_t *row = json_object();
        json_object_set_new(row, "call", call_text(r->summary, x->call));
        json_object_set_new(row, "times", json_integer(x->times));
        json_object_set_new(row, "one_handler", json_boolean(x->one_handler));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *scenario_json(const struct deps_report *r)
{
    const struct summary *s = r->summary;
    json_t *out = json_object(), *rows = json_array(), *labels = json_array();
    json_object_set_new(out, "scenario", doc_text(s->scenario));
    json_object_set_new(out, "broken", doc_text(s->broken));
    json_object_set_new(out, "stopped_by", doc_text(s->stopped));
    for (uint32_t i = 0; i < r->deps.labels.n; i++)
        json_array_append_new(labels, label_text(r->deps.labels.at[i]));
    for (uint32_t i = 0; i < r->deps.rows.n; i++)
        json_array_append_new(rows, dep_json(s, &r->deps.rows.at[i]));
    json_object_set_new(out, "tried", labels);
    json_object_set_new(out, "dependencies", rows);
    json_object_set_new(out, "pairs", pairs_json(r));
    json_object_set_new(out, "redundant", redundant_json(r));
    return out;
}

void report_deps_json(const struct deps_report *list, uint32_t n, struct buf *out)
{
    json_t *doc = json_object(), *scenarios = json_array();
    json_object_set_new(doc, "schema_version", json_integer(REPORT_SCHEMA_VERSION));
    json_object_set_new(doc, "system", n ? doc_text(list[0].summary->system) : json_null());
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(scenarios, scenario_json(&list[i]));
    json_object_set_new(doc, "scenarios", scenarios);
    doc_print(doc, out);
}
