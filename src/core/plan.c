/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan.h"

void plan_deinit(struct plan *plan)
{
    vec_deinit(&plan->exact);
    vec_deinit(&plan->set);
    for (uint32_t i = 0; i < plan->patterns.n; i++)
        pattern_deinit(&plan->patterns.at[i].pattern);
    vec_deinit(&plan->patterns);
}

void plan_set(struct plan *plan, const struct names *names, const struct faultloads *fl,
              faultload f)
{
    for (uint32_t i = 0; i < plan->set.n; i++)
        plan->exact.at[plan->set.at[i]] = MODE_NONE;
    plan->set.n = 0;
    plan->any_n = false;
    for (; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest) {
        struct fault fault = fl->rows.at[f].last;
        while (plan->exact.n <= fault.point)
            vec_push(&plan->exact, MODE_NONE);
        plan->exact.at[fault.point] = fault.mode;
        vec_push(&plan->set, fault.point);
        plan->any_n |= uid_element(names, fault.point)->n == N_ANY;
    }
}

int plan_add(struct plan *plan, const struct vocabulary *v, uid request, slice text, struct err *e)
{
    struct plan_pattern p = {0};
    if (pattern_parse(&p.pattern, v, PATTERN_FAULT, text, e)) {
        pattern_deinit(&p.pattern);
        return -1;
    }
    pattern_anchor(&p.pattern, v->names, request);
    vec_push(&plan->patterns, p);
    return 0;
}

static mode exact_at(const struct plan *plan, uid u)
{
    return u < plan->exact.n ? plan->exact.at[u] : MODE_NONE;
}

mode plan_find(struct plan *plan, struct names *names, uid u, uid *by)
{
    *by = u;
    mode m = exact_at(plan, u);
    if (m != MODE_NONE)
        return m;
    if (plan->any_n) {
        uid all = names_uid_all(names, u);
        m = exact_at(plan, all);
        if (m != MODE_NONE) {
            *by = all;
            return m;
        }
    }
    for (uint32_t i = 0; i < plan->patterns.n; i++) {
        struct plan_pattern *p = &plan->patterns.at[i];
        if (pattern_matches(&p->pattern, names, u)) {
            p->fired++;
            return p->pattern.mode;
        }
    }
    return MODE_NONE;
}
