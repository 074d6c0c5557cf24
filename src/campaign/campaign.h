/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign: all runs that explore one scenario of a system. It joins the search (what to try), the
 * store (what was tried) and the summary (what came of it); others try it.
 *
 *   campaign_new --> [campaign_restore] --> campaign_begin --> steps --> campaign_finish
 *
 * It is a step machine: campaign_next hands out what is to be done next, campaign_took takes what
 * came of it. It has no loop of its own and waits for nothing, so several take turns in one thread
 * (drive), on a real system or on any other that carries orders out.
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

/* What campaigns of one suite have in common: the bounds of each are those of all, and what one does to
 * the system another may suffer from. */
enum { SHARED_RUNS = 32 };
struct campaign_share {
    uint64_t explored; /* runs of their searches in this process */
    bool found;        /* one of them has a finding */
    struct {
        struct campaign *campaign;
        faultload faultload;
    } recent[SHARED_RUNS]; /* the last runs with faults, a ring */
    uint32_t n_recent;
};

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
    struct campaign_share *share;  /* with those of other scenarios; NULL: it is alone */
    const struct judging *judging; /* what oracles need to know; NULL: nobody judges */
    struct contract *contract;     /* judges the runs, and outlives the campaign; NULL: none does */
    bool contract_watches;         /* it only takes note of what is restored */
    struct store *store;           /* NULL: nothing is kept */
    const char *options;           /* as text: a campaign is only resumed with equal ones */
    const char *origin;            /* as text: the services, and what the file says of the search */
    const char *identities;        /* of the services, as text (live/identity.h), or NULL */
    bool origin_counts;            /* all of it must be as it was, not the services alone */
    const struct since *since; /* what it builds on (campaign/since.h), as the search knows it; */
    uint32_t part;             /* its part of that. NULL: nothing */
    struct event_sink sink;    /* is told what happens, all but the end (summary_tell) */
};

struct campaign *campaign_new(const struct campaign_options *options);
void campaign_free(struct campaign *c);

/* Takes up what the store has of it. 1: it has nothing; STATUS_OTHER: it was made with other
 * options, *e says which. */
int campaign_restore(struct campaign *c, struct err *e) MUST_USE;

/* The same of several, run by run in the order in which these were made: what one search has learned from
 * another it learns again. 0, -1, or STATUS_OTHER of one of them. */
int campaigns_restore(struct campaign *const *list, uint32_t n, struct err *e) MUST_USE;

/* Was what was restored judged by a contract? Which lines were, or are, missing in it; "": none. */
bool campaign_had_contract(const struct campaign *c);
const char *campaign_lines(const struct campaign *c);

/* Takes up only how calls are named: enough to replay a faultload. 1: it has nothing. */
int campaign_recall(struct campaign *c, struct err *e) MUST_USE;

/* Is nothing left to be done? */
bool campaign_complete(const struct campaign *c);

/* ---- steps ---- */

/* What is to be done. */
enum order_kind {
    ORDER_RUN,  /* begin a run; what came of it is not waited for yet, the next order is */
    ORDER_WAIT, /* nothing, until a run of this campaign has ended */
    ORDER_REST, /* let the system be, while nothing runs */
    ORDER_HEAL, /* start services that died again, while nothing runs */
    ORDER_DROP, /* give up its runs that are under way */
    ORDER_DONE, /* nothing, any more */
    ORDER_TURN, /* nothing, until it is its turn to make a run of its search: in a suite */
};

struct order {
    enum order_kind kind;
    struct execution_order run; /* RUN */
    bool alone;                 /* RUN: next to no other, of whatever campaign */
    int64_t rest_ns;            /* REST */
    bool patient; /* REST: when no other campaign has anything to do, with all that want it */
    bool all;     /* HEAL: also those that did not die */
};

/* What came of TURN, WAIT, REST or HEAL. */
struct answer {
    enum status status;                    /* STATUS_INTERRUPTED: by a signal, or the deadline */
    const struct execution_result *result; /* WAIT; its trace becomes the campaign's */
    bool alone;                            /* no other run is under way, of whatever campaign */
    struct err why;                        /* STATUS_FAILED */
};

/* The system, as far as a campaign asks about it; all is answered at once. The functions are those of
 * live/live.h, unless a test has others. */
struct target {
    struct live *live;
    const struct tracker *tracker; /* NULL: runs that learn bring their traces */
    int (*signal)(const struct live *l);
    bool (*hurt)(const struct live *l);
    const char *(*death)(const struct live *l);
    bool (*has_own)(const struct live *l);
    void (*log_mark)(struct live *l);
    void (*log_since)(const struct live *l, slice service, uint32_t most, struct buf *out);
    bool (*usage)(const struct live *l, uint32_t service, struct process_usage *out,
                  int64_t *process);
    void (*links)(const struct live *l, struct owner_links *out);
    uint32_t (*holder)(struct live *l, uint64_t inode);
    void (*address)(const struct live *l, uint32_t service, struct buf *out);
    uid (*request)(struct live *l, uint32_t scenario);
};

/* Begins to explore, and then to shrink and confirm what was found: until nothing is left, a budget
 * ends or somebody interrupts. The target stays until ORDER_DONE. */
void campaign_begin(struct campaign *c, const struct target *target);

/* The next step. Every order but RUN and DROP is answered (campaign_took) before the next one; one
 * that has begun is gone on with until ORDER_DONE. */
void campaign_next(struct campaign *c, struct order *out);
void campaign_took(struct campaign *c, const struct answer *answer);

/* After ORDER_DONE. STATUS_FAILED: the environment did not allow to go on; what is known is in the
 * summary all the same. */
enum status campaign_ended(const struct campaign *c, struct err *e) MUST_USE;

/* At any moment: it ends as by a signal; other bounds (0: none), of all its runs in this process. One
 * that has ended may begin again after that, and goes on. */
void campaign_stop(struct campaign *c);
void campaign_set_budget(struct campaign *c, uint64_t max_runs, int64_t max_time_ns);

struct steer;

/* What a campaign asks about a live system, which outlives it; and the loop that carries out the
 * orders of campaigns that have begun on it, until all are done (drive.c). Those of a suite, in the order
 * of their seats, make runs as it says (search/suite.h); others take turns. The first that fails ends
 * with *e; the others go on. steer: what somebody wants of them meanwhile (campaign/steer.h); NULL:
 * nobody does. */
struct target drive_target(struct live *live);
enum status drive(struct live *live, struct campaign *const *campaigns, uint32_t n,
                  struct steer *steer, struct err *e) MUST_USE;

/* Fills in and returns the summary, which lives as long as the campaign. */
const struct summary *campaign_finish(struct campaign *c);

/* Severities were changed: what oracles say in a summary that is filled in follows them. */
void campaign_judge_again(struct campaign *c);

/* The summary as it stands in the middle of a campaign, which does not notice: without what only its
 * end can say, and `stopped` by "running". It is read before the campaign goes on. *v is zero or
 * holds an earlier one. */
struct campaign_view {
    struct summary summary;
    struct arena keep;
};
void campaign_look(struct campaign *c, struct campaign_view *v);
void campaign_view_deinit(struct campaign_view *v);

/* The runs of a replay: without faults, with them, and without them once more. The traces are the
 * receiver's. */
struct replay {
    struct run before, faulty, after;
    uint32_t unfired; /* faults that were asked for and matched no call */
    bool mend;        /* others go on with the system: if it stays broken, it is repaired */
};

/* Begins to run the scenario so, instead of exploring it: with this faultload and these patterns. */
void campaign_replay(struct campaign *c, const struct target *target, faultload f,
                     const char *const *patterns, uint32_t n_patterns, struct replay *out);

/* The summary as far as it is filled in; the search behind it. */
struct summary *campaign_summary(struct campaign *c);
const struct search *campaign_search(const struct campaign *c);

/* Who judges its runs; NULL: nobody. */
struct judge *campaign_judge(struct campaign *c);

/* A run as it is stored, of this faultload; the fault-free one for FAULTLOAD_EMPTY. 1: none. */
int campaign_run_of(struct campaign *c, faultload f, struct arena *keep, struct run *out,
                    struct err *e) MUST_USE;

/* Its runs as they are stored, from this number on, in their order, until `each` returns other than
 * 0, which is returned. -1: they cannot be read. */
int campaign_runs_from(struct campaign *c, uint64_t number, struct arena *keep,
                       int (*each)(void *ctx, const struct run *run, struct err *e), void *ctx,
                       struct err *e) MUST_USE;

#endif
