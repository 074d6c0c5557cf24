/* SPDX-License-Identifier: Apache-2.0
 *
 * Verbs on programs that were built with outfox cc. */
#ifndef OUTFOX_CMD_NATIVE_H
#define OUTFOX_CMD_NATIVE_H

#include "cmd/cmd.h"

/* As of enum option_group. */
enum { OPT_SITES = 1 << 19, OPT_STATES = 1 << 30 };

int cmd_sites(const struct args *args);
int cmd_states(const struct args *args);

#endif
