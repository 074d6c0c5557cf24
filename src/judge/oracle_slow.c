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
 * 3. Only what comes after the beginning of the fault can be its consequence.
 * 4. A real machine is slow now and then, whatever fails. So of real runs it takes three, and
 *    nearly all with a fault at the same call, counted apart by whether that fails at once or takes
 *    its time. Where most of them are slow, but too few to be sure, they are asked for again. */
#include "base/clock.h"
#include "base/hash.h"
#include "judge/oracle_int.h"

enum { FACTOR = 5 };

static const int64_t NOTICED_NS = MS(100);

static bool much_longer(int64_t now, int64_t before)
{
    return now > FACTOR * before && now - before >= NOTICED_NS;
}

/* ---- what real runs show ---- */

enum { SURE_RUNS = 3, SURE_PART = 4 }; /* so many; and but for one in so many, all */

/* Faults at one call that should have the same consequences, as far as time goes. */
static uint64_t fault_kind(const struct view *v, uint32_t faulty)
{
    bool quick = call_took(&v->calls[faulty]) < NOTICED_NS, lasts = !view_made_good(v, faulty);
    return hash_mix(judge_path(v->judge, v->calls[faulty].uid), (uint64_t)quick << 1 | lasts);
}

static bool is_sure(const struct slow_memory *m, const struct slow *s)
{
    uint32_t runs = *map_get(&m->faults, s->fault);
    return s->runs >= SURE_RUNS && s->runs * SURE_PART >= runs * (SURE_PART - 1);
}

void slow_doubts(const struct judge *j, struct doubts *out)
{
    for (uint32_t i = 0; i < j->slow.all.n; i++) {
        const struct slow *s = &j->slow.all.at[i];
        bool mostly = s->runs * 2 > *map_get(&j->slow.faults, s->fault);
        if (mostly && !is_sure(&j->slow, s))
            doubt_add(out, s->faultload);
    }
}

static uid slow_part(const struct remark *r)
{
    return r->evidence[0].call;
}

void oracle_slow_end(struct judge *j)
{
    for (uint32_t i = 0; j->timed && i < j->slow.all.n; i++) {
        const struct slow *s = &j->slow.all.at[i];
        struct remark *r =
            remark_find(j, ORACLE_SLOW_ELSEWHERE, topic_of(s->part, (uint32_t)s->fault));
        if (r && !is_sure(&j->slow, s))
            r->why = NULL;
    }
    remarks_pick(j, ORACLE_SLOW_ELSEWHERE, slow_part); /* one call that makes it slow is enough */
}

/* v->calls[i] is slow, or its handler itself is: counted, and told. */
static void tell_slow(const struct view *v, uint32_t i, uint32_t faulty, bool itself)
{
    struct judge *j = v->judge;
    uid part = judge_path(j, v->calls[i].uid);
    uint64_t fault = fault_kind(v, faulty);
    topic t = topic_of(part, (uint32_t)fault);
    struct slow_memory *m = &j->slow;
    uint32_t at = map_index(&m->at, hash_mix(fault, part), m->all.n);
    if (at == m->all.n)
        vec_push(&m->all, (struct slow){part, fault, 0, v->run->faultload});
    m->all.at[at].runs++;
    if (!remark_due(v, ORACLE_SLOW_ELSEWHERE, t))
        return;
    struct witness shown[] = {{i, itself ? "slow by itself" : "slow"}, {faulty, "has the fault"}};
    const char *slow = say_name(j, part), *why = say_name(j, v->calls[faulty].uid);
    if (itself)
        remark_write(v, ORACLE_SLOW_ELSEWHERE, t, shown, 2,
                     "%s itself takes much longer when %s fails: it waits, but not for a call",
                     slow, why);
    else
        remark_write(v, ORACLE_SLOW_ELSEWHERE, t, shown, 2,
                     "%s takes much longer when %s fails, a call it has nothing to do with", slow,
                     why);
}

/* ---- calls ---- */

/* Of its time that counts which was after from_ns. */
static bool call_slow(const struct view *v, uint32_t i, int64_t from_ns)
{
    const struct calm *calm = &v->judge->calm;
    const struct call *c = &v->calls[i];
    uint32_t twin = v->twin.at[i];
    int64_t took = c->end_ns - (c->start_ns > from_ns ? c->start_ns : from_ns);
    if (v->faults.at[i] || twin == CALL_NONE || !much_longer(took, calm->took.at[twin]))
        return false;
    uint32_t was = calm->trace.calls.at[twin].request;
    return !was || !c->request || was == c->request;
}

static void see_call(const struct view *v, uint32_t i, uint32_t faulty)
{
    int64_t from_ns = v->calls[faulty].start_ns;
    if (!call_slow(v, i, from_ns) || view_below(v, faulty, i))
        return;
    /* is it made because the faulty call is tried again, or below such a call? */
    uint32_t top = i, above = faulty;
    while (!v->faults.at[v->calls[top].parent])
        top = v->calls[top].parent;
    while (v->calls[above].parent != v->calls[top].parent && above)
        above = v->calls[above].parent;
    if (above && view_equal(v, top, above))
        return;
    for (uint32_t k = 0; k < view_children(v, i); k++)
        if (call_slow(v, view_child(v, i, k), from_ns))
            return; /* the inner one is said */
    tell_slow(v, i, faulty, false);
}

/* ---- the time of a handler itself ---- */

/* What the calls of the handler leave of its time after from_ns, waits before retries aside: before
 * a call to a service that has failed the handler. It tries again, or asks first what has become of
 * its call. */
static int64_t own_time(const struct view *v, uint32_t i, int64_t from_ns)
{
    int64_t at = from_ns, end = v->calls[i].end_ns, own = 0;
    for (uint32_t k = 0; k < view_children(v, i); k++) {
        uint32_t call = view_child(v, i, k);
        const struct call *c = &v->calls[call];
        bool counts = c->start_ns > at && c->start_ns < end;
        for (uint32_t b = 0; b < k && counts; b++) {
            uint32_t before = view_child(v, i, b);
            counts =
                view_service(v, before) != view_service(v, call) || !call_failed(&v->calls[before]);
        }
        own += counts ? c->start_ns - at : 0;
        at = c->end_ns > at ? c->end_ns : at;
    }
    return at < end ? own + end - at : own;
}

/* The same without faults, of the slowest run that may have been. */
static int64_t usual_own_time(const struct calm *calm, uint32_t i)
{
    const struct call *handler = &calm->trace.calls.at[i];
    int64_t at = handler->start_ns, end = handler->end_ns, own = 0;
    for (uint32_t k = 0; k < calm_children(calm, i); k++) {
        const struct call *c = calm_child(calm, i, k);
        own += c->start_ns > at ? c->start_ns - at : 0;
        at = c->end_ns > at ? c->end_ns : at;
    }
    own += at < end ? end - at : 0;
    return own + calm->took.at[i] - call_took(handler);
}

void oracle_slow(const struct view *v)
{
    struct judge *j = v->judge;
    uint32_t planned = faultload_size(j->opt.faultloads, v->run->faultload), faulty = CALL_NONE;
    if (planned > v->n_faults || v->run->flags & (RUN_HUNG | RUN_CRASHED))
        return;
    for (uint32_t i = 1; i < v->n; i++) { /* the first; the others are tries of it */
        if (v->calls[i].mode == MODE_NONE)
            continue;
        if (faulty == CALL_NONE)
            faulty = i;
        else if (!uid_alike(v->names, v->calls[faulty].uid, v->calls[i].uid))
            return;
    }
    if (faulty == CALL_NONE)
        return;
    (void)map_count(&j->slow.faults, fault_kind(v, faulty));
    for (uint32_t i = faulty; i != 0 && call_sure(&v->calls[i]); i = v->calls[i].parent) {
        uint32_t handler = v->calls[i].parent, twin = v->twin.at[handler];
        if (twin != CALL_NONE &&
            call_took(&v->calls[handler]) - j->calm.took.at[twin] >= NOTICED_NS &&
            much_longer(own_time(v, handler, v->calls[faulty].start_ns),
                        usual_own_time(&j->calm, twin)))
            tell_slow(v, handler, faulty, true);
    }
    for (uint32_t i = 1; i < v->n; i++)
        see_call(v, i, faulty);
}
