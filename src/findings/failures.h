/* SPDX-License-Identifier: Apache-2.0
 *
 * failures: failed runs sorted into findings, so that one bug is one finding.
 *
 * A failed run is told by its symptom (the sentence of its verdict) and by its *places*: the calls
 * that were made to fail. Tries of a call are one place, and so are the tries of its callers. A
 * place that failed at every try hides the faults below it: its caller saw no more of them. Two
 * failures are the same when they have the same symptom, and
 *
 * 1. the same places: they differ in modes, in the number of tries, or in what made a try fail; or
 * 2. one has all faults of the other, or all of its places, failed no less thoroughly, and its
 *    faults there fail in the same way on their own: what else it has is not needed for it.
 *
 * Whatever is not known to be the same stays apart. A place whose retry succeeded is not taken for
 * one that was given up. A call is a try of the one before it only if it was never seen after a
 * success. And a call is not its callee: when b fails because of c, "b fails" and "c fails" are two
 * findings, since b may be meant to do without c. */
#ifndef OUTFOX_FINDINGS_FAILURES_H
#define OUTFOX_FINDINGS_FAILURES_H

#include "core/run.h"
#include "core/summary.h"

struct failures;

struct failures *failures_new(const struct names *names, const struct faultloads *fl);
void failures_free(struct failures *f);

/* Any run, as it comes: it shows which calls are tries of others. */
void failures_learn(struct failures *f, const struct trace *trace);

/* A run that failed; `happened`: the faults of it that fired. number: from 0. */
void failures_add(struct failures *f, const struct run *run, faultload happened, uint32_t number);

/* Would this failed run start a finding? */
bool failures_is_new(struct failures *f, const struct run *run);

/* How many findings there are so far. A smaller failure may still join some of them. */
uint32_t failures_count(const struct failures *f);

/* The findings, small ones first, in place of those that *out has. */
void failures_sort(struct failures *f, struct summary *out);

#endif
