/* SPDX-License-Identifier: Apache-2.0
 *
 * The other side of the control address: a test that asks (live/control.h). One request, one
 * answer, a few seconds at most. */
#ifndef OUTFOX_LIVE_ASK_H
#define OUTFOX_LIVE_ASK_H

#include "base/err.h"
#include "data/node.h"

struct ask {
    const char *control, *run; /* OUTFOX_CONTROL and OUTFOX_RUN */
    const char *method, *what; /* "GET", "injected" */
    const char *field;         /* of the answer: that is what is asked for */
    slice pattern;             /* as people write it; empty: none */
};

/* The status of the answer, 0 when there is none; 400: the pattern is wrong. Only of 200 there is
 * *answer, the value of the field, in the arena; otherwise *e says why. */
int ask_control(const struct ask *ask, struct arena *a, const struct node **answer, struct err *e);

/* Runs a command (argv ends with NULL), with nothing injected meanwhile; without a run (NULL) just
 * so. False with *e: nothing was run. Otherwise *code is its exit code as shells have it; with *e,
 * if it could not be run, or if the block could not be ended. */
bool ask_hush(const char *control, const char *run, char *const *argv, int *code, struct err *e);

#endif
