/* SPDX-License-Identifier: Apache-2.0
 *
 * retry-without-effect: a failed call is made again at once, at the same place, with nothing
 * changed, and fails again in the same way.
 *
 * 1. A repetition is a call that is not made without faults; where it is known what was asked, one
 *    that asks for the same.
 * 2. Silent when a try of the call waits, when something else was called in between, and after a
 *    timeout, which was a wait.
 * 3. In memory a run shows how soon a retry comes. Of real runs all of them do, at the end. */
#include "base/hash.h"
#include "judge/oracle_int.h"
#include "judge/pace_int.h"

/* Is b made because a failed? Of equal calls without known requests one may be the next of a loop.
 */
static bool repeats(const struct view *v, uint32_t a, uint32_t b)
{
    const struct call *x = &v->calls[a], *y = &v->calls[b];
    uint32_t twin = v->twin.at[b];
    if (!x->request || !y->request)
        return base_equal(v->judge, y->uid, 0) == 1 && twin == CALL_NONE;
    return x->request == y->request &&
           (twin == CALL_NONE || v->judge->base.trace.calls.at[twin].request != y->request);
}

static bool waited(outcome o)
{
    return outcome_kind(o) == OUT_TIMEOUT || outcome_kind(o) == OUT_CANCELLED;
}

/* The try before the handler's k-th call, when nothing else was called in between. */
static uint32_t try_before(const struct view *v, uint32_t handler, uint32_t k)
{
    uint32_t b = view_child(v, handler, k), between = b;
    while (k-- > 0) {
        uint32_t a = view_child(v, handler, k);
        if (view_equal(v, a, b)) {
            bool else_called = between != b && v->calls[between].start_ns >= v->calls[a].end_ns;
            return else_called || v->calls[b].start_ns < v->calls[a].end_ns ? CALL_NONE : a;
        }
        between = between == b ? a : between; /* the last that started */
    }
    return CALL_NONE;
}

/* Do later tries wait? A first one at once, then back-off, is a sound habit. */
static bool waits_later(const struct view *v, uint32_t handler, uint32_t k)
{
    uint32_t last = view_child(v, handler, k);
    while (++k < view_children(v, handler)) {
        uint32_t c = view_child(v, handler, k);
        if (!view_equal(v, last, c))
            continue;
        if (v->calls[c].start_ns - v->calls[last].end_ns >= PACE_AT_ONCE_NS)
            return true;
        last = c;
    }
    return false;
}

/* Many HTTP libraries repeat a call themselves when its connection breaks before the answer. */
static bool library_may(outcome o)
{
    return outcome_kind(o) == OUT_RESET || outcome_kind(o) == OUT_CLOSED;
}

static void see_repetition(const struct view *v, uint32_t handler, uint32_t a, uint32_t k)
{
    struct judge *j = v->judge;
    uint32_t b = view_child(v, handler, k);
    const struct call *x = &v->calls[a], *y = &v->calls[b];
    bool real = v->run->wall_ns != 0, soon = y->start_ns - x->end_ns < PACE_AT_ONCE_NS;
    topic t = topic_of(y->uid, y->seen);
    if (x->seen == y->seen)
        pace_failed_again(v, y->uid, x->seen);
    if (x->seen != y->seen || waited(x->seen) || (!real && (!soon || waits_later(v, handler, k))) ||
        !judge_wants(j, v, ORACLE_RETRY_WITHOUT_EFFECT, t))
        return;
    struct witness shown[] = {{a, "fails"}, {b, "fails again"}};
    judge_tell(j, v, ORACLE_RETRY_WITHOUT_EFFECT, t, shown, 2,
               "%s%s calls %s again at once after %s, with nothing changed, and it fails again",
               judge_service(j, v->calls[handler].uid),
               library_may(x->seen) ? ", or its HTTP library," : "", judge_name(j, y->uid),
               judge_outcome(j, x->seen));
}

static void see_call(const struct view *v, uint32_t handler, uint32_t k)
{
    uint32_t b = view_child(v, handler, k);
    const struct element *e = uid_element(v->names, v->calls[b].uid);
    if (!e->n && !e->before)
        return; /* no equal one is made before it */
    uint32_t a = try_before(v, handler, k);
    if (a == CALL_NONE || !call_failed(&v->calls[a]) || !call_sure(&v->calls[a]) ||
        !call_sure(&v->calls[b]) || !repeats(v, a, b))
        return;
    pace_learn(v, v->calls[b].uid, v->calls[a].seen, v->calls[b].start_ns - v->calls[a].end_ns);
    if (call_failed(&v->calls[b]))
        see_repetition(v, handler, a, k);
}

void oracle_retry(const struct view *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t k = 1; v->faults.at[i] && k < view_children(v, i); k++)
            see_call(v, i, k);
}

/* ---- at the end ---- */

static uid retried(struct judge *j, const struct remark *r)
{
    (void)j;
    return r->evidence[1].call;
}

void oracle_retry_end(struct judge *j)
{
    for (uint32_t i = 0; i < j->said.n && j->timed; i++) {
        struct remark *r = &j->said.at[i];
        if (r->why && r->oracle == oracle_rows[ORACLE_RETRY_WITHOUT_EFFECT].name &&
            !pace_at_once(j, r->evidence[1].call, r->evidence[1].seen))
            r->why = NULL;
    }
    judge_pick(j, ORACLE_RETRY_WITHOUT_EFFECT, retried); /* one failure of a call is enough */
}
