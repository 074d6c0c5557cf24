/* SPDX-License-Identifier: Apache-2.0
 *
 * Edges that were to be shown and were not. An answer may come in time under some faults and too
 * late under others that bring about the same answer: an injected error is faster than a genuine
 * one. So the faults by which a service was seen to answer so in one place may make it late in
 * another, where it is not waited for as long. When nothing else is left to run, such edges are
 * tried with other causes:
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
#include "search/search_int.h"

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

void late_left(struct search *s, uint32_t edge, const struct call *c)
{
    int64_t us = (c->end_ns - c->start_ns) / 1000;
    if (too_late(call_label(c)))
        map_set(&s->late.waited, edge, us < UINT32_MAX ? (uint32_t)us : UINT32_MAX);
}

bool late_may_be(const struct search *s, uint32_t left, uid u, label l)
{
    bool by_mode = l & LABEL_MODE;
    const struct reply_cause *slow = replies_cause(s, u, by_mode ? OUT_NONE : l, false);
    const uint32_t *us = map_get(&s->late.waited, left);
    if (!slow) /* always as fast: then this was seen of the service, unless a mode shows the same */
        return !by_mode && replies_mode(s, u, l);
    return replies_cause(s, u, s->tree.nodes.at[left].label, false) ||
           (us && slow->ns > *us * INT64_C(1000));
}

/* ---- a run that did not show its edge ---- */

/* Is it a matter of time? The call was left although an answer was wanted, or the other way round.
 * A delay that is longer than its caller waits needs no other cause to be tried. */
static enum edge_state judge_miss(const struct search *s, const struct trace *trace,
                                  const struct tree_node *edge)
{
    const struct reading *r = &s->reading;
    for (uint32_t i = 0; i < r->post.n; i++) {
        const struct call *c = &trace->calls.at[r->post.at[i]];
        if (r->node.at[r->post.at[i]] != edge->parent ||
            s->names->uids.at[c->uid].element != edge->element)
            continue;
        if (call_late(c) && mode_delay_ns(c->mode) >= c->end_ns - c->start_ns)
            return EDGE_LATE;
        return call_late(c) || too_late(edge->label) ? EDGE_MISSED : EDGE_UNKNOWN;
    }
    return EDGE_UNKNOWN;
}

void late_observe(struct search *s, const struct trace *trace)
{
    struct tree_node *edge = &s->tree.nodes.at[s->now.item.edge];
    if (s->now.item.edge == NODE_NONE || edge->state != EDGE_QUEUED)
        return;
    edge->state = (uint8_t)judge_miss(s, trace, edge);
    edge->run = s->runs.n - 1;
}

void late_missed(struct search *s, uint32_t edge)
{
    if (edge != NODE_NONE && s->tree.nodes.at[edge].state == EDGE_QUEUED)
        s->tree.nodes.at[edge].state = EDGE_MISSED;
}

/* ---- other causes ---- */

static bool was_run(struct search *s, faultload f)
{
    struct late *l = &s->late;
    for (; l->n_ran < s->runs.n; l->n_ran++)
        if (s->runs.at[l->n_ran].fired)
            map_set(&l->ran, faultload_key(s->fl, s->runs.at[l->n_ran].faultload), 1);
    return map_get(&l->ran, faultload_key(s->fl, f)) != NULL;
}

/* f and what makes the call u end with this label. A mode that lets the service work takes as long
 * as that does, whatever the service answers then. */
static faultload with_step(struct search *s, faultload f, uid u, label l, bool fast)
{
    bool by_mode = l & LABEL_MODE;
    mode m = by_mode ? l & ~LABEL_MODE : replies_mode(s, u, l);
    const struct reply_cause *cause = replies_cause(s, u, by_mode ? OUT_NONE : l, fast);
    bool inject = m != MODE_NONE && (by_mode || fast || !cause);
    if (cause && (!inject || (by_mode && mode_reached(m))))
        f = replies_append(s, f, cause, u);
    return inject ? faultload_extend(s->fl, f, (struct fault){u, m}) : f;
}

/* f and what leads the handler u to this node. */
static faultload with_path(struct search *s, faultload f, uid u, uint32_t node, bool fast)
{
    const struct tree_node at = s->tree.nodes.at[node];
    if (at.parent == NODE_NONE)
        return f;
    f = with_path(s, f, u, at.parent, fast);
    return with_step(s, f, names_uid(s->names, u, at.element), at.label, fast);
}

static uint32_t find_edge(const struct search *s, const struct wanted *w, label l)
{
    return tree_find(&s->tree, w->place.node, s->names->uids.at[w->place.callee].element, l);
}

/* Queues faults that lead to the place and below the callee, unless that was run. What was made of
 * faultloads from `keep` on is forgotten then. */
static bool try(struct search *s, const struct wanted *w, faultload all, uint32_t keep)
{
    if (w->label & LABEL_MODE)
        all = faultload_extend(s->fl, all, (struct fault){w->place.callee, w->label & ~LABEL_MODE});
    if (all == FAULTLOAD_EMPTY || skip_beyond(s, faultload_size(s->fl, all)) || was_run(s, all)) {
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
    const struct replies *r = &s->replies;
    const uint32_t *first = map_get(&r->row_of, w->root);
    for (uint32_t i = first ? *first : 0, keep = s->fl->rows.n; i; i = r->rows.at[i - 1].next) {
        struct reply_row row = r->rows.at[i - 1];
        struct reply_cause *cause = w->fast ? &row.fastest : &row.slowest;
        uint32_t edge = find_edge(s, w, row.outcome);
        bool in_time = !too_late(row.outcome) && edge != NODE_NONE &&
                       s->tree.nodes.at[edge].state == EDGE_SEEN;
        bool leads = w->label & LABEL_MODE ? in_time : !w->fast || row.outcome == w->label;
        if (leads && try(s, w, replies_append(s, w->place.causes, cause, w->place.callee), keep))
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
        leads = at.reply != OUT_NONE && replies_mode(s, w->place.callee, at.reply);
    else if (w->fast)
        leads = at.reply == w->label;
    if (leads && try(s, w, with_path(s, w->place.causes, w->place.callee, node, w->fast), keep))
        return true;
    for (uint32_t c = at.child; c != NODE_NONE; c = s->tree.nodes.at[c].sibling)
        if (try_below(s, w, c))
            return true;
    return false;
}

/* Is its edge still wanted? One of a mode only when a run has failed to show it. */
static bool open(const struct search *s, const struct wanted *w)
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
    const struct replies *r = &s->replies;
    int64_t most = -1;
    uint32_t best = 0;
    for (uint32_t i = *map_get(&r->prefix_of, root); i; i = r->prefixes.at[i - 1].next) {
        int64_t waited = r->prefixes.at[i - 1].waited_ns;
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
    const struct replies *r = &s->replies;
    struct wanted w = {.place = r->prefixes.at[prefix]};
    w.root = tree_root(&s->tree, s->names, w.place.callee);
    const uint32_t *first = map_get(&r->row_of, w.root);
    bool queued = false;
    for (uint32_t i = first ? *first : 0; i; i = r->rows.at[i - 1].next) {
        w.label = r->rows.at[i - 1].outcome;
        w.fast = !too_late(w.label);
        if (w.fast && w.place.too_slow)
            continue;
        if (!replies_mode(s, w.place.callee, w.label) && open(s, &w) &&
            (r->rows.at[i - 1].seen || most_patient(s, prefix, w.root)))
            queued |= try_known(s, &w) || try_below(s, &w, w.root);
    }
    for (uint32_t i = 0; i < s->opt.n_modes; i++) {
        w.label = mode_label(s->opt.modes[i]);
        w.fast = true;
        if (mode_reached(s->opt.modes[i]) && open(s, &w))
            queued |= try_known(s, &w) || (!w.place.too_slow && try_below(s, &w, w.root));
    }
    return queued;
}

static bool try_all(struct search *s)
{
    bool queued = false;
    for (uint32_t i = 0; i < s->replies.prefixes.n; i++)
        queued |= try_place(s, i);
    return queued;
}

/* ---- what is left ---- */

/* Did the handler, or what leads to this edge of it, go on in different ways? That was told. */
static bool unstable(const struct tree *tree, uint32_t node)
{
    for (; node != NODE_NONE; node = tree->nodes.at[node].parent)
        if (tree->nodes.at[node].unstable)
            return true;
    return false;
}

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
    while (s->tree.nodes.at[root].parent != NODE_NONE)
        root = s->tree.nodes.at[root].parent;
    if (!unstable(&s->tree, n->parent))
        suspect_add(s, (struct suspect){
                           .kind = SUSPECT_NOT_SHOWN,
                           .point = names_uid(s->names, s->tree.nodes.at[root].element, n->element),
                           .call = names_uid(s->names, s->tree.nodes.at[root].element, n->element),
                           .faultload = s->runs.at[n->run].faultload,
                           .outcome = n->label,
                           .n = tries ? *tries : 0});
}

bool late_advance(struct search *s)
{
    if (s->late.happens && try_all(s))
        return true;
    for (uint32_t i = 1; i < s->tree.nodes.n; i++)
        if (s->tree.nodes.at[i].state == EDGE_MISSED || s->tree.nodes.at[i].state == EDGE_UNKNOWN)
            give_up(s, i);
    return false;
}

void late_deinit(struct late *late)
{
    map_deinit(&late->tries);
    map_deinit(&late->ran);
    map_deinit(&late->waited);
}
