/* SPDX-License-Identifier: Apache-2.0
 *
 * How soon a failed call is made again.
 *
 * In memory times are exact: less than 5 ms is at once, more is a wait. Times of real runs are not:
 * on a busy machine a retry at once comes after 10 ms, and a back-off that is drawn at random after
 * one. But a wait that is there shows in the least of all times, and chance evens out over many. So
 * real runs are only counted, and what they say is known at the end. Between the two there is a
 * range in which nothing is said; a few more runs are asked for to leave it. */
#ifndef OUTFOX_JUDGE_PACE_INT_H
#define OUTFOX_JUDGE_PACE_INT_H

#include "judge/judge_int.h"

enum { PACE_AT_ONCE_NS = 5 * 1000 * 1000 };

/* How soon a call is made again after it failed, over all runs. */
struct pace {
    int64_t least_ns;
    uint32_t n, late; /* how often; and so late that it is a wait in real runs, too */
    faultload again;  /* passed, and the call failed twice in the same way; FAULTLOAD_EMPTY: none */
};

/* A try that failed with `seen` was followed by another after so long. */
void pace_learn(const struct view *v, uid call, outcome seen, int64_t gap_ns);

/* After this failure the call is made again at once. Of a real run this is a guess as long as not
 * all of them were seen: ask at the end. */
bool pace_at_once(struct judge *j, uid call, outcome seen);

/* In this run the call was made again, and failed in the same way. Only runs that pass are worth
 * repeating: a failure is repeated anyway, as a finding. */
void pace_failed_again(const struct view *v, uid call, outcome seen);

/* Adds the faultloads of which one more run would help to tell a retry at once from a wait: those
 * of calls that were made again soon, but never quite at once. Part of judge_doubts. */
uint32_t pace_doubts(const struct judge *j, faultload *out, uint32_t n, uint32_t most);

/* After this failure there is a wait before the call is made again, always. */
bool pace_waits(struct judge *j, uid call, outcome seen);

#endif
