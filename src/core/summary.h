/* SPDX-License-Identifier: Apache-2.0
 *
 * summary: what came of exploring one scenario. The one model that all reports are printed from. */
#ifndef OUTFOX_CORE_SUMMARY_H
#define OUTFOX_CORE_SUMMARY_H

#include "base/vec.h"
#include "core/suspect.h"
#include "core/trace.h"

enum { FINDING_STATUSES = 8, FINDING_MODES = 16 };

enum finding_kind {
    FINDING_EXPECTATION, /* the scenario's expectation does not hold */
    FINDING_HANG,        /* the scenario does not end */
    FINDING_CRASH,       /* a service died */
    FINDING_BLAST,       /* the system stays broken afterwards */
    FINDING_CONTRACT,    /* it is not as the contract says */
    FINDING_KINDS
};

enum finding_state {
    FINDING_SEEN,      /* once */
    FINDING_CONFIRMED, /* again, in a run made for that */
    FINDING_FLAKY,     /* not again */
    FINDING_STATES
};

extern const char *const finding_kind_names[FINDING_KINDS];

/* What a failed run is, by its flags (enum run_flag). */
enum finding_kind finding_kind_of(uint32_t run_flags);

extern const char *const finding_state_names[FINDING_STATES];

/* A call that fails in a finding, all its tries together. */
struct finding_call {
    uint64_t key;   /* the same for all tries */
    uid call;       /* the first that fails in the finding's faultload */
    mode last;      /* how the last of them fails */
    uint32_t tries; /* in the run that shows it, failed or not */
    uint32_t hits;  /* that fail because of a fault, at them or below */
    bool same;      /* all faults at them are of one mode */
    bool more_modes;
    uint32_t n_modes;
    struct {
        mode mode;
        bool every_try;     /* it is tried again after it, in vain */
    } modes[FINDING_MODES]; /* in which it may fail alone, over all faultloads of the finding */
};

/* The end of what a service wrote while a run lasted. */
struct log_end {
    const char *service;
    const char *lines; /* NULL: nothing, or it is not known */
};

struct finding {
    faultload faultload;  /* the smallest that shows it, in the first of its modes */
    VEC(faultload) alike; /* others that show it and contain none of these; the first of */
    uint64_t n_alike;
    VEC(struct finding_call) calls; /* none: as in the faultload */
    uint64_t combinations;          /* of their modes that fail */
    const char *why;
    outcome status[FINDING_STATUSES]; /* what the client saw, the first ones */
    uint32_t n_statuses;
    uint64_t number; /* of the run that showed it first, from 1 */
    uint64_t runs;   /* failed runs that have it, larger faultloads included */
    enum finding_kind kind;
    enum finding_state state;
    bool shrunk;        /* a fault that it did not need was left out */
    const char *detail; /* what it was like in one run; NULL: nothing to add */
    struct log_end log; /* of the service that went wrong first, when it was confirmed */
};

/* A call that shows what an oracle says. */
struct evidence {
    uid call;
    mode mode;    /* the fault at it, or MODE_NONE */
    outcome seen; /* what its caller saw */
    int64_t start_ns, end_ns;
    const char *role; /* what it is in this: "the retry", "failed with" ... */
};

enum { EVIDENCE_MAX = 6 };

enum severity { SEVERITY_OFF, SEVERITY_WARNING, SEVERITY_FINDING, SEVERITIES };

extern const char *const severity_names[SEVERITIES]; /* off warning finding */

/* What an oracle says (judge room): of one call or handler, the smallest faultload that shows it.
 */
struct remark {
    const char *oracle;
    enum severity severity;
    const char *why; /* a sentence */
    faultload faultload;
    uint64_t number; /* of the run that shows it, from 1 */
    uint64_t runs;   /* that show it */
    uint32_t n_evidence;
    struct evidence evidence[EVIDENCE_MAX];
};

/* How the calls that a service makes are identified. */
struct summary_level {
    const char *service;
    uint64_t calls;
    const char *level; /* state, trace, none */
    const char *note;  /* what is wrong with it and what to do; NULL: nothing */
};

struct summary_outcome {
    outcome status;
    bool pass;
    uint64_t runs;
};

struct summary_skip {
    const char *name; /* of a policy or reduction */
    const char *why;
    double n;
};

enum { FINDINGS_MAX = 200, FINDINGS_MORE = 1800 };

struct summary {
    const char *system, *scenario, *file;
    const struct names *names;
    const struct faultloads *faultloads;
    uint32_t n_modes;
    const mode *modes;
    const char *order;
    uint64_t seed;
    bool random;            /* chance plays a part in the system */
    bool quick;             /* only a first look was taken */
    uint32_t shard, shards; /* it is one of several parts, from 0; shards 0: it is the whole */
    uint64_t elsewhere;     /* faultloads that fell to the other parts */

    uint32_t points, conditional;
    double space; /* all combinations of faults */
    uint64_t runs, repeats, audited, transcripts;
    VEC(uint64_t) runs_by_size;
    VEC(struct summary_outcome) outcomes;
    VEC(struct summary_skip) skipped;
    bool skipped_known;     /* with the runs, they add up to all combinations */
    bool skipped_estimated; /* the shares of exclusion, inclusion and unreachability are sampled */
    VEC(const char *) assumptions; /* of the reductions in use, as "name: sentence" */
    VEC(struct finding) findings;
    VEC(struct remark) remarks;  /* of oracles; those that are findings first */
    VEC(const char *) volatile_; /* what of answers is not compared: "/id", "the order of /items" */
    uint64_t more_remarks;       /* beyond the bound of what is kept */
    uint64_t failed_runs;
    uint64_t more_findings; /* beyond FINDINGS_MAX; FINDINGS_MORE: that many at least */
    uint32_t n_suspects;
    const struct suspect *suspects;
    uint64_t all_suspects;
    struct reasons reasons;      /* what explains them */
    VEC(const char *) restarted; /* services that can be restarted: those that we start */

    const char *stopped; /* by what: runs, time, interrupt, finding, error; NULL: by itself */
    uint64_t queued;     /* faultloads that were left then */
    const char *broken;  /* why the scenario fails without any fault; NULL: it does not */
    const char *doubt;   /* why "no finding" proves nothing although it ended by itself; NULL: it
                            proves something */

    /* of campaigns */
    const char *broken_detail;
    struct log_end broken_log; /* of the service that went wrong first, in the run that failed */
    VEC(struct summary_level) levels;
    VEC(const char *) notes; /* sentences for whoever reads the report */
    int64_t took_ns;
    uint32_t line;      /* of the scenario in its file; 0: not known */
    const char *ids;    /* what stands before the number of a finding: "", or "SCENARIO/"; NULL: it
                           is of no campaign */
    const char *replay; /* what follows WHAT in a replay command, ready for a shell: "", " FILE" */
    const char *resume; /* the command that goes on with it; NULL: none does */
};

/* The seed of one run, from that of the campaign and the number of the run. */
uint64_t run_seed(uint64_t seed, uint64_t number);

/* What it comes to, the worst last. Whatever prints a verdict or ends with an exit code asks here.
 */
enum conclusion {
    CONCLUSION_OK,
    CONCLUSION_INCONCLUSIVE, /* no finding, but that proves nothing (summary_unsure) */
    CONCLUSION_FINDINGS,
    CONCLUSION_BROKEN, /* the scenario fails without any fault */
    CONCLUSIONS
};

extern const char *const conclusion_names[CONCLUSIONS]; /* ok inconclusive findings broken */

enum conclusion summary_conclusion(const struct summary *summary);

/* Is there a reason not to trust that nothing more is wrong? Also beside findings. */
bool summary_unsure(const struct summary *summary);

/* How many things are wrong: findings, and what oracles say as a finding. */
uint32_t summary_wrong(const struct summary *summary);

/* How many warnings oracles have, those that were not kept included. */
uint64_t summary_warnings(const struct summary *summary);

/* A run that counts ended so. */
void summary_count(struct summary *summary, outcome status, bool pass);

void finding_deinit(struct finding *finding);
void summary_deinit(struct summary *summary);

#endif
