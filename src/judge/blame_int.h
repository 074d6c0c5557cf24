/* SPDX-License-Identifier: Apache-2.0
 *
 * Which fault is to blame for a success with another answer: what oracles about bodies share. */
#ifndef OUTFOX_JUDGE_BLAME_INT_H
#define OUTFOX_JUDGE_BLAME_INT_H

#include "judge/tell_int.h"

/* The last fault below a request: those before it were needed for its call to be made, or the
 * faultload is not the smallest. CALL_NONE: there is none. */
uint32_t request_fault(const struct view *v, const struct request *r);

/* Did a service that is not asked without faults give something to this request? */
bool request_elsewhere(const struct view *v, const struct request *r);

/* Was it said of some of the points of f already? The modes do not count: what one shows, others
 * show as well. */
bool judge_said_smaller(const struct judge *j, enum oracle o, faultload f);

/* At the end: the larger one may have come first. */
void judge_unsay_larger(struct judge *j, enum oracle o);

#endif
