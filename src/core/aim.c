/* SPDX-License-Identifier: Apache-2.0 */
#include "core/aim.h"

void aim_deinit(struct aim *aim)
{
    vec_deinit(&aim->exact);
    vec_deinit(&aim->set);
    vec_deinit(&aim->services);
    for (uint32_t i = 0; i < aim->patterns.n; i++)
        pattern_deinit(&aim->patterns.at[i].pattern);
    vec_deinit(&aim->patterns);
}

void aim_set(struct aim *aim, const struct names *names, const struct faultloads *fl, faultload f)
{
    for (uint32_t i = 0; i < aim->set.n; i++)
        aim->exact.at[aim->set.at[i]] = MODE_NONE;
    aim->set.n = aim->services.n = 0;
    aim->any_n = false;
    for (; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest) {
        struct fault fault = fl->rows.at[f].last;
        struct service_fault how = fault_service(names, fault);
        if (how.row) {
            sym service = uid_element(names, fault.point)->service;
            vec_push(&aim->services, (struct aim_service){.service = service, .how = how});
            continue;
        }
        while (aim->exact.n <= fault.point)
            vec_push(&aim->exact, MODE_NONE);
        aim->exact.at[fault.point] = fault.mode;
        vec_push(&aim->set, fault.point);
        aim->any_n |= uid_element(names, fault.point)->n == N_ANY;
    }
}

int aim_add(struct aim *aim, const struct vocabulary *v, uid request, slice text, struct err *e)
{
    struct aim_pattern p = {0};
    struct fault other;
    if (fault_parse_other(v->names, text, &other, e) < 0)
        return -1;
    if (pattern_parse(&p.pattern, v, PATTERN_FAULT, text, e)) {
        pattern_deinit(&p.pattern);
        return -1;
    }
    pattern_anchor(&p.pattern, v->names, request);
    vec_push(&aim->patterns, p);
    return 0;
}

static mode exact_at(const struct aim *aim, uid u)
{
    return u < aim->exact.n ? aim->exact.at[u] : MODE_NONE;
}

mode aim_find(struct aim *aim, struct names *names, uid u, uint8_t flags, uid *by)
{
    *by = u;
    mode m = exact_at(aim, u);
    if (m != MODE_NONE)
        return m;
    if (aim->any_n) {
        uid all = names_uid_all(names, u);
        m = exact_at(aim, all);
        if (m != MODE_NONE) {
            *by = all;
            return m;
        }
    }
    for (uint32_t i = 0; i < aim->services.n; i++) {
        struct aim_service *s = &aim->services.at[i];
        if (s->service == uid_element(names, u)->service) {
            s->fired++;
            return service_fault_mode(s->how, names, u, flags);
        }
    }
    for (uint32_t i = 0; i < aim->patterns.n; i++) {
        struct aim_pattern *p = &aim->patterns.at[i];
        if (pattern_matches(&p->pattern, names, u)) {
            p->fired++;
            return p->pattern.how.row ? service_fault_mode(p->pattern.how, names, u, flags)
                                      : p->pattern.mode;
        }
    }
    return MODE_NONE;
}
