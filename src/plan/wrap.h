/* SPDX-License-Identifier: Apache-2.0
 *
 * What must be around a node from its start, because a fault that comes later cannot be put there any
 * more. Pure. */
#ifndef OUTFOX_PLAN_WRAP_H
#define OUTFOX_PLAN_WRAP_H

#include "plan/plan.h"

/* The command that starts the node: as the plan says it, where no fault needs more. The arena keeps
 * it. */
slice wrap_start(const struct plan *p, uint32_t node, struct arena *a);

/* The file that says which calls of the node are harmed now: a word of a shell. */
void wrap_state(slice node, struct buf *out);

#endif
