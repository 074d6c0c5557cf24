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
 *    until then. */
#include "campaign/campaign_int.h"

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
    struct buf text = BUF_INIT(600);
    buf_addf(&text,
             "%s lost the trace context while several runs were under way: those were repeated "
             "alone, and --jobs is 1 from then on. Let it pass on traceparent and tracestate",
             c->opt.config->services.at[c->lessons->lost_by].name.p);
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
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

/* Its turn has come. */
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
            status = campaign_verify(c, &l->run, alone, e);
    }
    l->news = status == 0 && !l->run.verdict.pass && tally_is_new(c->tally, &l->run);
    return status ? status : campaign_observe(c, &l->run, e);
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
            c->explored--;
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
        if (status)
            search_forget(c->search, l.run.faultload);
        else if (l.news)
            status = campaign_announce(c, e);
        if (status == 0)
            campaign_announce_remarks(c);
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
    c->explored -= c->landed.n;
    vec_deinit(&c->landed);
}
