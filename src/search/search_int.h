/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of search/. One observation passes through these, in this order:
 *
 *   flight.c     which of the runs under way it is
 *   tree.c       trace -> reading: causal order, nodes of the trees, faults that fired
 *   suspect.c    is it a result at all?
 *   reduce.c     does it contradict an assumption? what of it need not be followed up?
 *   shared.c     what of it have others shown?
 *   replies.c    what may callers see that no mode gives?
 *   search.c     the rest is queued
 *
 * and when nothing is left, replies.c asks: which edges were to be shown and were not? */
#ifndef OUTFOX_SEARCH_SEARCH_INT_H
#define OUTFOX_SEARCH_SEARCH_INT_H

#include "base/index.h"
#include "search/frontier.h"
#include "search/knowledge.h"
#include "search/suite_int.h"
#include "search/tree.h"
#include "search/tway_int.h"

/* A faultload on its way between search_next and search_observe. */
struct flight {
    struct frontier_item item;
    enum search_purpose purpose;
    enum reduction audited; /* FOR_AUDIT: on whose behalf */
    uint32_t attempt;       /* how often it was observed without all its faults firing */
    bool running;           /* given; else it waits to be given, again or for the first time */
    bool stranger;          /* the search did not ask for it */
};

struct reply_row {
    outcome outcome;
    bool seen; /* by a caller. Else it was only answered, and always too late */
    struct reply_cause first, fastest, slowest;
    uint32_t next; /* next row of the same tree + 1 */
};

/* A place from which a service is called. */
struct reply_prefix {
    uint32_t node; /* a prefix after which a handler calls it, */
    uid callee;
    faultload causes;  /* and how to get there */
    int64_t waited_ns; /* how long a caller waits here before it leaves; 0: none left */
    bool too_slow;     /* whatever fails below, the callee is not in time here */
    uint32_t next;
};

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
    struct flight now; /* the one that is being observed */

    struct flights {
        VEC(struct flight) list; /* those that wait in the order in which they are to be given */
        VEC(faultload) ahead;    /* given before their turn; they are queued still */
        struct map early;        /* key of a faultload -> how often it was observed and may still be
                             queued */
    } flights;

    /* shared.c: what others have shown */
    struct {
        struct knowledge *all;             /* NULL: nobody else is there */
        uint32_t scenario;                 /* in it */
        uint64_t news;                     /* of it, so much was looked at, */
        uint32_t replies;                  /* and so many of its replies, */
        uint32_t told;                     /* and of its contradictions */
        struct map root_of;                /* knowledge_root of a callee -> root of its tree here */
        VEC(struct frontier_item) skipped; /* because somebody has shown it */
        VEC(faultload) verify;             /* to be run first, */
        uint32_t verify_at;                /* from here on */
        bool idle;                         /* search_next has said no, and nothing is under way */
        bool retired;                      /* nobody asks any more */
    } known;

    VEC(struct search_run) runs;
    VEC(uint32_t) seen_in; /* by uid: number of runs that showed it */
    VEC(bool) happy;       /* by uid: shown by the first fault-free run */
    VEC(uint32_t) shown;   /* by uid: the fault-free runs that showed it, the first is bit 0 */
    VEC(uint8_t) flags;    /* by uid: what modes it takes, see call_flags_take */
    uint32_t baselines_done;
    uint64_t n_runs, n_repeats, n_audited, n_dropped, n_skipped[REDUCTIONS];

    /* replies.c: what callers may see of a callee besides the modes, and who would meet that */
    struct {
        VEC(struct reply_row) rows;
        VEC(struct reply_prefix) prefixes;
        struct map row_of,
            prefix_of; /* root of the callee's tree -> first row, first prefix, + 1 */
    } replies;

    /* what is known of answers that come too late, and of edges that a run did not show */
    struct {
        bool happens;      /* an answer came after its caller's timeout: time plays a part */
        struct map tries;  /* edge -> how many other causes were tried */
        struct map ran;    /* keys of the faultloads that were run, */
        uint32_t n_ran;    /* as many of search.runs */
        struct map waited; /* edge by which a caller left -> how long it had waited, in
                              microseconds */
    } late;

    /* suspect.c */
    VEC(struct suspect) suspects;
    uint64_t n_suspects;
    struct map unfired; /* shape of a call -> how often a fault at it did not fire */
    VEC(uint32_t) last; /* by uid: the last run with it, from 1, times 2; + 1: it failed */
    uint32_t explained; /* suspects whose cause was looked for */

    /* reduce.c */
    struct map mode_signatures; /* (context, signature) -> mode */
    struct map mode_classes;    /* (point, mode) -> representative; (point) -> how many are known */
    struct map stateless;       /* (call, prefix) that were counted as skipped */
    struct map queued;          /* key of a faultload -> how often it was queued */
    struct tway tway;
    struct map shard_of;  /* first fault -> its shard */
    struct map elsewhere; /* keys of the faultloads that fell to other shards */
    VEC(struct audit_item) to_audit;
    uint32_t audit_at;
    struct map own_facts, *facts; /* in a suite that shares, those of all */
    struct rng audit_rng;
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

/* reduce.c: which reduction leaves this candidate out; REDUCTIONS: none. Under `retries` it may
 * become a lasting fault. `call` is the one that it is about in the trace, CALL_NONE when that is of
 * another run. */
enum reduction reduce(struct search *s, const struct trace *trace, uint32_t call, bool duplicate,
                      struct candidate *c);

/* Does this run go on exactly as one with another mode in place of its last fault did? */
bool modes_duplicate(struct search *s, const struct trace *trace, const struct verdict *verdict);
bool modes_once_skips(const struct search *s, faultload f);
mode modes_alike(const struct search *s, struct fault fault); /* the one that speaks for it */

/* Counts what this call would be tried with if only its own context counted. */
void stateless_skip(struct search *s, const struct trace *trace, uint32_t call);

/* Is the call left out as a whole, whatever its mode? */
bool skip_whole(struct search *s, const struct trace *trace, uint32_t call, bool duplicate);

/* Are so many faults more than max-faults allows, whatever else is assumed? */
bool skip_beyond(const struct search *s, uint32_t faults);

/* Marks the item's edge as skipped and counts that, once per edge; counts a skipped faultload. */
void skip_edge(struct search *s, struct frontier_item item, enum reduction why);
void skip_faultload(struct search *s, faultload f, enum reduction why);

/* Counts a faultload that is skipped. Nothing is kept of it but that outcomes after this prefix
 * that have no edge were skipped. True: it is chosen for the audit, see audit_add. */
bool skip_unmade(struct search *s, uint32_t node, enum reduction why) MUST_USE;
void skip_mode(struct search *s, uint32_t node, faultload causes, struct fault fault,
               enum reduction why);
void audit_add(struct search *s, faultload f, enum reduction why);
void audit_observe(struct search *s, const struct trace *trace, const struct verdict *verdict);

/* Does this faultload fall to another shard? Counts it if so. */
bool shard_elsewhere(struct search *s, faultload causes, struct fault fault);

/* replies.c: considers what the callee may show that no mode gives. */
void replies_expand(struct search *s, const struct trace *trace, uint32_t call, bool duplicate);

/* A call took this edge: did its caller leave? And did the run show what it was meant to? */
void late_left(struct search *s, uint32_t edge, const struct call *c);
void late_observe(struct search *s, const struct trace *trace);

/* A call that ends with this label, at a place where callers leave by the edge `left`: may it be too
 * late there? */
bool late_may_be(const struct search *s, uint32_t left, uid u, label l);

/* Nothing else is left to run. True when that queued something. */
bool late_advance(struct search *s);

/* explain.c: like search_explain, without looking for the faultload among the runs; without
 * details, also without looking for the call that decides. */
void explain_predict(const struct search *s, faultload f, bool details, struct explanation *out);

/* replies.c: an outcome that others saw of a callee. */
void replies_add_known(struct search *s, uint32_t root, outcome o, struct reply_cause cause);

/* frontier.c: the score of `soon`: what fails, all tries of a call as one, and whether somebody waits. */
uint32_t soon_score(const struct search *s, faultload f);

extern const struct order_ops fitness_ops; /* order_fitness.c */
extern const struct order_ops auto_ops;    /* order_auto.c */

/* flight.c: takes the run under f from those that are under way, or makes it as if it had been. */
struct flight flight_land(struct search *s, faultload f);
uint64_t flights_waiting(const struct search *s); /* for the first time */
bool flight_guesses(const struct search *s);      /* what it gives now is ahead of its turn */

/* search.c: can this call fail? Can it in this way? In how many of the search's ways? */
void search_set_flags(struct search *s, uid u, uint8_t flags);
bool search_point(const struct search *s, uid u);
bool search_takes(const struct search *s, uid u, mode m);
uint32_t search_modes(const struct search *s, uid u);

/* Is it made without faults? */
static inline bool search_happy(const struct search *s, uid u)
{
    return u < s->happy.n && s->happy.at[u];
}

/* Queues a candidate whose edge was not seen, or says which reduction keeps it from that. */
void search_consider(struct search *s, const struct trace *trace, uint32_t call, struct candidate c,
                     bool duplicate);
void search_queue(struct search *s, struct frontier_item item);

#endif
