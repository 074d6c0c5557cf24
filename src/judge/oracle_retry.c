/* SPDX-License-Identifier: Apache-2.0
 *
 * retry-without-effect: a failed call is made again at once, at the same place, with nothing
 * changed, and fails again in the same way.
 *
 * 1. A repetition is a call that is not made without faults; where it is known what was asked, one
 *    that asks for the same.
 * 2. Silent when a try of the call waits, when something else was called in between, and after a
 *    timeout, which was a wait.
 * 3. What real runs show must be the habit, not chance: at once more often than not. */
#include "base/hash.h"
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
        if (!at_once(&v->calls[last], &v->calls[c]))
            return true;
        last = c;
    }
    return false;
}

/* ---- by chance at once ---- */

/* A back-off that is drawn at random is short now and then. So of real runs it is counted how often
 * the retry comes at once, and how often it waits: 16 bits each. */
static uint64_t habit_key(struct judge *j, uid call, outcome seen)
{
    return hash_mix(names_uid_all(j->opt.names, call), seen);
}

static void count_habit(const struct view *v, const struct call *retry, bool now)
{
    uint64_t key = habit_key(v->judge, retry->uid, retry->seen);
    const uint32_t *known = map_get(&v->judge->retries, key);
    uint32_t n = known ? *known : 0, shift = now ? 0 : 16;
    if (v->run->wall_ns != 0 && (n >> shift & 0xffff) < 0xffff)
        map_set(&v->judge->retries, key, n + (1u << shift));
}

void oracle_retry_end(struct judge *j)
{
    for (uint32_t i = 0; i < j->said.n; i++) {
        struct remark *r = &j->said.at[i];
        if (!r->why || r->oracle != oracle_rows[ORACLE_RETRY_WITHOUT_EFFECT].name)
            continue;
        const struct evidence *e = &r->evidence[1];
        const uint32_t *n = map_get(&j->retries, habit_key(j, e->call, e->seen));
        if (n && *n >> 16 >= (*n & 0xffff))
            r->why = NULL;
    }
}

/* ---- one run ---- */

static void see_call(const struct view *v, uint32_t handler, uint32_t k)
{
    struct judge *j = v->judge;
    uint32_t b = view_child(v, handler, k);
    uint32_t a = try_before(v, handler, k);
    if (a == CALL_NONE || !call_sure(&v->calls[a]) || !call_sure(&v->calls[b]) ||
        v->calls[a].seen != v->calls[b].seen || waited(v->calls[a].seen) || !repeats(v, a, b))
        return;
    bool now = at_once(&v->calls[a], &v->calls[b]) && !waits_later(v, handler, k);
    count_habit(v, &v->calls[b], now);
    if (!now || !judge_wants(j, v, ORACLE_RETRY_WITHOUT_EFFECT, v->calls[b].uid))
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
