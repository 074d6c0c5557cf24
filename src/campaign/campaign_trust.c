/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a failure to be believed? It may come from runs that were under way at the same time, or from
 * a system that an earlier fault has left broken. So a failure next to others is repeated alone,
 * and after a new kind of failure, and every so many runs, a fault-free run shows whether the
 * system still works. If it does not, the fault has exceeded its blast radius: that is a finding of
 * its own. The services are started again, and the faultload that did it is looked for among the
 * last ones. */
#include "campaign/campaign_int.h"

#include "base/clock.h"

enum {
    CHECKS = 2,       /* a system may need a moment: one that works at the second look works */
    REPEATS = 2,      /* of a run that failed by itself */
    HICCUPS = 3,      /* so many, and */
    HICCUP_PART = 20, /* one in so many runs: the scenario cannot be relied on */
};

void campaign_ran(struct campaign *c, faultload f)
{
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

static int add_blast(struct campaign *c, faultload f, const char *why, bool certain, struct err *e)
{
    for (uint32_t i = 0; i < c->blasts.n; i++)
        if (faultload_eq(c->opt.faultloads, c->blasts.at[i].faultload, f))
            return 0;
    vec_push(&c->blasts, (struct blast){f, why, c->number, certain});
    return campaign_keep_blasts(c, e);
}

/* Nobody knows which faultload it was: the last one that had any fault is said. */
static int suspect_last(struct campaign *c, const char *why, struct err *e)
{
    uint32_t n = c->n_recent < RECENT_RUNS ? c->n_recent : RECENT_RUNS;
    for (uint32_t i = 0; i < n; i++) {
        faultload f = c->recent[(c->n_recent - 1 - i) % RECENT_KEPT];
        if (f != FAULTLOAD_EMPTY)
            return add_blast(c, f, why, false, e);
    }
    struct buf text = BUF_INIT(600);
    buf_addf(&text,
             "before any fault was injected the system broke, and worked again after its "
             "services were started again: %s",
             why);
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
    return 0;
}

int campaign_heal(struct campaign *c, bool all, struct err *e)
{
    const char *death = c->target->death(c->target->ctx);
    if (!all && !c->target->hurt(c->target->ctx))
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
    struct run run = {0};
    int64_t quiet = c->lessons->quiet_ns;
    int status = campaign_heal(c, false, e);
    c->lessons->quiet_ns = quiet > patience_ns ? quiet : patience_ns;
    if (status == 0)
        status = campaign_run_alone(c, f, RUN_CONFIRM, &run, e);
    c->lessons->quiet_ns = quiet;
    *dies = run.flags & RUN_CRASHED;
    if (status == 0)
        status = campaign_observe(c, &run, e);
    vec_deinit(&run.trace.calls);
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
                return add_blast(c, f, how, true, e);
            if (dies) {
                campaign_explain_death(c, how);
                return STATUS_AGAIN;
            }
        }
    return 0;
}

/* Does the scenario pass without faults, now that f was run? 0, 1: interrupted, -1,
 * STATUS_AGAIN. */
static int look(struct campaign *c, faultload f, bool *works, const char **why, struct err *e)
{
    const char *died = NULL;
    *works = false;
    for (int i = 0; i < CHECKS && !*works; i++) {
        struct run run = {0};
        int status = campaign_heal(c, false, e);
        if (status == 0)
            status = campaign_run_alone(c, FAULTLOAD_EMPTY, RUN_CHECK, &run, e);
        if (status)
            return status;
        *works = run.verdict.pass;
        *why = run.verdict.why;
        if (run.flags & RUN_CRASHED)
            died = arena_copy(&c->keep, run.event, strlen(run.event));
        status = campaign_observe(c, &run, e);
        vec_deinit(&run.trace.calls);
        if (status)
            return status;
    }
    c->since_check = 0;
    return died && *works ? find_killer(c, f, died, e) : 0;
}

/* The system is broken: makes it work again by starting our services anew. */
static int repair(struct campaign *c, struct err *e)
{
    bool works = false;
    const char *why;
    if (!c->target->has_own(c->target->ctx))
        return err_set(e, 0, 0,
                       "the scenario fails without any fault since an injected one: bring the "
                       "system back (`before` can do that), then go on with --resume");
    campaign_sample(c); /* while those that leak are still there */
    campaign_tell_leaks(c, true);
    int status = campaign_heal(c, true, e);
    if (status == 0)
        status = look(c, FAULTLOAD_EMPTY, &works, &why, e);
    if (status == 0 && !works)
        return err_set(e, 0, 0,
                       "the scenario fails without any fault, also after all services were started "
                       "again: %s. State that outlives them must be brought back by `before`",
                       why);
    return status;
}

/* Does the system stay broken after this faultload? The run is held. */
static int try_blast(struct campaign *c, faultload f, bool *broken, struct run *run, struct err *e)
{
    bool works = false;
    const char *why;
    *run = (struct run){0};
    int status = campaign_heal(c, false, e);
    if (status == 0)
        status = campaign_run_alone(c, f, RUN_CONFIRM, run, e);
    if (status == 0) {
        campaign_hold(&c->held, run);
        status = look(c, f, &works, &why, e);
    }
    *broken = status == 0 && !works;
    return status;
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
            return add_blast(c, f, why, true, e) ? -1 : repair(c, e);
    }
    return suspect_last(c, why, e);
}

static int too_many(const struct campaign *c, struct err *e)
{
    return c->blasts.n < BLASTS_MAX
               ? 0
               : err_set(e, 0, 0, "%d faultloads have left the system broken: see the findings",
                         BLASTS_MAX);
}

bool campaign_is_due(const struct campaign *c)
{
    uint32_t every = c->opt.config->search.check_every;
    return c->target->hurt(c->target->ctx) || (every && c->since_check >= every);
}

/* A service died when no run was under way: which one was it? */
static int find_death(struct campaign *c, struct err *e)
{
    const char *death = c->target->death(c->target->ctx);
    if (!death)
        return 0;
    death = arena_copy(&c->keep, death, strlen(death));
    uint32_t blasts = c->blasts.n;
    int status = campaign_want(c, (struct order){.kind = ORDER_HEAL}, e);
    if (status == 0)
        status = find_killer(c, FAULTLOAD_EMPTY, death, e);
    return status == 0 && c->blasts.n == blasts ? suspect_last(c, death, e) : status;
}

int campaign_check(struct campaign *c, bool last, struct err *e)
{
    bool works = false;
    const char *why;
    uint32_t every = last ? 1 : c->opt.config->search.check_every;
    int status = find_death(c, e);
    if (status == 0)
        status = campaign_heal(c, false, e);
    if (status || !c->opt.config->search.check_every || c->since_check < every)
        return status;
    status = look(c, FAULTLOAD_EMPTY, &works, &why, e);
    if (status || works)
        return status;
    status = repair(c, e);
    if (status == 0)
        status = find_culprit(c, why, e);
    return status ? status : too_many(c, e);
}

/* The same faultload again, alone, in place of the run. */
static int repeat(struct campaign *c, struct run *run, struct err *e)
{
    faultload f = run->faultload;
    enum run_purpose purpose = run->purpose;
    vec_deinit(&run->trace.calls);
    *run = (struct run){0};
    int status = campaign_heal(c, false, e);
    if (status == 0)
        status = campaign_run_alone(c, f, purpose, run, e);
    run->flags |= RUN_REPEATED;
    return status;
}

/* A run that may only be slow is given all the time that the scenario has. */
static int repeat_patiently(struct campaign *c, struct run *run, struct err *e)
{
    c->limit.patient = true;
    int status = repeat(c, run, e);
    c->limit.patient = false;
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

/* A run that failed before any fault fired says nothing about faults: it is made again. *n counts
 * how often. */
static int repeat_hiccup(struct campaign *c, struct run *run, uint32_t *n, struct err *e)
{
    int status = 0;
    for (*n = 0; *n < REPEATS && status == 0 && failed_by_itself(run); ++*n) {
        const struct verdict *v = &run->verdict;
        const char *what = v->detail ? v->detail : v->why;
        if (!c->hiccup)
            c->hiccup = arena_copy(&c->keep, what, strlen(what));
        status = repeat(c, run, e);
    }
    return status;
}

static int count_hiccups(struct campaign *c, uint32_t n, struct err *e)
{
    c->n_hiccups += n;
    return n ? campaign_keep_hiccups(c, e) : 0;
}

void campaign_note_hiccups(struct campaign *c)
{
    struct buf text = BUF_INIT(1 << 12);
    if (!c->n_hiccups)
        return;
    bool often = c->n_hiccups >= HICCUPS && c->n_hiccups * HICCUP_PART > c->number;
    if (often && !c->summary.doubt)
        c->summary.doubt = "the scenario also fails when no fault has fired";
    buf_addf(&text,
             "the scenario failed before any fault had fired, %llu %s in %llu runs (%s). Such "
             "runs are made again and do not count",
             (unsigned long long)c->n_hiccups, plural(c->n_hiccups, "time", "times"),
             (unsigned long long)(c->number + c->n_hiccups), c->hiccup);
    if (c->summary.doubt)
        buf_adds(&text, ". Make it pass without faults every time, then run this again: `before` "
                        "can bring state back");
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}

/* A service died during the run: of it? It does again then. */
static int check_crash(struct campaign *c, const struct run *run, struct err *e)
{
    bool dies = false;
    if (!(run->flags & RUN_CRASHED))
        return 0;
    int status = try_death(c, run->faultload, 0, &dies, e);
    return status || dies ? status : find_killer(c, FAULTLOAD_EMPTY, run->event, e);
}

int campaign_verify(struct campaign *c, struct run *run, bool alone, struct err *e)
{
    bool works = false;
    const char *why;
    uint32_t hiccups = 0;
    int status = alone ? 0 : repeat(c, run, e);
    if (status == 0 && campaign_cut_short(c, run))
        status = repeat_patiently(c, run, e);
    if (status == 0)
        status = repeat_hiccup(c, run, &hiccups, e);
    if (status == 0 && !failed_by_itself(run))
        status = count_hiccups(c, hiccups, e);
    if (status || run->verdict.pass || !tally_is_new(c->tally, run))
        return status;
    campaign_hold(&c->held, run);
    status = check_crash(c, run, e);
    if (status == 0)
        status = look(c, run->faultload, &works, &why, e);
    if (status == 0 && works && failed_by_itself(run))
        status = count_hiccups(c, hiccups, e);
    if (status || works)
        return status;
    status = repair(c, e);
    if (status)
        return status;
    /* was it this one, or was the system broken before? */
    faultload f = run->faultload;
    bool broken;
    vec_deinit(&run->trace.calls);
    status = try_blast(c, f, &broken, run, e);
    run->purpose = RUN_SEARCH;
    run->flags |= RUN_REPEATED;
    if (status)
        return status;
    if (!broken)
        status = find_culprit(c, why, e);
    else
        status = add_blast(c, f, why, true, e) ? -1 : repair(c, e);
    return status ? status : too_many(c, e);
}
