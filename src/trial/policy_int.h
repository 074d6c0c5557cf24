/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of policies share. */
#ifndef OUTFOX_TRIAL_POLICY_INT_H
#define OUTFOX_TRIAL_POLICY_INT_H

#include "base/index.h"
#include "trial/policy.h"

extern const struct policy_ops bsrr_ops;

#endif
