/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON for programs; the fields are described in docs/json.md. Whole numbers up to 2^53 are
 * integers, larger figures are reals. */
#include "report/json_int.h"

#include "base/printable.h"
#include "report/card.h"
#include "report/words.h"

#define FIGURE_MAX 1e300

static json_t *doc_number(double n)
{
    if (!(n < FIGURE_MAX)) /* what is printed must not be rounded to more than a double holds */
        n = FIGURE_MAX;
    return n < 9007199254740992.0 ? json_integer((json_int_t)n) : json_real(n);
}

/* The text of the buffer, which is cleared. Bytes that are not UTF-8 become '?'. */
json_t *doc_take(struct buf *b)
{
    json_t *text = json_string(buf_text(b));
    if (!text) {
        for (size_t i = 0; i < b->n; i++)
            if ((unsigned char)b->p[i] >= 0x80)
                b->p[i] = '?';
        text = json_string(buf_text(b));
    }
    buf_clear(b);
    return text;
}

json_t *doc_text(const char *text)
{
    struct buf copy = BUF_INIT(1 << 20);
    if (!text)
        return json_null();
    buf_adds(&copy, text);
    json_t *value = doc_take(&copy);
    buf_deinit(&copy);
    return value;
}

json_t *doc_faultload(const struct names *names, const struct faultloads *fl, faultload f)
{
    struct buf text = BUF_INIT(1 << 20);
    faultload_print(names, fl, f, &text);
    json_t *value = doc_take(&text);
    buf_deinit(&text);
    return value;
}

static json_t *uid_text(const struct names *names, uid u)
{
    struct buf text = BUF_INIT(1 << 16);
    if (u == UID_NONE)
        return json_null();
    uid_print(names, u, &text);
    json_t *value = doc_take(&text);
    buf_deinit(&text);
    return value;
}

json_t *doc_outcome(outcome o)
{
    struct buf text = BUF_INIT(64);
    outcome_print(o, &text);
    json_t *value = doc_take(&text);
    buf_deinit(&text);
    return value;
}

json_t *doc_finding(const struct summary *s, const struct finding *f)
{
    struct buf text = BUF_INIT(1 << 20);
    json_t *out = json_object(), *alike = json_array();
    for (uint32_t i = 0; i < f->alike.n; i++)
        json_array_append_new(alike, doc_faultload(s->names, s->faultloads, f->alike.at[i]));
    json_object_set_new(out, "faultload", doc_faultload(s->names, s->faultloads, f->faultload));
    json_object_set_new(out, "size", json_integer(faultload_size(s->faultloads, f->faultload)));
    json_object_set_new(out, "alike", alike);
    json_object_set_new(out, "alike_total", json_integer((json_int_t)f->n_alike));
    buf_adds(&text, f->why);
    json_object_set_new(out, "why", doc_take(&text));
    words_finding(s, f, &text);
    json_object_set_new(out, "when", doc_take(&text));
    json_t *statuses = json_array();
    for (uint32_t i = 0; i < f->n_statuses; i++)
        json_array_append_new(statuses, doc_outcome(f->status[i]));
    json_object_set_new(out, "statuses", statuses);
    json_object_set_new(out, "runs", json_integer((json_int_t)f->runs));
    words_replay(s, f, &text);
    json_object_set_new(out, "replay", doc_take(&text));
    buf_deinit(&text);
    return out;
}

static json_t *evidence_json(const struct summary *s, const struct evidence *x)
{
    struct buf text = BUF_INIT(MODE_TEXT_MAX);
    json_t *out = json_object();
    json_object_set_new(out, "call", uid_text(s->names, x->call));
    json_object_set_new(out, "role", doc_text(x->role));
    json_object_set_new(out, "seen", x->seen ? doc_outcome(x->seen) : json_null());
    if (x->mode != MODE_NONE)
        mode_print(x->mode, &text);
    json_object_set_new(out, "injected", x->mode != MODE_NONE ? doc_take(&text) : json_null());
    json_object_set_new(out, "start_ns", json_integer(x->start_ns));
    json_object_set_new(out, "end_ns", json_integer(x->end_ns));
    buf_deinit(&text);
    return out;
}

static json_t *card_json(const struct card *c)
{
    const struct remark *r = c->remark;
    json_t *out = json_object(), *evidence = json_array();
    json_object_set_new(out, "oracle", doc_text(r->oracle));
    json_object_set_new(out, "severity", doc_text(severity_names[r->severity]));
    json_object_set_new(out, "why", doc_text(r->why));
    json_object_set_new(out, "faultload", doc_text(c->faultload));
    json_object_set_new(out, "when", doc_text(c->when));
    json_object_set_new(out, "run", json_integer((json_int_t)r->number));
    json_object_set_new(out, "runs", json_integer((json_int_t)r->runs));
    for (uint32_t i = 0; i < r->n_evidence; i++)
        json_array_append_new(evidence, evidence_json(c->s, &r->evidence[i]));
    json_object_set_new(out, "evidence", evidence);
    json_object_set_new(out, "replay", doc_text(c->replay));
    json_object_set_new(out, "about", doc_text(c->about));
    return out;
}

json_t *doc_remarks(const struct report_source *source, uint32_t scenario)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < source->scenarios[scenario]->remarks.n; i++) {
        struct card c;
        card_remark(&c, source, scenario, i);
        json_array_append_new(list, card_json(&c));
        card_deinit(&c);
    }
    return list;
}

static json_t *suspect_json(const struct summary *s, const struct suspect *x)
{
    struct buf text = BUF_INIT(1 << 16);
    json_t *out = json_object();
    json_object_set_new(out, "kind", json_string(suspect_name(x->kind)));
    json_object_set_new(out, "call", uid_text(s->names, x->point));
    json_object_set_new(out, "faultload", doc_faultload(s->names, s->faultloads, x->faultload));
    words_suspect(s, x, &text);
    json_object_set_new(out, "text", doc_take(&text));
    buf_deinit(&text);
    return out;
}

static json_t *remedies_json(const struct summary *s, const struct reason *r)
{
    json_t *list = json_array();
    struct remedy remedy;
    for (uint32_t i = 0; words_remedy(s, r, i, &remedy); i++) {
        json_t *one = json_object();
        json_object_set_new(one, "line", doc_take(&remedy.line));
        json_object_set_new(one, "where", doc_take(&remedy.where));
        json_array_append_new(list, one);
        remedy_deinit(&remedy);
    }
    return list;
}

static json_t *reason_json(const struct summary *s, const struct reason *r)
{
    struct buf text = BUF_INIT(1 << 16);
    json_t *out = json_object(), *calls = json_array();
    json_object_set_new(out, "cause", json_string(reason_names[r->kind]));
    words_reason(s, r, &text);
    json_object_set_new(out, "text", doc_take(&text));
    for (uint32_t i = 0; i < r->n_calls && i < REASON_CALLS; i++)
        json_array_append_new(calls, uid_text(s->names, r->call[i]));
    json_object_set_new(out, "calls", calls);
    json_object_set_new(out, "times", json_integer((json_int_t)r->times));
    json_object_set_new(out, "faultload",
                        doc_faultload(s->names, s->faultloads, r->example->faultload));
    json_object_set_new(out, "remedies", remedies_json(s, r));
    buf_deinit(&text);
    return out;
}

static json_t *outcomes_json(const struct summary *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->outcomes.n; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "status", doc_outcome(s->outcomes.at[i].status));
        json_object_set_new(o, "expected", json_boolean(s->outcomes.at[i].pass));
        json_object_set_new(o, "runs", json_integer((json_int_t)s->outcomes.at[i].runs));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *modes_json(const struct summary *s)
{
    json_t *list = json_array();
    struct buf text = BUF_INIT(MODE_TEXT_MAX);
    for (uint32_t i = 0; i < s->n_modes; i++) {
        mode_print(s->modes[i], &text);
        json_array_append_new(list, doc_take(&text));
    }
    buf_deinit(&text);
    return list;
}

static int print_piece(const char *bytes, size_t n, void *ctx)
{
    printable_json((slice){bytes, n}, ctx);
    return 0;
}

void doc_print(json_t *doc, struct buf *out)
{
    (void)json_dump_callback(doc, print_piece, out,
                             JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15));
    buf_addc(out, '\n');
    json_decref(doc);
}

static json_t *document(const char *system, const char *scenario)
{
    json_t *doc = json_object();
    json_object_set_new(doc, "schema_version", json_integer(REPORT_SCHEMA_VERSION));
    json_object_set_new(doc, "system", doc_text(system));
    json_object_set_new(doc, "scenario", doc_text(scenario));
    return doc;
}

static void add_figures(json_t *doc, const struct summary *s)
{
    json_t *sizes = json_array(), *skipped = json_object(), *assumptions = json_array();
    for (uint32_t i = 0; i < s->runs_by_size.n; i++)
        json_array_append_new(sizes, json_integer((json_int_t)s->runs_by_size.at[i]));
    for (uint32_t i = 0; i < s->skipped.n; i++)
        json_object_set_new(skipped, s->skipped.at[i].name, doc_number(s->skipped.at[i].n));
    for (uint32_t i = 0; i < s->assumptions.n; i++)
        json_array_append_new(assumptions, doc_text(s->assumptions.at[i]));
    json_object_set_new(doc, "modes", modes_json(s));
    struct buf untried = BUF_INIT(4096);
    json_object_set_new(doc, "not_tried",
                        words_untried(s, &untried) ? doc_take(&untried) : json_null());
    buf_deinit(&untried);
    json_object_set_new(doc, "order", json_string(s->order));
    json_object_set_new(doc, "seed", json_integer((json_int_t)s->seed));
    json_object_set_new(doc, "assumptions", assumptions);
    json_object_set_new(doc, "points", json_integer(s->points));
    json_object_set_new(doc, "conditional_points", json_integer(s->conditional));
    json_object_set_new(doc, "space", doc_number(s->space));
    json_object_set_new(doc, "runs", json_integer((json_int_t)s->runs));
    json_object_set_new(doc, "runs_by_size", sizes);
    json_object_set_new(doc, "repeats", json_integer((json_int_t)s->repeats));
    json_object_set_new(doc, "audited", json_integer((json_int_t)s->audited));
    json_object_set_new(doc, "outcomes", outcomes_json(s));
    json_object_set_new(doc, "transcripts", json_integer((json_int_t)s->transcripts));
    json_object_set_new(doc, "skipped", skipped);
    json_object_set_new(doc, "skipped_known", json_boolean(s->skipped_known));
    json_object_set_new(doc, "skipped_estimated", json_boolean(s->skipped_estimated));
}

void doc_summary(json_t *doc, const struct report_source *source, uint32_t scenario,
                 json_t *findings)
{
    const struct summary *s = source->scenarios[scenario];
    json_object_set_new(doc, "verdict", json_string(report_verdict(s)));
    add_figures(doc, s);
    json_t *suspects = json_array();
    for (uint32_t i = 0; i < s->n_suspects; i++)
        json_array_append_new(suspects, suspect_json(s, &s->suspects[i]));
    json_object_set_new(doc, "findings", findings);
    json_object_set_new(doc, "remarks", doc_remarks(source, scenario));
    json_object_set_new(doc, "remarks_total",
                        json_integer((json_int_t)(s->remarks.n + s->more_remarks)));
    json_object_set_new(doc, "failed_runs", json_integer((json_int_t)s->failed_runs));
    json_t *reasons = json_array();
    for (uint32_t i = 0; i < s->reasons.n; i++)
        json_array_append_new(reasons, reason_json(s, &s->reasons.at[i]));
    json_object_set_new(doc, "unsure", reasons);
    json_object_set_new(doc, "suspect", suspects);
    json_object_set_new(doc, "suspect_total", json_integer((json_int_t)s->all_suspects));
    json_object_set_new(doc, "stopped_by", doc_text(s->stopped));
    json_object_set_new(doc, "inconclusive", doc_text(words_unsure(s)));
    json_object_set_new(doc, "queued", json_integer((json_int_t)s->queued));
}

void report_json(const struct summary *s, struct buf *out)
{
    json_t *doc = document(s->system, s->scenario), *findings = json_array();
    for (uint32_t i = 0; i < s->findings.n; i++)
        json_array_append_new(findings, doc_finding(s, &s->findings.at[i]));
    struct report_source source = {.n = 1, .scenarios = &s};
    doc_summary(doc, &source, 0, findings);
    doc_print(doc, out);
}

static json_t *call_json(const struct trace *trace, const struct names *names,
                         const struct trace_order *order, uint32_t index)
{
    const struct call *c = &trace->calls.at[index];
    struct buf text = BUF_INIT(1 << 16);
    json_t *out = json_object(), *calls = json_array();
    element_print(names, uid_element(names, c->uid), &text);
    json_object_set_new(out, "call", doc_take(&text));
    json_object_set_new(out, "seen", doc_outcome(c->seen));
    if (c->mode != MODE_NONE) {
        mode_print(c->mode, &text);
        json_object_set_new(out, "injected", doc_take(&text));
    }
    if (c->handled)
        json_object_set_new(out, "reply", doc_outcome(c->reply));
    json_object_set_new(out, "start_ns", json_integer(c->start_ns));
    json_object_set_new(out, "end_ns", json_integer(c->end_ns));
    for (uint32_t i = order->first.at[index]; i < order->first.at[index + 1]; i++)
        json_array_append_new(calls, call_json(trace, names, order, order->child.at[i]));
    json_object_set_new(out, "calls", calls);
    buf_deinit(&text);
    return out;
}

json_t *doc_trace(const struct trace *trace, const struct names *names)
{
    struct trace_order order = {0};
    if (trace->calls.n == 0)
        return json_null();
    trace_order(trace, names, &order);
    json_t *out = call_json(trace, names, &order, 0);
    trace_order_deinit(&order);
    return out;
}

void report_tree_json(const char *system, const char *scenario, const struct trace *trace,
                      const struct names *names, const struct verdict *verdict,
                      const struct node *body, struct buf *out)
{
    json_t *doc = document(system, scenario);
    struct buf text = BUF_INIT(1 << 20);
    json_error_t ignored;
    json_object_set_new(doc, "verdict", json_string(verdict->pass ? "ok" : "findings"));
    buf_adds(&text, verdict->why);
    json_object_set_new(doc, "why", doc_take(&text));
    json_object_set_new(doc, "status", doc_outcome(verdict->status));
    if (body)
        node_print(body, &text);
    json_t *parsed = json_loads(buf_text(&text), JSON_DECODE_ANY, &ignored);
    json_object_set_new(doc, "body", parsed ? parsed : json_null());
    json_object_set_new(doc, "trace", doc_trace(trace, names));
    buf_deinit(&text);
    doc_print(doc, out);
}

static void put_explanation(const struct explanations *all, uint32_t i, json_t *doc)
{
    const struct explanation *x = &all->explanation[i];
    struct buf text = BUF_INIT(1 << 20);
    json_object_set_new(doc, "faultload",
                        doc_faultload(all->s->names, all->s->faultloads, all->faultload[i]));
    json_object_set_new(doc, "answer", json_string(explain_name(x->kind)));
    json_object_set_new(doc, "policy", json_string(policy_name(x->policy)));
    json_object_set_new(doc, "reduction", x->reduction ? json_string(x->reduction) : json_null());
    json_object_set_new(doc, "run", x->run == UINT32_MAX ? json_null() : json_integer(x->run + 1));
    words_explanation(all->s->names, all->s->faultloads, x, &text);
    json_object_set_new(doc, "text", doc_take(&text));
    buf_deinit(&text);
}

void report_explanations_json(const struct explanations *all, struct buf *out)
{
    json_t *doc = document(all->s->system, all->s->scenario), *more = json_array();
    put_explanation(all, 0, doc);
    for (uint32_t i = 1; i < all->n; i++) {
        json_t *one = json_object();
        put_explanation(all, i, one);
        json_array_append_new(more, one);
    }
    json_object_set_new(doc, "others", more);
    doc_print(doc, out);
}
