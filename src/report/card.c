/* SPDX-License-Identifier: Apache-2.0 */
#include "report/card.h"

#include "base/clock.h"
#include "report/words.h"

/* Below SPAN_TOLD_NS, when something happened is nothing to wonder about. */
enum { CARD_TEXT_MAX = 1 << 20, SPAN_TOLD_NS = MS(100) };

/* "the client gets 200 or 503"; nothing when that is not known. */
static void add_then(const struct finding *finding, struct buf *out)
{
    bool command = finding->n_statuses && outcome_kind(finding->status[0]) == OUT_EXIT;
    for (uint32_t i = 0; i < finding->n_statuses; i++) {
        outcome o = finding->status[i];
        buf_adds(out, i > 0     ? (i + 1 < finding->n_statuses ? ", " : " or ")
                      : command ? "the command ends with exit code "
                                : "the client gets ");
        if (command && outcome_kind(o) == OUT_EXIT)
            buf_addf(out, "%u", (unsigned)outcome_code(o));
        else
            words_got(o, out);
    }
}

/* What it was like in one run; NULL: nothing that add_then does not say. */
static const char *detail_left(const struct finding *finding)
{
    struct buf status = BUF_INIT(64); /* what add_then says, as a detail begins with it */
    outcome first = finding->n_statuses ? finding->status[0] : 0;
    bool command = outcome_kind(first) == OUT_EXIT;
    const char *detail = finding->detail;
    buf_adds(&status, command ? "exit " : "status ");
    if (command)
        buf_addf(&status, "%u", (unsigned)outcome_code(first));
    else if (first)
        outcome_print(first, &status);
    if (detail && slice_starts(slice_of(detail), buf_slice(&status))) {
        const char *rest = detail + status.n;
        detail = *rest == 0 ? NULL : strncmp(rest, ": ", 2) == 0 ? rest + 2 : detail;
    }
    buf_deinit(&status);
    return detail;
}

/* Do times matter: did something take long, or was something waited for? */
static bool times_matter(const struct remark *r)
{
    int64_t first = INT64_MAX, last = 0;
    for (uint32_t i = 0; i < r->n_evidence; i++) {
        const struct evidence *x = &r->evidence[i];
        if (x->end_ns <= x->start_ns)
            continue; /* not known */
        first = x->start_ns < first ? x->start_ns : first;
        last = x->end_ns > last ? x->end_ns : last;
    }
    return last > first && last - first >= SPAN_TOLD_NS;
}

/* "the retry: checkout > payment POST /charge #1  200"; when, where times matter. */
static void add_evidence(const struct summary *s, const struct remark *r, uint32_t i,
                         struct buf *out)
{
    const struct evidence *x = &r->evidence[i];
    words_add(out, s->names, x->seen ? "%s: %c  %o" : "%s: %c", x->role, x->call, x->seen);
    if (x->mode != MODE_NONE) {
        buf_adds(out, "  <- injected ");
        mode_print(x->mode, out);
    }
    if (x->end_ns > x->start_ns && times_matter(r)) {
        buf_adds(out, "  (from ");
        buf_add_ns(out, x->start_ns / MS(1) * MS(1));
        buf_adds(out, " to ");
        buf_add_ns(out, x->end_ns / MS(1) * MS(1));
        buf_addc(out, ')');
    }
}

/* Was a call made to fail on behalf of this one? */
static bool hit_below(const struct trace *t, uint32_t request)
{
    for (uint32_t i = request; i < t->calls.n; i++) {
        uint32_t above = i;
        while (t->calls.at[i].mode != MODE_NONE && above != CALL_NONE && above > request)
            above = t->calls.at[above].parent;
        if (t->calls.at[i].mode != MODE_NONE && above == request)
            return true;
    }
    return false;
}

static outcome seen_of(const struct trace *t, uid call)
{
    for (uint32_t i = 0; t && i < t->calls.n; i++)
        if (t->calls.at[i].uid == call)
            return t->calls.at[i].seen;
    return 0;
}

/* The text, which is kept and cleared; NULL: there is none. */
static const char *keep(struct card *c, struct buf *text)
{
    const char *out = text->n ? arena_copy(&c->keep, buf_text(text), text->n) : NULL;
    buf_clear(text);
    return out;
}

/* The requests of a command on behalf of which something failed. */
static void find_during(struct card *c)
{
    struct trace_order order = {0};
    struct buf text = BUF_INIT(CARD_TEXT_MAX);
    uint32_t number = 0;
    if (!c->seen || c->seen->calls.n == 0)
        return;
    trace_order(c->seen, c->s->names, &order);
    for (uint32_t i = 0; i < order.first.at[1] && c->n_during < CARD_REQUESTS; i++) {
        const struct call *call = &c->seen->calls.at[order.child.at[i]];
        number += call_is_request(call);
        if (!call_is_request(call) || !hit_below(c->seen, order.child.at[i]))
            continue;
        struct card_request r = {number, call->uid, call->seen, seen_of(c->plain, call->uid), NULL};
        words_add(&text, c->s->names, "%u. %e, which gets ", number, r.call);
        words_got(r.got, &text);
        if (r.usual != r.got)
            words_add(&text, c->s->names, r.usual ? " (%o without faults)" : " (not made without)",
                      r.usual);
        r.text = keep(c, &text);
        c->during[c->n_during++] = r;
    }
    trace_order_deinit(&order);
    buf_deinit(&text);
}

/* id: NULL: none yet. */
static void fill_card(struct card *c, const char *id)
{
    const struct finding *f = c->finding;
    const struct remark *r = c->remark;
    struct finding of_remark = {.faultload = r ? r->faultload : FAULTLOAD_EMPTY};
    const struct finding *as = f ? f : &of_remark;
    struct buf text = BUF_INIT(CARD_TEXT_MAX);
    c->id = id ? arena_copy(&c->keep, id, strlen(id)) : NULL;
    if (f) {
        c->title = f->why;
        c->kind = c->s->ids ? words_kind[f->kind] : NULL;
        c->state = c->s->ids ? words_state[f->state] : NULL;
        add_then(f, &text);
        c->then = keep(c, &text);
        c->detail = f->detail;
        c->rest = detail_left(f);
    } else if (r) {
        c->warning = r->severity == SEVERITY_WARNING;
        buf_addf(&text, "%s: %s", r->oracle, r->why);
        c->title = keep(c, &text);
        for (; c->n_evidence < r->n_evidence; c->n_evidence++) {
            add_evidence(c->s, r, c->n_evidence, &text);
            c->evidence[c->n_evidence] = keep(c, &text);
        }
        buf_addf(&text, "outfox oracles %s", r->oracle);
        c->about = keep(c, &text);
    }
    words_finding(c->s, as, c->plain, c->seen, &text);
    c->when = keep(c, &text);
    find_during(c);
    faultload_print(c->s->names, c->s->faultloads, as->faultload, &text);
    c->faultload = keep(c, &text);
    if (!id)
        words_replay_faultload(c->s, as->faultload, &text);
    else if (f)
        words_replay(c->s, f, &text);
    else
        words_replay_run(c->s, as->faultload, r->number, &text);
    c->replay = keep(c, &text);
    buf_deinit(&text);
}

static const struct trace *read_trace(const struct report_source *source, uint32_t scenario,
                                      faultload f, struct trace *out)
{
    struct run run = {0};
    if (!source->run_of || source->run_of(source->ctx, scenario, f, &run))
        return NULL;
    *out = run.trace;
    return out;
}

static void read_runs(struct card *c, const struct report_source *source, uint32_t scenario,
                      faultload f)
{
    c->plain = read_trace(source, scenario, FAULTLOAD_EMPTY, &c->own[0]);
    c->seen = read_trace(source, scenario, f, &c->own[1]);
}

void card_finding(struct card *c, const struct report_source *source, uint32_t scenario, uint32_t i)
{
    const struct summary *s = source->scenarios[scenario];
    struct buf id = BUF_INIT(CARD_TEXT_MAX);
    *c = (struct card){.s = s, .finding = &s->findings.at[i]};
    read_runs(c, source, scenario, c->finding->faultload);
    words_id(s, i + 1, &id);
    fill_card(c, buf_text(&id));
    buf_deinit(&id);
}

void card_remark(struct card *c, const struct report_source *source, uint32_t scenario, uint32_t i)
{
    const struct summary *s = source->scenarios[scenario];
    *c = (struct card){.s = s, .remark = &s->remarks.at[i]};
    uint64_t number =
        c->remark->severity == SEVERITY_FINDING ? s->findings.n + s->more_findings : 0;
    for (uint32_t k = 0; k <= i; k++)
        number += s->remarks.at[k].severity == c->remark->severity;
    struct buf id = BUF_INIT(CARD_TEXT_MAX);
    if (c->remark->severity == SEVERITY_FINDING)
        words_id(s, number, &id);
    else
        buf_addf(&id, "%llu", (unsigned long long)number);
    read_runs(c, source, scenario, c->remark->faultload);
    fill_card(c, buf_text(&id));
    buf_deinit(&id);
}

void card_news(struct card *c, const struct summary *s, const struct finding *f,
               const struct remark *r, const struct trace *plain, const struct trace *seen)
{
    *c = (struct card){.s = s, .finding = f, .remark = r, .plain = plain, .seen = seen};
    fill_card(c, NULL);
}

void card_deinit(struct card *c)
{
    vec_deinit(&c->own[0].calls);
    vec_deinit(&c->own[1].calls);
    arena_deinit(&c->keep);
}

/* ---- which are shown ---- */

/* How many remarks before it are of the same oracle and severity. */
static uint32_t rank_of(const struct summary *s, uint32_t i)
{
    const struct remark *r = &s->remarks.at[i];
    uint32_t rank = 0;
    for (uint32_t k = 0; k < i; k++)
        rank += s->remarks.at[k].severity == r->severity &&
                strcmp(s->remarks.at[k].oracle, r->oracle) == 0;
    return rank;
}

void remarks_choose(const struct summary *s, enum severity severity, uint32_t most,
                    struct remarks_shown *out)
{
    VEC(uint32_t) rank = {0}, at = {0};
    *out = (struct remarks_shown){0};
    for (uint32_t i = 0; i < s->remarks.n; i++)
        if (s->remarks.at[i].severity == severity) {
            vec_push(&rank, rank_of(s, i));
            vec_push(&at, i);
        }
    /* the rank up to which there is room, and how many of that rank still have it */
    uint32_t limit = 0, room = most < REMARKS_SHOWN_MAX ? most : REMARKS_SHOWN_MAX;
    for (;; limit++) {
        uint32_t here = 0;
        for (uint32_t i = 0; i < rank.n; i++)
            here += rank.at[i] == limit;
        if (here == 0 || here >= room)
            break;
        room -= here;
    }
    for (uint32_t i = 0; i < rank.n; i++) {
        if (rank.at[i] > limit || (rank.at[i] == limit && room == 0))
            continue;
        room -= rank.at[i] == limit;
        out->number[out->n] = i + 1;
        out->at[out->n++] = at.at[i];
    }
    out->left_out = rank.n - out->n + (severity == SEVERITY_WARNING ? s->more_remarks : 0);
    vec_deinit(&rank);
    vec_deinit(&at);
}

/* ---- what all reports say alike ---- */

const char *report_verdict(const struct summary *s)
{
    return conclusion_names[summary_conclusion(s)];
}

const char *report_worst(const struct report_source *source)
{
    enum conclusion worst = source->error ? CONCLUSION_INCONCLUSIVE : CONCLUSION_OK;
    for (uint32_t i = 0; i < source->n; i++) {
        enum conclusion one = summary_conclusion(source->scenarios[i]);
        worst = one > worst ? one : worst;
    }
    return conclusion_names[worst];
}

double report_rate(const struct summary *s)
{
    return s->took_ns > 0 ? (double)(s->runs + s->repeats) / ((double)s->took_ns / 1e9) : 0;
}
