/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a plan as a whole, and of those that were derived from it. */
#include "plan/explored.h"

static bool violated(const struct plan_run *r)
{
    for (uint32_t i = 0; i < r->answers.n; i++)
        if (!r->answers.at[i].holds)
            return true;
    return false;
}

enum plan_verdict plan_verdict(const struct plan_result *r)
{
    enum plan_verdict worst = r->signal || !r->runs.n ? PLAN_UNSURE : PLAN_HOLDS;
    for (uint32_t i = 0; i < r->runs.n; i++) {
        const struct plan_run *run = r->runs.at[i];
        if (plan_run_holds(run))
            continue;
        if (run->reference)
            return r->signal ? PLAN_UNSURE : PLAN_SICK;
        if (violated(run))
            worst = PLAN_VIOLATED; /* it was seen, whatever else went wrong */
        else if (worst == PLAN_HOLDS)
            worst = PLAN_UNSURE;
    }
    return worst;
}

void plan_explored_deinit(struct plan_explored *x)
{
    plan_result_deinit(&x->reference);
    derive_free(x->derive);
    vec_deinit(&x->trials);
    arena_deinit(&x->arena);
}
