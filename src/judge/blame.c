/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/blame_int.h"

uint32_t request_fault(const struct view *v, const struct request *r)
{
    uint32_t i = v->n;
    while (i-- > 1)
        if (v->calls[i].mode != MODE_NONE && view_below(v, r->call, i))
            return i;
    return CALL_NONE;
}

/* Is it made without faults, whatever its number and those of the calls above it? */
static bool is_usual(const struct view *v, uid call)
{
    const struct trace *t = &v->judge->base.trace;
    for (uint32_t i = 0; i < t->calls.n; i++)
        if (uid_alike(v->names, t->calls.at[i].uid, call))
            return true;
    return false;
}

bool request_elsewhere(const struct view *v, const struct request *r)
{
    for (uint32_t i = r->call + 1; i < v->n; i++)
        if (v->twin.at[i] == CALL_NONE && !call_failed(&v->calls[i]) && view_below(v, r->call, i) &&
            !is_usual(v, v->calls[i].uid))
            return true;
    return false;
}

/* Is a at some of the points of b? */
static bool is_smaller(const struct judge *j, faultload a, faultload b)
{
    const struct faultloads *fl = j->opt.faultloads;
    if (faultload_size(fl, a) >= faultload_size(fl, b))
        return false;
    for (; a != FAULTLOAD_EMPTY; a = fl->rows.at[a].rest)
        if (faultload_at(fl, b, fl->rows.at[a].last.point) == MODE_NONE)
            return false;
    return true;
}

bool judge_said_smaller(const struct judge *j, enum oracle o, faultload f)
{
    for (uint32_t i = 0; i < j->said.n; i++) {
        const struct remark *r = &j->said.at[i];
        if (r->why && r->oracle == oracle_rows[o].name && is_smaller(j, r->faultload, f))
            return true;
    }
    return false;
}

void judge_unsay_larger(struct judge *j, enum oracle o)
{
    for (uint32_t i = 0; i < j->said.n; i++) {
        struct remark *r = &j->said.at[i];
        if (r->why && r->oracle == oracle_rows[o].name && judge_said_smaller(j, o, r->faultload))
            r->why = NULL;
    }
}
