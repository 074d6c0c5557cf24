/* SPDX-License-Identifier: Apache-2.0
 *
 * Outcomes that no mode gives. A service that fails because of faults below it may show its caller
 * something that is not among the modes: a 404, a 200 where it usually fails, or nothing within the
 * caller's timeout, because delays below it add up. Its callers decide on that too, in every
 * context, so an edge with such an outcome is as good as one with a mode. What brings it about is
 * known from the run in which it was first seen: the faults below the callee; by service
 * encapsulation they do it in any context.
 *
 *   rows       per callee: what callers saw of it, each with the faults below it that caused it
 *   prefixes   per callee: the places from which it is called, each with the faults that lead there
 *
 * The two lists meet once for every pair, whichever comes later. Services that make no calls answer
 * always the same and are left out.
 *
 * What counts is what a caller *saw*: an answer may come in time under some faults and too late
 * under others. Which it is depends on how long the callers wait and on how long the faults take,
 * so of every outcome the fastest and the slowest known cause are kept too, for late.c. */
#include "search/search_int.h"

mode replies_mode(const struct search *s, uid callee, label l)
{
    for (uint32_t i = 0; i < s->opt.n_modes; i++)
        if (mode_label(s->opt.modes[i]) == l && search_takes(s, callee, s->opt.modes[i]))
            return s->opt.modes[i];
    return MODE_NONE;
}

/* The point u below `from`, seen from `to` instead. They differ under `stateless` only. */
static uid rebase(struct search *s, uid u, uid from, uid to)
{
    if (u == from || u == UID_NONE)
        return to;
    uid parent = rebase(s, uid_parent(s->names, u), from, to);
    return names_uid(s->names, parent, s->names->uids.at[u].element);
}

/* f + the last n faults of `from`, which lie below `handler`, moved below the callee. */
static faultload append(struct search *s, faultload f, uid handler, uid callee, faultload from,
                        uint32_t n)
{
    if (n == 0)
        return f;
    struct fault fault = s->fl->rows.at[from].last;
    f = append(s, f, handler, callee, s->fl->rows.at[from].rest, n - 1);
    fault.point = rebase(s, fault.point, handler, callee);
    return faultload_extend(s->fl, f, fault);
}

faultload replies_append(struct search *s, faultload f, const struct reply_cause *cause, uid callee)
{
    return append(s, f, cause->handler, callee, cause->faultload, cause->n);
}

static struct reply_row *row_of(const struct search *s, uint32_t root, outcome o)
{
    const uint32_t *first = map_get(&s->replies.row_of, root);
    for (uint32_t i = first ? *first : 0; i; i = s->replies.rows.at[i - 1].next)
        if (s->replies.rows.at[i - 1].outcome == o)
            return &s->replies.rows.at[i - 1];
    return NULL;
}

/* What is only known to take so long at least comes after what was measured. */
static bool faster(const struct reply_cause *a, const struct reply_cause *b)
{
    return a->measured > b->measured || (a->measured == b->measured && a->ns < b->ns);
}

const struct reply_cause *replies_cause(const struct search *s, uid callee, outcome o, bool fast)
{
    const uint32_t *first = map_get(&s->replies.row_of, tree_find_root(&s->tree, s->names, callee));
    const struct reply_cause *best = NULL;
    for (uint32_t i = first ? *first : 0; i; i = s->replies.rows.at[i - 1].next) {
        const struct reply_row *row = &s->replies.rows.at[i - 1];
        const struct reply_cause *cause = fast ? &row->fastest : &row->slowest;
        if ((o == OUT_NONE || row->outcome == o) &&
            (!best || (fast ? faster(cause, best) : cause->ns > best->ns)))
            best = cause;
    }
    return best;
}

/* One outcome meets one place. call: the place's call in this trace, or CALL_NONE. */
static void meet(struct search *s, const struct trace *trace, uint32_t call,
                 const struct reply_row *row, const struct reply_prefix *prefix, bool duplicate)
{
    uint32_t element = s->names->uids.at[prefix->callee].element;
    uint32_t edge = tree_find(&s->tree, prefix->node, element, row->outcome);
    if (!row->seen || row->first.n == 0 || replies_mode(s, prefix->callee, row->outcome) ||
        (edge != NODE_NONE && s->tree.nodes.at[edge].state != EDGE_NEW))
        return;
    if (!duplicate && skip_beyond(s, faultload_size(s->fl, prefix->causes) + row->first.n)) {
        faultload f = skip_unmade(s, prefix->node, REDUCE_MAX_FAULTS)
                          ? replies_append(s, prefix->causes, &row->first, prefix->callee)
                          : FAULTLOAD_EMPTY;
        if (f != FAULTLOAD_EMPTY)
            audit_add(s, f, REDUCE_MAX_FAULTS);
        return; /* the two lists never meet here again: nothing to remember */
    }
    struct candidate c = {.edge = tree_child(&s->tree, prefix->node, element, row->outcome)};
    faultload all = replies_append(s, prefix->causes, &row->first, prefix->callee);
    c.fault = s->fl->rows.at[all].last;
    c.causes = s->fl->rows.at[all].rest;
    search_consider(s, trace, call, c, duplicate);
}

static void meet_prefixes(struct search *s, const struct trace *trace, uint32_t root,
                          const struct reply_row *row, bool duplicate)
{
    struct replies *r = &s->replies;
    const uint32_t *place = map_get(&r->prefix_of, root);
    for (uint32_t i = place ? *place : 0; i; i = r->prefixes.at[i - 1].next) {
        struct reply_prefix prefix = r->prefixes.at[i - 1];
        meet(s, trace, CALL_NONE, row, &prefix, duplicate);
    }
}

/* seen: by the caller. */
static void add_outcome(struct search *s, const struct trace *trace, uint32_t call, uint32_t root,
                        outcome o, bool seen, bool duplicate)
{
    const struct call *c = &trace->calls.at[call];
    struct replies *r = &s->replies;
    uint32_t below = s->reading.below.at[call];
    struct reply_cause cause = {.handler = c->uid,
                                .n = below,
                                .faultload =
                                    s->reading.prefix.at[s->reading.causes.at[call] + below],
                                .ns = s->reading.busy.at[call] - c->start_ns,
                                .measured = c->mode == MODE_NONE && !call_late(c)};
    struct reply_row *row = row_of(s, root, o), copy;
    if (!row) {
        const uint32_t *first = map_get(&r->row_of, root);
        vec_push(&r->rows,
                 (struct reply_row){
                     .outcome = o, .fastest = cause, .slowest = cause, .next = first ? *first : 0});
        map_set(&r->row_of, root, r->rows.n);
        row = &vec_last(&r->rows);
    }
    if (faster(&cause, &row->fastest))
        row->fastest = cause;
    if (cause.ns > row->slowest.ns)
        row->slowest = cause;
    if (row->seen || !seen)
        return;
    row->seen = true;
    row->first = cause;
    copy = *row;
    meet_prefixes(s, trace, root, &copy, duplicate);
}

/* Did the caller leave before the service had made its first call? Then no fault below helps. */
static bool too_slow(const struct search *s, const struct trace *trace, uint32_t call)
{
    const struct trace_order *order = &s->reading.order;
    const struct call *c = &trace->calls.at[call];
    const struct call *first = &trace->calls.at[order->child.at[order->first.at[call]]];
    return call_late(c) && first->start_ns >= c->end_ns;
}

/* A caller left at a place that is known. */
static void note_wait(struct replies *r, const uint32_t *first, const struct reply_prefix *seen)
{
    for (uint32_t i = first ? *first : 0; i; i = r->prefixes.at[i - 1].next) {
        struct reply_prefix *known = &r->prefixes.at[i - 1];
        if (known->node != seen->node)
            continue;
        if (seen->waited_ns > known->waited_ns)
            known->waited_ns = seen->waited_ns;
        known->too_slow |= seen->too_slow;
        return;
    }
}

static void add_prefix(struct search *s, const struct trace *trace, uint32_t call, uint32_t root,
                       bool duplicate)
{
    struct replies *r = &s->replies;
    const uint32_t *first = map_get(&r->prefix_of, root);
    const struct call *c = &trace->calls.at[call];
    struct reply_prefix prefix = {.node = s->reading.node.at[call],
                                  .callee = c->uid,
                                  .waited_ns = call_late(c) ? c->end_ns - c->start_ns : 0,
                                  .too_slow = too_slow(s, trace, call),
                                  .causes = s->reading.prefix.at[s->reading.causes.at[call]],
                                  .next = first ? *first : 0};
    if (s->tree.nodes.at[prefix.node].listed) {
        if (call_late(c))
            note_wait(r, first, &prefix);
        return;
    }
    s->tree.nodes.at[prefix.node].listed = !duplicate;
    if (!duplicate) {
        vec_push(&r->prefixes, prefix);
        map_set(&r->prefix_of, root, r->prefixes.n);
    }
    const uint32_t *row = map_get(&r->row_of, root);
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
    if (c->reply != OUT_NONE) /* else nobody waited for it */
        add_outcome(s, trace, call, root, c->reply, !call_late(c), duplicate);
    if (call_late(c) && c->mode == MODE_NONE)
        add_outcome(s, trace, call, root, c->seen, true, duplicate);
    add_prefix(s, trace, call, root, duplicate);
}

void replies_deinit(struct replies *r)
{
    vec_deinit(&r->rows);
    vec_deinit(&r->prefixes);
    map_deinit(&r->row_of);
    map_deinit(&r->prefix_of);
}
