/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON for programs; the fields are described in docs/json.md. */
#include "data/json.h"
#include "report/card.h"
#include "report/compare.h"
#include "report/requests.h"
#include "report/suite.h"
#include "report/words.h"

#define FIGURE_MAX 1e300 /* what is printed must not be rounded to more than a double holds */

/* A document in the making: what was added to `text` becomes the next value (put). */
struct doc {
    struct json_out j;
    struct buf text;
};

static struct doc doc_begin(struct buf *out)
{
    struct doc d = {json_out(out, JSON_PRETTY), BUF_INIT(1 << 20)};
    json_map(&d.j, NULL);
    json_int(&d.j, "schema_version", REPORT_SCHEMA_VERSION);
    return d;
}

static void doc_end(struct doc *d)
{
    json_map_end(&d->j);
    buf_addc(d->j.to, '\n');
    buf_deinit(&d->text);
}

static void put(struct doc *d, const char *key)
{
    json_take(&d->j, key, &d->text);
}

static void put_figure(struct doc *d, const char *key, double n)
{
    json_num(&d->j, key, n < FIGURE_MAX ? n : FIGURE_MAX);
}

static void put_outcome(struct doc *d, const char *key, outcome o)
{
    outcome_print(o, &d->text);
    put(d, key);
}

static void put_faultload(struct doc *d, const char *key, const struct summary *s, faultload f)
{
    faultload_print(s->names, s->faultloads, f, &d->text);
    put(d, key);
}

/* null for none. */
static void put_call(struct doc *d, const char *key, const struct names *names, uid u)
{
    if (u == UID_NONE) {
        json_nil(&d->j, key);
        return;
    }
    uid_print(names, u, &d->text);
    put(d, key);
}

static void put_mode(struct doc *d, const char *key, mode m)
{
    if (m == MODE_NONE) {
        json_nil(&d->j, key);
        return;
    }
    mode_print(m, &d->text);
    put(d, key);
}

static void put_texts(struct doc *d, const char *key, const char *const *at, uint32_t n)
{
    json_list(&d->j, key);
    for (uint32_t i = 0; i < n; i++)
        json_text(&d->j, NULL, at[i]);
    json_list_end(&d->j);
}

/* ---- a run ---- */

/* number: of a request that a command made; 0: it is none. */
static void put_tree(struct doc *d, const char *key, const struct trace *trace,
                     const struct names *names, const struct trace_order *order, uint32_t index,
                     uint32_t number)
{
    const struct call *c = &trace->calls.at[index];
    uint32_t requests = 0;
    json_map(&d->j, key);
    element_print(names, uid_element(names, c->uid), &d->text);
    put(d, "call");
    if (number)
        json_uint(&d->j, "request", number);
    put_outcome(d, "seen", c->seen);
    if (c->mode != MODE_NONE)
        put_mode(d, "injected", c->mode);
    if (c->handled)
        put_outcome(d, "reply", c->reply);
    json_int(&d->j, "start_ns", c->start_ns);
    json_int(&d->j, "end_ns", c->end_ns);
    json_list(&d->j, "calls");
    for (uint32_t i = order->first.at[index]; i < order->first.at[index + 1]; i++) {
        bool request = call_is_request(&trace->calls.at[order->child.at[i]]);
        requests += request;
        put_tree(d, NULL, trace, names, order, order->child.at[i], request ? requests : 0);
    }
    json_list_end(&d->j);
    json_map_end(&d->j);
}

/* The scenario's own request, with all calls below it; null when there is none. */
static void put_trace(struct doc *d, const char *key, const struct trace *trace,
                      const struct names *names)
{
    struct trace_order order = {0};
    if (!trace || trace->calls.n == 0) {
        json_nil(&d->j, key);
        return;
    }
    trace_order(trace, names, &order);
    put_tree(d, key, trace, names, &order, 0, 0);
    trace_order_deinit(&order);
}

void report_tree_json(const char *system, const char *scenario, const struct trace *trace,
                      const struct names *names, const struct verdict *verdict,
                      const struct node *body, struct buf *out)
{
    struct doc d = doc_begin(out);
    json_text(&d.j, "system", system);
    json_text(&d.j, "scenario", scenario);
    json_text(&d.j, "verdict", verdict->pass ? "ok" : "findings");
    json_text(&d.j, "why", verdict->why);
    put_outcome(&d, "status", verdict->status);
    json_node(&d.j, "body", body);
    put_trace(&d, "trace", trace, names);
    doc_end(&d);
}

/* ---- what is wrong ---- */

static void put_during(struct doc *d, const struct card *c)
{
    json_list(&d->j, "during");
    for (uint32_t i = 0; i < c->n_during; i++) {
        const struct card_request *r = &c->during[i];
        json_map(&d->j, NULL);
        json_uint(&d->j, "number", r->number);
        put_call(d, "call", c->s->names, r->call);
        put_outcome(d, "seen", r->got);
        if (r->usual)
            put_outcome(d, "usual", r->usual);
        else
            json_nil(&d->j, "usual");
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
}

static void put_log(struct doc *d, const char *key, const struct log_end *log)
{
    if (!log->lines) {
        json_nil(&d->j, key);
        return;
    }
    slice rest = slice_of(log->lines), line;
    json_map(&d->j, key);
    json_text(&d->j, "service", log->service);
    json_list(&d->j, "lines");
    while (slice_cut(&rest, '\n', &line))
        json_str(&d->j, NULL, line);
    json_list_end(&d->j);
    json_map_end(&d->j);
}

/* What is said of findings of campaigns alone. */
static void put_campaign_finding(struct doc *d, const struct card *c)
{
    const struct finding *f = c->finding;
    bool blast = f->kind == FINDING_CRASH || f->kind == FINDING_BLAST;
    json_text(&d->j, "id", c->id);
    json_text(&d->j, "kind", finding_kind_names[f->kind]);
    json_text(&d->j, "oracle", blast ? "blast-radius" : NULL);
    json_text(&d->j, "state", finding_state_names[f->state]);
    json_text(&d->j, "detail", f->detail);
    put_log(d, "log", &f->log);
    json_bool(&d->j, "shrunk", f->shrunk);
    json_uint(&d->j, "run", f->number);
    put_trace(d, "trace", c->seen, c->s->names);
}

static void put_finding(struct doc *d, const struct card *c)
{
    const struct finding *f = c->finding;
    json_map(&d->j, NULL);
    json_text(&d->j, "faultload", c->faultload);
    json_uint(&d->j, "size", faultload_size(c->s->faultloads, f->faultload));
    json_list(&d->j, "alike");
    for (uint32_t i = 0; i < f->alike.n; i++)
        put_faultload(d, NULL, c->s, f->alike.at[i]);
    json_list_end(&d->j);
    json_uint(&d->j, "alike_total", f->n_alike);
    json_text(&d->j, "why", f->why);
    json_text(&d->j, "when", c->when);
    put_during(d, c);
    json_list(&d->j, "statuses");
    for (uint32_t i = 0; i < f->n_statuses; i++)
        put_outcome(d, NULL, f->status[i]);
    json_list_end(&d->j);
    json_uint(&d->j, "runs", f->runs);
    json_text(&d->j, "replay", c->replay);
    if (c->kind)
        put_campaign_finding(d, c);
    json_map_end(&d->j);
}

static void put_remark(struct doc *d, const struct card *c)
{
    const struct remark *r = c->remark;
    json_map(&d->j, NULL);
    json_text(&d->j, "oracle", r->oracle);
    json_text(&d->j, "severity", severity_names[r->severity]);
    json_text(&d->j, "why", r->why);
    json_text(&d->j, "faultload", c->faultload);
    json_text(&d->j, "when", c->when);
    put_during(d, c);
    json_uint(&d->j, "run", r->number);
    json_uint(&d->j, "runs", r->runs);
    json_list(&d->j, "evidence");
    for (uint32_t i = 0; i < r->n_evidence; i++) {
        const struct evidence *x = &r->evidence[i];
        json_map(&d->j, NULL);
        put_call(d, "call", c->s->names, x->call);
        json_text(&d->j, "role", x->role);
        if (x->seen)
            put_outcome(d, "seen", x->seen);
        else
            json_nil(&d->j, "seen");
        put_mode(d, "injected", x->mode);
        json_int(&d->j, "start_ns", x->start_ns);
        json_int(&d->j, "end_ns", x->end_ns);
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
    json_text(&d->j, "replay", c->replay);
    json_text(&d->j, "about", c->about);
    json_map_end(&d->j);
}

/* The cards of a scenario: its findings, or what oracles say. */
static void put_cards(struct doc *d, const struct report_source *source, uint32_t scenario,
                      bool remarks)
{
    const struct summary *s = source->scenarios[scenario];
    json_list(&d->j, remarks ? "remarks" : "findings");
    for (uint32_t i = 0; i < (remarks ? s->remarks.n : s->findings.n); i++) {
        struct card c;
        (remarks ? card_remark : card_finding)(&c, source, scenario, i);
        (remarks ? put_remark : put_finding)(d, &c);
        card_deinit(&c);
    }
    json_list_end(&d->j);
}

/* ---- a scenario ---- */

static void put_figures(struct doc *d, const struct summary *s)
{
    struct json_out *j = &d->j;
    json_list(j, "modes");
    for (uint32_t i = 0; i < s->n_modes; i++)
        put_mode(d, NULL, s->modes[i]);
    json_list_end(j);
    json_text(j, "not_tried", words_untried(s, &d->text) ? buf_text(&d->text) : NULL);
    buf_clear(&d->text);
    json_text(j, "order", s->order);
    json_uint(j, "seed", s->seed);
    put_texts(d, "assumptions", s->assumptions.at, s->assumptions.n);
    json_uint(j, "points", s->points);
    json_uint(j, "conditional_points", s->conditional);
    put_figure(d, "space", s->space);
    json_uint(j, "runs", s->runs);
    json_list(j, "runs_by_size");
    for (uint32_t i = 0; i < s->runs_by_size.n; i++)
        json_uint(j, NULL, s->runs_by_size.at[i]);
    json_list_end(j);
    json_uint(j, "repeats", s->repeats);
    json_uint(j, "audited", s->audited);
    json_list(j, "outcomes");
    for (uint32_t i = 0; i < s->outcomes.n; i++) {
        json_map(j, NULL);
        put_outcome(d, "status", s->outcomes.at[i].status);
        json_bool(j, "expected", s->outcomes.at[i].pass);
        json_uint(j, "runs", s->outcomes.at[i].runs);
        json_map_end(j);
    }
    json_list_end(j);
    json_uint(j, "transcripts", s->transcripts);
    json_map(j, "skipped");
    for (uint32_t i = 0; i < s->skipped.n; i++)
        put_figure(d, s->skipped.at[i].name, s->skipped.at[i].n);
    json_map_end(j);
    json_bool(j, "skipped_known", s->skipped_known);
    json_bool(j, "skipped_estimated", s->skipped_estimated);
}

static void put_reason(struct doc *d, const struct summary *s, const struct reason *r)
{
    struct remedy remedy;
    json_map(&d->j, NULL);
    json_text(&d->j, "cause", reason_names[r->kind]);
    words_reason(s, r, &d->text);
    put(d, "text");
    json_list(&d->j, "calls");
    for (uint32_t i = 0; i < r->n_calls && i < REASON_CALLS; i++)
        put_call(d, NULL, s->names, r->call[i]);
    json_list_end(&d->j);
    json_uint(&d->j, "times", r->times);
    put_faultload(d, "faultload", s, r->example->faultload);
    json_list(&d->j, "remedies");
    for (uint32_t i = 0; words_remedy(s, r, i, &remedy); i++) {
        json_map(&d->j, NULL);
        json_take(&d->j, "line", &remedy.line);
        json_take(&d->j, "where", &remedy.where);
        json_map_end(&d->j);
        remedy_deinit(&remedy);
    }
    json_list_end(&d->j);
    json_map_end(&d->j);
}

static void put_suspects(struct doc *d, const struct summary *s)
{
    json_list(&d->j, "suspect");
    for (uint32_t i = 0; i < s->n_suspects; i++) {
        const struct suspect *x = &s->suspects[i];
        json_map(&d->j, NULL);
        json_text(&d->j, "kind", suspect_names[x->kind]);
        put_call(d, "call", s->names, x->point);
        put_faultload(d, "faultload", s, x->faultload);
        words_suspect(s, x, &d->text);
        put(d, "text");
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
    json_uint(&d->j, "suspect_total", s->all_suspects);
}

/* Verdict, figures, findings and what is suspect. */
static void put_summary(struct doc *d, const struct report_source *source, uint32_t scenario)
{
    const struct summary *s = source->scenarios[scenario];
    json_text(&d->j, "scenario", s->scenario);
    json_text(&d->j, "verdict", report_verdict(s));
    put_figures(d, s);
    put_cards(d, source, scenario, false);
    put_cards(d, source, scenario, true);
    json_uint(&d->j, "remarks_total", s->remarks.n + s->more_remarks);
    json_uint(&d->j, "failed_runs", s->failed_runs);
    json_list(&d->j, "unsure");
    for (uint32_t i = 0; i < s->reasons.n; i++)
        put_reason(d, s, &s->reasons.at[i]);
    json_list_end(&d->j);
    put_suspects(d, s);
    json_text(&d->j, "stopped_by", s->stopped);
    json_text(&d->j, "inconclusive", words_unsure(s));
    json_uint(&d->j, "queued", s->queued);
}

void report_json(const struct summary *s, struct buf *out)
{
    struct doc d = doc_begin(out);
    struct report_source source = {.n = 1, .scenarios = &s};
    json_text(&d.j, "system", s->system);
    put_summary(&d, &source, 0);
    doc_end(&d);
}

/* ---- what it depends on, in short ---- */

/* The service of a call; null for none. */
static void put_service(struct doc *d, const char *key, const struct names *names, uid u)
{
    if (u == UID_NONE)
        json_nil(&d->j, key);
    else
        json_str(&d->j, key, names_text(names, uid_element(names, u)->service));
}

static void put_by(struct doc *d, const struct names *names, enum dep_by by, uid instead, uid at)
{
    bool absorbed = by != DEP_BY_NOTHING;
    json_text(&d->j, "absorbed_by", absorbed ? dep_by_names[by] : NULL);
    put_service(d, "absorbed_in", names, absorbed ? at : UID_NONE);
    put_call(d, "instead", names, instead);
}

static void put_dep_kind(struct doc *d, const struct summary *s, const struct dep *x)
{
    put_call(d, "call", s->names, x->call);
    put_service(d, "caller", s->names, uid_parent(s->names, x->call));
    put_service(d, "service", s->names, x->call);
    json_text(&d->j, "kind", dep_kind_names[x->kind]);
    put_by(d, s->names, x->by, x->instead, x->at);
    json_bool(&d->j, "retried", x->retried);
}

static void put_pair_calls(struct doc *d, const struct summary *s, const struct dep_pair *p)
{
    json_list(&d->j, "calls");
    put_call(d, NULL, s->names, p->a);
    put_call(d, NULL, s->names, p->b);
    json_list_end(&d->j);
}

/* The kinds of its dependencies in short: all that is to know of them is in `outfox deps --json`. */
static void put_kinds(struct doc *d, const struct report_source *source, uint32_t scenario)
{
    const struct summary *s = source->scenarios[scenario];
    struct deps deps = {0};
    if (!source->deps) {
        json_nil(&d->j, "dependencies");
        json_nil(&d->j, "pairs");
        return;
    }
    source->deps(source->ctx, scenario, &deps);
    json_list(&d->j, "dependencies");
    for (uint32_t i = 0; i < deps.rows.n; i++) {
        json_map(&d->j, NULL);
        put_dep_kind(d, s, &deps.rows.at[i]);
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
    json_list(&d->j, "pairs");
    for (uint32_t i = 0; i < deps.pairs.n; i++) {
        json_map(&d->j, NULL);
        put_pair_calls(d, s, &deps.pairs.at[i]);
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
    deps_deinit(&deps);
}

/* ---- a campaign ---- */

/* What it is like when nothing is made to fail. */
static void put_plain(struct doc *d, const struct report_source *source, uint32_t scenario)
{
    struct run run = {0};
    if (source->run_of && source->run_of(source->ctx, scenario, FAULTLOAD_EMPTY, &run))
        run.trace = (struct trace){0};
    put_trace(d, "without_faults", &run.trace, source->scenarios[scenario]->names);
    vec_deinit(&run.trace.calls);
}

static void put_requests(struct doc *d, const struct report_source *source, uint32_t scenario)
{
    struct told_requests all = {.list = {0}};
    requests_tell(source, scenario, &all);
    json_list(&d->j, "requests");
    for (uint32_t i = 0; i < all.list.n; i++) {
        const struct told_request *r = &all.list.at[i];
        json_map(&d->j, NULL);
        json_uint(&d->j, "number", r->number);
        put_call(d, "call", source->scenarios[scenario]->names, r->call);
        put_outcome(d, "seen", r->seen);
        json_uint(&d->j, "calls", r->calls);
        put_texts(d, "findings", r->findings.at, r->findings.n);
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
    requests_forget(&all);
}

static void put_calls(struct doc *d, const struct report_source *source, uint32_t scenario)
{
    const struct names *names = source->scenarios[scenario]->names;
    struct known_calls calls = {0};
    if (source->calls)
        source->calls(source->ctx, scenario, &calls);
    json_list(&d->j, "calls");
    for (uint32_t i = 0; i < calls.n; i++) {
        const struct known_call *c = &calls.at[i];
        json_map(&d->j, NULL);
        put_call(d, "call", names, c->call);
        put_service(d, "caller", names, uid_parent(names, c->call));
        put_service(d, "service", names, c->call);
        json_bool(&d->j, "conditional", c->conditional);
        if (c->runs)
            json_int(&d->j, "took_ns", c->took_ns);
        else
            json_nil(&d->j, "took_ns");
        json_uint(&d->j, "runs", c->runs);
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
    json_uint(&d->j, "calls_total", calls.total);
    vec_deinit(&calls);
}

static void put_scenario(struct doc *d, const struct report_source *source, uint32_t scenario)
{
    const struct summary *s = source->scenarios[scenario];
    json_map(&d->j, NULL);
    put_summary(d, source, scenario);
    json_uint(&d->j, "more_findings", s->more_findings);
    json_text(&d->j, "resume", words_resume(s));
    words_replay_faultload(s, FAULTLOAD_EMPTY, &d->text);
    put(d, "replay");
    json_text(&d->j, "broken", s->broken);
    json_text(&d->j, "broken_detail", s->broken_detail);
    put_log(d, "broken_log", &s->broken_log);
    json_list(&d->j, "levels");
    for (uint32_t i = 0; i < s->levels.n; i++) {
        const struct summary_level *l = &s->levels.at[i];
        json_map(&d->j, NULL);
        json_text(&d->j, "service", l->service);
        json_uint(&d->j, "calls", l->calls);
        json_text(&d->j, "level", l->level);
        json_text(&d->j, "note", l->note);
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
    put_texts(d, "notes", s->notes.at, s->notes.n);
    put_texts(d, "volatile", s->volatile_.at, s->volatile_.n);
    put_kinds(d, source, scenario);
    put_plain(d, source, scenario);
    put_requests(d, source, scenario);
    put_calls(d, source, scenario);
    json_int(&d->j, "took_ns", s->took_ns);
    json_num(&d->j, "runs_per_second", report_rate(s));
    json_map_end(&d->j);
}

void report_campaign_json(const struct report_source *source, struct buf *out)
{
    struct doc d = doc_begin(out);
    json_text(&d.j, "version", source->version);
    json_text(&d.j, "system", source->system);
    json_text(&d.j, "file", source->file);
    json_text(&d.j, "verdict", report_worst(source));
    json_text(&d.j, "error", source->error);
    json_list(&d.j, "scenarios");
    for (uint32_t i = 0; i < source->n; i++)
        put_scenario(&d, source, i);
    json_list_end(&d.j);
    suite_put(source, &d.j, "suite");
    if (source->comparison)
        compare_put(source->comparison, &d.j, "comparison");
    else
        json_nil(&d.j, "comparison");
    doc_end(&d);
}

/* ---- explanations ---- */

static void put_explanation(struct doc *d, const struct explanations *all, uint32_t i)
{
    const struct explanation *x = &all->explanation[i];
    put_faultload(d, "faultload", all->s, all->faultload[i]);
    json_text(&d->j, "answer", explain_names[x->kind]);
    json_text(&d->j, "policy", policy_names[x->policy]);
    json_text(&d->j, "reduction", x->reduction);
    if (x->run == UINT32_MAX)
        json_nil(&d->j, "run");
    else
        json_uint(&d->j, "run", x->run + 1);
    words_explanation(all->s->names, all->s->faultloads, x, &d->text);
    put(d, "text");
}

void report_explanations_json(const struct explanations *all, struct buf *out)
{
    struct doc d = doc_begin(out);
    json_text(&d.j, "system", all->s->system);
    json_text(&d.j, "scenario", all->s->scenario);
    put_explanation(&d, all, 0);
    json_list(&d.j, "others");
    for (uint32_t i = 1; i < all->n; i++) {
        json_map(&d.j, NULL);
        put_explanation(&d, all, i);
        json_map_end(&d.j);
    }
    json_list_end(&d.j);
    doc_end(&d);
}

void report_sample_json(const struct explanations *all, struct buf *out)
{
    struct doc d = doc_begin(out);
    json_text(&d.j, "scenario", all->s->scenario);
    json_list(&d.j, "explanations");
    for (uint32_t i = 0; i < all->n; i++) {
        json_map(&d.j, NULL);
        put_explanation(&d, all, i);
        json_map_end(&d.j);
    }
    json_list_end(&d.j);
    doc_end(&d);
}

/* ---- a replay ---- */

static void put_run(struct doc *d, const struct run *run, const struct names *names)
{
    json_text(&d->j, "verdict", run->verdict.pass ? "ok" : "findings");
    json_text(&d->j, "why", run->verdict.why);
    json_text(&d->j, "detail", run->verdict.detail);
    put_outcome(d, "status", run->verdict.status);
    json_text(&d->j, "event", run->event);
    for (size_t i = 0; i < run->body.n; i++) /* many programs take a NUL for the end of a text */
        buf_addc(&d->text, run->body.p[i] ? run->body.p[i] : '?');
    put(d, "body");
    json_int(&d->j, "took_ns", run->took_ns);
    put_trace(d, "trace", &run->trace, names);
}

void report_replay_json(const char *system, const struct summary *s, const struct replayed *result,
                        const struct run *plain, const struct run *faulty, struct buf *out)
{
    struct doc d = doc_begin(out);
    struct report_source source = {.n = 1, .scenarios = &s};
    json_text(&d.j, "system", system);
    json_text(&d.j, "scenario", result->scenario);
    json_text(&d.j, "finding", result->id);
    if (result->id)
        json_bool(&d.j, "shows", result->shows);
    else
        json_nil(&d.j, "shows");
    put_run(&d, faulty, s->names);
    put_cards(&d, &source, 0, true);
    json_map(&d.j, "without_faults");
    put_run(&d, plain, s->names);
    json_map_end(&d.j);
    doc_end(&d);
}

void report_replays_json(const struct replays *all, struct buf *out)
{
    struct doc d = doc_begin(out);
    struct summary s = {.names = all->names, .faultloads = all->faultloads};
    uint32_t shown = 0;
    for (uint32_t i = 0; i < all->list.n; i++)
        shown += all->list.at[i].shows;
    json_text(&d.j, "system", all->system);
    json_uint(&d.j, "replayed", all->list.n);
    json_uint(&d.j, "shown", shown);
    json_list(&d.j, "findings");
    for (uint32_t i = 0; i < all->list.n; i++) {
        const struct replayed *r = &all->list.at[i];
        json_map(&d.j, NULL);
        json_text(&d.j, "finding", r->id);
        json_text(&d.j, "scenario", r->scenario);
        json_text(&d.j, "why", r->why);
        put_faultload(&d, "faultload", &s, r->faultload);
        json_bool(&d.j, "shows", r->shows);
        json_bool(&d.j, "inconclusive", r->unsure);
        json_map_end(&d.j);
    }
    json_list_end(&d.j);
    doc_end(&d);
}

/* ---- dependencies ---- */

static void put_shown_by(struct doc *d, const struct summary *s, faultload f, uint64_t number)
{
    put_faultload(d, "faultload", s, f);
    json_uint(&d->j, "run", number);
    words_replay_run(s, f, number, &d->text);
    put(d, "replay");
}

static void put_way(struct doc *d, const struct summary *s, const struct dep_way *way)
{
    json_map(&d->j, NULL);
    label_print(way->label, &d->text);
    put(d, "failure");
    json_bool(&d->j, "fails", way->fails);
    json_bool(&d->j, "lasting", way->lasting);
    put_outcome(d, "status", way->status);
    put_by(d, s->names, way->by, way->instead, way->at);
    put_shown_by(d, s, way->faultload, way->number);
    json_map_end(&d->j);
}

static void put_dep(struct doc *d, const struct summary *s, const struct dep *x)
{
    json_map(&d->j, NULL);
    put_dep_kind(d, s, x);
    if (x->after_fault)
        put_faultload(d, "only_after", s, x->after);
    else
        json_nil(&d->j, "only_after");
    json_list(&d->j, "causes");
    for (uint32_t i = 0; i < x->causes.n; i++) {
        json_list(&d->j, NULL);
        for (uint32_t k = 0; k < x->causes.at[i].n; k++)
            put_call(d, NULL, s->names, x->causes.at[i].calls[k]);
        json_list_end(&d->j);
    }
    json_list_end(&d->j);
    words_dep(s, x, &d->text);
    put(d, "text");
    json_list(&d->j, "failures");
    for (uint32_t i = 0; i < x->ways.n; i++)
        put_way(d, s, &x->ways.at[i]);
    json_list_end(&d->j);
    json_map_end(&d->j);
}

static void put_deps(struct doc *d, const struct deps_report *r)
{
    const struct summary *s = r->summary;
    json_map(&d->j, NULL);
    json_text(&d->j, "scenario", s->scenario);
    json_text(&d->j, "broken", s->broken);
    json_text(&d->j, "stopped_by", s->stopped);
    json_list(&d->j, "tried");
    for (uint32_t i = 0; i < r->deps.labels.n; i++) {
        label_print(r->deps.labels.at[i], &d->text);
        put(d, NULL);
    }
    json_list_end(&d->j);
    json_list(&d->j, "dependencies");
    for (uint32_t i = 0; i < r->deps.rows.n; i++)
        put_dep(d, s, &r->deps.rows.at[i]);
    json_list_end(&d->j);
    json_list(&d->j, "pairs");
    for (uint32_t i = 0; i < r->deps.pairs.n; i++) {
        const struct dep_pair *p = &r->deps.pairs.at[i];
        json_map(&d->j, NULL);
        put_pair_calls(d, s, p);
        put_outcome(d, "status", p->status);
        put_shown_by(d, s, p->faultload, p->number);
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
    json_list(&d->j, "redundant");
    for (uint32_t i = 0; i < r->deps.redundant.n; i++) {
        const struct dep_twice *x = &r->deps.redundant.at[i];
        json_map(&d->j, NULL);
        put_call(d, "call", s->names, x->call);
        json_uint(&d->j, "times", x->times);
        json_bool(&d->j, "one_handler", x->one_handler);
        json_map_end(&d->j);
    }
    json_list_end(&d->j);
    json_map_end(&d->j);
}

void report_deps_json(const struct deps_report *list, uint32_t n, struct buf *out)
{
    struct doc d = doc_begin(out);
    json_text(&d.j, "system", n ? list[0].summary->system : NULL);
    json_list(&d.j, "scenarios");
    for (uint32_t i = 0; i < n; i++)
        put_deps(&d, &list[i]);
    json_list_end(&d.j);
    doc_end(&d);
}
