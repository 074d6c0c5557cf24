/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a plan: what clients saw in each run, which faults were on meanwhile, and whether
 * what must hold did. Made by lab/, judged by analyze.c, printed by report/. Moments are nanoseconds
 * since the clock of the run's triggers was started; those of the warm-up are negative. */
#ifndef OUTFOX_PLAN_RESULT_H
#define OUTFOX_PLAN_RESULT_H

#include "plan/plan.h"
#include "plan/series.h"

/* One operation of a client. */
struct plan_op {
    int64_t at_ns; /* when it ended */
    int64_t took_ns;
    uint32_t client;
    bool ok;
};

/* A fault that was on. */
struct plan_spell {
    uint32_t event;
    int64_t begin_ns, end_ns; /* end: INT64_MAX while it lasts */
    VEC(uint32_t) nodes;
    uint64_t struck; /* packets, system calls ... that it met */
    slice failed;    /* why it could not be begun; empty: it began */
};

struct plan_death {
    uint32_t node;
    int64_t at_ns;
    int status; /* as of waitpid */
};

struct plan_line {
    slice text; /* as it was printed */
    int32_t node, client;
    int64_t at_ns;
};

/* The end of a log. */
struct plan_tail {
    slice name; /* of the node or client */
    slice text; /* whole lines */
};

/* How a collector fared. */
struct plan_source {
    uint64_t samples;       /* that came of it */
    uint64_t tries, failed; /* of those that ask; of OTLP: requests */
    slice why;              /* it failed last; empty: it never did */
};

/* What one expectation says of one run. */
struct plan_answer {
    uint32_t expect;
    bool holds;
    slice seen; /* what was seen, in words: "97.2 % of 1204 operations" */
};

enum { PLAN_OPS_MAX = 5000000, PLAN_LINES_MAX = 100000 };

struct plan_run {
    struct arena arena;
    bool reference; /* no faults */
    uint32_t number;
    int64_t from_ns, to_ns;  /* of what was measured */
    VEC(struct plan_op) ops; /* in the order of their ends */
    struct {
        slice said;
        int64_t at_ns;
        uint32_t client; /* UINT32_MAX: none failed */
    } first_failure;
    VEC(struct plan_spell) spells;
    VEC(struct plan_death) deaths; /* that nobody ordered */
    VEC(struct plan_line) lines;   /* that some EXPECT_NEW_LINES looks for */
    VEC(struct plan_answer) answers;
    VEC(struct plan_check {
        uint32_t expect; /* EXPECT_COMMAND */
        bool holds;
        slice said; /* the last line that it printed */
    })
    checks;
    struct plan_measures measures;
    VEC(struct plan_source) sources; /* as the plan's collectors */
    VEC(struct plan_tail) tails;
    slice dir;      /* where its logs and its history are */
    slice broken;   /* why it says nothing: a node did not start ...; empty: it does */
    bool truncated; /* more operations or lines than are kept */
};

struct plan_result {
    const struct plan *plan;
    VEC(struct plan_run *) runs; /* references first */
    int64_t began_ns;            /* wall time */
    int64_t took_ns;
    int signal; /* that ended it early; 0: none */
};

void plan_run_free(struct plan_run *r);
void plan_result_deinit(struct plan_result *r);

/* Fills r->answers. `references`: the earlier runs without faults, for what is compared. */
void plan_analyze(const struct plan *p, struct plan_run *r, struct plan_run *const *references,
                  uint32_t n);

/* Do all expectations hold, in a run that says something? Did every fault begin? */
bool plan_run_holds(const struct plan_run *r);

/* What came of all runs: the worst of them. */
enum plan_verdict {
    PLAN_HOLDS,
    PLAN_VIOLATED, /* with faults, something expected does not hold */
    PLAN_UNSURE,   /* a fault did not happen as planned, or a run was not carried out */
    PLAN_SICK,     /* without faults already */
};
enum plan_verdict plan_verdict(const struct plan_result *r);

/* The k-th operation of a sorted sample, by percentile 0 to 100; n > 0. */
int64_t plan_percentile(const int64_t *sorted, uint32_t n, double percentile);

/* The line with a # for every number and every id in hexadecimal digits, so that the same message
 * of two runs is the same text. The shape of a shape is itself. */
slice plan_line_shape(struct arena *a, slice text);

#endif
