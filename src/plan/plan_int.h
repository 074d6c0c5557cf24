/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this room share. */
#ifndef OUTFOX_PLAN_PLAN_INT_H
#define OUTFOX_PLAN_PLAN_INT_H

#include "plan/plan.h"

extern const struct keys plan_keys;

#endif
