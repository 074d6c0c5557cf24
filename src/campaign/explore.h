/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop that joins a search and something that can run a scenario: next, run, observe, until
 * nothing is left or a budget is used up; then the summary. */
#ifndef OUTFOX_CAMPAIGN_EXPLORE_H
#define OUTFOX_CAMPAIGN_EXPLORE_H

#include <signal.h>

#include "core/summary.h"
#include "judge/judge.h"
#include "search/search.h"

/* What can run the scenario under a faultload: it fills in trace, verdict and body. 0, or -1 with
 * *e: then the exploration ends with that error. */
struct runner {
    void *ctx;
    int (*run)(void *ctx, faultload f, uint64_t number, struct run *run, struct err *e);
};

struct explore_budget {
    uint64_t max_runs;   /* 0: no bound */
    int64_t max_time_ns; /* 0: no bound */
    const volatile sig_atomic_t
        *interrupted; /* becomes non-zero: stop after this run; may be NULL */
};

/* Called now and then, so that somebody can show progress. */
struct explore_progress {
    void *ctx;
    void (*show)(void *ctx, uint64_t runs, uint64_t queued, uint64_t findings);
};

/* What is explored, and how. */
struct exploration {
    struct search *search;
    struct names *names;
    struct faultloads *faultloads;
    struct runner runner;
    struct explore_budget budget;
    const struct explore_progress *progress; /* NULL: nobody looks */
    struct judge *judge;                     /* is shown every run; may be NULL */
};

/* Fills *out (but for system, scenario, file, modes, order and seed, which the caller knows). 0 or
 * -1 with *e. */
int explore(const struct exploration *x, struct summary *out, struct err *e) MUST_USE;

#endif
