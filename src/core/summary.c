/* SPDX-License-Identifier: Apache-2.0 */
#include "core/summary.h"

uint64_t run_seed(uint64_t seed, uint64_t number)
{
    return seed * 1000003 + number;
}

void summary_deinit(struct summary *s)
{
    for (uint32_t i = 0; i < s->findings.n; i++)
        vec_deinit(&s->findings.at[i].alike);
    vec_deinit(&s->runs_by_size);
    vec_deinit(&s->outcomes);
    vec_deinit(&s->skipped);
    vec_deinit(&s->assumptions);
    vec_deinit(&s->findings);
}
