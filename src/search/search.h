/* SPDX-License-Identifier: Apache-2.0
 *
 * The search: which faultload is worth a run next (docs/search.md). A pure library: search_next
 * gives a faultload, search_observe takes what happened under it, nothing else drives it. No clock,
 * no I/O; equal options and equal observations give equal decisions, so a campaign is resumed by
 * observing its past runs again. */
#ifndef OUTFOX_SEARCH_SEARCH_H
#define OUTFOX_SEARCH_SEARCH_H

#include "core/fault.h"
#include "core/mode.h"
#include "core/pattern.h"
#include "core/suspect.h"
#include "core/trace.h"

struct suite;
struct knowledge;

/* ---- options ---- */

/* Reductions: less work under a stated assumption. The order is that of reduction_rows. */
enum reduction {
    REDUCE_STATELESS,
    REDUCE_MODES,
    REDUCE_MODES_ONCE,
    REDUCE_RETRIES,
    REDUCE_MAX_FAULTS,
    REDUCE_T_WAY,
    REDUCE_SINCE,
    REDUCTIONS
};

struct reduction_row {
    const char *name;
    const char *assumption; /* a sentence for the report */
    bool flag;              /* chosen with --assume; the others have an option of their own */
};

extern const struct reduction_row reduction_rows[REDUCTIONS];

/* Orders: which of the queued faultloads comes next. */
struct order_row {
    const char *name;
};

extern const struct order_row *const order_rows;
extern const uint32_t order_count;

/* With more modes than this, a 4-way search would need more than a million runs for four calls. */
enum { FOUR_WAY_MODES_MAX = 31 };

struct search_options {
    const mode *modes; /* lives as long as the search */
    uint32_t n_modes;
    uint32_t assume;     /* bits 1 << enum reduction */
    uint32_t max_faults; /* with REDUCE_MAX_FAULTS */
    uint32_t t_way;      /* with REDUCE_T_WAY: 2 to 4; 4 with at most FOUR_WAY_MODES_MAX modes */
    double audit;        /* per cent of what reductions skip that is run after all, 0 to 100 */
    uint32_t order;      /* index into order_rows */
    uint64_t seed;       /* of the random order and of the audit */
    uint32_t baselines;  /* fault-free runs; 0: 3 */
    uint32_t attempts;   /* of a faultload whose faults do not all fire; 0: 3 */

    /* One of `shards` searches that share the work (0: alone), which it is, from 0. Of the
     * faultloads only those are run whose first fault in causal order falls to this one, by its
     * text. Together they show all that one alone shows. */
    uint32_t shard, shards;

    /* What it shares with the searches of other scenarios (suite.h), and which of them it is, from 0;
     * NULL: nothing. */
    struct suite *suite;
    uint32_t seat;

    /* What an earlier campaign has shown (knowledge.h), with as much of it as is trusted; NULL: nothing.
     * All searches of a suite have the same, from its options. `scenario`: its name, lives as long as
     * the search; NULL: it has none. */
    struct knowledge *knowledge;
    const char *scenario;
};

/* What decides which runs are made, see option.list. */
enum search_option {
#define SEARCH_OPTION(ID, ...) SEARCH_##ID,
#include "search/option.list"
#undef SEARCH_OPTION
    SEARCH_OPTIONS
};

/* Reads what the command line says of an option. Its modes are kept in *modes. 0, or -1 with a
 * sentence. */
int search_option_read(enum search_option option, slice text, struct mode_list *modes,
                       struct search_options *out, struct err *e) MUST_USE;

/* All of them as they are kept with a campaign, a line "NAME: VALUE" each; and back, line by line.
 * False: it is damaged. Lines about other things are passed over. */
void search_options_print(const struct search_options *o, struct buf *out);
bool search_options_restore(slice name, slice value, struct mode_list *modes,
                            struct search_options *out) MUST_USE;

/* order_count: there is none of this name. */
uint32_t order_find(slice name);

/* ---- driving it ---- */

struct search;

struct search *search_new(struct names *names, struct faultloads *fl,
                          const struct search_options *options);
void search_free(struct search *s);

/* A faultload to run. It is under way until search_observe or search_forget is called with it. May
 * be called again before that: each call gives another one, but for the fault-free faultload, which
 * is given as often as there are baselines, and nothing else until all of these were observed.
 * False: nothing to give now; search_done tells whether that is for good or because results of runs
 * under way are missing. */
bool search_next(struct search *s, faultload *out) MUST_USE;

/* What happened under f. A faultload that is not under way counts as if it had just been given: a
 * campaign is resumed by observing its past runs in their order. What was observed one at a time is
 * then continued exactly as if it had never stopped; the orders `fitness` and `auto` draw anew, and come
 * to the same end by other runs. */
void search_observe(struct search *s, faultload f, const struct trace *trace,
                    const struct verdict *verdict);

/* A run that search_next gave has ended: is it to be observed now? Under a reduction what was seen
 * first stands for the rest. So what is given while others are under way is a guess there, and is
 * observed when one run at a time would have come to it: LATER, when others were observed. NEVER:
 * nobody would have made it; it is not under way any more, and not to be observed. */
enum search_turn { TURN_NOW, TURN_LATER, TURN_NEVER };
enum search_turn search_turn(struct search *s, faultload f) MUST_USE;

/* The run of f, which is under way, will not be observed. A later search_next gives it again. */
void search_forget(struct search *s, faultload f);

/* After search_next said no: is nothing left, and nothing under way? In a suite that shares what it
 * knows, others may still show what leads to something here: then no, and search_next is asked again
 * when it is its turn (suite_turn). */
bool search_done(const struct search *s);

/* Nobody asks it any more, done or not: others need not wait for what it might show. Or somebody
 * does again. */
void search_retire(struct search *s, bool retired);

/* Faultloads that an earlier campaign made (knowledge_verify), to be run first. */
void search_verify(struct search *s, const faultload *list, uint32_t n);

/* ---- what came of it ---- */

enum search_purpose { FOR_BASELINE, FOR_SEARCH, FOR_AUDIT, FOR_VERIFY };

struct search_run {
    faultload faultload; /* what was planned, */
    faultload happened;  /* and what of it fired */
    outcome status;
    bool pass, fired;    /* fired: every planned fault did */
    bool repeat;         /* a further fault-free run, or another attempt */
    uint32_t size, hits; /* faults that were planned, and that fired */
    enum search_purpose purpose;
};

struct search_stats {
    uint32_t points, conditional; /* calls that can fail; those that only faults bring about */
    uint64_t runs;                /* different faultloads that were run, without the audit */
    uint64_t repeats;             /* further fault-free runs and attempts */
    uint64_t audited;
    uint64_t edges;               /* of the handler trees, without what was only counted */
    uint64_t transcripts;         /* different (handler, transcript, reply) */
    uint64_t dropped;             /* queued, but seen before their turn came */
    uint64_t elsewhere;           /* faultloads that fell to other shards */
    uint64_t skipped[REDUCTIONS]; /* faultloads that a reduction kept from being run */
    uint64_t queued;              /* what is left */
    bool complete;                /* nothing is left */
};

void search_stats(const struct search *s, struct search_stats *out);

/* Two of them that cost nothing: runs and queued. */
void search_progress(const struct search *s, uint64_t *runs, uint64_t *queued);

/* All runs in their order, including repeats and audits. */
const struct search_run *search_runs(const struct search *s, uint32_t *n);
const struct search_run *search_last(const struct search *s); /* there is one */

/* What was not as it should be; at most SUSPECTS_MAX are kept, *total counts all. */
enum { SUSPECTS_MAX = 200 };
const struct suspect *search_suspects(const struct search *s, uint32_t *n, uint64_t *total);

/* How many faultloads of the full space each of the published policies accounts for. Known when the
 * search was exact, alone, complete and stable, no answer came after its caller's timeout, and the
 * space is a number that a double holds. */
struct search_space {
    double space;   /* product over all points of (modes that it takes + 1) */
    bool known;     /* the rest is filled in; all of it and the runs add up to the space */
    bool late;      /* some answer came after its caller's timeout */
    bool estimated; /* how exclusion, inclusion and unreachability share their sum was sampled */
    double saved[POLICIES]; /* POLICY_ENCAPSULATION: with POLICY_PROPAGATION, which is no case of
                               its own here: a propagated error is an outcome that was seen */
};

void search_space(const struct search *s, struct search_space *out);

/* ---- explain ---- */

/* The faultloads that somebody means who writes `CALL : MODE & ...` with patterns, or `none`: each
 * pattern stands for one of the points that match it, of those that were seen. At most
 * MEANT_MAX of them. 0, or -1 with *e: nothing was seen that matches, or too much. request: the
 * scenario's own, or UID_NONE. */
enum { MEANT_MAX = 32 };
int search_meant(const struct search *s, const struct vocabulary *v, uid request, slice text,
                 faultload out[MEANT_MAX], uint32_t *n, struct err *e) MUST_USE;

void search_explain(const struct search *s, faultload f, struct explanation *out);

/* Some faultloads that were not run, and why: at most `most`, of each kind of answer alike as far as
 * there are. They are new rows of the table, the last ones. Returns how many. */
uint32_t search_sample(const struct search *s, uint32_t most, faultload *out,
                       struct explanation *why);

#endif
