/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/explore.h"

#include "base/clock.h"

enum { FINDINGS_MAX = 200, LOOK_EVERY = 64 }; /* runs between looks at the clock */

/* A failed run, to be sorted into findings at the end. */
struct failure {
    faultload faultload;
    const char *why;
    outcome status;
    uint32_t number; /* of the run */
};

struct exploration {
    struct search *search;
    struct faultloads *fl;
    struct summary *out;
    VEC(struct failure) failures;
};

static void count_outcome(struct summary *out, const struct verdict *v)
{
    for (uint32_t i = 0; i < out->outcomes.n; i++) {
        struct summary_outcome *o = &out->outcomes.at[i];
        if (o->status == v->status && o->pass == v->pass) {
            o->runs++;
            return;
        }
    }
    vec_push(&out->outcomes, (struct summary_outcome){v->status, v->pass, 1});
}

/* What the newest run of the search adds to the summary. */
static void count_run(struct exploration *x, const struct verdict *verdict)
{
    uint32_t n;
    const struct search_run *run = &search_runs(x->search, &n)[n - 1];
    bool baseline_repeat = run->purpose == FOR_BASELINE && x->out->runs_by_size.n > 0;
    if (run->fired && !baseline_repeat && run->purpose != FOR_AUDIT) {
        uint32_t size = faultload_size(x->fl, run->faultload);
        while (x->out->runs_by_size.n <= size)
            vec_push(&x->out->runs_by_size, 0);
        x->out->runs_by_size.at[size]++;
        count_outcome(x->out, verdict);
    }
    if (!verdict->pass) {
        vec_push(&x->failures,
                 (struct failure){run->happened, verdict->why, verdict->status, n - 1});
        x->out->failed_runs++;
    }
}

/* ---- findings ---- */

static bool same_points(const struct faultloads *fl, faultload a, faultload b)
{
    if (faultload_size(fl, a) != faultload_size(fl, b))
        return false;
    for (; a != FAULTLOAD_EMPTY; a = fl->rows.at[a].rest)
        if (faultload_at(fl, b, fl->rows.at[a].last.point) == MODE_NONE)
            return false;
    return true;
}

/* Is this failure one that a finding already explains? */
static bool explained(const struct exploration *x, struct finding *finding, const struct failure *f)
{
    if (strcmp(finding->why, f->why) != 0)
        return false;
    bool within = faultload_within(x->fl, finding->faultload, f->faultload);
    for (uint32_t i = 0; i < finding->alike.n && !within; i++)
        within = faultload_within(x->fl, finding->alike.at[i], f->faultload);
    if (!within && same_points(x->fl, finding->faultload, f->faultload)) {
        vec_push(&finding->alike, f->faultload);
        within = true;
    }
    finding->runs += within;
    return within;
}

static void sort_failure(struct exploration *x, const struct failure *f)
{
    for (uint32_t i = 0; i < x->out->findings.n; i++)
        if (explained(x, &x->out->findings.at[i], f))
            return;
    if (x->out->findings.n == FINDINGS_MAX) {
        x->out->more_findings++;
        return;
    }
    vec_push(&x->out->findings, (struct finding){.faultload = f->faultload,
                                                 .why = f->why,
                                                 .status = f->status,
                                                 .number = f->number,
                                                 .runs = 1});
}

/* Small faultloads first: a larger one is only news when none within it failed the same way. */
static void sort_failures(struct exploration *x)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < x->failures.n; i++)
        if (faultload_size(x->fl, x->failures.at[i].faultload) > largest)
            largest = faultload_size(x->fl, x->failures.at[i].faultload);
    for (uint32_t size = 0; size <= largest; size++)
        for (uint32_t i = 0; i < x->failures.n; i++)
            if (faultload_size(x->fl, x->failures.at[i].faultload) == size)
                sort_failure(x, &x->failures.at[i]);
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
     "every handler has met these outcomes, by the same faults or by errors passed up"},
};

static void add_skip(struct summary *out, const char *name, const char *why, double n)
{
    if (n > 0)
        vec_push(&out->skipped, (struct summary_skip){name, why, n});
}

static void summarise(struct exploration *x)
{
    struct summary *out = x->out;
    struct search_stats stats;
    struct search_space space;
    search_stats(x->search, &stats);
    search_space(x->search, &space);
    out->points = stats.points;
    out->conditional = stats.conditional;
    out->space = space.space;
    out->runs = stats.runs;
    out->repeats = stats.repeats;
    out->audited = stats.audited;
    out->edges = stats.edges;
    out->transcripts = stats.transcripts;
    out->queued = stats.queued;
    if (stats.complete)
        out->stopped = NULL; /* the budget ended just with the search */
    out->suspects = search_suspects(x->search, &out->n_suspects, &out->all_suspects);
    out->skipped_estimated = space.estimated;
    for (size_t i = 0; i < sizeof policy_rows / sizeof *policy_rows && space.known; i++)
        add_skip(out, policy_rows[i].name, policy_rows[i].why, space.saved[policy_rows[i].policy]);
    if (!space.known)
        add_skip(out, "encapsulation", "seen in another run before its turn came",
                 (double)stats.dropped);
    for (enum reduction r = 0; r < REDUCTIONS; r++)
        add_skip(out, reduction_rows[r].name, reduction_rows[r].assumption,
                 (double)stats.skipped[r]);
    sort_failures(x);
}

/* Which budget is used up, if any. */
static const char *used_up(const struct explore_budget *budget, uint64_t number, int64_t start_ns)
{
    if (budget->interrupted && *budget->interrupted)
        return "patience (it was interrupted)";
    if (budget->max_runs && number >= budget->max_runs)
        return "runs";
    bool look = number % LOOK_EVERY == 0;
    if (look && budget->max_time_ns && clock_ns() - start_ns >= budget->max_time_ns)
        return "time";
    return NULL;
}

static void show(const struct exploration *x, const struct explore_progress *progress)
{
    struct search_stats stats;
    search_stats(x->search, &stats);
    progress->show(progress->ctx, stats.runs, stats.queued, x->out->failed_runs);
}

int explore(struct search *search, struct names *names, struct faultloads *faultloads,
            const struct runner *runner, const struct explore_budget *budget,
            const struct explore_progress *progress, struct summary *out, struct err *e)
{
    struct exploration x = {.search = search, .fl = faultloads, .out = out};
    struct trace trace = {0};
    struct verdict verdict;
    int64_t start_ns = clock_ns();
    int status = 0;
    faultload f;
    out->names = names;
    out->faultloads = faultloads;
    for (uint64_t number = 0; !out->broken; number++) {
        if (progress && number % LOOK_EVERY == 0)
            show(&x, progress);
        out->stopped = used_up(budget, number, start_ns);
        if (out->stopped || !search_next(search, &f))
            break;
        status = runner->run(runner->ctx, f, number, &trace, &verdict, e);
        if (status)
            break;
        search_observe(search, &trace, &verdict);
        count_run(&x, &verdict);
        if (f == FAULTLOAD_EMPTY && !verdict.pass)
            out->broken = verdict.why;
    }
    summarise(&x);
    out->elapsed_ns = clock_ns() - start_ns;
    vec_deinit(&trace.calls);
    vec_deinit(&x.failures);
    return status;
}
