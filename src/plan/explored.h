/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of exploring a plan: each plan that was derived and run, and which of them are findings.
 * Made by lab/explore.c, printed by report/. */
#ifndef OUTFOX_PLAN_EXPLORED_H
#define OUTFOX_PLAN_EXPLORED_H

#include "plan/derive.h"
#include "plan/result.h"

struct plan_trial {
    const struct candidate *candidate;
    enum plan_verdict verdict;
    uint32_t violated, runs; /* how often, of how many */
    slice what;              /* names of its events */
    slice expects;           /* names of what did not hold, sorted: alike findings have the same */
    slice seen;              /* what was seen of the first of them; why it is not sure */
    slice file;              /* a finding: the plan, as a file of its own */
    int32_t like;            /* an earlier trial that found the same; PLAN_NONE: it is the first */
};

enum explore_end {
    EXPLORE_ALL,  /* nothing new was left to try */
    EXPLORE_RUNS, /* max-runs */
    EXPLORE_TIME, /* max-time */
    EXPLORE_SICK, /* without faults already something is not as expected */
    EXPLORE_SIGNAL,
};

struct plan_explored {
    const struct plan *plan;
    struct derive *derive; /* owns the candidates */
    struct plan_result reference;
    struct arena arena;
    VEC(struct plan_trial) trials;
    enum explore_end end;
    uint64_t runs; /* with faults */
    int64_t took_ns;
    int signal;
};

void plan_explored_deinit(struct plan_explored *x);

#endif
