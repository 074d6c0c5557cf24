/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/explore.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/index.h"

enum {
    FINDINGS_MAX = 200,
    ALIKE_MAX = 256,
    SHOW_EVERY = 64
}; /* runs between reports of progress */

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
    struct map failed;     /* keys of the failures that were sorted */
    struct map finding_at; /* why and points -> finding */
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

static uint64_t fault_key(struct fault fault)
{
    return hash_mix(fault.point, fault.mode);
}

/* Keys of a failure: with its modes, and without them. */
static uint64_t failure_key(const struct exploration *x, const struct failure *f, bool modes)
{
    uint64_t key = hash_slice(slice_of(f->why)) + modes;
    for (faultload at = f->faultload; at != FAULTLOAD_EMPTY; at = x->fl->rows.at[at].rest) {
        struct fault fault = x->fl->rows.at[at].last;
        fault.mode = modes ? fault.mode : MODE_NONE;
        key += fault_key(fault);
    }
    return key;
}

/* Does f have, besides others, faults at the points of this finding that fail in the same way on
 * their own? */
static bool includes(const struct exploration *x, const struct finding *finding,
                     const struct failure *f)
{
    uint64_t key = hash_slice(slice_of(f->why)) + 1;
    if (strcmp(finding->why, f->why) != 0)
        return false;
    for (faultload at = finding->faultload; at != FAULTLOAD_EMPTY; at = x->fl->rows.at[at].rest) {
        uid point = x->fl->rows.at[at].last.point;
        mode m = faultload_at(x->fl, f->faultload, point);
        if (m == MODE_NONE)
            return false;
        key += fault_key((struct fault){point, m});
    }
    return map_get(&x->failed, key);
}

static void add_status(struct finding *finding, outcome status)
{
    for (uint32_t i = 0; i < finding->n_statuses; i++)
        if (finding->status[i] == status)
            return;
    if (finding->n_statuses < FINDING_STATUSES)
        finding->status[finding->n_statuses++] = status;
}

/* The finding that a failure belongs to: one at the same points, or a smaller one within it. */
static struct finding *finding_of(struct exploration *x, const struct failure *f)
{
    const uint32_t *same = map_get(&x->finding_at, failure_key(x, f, false));
    if (same)
        return &x->out->findings.at[*same];
    for (uint32_t i = 0; i < x->out->findings.n; i++)
        if (includes(x, &x->out->findings.at[i], f))
            return &x->out->findings.at[i];
    return NULL;
}

static void sort_failure(struct exploration *x, const struct failure *f)
{
    struct finding *finding = finding_of(x, f);
    bool again = map_count(&x->failed, failure_key(x, f, true)) > 1;
    if (!finding && x->out->findings.n == FINDINGS_MAX) {
        x->out->more_findings++;
        return;
    }
    if (!finding) {
        map_set(&x->finding_at, failure_key(x, f, false), x->out->findings.n);
        vec_push(&x->out->findings,
                 (struct finding){.faultload = f->faultload, .why = f->why, .number = f->number});
        finding = &vec_last(&x->out->findings);
    } else if (!again &&
               faultload_size(x->fl, f->faultload) == faultload_size(x->fl, finding->faultload)) {
        finding->n_alike++;
        if (finding->alike.n < ALIKE_MAX)
            vec_push(&finding->alike, f->faultload);
    }
    add_status(finding, f->status);
    finding->runs += !again;
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
    map_deinit(&x->failed);
    map_deinit(&x->finding_at);
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
        return "interrupt";
    if (budget->max_runs && number >= budget->max_runs)
        return "runs";
    if (budget->max_time_ns && clock_ns() - start_ns >= budget->max_time_ns)
        return "time";
    return NULL;
}

static void show(const struct exploration *x, const struct explore_progress *progress)
{
    struct search_stats stats;
    search_stats(x->search, &stats);
    progress->show(progress->ctx, stats.runs, stats.queued, x->out->failed_runs);
}

/* Says under which faultload a run was impossible. */
static void name_faultload(const struct exploration *x, const struct names *names, faultload f,
                           struct err *e)
{
    struct buf text = BUF_INIT(sizeof e->text - 1);
    buf_addf(&text, "%s, under: ", e->text);
    faultload_print(names, x->fl, f, &text);
    memcpy(e->text, buf_text(&text), text.n + 1);
    buf_deinit(&text);
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
        if (progress && number % SHOW_EVERY == 0)
            show(&x, progress);
        out->stopped = used_up(budget, number, start_ns);
        if (out->stopped || !search_next(search, &f))
            break;
        status = runner->run(runner->ctx, f, number, &trace, &verdict, e);
        if (status) {
            out->stopped = "error";
            name_faultload(&x, names, f, e);
            break;
        }
        search_observe(search, f, &trace, &verdict);
        count_run(&x, &verdict);
        if (f == FAULTLOAD_EMPTY && !verdict.pass)
            out->broken = verdict.why;
    }
    summarise(&x);
    vec_deinit(&trace.calls);
    vec_deinit(&x.failures);
    return status;
}
