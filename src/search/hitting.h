/* SPDX-License-Identifier: Apache-2.0
 *
 * Minimal hitting sets. A support is a set of points; a set of points hits it when they have one in
 * common. Of all sets that hit every support, those of which no point can be left out are listed.
 * Supports come one by one, and the list is brought up to date with each.
 *
 * It is exact as long as `complete` is true. Where there would be more sets, or more supports, than
 * fit, the smallest sets of each step are kept and `complete` is false from then on: what is listed
 * are minimal hitting sets of the supports that were taken up still, but not all of them. */
#ifndef OUTFOX_SEARCH_HITTING_H
#define OUTFOX_SEARCH_HITTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum { HITTING_SUPPORTS_MAX = 2048 };

struct hitting_set {
    uint32_t first, n; /* its points are points.at[first] to [first + n - 1], in no order */
    uint32_t born;     /* the step in which it came to be; 0: before the first support */
};

struct hitting {
    VEC(struct hitting_set) sets; /* smallest first */
    VEC(uint32_t) points;
    uint32_t most;  /* sets, at most */
    uint32_t steps; /* supports that were taken up */
    bool complete;

    /* Supports are columns of a table of bits with a row for each point: "is the point in it?". So a
     * set of k points is held against all supports with k times `words` operations. */
    uint32_t words;      /* of a row */
    uint32_t n_points;   /* rows */
    VEC(uint64_t) table; /* row by row */
    VEC(uint64_t) used;  /* the columns that are supports, `words` of them */

    /* of the step that is being made */
    VEC(uint32_t) own;  /* the points of the support, each once, */
    VEC(uint64_t) in;   /* and as a bit for each point */
    VEC(uint64_t) once; /* of the set that is being extended: supports that only one point hits */
    VEC(uint32_t) old_points;
    VEC(struct hitting_set) kept, missed; /* the sets before, with old_points */
};

/* No support: the empty set hits all of them. */
void hitting_init(struct hitting *h, uint32_t most);
void hitting_deinit(struct hitting *h);

/* One support more; its points may be listed twice and in any order. Sets that are new have `born`
 * equal to `steps` then. False: nothing has changed, because it says no more than an earlier one (or,
 * when `complete` has become false, because it does not fit). */
bool hitting_add(struct hitting *h, const uint32_t *points, uint32_t n);

/* From now on this point, which is in no support so far, is in each that has one of the others: it
 * stands for all of them. Sets that hit the supports so far by it are not listed, so `complete` is
 * false if there are any supports. */
void hitting_join(struct hitting *h, uint32_t point, const uint32_t *others, uint32_t n);

/* Does this set of different points hit every support, and could none of them be left out? Listed or
 * not. (Of more than 64 points it is not said that they hit minimally.) */
enum hitting_answer { HITS_NOT_ALL, HITS_ALL, HITS_MINIMALLY };
enum hitting_answer hitting_ask(const struct hitting *h, const uint32_t *points, uint32_t n);

#endif
