/* SPDX-License-Identifier: Apache-2.0
 *
 * How views, the fault-free run and reactions are made: for judge.c. */
#ifndef OUTFOX_JUDGE_VIEW_INT_H
#define OUTFOX_JUDGE_VIEW_INT_H

#include "judge/judge_int.h"

/* One more fault-free run. */
void base_learn(struct judge *j, const struct run *run);
void base_deinit(struct base *b);

/* Replaces what *v holds. */
void view_make(struct judge *j, const struct run *run, struct view *v);
void view_deinit(struct view *v);

/* Of two faultloads that show the same, is a to be shown rather than b? Whichever was run first. */
bool judge_precedes(const struct judge *j, faultload a, faultload b);

/* Remembers how the system reacted in this run, where one call failed alone. */
void reaction_learn(const struct view *v);

/* What this run says about dependencies. */
void deps_learn(const struct view *v);
struct dep_memory *deps_memory_new(void);
void deps_memory_free(struct dep_memory *m);

#endif
