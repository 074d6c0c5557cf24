/* SPDX-License-Identifier: Apache-2.0
 *
 * retry-without-effect: a failed call is made again at once, at the same place, with nothing
 * changed, and fails again in the same way.
 *
 * 1. A repetition is a call that is not made without faults; where it is known what was asked, one
 *    that asks for the same.
 * 2. Silent when a try of the call waits, when something else was called in between, and after a
 *    timeout, which was a wait.
 * 3. In memory a run shows how soon a retry comes. Of real runs all of them do, at the end.
 *
 * How soon is that? In memory times are exact: less than 5 ms is at once, more is a wait. Times of
 * real runs are not: on a busy machine a retry at once comes after 10 ms, and a back-off that is
 * drawn at random after one. But a wait that is there shows in the least of all times, and chance
 * evens out over many. So real runs are only counted, and what they say is known at the end. Between
 * the two there is a range in which nothing is said; a few more runs are asked for to leave it. */
#include "base/clock.h"
#include "base/hash.h"
#include "judge/oracle_int.h"

enum {
    AT_ONCE_NS = MS(5),
    WAITS_NS = MS(20), /* of real runs: no retry at once comes so late each time */
    HABIT_PART = 4,    /* of real runs: but for one in so many, retries at once come sooner */
    ENOUGH = 24,       /* retries, to stay undecided about */
};

/* ---- pace: how soon a failed call is made again, over all runs ---- */

static const outcome ANY_FAILURE = OUTCOME(OUT_NONE, 0);

static uint64_t pace_key(struct judge *j, uid call, outcome seen)
{
    return hash_mix(hash_mix(1, judge_path(j, call)), seen);
}

/* NULL: after this failure it was never made again. */
static struct pace *pace_find(struct judge *j, uid call, outcome seen)
{
    const uint32_t *at = map_get(&j->pace_at, pace_key(j, call, seen));
    return at ? &j->paces.at[*at] : NULL;
}

static void pace_learn(struct judge *j, uid call, outcome seen, int64_t gap_ns)
{
    uint32_t at = map_index(&j->pace_at, pace_key(j, call, seen), j->paces.n);
    if (at == j->paces.n)
        vec_push(&j->paces, (struct pace){.least_ns = gap_ns});
    struct pace *p = &j->paces.at[at];
    p->least_ns = gap_ns < p->least_ns ? gap_ns : p->least_ns;
    p->n++;
    p->late += gap_ns >= WAITS_NS;
}

bool pace_waits(struct judge *j, uid call, outcome seen)
{
    const struct pace *own = pace_find(j, call, seen);
    return own && own->least_ns >= (j->timed ? WAITS_NS : AT_ONCE_NS);
}

/* Of calls that were made again soon, but never quite at once. */
void pace_doubts(const struct judge *j, struct doubts *out)
{
    for (uint32_t i = 0; i < j->paces.n; i++) {
        const struct pace *p = &j->paces.at[i];
        if (p->again != FAULTLOAD_EMPTY && p->n < ENOUGH && p->least_ns >= AT_ONCE_NS &&
            p->least_ns < WAITS_NS)
            doubt_add(out, p->again);
    }
}

/* ---- one run ---- */

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
        if (v->calls[c].start_ns - v->calls[last].end_ns >= AT_ONCE_NS)
            return true;
        last = c;
    }
    return false;
}

static void see_call(const struct view *v, uint32_t handler, uint32_t k)
{
    struct judge *j = v->judge;
    uint32_t b = view_child(v, handler, k);
    const struct element *e = uid_element(v->names, v->calls[b].uid);
    if (!e->n && !e->before)
        return; /* no equal one is made before it */
    uint32_t a = try_before(v, handler, k);
    if (a == CALL_NONE)
        return;
    const struct call *x = &v->calls[a], *y = &v->calls[b];
    uint32_t twin = v->twin.at[b];
    if (!call_failed(x) || !call_sure(x) || !call_sure(y))
        return;
    /* is b made because a failed? of equal calls without known requests one may be the next of a
     * loop */
    if (x->request && y->request
            ? x->request != y->request ||
                  (twin != CALL_NONE && j->calm.trace.calls.at[twin].request == y->request)
            : twin != CALL_NONE || calm_equal(j, y->uid, 0) != 1)
        return;
    enum outcome_kind kind = outcome_kind(x->seen);
    int64_t gap_ns = y->start_ns - x->end_ns;
    bool waited = kind == OUT_TIMEOUT || kind == OUT_CANCELLED, real = v->run->wall_ns != 0;
    pace_learn(j, y->uid, x->seen, gap_ns);
    if (!waited) /* what follows a wait says nothing about other failures */
        pace_learn(j, y->uid, ANY_FAILURE, gap_ns);
    if (!call_failed(y) || x->seen != y->seen)
        return;
    struct pace *p = pace_find(j, y->uid, x->seen);
    if (p->again == FAULTLOAD_EMPTY && v->run->verdict.pass) /* a failure is run again anyway */
        p->again = v->run->faultload;
    topic t = topic_of(y->uid, y->seen);
    if (waited || (!real && (gap_ns >= AT_ONCE_NS || waits_later(v, handler, k))) ||
        !remark_due(v, ORACLE_RETRY_WITHOUT_EFFECT, t))
        return;
    /* many HTTP libraries repeat a call themselves when its connection breaks before the answer */
    bool library = kind == OUT_RESET || kind == OUT_CLOSED;
    struct witness shown[] = {{a, "fails"}, {b, "fails again"}};
    remark_write(v, ORACLE_RETRY_WITHOUT_EFFECT, t, shown, 2,
                 "%s%s retries %s immediately after %s, with nothing changed, and it fails again",
                 say_service(j, v->calls[handler].uid), library ? ", or its HTTP library," : "",
                 say_name(j, y->uid), say_outcome(j, x->seen));
}

void oracle_retry(const struct view *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t k = 1; v->faults.at[i] && k < view_children(v, i); k++)
            see_call(v, i, k);
}

/* ---- at the end ---- */

static uid retried(const struct remark *r)
{
    return r->evidence[1].call;
}

/* Of real runs, where all of them are known: is the call made again at once? The failures of one
 * kind may be few: that it can be made again at once is asked of all. */
void oracle_retry_end(struct judge *j)
{
    for (struct remark *r = NULL;
         j->timed && (r = remark_next(j, ORACLE_RETRY_WITHOUT_EFFECT, r));) {
        const struct pace *own = pace_find(j, r->evidence[1].call, r->evidence[1].seen);
        const struct pace *all = pace_find(j, r->evidence[1].call, ANY_FAILURE);
        if (!own || !all || own->least_ns >= WAITS_NS || all->least_ns >= AT_ONCE_NS ||
            all->late * HABIT_PART > all->n)
            r->why = NULL;
    }
    remarks_pick(j, ORACLE_RETRY_WITHOUT_EFFECT, retried); /* one failure of a call is enough */
}
