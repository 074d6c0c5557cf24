/* SPDX-License-Identifier: Apache-2.0
 *
 * What judges of runs share. */
#ifndef OUTFOX_PLAN_ANALYZE_INT_H
#define OUTFOX_PLAN_ANALYZE_INT_H

#include "plan/compare.h"
#include "plan/result.h"

/* What is judged, by what. */
struct scene {
    const struct plan *plan;
    const struct plan_expect *expect;
    uint32_t index; /* of the expectation */
    const struct plan_run *run;
    struct plan_run *const *references;
    uint32_t n_references;
};

/* Does it hold? Writes what was seen. */
typedef bool judge(const struct scene *s, struct buf *seen);

enum { SEEN_BYTES_MAX = 1000 }; /* of a sentence */

judge analyze_metric;

/* A duration or a moment without digits that nobody needs. */
void analyze_add_time(struct buf *out, int64_t ns);

/* What a comparison says, after "p99". Both samples are large enough. */
bool analyze_compare(const struct scene *s, struct plan_values *a, struct plan_values *b,
                     double least, struct buf *seen);

#endif
