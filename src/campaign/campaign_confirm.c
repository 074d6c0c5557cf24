/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings made small and sure. Of each, faults are left out one by one, as long as it fails in the
 * same way; what is left is run once more. If it does not fail again it is called flaky, and kept.
 *
 * With it what the service that went wrong has written meanwhile. Only runs that confirm a finding are
 * looked at, and those without faults at the beginning: they are made alone, so what was written while
 * one lasted was written of it, or of nobody. */
#include <stdio.h>

#include "base/hash.h"
#include "campaign/campaign_int.h"
#include "report/escape.h"

enum {
    SHRINK_RUNS_MAX = 64,
    SHRINK_SOON_MAX = 8,
    ROUNDS_MAX = 3,
    DOUBTS_MAX = 6,
    DOUBT_ROUNDS = 2,
    LOG_NAME = 24,
    LOG_LINES_MOST = 10,
    LOG_LINE_MOST = 300,
};

/* ---- what services wrote ---- */

/* No answer at all, or one that says: server error. */
static bool went_wrong(const struct call *c)
{
    return c->mode == MODE_NONE && (outcome_error(c->seen) || outcome_kind(c->seen) > OUT_GRPC);
}

/* The service that was the first to answer wrongly, although nothing was injected at it. */
static slice culprit(const struct campaign *c, const struct run *run)
{
    const struct call *first = &run->trace.calls.at[0];
    for (uint32_t i = 1; i < run->trace.calls.n; i++) {
        const struct call *call = &run->trace.calls.at[i];
        bool sooner = !went_wrong(first) || call->end_ns < first->end_ns;
        if (went_wrong(call) && call->handled && sooner)
            first = call;
    }
    return names_text(c->opt.names, uid_element(c->opt.names, first->uid)->service);
}

/* "log " and the faultload as a number: the name of the fact in the store. */
static slice log_name(const struct campaign *c, faultload f, char name[LOG_NAME])
{
    struct buf text = BUF_INIT(1 << 20);
    faultload_print(c->opt.names, c->opt.faultloads, f, &text);
    (void)snprintf(name, LOG_NAME, "log %016llx", (unsigned long long)hash_slice(buf_slice(&text)));
    buf_deinit(&text);
    return slice_of(name);
}

/* The service, and its lines, harmless and short. */
int campaign_keep_log(struct campaign *c, const struct run *run, struct err *e)
{
    struct buf lines = BUF_INIT(1 << 14), text = BUF_INIT(1 << 14);
    char name[LOG_NAME];
    int failed = 0;
    if (!c->opt.store || run->verdict.pass || run->trace.calls.n == 0)
        return 0;
    slice service = culprit(c, run), rest, line;
    c->target->log_since(c->target->live, service, LOG_LINES_MOST, &lines);
    rest = buf_slice(&lines);
    if (rest.n) {
        buf_add(&text, service);
        while (slice_cut(&rest, '\n', &line)) {
            buf_addc(&text, '\n');
            escape_line((slice){line.p, line.n < LOG_LINE_MOST ? line.n : LOG_LINE_MOST}, &text);
        }
        failed =
            store_set(c->opt.store, c->id, log_name(c, run->faultload, name), buf_slice(&text), e);
    }
    buf_deinit(&lines);
    buf_deinit(&text);
    return failed;
}

static struct log_end kept_log(struct campaign *c, faultload f)
{
    struct err ignored = {0};
    char name[LOG_NAME];
    slice text = {0}, service;
    if (!c->opt.store ||
        store_get(c->opt.store, c->id, log_name(c, f, name), &c->keep, &text, &ignored) ||
        !text.p || !slice_cut(&text, '\n', &service) || !text.n)
        return (struct log_end){0};
    return (struct log_end){slice_copy(&c->keep, service).p, slice_copy(&c->keep, text).p};
}

/* ---- small and sure ---- */

/* The result of a faultload: known, or by a run. 0, 1: interrupted, -1. */
static int result_of(struct campaign *c, faultload f, enum run_purpose purpose, const char **why,
                     struct err *e)
{
    struct known *k = campaign_known(c, f);
    if (k && purpose == RUN_SHRINK) {
        *why = k->why;
        return 0;
    }
    struct run run;
    int status = campaign_try(c, f, purpose, &run, e);
    *why = run.verdict.pass ? NULL : run.verdict.why;
    return status;
}

static faultload without(struct faultloads *fl, faultload f, uint32_t skip)
{
    struct fault faults[64];
    uint32_t n = 0, at = 0;
    faultload out = FAULTLOAD_EMPTY;
    for (; f != FAULTLOAD_EMPTY && n < 64; f = fl->rows.at[f].rest)
        faults[n++] = fl->rows.at[f].last;
    for (; n > 0; n--, at++)
        if (at != skip)
            out = faultload_extend(fl, out, faults[n - 1]);
    return out;
}

static bool same_reason(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Leaves out what is not needed for it, fault by fault, with so many runs at most. */
static int shrink(struct campaign *c, faultload *f, const char *wanted, uint32_t most,
                  struct err *e)
{
    struct faultloads *fl = c->opt.faultloads;
    uint32_t runs = 0, i = 0;
    while (i < faultload_size(fl, *f)) {
        faultload smaller = without(fl, *f, i);
        const char *why = NULL;
        bool known = campaign_known(c, smaller) != NULL;
        if (smaller == FAULTLOAD_EMPTY)
            break;
        runs += !known;
        int status = known || runs <= most ? result_of(c, smaller, RUN_SHRINK, &why, e) : 0;
        if (status)
            return status;
        if (same_reason(why, wanted)) {
            *f = smaller;
            i = 0;
        } else {
            i++;
        }
    }
    return 0;
}

static int shrink_and_confirm(struct campaign *c, const struct finding *finding, uint32_t most,
                              struct err *e)
{
    faultload f = finding->faultload; /* findings are sorted anew meanwhile */
    const char *why;
    int status = shrink(c, &f, finding->why, most, e);
    const struct known *k = campaign_known(c, f);
    if (status || (k && k->tried))
        return status;
    return result_of(c, f, RUN_CONFIRM, &why, e);
}

void campaign_settle(struct campaign *c)
{
    for (uint32_t i = 0; i < c->summary.findings.n; i++) {
        struct finding *f = &c->summary.findings.at[i];
        const struct known *k = campaign_known(c, f->faultload);
        if (f->kind != FINDING_BLAST && k && k->tried)
            f->state = same_reason(k->again, f->why) ? FINDING_CONFIRMED : FINDING_FLAKY;
        f->log = kept_log(c, f->faultload);
    }
    if (c->summary.broken)
        c->summary.broken_log = kept_log(c, FAULTLOAD_EMPTY);
}

/* What an oracle says of times is run again, too, unless it is a finding's faultload and has been.
 */
static int repeat_doubtful(struct campaign *c, struct err *e)
{
    for (uint32_t round = 0; round < DOUBT_ROUNDS && c->judge; round++) {
        faultload doubts[DOUBTS_MAX];
        uint32_t n = judge_doubts(c->judge, doubts, DOUBTS_MAX);
        for (uint32_t i = 0; i < n; i++) {
            const char *why;
            const struct known *k = campaign_known(c, doubts[i]);
            if (k && k->why)
                continue;
            int status = campaign_is_over(c) ? 1 : result_of(c, doubts[i], RUN_CONFIRM, &why, e);
            if (status)
                return status;
        }
    }
    return 0;
}

int campaign_confirm(struct campaign *c, struct err *e)
{
    bool left = true;
    int status = 0;
    (void)campaign_finish(c);
    for (uint32_t round = 0; round < ROUNDS_MAX && left && status == 0; round++) {
        left = false; /* those that were not run once more, each with its smallest faultload */
        for (uint32_t i = 0; i < c->summary.findings.n && status == 0; i++) {
            const struct finding *f = &c->summary.findings.at[i];
            if (f->kind == FINDING_BLAST || f->state != FINDING_SEEN)
                continue;
            left = true;
            status = campaign_is_over(c) ? 1 : shrink_and_confirm(c, f, SHRINK_RUNS_MAX, e);
        }
        campaign_sort(c); /* smaller ones may have joined some */
    }
    if (status == 0)
        status = repeat_doubtful(c, e);
    campaign_conclude(c);
    campaign_abandon(c);
    if (status == 0)
        status = campaign_heal(c, false, e);
    if (campaign_keep_findings(c, e) || campaign_contract_keep(c, e))
        return -1;
    if (status == 0 && search_done(c->search))
        status = campaign_keep_end(c, e);
    return status < 0 ? -1 : 0;
}

/* ---- as they come ---- */

static uint64_t finding_key(const struct finding *f)
{
    uint64_t key = hash_slice(slice_of(f->why));
    for (uint32_t i = 0; i < f->calls.n; i++)
        key += f->calls.at[i].key;
    return f->kind == FINDING_BLAST ? hash_mix(key, f->faultload) : key;
}

static void send_finding(struct campaign *c, const struct finding *f, enum event_stage stage)
{
    struct event event = event_of_finding(f, stage);
    event.key = finding_key(f);
    campaign_send(c, event);
}

int campaign_announce(struct campaign *c, struct err *e)
{
    int status = 0;
    campaign_sort(c);
    for (uint32_t i = 0; i < c->summary.findings.n && status == 0; i++) {
        const struct finding *f = &c->summary.findings.at[i];
        if (map_get(&c->told, finding_key(f)))
            continue;
        send_finding(c, f, STAGE_FOUND);
        if (f->kind != FINDING_BLAST && f->state == FINDING_SEEN)
            status = shrink_and_confirm(c, f, f->kind == FINDING_HANG ? 0 : SHRINK_SOON_MAX, e);
    }
    campaign_sort(c);
    for (uint32_t i = 0; i < c->summary.findings.n; i++)
        if (map_count(&c->told, finding_key(&c->summary.findings.at[i])) == 1)
            send_finding(c, &c->summary.findings.at[i], STAGE_TOLD);
    return status;
}

void campaign_announce_remarks(struct campaign *c)
{
    bool sorted = false;
    for (const struct remark *r; c->judge && (r = judge_news(c->judge));) {
        if (!sorted)
            campaign_sort(c);
        sorted = true;
        if (judge_weigh(c->judge, r, &c->summary) != SEVERITY_FINDING)
            continue;
        c->remarks_told[oracle_find(slice_of(r->oracle))]++;
        if (map_count(&c->told, hash_slice(slice_of(r->why))) == 1)
            campaign_send(c, event_of_remark(r, STAGE_TOLD));
    }
}
