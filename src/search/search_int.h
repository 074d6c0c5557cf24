/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of search/. One observation passes through these, in this order:
 *
 *   flight.c     which of the runs under way it is
 *   read.c       trace -> reading: causal order, nodes of the trees, faults that fired
 *   suspect.c    is it a result at all?
 *   audit.c      does it contradict an assumption?
 *   reduce_*.c   what of it need not be followed up?
 *   skip.c       that is counted, not kept
 *   replies.c    what may callers see that no mode gives?
 *   search.c     the rest is queued
 *
 * and when nothing is left, late.c asks: which edges were to be shown and were not? */
#ifndef OUTFOX_SEARCH_SEARCH_INT_H
#define OUTFOX_SEARCH_SEARCH_INT_H

#include "base/index.h"
#include "search/flight_int.h"
#include "search/frontier.h"
#include "search/read_int.h"
#include "search/replies_int.h"
#include "search/tree.h"
#include "search/tway_int.h"

struct audit_item {
    struct frontier_item item;
    enum reduction reduction;
};

struct search {
    struct names *names;
    struct faultloads *fl;
    struct search_options opt;
    struct tree tree;
    struct frontier frontier;
    struct reading reading;

    struct flights flights;
    struct flight now; /* the one that is being observed */

    VEC(struct search_run) runs;
    VEC(uint32_t) seen_in; /* by uid: number of runs that showed it */
    VEC(bool) happy;       /* by uid: shown by the first fault-free run */
    VEC(uint32_t) shown;   /* by uid: the fault-free runs that showed it, the first is bit 0 */
    VEC(uint8_t) flags;    /* by uid: what modes it takes, see call_flags_take */
    uint32_t baselines_done;
    uint64_t n_runs, n_repeats, n_audited, n_dropped, n_skipped[REDUCTIONS];

    struct replies replies;
    struct late late;

    /* suspect.c */
    VEC(struct suspect) suspects;
    uint64_t n_suspects;
    struct map unfired; /* shape of a call -> how often a fault at it did not fire */
    VEC(uint32_t) last; /* by uid: the last run with it, from 1, times 2; + 1: it failed */
    uint32_t explained; /* suspects whose cause was looked for */

    /* audit.c */
    VEC(struct audit_item) to_audit;
    uint32_t audit_at;
    struct map facts;
    struct rng audit_rng;

    /* reductions */
    struct map mode_signatures; /* (context, signature) -> mode */
    struct map mode_classes;    /* (point, mode) -> representative; (point) -> how many are known */
    struct map stateless;       /* (call, prefix) that were counted as skipped */
    struct map queued; /* key of a faultload -> how often it was queued; see queued_before */
    struct tway tway;

    struct map shard_of;  /* first fault -> its shard */
    struct map elsewhere; /* keys of the faultloads that fell to other shards */
};

#define ASSUMES(s, r) ((s)->opt.assume >> (r)&1)

/* One thing that could be tried: an edge, and the faults that lead to it. */
struct candidate {
    uint32_t edge;
    struct fault fault; /* the last one */
    faultload causes;   /* the others */
    bool again;         /* though the same faults may have been queued for another edge */
};

/* suspect.c */
void suspect_add(struct search *s, struct suspect suspect);
bool suspect_all_fired(struct search *s);
void suspect_not_fired(struct search *s, const struct trace *trace);
void suspect_baselines(struct search *s);

/* A trace was read: what explains the handlers in it that went on differently? */
void suspect_steps(struct search *s, const struct trace *trace);

/* Are names of calls like this one so unstable that faults at it are not worth trying? */
bool suspect_blocks(const struct search *s, uid u);

/* audit.c */
bool audit_draws(struct search *s); /* this one? */
void audit_add(struct search *s, faultload f, enum reduction why);
void audit_observe(struct search *s, const struct trace *trace, const struct verdict *verdict);

/* reduce_modes.c: does this run go on exactly as one with another mode in place of its last fault
 * did? */
bool modes_duplicate(struct search *s, const struct trace *trace, const struct verdict *verdict);
bool modes_once_skips(const struct search *s, faultload f);
mode modes_alike(const struct search *s, struct fault fault); /* the one that speaks for it */

/* reduce_retries.c: may turn the candidate into a lasting fault; false: skip it. `call` is the one
 * whose outcome the candidate's edge is about. */
bool retries_admit(struct search *s, const struct trace *trace, uint32_t call, struct candidate *c);

/* reduce_stateless.c: counts what this call would be tried with if only its own context counted. */
void stateless_skip(struct search *s, const struct trace *trace, uint32_t call);

/* skip.c: is the call left out as a whole, whatever its mode? */
bool skip_whole(struct search *s, const struct trace *trace, uint32_t call, bool duplicate);

/* Are so many faults more than max-faults allows, whatever else is assumed? */
bool skip_beyond(const struct search *s, uint32_t faults);

/* Counts a faultload that is skipped. Nothing is kept of it but that outcomes after this prefix
 * that have no edge were skipped. True: it is chosen for the audit, see audit_add. */
bool skip_unmade(struct search *s, uint32_t node, enum reduction why) MUST_USE;
void skip_mode(struct search *s, uint32_t node, faultload causes, struct fault fault,
               enum reduction why);

/* explain.c: like search_explain, without looking for the faultload among the runs; without
 * details, also without looking for the call that decides. */
void explain_predict(const struct search *s, faultload f, bool details, struct explanation *out);

/* rank.c: how late it comes by an order that goes by ranks. */
uint32_t rank_of(const struct search *s, faultload f);

/* skip.c: does this faultload fall to another shard? Counts it if so. */
bool shard_elsewhere(struct search *s, faultload causes, struct fault fault);

/* flight.c */

/* Takes the run under f from those that are under way, or makes it as if it had been. */
struct flight flight_land(struct search *s, faultload f);

/* It is to be run once more. */
void flight_again(struct search *s, struct flight flight);
uint64_t flights_waiting(const struct search *s); /* for the first time */
void flights_deinit(struct flights *flights);

/* search.c */

/* Can this call fail? Can it in this way? In how many of the search's ways? */
void search_set_flags(struct search *s, uid u, uint8_t flags);
bool search_point(const struct search *s, uid u);
bool search_takes(const struct search *s, uid u, mode m);
uint32_t search_modes(const struct search *s, uid u);

/* Queues a candidate whose edge was not seen, or says which reduction keeps it from that. `call` is
 * the one that it is about in the trace, CALL_NONE when that is of another run. */
void search_consider(struct search *s, const struct trace *trace, uint32_t call, struct candidate c,
                     bool duplicate);
void search_queue(struct search *s, struct frontier_item item);

/* Marks the item's edge as skipped and counts that, once per edge. */
void search_skip(struct search *s, struct frontier_item item, enum reduction why);

/* Counts a skipped faultload, and maybe chooses it for the audit. */
void search_count_skip(struct search *s, struct frontier_item item, enum reduction why);

#endif
