/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings made small and sure. Of each, faults are left out one by one, as long as it fails in the
 * same way; what is left is run once more. If it does not fail again it is called flaky, and kept.
 */
#include "base/hash.h"
#include "campaign/campaign_int.h"

enum {
    SHRINK_RUNS_MAX = 64,
    SHRINK_SOON_MAX = 8,
    ROUNDS_MAX = 3,
    DOUBTS_MAX = 6,
    DOUBT_ROUNDS = 2
};

/* The result of a faultload: known, or by a run. 0, 1: interrupted, -1, STATUS_NONE without a live
 * system to ask. */
static int result_of(struct campaign *c, faultload f, enum run_purpose purpose, const char **why,
                     struct err *e)
{
    struct known *k = campaign_known(c, f);
    if (k && purpose == RUN_SHRINK) {
        *why = k->why;
        return 0;
    }
    struct run run = {0};
    if (!c->target)
        return STATUS_NONE;
    int status = campaign_heal(c, false, e);
    if (status == 0)
        status = campaign_run_alone(c, f, purpose, &run, e);
    if (status)
        return status;
    *why = run.verdict.pass ? NULL : run.verdict.why;
    status = campaign_observe(c, &run, e);
    vec_deinit(&run.trace.calls);
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
        campaign_find_log(c, f);
    }
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

/* Those that were not run once more, each with its smallest faultload. *left: there were some. */
static int confirm_findings(struct campaign *c, bool *left, struct err *e)
{
    int status = 0;
    *left = false;
    for (uint32_t i = 0; i < c->summary.findings.n && status == 0; i++) {
        const struct finding *f = &c->summary.findings.at[i];
        if (f->kind == FINDING_BLAST || f->state != FINDING_SEEN)
            continue;
        *left = true;
        status = campaign_is_over(c) ? 1 : shrink_and_confirm(c, f, SHRINK_RUNS_MAX, e);
    }
    return status;
}

int campaign_confirm(struct campaign *c, struct err *e)
{
    bool left = true;
    int status = 0;
    (void)campaign_finish(c);
    for (uint32_t round = 0; round < ROUNDS_MAX && left && status == 0; round++) {
        status = confirm_findings(c, &left, e);
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
        c->remarks_told++;
        if (map_count(&c->told, hash_slice(slice_of(r->why))) == 1)
            campaign_send(c, event_of_remark(r, STAGE_TOLD));
    }
}
