/* SPDX-License-Identifier: Apache-2.0
 *
 * retry-without-effect: a failed call is made again at once, at the same place, with nothing
 * changed, and fails again in the same way.
 *
 * 1. A repetition is a call that is not made without faults; where it is known what was asked, one
 *    that asks for the same.
 * 2. Silent when a try of the call waits, when something else was called in between, and after a
 *    timeout, which was a wait. */
#include "judge/oracle_int.h"

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

static bool at_once(const struct call *a, const struct call *b)
{
    return b->start_ns >= a->end_ns && b->start_ns - a->end_ns < RETRY_AT_ONCE_NS;
}

static bool waited(outcome o)
{
    return outcome_kind(o) == OUT_TIMEOUT || outcome_kind(o) == OUT_CANCELLED;
}

/* The try before the handler's k-th call, when that was made at once and nothing else in between.
 */
static uint32_t try_before(const struct view *v, uint32_t handler, uint32_t k)
{
    uint32_t b = view_child(v, handler, k), between = b;
    while (k-- > 0) {
        uint32_t a = view_child(v, handler, k);
        if (view_equal(v, a, b)) {
            bool else_called = between != b && v->calls[between].start_ns >= v->calls[a].end_ns;
            return else_called || !at_once(&v->calls[a], &v->calls[b]) ? CALL_NONE : a;
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
        if (!at_once(&v->calls[last], &v->calls[c]))
            return true;
        last = c;
    }
    return false;
}

static void see_call(const struct view *v, uint32_t handler, uint32_t k)
{
    struct judge *j = v->judge;
    uint32_t b = view_child(v, handler, k);
    uint32_t a = try_before(v, handler, k);
    if (a == CALL_NONE || !call_sure(&v->calls[a]) || !call_sure(&v->calls[b]) ||
        v->calls[a].seen != v->calls[b].seen || waited(v->calls[a].seen) || !repeats(v, a, b) ||
        waits_later(v, handler, k) ||
        !judge_wants(j, v, ORACLE_RETRY_WITHOUT_EFFECT, v->calls[b].uid))
        return;
    struct witness shown[] = {{a, "fails"}, {b, "fails again"}};
    judge_tell(j, v, ORACLE_RETRY_WITHOUT_EFFECT, v->calls[b].uid, shown, 2,
               "%s calls %s again at once after %s, with nothing changed, and it fails again",
               judge_service(j, v->calls[handler].uid), judge_name(j, v->calls[b].uid),
               judge_outcome(j, v->calls[a].seen));
}

void oracle_retry(const struct view *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t k = 1; v->faults.at[i] && k < view_children(v, i); k++)
            if (call_failed(&v->calls[view_child(v, i, k)]))
                see_call(v, i, k);
}
