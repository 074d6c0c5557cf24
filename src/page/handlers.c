/* SPDX-License-Identifier: Apache-2.0
 *
 * What handlers do, as decision trees: of every handler the prefix tree of its transcripts, as the
 * search has it (search/tree.h), with the runs that showed each step.
 *
 * A campaign adds a step with nearly every run, but most of what handlers do is the same whatever
 * failed before: so what is printed is not the tree. Nodes below which all is equal become one, and
 * outcomes of a call that lead to one node become one branch. Which nodes are equal is told by a
 * hash of all that is below: 64 bits, so that a million nodes get a wrong pair in one of ten million
 * documents. */
#include <stdlib.h>

#include "base/hash.h"
#include "data/json.h"
#include "page/ledger_int.h"

/* ---- adding ---- */

void handlers_init(struct handlers *h, uint32_t most)
{
    *h = (struct handlers){.most = most};
    vec_push(&h->nodes, (struct handler_node){0});
    vec_push(&h->ends, (struct handler_end){0});
}

void handlers_deinit(struct handlers *h)
{
    vec_deinit(&h->nodes);
    vec_deinit(&h->ends);
    vec_deinit(&h->roots);
    map_deinit(&h->root_of);
    index_deinit(&h->edges);
}

static bool has_room(const struct handlers *h)
{
    return h->nodes.n + h->ends.n < h->most;
}

/* n more runs, the first of which are these. */
static void see(struct seen_in *to, uint64_t n, const uint32_t *shown)
{
    to->runs += n;
    for (uint32_t i = 0; i < SHOWN_MAX && shown[i]; i++) {
        uint32_t number = shown[i], k = 0;
        while (k < SHOWN_MAX && to->shown[k] && to->shown[k] < number)
            k++;
        if (k < SHOWN_MAX && to->shown[k] == number)
            continue;
        for (; k < SHOWN_MAX && number; k++) { /* the others move on, the last one falls out */
            uint32_t next = to->shown[k];
            to->shown[k] = number;
            number = next;
        }
    }
}

static void see_run(struct seen_in *to, uint64_t number)
{
    uint32_t shown[SHOWN_MAX] = {number < UINT32_MAX ? (uint32_t)number : 0};
    see(to, 1, shown);
}

static bool edge_eq(const void *owner, uint32_t id, const void *key)
{
    const struct handler_node *a = &((const struct handlers *)owner)->nodes.at[id], *b = key;
    return a->parent == b->parent && a->element == b->element && a->label == b->label;
}

/* The step from here; 0: it is new, and there is no room. */
static uint32_t step(struct handlers *h, uint32_t from, uint32_t element, label l)
{
    struct handler_node new = {.parent = from, .element = element, .label = l};
    uint64_t hash = hash_mix(hash_mix(from, element), l);
    uint32_t node = index_get(&h->edges, hash, edge_eq, h, &new);
    if (node != INDEX_NONE)
        return node;
    if (!has_room(h))
        return 0;
    node = h->nodes.n;
    new.sibling = h->nodes.at[from].child;
    vec_push(&h->nodes, new);
    h->nodes.at[from].child = node;
    index_put(&h->edges, hash, node);
    return node;
}

/* The root of a handler; NULL: it is new, and there is no room. */
static struct handler_root *root_of(struct handlers *h, uid handler)
{
    const uint32_t *at = map_get(&h->root_of, handler);
    if (at)
        return &h->roots.at[*at];
    if (!has_room(h))
        return NULL;
    map_set(&h->root_of, handler, h->roots.n);
    vec_push(&h->roots, (struct handler_root){.handler = handler, .node = h->nodes.n});
    vec_push(&h->nodes, (struct handler_node){0});
    return &vec_last(&h->roots);
}

/* Its transcript ends here. */
static bool end_here(struct handlers *h, struct handler_root *root, uint32_t node, outcome reply,
                     uint64_t number)
{
    uint32_t end = h->nodes.at[node].end;
    while (end && h->ends.at[end].reply != reply)
        end = h->ends.at[end].next;
    if (!end) {
        if (!has_room(h))
            return false;
        end = h->ends.n;
        vec_push(&h->ends, (struct handler_end){.reply = reply, .next = h->nodes.at[node].end});
        h->nodes.at[node].end = end;
        root->transcripts++;
    }
    see_run(&h->ends.at[end].seen, number);
    return true;
}

/* Follows the handler of a call. False: there was no room. */
static bool follow(struct handlers *h, const struct names *names, uint64_t number,
                   const struct trace *trace, const struct trace_order *order, uint32_t handler)
{
    const struct call *made = &trace->calls.at[handler];
    struct handler_root *root = root_of(h, made->uid);
    if (!root)
        return false;
    uint32_t node = root->node;
    see_run(&h->nodes.at[node].seen, number);
    for (uint32_t i = order->first.at[handler]; i < order->first.at[handler + 1]; i++) {
        const struct call *c = &trace->calls.at[order->child.at[i]];
        node = step(h, node, names->uids.at[c->uid].element, call_label(c));
        if (!node)
            return false;
        see_run(&h->nodes.at[node].seen, number);
    }
    return end_here(h, root, node, made->reply, number);
}

void handlers_add(struct handlers *h, const struct names *names, uint64_t number,
                  const struct trace *trace, const struct trace_order *order)
{
    bool fits = true;
    VEC(bool) reached = {0}; /* by call: handled, and so was all above it */
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        vec_push(&reached, i == 0 || (c->handled && reached.at[c->parent]));
        if (reached.at[i])
            fits &= follow(h, names, number, trace, order, i);
    }
    h->left_out += !fits;
    vec_deinit(&reached);
}

/* ---- folding ---- */

/* A node as it is printed: it stands for all that are equal. */
struct fold_node {
    uint32_t like; /* one of them */
    uint64_t runs;
};

/* What leads from one such node to another, or to an end. */
struct fold_branch {
    uint32_t to; /* place in fold.nodes */
    bool printed;
    struct seen_in seen;
};

/* A step from a node, to be sorted. */
struct fold_child {
    const struct names *names;
    uint32_t node, element;
    label label;
};

struct fold {
    const struct handlers *h;
    const struct names *names;
    VEC(uint64_t) hash;          /* by node: of all that is below */
    VEC(struct fold_node) nodes; /* of the handler that is being printed; the first is its root */
    VEC(struct fold_branch) branches;
    struct map node_at;   /* hash -> place in nodes */
    struct map branch_at; /* (node, element, hash of the node it leads to) -> place in branches */
    VEC(uint32_t) stack;
    VEC(struct fold_child) children; /* of one node, in their order */
    struct buf text;
};

static void hash_nodes(struct fold *f)
{
    const struct handlers *h = f->h;
    for (uint32_t i = 0; i < h->nodes.n; i++)
        vec_push(&f->hash, 1);
    for (uint32_t i = h->nodes.n; i-- > 1;) { /* children first; sums, for order means nothing */
        const struct handler_node *n = &h->nodes.at[i];
        for (uint32_t end = n->end; end; end = h->ends.at[end].next)
            f->hash.at[i] += hash_mix(0, h->ends.at[end].reply);
        if (n->parent)
            f->hash.at[n->parent] += hash_mix(hash_mix(n->element, n->label), f->hash.at[i]);
    }
}

static uint64_t branch_key(uint32_t from, uint32_t element, uint64_t hash)
{
    return hash_mix(hash_mix(from, element), hash);
}

/* The ends of a node are branches too: by (node, reply). */
static uint64_t end_key(uint32_t from, outcome reply)
{
    return hash_mix(~(uint64_t)from, reply);
}

static struct seen_in *branch_seen(struct fold *f, uint64_t key, uint32_t to)
{
    uint32_t at = map_index(&f->branch_at, key, f->branches.n);
    if (at == f->branches.n)
        vec_push(&f->branches, (struct fold_branch){.to = to});
    return &f->branches.at[at].seen;
}

static uint32_t fold_place(struct fold *f, uint32_t node)
{
    uint32_t at = map_index(&f->node_at, f->hash.at[node], f->nodes.n);
    if (at == f->nodes.n)
        vec_push(&f->nodes, (struct fold_node){.like = node});
    return at;
}

/* All that a handler has done, with equal nodes as one. */
static void fold_handler(struct fold *f, uint32_t root)
{
    const struct handlers *h = f->h;
    f->nodes.n = f->branches.n = 0;
    map_clear(&f->node_at);
    map_clear(&f->branch_at);
    vec_push(&f->stack, root);
    fold_place(f, root);
    while (f->stack.n) {
        uint32_t node = f->stack.at[--f->stack.n];
        const struct handler_node *n = &h->nodes.at[node];
        uint32_t at = fold_place(f, node);
        f->nodes.at[at].runs += n->seen.runs;
        for (uint32_t end = n->end; end; end = h->ends.at[end].next) {
            const struct handler_end *x = &h->ends.at[end];
            see(branch_seen(f, end_key(at, x->reply), at), x->seen.runs, x->seen.shown);
        }
        for (uint32_t c = n->child; c; c = h->nodes.at[c].sibling) {
            const struct handler_node *x = &h->nodes.at[c];
            uint64_t key = branch_key(at, x->element, f->hash.at[c]);
            see(branch_seen(f, key, fold_place(f, c)), x->seen.runs, x->seen.shown);
            vec_push(&f->stack, c);
        }
    }
}

/* ---- printing ---- */

static int compare_children(const void *a, const void *b)
{
    const struct fold_child *x = a, *y = b;
    int order = x->element == y->element ? 0 : element_cmp(x->names, x->element, y->element);
    return order ? order : (x->label > y->label) - (x->label < y->label);
}

static void list_children(struct fold *f, uint32_t node)
{
    f->children.n = 0;
    for (uint32_t c = f->h->nodes.at[node].child; c; c = f->h->nodes.at[c].sibling) {
        const struct handler_node *x = &f->h->nodes.at[c];
        vec_push(&f->children, (struct fold_child){f->names, c, x->element, x->label});
    }
    if (f->children.n)
        qsort(f->children.at, f->children.n, sizeof *f->children.at, compare_children);
}

static void put_seen(struct json_out *j, const struct seen_in *seen)
{
    json_uint(j, "runs", seen->runs);
    json_list(j, "shown");
    for (uint32_t i = 0; i < SHOWN_MAX && seen->shown[i]; i++)
        json_uint(j, NULL, seen->shown[i]);
    json_list_end(j);
}

/* The step to this child, with all outcomes that lead to the same node. */
static void put_step(struct fold *f, struct json_out *j, uint32_t from, uint32_t child)
{
    const struct fold_child *c = &f->children.at[child];
    uint64_t key = branch_key(from, c->element, f->hash.at[c->node]);
    struct fold_branch *branch = &f->branches.at[*map_get(&f->branch_at, key)];
    if (branch->printed)
        return; /* with an earlier one */
    branch->printed = true;
    json_map(j, NULL);
    element_print(f->names, &f->names->elements.at[c->element], &f->text);
    json_take(j, "call", &f->text);
    json_list(j, "outcomes");
    for (uint32_t i = child; i < f->children.n && f->children.at[i].element == c->element; i++) {
        if (f->hash.at[f->children.at[i].node] != f->hash.at[c->node])
            continue;
        label_print(f->children.at[i].label, &f->text);
        json_take(j, NULL, &f->text);
    }
    json_list_end(j);
    put_seen(j, &branch->seen);
    json_uint(j, "to", branch->to);
    json_map_end(j);
}

static void put_end(struct fold *f, struct json_out *j, uint32_t from, outcome reply)
{
    struct seen_in *seen = branch_seen(f, end_key(from, reply), from);
    json_map(j, NULL);
    outcome_print(reply, &f->text);
    json_str(j, "reply", buf_slice(&f->text));
    json_list(j, "outcomes");
    json_take(j, NULL, &f->text);
    json_list_end(j);
    put_seen(j, seen);
    json_map_end(j);
}

static void put_node(struct fold *f, struct json_out *j, uint32_t at)
{
    const struct handler_node *like = &f->h->nodes.at[f->nodes.at[at].like];
    json_map(j, NULL);
    json_uint(j, "runs", f->nodes.at[at].runs);
    json_list(j, "branches");
    list_children(f, f->nodes.at[at].like);
    for (uint32_t i = 0; i < f->children.n; i++)
        put_step(f, j, at, i);
    for (uint32_t end = like->end; end; end = f->h->ends.at[end].next)
        put_end(f, j, at, f->h->ends.at[end].reply);
    json_list_end(j);
    json_map_end(j);
}

static void put_handler(struct fold *f, struct json_out *j, const struct handler_root *root)
{
    const struct element *el = uid_element(f->names, root->handler);
    fold_handler(f, root->node);
    json_map(j, NULL);
    element_print(f->names, el, &f->text);
    json_take(j, "handler", &f->text);
    uid_print(f->names, root->handler, &f->text);
    json_take(j, "call", &f->text);
    json_str(j, "service", names_text(f->names, el->service));
    json_uint(j, "runs", f->h->nodes.at[root->node].seen.runs);
    json_uint(j, "transcripts", root->transcripts);
    json_list(j, "nodes");
    for (uint32_t i = 0; i < f->nodes.n; i++)
        put_node(f, j, i);
    json_list_end(j);
    json_map_end(j);
}

struct root_item {
    const struct names *names;
    const struct handler_root *root;
};

static int compare_roots(const void *a, const void *b)
{
    const struct root_item *x = a, *y = b;
    return uid_cmp(x->names, x->root->handler, y->root->handler);
}

enum status handlers_print(const struct report_source *source, const struct document_place *place,
                           struct buf *out, struct err *e)
{
    const struct ledger *l = ledger_of(source, place->scenario);
    (void)e;
    if (!l)
        return STATUS_NONE;
    struct fold f = {.h = &l->handlers, .names = l->names, .text = BUF_INIT(1 << 20)};
    struct json_out j = json_out(out, JSON_COMPACT);
    VEC(struct root_item) roots = {0};
    for (uint32_t i = 0; i < l->handlers.roots.n; i++)
        vec_push(&roots, (struct root_item){l->names, &l->handlers.roots.at[i]});
    if (roots.n)
        qsort(roots.at, roots.n, sizeof *roots.at, compare_roots);
    hash_nodes(&f);
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_text(&j, "scenario", source->scenarios[place->scenario]->scenario);
    json_uint(&j, "left_out", l->handlers.left_out);
    json_list(&j, "handlers");
    for (uint32_t i = 0; i < roots.n; i++)
        put_handler(&f, &j, roots.at[i].root);
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
    vec_deinit(&roots);
    vec_deinit(&f.hash);
    vec_deinit(&f.nodes);
    vec_deinit(&f.branches);
    vec_deinit(&f.stack);
    vec_deinit(&f.children);
    map_deinit(&f.node_at);
    map_deinit(&f.branch_at);
    buf_deinit(&f.text);
    return STATUS_OK;
}
