/* SPDX-License-Identifier: Apache-2.0
 *
 * tally: runs put together to a summary while they are made, and failed ones sorted into findings,
 * so that one bug is one finding.
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
#ifndef OUTFOX_FINDINGS_TALLY_H
#define OUTFOX_FINDINGS_TALLY_H

#include "core/run.h"
#include "core/summary.h"
#include "search/search.h"

struct tally;

/* Fills *out, which is zero but for what the caller knows: system, scenario, modes ... */
struct tally *tally_new(struct search *search, const struct names *names, struct faultloads *fl,
                        struct summary *out);
void tally_free(struct tally *t);

/* The search has just observed this run. */
void tally_run(struct tally *t, const struct run *run);

/* Would this failed run, which the search has not observed yet, start a new finding? */
bool tally_is_new(struct tally *t, const struct run *run);

/* A run with a part of the faults of a failed one, made only to see whether they are enough. If it
 * fails, it counts among the failures. */
void tally_smaller(struct tally *t, const struct run *run);

/* How many findings there are so far. A smaller failure may still join some of them. */
uint64_t tally_findings(const struct tally *t);

/* The figures, and the findings, of the runs so far. May be called again after more of them. */
void tally_finish(struct tally *t);

/* The findings once more, small ones first, after smaller faultloads were tried. */
void tally_sort(struct tally *t);

/* Was everything tried that can happen? Not so when a budget ended, when a reduction or another
 * part of a campaign took something, or when not everything was stable. */
bool tally_exhaustive(const struct tally *t);

#endif
