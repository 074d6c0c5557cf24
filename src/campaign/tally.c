/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/tally.h"

#include "base/hash.h"

enum { ALIKE_MAX = 256 }; /* faultloads that are kept of those alike */

/* What each purpose counts as. */
static const struct {
    bool run, failure;
} counts_as[RUN_PURPOSES] = {
    [RUN_BASELINE] = {true, true}, [RUN_SEARCH] = {true, true},  [RUN_AUDIT] = {true, true},
    [RUN_CHECK] = {false, true},   [RUN_SHRINK] = {false, true}, [RUN_CONFIRM] = {false, false},
    [RUN_REPLAY] = {false, false},
};

void tally_init(struct tally *t, const struct search *search, const struct faultloads *fl,
                struct summary *out)
{
    *t = (struct tally){.search = search, .fl = fl, .out = out};
}

static void sorted_deinit(struct tally_sorted *s)
{
    map_deinit(&s->failed);
    map_deinit(&s->finding_at);
}

void tally_deinit(struct tally *t)
{
    vec_deinit(&t->failures);
    vec_deinit(&t->marks);
    sorted_deinit(&t->live);
    summary_deinit(&t->known);
}

/* ---- findings ---- */

static uint64_t fault_key(struct fault fault)
{
    return hash_mix(fault.point, fault.mode);
}

/* Keys of a failure: with its modes, and without them. */
static uint64_t failure_key(const struct tally *t, faultload f, const char *why, bool modes)
{
    uint64_t key = hash_slice(slice_of(why)) + modes;
    for (; f != FAULTLOAD_EMPTY; f = t->fl->rows.at[f].rest) {
        struct fault fault = t->fl->rows.at[f].last;
        fault.mode = modes ? fault.mode : MODE_NONE;
        key += fault_key(fault);
    }
    return key;
}

/* Does f have, besides others, faults at the points of this finding that fail in the same way on
 * their own? */
static bool includes(const struct tally *t, const struct tally_sorted *sorted,
                     const struct finding *finding, const struct tally_failure *f)
{
    uint64_t key = hash_slice(slice_of(f->why)) + 1;
    if (strcmp(finding->why, f->why) != 0)
        return false;
    for (faultload at = finding->faultload; at != FAULTLOAD_EMPTY; at = t->fl->rows.at[at].rest) {
        uid point = t->fl->rows.at[at].last.point;
        mode m = faultload_at(t->fl, f->faultload, point);
        if (m == MODE_NONE)
            return false;
        key += fault_key((struct fault){point, m});
    }
    return map_get(&sorted->failed, key);
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
static struct finding *finding_of(const struct tally *t, const struct tally_sorted *sorted,
                                  struct summary *to, const struct tally_failure *f)
{
    const uint32_t *same =
        map_get(&sorted->finding_at, failure_key(t, f->faultload, f->why, false));
    if (same)
        return &to->findings.at[*same];
    for (uint32_t i = 0; i < to->findings.n; i++)
        if (includes(t, sorted, &to->findings.at[i], f))
            return &to->findings.at[i];
    return NULL;
}

/* Puts one failure where it belongs among the findings of *to. True: that is a new one. */
static bool sort_failure(const struct tally *t, struct tally_sorted *sorted, struct summary *to,
                         const struct tally_failure *f)
{
    struct finding *finding = finding_of(t, sorted, to, f);
    bool again = map_count(&sorted->failed, failure_key(t, f->faultload, f->why, true)) > 1;
    bool new = !finding;
    if (new && to->findings.n == FINDINGS_MAX) {
        to->more_findings++;
        return false;
    }
    if (new) {
        map_set(&sorted->finding_at, failure_key(t, f->faultload, f->why, false), to->findings.n);
        vec_push(&to->findings, (struct finding){.kind = f->kind,
                                                 .faultload = f->faultload,
                                                 .why = f->why,
                                                 .detail = f->detail,
                                                 .number = f->number});
        finding = &vec_last(&to->findings);
    } else if (!again &&
               faultload_size(t->fl, f->faultload) == faultload_size(t->fl, finding->faultload)) {
        finding->n_alike++;
        if (finding->alike.n < ALIKE_MAX)
            vec_push(&finding->alike, f->faultload);
    }
    add_status(finding, f->status);
    finding->runs += !again;
    return new;
}

/* Small faultloads first: a larger one is only news when none within it failed the same way. */
static void sort_failures(struct tally *t)
{
    struct tally_sorted sorted = {0};
    uint32_t largest = 0;
    for (uint32_t i = 0; i < t->failures.n; i++)
        if (faultload_size(t->fl, t->failures.at[i].faultload) > largest)
            largest = faultload_size(t->fl, t->failures.at[i].faultload);
    for (uint32_t size = 0; size <= largest; size++)
        for (uint32_t i = 0; i < t->failures.n; i++)
            if (faultload_size(t->fl, t->failures.at[i].faultload) == size)
                sort_failure(t, &sorted, t->out, &t->failures.at[i]);
    sorted_deinit(&sorted);
}

void tally_mark(struct tally *t, faultload f, const char *why, enum finding_state state,
                bool shrunk)
{
    vec_push(&t->marks, (struct tally_mark){failure_key(t, f, why, false), state, shrunk});
}

static void apply_marks(struct tally *t)
{
    for (uint32_t i = 0; i < t->out->findings.n; i++) {
        struct finding *finding = &t->out->findings.at[i];
        uint64_t key = failure_key(t, finding->faultload, finding->why, false);
        for (uint32_t k = 0; k < t->marks.n; k++)
            if (t->marks.at[k].key == key) {
                finding->state = t->marks.at[k].state;
                finding->shrunk = t->marks.at[k].shrunk;
            }
    }
}

/* ---- runs ---- */

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

static void count_run(struct tally *t, const struct tally_run *run, const struct verdict *verdict)
{
    bool repeat = run->purpose == RUN_BASELINE && t->out->runs_by_size.n > 0;
    if (run->fired && !repeat && run->purpose != RUN_AUDIT) {
        uint32_t size = faultload_size(t->fl, run->faultload);
        while (t->out->runs_by_size.n <= size)
            vec_push(&t->out->runs_by_size, 0);
        t->out->runs_by_size.at[size]++;
        count_outcome(t->out, verdict);
    }
    t->out->failed_runs += !verdict->pass;
}

const struct finding *tally_run(struct tally *t, const struct tally_run *run,
                                const struct verdict *verdict)
{
    if (counts_as[run->purpose].run)
        count_run(t, run, verdict);
    if (verdict->pass || !counts_as[run->purpose].failure)
        return NULL;
    struct tally_failure failure = {.faultload = run->happened,
                                    .kind = run->kind,
                                    .why = verdict->why,
                                    .detail = verdict->detail,
                                    .status = verdict->status,
                                    .number = run->number};
    vec_push(&t->failures, failure);
    bool new = sort_failure(t, &t->live, &t->known, &failure);
    return new ? &vec_last(&t->known.findings) : NULL;
}

const struct finding *tally_observed(struct tally *t, uint64_t number, enum finding_kind kind,
                                     const struct verdict *verdict)
{
    static const enum run_purpose purposes[] = {
        [FOR_BASELINE] = RUN_BASELINE, [FOR_SEARCH] = RUN_SEARCH, [FOR_AUDIT] = RUN_AUDIT};
    uint32_t n;
    const struct search_run *run = &search_runs(t->search, &n)[n - 1];
    return tally_run(t,
                     &(struct tally_run){.purpose = purposes[run->purpose],
                                         .faultload = run->faultload,
                                         .happened = run->happened,
                                         .fired = run->fired,
                                         .number = number,
                                         .kind = kind},
                     verdict);
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
    if (stats.complete)
        out->stopped = NULL; /* the budget ended just with the search */
    out->suspects = search_suspects(t->search, &out->n_suspects, &out->all_suspects);
    out->skipped_estimated = space.estimated;
    for (size_t i = 0; i < sizeof policy_rows / sizeof *policy_rows && space.known; i++)
        add_skip(out, policy_rows[i].name, policy_rows[i].why, space.saved[policy_rows[i].policy]);
    if (!space.known)
        add_skip(out, "encapsulation", "seen in another run before its turn came",
                 (double)stats.dropped);
    for (enum reduction r = 0; r < REDUCTIONS; r++)
        add_skip(out, reduction_rows[r].name, reduction_rows[r].assumption,
                 (double)stats.skipped[r]);
    sort_failures(t);
    apply_marks(t);
}
