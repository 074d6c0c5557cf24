/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign: all runs that explore one scenario of a live system. It joins the search (what to try),
 * the live system (trying it), the store (what was tried) and the summary (what came of it).
 *
 *   campaign_new --> [campaign_restore] --> campaign_explore --> campaign_finish --> its summary
 *
 * 1. A run is stored before the search observes it: what the search knows is always in the store.
 * 2. A restored campaign goes on as if it had never stopped.
 * 3. A failure is believed only of a run that was alone, on a system that works without faults. */
#ifndef OUTFOX_CAMPAIGN_CAMPAIGN_H
#define OUTFOX_CAMPAIGN_CAMPAIGN_H

#include "campaign/judging.h"
#include "contract/contract.h"
#include "core/event.h"
#include "live/live.h"
#include "search/search.h"
#include "store/store.h"

struct campaign;

struct campaign_options {
    const struct campaign_config *config;
    uint32_t scenario;
    struct names *names;
    const struct vocabulary *words; /* what patterns may name */
    struct faultloads *faultloads;
    struct search_options search; /* the modes live as long as the campaign */
    uint32_t jobs;
    uint64_t max_runs;   /* 0: no bound */
    int64_t max_time_ns; /* 0: no bound */
    bool fail_fast;
    const struct judging *judging; /* what oracles need to know; NULL: nobody judges */
    struct contract *contract;     /* judges the runs, and outlives the campaign; NULL: none does */
    bool contract_watches;         /* it only takes note of what is restored */
    struct store *store;           /* NULL: nothing is kept */
    const char *options;           /* as text: a campaign is only resumed with equal ones */
    const char *origin;            /* as text: the services, and what the file says of the search */
    bool origin_counts;            /* all of it must be as it was, not the services alone */
    struct event_sink sink;        /* is told what happens, all but the end (summary_tell) */
};

struct campaign *campaign_new(const struct campaign_options *options);
void campaign_free(struct campaign *c);

/* Takes up what the store has of it. 1: it has nothing; CAMPAIGN_OTHER: it was made with other
 * options, *e says which. */
enum { CAMPAIGN_OTHER = 2 };
int campaign_restore(struct campaign *c, struct err *e) MUST_USE;

/* Was what was restored judged by a contract? Which lines were, or are, missing in it; "": none. */
bool campaign_had_contract(const struct campaign *c);
const char *campaign_lines(const struct campaign *c);

/* Takes up only how calls are named: enough to replay a faultload. 1: it has nothing. */
int campaign_recall(struct campaign *c, struct err *e) MUST_USE;

/* Is nothing left to be done? */
bool campaign_complete(const struct campaign *c);

/* Explores, until nothing is left, a budget ends or somebody interrupts. -1: the environment does
 * not allow to go on; what is known is in the summary all the same. */
int campaign_explore(struct campaign *c, struct live *live, struct err *e) MUST_USE;

/* Shrinks and confirms the findings. */
int campaign_confirm(struct campaign *c, struct live *live, struct err *e) MUST_USE;

/* Fills in and returns the summary, which lives as long as the campaign. */
const struct summary *campaign_finish(struct campaign *c);

/* The runs of a replay: without faults, with them, and without them once more. The traces are the
 * receiver's. */
struct replay {
    struct run before, faulty, after;
};

/* Runs the scenario so, with this faultload and these patterns. 0, 1: interrupted, -1. How many of
 * the patterns matched no call: campaign_unfired. */
int campaign_replay(struct campaign *c, struct live *live, faultload f, const char *const *patterns,
                    uint32_t n_patterns, struct replay *out, struct err *e) MUST_USE;
uint32_t campaign_unfired(const struct campaign *c);

/* The summary as far as it is filled in; the search behind it. */
struct summary *campaign_summary(struct campaign *c);
const struct search *campaign_search(const struct campaign *c);

/* Who judges its runs; NULL: nobody. */
struct judge *campaign_judge(struct campaign *c);

/* A run as it is stored, of this faultload; the fault-free one for FAULTLOAD_EMPTY. 1: none. */
int campaign_run_of(struct campaign *c, faultload f, struct arena *keep, struct run *out,
                    struct err *e) MUST_USE;

#endif
