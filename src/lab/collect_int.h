/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of a run while it lasts: what nodes use, by /proc (measure.c), and what the plan's
 * collectors bring (collect.c). Samples count from the start of the clock of triggers to the end of
 * the run. */
#ifndef OUTFOX_LAB_COLLECT_INT_H
#define OUTFOX_LAB_COLLECT_INT_H

#include "lab/lab_int.h"

/* Before anything is started: services find the address for their traces. 0, or -1 with *e. */
int collect_open(struct lab *lab, struct err *e) MUST_USE;
void collect_start(struct lab *lab); /* with the clock of triggers */
void collect_stop(struct lab *lab);
void collect_free(struct lab *lab);

/* A node or a client has printed this; the other one is PLAN_NONE. True: it is a sample and no more. */
bool collect_heard(struct lab *lab, int32_t node, int32_t client, slice text);

/* What nodes of this machine use. */
struct measure *measure_start(struct lab *lab);
void measure_stop(struct measure *m); /* NULL: nothing happens */

/* A sample of whom; node: which one that is, or PLAN_NONE. Triggers see it. */
void lab_sample(struct lab *lab, slice metric, slice of, int32_t node, double value);

/* A service, which may be the node, tells of a call: "SERVICE NAME". */
void lab_spanned(struct lab *lab, int32_t node, slice span);

#endif
