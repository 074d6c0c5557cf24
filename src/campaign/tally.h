/* SPDX-License-Identifier: Apache-2.0
 *
 * tally: runs put together to a summary while they are made. Failures become findings: those at the
 * same points for the same reason are one, and so are larger ones that contain a smaller one. */
#ifndef OUTFOX_CAMPAIGN_TALLY_H
#define OUTFOX_CAMPAIGN_TALLY_H

#include "core/run.h"
#include "core/summary.h"
#include "search/search.h"

struct tally;

/* Fills *out, which is zero but for what the caller knows: system, scenario, modes ... */
struct tally *tally_new(struct search *search, struct faultloads *fl, struct summary *out);
void tally_free(struct tally *t);

/* The search has just observed this run. */
void tally_run(struct tally *t, const struct run *run);

/* Would this failed run, which the search has not observed yet, start a new finding? */
bool tally_is_new(const struct tally *t, const struct run *run);

/* How many findings there are so far, roughly: larger ones may turn out to contain smaller ones. */
uint64_t tally_findings(const struct tally *t);
uint64_t tally_failed(const struct tally *t);

/* All runs were told. */
void tally_finish(struct tally *t);

/* Was everything tried that can happen? Not so when a budget ended, when a reduction or another
 * part of a campaign took something, or when not everything was stable. */
bool tally_exhaustive(const struct tally *t);

#endif
