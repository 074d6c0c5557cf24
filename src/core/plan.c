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

/* The point that the text is the canonical name of; UID_NONE when it is not one below the request.
 */
static uid exact_point(struct names *names, uid request, slice text)
{
    struct err ignored = {0};
    uid u;
    slice rest = text, word;
    while (slice_word(&rest, &word) && !slice_is(word, ":"))
        if (slice_find(word, '*') < word.n && !slice_is(word, "#*"))
            return UID_NONE;
    if (request == UID_NONE ||
        uid_parse(names, (slice){text.p, (size_t)(word.p - text.p)}, &u, &ignored))
        return UID_NONE;
    for (uid above = uid_parent(names, u); above != UID_NONE; above = uid_parent(names, above))
        if (uid_element(names, above)->n == N_ANY)
            return UID_NONE;
    return u != request && uid_contains(names, request, u) ? u : UID_NONE;
}

int plan_add(struct plan *plan, struct names *names, uid request, slice text, struct err *e)
{
    struct plan_pattern p = {0};
    if (pattern_parse(&p.pattern, names, PATTERN_FAULT, text, e)) {
        pattern_deinit(&p.pattern);
        return -1;
    }
    p.exact = exact_point(names, request, text);
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
        bool hit = p->exact != UID_NONE ? u == p->exact || names_uid_all(names, u) == p->exact
                                        : pattern_matches(&p->pattern, names, u);
        if (hit) {
            p->fired++;
            return p->pattern.mode;
        }
    }
    return MODE_NONE;
}
