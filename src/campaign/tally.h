/* SPDX-License-Identifier: Apache-2.0
 *
 * tally: turns runs into a summary. Every run is counted when it is done; a failing one is sorted
 * at once, as far as is known then, so that a campaign can look closer at what is new. At the end
 * all failures are sorted again, the smallest faultloads first: then a finding has the smallest
 * faultload that shows it, whatever the order of the runs was.
 *
 * Failures are one finding when they have the same sentence (by text) and either the same points,
 * or one of them contains faults that fail in the same way on their own.
 *
 * 1. The end result depends on the runs, not on what was new when.
 * 2. Memory: one small record per failing run; at most FINDINGS_MAX findings are kept. */
#ifndef OUTFOX_CAMPAIGN_TALLY_H
#define OUTFOX_CAMPAIGN_TALLY_H

#include "base/index.h"
#include "core/run.h"
#include "core/summary.h"
#include "search/search.h"

enum { FINDINGS_MAX = 200 };

struct tally_run {
    enum run_purpose purpose;
    faultload faultload; /* what was planned, */
    faultload happened;  /* and what of it fired */
    bool fired;          /* all of it */
    uint64_t number;
    enum finding_kind kind; /* when it failed */
};

struct tally {
    const struct search *search;
    const struct faultloads *fl;
    struct summary *out;
    VEC(struct tally_failure {
        faultload faultload;
        enum finding_kind kind;
        const char *why;
        const char *detail;
        outcome status;
        uint64_t number;
    })
    failures;
    VEC(struct tally_mark {
        uint64_t key;
        enum finding_state state;
        bool shrunk;
    })
    marks;
    struct tally_sorted {
        struct map failed;     /* keys of the failures that were sorted */
        struct map finding_at; /* why and points -> finding */
    } live;                    /* as they came, into the findings of */
    struct summary known;      /* (all else in it is empty) */
};

/* Everything lives as long as the tally; *out becomes whole with tally_finish. */
void tally_init(struct tally *t, const struct search *search, const struct faultloads *fl,
                struct summary *out);
void tally_deinit(struct tally *t);

/* Adds a run. Baselines and runs for search and audit count as runs of the scenario, those to
 * shrink only as failures, the others not at all (but a RUN_CHECK that failed is a failure too).
 * verdict->why and ->detail must live as long as the summary.
 *
 * Returns the finding that it starts, or NULL: it passed, or is one that is known. The address is
 * good until the next call. */
const struct finding *tally_run(struct tally *t, const struct tally_run *run,
                                const struct verdict *verdict);

/* The newest run that the search observed. */
const struct finding *tally_observed(struct tally *t, uint64_t number, enum finding_kind kind,
                                     const struct verdict *verdict);

/* What came of looking closer at the finding of this faultload and sentence. The last word counts.
 */
void tally_mark(struct tally *t, faultload f, const char *why, enum finding_state state,
                bool shrunk);

/* Fills in the summary, but for who and what was explored and why it stopped. */
void tally_finish(struct tally *t);

#endif
