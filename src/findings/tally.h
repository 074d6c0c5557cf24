/* SPDX-License-Identifier: Apache-2.0
 *
 * tally: runs put together to a summary while they are made. What is wrong
 * with those that failed is sorted out in failures.c. */
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
bool tally_is_new(const struct tally *t, const struct run *run);

/* A run with a part of the faults of a failed one, which nobody asked for but to see whether they
 * are enough. If it fails, it counts among the failures. */
void tally_smaller(struct tally *t, const struct run *run);

/* How many findings there are so far (failures_count). */
uint64_t tally_findings(const struct tally *t);

/* All runs of the search were told. */
void tally_finish(struct tally *t);

/* The findings once more, after smaller faultloads were tried. */
void tally_sort(struct tally *t);

/* Was everything tried that can happen? Not so when a budget ended, when a reduction or another
 * part of a campaign took something, or when not everything was stable. */
bool tally_exhaustive(const struct tally *t);

#endif
