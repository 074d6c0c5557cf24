/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign as one JSON document; the fields are described in docs/json.md. */
#include "report/card.h"
#include "report/json_int.h"
#include "report/words.h"

static json_t *log_json(const struct finding *f)
{
    slice rest = slice_of(f->log ? f->log : ""), line;
    json_t *out = json_object(), *lines = json_array();
    struct buf text = BUF_INIT(1 << 14);
    while (f->log && slice_cut(&rest, '\n', &line)) {
        buf_add(&text, line);
        json_array_append_new(lines, doc_take(&text));
    }
    json_object_set_new(out, "service", doc_text(f->log_of));
    json_object_set_new(out, "lines", lines);
    if (!f->log) {
        json_decref(out);
        out = json_null();
    }
    buf_deinit(&text);
    return out;
}

static json_t *finding_json(const struct report_source *source, uint32_t scenario, uint32_t i)
{
    const struct summary *s = source->scenarios[scenario];
    const struct finding *f = &s->findings.at[i];
    struct card c;
    json_t *out = doc_finding(s, f);
    card_finding(&c, source, scenario, i);
    json_object_set_new(out, "id", doc_text(c.id));
    json_object_set_new(out, "kind", json_string(finding_kind_names[f->kind]));
    json_object_set_new(out, "oracle",
                        f->kind == FINDING_CRASH || f->kind == FINDING_BLAST
                            ? json_string("blast-radius")
                            : json_null());
    json_object_set_new(out, "state", json_string(finding_state_names[f->state]));
    json_object_set_new(out, "detail", doc_text(f->detail));
    json_object_set_new(out, "log", log_json(f));
    json_object_set_new(out, "shrunk", json_boolean(f->shrunk));
    json_object_set_new(out, "run", json_integer((json_int_t)f->number));
    json_object_set_new(out, "trace", c.seen ? doc_trace(c.seen, s->names) : json_null());
    json_object_set_new(out, "when", doc_text(c.when));
    card_deinit(&c);
    return out;
}

static json_t *levels_json(const struct summary *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->levels.n; i++) {
        const struct summary_level *l = &s->levels.at[i];
        json_t *row = json_object();
        json_object_set_new(row, "service", doc_text(l->service));
        json_object_set_new(row, "calls", json_integer((json_int_t)l->calls));
        json_object_set_new(row, "level", doc_text(l->level));
        json_object_set_new(row, "note", doc_text(l->note));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *scenario_json(const struct report_source *source, uint32_t scenario)
{
    const struct summary *s = source->scenarios[scenario];
    json_t *doc = json_object(), *findings = json_array(), *notes = json_array(),
           *hidden = json_array();
    json_object_set_new(doc, "scenario", doc_text(s->scenario));
    for (uint32_t i = 0; i < s->findings.n; i++)
        json_array_append_new(findings, finding_json(source, scenario, i));
    doc_summary(doc, source, scenario, findings);
    json_object_set_new(doc, "more_findings", json_integer((json_int_t)s->more_findings));
    json_object_set_new(doc, "resume", doc_text(words_resume(s)));
    json_object_set_new(doc, "broken", doc_text(s->broken));
    json_object_set_new(doc, "broken_detail", doc_text(s->broken_detail));
    json_object_set_new(doc, "levels", levels_json(s));
    for (uint32_t i = 0; i < s->notes.n; i++)
        json_array_append_new(notes, doc_text(s->notes.at[i]));
    json_object_set_new(doc, "notes", notes);
    for (uint32_t i = 0; i < s->volatile_.n; i++)
        json_array_append_new(hidden, doc_text(s->volatile_.at[i]));
    json_object_set_new(doc, "volatile", hidden);
    json_object_set_new(doc, "took_ns", json_integer(s->took_ns));
    json_object_set_new(doc, "runs_per_second", json_real(report_rate(s)));
    return doc;
}

void report_campaign_json(const struct report_source *source, struct buf *out)
{
    json_t *doc = json_object(), *list = json_array();
    json_object_set_new(doc, "schema_version", json_integer(REPORT_SCHEMA_VERSION));
    json_object_set_new(doc, "version", doc_text(source->version));
    json_object_set_new(doc, "system", doc_text(source->system));
    json_object_set_new(doc, "file", doc_text(source->file));
    json_object_set_new(doc, "verdict", json_string(report_worst(source)));
    json_object_set_new(doc, "error", doc_text(source->error));
    for (uint32_t i = 0; i < source->n; i++)
        json_array_append_new(list, scenario_json(source, i));
    json_object_set_new(doc, "scenarios", list);
    doc_print(doc, out);
}

/* ---- a replay ---- */

static json_t *run_json(json_t *out, const struct run *run, const struct names *names)
{
    struct buf body = BUF_INIT(RUN_BODY_MAX);
    json_object_set_new(out, "verdict", json_string(run->verdict.pass ? "ok" : "findings"));
    json_object_set_new(out, "why", doc_text(run->verdict.why));
    json_object_set_new(out, "detail", doc_text(run->verdict.detail));
    json_object_set_new(out, "status", doc_outcome(run->verdict.status));
    json_object_set_new(out, "event", doc_text(run->event));
    for (size_t i = 0; i < run->body.n; i++) /* a text ends at its first NUL */
        buf_addc(&body, run->body.p[i] ? run->body.p[i] : '?');
    json_object_set_new(out, "body", doc_take(&body));
    json_object_set_new(out, "took_ns", json_integer(run->took_ns));
    json_object_set_new(out, "trace", doc_trace(&run->trace, names));
    buf_deinit(&body);
    return out;
}

void report_replay_json(const char *system, const struct summary *s, const struct replayed *result,
                        const struct run *plain, const struct run *faulty, struct buf *out)
{
    json_t *doc = json_object();
    json_object_set_new(doc, "schema_version", json_integer(REPORT_SCHEMA_VERSION));
    json_object_set_new(doc, "system", doc_text(system));
    json_object_set_new(doc, "scenario", doc_text(result->scenario));
    json_object_set_new(doc, "finding", result->id ? doc_text(result->id) : json_null());
    json_object_set_new(doc, "shows", result->id ? json_boolean(result->shows) : json_null());
    run_json(doc, faulty, s->names);
    struct report_source source = {.n = 1, .scenarios = &s};
    json_object_set_new(doc, "remarks", doc_remarks(&source, 0));
    json_object_set_new(doc, "without_faults", run_json(json_object(), plain, s->names));
    doc_print(doc, out);
}

void report_replays_json(const struct replays *all, struct buf *out)
{
    json_t *doc = json_object(), *list = json_array();
    uint32_t shown = 0;
    for (uint32_t i = 0; i < all->list.n; i++) {
        const struct replayed *r = &all->list.at[i];
        json_t *one = json_object();
        json_object_set_new(one, "finding", doc_text(r->id));
        json_object_set_new(one, "scenario", doc_text(r->scenario));
        json_object_set_new(one, "why", doc_text(r->why));
        json_object_set_new(one, "faultload",
                            doc_faultload(all->names, all->faultloads, r->faultload));
        json_object_set_new(one, "shows", json_boolean(r->shows));
        json_object_set_new(one, "inconclusive", json_boolean(r->unsure));
        json_array_append_new(list, one);
        shown += r->shows;
    }
    json_object_set_new(doc, "schema_version", json_integer(REPORT_SCHEMA_VERSION));
    json_object_set_new(doc, "system", doc_text(all->system));
    json_object_set_new(doc, "replayed", json_integer(all->list.n));
    json_object_set_new(doc, "shown", json_integer(shown));
    json_object_set_new(doc, "findings", list);
    doc_print(doc, out);
}
