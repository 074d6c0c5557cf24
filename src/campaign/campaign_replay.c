/* SPDX-License-Identifier: Apache-2.0
 *
 * One faultload, run once more on a live system, next to a run without faults. */
#include "campaign/campaign_int.h"

static int run_once(struct campaign *c, faultload f, struct aim *aim, struct run *out,
                    struct err *e)
{
    const struct execution_result *r;
    struct execution_order run = {.scenario = c->opt.scenario,
                                  .faultload = f,
                                  .aim = aim,
                                  .purpose = RUN_REPLAY,
                                  .lessons = c->lessons};
    campaign_order_run(c, &run, true);
    int status = campaign_take(c, &r, e);
    if (status)
        return status;
    *out = r->run;
    overlaps_learn(&c->overlaps, c->opt.names, &out->trace);
    trace_align(&out->trace, &c->overlaps, c->opt.names);
    campaign_seen(c, out);
    campaign_hold(&c->keep, out);
    campaign_contract_replay(c, out);
    return 0;
}

static int teach_run(void *ctx, const struct run *run, struct err *e)
{
    struct campaign *c = ctx;
    (void)e;
    if (run->purpose != RUN_BASELINE)
        return 1; /* they come first */
    struct run tested = campaign_tested(run);
    if (c->opt.contract)
        contract_learn_answer(c->opt.contract, &tested);
    if (c->judge)
        judge_learn(c->judge, &tested);
    vec_deinit(&tested.trace.calls);
    return 0;
}

/* What is volatile in answers cannot be seen in one run: the stored campaign knows more of them. */
static int teach_answers(struct campaign *c, const struct run *before, struct err *e)
{
    struct run tested = campaign_tested(before);
    if (c->judge)
        judge_run(c->judge, &tested);
    vec_deinit(&tested.trace.calls);
    if (!c->opt.store || !c->learned)
        return 0;
    int status = store_each_run(c->opt.store, c->id, c->opt.names, c->opt.faultloads, &c->keep,
                                teach_run, c, e);
    return status < 0 ? -1 : 0;
}

static enum status replay(struct campaign *c, struct err *e)
{
    struct replay *out = c->replay.out;
    faultload f = c->replay.faultload;
    struct aim aim = {0}, none = {0};
    if (!c->learned)
        c->opt.store = NULL; /* a replay adds nothing to the campaign that is stored */
    int status = campaign_heal(c, false, e);
    if (!status)
        status = c->learned ? campaign_teach(c, e) : campaign_learn(c, e);
    if (!status)
        status = run_once(c, FAULTLOAD_EMPTY, &none, &out->before, e);
    if (!status)
        status = teach_answers(c, &out->before, e);
    aim_set(&aim, c->opt.names, c->opt.faultloads, f);
    for (uint32_t i = 0; i < c->replay.n_patterns && !status; i++)
        status = aim_add(&aim, c->opt.words, c->target->request(c->target->live, c->opt.scenario),
                         slice_of(c->replay.patterns[i]), e);
    if (!status)
        status = run_once(c, f, &aim, &out->faulty, e);
    if (!status)
        status = campaign_heal(c, false, e); /* it may have died of it */
    if (!status)
        status = run_once(c, FAULTLOAD_EMPTY, &none, &out->after, e);
    if (!status && out->mend && !out->after.verdict.pass)
        status = campaign_heal(c, true, e);
    if (!status && c->judge) {
        struct run faulty = campaign_tested(&out->faulty);
        judge_run(c->judge, &faulty);
        campaign_conclude(c);
        vec_deinit(&faulty.trace.calls);
    }
    if (!status) {
        campaign_doubt(c, c->seen.calls > 0);
        campaign_note_unseen(c);
    }
    for (uint32_t i = 0; i < 3; i++)
        campaign_title(c, (struct run *[]){&out->before, &out->faulty, &out->after}[i]);
    for (uint32_t i = 0; i < aim.patterns.n; i++)
        out->unfired += aim.patterns.at[i].fired == 0;
    for (uint32_t i = 0; i < aim.services.n; i++)
        out->unfired += aim.services.at[i].fired == 0;
    aim_deinit(&aim);
    aim_deinit(&none);
    campaign_abandon(c);
    return status;
}

void campaign_replay(struct campaign *c, const struct target *target, faultload f,
                     const char *const *patterns, uint32_t n_patterns, struct replay *out)
{
    c->replay = (struct replay_of){f, patterns, n_patterns, out};
    campaign_start(c, target, replay);
}
