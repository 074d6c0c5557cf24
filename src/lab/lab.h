/* SPDX-License-Identifier: Apache-2.0
 *
 * The lab carries a plan out: it starts the system, lets clients at it, makes faults begin and end
 * as the schedule says, and keeps what was seen. First without faults, then with them. */
#ifndef OUTFOX_LAB_LAB_H
#define OUTFOX_LAB_LAB_H

#include "plan/result.h"

struct lab_options {
    const char *dir;     /* where each run has a directory, NAME/reference-1 ... */
    bool reference_only; /* no run with faults */
    /* Something to say while it lasts, a sentence; NULL: nobody listens. */
    void (*say)(void *user, const char *text);
    void *user;
};

/* 0, or -1 with *e: nothing could be started. What went wrong later is in the result. */
int lab_run(const struct plan *p, const struct lab_options *o, struct plan_result *out,
            struct err *e) MUST_USE;

#endif
