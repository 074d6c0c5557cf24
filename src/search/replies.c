/* SPDX-License-Identifier: Apache-2.0
 *
 * Outcomes that no mode gives. A service that fails because of faults below it may answer with
 * something that is not among the modes: a 404, a 200 where it usually fails, or nothing within its
 * caller's timeout, because delays below it add up. Its callers decide on that too, in every
 * context, so an edge with such an outcome is as good as one with a mode. What brings it about is
 * known from the run in which it was first seen: the faults below the callee; by service
 * encapsulation they do it in any context.
 *
 *   rows       per callee: what callers saw of it, each with the faults below it that caused it
 *   prefixes   per callee: the places from which it is called, each with the faults that lead there
 *
 * The two lists meet once for every pair, whichever comes later. Services that make no calls answer
 * always the same and are left out. */
#include "search/search_int.h"

static bool some_mode_gives(const struct search *s, uid callee, label l)
{
    for (uint32_t i = 0; i < s->opt.n_modes; i++)
        if (mode_label(s->opt.modes[i]) == l && search_takes(s, callee, s->opt.modes[i]))
            return true;
    return false;
}

/* The point u below `from`, seen from `to` instead. They differ under `stateless` only. */
static uid rebase(struct search *s, uid u, uid from, uid to)
{
    if (u == from || u == UID_NONE)
        return to;
    uid parent = rebase(s, uid_parent(s->names, u), from, to);
    return names_uid(s->names, parent, s->names->uids.at[u].element);
}

/* causes + the last n faults of f, which lie below row->handler, moved below the callee. */
static faultload append(struct search *s, faultload causes, const struct reply_row *row, uid callee,
                        faultload f, uint32_t n)
{
    if (n == 0)
        return causes;
    struct fault fault = s->fl->rows.at[f].last;
    causes = append(s, causes, row, callee, s->fl->rows.at[f].rest, n - 1);
    fault.point = rebase(s, fault.point, row->handler, callee);
    return faultload_extend(s->fl, causes, fault);
}

/* One answer meets one place. call: the place's call in this trace, or CALL_NONE. */
static void meet(struct search *s, const struct trace *trace, uint32_t call,
                 const struct reply_row *row, const struct reply_prefix *prefix, bool duplicate)
{
    uint32_t element = s->names->uids.at[prefix->callee].element;
    uint32_t edge = tree_find(&s->tree, prefix->node, element, row->outcome);
    if (row->n == 0 || some_mode_gives(s, prefix->callee, row->outcome) ||
        (edge != NODE_NONE && s->tree.nodes.at[edge].state != EDGE_NEW))
        return;
    if (!duplicate && skip_beyond(s, faultload_size(s->fl, prefix->causes) + row->n)) {
        faultload f = skip_unmade(s, prefix->node, REDUCE_MAX_FAULTS)
                          ? append(s, prefix->causes, row, prefix->callee, row->faultload, row->n)
                          : FAULTLOAD_EMPTY;
        if (f != FAULTLOAD_EMPTY)
            audit_add(s, f, REDUCE_MAX_FAULTS);
        return; /* the two lists never meet here again: nothing to remember */
    }
    struct candidate c = {.edge = tree_child(&s->tree, prefix->node, element, row->outcome)};
    faultload all = append(s, prefix->causes, row, prefix->callee, row->faultload, row->n);
    c.fault = s->fl->rows.at[all].last;
    c.causes = s->fl->rows.at[all].rest;
    search_consider(s, trace, call, c, duplicate);
}

static void add_outcome(struct search *s, const struct trace *trace, uint32_t call, uint32_t root,
                        outcome seen, bool duplicate)
{
    const struct call *c = &trace->calls.at[call];
    struct replies *r = &s->replies;
    uint32_t *first = map_get(&r->row_of, root);
    for (uint32_t i = first ? *first : 0; i; i = r->rows.at[i - 1].next)
        if (r->rows.at[i - 1].outcome == seen)
            return;
    uint32_t below = s->reading.below.at[call];
    struct reply_row row = {.outcome = seen,
                            .handler = c->uid,
                            .n = below,
                            .faultload = s->reading.prefix.at[s->reading.causes.at[call] + below],
                            .next = first ? *first : 0};
    vec_push(&r->rows, row);
    map_set(&r->row_of, root, r->rows.n);
    uint32_t *place = map_get(&r->prefix_of, root);
    for (uint32_t i = place ? *place : 0; i; i = r->prefixes.at[i - 1].next) {
        struct reply_prefix prefix = r->prefixes.at[i - 1];
        meet(s, trace, CALL_NONE, &row, &prefix, duplicate);
    }
}

static void add_prefix(struct search *s, const struct trace *trace, uint32_t call, uint32_t root,
                       bool duplicate)
{
    struct replies *r = &s->replies;
    uint32_t *first = map_get(&r->prefix_of, root);
    struct reply_prefix prefix = {.node = s->reading.node.at[call],
                                  .callee = trace->calls.at[call].uid,
                                  .causes = s->reading.prefix.at[s->reading.causes.at[call]],
                                  .next = first ? *first : 0};
    if (s->tree.nodes.at[prefix.node].listed)
        return;
    s->tree.nodes.at[prefix.node].listed = !duplicate;
    if (!duplicate) {
        vec_push(&r->prefixes, prefix);
        map_set(&r->prefix_of, root, r->prefixes.n);
    }
    uint32_t *row = map_get(&r->row_of, root);
    for (uint32_t i = row ? *row : 0; i; i = r->rows.at[i - 1].next) {
        struct reply_row copy = r->rows.at[i - 1];
        meet(s, trace, call, &copy, &prefix, duplicate);
    }
}

void replies_expand(struct search *s, const struct trace *trace, uint32_t call, bool duplicate)
{
    const struct call *c = &trace->calls.at[call];
    bool makes_calls = s->reading.order.first.at[call] < s->reading.order.first.at[call + 1];
    if (!c->handled || !makes_calls)
        return;
    uint32_t root = tree_root(&s->tree, s->names, c->uid);
    add_outcome(s, trace, call, root, c->reply, duplicate);
    if (c->mode == MODE_NONE && c->seen != c->reply) /* too late for its caller */
        add_outcome(s, trace, call, root, c->seen, duplicate);
    add_prefix(s, trace, call, root, duplicate);
}

void replies_deinit(struct replies *r)
{
    vec_deinit(&r->rows);
    vec_deinit(&r->prefixes);
    map_deinit(&r->row_of);
    map_deinit(&r->prefix_of);
}
