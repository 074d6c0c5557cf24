/* SPDX-License-Identifier: Apache-2.0
 *
 * Two samples held against each other: how much larger a percentile of one is, and how sure that is.
 * The 95 % interval of the factor comes from a bootstrap: both samples are drawn anew from
 * themselves, many times, and each time has its factor. The same samples and seed give the same. */
#ifndef OUTFOX_PLAN_COMPARE_H
#define OUTFOX_PLAN_COMPARE_H

#include <stdint.h>

enum { PLAN_COMPARE_LEAST = 10 }; /* values on each side */

/* To be used as a VEC. */
struct plan_values {
    double *at;
    uint32_t n, cap;
};

struct plan_comparison {
    double factor, low, high;
    double delta; /* Cliff's: how much likelier a value of a is larger than one of b, -1 to 1 */
    const char *effect; /* that in a word */
};

void plan_values_sort(struct plan_values *v);

/* Of a sorted one, n > 0. */
double plan_values_percentile(const struct plan_values *v, double percentile);

/* Sorts both, and thins them where they are large. Values below `least` count as that: nothing is a
 * multiple of 0. */
void plan_compare(struct plan_values *a, struct plan_values *b, double percentile, double least,
                  uint64_t seed, struct plan_comparison *out);

#endif
