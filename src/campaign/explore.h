/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop that joins searches and something that can run scenarios: next, run, observe, until
 * nothing is left or a budget is used up; then the summaries. */
#ifndef OUTFOX_CAMPAIGN_EXPLORE_H
#define OUTFOX_CAMPAIGN_EXPLORE_H

#include <signal.h>

#include "core/event.h"
#include "judge/judge.h"
#include "search/search.h"

/* A scenario that is explored, and how. */
struct exploration {
    struct search *search;
    struct names *names;
    struct faultloads *faultloads;
    struct {
        void *ctx;
        /* Runs the scenario under a faultload: fills in trace, verdict and body. 0, or -1 with *e: then
         * the exploration ends with that error. */
        int (*run)(void *ctx, faultload f, uint64_t number, struct run *run, struct err *e);
    } runner;
    struct {
        uint64_t max_runs;                        /* 0: no bound */
        int64_t max_time_ns;                      /* 0: no bound */
        const volatile sig_atomic_t *interrupted; /* non-zero: stop after this run; may be NULL */
    } budget;
    const struct event_sink *sink; /* NULL: nobody looks */
    struct judge *judge;           /* is shown every run; may be NULL */
};

/* A run as an event. asked: the search wanted it, and has just observed it. */
struct event event_of_run(const struct run *run, const struct search *search, bool asked);

/* Fills each *out (but for system, scenario, file, modes, order and seed, which the caller knows). Of
 * several scenarios the suite says which makes the next run, and the budget of the first is that of all;
 * suite is NULL where there is one. 0 or -1 with *e. */
int explore(const struct exploration *x, uint32_t n, struct suite *suite,
            struct summary *const *out, struct err *e) MUST_USE;

#endif
