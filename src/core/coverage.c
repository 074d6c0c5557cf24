/* SPDX-License-Identifier: Apache-2.0 */
#include "core/coverage.h"

#include "base/hash.h"

void coverage_init(struct coverage *c, const struct names *names)
{
    *c = (struct coverage){.names = names};
}

void coverage_deinit(struct coverage *c)
{
    vec_deinit(&c->calls);
    vec_deinit(&c->handlers);
    map_deinit(&c->call_at);
    map_deinit(&c->handler_at);
    map_deinit(&c->edges);
    trace_order_deinit(&c->order);
    vec_deinit(&c->reached);
}

/* The place of a key in a vector of n, as of map_index; COVERAGE_NAMES_MAX: there is no room for it. */
static uint32_t place_of(struct map *m, uint64_t key, uint32_t n)
{
    const uint32_t *at = n < COVERAGE_NAMES_MAX ? NULL : map_get(m, key);
    return n < COVERAGE_NAMES_MAX ? map_index(m, key, n) : at ? *at : COVERAGE_NAMES_MAX;
}

/* A call of a service, in a run. False: there was no room. */
static bool add_call(struct coverage *c, const struct run *run, const struct call *call)
{
    const struct element *el = uid_element(c->names, call->uid);
    sym caller = uid_element(c->names, run->trace.calls.at[call->parent].uid)->service;
    uint64_t key = hash_mix(caller, (uint64_t)el->service << 32 | el->interface);
    uint32_t at = place_of(&c->call_at, key, c->calls.n);
    if (at == COVERAGE_NAMES_MAX)
        return false;
    if (at == c->calls.n)
        vec_push(&c->calls, (struct covered_call){.caller = caller,
                                                  .service = el->service,
                                                  .interface = el->interface});
    struct covered_call *seen = &c->calls.at[at];
    seen->usual |= run->faultload == FAULTLOAD_EMPTY;
    if (call->mode != MODE_NONE && seen->last != c->runs) {
        seen->failed++;
        seen->last = c->runs;
    }
    return true;
}

static bool see_edge(struct coverage *c, uint64_t edge, uint32_t handler)
{
    if (map_get(&c->edges, edge))
        return true;
    if (c->edges.items.n >= COVERAGE_EDGES_MAX)
        return false;
    map_set(&c->edges, edge, handler);
    c->handlers.at[handler].edges++;
    return true;
}

/* Follows the handler of a call. False: there was no room. */
static bool follow(struct coverage *c, const struct run *run, uint32_t i)
{
    const struct call *calls = run->trace.calls.at;
    const struct element *el = uid_element(c->names, calls[i].uid);
    uint64_t path = hash_mix((uint64_t)el->service << 32 | el->interface, el->payload);
    uint32_t at = place_of(&c->handler_at, path, c->handlers.n);
    bool fits = true;
    if (at == COVERAGE_NAMES_MAX)
        return false;
    if (at == c->handlers.n)
        vec_push(&c->handlers,
                 (struct covered_handler){el->service, el->interface, el->payload, 0});
    for (uint32_t k = c->order.first.at[i]; k < c->order.first.at[i + 1]; k++) {
        const struct call *child = &calls[c->order.child.at[k]];
        if (child->flags & CALL_HUSHED)
            continue;
        uint64_t element = c->names->uids.at[child->uid].element;
        path = hash_mix(path, element << 32 | call_label(child));
        fits &= see_edge(c, path, at);
    }
    return see_edge(c, hash_mix(~path, calls[i].reply), at) && fits;
}

static void add_run(struct coverage *c, const struct run *run)
{
    bool fits = true;
    c->runs++;
    c->broken |= run->faultload == FAULTLOAD_EMPTY && !run->verdict.pass;
    c->client |= outcome_kind(run->verdict.status) == OUT_EXIT;
    c->reached.n = 0;
    trace_order(&run->trace, c->names, &c->order);
    for (uint32_t i = 0; i < run->trace.calls.n; i++) {
        const struct call *call = &run->trace.calls.at[i];
        bool tested = !(call->flags & CALL_HUSHED), first = call->parent == CALL_NONE;
        bool reached = tested && (first || (call->handled && c->reached.at[call->parent]));
        vec_push(&c->reached, reached);
        if (tested && !first && !(c->client && call->parent == 0))
            fits &= add_call(c, run, call);
        if (reached && !(c->client && first))
            fits &= follow(c, run, i);
    }
    c->left_out += !fits;
}

void coverage_event(struct coverage *c, const struct event *event)
{
    if (event->type == EVENT_AGAIN) {
        const struct names *names = c->names;
        coverage_deinit(c);
        coverage_init(c, names);
    } else if (event->type == EVENT_RUN && event->run && event->counted != COUNTED_NOT &&
               event->fired) {
        add_run(c, event->run);
    }
}

uint32_t coverage_failed(const struct coverage *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->calls.n; i++)
        n += c->calls.at[i].failed > 0;
    return n;
}
