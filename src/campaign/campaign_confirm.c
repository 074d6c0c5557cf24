/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings made small and sure. Of each, faults are left out one by one, as long as it fails in the
 * same way; what is left is run once more. If it does not fail again it is called flaky, and kept.
 */
#include "base/clock.h"
#include "campaign/campaign_int.h"

enum { SHRINK_RUNS_MAX = 64, DOUBTS_MAX = 6, DOUBT_ROUNDS = 2 }; /* the first per finding */
static const int64_t CONFIRM_NS = 5000000000;

enum { NOT_KNOWN = 2 };

/* The result of a faultload: known, or by a run. 0, 1: interrupted, -1, NOT_KNOWN without a live
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
    if (!c->live)
        return NOT_KNOWN;
    campaign_show(c, "confirming");
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

static int shrink(struct campaign *c, struct finding *f, struct err *e)
{
    struct faultloads *fl = c->opt.faultloads;
    uint32_t runs = 0, i = 0;
    while (i < faultload_size(fl, f->faultload) && runs < SHRINK_RUNS_MAX) {
        faultload smaller = without(fl, f->faultload, i);
        const char *why = NULL;
        if (smaller == FAULTLOAD_EMPTY)
            break;
        runs += campaign_known(c, smaller) == NULL;
        int status = result_of(c, smaller, RUN_SHRINK, &why, e);
        if (status)
            return status;
        if (same_reason(why, f->why)) {
            f->faultload = smaller;
            f->shrunk = true;
            i = 0;
        } else {
            i++;
        }
    }
    return 0;
}

static int confirm(struct campaign *c, struct finding *f, struct err *e)
{
    const struct known *k = campaign_known(c, f->faultload);
    if (k && k->tried) {
        f->state = same_reason(k->again, f->why) ? FINDING_CONFIRMED : FINDING_FLAKY;
        return 0;
    }
    const char *why = NULL;
    int status = result_of(c, f->faultload, RUN_CONFIRM, &why, e);
    if (status == 0)
        f->state = same_reason(why, f->why) ? FINDING_CONFIRMED : FINDING_FLAKY;
    return status;
}

static int shrink_and_confirm(struct campaign *c, struct finding *f, struct err *e)
{
    if (f->kind == FINDING_BLAST || f->faultload == FAULTLOAD_EMPTY)
        return 0;
    int status = shrink(c, f, e);
    return status ? status : confirm(c, f, e);
}

static bool same_points(const struct faultloads *fl, faultload a, faultload b)
{
    if (faultload_size(fl, a) != faultload_size(fl, b))
        return false;
    for (; a != FAULTLOAD_EMPTY; a = fl->rows.at[a].rest)
        if (faultload_at(fl, b, fl->rows.at[a].last.point) == MODE_NONE)
            return false;
    return true;
}

/* One is the same as another, in other modes. */
static void join(struct faultloads *fl, struct finding *a, const struct finding *b)
{
    a->runs += b->runs;
    if (!faultload_eq(fl, a->faultload, b->faultload)) {
        vec_push(&a->alike, b->faultload);
        a->n_alike++;
    }
    for (uint32_t i = 0; i < b->alike.n; i++)
        if (same_points(fl, b->alike.at[i], a->faultload)) {
            vec_push(&a->alike, b->alike.at[i]);
            a->n_alike++;
        }
}

/* Findings that were shrunk to the same points are one. */
static void merge_equal(struct campaign *c)
{
    struct faultloads *fl = c->opt.faultloads;
    for (uint32_t i = 0; i < c->summary.findings.n; i++)
        for (uint32_t k = c->summary.findings.n; k-- > i + 1;) {
            struct finding *a = &c->summary.findings.at[i], *b = &c->summary.findings.at[k];
            if (a->kind != b->kind || !same_reason(a->why, b->why) ||
                !same_points(fl, a->faultload, b->faultload))
                continue;
            join(fl, a, b);
            vec_deinit(&b->alike);
            memmove(b, b + 1, (c->summary.findings.n - k - 1) * sizeof *b);
            c->summary.findings.n--;
        }
}

void campaign_settle_known(struct campaign *c)
{
    struct live *live = c->live;
    struct err ignored = {0};
    c->live = NULL;
    for (uint32_t i = 0; i < c->summary.findings.n; i++)
        (void)shrink_and_confirm(c, &c->summary.findings.at[i], &ignored);
    merge_equal(c);
    c->live = live;
}

/* A budget of time is for exploring; to make sure of the findings it may be passed a little. */
static bool too_late(const struct campaign *c)
{
    int64_t most = c->opt.max_time_ns;
    return most && clock_ns() - c->start_ns > most + most / 10 + CONFIRM_NS;
}

/* What an oracle says of times is run again, too, unless it is a finding's faultload and has been.
 */
static int repeat_doubtful(struct campaign *c, struct err *e)
{
    for (uint32_t round = 0; round < DOUBT_ROUNDS && c->judge; round++) {
        faultload doubts[DOUBTS_MAX];
        uint32_t n = judge_doubts(c->judge, doubts, DOUBTS_MAX);
        for (uint32_t i = 0; i < n && !too_late(c); i++) {
            const char *why;
            const struct known *k = campaign_known(c, doubts[i]);
            if (k && k->why)
                continue;
            int status = live_signal(c->live) ? 1 : result_of(c, doubts[i], RUN_CONFIRM, &why, e);
            if (status)
                return status;
        }
    }
    return 0;
}

int campaign_confirm(struct campaign *c, struct live *live, struct err *e)
{
    c->live = live;
    (void)campaign_finish(c);
    int status = 0;
    for (uint32_t i = 0; i < c->summary.findings.n && status == 0 && !too_late(c); i++)
        status = live_signal(live) ? 1 : shrink_and_confirm(c, &c->summary.findings.at[i], e);
    merge_equal(c);
    if (status == 0)
        status = repeat_doubtful(c, e);
    campaign_conclude(c);
    campaign_abandon(c);
    if (status == 0)
        status = campaign_heal(c, false, e);
    c->live = NULL;
    if (campaign_keep_findings(c, e) || campaign_contract_keep(c, e))
        return -1;
    if (status == 0 && search_done(c->search))
        status = campaign_keep_end(c, e);
    return status < 0 ? -1 : 0;
}
