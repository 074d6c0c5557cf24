/* SPDX-License-Identifier: Apache-2.0
 *
 * The oracles, each a file oracle_*.c: what judge.c calls of them. Functions of a view see one run,
 * those of the judge conclude at the end. */
#ifndef OUTFOX_JUDGE_ORACLE_INT_H
#define OUTFOX_JUDGE_ORACLE_INT_H

#include "judge/judge_int.h"
#include "judge/tell_int.h"

void oracle_cause(const struct view *v);     /* failure-without-cause */
void oracle_status(const struct view *v);    /* wrong-status: forwarded, and blamed on the caller */
void oracle_status_end(struct judge *j);     /* wrong-status: hidden in one mode, not in others */
void oracle_hidden(const struct view *v);    /* hidden-error: text of errors in the body */
void oracle_hidden_end(struct judge *j);     /* hidden-error: of hard dependencies */
void oracle_lost(const struct view *v);      /* lost-value */
void oracle_lost_end(struct judge *j);       /* lost-value: what hidden-error does not say */
void oracle_check(const struct view *v);     /* check-then-act */
void oracle_check_end(struct judge *j);      /* check-then-act: does the check decide? */
void oracle_retry(const struct view *v);     /* retry-without-effect */
void oracle_retry_end(struct judge *j);      /* retry-without-effect: is it the habit? */
void oracle_duplicate(const struct view *v); /* duplicate-effect */
void oracle_duplicate_end(struct judge *j);  /* duplicate-effect: of what is needed */
void oracle_storm(const struct view *v);     /* retry-storm, of one handler */
void oracle_storm_end(struct judge *j);      /* retry-storm, nested */
void oracle_uneven_end(struct judge *j);     /* uneven-retry, uneven-fallback */
void oracle_fallback(const struct view *v);  /* fallback-to-failed, fallback-worse */
void oracle_fallback_end(struct judge *j);   /* fallback-unreached */
void oracle_timeout(const struct view *v);   /* no-timeout, inverted-timeouts, over-limit */
void oracle_effects(const struct view *v);   /* partial-effects, and declared ones skipped */
void oracle_effects_end(struct judge *j);    /* skipped-effect, of hard dependencies */
void oracle_slow(const struct view *v);      /* slow-elsewhere */
void oracle_slow_end(struct judge *j);       /* slow-elsewhere: is it no chance? */

/* Frees what these remember; NULL: nothing. */
void slow_memory_free(struct slow_memory *m);
void waits_free(struct waits *w);

/* Their part of judge_doubts and, of runs that were made because of that, of judge_learn. */
uint32_t slow_doubts(const struct judge *j, faultload *out, uint32_t n, uint32_t most);
uint32_t wait_doubts(struct judge *j, faultload *out, uint32_t n, uint32_t most);

/* One more, unless it is among the n already; returns how many there are. */
uint32_t doubt_add(faultload *out, uint32_t n, faultload f);
void wait_learn(const struct view *v);

#endif
