/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs that have ended: each waits for its turn, is looked at, and observed.
 *
 *   live_wait --> landed --search_turn--> verify --> store --> search_observe
 *                    '------------------> thrown away: one run at a time would not have made it
 *
 * 1. Runs are stored and observed in the order in which the search wants them; what is thrown away
 *    leaves no trace in the store, the tally or the judge. Where the order does not matter, that is
 *    the order in which they ended.
 * 2. A failure of a run that was not alone is looked at when all others have ended: none is begun
 *    until then.
 *
 * Is a failure to be believed? It may come from runs that were under way at the same time, or from
 * a system that an earlier fault has left broken. So a failure next to others is repeated alone,
 * and after a new kind of failure, and every so many runs, a fault-free run shows whether the
 * system still works. If it does not, the fault has exceeded its blast radius: that is a finding of
 * its own. The services are started again, and the faultload that did it is looked for among the
 * last ones. */
#include "campaign/campaign_int.h"

#include "base/clock.h"
#include "io/process.h"
#include "live/usage.h"

enum {
    CHECKS = 2,         /* a system may need a moment: one that works at the second look works */
    REPEATS = 2,        /* of a run that failed by itself */
    HICCUPS = 3,        /* so many, and */
    HICCUP_PART = 20,   /* one in so many runs: the scenario cannot be relied on */
    TIMES_SLOWEST = 3,  /* runs are given this much of what the slowest answer took, */
    SAMPLE_SHARE = 100, /* and looking at services takes one part in so many of the time */
};

static const int64_t LIMIT_LEAST_NS = SECONDS(3), SAMPLE_ALWAYS_NS = MS(50);

/* ---- how long a run may take ----
 *
 * A hang is one only after the scenario's whole timeout, and where one
 * combination of faults hangs, many do: each would cost that long. So when one has hung, runs with
 * faults are given a multiple of what the slowest answer took.
 *
 * 1. A hang that would be a new finding is run again with the whole timeout: what is told has been
 *    waited for that long at least once, and one that was only slow raises the limit.
 * 2. Runs without faults, and those that make a finding smaller, are never hurried: what would be
 *    concluded from them is not looked at again.
 * 3. A `timeout` in the file is what its author wants for every run.
 * 4. All is learned from runs that were observed, so a campaign that is resumed knows the same. */

void campaign_learn_limit(struct campaign *c, const struct run *run)
{
    struct limit *l = &c->limit;
    bool hung = run->flags & RUN_HUNG, hurried = run->flags & RUN_HURRIED;
    l->hung |= hung && !hurried;
    l->hurried += hurried;
    if (!hung && run->took_ns > l->slowest_ns)
        l->slowest_ns = run->took_ns;
}

static int64_t learned_ns(const struct campaign *c)
{
    int64_t ns = TIMES_SLOWEST * c->limit.slowest_ns;
    return ns > LIMIT_LEAST_NS ? ns : LIMIT_LEAST_NS;
}

int64_t campaign_limit(const struct campaign *c, faultload f, enum run_purpose purpose)
{
    bool may = purpose == RUN_SEARCH || purpose == RUN_AUDIT || purpose == RUN_CONFIRM;
    if (!may || f == FAULTLOAD_EMPTY || !c->limit.hung || c->limit.patient ||
        c->spec->timeout_given || learned_ns(c) >= c->spec->timeout_ns)
        return 0;
    return learned_ns(c);
}

void campaign_note_limit(struct campaign *c)
{
    struct buf full = BUF_INIT(40), given = BUF_INIT(40);
    if (!c->limit.hurried)
        return;
    buf_add_ns(&full, c->spec->timeout_ns);
    buf_add_ns(&given, learned_ns(c) / MS(100) * MS(100));
    campaign_note(
        c,
        "a run hung for %s, so later runs were given less time, %s at the end. Hangs at calls "
        "that were not known to hang were run again with the full time. Set `timeout: %s` in the "
        "scenario to give every run that long",
        buf_text(&full), buf_text(&given), buf_text(&full));
    buf_deinit(&full);
    buf_deinit(&given);
}

/* ---- do the services leak? ----
 *
 * What they hold is looked at after runs, less and less often: that takes so much time in all, and of
 * every further second a part of it. What it costs depends on the machine: where it takes long, it is
 * done less often. It is told when services are started again, as long as it is known, and at the
 * end. */

static void tell_leak(struct campaign *c, uint32_t service, bool broken)
{
    const struct usage *u = &c->usage[service];
    slice name = c->opt.config->services.at[service].name;
    struct buf text = BUF_INIT(400);
    for (enum usage_kind kind = 0; kind < USAGE_KINDS; kind++) {
        const struct usage_sample *from = &u->at[0];
        if (!usage_grows(u, kind, c->opt.jobs ? c->opt.jobs : 1, &from) &&
            !(broken && kind == USAGE_DESCRIPTORS && usage_swells(u)))
            continue;
        if (text.n)
            buf_adds(&text, "; ");
        else
            buf_addf(&text, "%.*s keeps growing: ", SLICE_ARG(name));
        usage_print(kind, from, &u->at[u->n - 1], &text);
    }
    if (text.n)
        judge_note_service(c->judge, ORACLE_LEAK, name, FAULTLOAD_EMPTY, c->number,
                           buf_text(&text));
    buf_deinit(&text);
}

void campaign_sample(struct campaign *c)
{
    uint32_t n = c->opt.config->services.n;
    if (!c->target || !c->judge || n == 0 ||
        c->opt.judging->settings.severity[ORACLE_LEAK] == SEVERITY_OFF)
        return;
    int64_t now = clock_ns();
    if (!c->usage)
        c->usage = mem_zero(n * sizeof *c->usage);
    if (c->sampled_ns > SAMPLE_ALWAYS_NS + (now - c->start_ns) / SAMPLE_SHARE)
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct process_usage held;
        int64_t process;
        if (!usage_due(&c->usage[i], c->number) ||
            !c->target->usage(c->target->live, i, &held, &process))
            continue;
        if (process != c->usage[i].process)
            tell_leak(c, i, true); /* it died, perhaps of that */
        struct usage_sample sample = {c->number, {held.descriptors, held.memory}};
        usage_add(&c->usage[i], process, &sample);
    }
    c->sampled_ns += clock_ns() - now;
}

void campaign_tell_leaks(struct campaign *c, bool broken)
{
    for (uint32_t i = 0; c->usage && i < c->opt.config->services.n; i++)
        tell_leak(c, i, broken);
}

/* ---- a system that breaks ---- */

/* Others of its suite hear of it, too. */
static void share_run(struct campaign *c, faultload f)
{
    struct campaign_share *share = c->share;
    uint32_t at = share->n_recent % SHARED_RUNS;
    if (!c->opt.share || f == FAULTLOAD_EMPTY)
        return;
    share->recent[at].campaign = c;
    share->recent[at].faultload = f;
    share->n_recent++;
}

void campaign_ran(struct campaign *c, faultload f)
{
    share_run(c, f);
    uint32_t n = c->n_recent < RECENT_RUNS ? c->n_recent : RECENT_RUNS, back = 1;
    while (back <= n && c->recent[(c->n_recent - back) % RECENT_KEPT] != f)
        back++;
    if (back > n) {
        c->recent[c->n_recent++ % RECENT_KEPT] = f;
        return;
    }
    for (; back > 1; back--) /* it becomes the newest */
        c->recent[(c->n_recent - back) % RECENT_KEPT] =
            c->recent[(c->n_recent - back + 1) % RECENT_KEPT];
    c->recent[(c->n_recent - 1) % RECENT_KEPT] = f;
}

static int add_blast(struct campaign *c, faultload f, const char *why, uint64_t number,
                     bool certain, struct err *e)
{
    for (uint32_t i = 0; i < c->blasts.n; i++)
        if (faultload_eq(c->opt.faultloads, c->blasts.at[i].faultload, f))
            return 0;
    vec_push(&c->blasts, (struct blast){f, why, number, certain});
    return campaign_keep_blasts(c, e);
}

/* Nobody knows which faultload it was: the last one that had any fault is said. */
static int suspect_last(struct campaign *c, const char *why, struct err *e)
{
    uint32_t n = c->n_recent < RECENT_RUNS ? c->n_recent : RECENT_RUNS;
    for (uint32_t i = 0; i < n; i++) {
        faultload f = c->recent[(c->n_recent - 1 - i) % RECENT_KEPT];
        if (f != FAULTLOAD_EMPTY)
            return add_blast(c, f, why, c->number, false, e);
    }
    campaign_note(c,
                  "the system broke before any fault was injected, and worked again after its "
                  "services were restarted: %s",
                  why);
    return 0;
}

/* Runs the scenario of another campaign of the suite. What it shows is not looked at but for this: did a
 * service die of it? */
static int run_other(struct campaign *c, const struct campaign *of, faultload f, bool *dies,
                     struct err *e)
{
    const struct execution_result *r;
    int status = campaign_heal(c, false, e);
    if (status)
        return status;
    campaign_run(c, of, f, RUN_CONFIRM, true);
    status = campaign_take(c, &r, e);
    if (status)
        return status;
    *dies = r->run.flags & RUN_CRASHED;
    struct trace trace = r->run.trace;
    vec_deinit(&trace.calls);
    return 0;
}

/* It was a run of another scenario, which may have come to its end: that one has the finding. */
static int blame_other(struct campaign *of, faultload f, const char *why, struct err *e)
{
    const struct known *k = campaign_known(of, f);
    int status = add_blast(of, f, arena_copy(&of->keep, why, strlen(why)),
                           k ? k->number : of->number, true, e);
    if (status || !of->finished)
        return status; /* it tells it itself */
    status = campaign_announce(of, e);
    campaign_judge_again(of);
    return status ? status : campaign_keep_findings(of, e);
}

int campaign_heal(struct campaign *c, bool all, struct err *e)
{
    const char *death = c->target->death(c->target->live);
    if (!all && !c->target->hurt(c->target->live))
        return 0;
    if (death && suspect_last(c, arena_copy(&c->keep, death, strlen(death)), e))
        return -1;
    return campaign_want(c, (struct order){ORDER_HEAL, .all = all}, e);
}

/* ---- deaths that come after their run ---- */

/* Does a service die of this faultload, when it is given so much time? */
static int try_death(struct campaign *c, faultload f, int64_t patience_ns, bool *dies,
                     struct err *e)
{
    struct run run;
    int64_t quiet = c->lessons->quiet_ns;
    c->lessons->quiet_ns = quiet > patience_ns ? quiet : patience_ns;
    int status = campaign_try(c, f, RUN_CONFIRM, &run, e);
    c->lessons->quiet_ns = quiet;
    *dies = run.flags & RUN_CRASHED;
    return status;
}

/* A service died, and the run that was under way is not the cause: is it one before that? Its
 * faultload is `first`, or among the last ones. Its run ended too early then, and so may others:
 * STATUS_AGAIN. 0: it is none of them, or a blast if runs cannot wait longer. */
static int find_killer(struct campaign *c, faultload first, const char *how, struct err *e)
{
    static const int64_t patience_ns[] = {MS(50), MS(500)};
    uint32_t n = c->n_recent < RECENT_RUNS ? c->n_recent : RECENT_RUNS;
    for (size_t p = 0; p < sizeof patience_ns / sizeof *patience_ns; p++)
        for (uint32_t i = 0; i <= n; i++) {
            faultload f = i ? c->recent[(c->n_recent - i) % RECENT_KEPT] : first;
            bool dies = false;
            int status = f == FAULTLOAD_EMPTY ? 0 : try_death(c, f, patience_ns[p], &dies, e);
            if (status)
                return status;
            if (dies && !campaign_wait_longer(c, c->death_ns))
                return add_blast(c, f, how, c->number, true, e);
            if (dies) {
                campaign_explain_death(c, how);
                return STATUS_AGAIN;
            }
        }
    return 0;
}

/* The same for runs of the other scenarios of the suite; the last of this one is suspected where none of
 * them does it again. */
static int find_other_killer(struct campaign *c, const char *how, struct err *e)
{
    const struct campaign_share *share = c->share;
    uint32_t n = share->n_recent < SHARED_RUNS ? share->n_recent : SHARED_RUNS,
             newest = share->n_recent;
    for (uint32_t i = 1; i <= n; i++) {
        struct campaign *of = share->recent[(newest - i) % SHARED_RUNS].campaign;
        faultload f = share->recent[(newest - i) % SHARED_RUNS].faultload;
        bool dies = false;
        int status = of == c ? 0 : run_other(c, of, f, &dies, e);
        if (status || dies)
            return status ? status : blame_other(of, f, how, e);
    }
    return suspect_last(c, how, e);
}

/* Does the scenario pass without faults, now that f was run? 0, 1: interrupted, -1,
 * STATUS_AGAIN. */
static int look_without_faults(struct campaign *c, faultload f, bool *works, const char **why,
                               struct err *e)
{
    const char *died = NULL;
    *works = false;
    for (int i = 0; i < CHECKS && !*works; i++) {
        struct run run;
        int status = campaign_try(c, FAULTLOAD_EMPTY, RUN_CHECK, &run, e);
        if (status)
            return status;
        *works = run.verdict.pass;
        *why = run.verdict.why;
        if (run.flags & RUN_CRASHED)
            died = arena_copy(&c->keep, run.event, strlen(run.event));
    }
    c->since_check = 0;
    return died && *works ? find_killer(c, f, died, e) : 0;
}

/* The system is broken: makes it work again by starting our services anew. */
static int repair(struct campaign *c, struct err *e)
{
    bool works = false;
    const char *why;
    if (!c->target->has_own(c->target->live))
        return err_set(e, 0, 0,
                       "since a fault was injected, the scenario fails even without faults; "
                       "repair the system (`before` can do that), then continue with --resume");
    campaign_sample(c); /* while those that leak are still there */
    campaign_tell_leaks(c, true);
    int status = campaign_heal(c, true, e);
    if (status == 0)
        status = look_without_faults(c, FAULTLOAD_EMPTY, &works, &why, e);
    if (status == 0 && !works)
        return err_set(e, 0, 0,
                       "the scenario fails without faults, even after all services were "
                       "restarted: %s; reset state that outlives them with `before`",
                       why);
    return status;
}

/* Does the system stay broken after this faultload? The run is held. */
static int try_blast(struct campaign *c, faultload f, bool *broken, struct run *run, struct err *e)
{
    bool works = false;
    const char *why;
    *run = (struct run){0};
    int status = campaign_run_alone(c, f, RUN_CONFIRM, run, e);
    if (status == 0) {
        campaign_hold(&c->held, run);
        status = look_without_faults(c, f, &works, &why, e);
    }
    *broken = status == 0 && !works;
    return status;
}

/* Was it a run of another scenario of the suite? The newest is tried first. */
static int find_elsewhere(struct campaign *c, const char *why, bool *found, struct err *e)
{
    const struct campaign_share *share = c->share;
    uint32_t n = share->n_recent < SHARED_RUNS ? share->n_recent : SHARED_RUNS,
             newest = share->n_recent;
    for (uint32_t i = 1; i <= n; i++) {
        struct campaign *of = share->recent[(newest - i) % SHARED_RUNS].campaign;
        faultload f = share->recent[(newest - i) % SHARED_RUNS].faultload;
        bool works = false, dies = false;
        const char *now;
        if (of == c)
            continue;
        int status = run_other(c, of, f, &dies, e);
        if (status == 0)
            status = look_without_faults(c, FAULTLOAD_EMPTY, &works, &now, e);
        if (status)
            return status;
        if (!works) {
            *found = true;
            return blame_other(of, f, why, e) ? -1 : repair(c, e);
        }
    }
    return 0;
}

/* Which of the last faultloads was it? The newest is tried first. */
static int find_culprit(struct campaign *c, const char *why, struct err *e)
{
    uint32_t n = c->n_recent < RECENT_RUNS ? c->n_recent : RECENT_RUNS;
    for (uint32_t i = 0; i < n; i++) {
        faultload f = c->recent[(c->n_recent - 1 - i) % RECENT_KEPT];
        bool broken;
        struct run run;
        if (f == FAULTLOAD_EMPTY)
            continue;
        int status = try_blast(c, f, &broken, &run, e);
        if (status == 0)
            status = campaign_observe(c, &run, e);
        vec_deinit(&run.trace.calls);
        if (status)
            return status;
        if (broken)
            return add_blast(c, f, why, c->number, true, e) ? -1 : repair(c, e);
    }
    bool found = false;
    int status = find_elsewhere(c, why, &found, e);
    return status || found ? status : suspect_last(c, why, e);
}

static int too_many(const struct campaign *c, struct err *e)
{
    return c->blasts.n < BLASTS_MAX
               ? 0
               : err_set(e, 0, 0, "%d faultloads have left the system broken; see the findings",
                         BLASTS_MAX);
}

bool campaign_is_due(const struct campaign *c)
{
    uint32_t every = c->opt.config->search.check_every;
    return c->target->hurt(c->target->live) || (every && c->since_check >= every);
}

int campaign_check(struct campaign *c, bool last, struct err *e)
{
    bool works = false;
    const char *why;
    uint32_t every = last ? 1 : c->opt.config->search.check_every;
    const char *death = c->target->death(c->target->live);
    int status = 0;
    if (death) { /* when no run was under way: which one was it? */
        uint32_t blasts = c->blasts.n;
        death = arena_copy(&c->keep, death, strlen(death));
        status = campaign_want(c, (struct order){.kind = ORDER_HEAL}, e);
        if (status == 0)
            status = find_killer(c, FAULTLOAD_EMPTY, death, e);
        if (status == 0 && c->blasts.n == blasts)
            status = find_other_killer(c, death, e);
    }
    if (status == 0)
        status = campaign_heal(c, false, e);
    if (status || !c->opt.config->search.check_every || c->since_check < every)
        return status;
    status = look_without_faults(c, FAULTLOAD_EMPTY, &works, &why, e);
    if (status || works)
        return status;
    status = repair(c, e);
    if (status == 0)
        status = find_culprit(c, why, e);
    return status ? status : too_many(c, e);
}

/* The same faultload again, alone, in place of the run. */
static int repeat_alone(struct campaign *c, struct run *run, struct err *e)
{
    faultload f = run->faultload;
    enum run_purpose purpose = run->purpose;
    vec_deinit(&run->trace.calls);
    *run = (struct run){0};
    int status = campaign_run_alone(c, f, purpose, run, e);
    run->flags |= RUN_REPEATED;
    return status;
}

/* ---- failures that no fault is to blame for ---- */

static bool failed_by_itself(const struct run *run)
{
    for (uint32_t i = 0; i < run->trace.calls.n; i++)
        if (run->trace.calls.at[i].mode != MODE_NONE)
            return false;
    return !run->verdict.pass;
}

static int count_hiccups(struct campaign *c, uint32_t n, struct err *e)
{
    c->n_hiccups += n;
    return n ? campaign_keep_hiccups(c, e) : 0;
}

void campaign_note_hiccups(struct campaign *c)
{
    if (!c->n_hiccups)
        return;
    bool often = c->n_hiccups >= HICCUPS && c->n_hiccups * HICCUP_PART > c->number;
    if (often && !c->summary.doubt)
        c->summary.doubt = "the scenario also fails when no fault has fired";
    campaign_note(c,
                  "the scenario failed before any fault had fired, %llu %s in %llu runs (%s); "
                  "such runs are repeated and do not count%s",
                  (unsigned long long)c->n_hiccups, plural(c->n_hiccups, "time", "times"),
                  (unsigned long long)(c->number + c->n_hiccups), c->hiccup,
                  !c->summary.doubt ? ""
                                    : ". Make it pass every time without faults, then run this "
                                      "again; `before` can reset state");
}

/* A run that failed, alone or not: is it to be believed? Replaces it by a repetition where it is
 * not, and looks whether the system still works. */
static int verify(struct campaign *c, struct run *run, bool alone, struct err *e)
{
    bool works = false, dies = false, broken;
    const char *why;
    uint32_t hiccups = 0;
    int status = alone ? 0 : repeat_alone(c, run, e);
    if (status == 0 && run->flags & RUN_HURRIED && run->flags & RUN_HUNG &&
        tally_is_new(c->tally, run)) {
        c->limit.patient = true; /* it may only be slow: it is given all the time that there is */
        status = repeat_alone(c, run, e);
        c->limit.patient = false;
    }
    /* a run that failed before any fault fired says nothing about faults: it is made again */
    for (; hiccups < REPEATS && status == 0 && failed_by_itself(run); hiccups++) {
        const char *what = run->verdict.detail ? run->verdict.detail : run->verdict.why;
        if (!c->hiccup)
            c->hiccup = arena_copy(&c->keep, what, strlen(what));
        status = repeat_alone(c, run, e);
    }
    if (status == 0 && !failed_by_itself(run))
        status = count_hiccups(c, hiccups, e);
    if (status || run->verdict.pass || !tally_is_new(c->tally, run))
        return status;
    campaign_hold(&c->held, run);
    if (run->flags & RUN_CRASHED) { /* a service died: of this run? It does again then */
        status = try_death(c, run->faultload, 0, &dies, e);
        if (status == 0 && !dies)
            status = find_killer(c, FAULTLOAD_EMPTY, run->event, e);
    }
    if (status == 0)
        status = look_without_faults(c, run->faultload, &works, &why, e);
    if (status == 0 && works && failed_by_itself(run))
        status = count_hiccups(c, hiccups, e);
    if (status || works)
        return status;
    status = repair(c, e);
    if (status)
        return status;
    /* was it this one, or was the system broken before? */
    faultload f = run->faultload;
    vec_deinit(&run->trace.calls);
    status = try_blast(c, f, &broken, run, e);
    run->purpose = RUN_SEARCH;
    run->flags |= RUN_REPEATED;
    if (status)
        return status;
    if (!broken)
        status = find_culprit(c, why, e);
    else
        status = add_blast(c, f, why, c->number, true, e) ? -1 : repair(c, e);
    return status ? status : too_many(c, e);
}

/* ---- runs that have ended ---- */

static void free_landed(struct landed *l)
{
    vec_deinit(&l->run.trace.calls);
    arena_deinit(&l->arena);
}

static struct landed take_out(struct campaign *c, uint32_t i)
{
    struct landed l = c->landed.at[i];
    for (c->landed.n--; i < c->landed.n; i++)
        c->landed.at[i] = c->landed.at[i + 1];
    return l;
}

/* Waits for the next one to end. */
static int land(struct campaign *c, struct err *e)
{
    struct landed l = {0};
    int status = campaign_take_run(c, &l.run, e);
    if (status)
        return status;
    campaign_hold(&l.arena, &l.run);
    l.alone = c->running == 0 && c->answer.alone;
    if (search_turn(c->search, l.run.faultload) != TURN_NOW)
        campaign_ran(c, l.run.faultload); /* others are looked at first, but this one may be why */
    vec_push(&c->landed, l);
    return 0;
}

/* A call came that did not say of which of the runs it was: from now on they are made one at a
 * time. */
static bool call_was_lost(struct campaign *c)
{
    if (c->lessons->lost == c->lost)
        return false;
    c->lost = c->lessons->lost;
    c->jobs = 1;
    campaign_note(
        c,
        "%s lost the trace context while several runs were under way: those were repeated one at "
        "a time, and --jobs is 1 from then on. Make it pass on traceparent and tracestate",
        c->opt.config->services.at[c->lessons->lost_by].name.p);
    return true;
}

/* Waits until nothing is under way. *doubt: these runs may not have been seen in full. */
static int drain(struct campaign *c, bool *doubt, struct err *e)
{
    int status = 0;
    while (status == 0 && c->running > 0)
        status = land(c, e);
    *doubt |= call_was_lost(c);
    for (uint32_t i = 0; i < c->landed.n; i++) {
        c->landed.at[i].waited = true;
        c->landed.at[i].doubt |= *doubt;
    }
    return status;
}

/* Its turn has come: it is believed, and observed. */
static int settle(struct campaign *c, struct landed *l, struct err *e)
{
    int status = 0;
    campaign_contract_judge(c, &l->run);
    if (l->doubt || !l->run.verdict.pass) {
        bool alone = l->alone && !l->waited && !l->doubt;
        if (!alone)
            status = drain(c, &l->doubt, e);
        arena_reset(&c->held);
        if (status == 0 && (l->doubt || !l->run.verdict.pass))
            status = verify(c, &l->run, alone, e);
    }
    bool news = status == 0 && !l->run.verdict.pass && tally_is_new(c->tally, &l->run);
    if (status == 0)
        status = campaign_observe(c, &l->run, e);
    if (status)
        search_forget(c->search, l->run.faultload);
    else if (news)
        status = campaign_announce(c, e);
    if (status == 0)
        campaign_announce_remarks(c);
    return status;
}

/* The next whose turn it is; those that have lost it go. UINT32_MAX: none. */
static uint32_t next_turn(struct campaign *c)
{
    for (uint32_t i = 0; i < c->landed.n;) {
        enum search_turn turn = search_turn(c->search, c->landed.at[i].run.faultload);
        if (turn == TURN_NOW)
            return i;
        if (turn == TURN_NEVER) {
            struct landed l = take_out(c, i);
            free_landed(&l);
            c->share->explored--;
        } else {
            i++;
        }
    }
    return UINT32_MAX;
}

int campaign_step(struct campaign *c, struct err *e)
{
    bool doubt = false;
    int status = land(c, e);
    if (status == 0 && call_was_lost(c)) {
        doubt = true;
        status = drain(c, &doubt, e);
    }
    for (uint32_t i; status == 0 && (i = next_turn(c)) != UINT32_MAX;) {
        struct landed l = take_out(c, i);
        status = settle(c, &l, e);
        free_landed(&l);
    }
    for (uint32_t i = 0; i < c->landed.n; i++)
        c->landed.at[i].waited = true;
    return status;
}

void campaign_drop_landed(struct campaign *c)
{
    for (uint32_t i = 0; i < c->landed.n; i++) {
        search_forget(c->search, c->landed.at[i].run.faultload);
        free_landed(&c->landed.at[i]);
    }
    c->share->explored -= c->landed.n;
    vec_deinit(&c->landed);
}
