/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls a scenario depends on, from the runs that a judge was shown. */
#ifndef OUTFOX_JUDGE_DEPS_H
#define OUTFOX_JUDGE_DEPS_H

#include "core/dependency.h"
#include "judge/judge.h"

/* What is known by now; the caller calls deps_deinit. Nothing when no run without faults was
 * shown. */
void deps_build(const struct judge *j, struct deps *out);

#endif
