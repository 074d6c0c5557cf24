/* SPDX-License-Identifier: Apache-2.0
 *
 * The reports of a campaign: which are wanted, where they go, and the exit code that follows. */
#ifndef OUTFOX_CMD_REPORTS_H
#define OUTFOX_CMD_REPORTS_H

#include "cmd/session.h"

/* Can the reports be written where they are wanted? Asked before anything runs, so that hours of
 * work are not lost to a misspelt directory. 0, or an exit code after the error was printed. */
int reports_check(const struct args *args);

/* A report cannot be written there: an exit code, after the error was printed. */
int reports_refuse(const char *option, const char *file, int number);

/* The summary with its names: system, scenario, how findings are numbered and replayed. */
struct summary *reports_title(struct session *s, uint32_t i);

/* What came of a scenario, by all that reports print. */
const struct summary *reports_summary(struct session *s, uint32_t i);

/* Makes all reports from the campaigns of the session. error: why they could not go on, or NULL.
 * Returns the exit code. */
int reports_make(struct session *s, const char *error);

#endif
