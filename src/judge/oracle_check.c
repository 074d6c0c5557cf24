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

/* The handler's k-th call failed. Was the same service healthy before, did nothing follow that does
 * not follow without faults, and is there no fault at another call, one that it repeats, for
 * example? Those at checks are decisions, and do not count. */
static void see_call(const struct view *v, uint32_t handler, uint32_t k)
{
    struct judge *j = v->judge;
    uint32_t call = view_child(v, handler, k), check = CALL_NONE;
    uid subject = v->calls[call].uid;
    for (uint32_t i = k; i-- > 0 && check == CALL_NONE;) {
        uint32_t before = view_child(v, handler, i);
        const struct call *c = &v->calls[before];
        if (view_service(v, before) == view_service(v, call) &&
            c->end_ns <= v->calls[call].start_ns && !call_failed(c) &&
            sounds_like_check(view_interface(v, before)))
            check = before;
    }
    if (check == CALL_NONE || sounds_like_check(view_interface(v, call)))
        return;
    for (uint32_t i = 0; i < view_children(v, handler); i++) {
        uint32_t other = view_child(v, handler, i);
        if ((other != call && v->faults.at[other] &&
             !sounds_like_check(view_interface(v, other))) ||
            (i > k && !view_usual(v, other)))
            return;
    }
    if (!remark_due(v, ORACLE_CHECK_THEN_ACT, subject))
        return;
    struct witness witness[] = {{check, "was healthy"}, {call, "failed then"}};
    remark_write(v, ORACLE_CHECK_THEN_ACT, subject, witness, 2,
                 "%s trusts %s: when %s fails after it, there is no fallback and the answer is %s",
                 say_service(j, v->calls[handler].uid), say_name(j, v->calls[check].uid),
                 say_name(j, subject), say_outcome(j, v->calls[handler].reply));
}

/* ---- does the check decide? ---- */

static uint64_t decision_key(struct judge *j, uid check, uid act)
{
    return hash_mix(judge_path(j, check), judge_path(j, act));
}

/* Which calls of the checked service does the handler leave out, and yet answers with success or
 * asks somebody else, although the check failed? */
static void learn_decision(const struct view *v, uint32_t handler, uint32_t check)
{
    struct judge *j = v->judge;
    const struct calm *calm = &j->calm;
    uint32_t n = view_children(v, handler), twin = v->twin.at[handler];
    bool gets_by = outcome_ok(v->calls[handler].reply);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = view_child(v, handler, k);
        if (v->faults.at[i] && !view_equal(v, i, check))
            return; /* not because of the check alone */
        gets_by |= !view_usual(v, i);
    }
    for (uint32_t i = 0; gets_by && i < calm_children(calm, twin); i++) {
        uid act = calm_child(calm, twin, i)->uid;
        uint32_t k = 0;
        if (uid_element(v->names, act)->service != view_service(v, check))
            continue;
        while (k < n &&
               judge_path(j, v->calls[view_child(v, handler, k)].uid) != judge_path(j, act))
            k++;
        if (k == n)
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
        if (sounds_like_check(view_interface(v, failed)))
            learn_decision(v, h, failed);
        else if (n > 1 && !outcome_ok(v->calls[h].reply) && !answer_blames(v->calls[failed].seen))
            see_call(v, h, k);
    }
}

void oracle_check_end(struct judge *j)
{
    for (struct remark *r = NULL; (r = remark_next(j, ORACLE_CHECK_THEN_ACT, r));)
        if (!map_get(&j->decided, decision_key(j, r->evidence[0].call, r->evidence[1].call)))
            r->why = NULL;
}
