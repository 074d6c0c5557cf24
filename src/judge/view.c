/* SPDX-License-Identifier: Apache-2.0
 *
 * One run, and the fault-free one it is compared with, indexed for the oracles. */
#include "judge/view_int.h"

#include "base/hash.h"

/* ---- equal calls ---- */

/* A number for the calls of one handler that are equal but for how manieth they are. */
static uint64_t kind_of(const struct names *names, uint32_t handler, uid call)
{
    const struct element *el = uid_element(names, call);
    return hash_mix(hash_mix(handler, (uint64_t)el->service << 32 | el->interface), el->payload);
}

static void find_equal(struct view *v)
{
    map_clear(&v->first_of);
    v->first.n = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        uint64_t kind = kind_of(v->names, v->calls[i].parent, v->calls[i].uid);
        const uint32_t *first = map_get(&v->first_of, kind);
        vec_push(&v->first, first ? *first : i);
        if (!first)
            map_set(&v->first_of, kind, i);
    }
}

/* ---- the fault-free run ---- */

uint32_t base_find(const struct base *b, uid call)
{
    const uint32_t *at = map_get(&b->at, call);
    return at ? *at : CALL_NONE;
}

static void base_keep(struct judge *j, const struct run *run)
{
    struct base *b = &j->base;
    trace_copy(&run->trace, &b->trace);
    trace_order(&b->trace, j->opt.names, &b->order);
    for (uint32_t i = 0; i < b->trace.calls.n; i++) {
        const struct call *c = &b->trace.calls.at[i];
        map_set(&b->at, c->uid, i);
        map_count(&b->made, kind_of(j->opt.names, c->parent, c->uid));
        vec_push(&b->took, call_took(&b->trace.calls.at[i]));
    }
    b->status = run->verdict.status;
    b->known = true;
}

void base_learn(struct judge *j, const struct run *run)
{
    struct base *b = &j->base;
    bool first = !b->known;
    if (first)
        base_keep(j, run);
    answers_learn(&b->usual, j->set, run);
    if (first)
        return;
    for (uint32_t i = 0; i < run->trace.calls.n; i++) {
        const struct call *c = &run->trace.calls.at[i];
        uint32_t at = base_find(b, c->uid);
        if (at != CALL_NONE && call_took(c) > b->took.at[at])
            b->took.at[at] = call_took(c);
    }
}

void base_deinit(struct base *b)
{
    vec_deinit(&b->trace.calls);
    trace_order_deinit(&b->order);
    map_deinit(&b->at);
    map_deinit(&b->made);
    vec_deinit(&b->took);
    answers_deinit(&b->usual);
}

/* ---- what was asked ---- */

/* At a door a fault may be acted out before the body of the request is there: what was asked is not
 * known then. The runs without that fault have shown it. */

static void learn_asked(struct judge *j, const struct run *run)
{
    for (uint32_t i = 1; i < run->trace.calls.n; i++) {
        const struct call *c = &run->trace.calls.at[i];
        if (!c->request)
            continue;
        uint32_t *known = map_get(&j->asked, c->uid);
        if (!known)
            map_set(&j->asked, c->uid, c->request);
        else if (*known != c->request)
            *known = 0;
    }
}

/* Is the same asked in every run? Where the first of equal siblings differs, so may all. */
static bool asks_the_same(const struct view *v, uint32_t i)
{
    const uint32_t *known = map_get(&v->judge->asked, v->calls[v->first.at[i]].uid);
    return known && *known;
}

static void fill_asked(struct view *v)
{
    v->filled.n = 0;
    for (uint32_t i = 1; i < v->n; i++) {
        const struct call *c = &v->run->trace.calls.at[i];
        if (c->request || c->mode == MODE_NONE || !asks_the_same(v, i))
            continue;
        const uint32_t *known = map_get(&v->judge->asked, c->uid);
        if (!known || !*known)
            continue;
        for (uint32_t k = 0; v->filled.n < v->n; k++)
            vec_push(&v->filled, v->calls[k]);
        v->filled.at[i].request = *known;
    }
    if (v->filled.n)
        v->calls = v->filled.at;
}

/* ---- one run ---- */

void view_make(struct judge *j, const struct run *run, struct view *v)
{
    v->judge = j;
    v->names = j->opt.names;
    v->run = run;
    v->calls = run->trace.calls.at;
    v->n = run->trace.calls.n;
    v->n_faults = 0;
    find_equal(v);
    learn_asked(j, run);
    fill_asked(v);
    v->twin.n = v->faults.n = 0;
    trace_order(&run->trace, v->names, &v->order);
    for (uint32_t i = 0; i < v->n; i++) {
        bool fired = v->calls[i].mode != MODE_NONE;
        vec_push(&v->twin, base_find(&j->base, v->calls[i].uid));
        vec_push(&v->faults, fired);
        v->n_faults += fired;
    }
    requests_of(run, &v->requests);
    for (uint32_t i = 0; i < v->requests.n; i++)
        v->requests.at[i].usual =
            answers_find(&j->base.usual, v->calls[v->requests.at[i].call].uid);
    for (uint32_t i = v->n; i-- > 1;) /* a call stands behind the one that made it */
        v->faults.at[v->calls[i].parent] += v->faults.at[i];
}

void view_deinit(struct view *v)
{
    trace_order_deinit(&v->order);
    vec_deinit(&v->filled);
    vec_deinit(&v->first);
    map_deinit(&v->first_of);
    vec_deinit(&v->twin);
    vec_deinit(&v->faults);
    vec_deinit(&v->requests);
}

bool view_below(const struct view *v, uint32_t above, uint32_t i)
{
    while (i != CALL_NONE && i > above)
        i = v->calls[i].parent;
    return i == above;
}

bool view_equal(const struct view *v, uint32_t a, uint32_t b)
{
    return v->first.at[a] == v->first.at[b];
}

uint32_t base_equal(const struct judge *j, uid call, uint32_t request)
{
    const struct base *b = &j->base;
    uint32_t handler = base_find(b, uid_parent(j->opt.names, call)), n = 0;
    if (handler == CALL_NONE)
        return 0;
    const uint32_t *made = map_get(&b->made, kind_of(j->opt.names, handler, call));
    if (!made || !request)
        return made ? *made : 0;
    for (uint32_t k = b->order.first.at[handler]; k < b->order.first.at[handler + 1]; k++) {
        const struct call *c = &b->trace.calls.at[b->order.child.at[k]];
        n += element_alike(j->opt.names, c->uid, call) &&
             (!request || !c->request || c->request == request);
    }
    return n;
}

bool view_usual(const struct view *v, uint32_t handler, uid call)
{
    const struct base *b = &v->judge->base;
    uint32_t twin = v->twin.at[handler];
    return twin != CALL_NONE && map_get(&b->made, kind_of(v->names, twin, call));
}

bool view_made_good(const struct view *v, uint32_t i)
{
    const struct call *c = &v->calls[i];
    for (uint32_t k = 0; k < view_children(v, c->parent); k++) {
        const struct call *again = &v->calls[view_child(v, c->parent, k)];
        if (!call_failed(again) && again->start_ns >= c->end_ns &&
            view_equal(v, i, view_child(v, c->parent, k)) &&
            (!c->request || !again->request || c->request == again->request))
            return true;
    }
    return false;
}

uint32_t view_failure(const struct view *v, uint32_t handler, uint32_t n)
{
    while (n-- > 0) {
        uint32_t i = view_child(v, handler, n);
        const struct call *c = &v->calls[i];
        if (c->seen != OUTCOME_OK && call_failed(c) && c->end_ns <= v->calls[handler].end_ns &&
            !view_made_good(v, i))
            return n;
    }
    return CALL_NONE;
}
