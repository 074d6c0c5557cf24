/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that a handler makes side by side, learned from traces of real systems. A clock tells the
 * starts of such calls apart, in an order that chance decides; a trace is to read the same however
 * they arrived. So two calls that were once seen to overlap, while nothing was done to the first of
 * them, count as started together from then on (trace_order then takes them by name).
 *
 * A call that its caller gave up overlaps with what the caller did next for a moment only; that is
 * no sign of concurrency, and is not learned from. */
#ifndef OUTFOX_CORE_OVERLAPS_H
#define OUTFOX_CORE_OVERLAPS_H

#include "base/index.h"
#include "core/trace.h"

/* Zero-initialised knows nothing. Means something only together with the names of its calls. */
struct overlaps {
    struct map pairs;
};

void overlaps_deinit(struct overlaps *o);
void overlaps_learn(struct overlaps *o, const struct names *names, const struct trace *trace);

/* Calls of one handler that are known to overlap, and follow each other, get the start of the first
 * of them. */
void trace_align(struct trace *trace, const struct overlaps *o, const struct names *names);

#endif
