/* SPDX-License-Identifier: Apache-2.0
 *
 * Verbs on programs that were built with outfox cc, and on systems of them. */
#ifndef OUTFOX_CMD_NATIVE_H
#define OUTFOX_CMD_NATIVE_H

#include "cmd/cmd.h"

/* As of enum option_group. */
enum {
    OPT_SITES = 1 << 19,
    OPT_STATES = 1 << 30,
    OPT_TRIALS = 1 << 12,
    OPT_TRIALS_CHECK = 1 << 13,
    OPT_TRIALS_REPORT = 1 << 14,
    OPT_TRIALS_REPLAY = 1 << 18,
};

int cmd_sites(const struct args *args);
int cmd_states(const struct args *args);

#endif
