/* SPDX-License-Identifier: Apache-2.0
 *
 * slow-elsewhere: one call that fails, with its tries or without, makes something slower that it
 * has nothing to do with, by a factor and by a time that people notice.
 *
 * Two things are looked at. A call with no fault at it or below it, which is made without faults
 * too: how long it takes. A handler above the fault: how long it takes by itself, without the calls
 * it waits for. A wait before a call is tried again is back-off, and not counted; the tries and
 * what is called instead are calls.
 *
 * 1. What is compared with is the longest of the fault-free runs.
 * 2. Of a slow call within a slow one only the inner is said.
 * 3. Of real runs it takes two. */
#include "judge/oracle_int.h"

enum { FACTOR = 5, NOTICED_NS = 100 * 1000 * 1000 };

static bool much_longer(int64_t now, int64_t before)
{
    return now > FACTOR * before && now - before >= NOTICED_NS;
}

/* Times of real runs vary: a busy machine is slow once, somewhere. So what is slow must be so in
 * two of them. */
static bool believed(const struct view *v, uid call)
{
    struct judge *j = v->judge;
    uid group = names_uid_all(j->opt.names, call);
    const uint32_t *seen = map_get(&j->slow_once, group);
    if (v->run->wall_ns == 0 || (seen && *seen != (uint32_t)v->run->number))
        return true;
    map_set(&j->slow_once, group, (uint32_t)v->run->number);
    return false;
}

/* ---- calls ---- */

/* Is calls[i] made because the faulty call is tried again, or below such a call? */
static bool within_retry(const struct view *v, uint32_t i, uint32_t faulty)
{
    while (!v->faults.at[v->calls[i].parent])
        i = v->calls[i].parent;
    while (v->calls[faulty].parent != v->calls[i].parent && faulty)
        faulty = v->calls[faulty].parent;
    return faulty && view_equal(v, i, faulty);
}

static bool call_slow(const struct view *v, uint32_t i)
{
    const struct base *b = &v->judge->base;
    uint32_t twin = v->twin.at[i];
    if (v->faults.at[i] || twin == CALL_NONE ||
        !much_longer(call_took(&v->calls[i]), b->took.at[twin]))
        return false;
    uint32_t was = b->trace.calls.at[twin].request;
    return !was || !v->calls[i].request || was == v->calls[i].request;
}

static bool child_slow(const struct view *v, uint32_t i)
{
    for (uint32_t k = 0; k < view_children(v, i); k++)
        if (call_slow(v, view_child(v, i, k)))
            return true;
    return false;
}

static void see_call(const struct view *v, uint32_t i, uint32_t faulty)
{
    struct judge *j = v->judge;
    uid call = v->calls[i].uid;
    if (!call_slow(v, i) || view_below(v, faulty, i) || within_retry(v, i, faulty) ||
        child_slow(v, i) || !believed(v, call) || !judge_wants(j, v, ORACLE_SLOW_ELSEWHERE, call))
        return;
    struct witness shown[] = {{i, "slow"}, {faulty, "has the fault"}};
    judge_tell(j, v, ORACLE_SLOW_ELSEWHERE, call, shown, 2,
               "%s takes much longer when %s fails, a call that it has nothing to do with",
               judge_name(j, call), judge_name(j, v->calls[faulty].uid));
}

/* ---- the time of a handler itself ---- */

/* Does the handler's k-th call go to a service that has failed it before? It tries again, or asks
 * first what has become of its call. */
static bool is_retry(const struct view *v, uint32_t handler, uint32_t k)
{
    sym service = uid_element(v->names, v->calls[view_child(v, handler, k)].uid)->service;
    while (k-- > 0) {
        const struct call *before = &v->calls[view_child(v, handler, k)];
        if (uid_element(v->names, before->uid)->service == service && call_failed(before))
            return true;
    }
    return false;
}

/* What the calls of the handler leave of its time, waits before retries aside. */
static int64_t own_time(const struct view *v, uint32_t i)
{
    int64_t at = v->calls[i].start_ns, end = v->calls[i].end_ns, own = 0;
    for (uint32_t k = 0; k < view_children(v, i); k++) {
        const struct call *c = &v->calls[view_child(v, i, k)];
        if (c->start_ns > at && c->start_ns < end && !is_retry(v, i, k))
            own += c->start_ns - at;
        at = c->end_ns > at ? c->end_ns : at;
    }
    return at < end ? own + end - at : own;
}

/* The same without faults, of the slowest run that may have been. */
static int64_t usual_own_time(const struct base *b, uint32_t i)
{
    const struct call *calls = b->trace.calls.at;
    int64_t at = calls[i].start_ns, end = calls[i].end_ns, own = 0;
    for (uint32_t k = b->order.first.at[i]; k < b->order.first.at[i + 1]; k++) {
        const struct call *c = &calls[b->order.child.at[k]];
        own += c->start_ns > at ? c->start_ns - at : 0;
        at = c->end_ns > at ? c->end_ns : at;
    }
    own += at < end ? end - at : 0;
    return own + b->took.at[i] - call_took(&calls[i]);
}

static void see_handler(const struct view *v, uint32_t i, uint32_t faulty)
{
    struct judge *j = v->judge;
    uint32_t twin = v->twin.at[i];
    uid call = v->calls[i].uid;
    if (twin == CALL_NONE || call_took(&v->calls[i]) - j->base.took.at[twin] < NOTICED_NS ||
        !much_longer(own_time(v, i), usual_own_time(&j->base, twin)) || !believed(v, call) ||
        !judge_wants(j, v, ORACLE_SLOW_ELSEWHERE, call))
        return;
    struct witness shown[] = {{i, "slow by itself"}, {faulty, "has the fault"}};
    judge_tell(j, v, ORACLE_SLOW_ELSEWHERE, call, shown, 2,
               "%s itself takes much longer when %s fails: it waits, and not for a call",
               judge_name(j, call), judge_name(j, v->calls[faulty].uid));
}

/* The first call with a fault, when all others with one are tries of it; CALL_NONE: they are not.
 */
static uint32_t the_faulty(const struct view *v)
{
    uint32_t first = CALL_NONE;
    for (uint32_t i = 1; i < v->n; i++) {
        if (v->calls[i].mode == MODE_NONE)
            continue;
        if (first == CALL_NONE)
            first = i;
        else if (!uid_alike(v->names, v->calls[first].uid, v->calls[i].uid))
            return CALL_NONE;
    }
    return first;
}

void oracle_slow(const struct view *v)
{
    uint32_t planned = faultload_size(v->judge->opt.faultloads, v->run->faultload);
    uint32_t faulty = planned > v->n_faults ? CALL_NONE : the_faulty(v);
    if (faulty == CALL_NONE || v->run->flags & (RUN_HUNG | RUN_CRASHED))
        return;
    for (uint32_t i = faulty; i != 0 && call_sure(&v->calls[i]); i = v->calls[i].parent)
        see_handler(v, v->calls[i].parent, faulty);
    for (uint32_t i = 1; i < v->n; i++)
        see_call(v, i, faulty);
}
