/* SPDX-License-Identifier: Apache-2.0
 *
 * Which remarks of oracles are shown where not all are. */
#ifndef OUTFOX_REPORT_REMARKS_INT_H
#define OUTFOX_REPORT_REMARKS_INT_H

#include "core/summary.h"

enum { REMARKS_SHOWN_MAX = 200 };

struct remarks_shown {
    uint32_t at[REMARKS_SHOWN_MAX];     /* of summary.remarks, in their order */
    uint32_t number[REMARKS_SHOWN_MAX]; /* among those of its severity, from 1 */
    uint32_t n;
    uint64_t left_out;
};

/* At most `most` of a severity. No oracle is left out for the sake of another that has more to say:
 * the first of each, then the second of each, and so on. */
void remarks_choose(const struct summary *s, enum severity severity, uint32_t most,
                    struct remarks_shown *out);

#endif
