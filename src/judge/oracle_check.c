/* SPDX-License-Identifier: Apache-2.0
 *
 * check-then-act: a handler asks a service whether it is well, is told yes, and then has nothing to
 * offer when its call fails.
 *
 * That is only wrong where the check decides: where a failed check leads to something else than an
 * error. So what single runs show is taken back at the end, unless a failed check was seen to. */
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

/* The last call of the handler that failed, if a fault made it; its place among the calls. */
static uint32_t last_failed(const struct view *v, uint32_t handler)
{
    uint32_t k = view_failure(v, handler, view_children(v, handler));
    if (k == CALL_NONE)
        return CALL_NONE;
    uint32_t i = view_child(v, handler, k);
    return v->faults.at[i] && !answer_blames(v->calls[i].seen) ? k : CALL_NONE;
}

void oracle_check(const struct view *v)
{
    for (uint32_t h = 0; h < v->n; h++) {
        if (!v->faults.at[h] || v->twin.at[h] == CALL_NONE || view_children(v, h) < 2 ||
            outcome_ok(v->calls[h].reply))
            continue;
        uint32_t k = last_failed(v, h);
        if (k != CALL_NONE)
            see_call(v, h, k);
    }
}

/* Was a failed check seen to lead to something else than an error? */
static bool decides(struct judge *j, uid check)
{
    uid group = names_uid_all(j->opt.names, check);
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        if (r->group == group && r->persistent && (r->instead != UID_NONE || outcome_ok(r->reply)))
            return true;
    }
    return false;
}

void oracle_check_end(struct judge *j)
{
    for (uint32_t i = 0; i < j->said.n; i++) {
        struct remark *r = &j->said.at[i];
        if (r->why && r->oracle == oracle_rows[ORACLE_CHECK_THEN_ACT].name &&
            !decides(j, r->evidence[0].call))
            r->why = NULL;
    }
}
