/* SPDX-License-Identifier: Apache-2.0
 *
 * One run, and the fault-free one it is compared with, indexed for the oracles. */
#include "base/hash.h"
#include "judge/oracle_int.h"

/* A number for the calls of one handler that are equal but for how manieth they are. */
static uint64_t kind_of(const struct names *names, uint32_t handler, uid call)
{
    const struct element *el = uid_element(names, call);
    return hash_mix(hash_mix(handler, (uint64_t)el->service << 32 | el->interface), el->payload);
}

/* ---- the fault-free run ---- */

uint32_t calm_find(const struct calm *c, uid call)
{
    const uint32_t *at = map_get(&c->at, call);
    return at ? *at : CALL_NONE;
}

void calm_learn(struct judge *j, const struct run *run)
{
    struct calm *calm = &j->calm;
    bool first = !calm->known;
    answers_learn(&calm->usual, j->set, run);
    if (first) {
        trace_copy(&run->trace, &calm->trace);
        trace_order(&calm->trace, j->opt.names, &calm->order);
        calm->status = run->verdict.status;
        calm->known = true;
    }
    for (uint32_t i = 0; i < run->trace.calls.n; i++) {
        const struct call *c = &run->trace.calls.at[i];
        if (first) {
            map_set(&calm->at, c->uid, i);
            map_count(&calm->made, kind_of(j->opt.names, c->parent, c->uid));
            vec_push(&calm->took, call_took(c));
            continue;
        }
        uint32_t at = calm_find(calm, c->uid);
        if (at != CALL_NONE && call_took(c) > calm->took.at[at])
            calm->took.at[at] = call_took(c);
    }
}

void calm_deinit(struct calm *c)
{
    vec_deinit(&c->trace.calls);
    trace_order_deinit(&c->order);
    map_deinit(&c->at);
    map_deinit(&c->made);
    vec_deinit(&c->took);
    answers_deinit(&c->usual);
}

/* ---- one run ---- */

void view_make(struct judge *j, const struct run *run, struct view *v)
{
    v->judge = j;
    v->names = j->opt.names;
    v->run = run;
    v->calls = run->trace.calls.at;
    v->n = run->trace.calls.n;
    v->first.n = v->twin.n = v->faults.n = v->filled.n = v->n_faults = 0;
    map_clear(&v->first_of);
    trace_order(&run->trace, v->names, &v->order);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct call *c = &v->calls[i];
        vec_push(&v->first, map_index(&v->first_of, kind_of(v->names, c->parent, c->uid), i));
        vec_push(&v->twin, calm_find(&j->calm, c->uid));
        vec_push(&v->faults, c->mode != MODE_NONE);
        v->n_faults += c->mode != MODE_NONE;
        const uint32_t *known = i && c->request ? map_get(&j->asked, c->uid) : NULL;
        if (i && c->request && (!known || *known != c->request))
            map_set(&j->asked, c->uid, known ? 0 : c->request);
    }
    for (uint32_t i = v->n; i-- > 1;) /* a call stands behind the one that made it */
        v->faults.at[v->calls[i].parent] += v->faults.at[i];
    /* at a door a fault may be acted out before the body of the request is there: what was asked is
     * not known then, but the runs without that fault have shown it */
    for (uint32_t i = 1; i < v->n; i++) {
        const struct call *c = &v->calls[i];
        if (c->request || c->mode == MODE_NONE)
            continue;
        const uint32_t *known = map_get(&j->asked, c->uid);
        const uint32_t *first = map_get(&j->asked, v->calls[v->first.at[i]].uid);
        if (!known || !*known || !first || !*first)
            continue; /* where the first of equal siblings differs, so may all */
        for (uint32_t k = 0; v->filled.n < v->n; k++)
            vec_push(&v->filled, v->calls[k]);
        v->filled.at[i].request = *known;
    }
    if (v->filled.n)
        v->calls = v->filled.at;
    requests_of(run, &v->requests);
    for (uint32_t i = 0; i < v->requests.n; i++)
        v->requests.at[i].usual =
            answers_find(&j->calm.usual, v->calls[v->requests.at[i].call].uid);
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

bool view_harmed(const struct view *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (mode_event(v->calls[i].mode).n)
            return true;
    return false;
}

bool view_below(const struct view *v, uint32_t above, uint32_t i)
{
    while (i != CALL_NONE && i > above)
        i = v->calls[i].parent;
    return i == above;
}

const struct request *view_request(const struct view *v, uint32_t i)
{
    for (uint32_t k = 0; k < v->requests.n; k++)
        if (view_below(v, v->requests.at[k].call, i))
            return &v->requests.at[k];
    return NULL;
}

enum alike request_alike(const struct request *r)
{
    return r->usual && r->told ? mask_compare(&r->usual->mask, r->body) : ALIKE_UNKNOWN;
}

outcome view_status(const struct view *v)
{
    for (uint32_t i = 0; i < v->requests.n; i++) {
        const struct request *r = &v->requests.at[i];
        if (!outcome_ok(r->status) && r->usual && outcome_ok(r->usual->status))
            return r->status;
    }
    return v->requests.n == 1 ? v->requests.at[0].status : v->run->verdict.status;
}

uint32_t calm_equal(const struct judge *j, uid call, uint32_t request)
{
    const struct calm *calm = &j->calm;
    uint32_t handler = calm_find(calm, uid_parent(j->opt.names, call)), n = 0;
    if (handler == CALL_NONE)
        return 0;
    const uint32_t *made = map_get(&calm->made, kind_of(j->opt.names, handler, call));
    if (!made || !request)
        return made ? *made : 0;
    for (uint32_t k = 0; k < calm_children(calm, handler); k++) {
        const struct call *c = calm_child(calm, handler, k);
        n += element_alike(j->opt.names, c->uid, call) && (!c->request || c->request == request);
    }
    return n;
}

bool view_usual(const struct view *v, uint32_t i)
{
    const struct call *c = &v->calls[i];
    if (v->twin.at[i] != CALL_NONE)
        return true;
    uint32_t twin = c->parent == CALL_NONE ? CALL_NONE : v->twin.at[c->parent];
    return twin != CALL_NONE &&
           map_get(&v->judge->calm.made, kind_of(v->names, twin, c->uid)) != NULL;
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

bool view_reads(const struct view *v, uint32_t i)
{
    return judge_effect(v->judge, v->calls[i].uid) == EFFECT_READ;
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
