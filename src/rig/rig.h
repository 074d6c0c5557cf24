/* SPDX-License-Identifier: Apache-2.0
 *
 * The rig carries trials out: what the agenda orders, in as many places at a time as the file says. A
 * place (a slot) has directories, ports and processes of its own.
 *
 * 1. However a trial ends, nothing of it is left when the next one begins in its place: processes have
 *    ended, directories are made anew, the shared file is gone.
 * 2. What is left of a rig that was killed is ended by its keepers, and cleared up by the next one. */
#ifndef OUTFOX_RIG_RIG_H
#define OUTFOX_RIG_RIG_H

#include "rig/programs.h"
#include "trial/agenda.h"

struct rig_options {
    const char *dir;    /* of the results: a directory for each trial whose logs are kept */
    const char *memory; /* where shared files are; NULL: /dev/shm */
    /* A trial is over and judged; NULL: nobody listens. */
    void (*told)(void *user, const struct trial_result *r);
    void *user;
};

/* Until the agenda is over. STATUS_INTERRUPTED: *signal says by which. -1 with *e: nothing could be
 * started. */
enum status rig_run(const struct trials *t, struct agenda *agenda, struct programs *programs,
                    const struct rig_options *o, int *signal, struct err *e) MUST_USE;

#endif
