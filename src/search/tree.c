/* SPDX-License-Identifier: Apache-2.0
 *
 * Handler trees, and how a trace is read into them. Calls are visited in causal order, each
 * handler's after each other, callees inside. The faults met on the way form `fired`; those met
 * before a call are its causes: they lie in the subtrees of steps that precede it, or its ancestors,
 * so a further fault at this call cannot undo them. */
#include "base/hash.h"
#include "search/search_int.h"

uint32_t handler_key(struct names *names, uid handler, bool stateless)
{
    if (!stateless)
        return handler;
    struct element el = *uid_element(names, handler);
    el.n = 0;
    el.before = 0;
    return names_element(names, el);
}

uint32_t tree_key(const struct tree *tree, struct names *names, uid handler)
{
    return handler_key(names, handler, tree->stateless);
}

uint32_t tree_find_root(const struct tree *tree, struct names *names, uid handler)
{
    uint32_t key = tree_key(tree, names, handler);
    return key < tree->root_of.n ? tree->root_of.at[key] : NODE_NONE;
}

uint32_t tree_root(struct tree *tree, struct names *names, uid handler)
{
    uint32_t key = tree_key(tree, names, handler);
    while (tree->root_of.n <= key)
        vec_push(&tree->root_of, NODE_NONE);
    if (tree->root_of.at[key] == NODE_NONE) {
        tree->root_of.at[key] = tree->nodes.n;
        vec_push(&tree->nodes, (struct tree_node){.element = handler, .state = EDGE_SEEN});
    }
    return tree->root_of.at[key];
}

uint32_t tree_find(const struct tree *tree, uint32_t node, uint32_t element, label l)
{
    uint32_t c = tree->nodes.at[node].child;
    while (c != NODE_NONE && (tree->nodes.at[c].label != l || tree->nodes.at[c].element != element))
        c = tree->nodes.at[c].sibling;
    return c;
}

uint32_t tree_child(struct tree *tree, uint32_t node, uint32_t element, label l)
{
    uint32_t c = tree_find(tree, node, element, l);
    if (c != NODE_NONE)
        return c;
    c = tree->nodes.n;
    struct tree_node new = {
        .parent = node, .element = element, .label = l, .sibling = tree->nodes.at[node].child};
    vec_push(&tree->nodes, new);
    tree->nodes.at[node].child = c;
    tree->edges++;
    return c;
}

/* ---- reading a trace ---- */

/* A fault at one call fires once; a lasting one counts once. */
static bool already_fired(const struct search *s, uid point)
{
    const struct reading *r = &s->reading;
    if (uid_element(s->names, point)->n != N_ANY)
        return false;
    for (uint32_t i = 0; i < r->fired.n; i++)
        if (r->fired.at[i].point == point)
            return true;
    return false;
}

/* The handler went on (element) or ended (reply) where an earlier run did otherwise. */
static void check_step(struct search *s, uint32_t node, uid handler, uint32_t element)
{
    struct tree_node *n = &s->tree.nodes.at[node];
    bool ends = element == UINT32_MAX;
    bool other = n->child != NODE_NONE && (ends || s->tree.nodes.at[n->child].element != element);
    if (!other && (ends || n->reply == OUT_NONE))
        return;
    if (n->unstable || (ends && s->reading.harmed)) /* a service that is killed does not go on */
        return;
    n->unstable = true;
    uint32_t before = n->child != NODE_NONE ? s->tree.nodes.at[n->child].element : UINT32_MAX;
    bool extra = before == UINT32_MAX; /* it ended here, and goes on now */
    suspect_add(s,
                (struct suspect){.kind = SUSPECT_STEP,
                                 .cause = extra ? CAUSE_EXTRA : CAUSE_UNKNOWN,
                                 .faultload = s->now.item.faultload,
                                 .point = handler,
                                 .call = names_uid(s->names, handler, extra ? element : before)});
}

static void visit(struct search *s, const struct trace *trace, uint32_t handler)
{
    struct reading *r = &s->reading;
    const struct call *h = &trace->calls.at[handler];
    uint32_t node = tree_root(&s->tree, s->names, h->uid);
    int64_t busy = h->mode == MODE_NONE ? h->end_ns : h->start_ns;
    for (uint32_t i = r->order.first.at[handler]; i < r->order.first.at[handler + 1]; i++) {
        uint32_t index = r->order.child.at[i];
        const struct call *c = &trace->calls.at[index];
        uint32_t element = s->names->uids.at[c->uid].element;
        r->node.at[index] = node;
        r->causes.at[index] = r->fired.n;
        r->busy.at[index] = c->end_ns;
        r->harmed = r->harmed || mode_event(c->mode).n;
        if (c->handled)
            visit(s, trace, index);
        if (r->busy.at[index] > busy)
            busy = r->busy.at[index];
        r->below.at[index] = r->fired.n - r->causes.at[index];
        vec_push(&r->post, index);
        check_step(s, node, h->uid, element);
        node = tree_child(&s->tree, node, element, call_label(c));
        late_left(s, node, c);
        if (s->tree.nodes.at[node].state != EDGE_SEEN) {
            s->tree.nodes.at[node].state = EDGE_SEEN;
            s->tree.nodes.at[node].run = s->runs.n;
        }
        if (c->mode != MODE_NONE && !already_fired(s, c->fault_point))
            vec_push(&r->fired, (struct fault){c->fault_point, c->mode});
    }
    r->busy.at[handler] = busy;
    vec_push(&r->handlers, handler);
    check_step(s, node, h->uid, UINT32_MAX);
    struct tree_node *end = &s->tree.nodes.at[node];
    if (end->reply == h->reply || (end->reply != OUT_NONE && end->unstable))
        return;
    bool answered = outcome_kind(h->reply) == OUT_STATUS || outcome_kind(h->reply) == OUT_GRPC;
    if (r->harmed && (end->reply != OUT_NONE || !answered))
        return; /* its service may be harmed: that says nothing about what it decides */
    if (end->reply != OUT_NONE) { /* another one than the last time */
        end->unstable = true;
        suspect_add(s, (struct suspect){.kind = SUSPECT_STEP,
                                        .faultload = s->now.item.faultload,
                                        .point = h->uid});
    }
    end->reply = h->reply;
    s->tree.transcripts++;
}

/* prefix[k], sharing the rows of the faultload that was run as far as the order agrees. */
static void fill_prefixes(struct search *s)
{
    struct reading *r = &s->reading;
    const struct faultload_row *rows = s->fl->rows.at;
    uint32_t size = rows[s->now.item.faultload].size;
    r->prefix.n = 0;
    for (uint32_t k = 0; k <= r->fired.n; k++)
        vec_push(&r->prefix, FAULTLOAD_EMPTY);
    faultload f = s->now.item.faultload;
    for (uint32_t k = size; k > 0; k--, f = rows[f].rest)
        if (k <= r->fired.n)
            r->prefix.at[k] = f;
    bool same = size == r->fired.n;
    for (uint32_t k = 1; k <= r->fired.n; k++) {
        struct fault fault = r->fired.at[k - 1];
        if (same) {
            struct fault planned = s->fl->rows.at[r->prefix.at[k]].last;
            same = planned.point == fault.point && planned.mode == fault.mode;
        }
        if (!same)
            r->prefix.at[k] = faultload_extend(s->fl, r->prefix.at[k - 1], fault);
    }
}

enum { SHOWN_MAX = 32 };

void reading_fill(struct search *s, const struct trace *trace)
{
    struct reading *r = &s->reading;
    trace_order(trace, s->names, &r->order);
    r->post.n = r->fired.n = r->handlers.n = 0;
    r->harmed = false;
    while (r->node.n < trace->calls.n) {
        vec_push(&r->node, 0);
        vec_push(&r->causes, 0);
        vec_push(&r->below, 0);
        vec_push(&r->busy, 0);
    }
    visit(s, trace, 0);
    fill_prefixes(s);
    for (uint32_t i = 1; i < trace->calls.n; i++) { /* which calls there are, and in which runs */
        const struct call *c = &trace->calls.at[i];
        uid u = c->uid;
        s->late.happens |= call_late(c);
        while (s->seen_in.n <= u) {
            vec_push(&s->seen_in, 0);
            vec_push(&s->happy, false);
            vec_push(&s->shown, 0);
            vec_push(&s->last, 0);
        }
        if (s->seen_in.at[u]++ == 0)
            search_set_flags(s, u, c->flags);
        if (s->runs.n == 0)
            s->happy.at[u] = true;
        s->last.at[u] = (s->runs.n + 1) * 2 + !outcome_ok(c->seen);
        if (s->now.purpose == FOR_BASELINE && s->baselines_done < SHOWN_MAX)
            s->shown.at[u] |= 1u << s->baselines_done;
    }
    suspect_steps(s, trace);
}

uint64_t reading_signature(const struct search *s, const struct trace *trace, uid point,
                           bool without_below)
{
    uint64_t hash = trace->calls.at[0].reply;
    for (uint32_t i = 0; i < s->reading.post.n; i++) {
        const struct call *c = &trace->calls.at[s->reading.post.at[i]];
        bool starred = c->uid == point || c->fault_point == point;
        if (without_below && c->uid != point && uid_contains(s->names, point, c->uid))
            continue;
        hash = hash_mix(hash, c->uid);
        hash = hash_mix(hash, starred ? 0 : (uint64_t)call_label(c) << 32 | c->reply);
    }
    return hash;
}
