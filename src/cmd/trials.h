/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs of trials: faults inside processes. */
#ifndef OUTFOX_CMD_TRIALS_H
#define OUTFOX_CMD_TRIALS_H

#include "cmd/cmd.h"

int cmd_trials_run(const struct args *args);
int cmd_trials_check(const struct args *args);
int cmd_trials_report(const struct args *args);
int cmd_trials_replay(const struct args *args);

/* Is this the name of a finding of trials, NAME/NUMBER, whose result is kept here? */
bool trials_finding_named(const char *what);

#endif
