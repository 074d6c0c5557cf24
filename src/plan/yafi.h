/* SPDX-License-Identifier: Apache-2.0
 *
 * Fault models of YAFI (hosts, events of fault and trigger, by the names of its protocol) and plans:
 * one into the other. A model does not say how its hosts are started: the plan that comes of it
 * extends one that does, whose nodes are called as the hosts are. */
#ifndef OUTFOX_PLAN_YAFI_H
#define OUTFOX_PLAN_YAFI_H

#include "plan/plan.h"

/* The model as a plan, as JSON, which is YAML. `system`: the plan that it extends; NULL: its hosts are
 * nodes whose `start` is to be filled in. 0, or -1 with *e and its place. */
int yafi_to_plan(const struct node *model, const char *name, const char *system, struct buf *out,
                 struct err *e) MUST_USE;

/* The plan as a model. What a model cannot say is left out, and told in `lost`, a line each. */
void yafi_from_plan(const struct plan *p, struct buf *out, struct buf *lost);

#endif
