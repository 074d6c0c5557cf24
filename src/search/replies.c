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
 * so of every outcome the fastest and the slowest known cause are kept too, for the second part:
 * edges that were to be shown and were not. */
#include "search/shared_int.h"

/* A mode of the search that gives this label at this call, or MODE_NONE. */
static mode mode_giving(const struct search *s, uid callee, label l)
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

/* f and the faults of the cause, moved below the callee. */
static faultload with_cause(struct search *s, faultload f, struct reply_cause cause, uid callee)
{
    if (cause.n == 0)
        return f;
    struct fault fault = s->fl->rows.at[cause.faultload].last;
    cause.faultload = s->fl->rows.at[cause.faultload].rest;
    cause.n--;
    f = with_cause(s, f, cause, callee);
    fault.point = rebase(s, fault.point, cause.handler, callee);
    return faultload_extend(s->fl, f, fault);
}

/* What is only known to take so long at least comes after what was measured. */
static bool faster(const struct reply_cause *a, const struct reply_cause *b)
{
    return a->measured > b->measured || (a->measured == b->measured && a->ns < b->ns);
}

/* ---- what callers see, and who would meet that ---- */

/* One outcome meets one place. call: the place's call in this trace, or CALL_NONE. */
static void meet(struct search *s, const struct trace *trace, uint32_t call,
                 const struct reply_row *row, const struct reply_prefix *prefix, bool duplicate)
{
    uint32_t element = s->names->uids.at[prefix->callee].element;
    uint32_t edge = tree_find(&s->tree, prefix->node, element, row->outcome);
    if (!row->seen || row->first.n == 0 || mode_giving(s, prefix->callee, row->outcome) ||
        (edge != NODE_NONE && s->tree.nodes.at[edge].state != EDGE_NEW))
        return;
    if (!duplicate && skip_beyond(s, faultload_size(s->fl, prefix->causes) + row->first.n)) {
        /* the two lists never meet here again: nothing to remember */
        if (skip_unmade(s, prefix->node, REDUCE_MAX_FAULTS))
            audit_add(s, with_cause(s, prefix->causes, row->first, prefix->callee),
                      REDUCE_MAX_FAULTS);
        return;
    }
    struct candidate c = {.edge = tree_child(&s->tree, prefix->node, element, row->outcome)};
    faultload all = with_cause(s, prefix->causes, row->first, prefix->callee);
    c.fault = s->fl->rows.at[all].last;
    c.causes = s->fl->rows.at[all].rest;
    search_consider(s, trace, call, c, duplicate);
}

/* seen: by a caller. */
static void add_cause(struct search *s, const struct trace *trace, uint32_t root, outcome o,
                      struct reply_cause cause, bool seen, bool duplicate)
{
    const uint32_t *first = map_get(&s->replies.row_of, root);
    uint32_t at = first ? *first : 0;
    while (at && s->replies.rows.at[at - 1].outcome != o)
        at = s->replies.rows.at[at - 1].next;
    if (!at) {
        vec_push(&s->replies.rows,
                 (struct reply_row){
                     .outcome = o, .fastest = cause, .slowest = cause, .next = first ? *first : 0});
        at = s->replies.rows.n;
        map_set(&s->replies.row_of, root, at);
    }
    struct reply_row *row = &s->replies.rows.at[at - 1];
    if (faster(&cause, &row->fastest))
        row->fastest = cause;
    if (cause.ns > row->slowest.ns)
        row->slowest = cause;
    if ((row->seen && row->first.n <= cause.n) || !seen)
        return;
    bool again = row->seen; /* with fewer faults it may be possible where it was not */
    row->seen = true;
    row->first = cause;
    if (again && !ASSUMES(s, REDUCE_MAX_FAULTS))
        return;
    struct reply_row met = *row;
    const uint32_t *place = map_get(&s->replies.prefix_of, root);
    for (uint32_t i = place ? *place : 0; i; i = s->replies.prefixes.at[i - 1].next) {
        struct reply_prefix prefix = s->replies.prefixes.at[i - 1];
        meet(s, trace, CALL_NONE, &met, &prefix, duplicate);
    }
}

static void add_outcome(struct search *s, const struct trace *trace, uint32_t call, uint32_t root,
                        outcome o, bool seen, bool duplicate)
{
    const struct call *c = &trace->calls.at[call];
    uint32_t below = s->reading.below.at[call];
    struct reply_cause cause = {.handler = c->uid,
                                .n = below,
                                .faultload =
                                    s->reading.prefix.at[s->reading.causes.at[call] + below],
                                .ns = s->reading.busy.at[call] - c->start_ns,
                                .measured = c->mode == MODE_NONE && !call_late(c)};
    add_cause(s, trace, root, o, cause, seen, duplicate);
}

void replies_add_known(struct search *s, uint32_t root, outcome o, struct reply_cause cause)
{
    add_cause(s, NULL, root, o, cause, true, false);
}

static void add_prefix(struct search *s, const struct trace *trace, uint32_t call, uint32_t root,
                       bool duplicate)
{
    const struct trace_order *order = &s->reading.order;
    const struct call *c = &trace->calls.at[call];
    const struct call *below = &trace->calls.at[order->child.at[order->first.at[call]]];
    const uint32_t *first = map_get(&s->replies.prefix_of, root);
    bool late = call_late(c);
    struct reply_prefix prefix = {.node = s->reading.node.at[call],
                                  .callee = c->uid,
                                  .waited_ns = late ? c->end_ns - c->start_ns : 0,
                                  /* it left before the first call: no fault below helps */
                                  .too_slow = late && below->start_ns >= c->end_ns,
                                  .causes = s->reading.prefix.at[s->reading.causes.at[call]],
                                  .next = first ? *first : 0};
    if (s->tree.nodes.at[prefix.node].listed) {
        uint32_t i = late && first ? *first : 0;
        while (i && s->replies.prefixes.at[i - 1].node != prefix.node)
            i = s->replies.prefixes.at[i - 1].next;
        if (i) { /* a caller left at a place that is known */
            struct reply_prefix *known = &s->replies.prefixes.at[i - 1];
            if (prefix.waited_ns > known->waited_ns)
                known->waited_ns = prefix.waited_ns;
            known->too_slow |= prefix.too_slow;
        }
        return;
    }
    s->tree.nodes.at[prefix.node].listed = !duplicate;
    if (!duplicate) {
        vec_push(&s->replies.prefixes, prefix);
        map_set(&s->replies.prefix_of, root, s->replies.prefixes.n);
    }
    const uint32_t *row = map_get(&s->replies.row_of, root);
    for (uint32_t i = row ? *row : 0; i; i = s->replies.rows.at[i - 1].next) {
        struct reply_row met = s->replies.rows.at[i - 1];
        meet(s, trace, call, &met, &prefix, duplicate);
    }
}

void replies_expand(struct search *s, const struct trace *trace, uint32_t call, bool duplicate)
{
    const struct call *c = &trace->calls.at[call];
    bool makes_calls = s->reading.order.first.at[call] < s->reading.order.first.at[call + 1];
    if (!c->handled || !makes_calls)
        return;
    uint32_t root = tree_root(&s->tree, s->names, c->uid);
    shared_meet(s, root, c->uid);
    if (c->reply != OUT_NONE) /* else nobody waited for it */
        add_outcome(s, trace, call, root, c->reply, !call_late(c), duplicate);
    if (call_late(c) && c->mode == MODE_NONE)
        add_outcome(s, trace, call, root, c->seen, true, duplicate);
    add_prefix(s, trace, call, root, duplicate);
}

/* ---- edges that were to be shown and were not ---- */

/* An answer may come in time under some faults and too late under others that bring about the same
 * answer: an injected error is faster than a genuine one. So the faults by which a service was seen
 * to answer so in one place may make it late in another, where it is not waited for as long. When
 * nothing else is left to run, such edges are tried with other causes:
 *
 *   an answer in time    each transcript of the callee that ends with it, every outcome in it by
 *                        the fastest known cause: an injected failure where there is a mode for it
 *   none in time         each transcript of the callee, every outcome in it by the slowest one
 *   a mode that changes  together with what lets the callee answer in time here: what was seen to,
 *   the answer           and transcripts whose answer a mode gives, by their fastest causes
 *
 * A handler is not faster when its calls take longer. So when none of these shows the edge, no
 * faultload does, and it is left. What is left after TRIES_MAX of them, or was not shown for
 * another reason than time, is not known: suspect. In a system whose answers are never late there
 * is nothing to do here. */

enum { TRIES_MAX = 24 };

/* An edge that is wanted: at a place, a call that ends with a label. */
struct wanted {
    struct reply_prefix place;
    uint32_t root; /* of the callee's tree */
    label label;
    bool fast; /* in time, or too late? */
};

/* What a caller sees that waited in vain. */
static bool too_late(label l)
{
    return outcome_kind(l) == OUT_TIMEOUT || outcome_kind(l) == OUT_CANCELLED;
}

/* The fastest or slowest known cause of this outcome at this call, OUT_NONE: of any; or NULL. */
static const struct reply_cause *find_cause(const struct search *s, uid callee, outcome o,
                                            bool fast)
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

void late_left(struct search *s, uint32_t edge, const struct call *c)
{
    if (!too_late(call_label(c)))
        return;
    int64_t us = (c->end_ns - c->start_ns) / 1000;
    map_set(&s->late.waited, edge, us < UINT32_MAX ? (uint32_t)us : UINT32_MAX);
}

bool late_may_be(const struct search *s, uint32_t left, uid u, label l)
{
    bool by_mode = l & LABEL_MODE;
    const struct reply_cause *slow = find_cause(s, u, by_mode ? OUT_NONE : l, false);
    const uint32_t *us = map_get(&s->late.waited, left);
    if (!slow) /* always as fast: then this was seen of the service, unless a mode shows the same */
        return !by_mode && mode_giving(s, u, l);
    return find_cause(s, u, s->tree.nodes.at[left].label, false) ||
           (us && slow->ns > *us * INT64_C(1000));
}

void late_observe(struct search *s, const struct trace *trace)
{
    const struct reading *r = &s->reading;
    struct tree_node *edge = &s->tree.nodes.at[s->now.item.edge];
    if (s->now.item.edge == NODE_NONE || edge->state != EDGE_QUEUED)
        return;
    edge->run = s->runs.n - 1;
    edge->state = EDGE_UNKNOWN;
    /* Is it a matter of time? The call was left although an answer was wanted, or the other way
     * round. A delay that is longer than its caller waits needs no other cause to be tried. */
    for (uint32_t i = 0; i < r->post.n; i++) {
        const struct call *c = &trace->calls.at[r->post.at[i]];
        if (r->node.at[r->post.at[i]] != edge->parent ||
            s->names->uids.at[c->uid].element != edge->element)
            continue;
        if (call_late(c) && mode_delay_ns(c->mode) >= c->end_ns - c->start_ns)
            edge->state = EDGE_LATE;
        else if (call_late(c) || too_late(edge->label))
            edge->state = EDGE_MISSED;
        return;
    }
}

/* f and what leads the handler u to this node. */
static faultload with_path(struct search *s, faultload f, uid u, uint32_t node, bool fast)
{
    const struct tree_node at = s->tree.nodes.at[node];
    if (at.parent == NODE_NONE)
        return f;
    f = with_path(s, f, u, at.parent, fast);
    uid call = names_uid(s->names, u, at.element);
    bool by_mode = at.label & LABEL_MODE;
    mode m = by_mode ? at.label & ~LABEL_MODE : mode_giving(s, call, at.label);
    const struct reply_cause *cause = find_cause(s, call, by_mode ? OUT_NONE : at.label, fast);
    bool inject = m != MODE_NONE && (by_mode || fast || !cause);
    /* a mode that lets the service work takes as long as that does, whatever it answers then */
    if (cause && (!inject || (by_mode && mode_reached(m))))
        f = with_cause(s, f, *cause, call);
    return inject ? faultload_extend(s->fl, f, (struct fault){call, m}) : f;
}

static uint32_t find_edge(const struct search *s, const struct wanted *w, label l)
{
    return tree_find(&s->tree, w->place.node, s->names->uids.at[w->place.callee].element, l);
}

/* Queues faults that lead to the place and below the callee, unless that was run. What was made of
 * faultloads from `keep` on is forgotten then. */
static bool try_faults(struct search *s, const struct wanted *w, faultload all, uint32_t keep)
{
    if (w->label & LABEL_MODE)
        all = faultload_extend(s->fl, all, (struct fault){w->place.callee, w->label & ~LABEL_MODE});
    for (; s->late.n_ran < s->runs.n; s->late.n_ran++)
        if (s->runs.at[s->late.n_ran].fired)
            map_set(&s->late.ran, faultload_key(s->fl, s->runs.at[s->late.n_ran].faultload), 1);
    if (all == FAULTLOAD_EMPTY || skip_beyond(s, faultload_size(s->fl, all)) ||
        map_get(&s->late.ran, faultload_key(s->fl, all))) {
        s->fl->rows.n = keep;
        return false;
    }
    uint32_t element = s->names->uids.at[w->place.callee].element;
    struct candidate c = {.edge = tree_child(&s->tree, w->place.node, element, w->label),
                          .fault = s->fl->rows.at[all].last,
                          .causes = s->fl->rows.at[all].rest,
                          .again = true};
    search_consider(s, NULL, CALL_NONE, c, false);
    if (s->tree.nodes.at[c.edge].state != EDGE_QUEUED)
        return false;
    map_count(&s->late.tries, c.edge);
    return true;
}

/* The next of the causes by which the callee was fastest, or slowest. */
static bool try_known(struct search *s, const struct wanted *w)
{
    const uint32_t *first = map_get(&s->replies.row_of, w->root);
    uint32_t keep = s->fl->rows.n;
    for (uint32_t i = first ? *first : 0; i; i = s->replies.rows.at[i - 1].next) {
        struct reply_row row = s->replies.rows.at[i - 1];
        uint32_t edge = find_edge(s, w, row.outcome);
        bool in_time = !too_late(row.outcome) && edge != NODE_NONE &&
                       s->tree.nodes.at[edge].state == EDGE_SEEN;
        bool leads = w->label & LABEL_MODE ? in_time : !w->fast || row.outcome == w->label;
        struct reply_cause cause = w->fast ? row.fastest : row.slowest;
        if (leads && try_faults(s, w, with_cause(s, w->place.causes, cause, w->place.callee), keep))
            return true;
    }
    return false;
}

/* The next of the transcripts that end at or below this node. A mode lets every answer through that
 * is in time. Those that another mode gives need not have been seen in time to count as seen. */
static bool try_below(struct search *s, const struct wanted *w, uint32_t node)
{
    const struct tree_node at = s->tree.nodes.at[node];
    uint32_t keep = s->fl->rows.n;
    if (at.state != EDGE_SEEN)
        return false;
    bool leads = at.reply != OUT_NONE || at.child == NODE_NONE;
    if (w->label & LABEL_MODE)
        leads = at.reply != OUT_NONE && mode_giving(s, w->place.callee, at.reply);
    else if (w->fast)
        leads = at.reply == w->label;
    if (leads &&
        try_faults(s, w, with_path(s, w->place.causes, w->place.callee, node, w->fast), keep))
        return true;
    for (uint32_t c = at.child; c != NODE_NONE; c = s->tree.nodes.at[c].sibling)
        if (try_below(s, w, c))
            return true;
    return false;
}

/* Is its edge still wanted? One of a mode only when a run has failed to show it. */
static bool is_open(const struct search *s, const struct wanted *w)
{
    uint32_t edge = find_edge(s, w, w->label);
    if (edge == NODE_NONE)
        return !(w->label & LABEL_MODE);
    uint8_t state = s->tree.nodes.at[edge].state;
    const uint32_t *tries = map_get(&s->late.tries, edge);
    return (state == EDGE_MISSED || (state == EDGE_NEW && !(w->label & LABEL_MODE))) &&
           !(tries && *tries >= TRIES_MAX);
}

/* Is this where the callee is waited for longest? If an answer is too late there, it is everywhere.
 * (Where no caller ever left, they may wait for ever.) */
static bool most_patient(const struct search *s, uint32_t prefix, uint32_t root)
{
    int64_t most = -1;
    uint32_t best = 0;
    for (uint32_t i = *map_get(&s->replies.prefix_of, root); i;
         i = s->replies.prefixes.at[i - 1].next) {
        int64_t waited = s->replies.prefixes.at[i - 1].waited_ns;
        if ((waited ? waited : INT64_MAX) > most) {
            most = waited ? waited : INT64_MAX;
            best = i - 1;
        }
    }
    return best == prefix;
}

/* All that may be wanted at a place: what the callee shows elsewhere, what it answers too late, and
 * modes that change its answer. */
static bool try_place(struct search *s, uint32_t prefix)
{
    struct wanted w = {.place = s->replies.prefixes.at[prefix]};
    w.root = tree_root(&s->tree, s->names, w.place.callee);
    const uint32_t *first = map_get(&s->replies.row_of, w.root);
    bool queued = false;
    for (uint32_t i = first ? *first : 0; i; i = s->replies.rows.at[i - 1].next) {
        w.label = s->replies.rows.at[i - 1].outcome;
        w.fast = !too_late(w.label);
        if (w.fast && w.place.too_slow)
            continue;
        if (!mode_giving(s, w.place.callee, w.label) && is_open(s, &w) &&
            (s->replies.rows.at[i - 1].seen || most_patient(s, prefix, w.root)))
            queued |= try_known(s, &w) || try_below(s, &w, w.root);
    }
    for (uint32_t i = 0; i < s->opt.n_modes; i++) {
        w.label = mode_label(s->opt.modes[i]);
        w.fast = true;
        if (mode_reached(s->opt.modes[i]) && is_open(s, &w))
            queued |= try_known(s, &w) || (!w.place.too_slow && try_below(s, &w, w.root));
    }
    return queued;
}

/* What is left: is it known that no faultload shows this edge? */
static void give_up(struct search *s, uint32_t edge)
{
    struct tree_node *n = &s->tree.nodes.at[edge];
    const uint32_t *tries = map_get(&s->late.tries, edge);
    bool unknown = n->state == EDGE_UNKNOWN || (tries && *tries >= TRIES_MAX);
    if (!unknown || n->told)
        return;
    n->state = EDGE_UNKNOWN;
    n->told = true;
    uint32_t root = n->parent;
    bool unstable = s->tree.nodes.at[root].unstable;
    while (s->tree.nodes.at[root].parent != NODE_NONE) {
        root = s->tree.nodes.at[root].parent;
        unstable |= s->tree.nodes.at[root].unstable;
    }
    uid call = names_uid(s->names, s->tree.nodes.at[root].element, n->element);
    if (!unstable) /* else it was told that the handler went on in different ways */
        suspect_add(s, (struct suspect){.kind = SUSPECT_NOT_SHOWN,
                                        .point = call,
                                        .call = call,
                                        .faultload = s->runs.at[n->run].faultload,
                                        .outcome = n->label,
                                        .n = tries ? *tries : 0});
}

bool late_advance(struct search *s)
{
    bool queued = false;
    for (uint32_t i = 0; i < s->replies.prefixes.n && s->late.happens; i++)
        queued |= try_place(s, i);
    for (uint32_t i = 1; i < s->tree.nodes.n && !queued; i++)
        if (s->tree.nodes.at[i].state == EDGE_MISSED || s->tree.nodes.at[i].state == EDGE_UNKNOWN)
            give_up(s, i);
    return queued;
}
