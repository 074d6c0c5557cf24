/* SPDX-License-Identifier: Apache-2.0
 *
 * hidden-error: a success that is none.
 *
 *   in words   the body speaks of an error that the fault-free one does not know
 *   by absence the client gets another body, and nothing was asked instead, for an error of a
 *              dependency without which, at other errors, the request fails: at the end
 *
 * 1. Data that another service gave instead may have any text: then only keys count.
 * 2. What is said of a faultload is not said again of larger ones. */
#include "base/hash.h"
#include "judge/body_int.h"
#include "judge/contrast_int.h"
#include "judge/oracle_int.h"

/* ---- in words ---- */

/* Did a service that is not asked without faults give something? */
static bool asked_elsewhere(const struct view *v)
{
    for (uint32_t i = 1; i < v->n; i++) {
        uint32_t handler = v->calls[i].parent;
        if (v->twin.at[i] == CALL_NONE && v->twin.at[handler] != CALL_NONE &&
            !call_failed(&v->calls[i]) && !view_usual(v, handler, v->calls[i].uid))
            return true;
    }
    return false;
}

/* Most runs of a campaign end with one of a few bodies: what was found in them is remembered. */
static bool speaks_of_error(struct judge *j, slice body, bool values)
{
    uint64_t hash = hash_mix(hash_slice(body), values) | 1;
    struct body_memory *m = &j->bodies[hash % BODIES_REMEMBERED];
    struct body_error error;
    if (m->hash != hash)
        *m = (struct body_memory){hash, body_find_error(body, j->base.body, values, &error)};
    return m->speaks;
}

/* Is a at some of the points of b? The modes do not count: what one shows, others show as well. */
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

static bool is_ours(const struct remark *r)
{
    return r->why && r->oracle == oracle_rows[ORACLE_HIDDEN_ERROR].name;
}

static bool said_of_smaller(const struct judge *j, faultload f)
{
    for (uint32_t i = 0; i < j->said.n; i++)
        if (is_ours(&j->said.at[i]) && is_smaller(j, j->said.at[i].faultload, f))
            return true;
    return false;
}

/* The last fault: those before it were needed for its call to be made, or the faultload is not the
 * smallest. */
static uint32_t last_fault(const struct view *v)
{
    uint32_t i = v->n;
    while (i-- > 1)
        if (v->calls[i].mode != MODE_NONE)
            return i;
    return CALL_NONE;
}

void oracle_hidden(const struct view *v)
{
    struct judge *j = v->judge;
    slice body = v->run->body;
    if (body.n == 0 || !j->base.body_stable || !outcome_ok(v->run->verdict.status) ||
        !outcome_ok(j->base.status) || slice_eq(body, j->base.body))
        return;
    bool values = !asked_elsewhere(v);
    uint32_t at = last_fault(v);
    if (at == CALL_NONE || !speaks_of_error(j, body, values) ||
        said_of_smaller(j, v->run->faultload))
        return;
    const struct call *c = &v->calls[at];
    struct body_error error;
    if (!judge_wants(j, v, ORACLE_HIDDEN_ERROR, c->uid) ||
        !body_find_error(body, j->base.body, values, &error))
        return;
    struct witness witness[] = {{at, "failed"}, {0, "answered with success"}};
    judge_tell(j, v, ORACLE_HIDDEN_ERROR, c->uid, witness, 2,
               "the client gets %s although %s %s, and reads of an error only in the body: %s",
               judge_outcome(j, v->run->verdict.status), judge_name(j, c->uid),
               call_failed(c) ? "failed" : "did not answer as it should", error.quote);
}

/* ---- by absence ---- */

static bool silent(const struct judge *j, const struct reaction *r)
{
    return r->ok && !r->same_body && j->base.body_stable && r->instead == UID_NONE;
}

static bool shows(const struct judge *j, const struct reaction *r)
{
    (void)j;
    return !r->ok;
}

static void tell_absent(struct judge *j, const struct reaction *hidden,
                        const struct reaction *shown)
{
    judge_conclude(j, ORACLE_HIDDEN_ERROR, hidden->group, hidden,
                   "the client gets %s with another body when %s answers %s, and %s when that "
                   "answers %s: what it needs is missing, and it is not told",
                   judge_outcome(j, hidden->status), judge_name(j, hidden->call),
                   judge_outcome(j, hidden->label), judge_outcome(j, shown->status),
                   judge_outcome(j, shown->label));
}

void oracle_hidden_end(struct judge *j)
{
    /* the larger one may have come first */
    for (uint32_t i = 0; i < j->said.n; i++)
        if (is_ours(&j->said.at[i]) && said_of_smaller(j, j->said.at[i].faultload))
            j->said.at[i].why = NULL;
    contrast_find(j, &(struct contrast){silent, shows, tell_absent});
}
