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
#include "base/hash.h"
#include "judge/oracle_int.h"

enum { FACTOR = 5, NOTICED_NS = 100 * 1000 * 1000 };

static bool much_longer(int64_t now, int64_t before)
{
    return now > FACTOR * before && now - before >= NOTICED_NS;
}

/* ---- what real runs show ---- */

enum { SURE_RUNS = 3, SURE_PART = 4 }; /* so many; and but for one in so many, all */

/* A part that was slow with a fault at some call. */
struct slow {
    uid part;
    uint64_t fault; /* of this kind */
    uint32_t runs;  /* that were slow */
    faultload faultload;
};

struct slow_memory {
    struct map faults; /* fault_kind -> runs */
    struct map at;     /* (part, fault) */
    VEC(struct slow) all;
};

void slow_memory_free(struct slow_memory *m)
{
    if (!m)
        return;
    map_deinit(&m->faults);
    map_deinit(&m->at);
    vec_deinit(&m->all);
    mem_free(m);
}

/* Faults at one call that should have the same consequences, as far as time goes. */
static uint64_t fault_kind(const struct view *v, uint32_t faulty)
{
    bool quick = call_took(&v->calls[faulty]) < NOTICED_NS, lasts = !view_made_good(v, faulty);
    return hash_mix(judge_path(v->judge, v->calls[faulty].uid), (uint64_t)quick << 1 | lasts);
}

static void count_fault(const struct view *v, uint32_t faulty)
{
    struct judge *j = v->judge;
    if (!j->slow)
        j->slow = mem_zero(sizeof *j->slow);
    (void)map_count(&j->slow->faults, fault_kind(v, faulty));
}

static void count_slow(struct slow_memory *m, uid part, uint64_t fault, faultload f)
{
    uint64_t key = hash_mix(fault, part);
    if (!map_get(&m->at, key)) {
        map_set(&m->at, key, m->all.n);
        vec_push(&m->all, (struct slow){part, fault, 0, f});
    }
    m->all.at[*map_get(&m->at, key)].runs++;
}

static bool is_sure(const struct slow_memory *m, const struct slow *s)
{
    uint32_t runs = *map_get(&m->faults, s->fault);
    return s->runs >= SURE_RUNS && s->runs * SURE_PART >= runs * (SURE_PART - 1);
}

uint32_t slow_doubts(const struct judge *j, faultload *out, uint32_t n, uint32_t most)
{
    for (uint32_t i = 0; j->slow && j->timed && i < j->slow->all.n && n < most; i++) {
        const struct slow *s = &j->slow->all.at[i];
        bool mostly = s->runs * 2 > *map_get(&j->slow->faults, s->fault);
        if (mostly && !is_sure(j->slow, s))
            n = doubt_add(out, n, s->faultload);
    }
    return n;
}

static uid slow_part(struct judge *j, const struct remark *r)
{
    (void)j;
    return r->evidence[0].call;
}

void oracle_slow_end(struct judge *j)
{
    for (uint32_t i = 0; j->slow && j->timed && i < j->slow->all.n; i++) {
        const struct slow *s = &j->slow->all.at[i];
        const char **said =
            judge_said(j, ORACLE_SLOW_ELSEWHERE, topic_of(s->part, (uint32_t)s->fault));
        if (said && !is_sure(j->slow, s))
            *said = NULL;
    }
    judge_pick(j, ORACLE_SLOW_ELSEWHERE, slow_part); /* one call that makes a part slow is enough */
}

static void tell(const struct view *v, uint32_t i, uint32_t faulty, bool itself)
{
    struct judge *j = v->judge;
    uid part = judge_path(j, v->calls[i].uid);
    uint64_t fault = fault_kind(v, faulty);
    topic t = topic_of(part, (uint32_t)fault);
    count_slow(j->slow, part, fault, v->run->faultload);
    if (!judge_wants(j, v, ORACLE_SLOW_ELSEWHERE, t))
        return;
    struct witness shown[] = {{i, itself ? "slow by itself" : "slow"}, {faulty, "has the fault"}};
    const char *slow = judge_name(j, part), *why = judge_name(j, v->calls[faulty].uid);
    if (itself)
        judge_tell(j, v, ORACLE_SLOW_ELSEWHERE, t, shown, 2,
                   "%s itself takes much longer when %s fails: it waits, and not for a call", slow,
                   why);
    else
        judge_tell(j, v, ORACLE_SLOW_ELSEWHERE, t, shown, 2,
                   "%s takes much longer when %s fails, a call that it has nothing to do with",
                   slow, why);
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

/* Of its time that counts which was after from_ns. */
static bool call_slow(const struct view *v, uint32_t i, int64_t from_ns)
{
    const struct base *b = &v->judge->base;
    const struct call *c = &v->calls[i];
    uint32_t twin = v->twin.at[i];
    int64_t took = c->end_ns - (c->start_ns > from_ns ? c->start_ns : from_ns);
    if (v->faults.at[i] || twin == CALL_NONE || !much_longer(took, b->took.at[twin]))
        return false;
    uint32_t was = b->trace.calls.at[twin].request;
    return !was || !v->calls[i].request || was == v->calls[i].request;
}

static bool child_slow(const struct view *v, uint32_t i, int64_t from_ns)
{
    for (uint32_t k = 0; k < view_children(v, i); k++)
        if (call_slow(v, view_child(v, i, k), from_ns))
            return true;
    return false;
}

static void see_call(const struct view *v, uint32_t i, uint32_t faulty)
{
    int64_t from_ns = v->calls[faulty].start_ns;
    if (call_slow(v, i, from_ns) && !view_below(v, faulty, i) && !within_retry(v, i, faulty) &&
        !child_slow(v, i, from_ns))
        tell(v, i, faulty, false);
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

/* What the calls of the handler leave of its time after from_ns, waits before retries aside. */
static int64_t own_time(const struct view *v, uint32_t i, int64_t from_ns)
{
    int64_t at = from_ns, end = v->calls[i].end_ns, own = 0;
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
    const struct base *b = &v->judge->base;
    uint32_t twin = v->twin.at[i];
    int64_t from_ns = v->calls[faulty].start_ns;
    if (twin != CALL_NONE && call_took(&v->calls[i]) - b->took.at[twin] >= NOTICED_NS &&
        much_longer(own_time(v, i, from_ns), usual_own_time(b, twin)))
        tell(v, i, faulty, true);
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
    count_fault(v, faulty);
    for (uint32_t i = faulty; i != 0 && call_sure(&v->calls[i]); i = v->calls[i].parent)
        see_handler(v, v->calls[i].parent, faulty);
    for (uint32_t i = 1; i < v->n; i++)
        see_call(v, i, faulty);
}
