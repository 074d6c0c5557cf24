/* SPDX-License-Identifier: Apache-2.0
 *
 * check-then-act: a handler asks a service whether it is well, is told yes, and then has nothing to
 * offer when its call fails.
 *
 * That is only wrong where the check decides: where the call is left out after a failed check, and
 * that leads to something else than an error. So what single runs show is taken back at the end,
 * unless another run has shown that. A check that is only written down decides nothing. */
#include "base/hash.h"
#include "judge/oracle_int.h"
#include "judge/words_int.h"

static bool is_check(const struct view *v, uint32_t i)
{
    sym interface = uid_element(v->names, v->calls[i].uid)->interface;
    return words_check(names_text(v->names, interface));
}

/* Did nothing follow that does not follow without faults, and is there no fault at another call,
 * one that it repeats, for example? Those at checks are decisions, and do not count. */
static bool unhandled(const struct view *v, uint32_t handler, uint32_t k)
{
    uint32_t call = view_child(v, handler, k);
    for (uint32_t i = 0; i < view_children(v, handler); i++) {
        uint32_t other = view_child(v, handler, i);
        if (other != call && v->faults.at[other] && !is_check(v, other))
            return false;
        if (i > k && !view_usual(v, handler, v->calls[other].uid))
            return false;
    }
    return true;
}

/* The check of the same service that was passed before; CALL_NONE: there is none. */
static uint32_t passed_check(const struct view *v, uint32_t handler, uint32_t k)
{
    const struct call *call = &v->calls[view_child(v, handler, k)];
    sym service = uid_element(v->names, call->uid)->service;
    while (k-- > 0) {
        uint32_t i = view_child(v, handler, k);
        const struct call *c = &v->calls[i];
        if (uid_element(v->names, c->uid)->service == service && c->end_ns <= call->start_ns &&
            !call_failed(c) && is_check(v, i))
            return i;
    }
    return CALL_NONE;
}

static void see_call(const struct view *v, uint32_t handler, uint32_t k)
{
    struct judge *j = v->judge;
    uint32_t call = view_child(v, handler, k), check = passed_check(v, handler, k);
    uid subject = v->calls[call].uid;
    if (check == CALL_NONE || is_check(v, call) || !unhandled(v, handler, k) ||
        !judge_wants(j, v, ORACLE_CHECK_THEN_ACT, subject))
        return;
    struct witness witness[] = {{check, "was healthy"}, {call, "failed then"}};
    judge_tell(j, v, ORACLE_CHECK_THEN_ACT, subject, witness, 2,
               "%s trusts %s: when %s fails after it, there is nothing else and the answer is %s",
               judge_service(j, v->calls[handler].uid), judge_name(j, v->calls[check].uid),
               judge_name(j, subject), judge_outcome(j, v->calls[handler].reply));
}

/* ---- does the check decide? ---- */

static uint64_t decision_key(struct judge *j, uid check, uid act)
{
    return hash_mix(judge_path(j, check), judge_path(j, act));
}

static bool is_made(const struct view *v, uint32_t handler, uid call)
{
    for (uint32_t k = 0; k < view_children(v, handler); k++)
        if (judge_path(v->judge, v->calls[view_child(v, handler, k)].uid) ==
            judge_path(v->judge, call))
            return true;
    return false;
}

/* Does the handler answer with success, or ask somebody else, although the check failed? */
static bool gets_by(const struct view *v, uint32_t handler, uint32_t check)
{
    bool elsewhere = false;
    for (uint32_t k = 0; k < view_children(v, handler); k++) {
        uint32_t i = view_child(v, handler, k);
        if (v->faults.at[i] && !view_equal(v, i, check))
            return false; /* not because of the check alone */
        elsewhere |= !view_usual(v, handler, v->calls[i].uid);
    }
    return elsewhere || outcome_ok(v->calls[handler].reply);
}

/* Which calls of the checked service does the handler leave out? */
static void learn_decision(const struct view *v, uint32_t handler, uint32_t check)
{
    struct judge *j = v->judge;
    const struct base *b = &j->base;
    uint32_t twin = v->twin.at[handler];
    sym service = uid_element(v->names, v->calls[check].uid)->service;
    if (!gets_by(v, handler, check))
        return;
    for (uint32_t k = b->order.first.at[twin]; k < b->order.first.at[twin + 1]; k++) {
        uid act = b->trace.calls.at[b->order.child.at[k]].uid;
        if (uid_element(v->names, act)->service == service && !is_made(v, handler, act))
            map_set(&j->decided, decision_key(j, v->calls[check].uid, act), 1);
    }
}

void oracle_check(const struct view *v)
{
    for (uint32_t h = 0; h < v->n; h++) {
        if (!v->faults.at[h] || v->twin.at[h] == CALL_NONE)
            continue;
        uint32_t n = view_children(v, h), k = view_failure(v, h, n);
        uint32_t failed = k == CALL_NONE ? CALL_NONE : view_child(v, h, k);
        if (failed == CALL_NONE || !v->faults.at[failed])
            continue;
        if (is_check(v, failed))
            learn_decision(v, h, failed);
        else if (n > 1 && !outcome_ok(v->calls[h].reply) && !answer_blames(v->calls[failed].seen))
            see_call(v, h, k);
    }
}

void oracle_check_end(struct judge *j)
{
    for (uint32_t i = 0; i < j->said.n; i++) {
        struct remark *r = &j->said.at[i];
        if (r->why && r->oracle == oracle_rows[ORACLE_CHECK_THEN_ACT].name &&
            !map_get(&j->decided, decision_key(j, r->evidence[0].call, r->evidence[1].call)))
            r->why = NULL;
    }
}
