/* SPDX-License-Identifier: Apache-2.0
 *
 * Explores a plan: runs it without faults, and then the plans that are derived from what was seen,
 * until nothing new is left or the budget is spent. */
#ifndef OUTFOX_LAB_EXPLORE_H
#define OUTFOX_LAB_EXPLORE_H

#include "lab/lab.h"
#include "plan/explored.h"

/* `path`: the file of the plan, which findings are based on. 0, or -1 with *e: nothing could be
 * started. What went wrong later is in *out, which is to be deinitialised in any case. */
int lab_explore(const struct plan *p, const char *path, const struct lab_options *o,
                struct plan_explored *out, struct err *e) MUST_USE;

#endif
