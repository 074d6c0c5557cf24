/* SPDX-License-Identifier: Apache-2.0
 *
 * What outfox deps and outfox sim deps share. */
#ifndef OUTFOX_CMD_DEPS_H
#define OUTFOX_CMD_DEPS_H

#include "cmd/cmd.h"
#include "judge/judge.h"
#include "report/deps.h"

/* Do the options go together? 0, or an exit code after the error was printed. */
int deps_check(const struct args *args);

/* Prints them as they are wanted; returns the exit code. */
int deps_print(const struct args *args, const struct deps_report *list, uint32_t n);

#endif
