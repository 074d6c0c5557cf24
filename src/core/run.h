/* SPDX-License-Identifier: Apache-2.0
 *
 * run: one execution of a scenario under one faultload, and all that is kept of it. */
#ifndef OUTFOX_CORE_RUN_H
#define OUTFOX_CORE_RUN_H

#include "core/trace.h"

/* Why a run was made. The order is part of stored data: append only. */
enum run_purpose {
    RUN_BASELINE, /* without faults, to learn what is stable */
    RUN_SEARCH,   /* the search asked for it */
    RUN_AUDIT,    /* the search asked for it, to check an assumption */
    RUN_CHECK,    /* without faults: does the system still work? */
    RUN_SHRINK,   /* is a smaller faultload enough? */
    RUN_CONFIRM,  /* does it fail again? */
    RUN_REPLAY,   /* somebody asked for it */
    RUN_PURPOSES
};

extern const char *const run_purpose_names[RUN_PURPOSES];

enum run_flag {
    RUN_HUNG = 1,        /* the deadline passed */
    RUN_CRASHED = 2,     /* a service died during it */
    RUN_OUTLIVED = 4,    /* calls were still open, or came after its end */
    RUN_REPEATED = 8,    /* it failed next to others, and this is the repetition alone */
    RUN_CONTRACT = 16,   /* its verdict is that of a contract ... */
    RUN_UNEXPECTED = 32, /* ... and the scenario's own expectation did not hold */
    RUN_HURRIED = 64,    /* it was given less time than the scenario has (campaign_trust.c) */
};

enum {
    RUN_BODY_MAX = 64 * 1024,
    RUN_ANSWERS_MAX = 256,
    RUN_CALLS_MAX = 1 << 20,
    RUN_DEPTH_MAX = 20000, /* calls below each other */
    RUN_FLAGS = 7,
    CALL_FLAGS = 7
};

#define RUN_TIME_MAX ((int64_t)1 << 53) /* no time within a run is longer: 104 days */

/* The words for the bits of enum run_flag and enum call_flag, lowest first. */
extern const char *const run_flag_names[RUN_FLAGS];
extern const char *const call_flag_names[CALL_FLAGS];

struct run {
    uint64_t number; /* in the scenario's campaign, from 1, in the order of observation */
    enum run_purpose purpose;
    uint32_t flags;      /* enum run_flag */
    faultload faultload; /* what was planned */
    struct trace trace;
    struct verdict verdict;
    slice body;     /* what the client received, or the output of a command; its beginning */
    slice *answers; /* of the calls that a command makes itself; RUN_BODY_MAX bytes in all */
    uint32_t n_answers;
    const char *event; /* a sentence: "payment died (signal 11)"; NULL: none */
    int64_t wall_ns;   /* when it began, since 1970 */
    int64_t took_ns;
};

/* Did the scenario's own expectation hold, whatever a contract says? */
static inline bool run_expected(const struct run *run)
{
    return run->flags & RUN_CONTRACT ? !(run->flags & RUN_UNEXPECTED) : run->verdict.pass;
}

/* Can this run have been? A trace is what it is said to be in trace.h, and no number is beyond its
 * bounds, so whoever gets a run need not look. NULL, or which of its values cannot be: the name of
 * its column in the store; *call: the call it is of, CALL_NONE: of the run itself. */
const char *run_flaw(const struct names *names, const struct run *run, uint32_t *call);

#endif
