/* SPDX-License-Identifier: Apache-2.0
 *
 * What must hold of a run. */
#ifndef OUTFOX_PLAN_EXPECT_H
#define OUTFOX_PLAN_EXPECT_H

#include "data/regex.h"
#include "plan/host.h"

enum plan_expect_kind {
    EXPECT_AVAILABILITY, /* percent of operations that succeed, at least */
    EXPECT_LOST,         /* operations that fail, at most */
    EXPECT_GAP,          /* longest time without a success, at most */
    EXPECT_RECOVERY,     /* from the end of the last fault to the first success, at most */
    EXPECT_LATENCY,      /* a percentile of successful operations, at most */
    EXPECT_SLOWDOWN,     /* against the reference: factor of a percentile, at most */
    EXPECT_NEW_LINES,    /* lines that match and were in no reference run, at most */
    EXPECT_ALIVE,        /* no node ends that nobody ended */
    EXPECT_COMMAND,      /* succeeds after the run */
    EXPECT_METRIC,       /* of samples, as its bound says */
};

/* What must hold of the samples of a metric. */
enum plan_bound {
    BOUND_NONE,
    BOUND_MOST, /* of each sample */
    BOUND_LEAST,
    BOUND_EQUALS,
    BOUND_GROWTH, /* the end is so many times the beginning, at most */
    BOUND_RATIO,  /* the same percentile of the reference, at most */
};

struct plan_expect {
    slice name;   /* its key: what kind it is; of a metric, with which */
    slice called; /* in reports instead, where the plan says so */
    enum plan_expect_kind kind;
    double number; /* percent, count, factor; of METRIC: the bound's */
    enum plan_bound bound;
    int64_t most_ns; /* GAP, RECOVERY, LATENCY */
    double percentile;
    slice command, pattern, metric;
    const struct regex *regex;
    int64_t within_ns; /* COMMAND */
    int32_t client;    /* only operations of this one; PLAN_NONE: of all */
    slice of;          /* of METRIC: whose samples; empty: everybody's, each by itself */
    struct plan_place at;
};

#endif
