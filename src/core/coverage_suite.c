/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenarios held against each other. Every edge gets a number over all of them, and each scenario is
 * a list of those; how many scenarios that are left show an edge is a count. From the last one to
 * the first, a scenario whose edges all have another that shows them goes, and its edges count one
 * less. So of two that are equal the first stays, and what is left shows everything, each of it
 * something of its own. */
#include <stdlib.h>

#include "base/hash.h"
#include "core/coverage.h"

enum { CANDIDATES_MAX = 32 }; /* that are looked at, to name one */

struct joint {
    const struct coverage *const *list;
    uint32_t n;
    struct suite_coverage *out;
    struct map call_at, handler_at, edge_at; /* hash -> place, over all of them */
    VEC(uint32_t) edges;                     /* of all scenarios, one after the other */
    VEC(uint32_t) first;                     /* by scenario: where its edges begin; and the end */
    VEC(uint32_t) shown;                     /* by edge: scenarios that show it, */
    VEC(uint32_t) left;                      /* and are left */
    VEC(uint32_t) mark;                      /* by edge: the scenario, + 1, it is to be shown for */
    VEC(uint32_t) showing;                   /* of all edges, those that are left and show it */
    VEC(uint32_t) showing_first;             /* by edge: where they begin; they are `left` many */
};

/* ---- what there is ---- */

static void join_calls(struct joint *j, const struct coverage *c)
{
    for (uint32_t i = 0; i < c->calls.n; i++) {
        const struct covered_call *call = &c->calls.at[i];
        uint64_t key = c->call_at.items.at[i].key;
        uint32_t at = map_index(&j->call_at, key, j->out->calls.n);
        if (at == j->out->calls.n) {
            struct suite_call new = {.call = *call, .key = key, .names = c->names};
            new.call.failed = 0;
            vec_push(&j->out->calls, new);
        }
        struct suite_call *all = &j->out->calls.at[at];
        all->call.usual |= call->usual;
        all->call.failed += call->failed;
        all->scenarios++;
    }
}

static void join_handlers(struct joint *j, const struct coverage *c)
{
    for (uint32_t i = 0; i < c->handlers.n; i++) {
        uint64_t key = c->handler_at.items.at[i].key;
        uint32_t at = map_index(&j->handler_at, key, j->out->handlers.n);
        if (at == j->out->handlers.n) {
            struct suite_handler new = {
                .handler = c->handlers.at[i], .key = key, .names = c->names};
            new.handler.edges = 0;
            vec_push(&j->out->handlers, new);
        }
        j->out->handlers.at[at].scenarios++;
    }
}

static void join_edges(struct joint *j, const struct coverage *c)
{
    vec_push(&j->first, j->edges.n);
    for (uint32_t i = 0; i < c->edges.items.n; i++) {
        const struct map_item *edge = &c->edges.items.at[i];
        uint32_t at = map_index(&j->edge_at, edge->key, j->shown.n);
        if (at == j->shown.n) {
            uint64_t handler = c->handler_at.items.at[edge->value].key;
            j->out->handlers.at[*map_get(&j->handler_at, handler)].handler.edges++;
            vec_push(&j->shown, 0);
            vec_push(&j->left, 0);
            vec_push(&j->mark, 0);
        }
        j->shown.at[at]++;
        j->left.at[at] += !c->broken;
        vec_push(&j->edges, at);
    }
}

static void count_own(struct joint *j, uint32_t i)
{
    const struct coverage *c = j->list[i];
    struct suite_scenario *s = &j->out->scenarios.at[i];
    for (uint32_t k = j->first.at[i]; k < j->first.at[i + 1]; k++)
        s->only_edges += j->shown.at[j->edges.at[k]] == 1;
    for (uint32_t k = 0; k < c->calls.n; k++) {
        uint32_t at = *map_get(&j->call_at, c->call_at.items.at[k].key);
        s->only_calls += j->out->calls.at[at].scenarios == 1;
    }
    for (uint32_t k = 0; k < c->handlers.n; k++) {
        uint32_t at = *map_get(&j->handler_at, c->handler_at.items.at[k].key);
        s->only_handlers += j->out->handlers.at[at].scenarios == 1;
    }
}

/* ---- who adds nothing ---- */

static bool stays(const struct joint *j, uint32_t i)
{
    return !j->out->scenarios.at[i].adds_nothing && !j->list[i]->broken;
}

static bool adds_nothing(const struct joint *j, uint32_t i)
{
    const struct coverage *c = j->list[i];
    bool others = c->runs && !c->broken && !c->left_out;
    for (uint32_t k = j->first.at[i]; k < j->first.at[i + 1] && others; k++)
        others = j->left.at[j->edges.at[k]] > 1;
    return others;
}

/* The scenarios that are left, by the edges that they show. */
static void list_showing(struct joint *j)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->shown.n; i++) {
        vec_push(&j->showing_first, n);
        n += j->left.at[i];
        j->left.at[i] = 0;
    }
    for (uint32_t i = 0; i < n; i++)
        vec_push(&j->showing, 0);
    for (uint32_t i = 0; i < j->n; i++)
        for (uint32_t k = j->first.at[i]; k < j->first.at[i + 1] && stays(j, i); k++) {
            uint32_t edge = j->edges.at[k];
            j->showing.at[j->showing_first.at[edge] + j->left.at[edge]++] = i;
        }
}

/* How many of the edges that are marked for `of` a scenario shows; clear: they are marked no
 * longer. */
static uint32_t marked(struct joint *j, uint32_t i, uint32_t of, bool clear)
{
    uint32_t n = 0;
    for (uint32_t k = j->first.at[i]; k < j->first.at[i + 1]; k++) {
        uint32_t *mark = &j->mark.at[j->edges.at[k]];
        n += *mark == of + 1;
        if (clear && *mark == of + 1)
            *mark = 0;
    }
    return n;
}

/* Of those that show the edge of `i` that the fewest show, the one that shows most of what is marked. */
static uint32_t best_for(struct joint *j, uint32_t i)
{
    uint32_t rare = UINT32_MAX, best = 0, most = 0;
    for (uint32_t k = j->first.at[i]; k < j->first.at[i + 1]; k++) {
        uint32_t edge = j->edges.at[k];
        if (j->mark.at[edge] == i + 1 &&
            (rare == UINT32_MAX || j->left.at[edge] < j->left.at[rare]))
            rare = edge;
    }
    for (uint32_t k = 0; k < j->left.at[rare] && k < CANDIDATES_MAX; k++) {
        uint32_t other = j->showing.at[j->showing_first.at[rare] + k],
                 n = marked(j, other, i, false);
        best = n > most ? other : best;
        most = n > most ? n : most;
    }
    return best;
}

/* Few scenarios that show all edges of this one, in their order. */
static void name_others(struct joint *j, uint32_t i)
{
    struct suite_scenario *s = &j->out->scenarios.at[i];
    uint32_t open = j->first.at[i + 1] - j->first.at[i];
    for (uint32_t k = j->first.at[i]; k < j->first.at[i + 1]; k++)
        j->mark.at[j->edges.at[k]] = i + 1;
    while (open && s->n_shown_by < SUITE_SHOWN_BY) {
        uint32_t other = best_for(j, i), at = s->n_shown_by++;
        open -= marked(j, other, i, true);
        for (; at > 0 && s->shown_by[at - 1] > other; at--)
            s->shown_by[at] = s->shown_by[at - 1];
        s->shown_by[at] = other;
    }
    s->shown_by_more = open > 0;
}

static void leave_out(struct joint *j)
{
    for (uint32_t i = j->n; i-- > 0;) {
        if (!adds_nothing(j, i))
            continue;
        j->out->scenarios.at[i].adds_nothing = true;
        for (uint32_t k = j->first.at[i]; k < j->first.at[i + 1]; k++)
            j->left.at[j->edges.at[k]]--;
    }
    list_showing(j);
    for (uint32_t i = 0; i < j->n; i++)
        if (j->out->scenarios.at[i].adds_nothing)
            name_others(j, i);
}

/* ---- what nobody reaches ---- */

/* Was a handler of this service, or an attempt to call it, seen? */
static bool is_reached(const struct suite_coverage *s, slice service)
{
    for (uint32_t i = 0; i < s->handlers.n; i++)
        if (slice_eq(names_text(s->handlers.at[i].names, s->handlers.at[i].handler.service),
                     service))
            return true;
    for (uint32_t i = 0; i < s->calls.n; i++)
        if (slice_eq(names_text(s->calls.at[i].names, s->calls.at[i].call.service), service))
            return true;
    return false;
}

static bool is_made(const struct suite_coverage *s, const struct known_way *way)
{
    for (uint32_t i = 0; i < s->calls.n; i++) {
        const struct suite_call *c = &s->calls.at[i];
        if (slice_eq(names_text(c->names, c->call.caller), way->caller) &&
            slice_eq(names_text(c->names, c->call.service), way->service) &&
            (!way->interface.n ||
             slice_glob(way->interface, names_text(c->names, c->call.interface))))
            return true;
    }
    return false;
}

static slice keep(struct arena *a, slice text)
{
    return (slice){arena_copy(a, text.p, text.n), text.n};
}

static void add_not_made(struct suite_coverage *out, const struct known_way *way)
{
    for (uint32_t i = 0; i < out->not_made.n; i++) {
        const struct known_way *other = &out->not_made.at[i];
        if (slice_eq(other->caller, way->caller) && slice_eq(other->service, way->service) &&
            slice_eq(other->interface, way->interface))
            return;
    }
    struct arena *a = &out->arena;
    vec_push(&out->not_made, (struct known_way){keep(a, way->caller), keep(a, way->service),
                                                keep(a, way->interface)});
}

static void find_unreached(struct suite_coverage *out, const struct suite_facts *facts)
{
    for (uint32_t i = 0; i < facts->n_services; i++)
        if (!is_reached(out, slice_of(facts->services[i])))
            vec_push(&out->services, facts->services[i]);
    for (uint32_t i = 0; i < facts->ways.n; i++)
        if (is_reached(out, facts->ways.at[i].caller) && !is_made(out, &facts->ways.at[i]))
            add_not_made(out, &facts->ways.at[i]);
}

/* ---- all of it ---- */

static int compare_syms(const struct names *names, sym a, sym b)
{
    return a == b ? 0 : slice_cmp(names_text(names, a), names_text(names, b));
}

static int compare_calls(const void *a, const void *b)
{
    const struct suite_call *x = a, *y = b;
    int order = compare_syms(x->names, x->call.caller, y->call.caller);
    order = order ? order : compare_syms(x->names, x->call.service, y->call.service);
    return order ? order : compare_syms(x->names, x->call.interface, y->call.interface);
}

static int compare_handlers(const void *a, const void *b)
{
    const struct suite_handler *x = a, *y = b;
    int order = compare_syms(x->names, x->handler.service, y->handler.service);
    order = order ? order : compare_syms(x->names, x->handler.interface, y->handler.interface);
    return order ? order
                 : (x->handler.payload > y->handler.payload) -
                       (x->handler.payload < y->handler.payload);
}

void suite_cover(const struct coverage *const *list, uint32_t n, const struct suite_facts *facts,
                 struct suite_coverage *out)
{
    struct joint j = {.list = list, .n = n, .out = out};
    *out = (struct suite_coverage){0};
    for (uint32_t i = 0; i < n; i++) {
        vec_push(&out->scenarios, (struct suite_scenario){.shows = list[i]});
        join_calls(&j, list[i]);
        join_handlers(&j, list[i]);
        join_edges(&j, list[i]);
    }
    vec_push(&j.first, j.edges.n);
    out->edges = j.shown.n;
    for (uint32_t i = 0; i < n; i++)
        count_own(&j, i);
    leave_out(&j);
    for (uint32_t i = 0; i < out->calls.n; i++)
        out->failed += out->calls.at[i].call.failed > 0;
    find_unreached(out, facts);
    if (out->calls.n)
        qsort(out->calls.at, out->calls.n, sizeof *out->calls.at, compare_calls);
    if (out->handlers.n)
        qsort(out->handlers.at, out->handlers.n, sizeof *out->handlers.at, compare_handlers);
    map_deinit(&j.call_at);
    map_deinit(&j.handler_at);
    map_deinit(&j.edge_at);
    vec_deinit(&j.edges);
    vec_deinit(&j.first);
    vec_deinit(&j.shown);
    vec_deinit(&j.left);
    vec_deinit(&j.mark);
    vec_deinit(&j.showing);
    vec_deinit(&j.showing_first);
}

void suite_coverage_deinit(struct suite_coverage *s)
{
    vec_deinit(&s->scenarios);
    vec_deinit(&s->calls);
    vec_deinit(&s->handlers);
    vec_deinit(&s->services);
    vec_deinit(&s->not_made);
    arena_deinit(&s->arena);
}
