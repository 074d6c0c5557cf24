/* SPDX-License-Identifier: Apache-2.0
 *
 * The lab carries a plan out: it starts the system, lets clients at it, makes faults begin and end
 * as the schedule says, and keeps what was seen. First without faults, then with them. */
#ifndef OUTFOX_LAB_LAB_H
#define OUTFOX_LAB_LAB_H

#include "plan/derive.h"
#include "plan/result.h"

struct lab_options {
    const char *dir;     /* where each run has a directory, NAME/reference-1 ... */
    bool reference_only; /* no run with faults */
    /* Runs without faults that were made before: then there are none of our own. */
    struct plan_run *const *references;
    uint32_t n_references;
    /* What could be a trigger, as it happens in a run; NULL: nobody looks. */
    void (*saw)(void *user, const struct sight *s);
    /* Something to say while it lasts, a sentence; NULL: nobody listens. */
    void (*say)(void *user, const char *text);
    void *user;
};

/* Sends lines to the run that listens at this socket (lab/socket.c), and waits for its answer; *answer
 * is empty where there is nothing to say. 0, or -1 with *e. */
int lab_tell(const char *path, slice lines, struct buf *answer, struct err *e) MUST_USE;

/* 0, or -1 with *e: nothing could be started. What went wrong later is in the result. */
int lab_run(const struct plan *p, const struct lab_options *o, struct plan_result *out,
            struct err *e) MUST_USE;

#endif
