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

enum { CHECKS = 2 }; /* a system may need a moment: one that works at the second look works */

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
        faultload f = c->recent[(c->n_recent - 1 - i) % RECENT_RUNS];
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
    const char *death = live_death(c->live);
    if (!all && !live_hurt(c->live))
        return 0;
    if (death && suspect_last(c, arena_copy(&c->keep, death, strlen(death)), e))
        return -1;
    return live_heal(c->live, all, e);
}

/* Does the scenario pass without faults? 0, 1: interrupted, -1. */
static int look(struct campaign *c, bool *works, const char **why, struct err *e)
{
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
        status = campaign_observe(c, &run, e);
        vec_deinit(&run.trace.calls);
        if (status)
            return status;
    }
    c->since_check = 0;
    return 0;
}

/* The system is broken: makes it work again by starting our services anew. */
static int repair(struct campaign *c, struct err *e)
{
    bool works = false;
    const char *why;
    if (!live_has_own(c->live))
        return err_set(e, 0, 0,
                       "the scenario fails without any fault since an injected one: bring the "
                       "system back (`before` can do that), then go on with --resume");
    campaign_sample(c); /* while those that leak are still there */
    campaign_tell_leaks(c, true);
    int status = campaign_heal(c, true, e);
    if (status == 0)
        status = look(c, &works, &why, e);
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
        status = look(c, &works, &why, e);
    }
    *broken = status == 0 && !works;
    return status;
}

/* Which of the last faultloads was it? The newest is tried first. */
static int find_culprit(struct campaign *c, const char *why, struct err *e)
{
    uint32_t n = c->n_recent < RECENT_RUNS ? c->n_recent : RECENT_RUNS;
    for (uint32_t i = 0; i < n; i++) {
        faultload f = c->recent[(c->n_recent - 1 - i) % RECENT_RUNS];
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
    return live_hurt(c->live) || (every && c->since_check >= every);
}

int campaign_check(struct campaign *c, bool last, struct err *e)
{
    bool works = false;
    const char *why;
    uint32_t every = last ? 1 : c->opt.config->search.check_every;
    int status = campaign_heal(c, false, e);
    if (status || !c->opt.config->search.check_every || c->since_check < every)
        return status;
    status = look(c, &works, &why, e);
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

int campaign_verify(struct campaign *c, struct run *run, bool alone, struct err *e)
{
    bool works = false;
    const char *why;
    int status = alone ? 0 : repeat(c, run, e);
    if (status || run->verdict.pass || !tally_is_new(c->tally, run))
        return status;
    campaign_hold(&c->held, run);
    status = look(c, &works, &why, e);
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
