/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/tally.h"

#include "base/hash.h"
#include "base/index.h"

enum {
    ALIKE_MAX = 256,
};

/* A failed run, to be sorted into findings at the end. */
struct failure {
    faultload faultload;
    const char *why;
    outcome status;
    uint32_t number; /* of the run */
    enum finding_kind kind;
    const char *detail;
};

struct tally {
    struct search *search;
    struct faultloads *fl;
    struct summary *out;
    VEC(struct failure) failures;
    struct map failed;     /* keys of the failures that were sorted */
    struct map finding_at; /* why and points -> finding */
    struct map started;    /* why and points of failures, as they come */
    uint64_t n_started;
    uint64_t by_itself; /* runs that failed although no fault had fired */
    struct arena keep;  /* details */
};

struct tally *tally_new(struct search *search, struct faultloads *fl, struct summary *out)
{
    struct tally *t = mem_zero(sizeof *t);
    t->search = search;
    t->fl = fl;
    t->out = out;
    return t;
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    vec_deinit(&t->failures);
    map_deinit(&t->failed);
    map_deinit(&t->finding_at);
    map_deinit(&t->started);
    arena_deinit(&t->keep);
    mem_free(t);
}

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

/* ---- findings ---- */

static uint64_t fault_key(struct fault fault)
{
    return hash_mix(fault.point, fault.mode);
}

/* ---- as runs come ---- */

/* Why, and where the faults are, whatever their modes. */
static uint64_t start_key(const char *why, uint64_t points)
{
    return hash_slice(slice_of(why)) + points;
}

static uint64_t point_key(const struct call *c)
{
    return fault_key((struct fault){c->fault_point, MODE_NONE});
}

static uint64_t points_key(const struct trace *trace)
{
    uint64_t points = 0;
    for (uint32_t i = 0; i < trace->calls.n; i++)
        if (trace->calls.at[i].mode != MODE_NONE)
            points += point_key(&trace->calls.at[i]);
    return points;
}

bool tally_is_new(const struct tally *t, const struct run *run)
{
    const char *why = run->verdict.why;
    if (map_get(&t->started, start_key(why, points_key(&run->trace))))
        return false;
    for (uint32_t i = 0; i < run->trace.calls.n; i++) { /* one of its faults alone is enough? */
        const struct call *c = &run->trace.calls.at[i];
        if (c->mode != MODE_NONE && map_get(&t->started, start_key(why, point_key(c))))
            return false;
    }
    return true;
}

uint64_t tally_findings(const struct tally *t)
{
    return t->n_started;
}

uint64_t tally_failed(const struct tally *t)
{
    return t->out->failed_runs;
}

static void add_failure(struct tally *t, const struct run *run, faultload happened, uint32_t number)
{
    const struct verdict *v = &run->verdict;
    bool crashed = run->flags & RUN_CRASHED, hung = run->flags & RUN_HUNG;
    bool first = tally_is_new(t, run);
    struct failure f = {.faultload = happened,
                        .why = v->why,
                        .status = v->status,
                        .number = number,
                        .kind = crashed                     ? FINDING_CRASH
                                : hung                      ? FINDING_HANG
                                : run->flags & RUN_CONTRACT ? FINDING_CONTRACT
                                                            : FINDING_EXPECTATION};
    if (first && v->detail)
        f.detail = arena_copy(&t->keep, v->detail, strlen(v->detail));
    t->n_started += first;
    map_set(&t->started, start_key(v->why, points_key(&run->trace)), 1);
    vec_push(&t->failures, f);
    t->out->failed_runs++;
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
        count_outcome(t->out, &run->verdict);
    }
    if (run->verdict.pass)
        return;
    if (r->happened == FAULTLOAD_EMPTY && r->purpose != FOR_BASELINE)
        t->by_itself++; /* there is nothing to blame, nor to replay */
    else
        add_failure(t, run, r->happened, n - 1);
}

/* Keys of a failure: with its modes, and without them. */
static uint64_t failure_key(const struct tally *x, const struct failure *f, bool modes)
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
static bool includes(const struct tally *x, const struct finding *finding, const struct failure *f)
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
static struct finding *finding_of(struct tally *x, const struct failure *f)
{
    const uint32_t *same = map_get(&x->finding_at, failure_key(x, f, false));
    if (same)
        return &x->out->findings.at[*same];
    for (uint32_t i = 0; i < x->out->findings.n; i++)
        if (includes(x, &x->out->findings.at[i], f))
            return &x->out->findings.at[i];
    return NULL;
}

/* Of two faultloads at the same points, does a come first? It must not depend on which of them was
 * run first: with several runs at a time that is chance. */
static bool precedes(const struct tally *x, faultload a, faultload b)
{
    uid first = UID_NONE; /* the point by whose modes they differ */
    for (faultload at = a; at != FAULTLOAD_EMPTY; at = x->fl->rows.at[at].rest) {
        struct fault fault = x->fl->rows.at[at].last;
        mode other = faultload_at(x->fl, b, fault.point);
        if (other == MODE_NONE)
            return false; /* other points */
        if (other != fault.mode &&
            (first == UID_NONE || uid_cmp(x->out->names, fault.point, first) < 0))
            first = fault.point;
    }
    return first != UID_NONE && faultload_at(x->fl, a, first) < faultload_at(x->fl, b, first);
}

/* Another faultload of the size of the finding's: it stands for the finding, or is alike. */
static void add_alike(struct tally *x, struct finding *finding, const struct failure *f)
{
    faultload alike = f->faultload;
    if (precedes(x, f->faultload, finding->faultload)) {
        alike = finding->faultload;
        finding->faultload = f->faultload;
        finding->number = f->number;
        finding->detail = f->detail ? f->detail : finding->detail;
    }
    finding->n_alike++;
    if (finding->alike.n < ALIKE_MAX)
        vec_push(&finding->alike, alike);
}

static void sort_failure(struct tally *x, const struct failure *f)
{
    struct finding *finding = finding_of(x, f);
    bool again = map_count(&x->failed, failure_key(x, f, true)) > 1;
    if (!finding && x->out->findings.n == FINDINGS_MAX + FINDINGS_MORE)
        return;
    if (!finding) {
        map_set(&x->finding_at, failure_key(x, f, false), x->out->findings.n);
        vec_push(&x->out->findings, (struct finding){.faultload = f->faultload,
                                                     .why = f->why,
                                                     .kind = f->kind,
                                                     .detail = f->detail,
                                                     .number = f->number});
        finding = &vec_last(&x->out->findings);
    } else if (!again &&
               faultload_size(x->fl, f->faultload) == faultload_size(x->fl, finding->faultload)) {
        add_alike(x, finding, f);
    }
    add_status(finding, f->status);
    finding->runs += !again;
    if (!finding->detail)
        finding->detail = f->detail;
}

/* Small faultloads first: a larger one is only news when none within it failed the same way. */
static void sort_failures(struct tally *x)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < x->failures.n; i++)
        if (faultload_size(x->fl, x->failures.at[i].faultload) > largest)
            largest = faultload_size(x->fl, x->failures.at[i].faultload);
    for (uint32_t size = 0; size <= largest; size++)
        for (uint32_t i = 0; i < x->failures.n; i++)
            if (faultload_size(x->fl, x->failures.at[i].faultload) == size)
                sort_failure(x, &x->failures.at[i]);
    for (; x->out->findings.n > FINDINGS_MAX; x->out->findings.n--) { /* only counted */
        vec_deinit(&vec_last(&x->out->findings).alike);
        x->out->more_findings++;
    }
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

void tally_finish(struct tally *x)
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
    out->elsewhere = stats.elsewhere;
    if (stats.complete)
        out->stopped = NULL; /* the budget ended just with the search */
    out->suspects = search_suspects(x->search, &out->n_suspects, &out->all_suspects);
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
    if (x->by_itself && !out->doubt)
        out->doubt = "the scenario also fails when no fault has fired";
    sort_failures(x);
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
