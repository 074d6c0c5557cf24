/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/tally.h"

#include "findings/failures.h"

struct tally {
    struct search *search;
    struct faultloads *fl;
    struct summary *out;
    struct failures *failures;
    uint64_t by_itself; /* runs that failed although no fault had fired */
};

struct tally *tally_new(struct search *search, const struct names *names, struct faultloads *fl,
                        struct summary *out)
{
    struct tally *t = mem_zero(sizeof *t);
    t->search = search;
    t->fl = fl;
    t->out = out;
    t->failures = failures_new(names, fl);
    return t;
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    failures_free(t->failures);
    mem_free(t);
}

bool tally_is_new(const struct tally *t, const struct run *run)
{
    return failures_is_new(t->failures, run);
}

uint64_t tally_findings(const struct tally *t)
{
    return failures_count(t->failures);
}

void tally_run(struct tally *t, const struct run *run)
{
    uint32_t n;
    const struct search_run *r = &search_runs(t->search, &n)[n - 1];
    bool baseline_repeat = r->purpose == FOR_BASELINE && t->out->runs_by_size.n > 0;
    if (r->fired && !baseline_repeat && r->purpose != FOR_AUDIT) {
        uint32_t size = faultload_size(t->fl, r->faultload);
        while (t->out->runs_by_size.n <= size)
            vec_push(&t->out->runs_by_size, 0);
        t->out->runs_by_size.at[size]++;
        summary_count(t->out, run->verdict.status, run->verdict.pass);
    }
    failures_learn(t->failures, &run->trace);
    if (run->verdict.pass)
        return;
    if (r->happened == FAULTLOAD_EMPTY && r->purpose != FOR_BASELINE)
        t->by_itself++; /* there is nothing to blame, nor to replay */
    else
        t->out->failed_runs++;
    if (r->happened != FAULTLOAD_EMPTY)
        failures_add(t->failures, run, r->happened, n - 1);
}

void tally_smaller(struct tally *t, const struct run *run)
{
    uint32_t fired = 0;
    for (uint32_t i = 0; i < run->trace.calls.n; i++)
        fired += run->trace.calls.at[i].mode != MODE_NONE;
    if (!run->verdict.pass && fired >= faultload_size(t->fl, run->faultload))
        failures_add(t->failures, run, run->faultload, 0);
}

/* ---- the end ---- */

static const struct {
    enum policy policy;
    const char *name, *why;
} policy_rows[] = {
    {POLICY_DOWNSTREAM, "downstream", "a fault below a call that fails itself cannot happen"},
    {POLICY_EXCLUSION, "exclusion", "the other faults keep the call from being made"},
    {POLICY_INCLUSION, "inclusion", "the call is only made after a failure that is not there"},
    {POLICY_UNREACHABLE, "unreachability", "the caller itself is not reached"},
    {POLICY_ENCAPSULATION, "encapsulation",
     "every service has met these outcomes, by the same faults or by errors passed up"},
};

static void add_skip(struct summary *out, const char *name, const char *why, double n)
{
    if (n > 0)
        vec_push(&out->skipped, (struct summary_skip){name, why, n});
}

void tally_sort(struct tally *t)
{
    failures_sort(t->failures, t->out);
}

void tally_finish(struct tally *t)
{
    struct summary *out = t->out;
    struct search_stats stats;
    struct search_space space;
    search_stats(t->search, &stats);
    search_space(t->search, &space);
    out->points = stats.points;
    out->conditional = stats.conditional;
    out->space = space.space;
    out->runs = stats.runs;
    out->repeats = stats.repeats;
    out->audited = stats.audited;
    out->transcripts = stats.transcripts;
    out->queued = stats.queued;
    out->elsewhere = stats.elsewhere;
    if (stats.complete)
        out->stopped = NULL; /* the budget ended just with the search */
    out->suspects = search_suspects(t->search, &out->n_suspects, &out->all_suspects);
    reasons_find(out->names, out->suspects, out->n_suspects, &out->reasons);
    out->skipped_known = space.known;
    out->skipped_estimated = space.estimated;
    for (size_t i = 0; i < sizeof policy_rows / sizeof *policy_rows && space.known; i++)
        add_skip(out, policy_rows[i].name, policy_rows[i].why, space.saved[policy_rows[i].policy]);
    if (!space.known)
        add_skip(out, "encapsulation", "seen in another run before its turn came",
                 (double)stats.dropped);
    for (enum reduction r = 0; r < REDUCTIONS; r++)
        add_skip(out, reduction_rows[r].name, reduction_rows[r].assumption,
                 (double)stats.skipped[r]);
    if (t->by_itself && !out->doubt)
        out->doubt = "the scenario also fails when no fault has fired";
    failures_sort(t->failures, out);
}

bool tally_exhaustive(const struct tally *t)
{
    struct search_stats stats;
    uint32_t n;
    uint64_t suspects, left = 0;
    search_stats(t->search, &stats);
    (void)search_suspects(t->search, &n, &suspects);
    for (enum reduction r = 0; r < REDUCTIONS; r++)
        left += stats.skipped[r];
    return stats.complete && !t->out->stopped && !t->out->broken && !suspects && !left &&
           !stats.elsewhere && !t->by_itself;
}
