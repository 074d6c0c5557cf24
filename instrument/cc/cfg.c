/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph of a function, and its post-dominators: the iterative algorithm of Cooper, Harvey and
 * Kennedy on the reversed graph, with a virtual end (number n) that all returns lead to. Loops that
 * never end get an edge from their head to it, so that what is in them has post-dominators too. */
#include "analyse.h"

uint32_t flow_index(const struct flow *f, LLVMBasicBlockRef block)
{
    const uint32_t *at = map_get(&f->index, (uintptr_t)block);
    return at ? *at : FLOW_NONE;
}

static uint32_t n_ways(LLVMBasicBlockRef block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    if (!end)
        return 0;
    return LLVMGetInstructionOpcode(end) == LLVMInvoke ? 1 : LLVMGetNumSuccessors(end);
}

static uint32_t way(const struct flow *f, uint32_t b, uint32_t i)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(f->block[b]);
    return flow_index(f, LLVMGetInstructionOpcode(end) == LLVMInvoke ? LLVMGetNormalDest(end)
                                                                     : LLVMGetSuccessor(end, i));
}

/* Dead: ends in `unreachable`, or leads to dead blocks only. In rounds, as chains of these are short. */
static void find_dead(struct flow *f)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t b = f->n; b-- > 0;) {
            LLVMValueRef end = LLVMGetBasicBlockTerminator(f->block[b]);
            if (f->dead[b] || !end)
                continue;
            uint32_t ways = n_ways(f->block[b]), alive = 0;
            for (uint32_t i = 0; i < ways; i++)
                alive += !f->dead[way(f, b, i)];
            bool ends = ways > 0 || LLVMGetInstructionOpcode(end) == LLVMUnreachable;
            if (ends && !alive)
                f->dead[b] = more = true;
        }
    }
}

/* Edges forwards and backwards, each once; none into dead blocks, none out of them. */
static void find_edges(struct flow *f)
{
    uint32_t most = 0;
    for (uint32_t b = 0; b < f->n; b++)
        most += n_ways(f->block[b]);
    f->first_to = mem_zero((f->n + 1) * sizeof *f->first_to);
    f->first_from = mem_zero((f->n + 2) * sizeof *f->first_from);
    f->to = mem_alloc((most + 1) * sizeof *f->to);
    f->from = mem_alloc((most + 1) * sizeof *f->from);
    uint32_t *last = mem_zero((f->n + 1) * sizeof *last); /* who led to it last, from 1 */
    uint32_t n = 0;
    for (uint32_t b = 0; b < f->n; b++) {
        f->first_to[b] = n;
        for (uint32_t i = 0, ways = f->dead[b] ? 0 : n_ways(f->block[b]); i < ways; i++) {
            uint32_t next = way(f, b, i);
            if (f->dead[next] || last[next] == b + 1)
                continue;
            last[next] = b + 1;
            f->to[n++] = next;
            f->first_from[next + 2]++;
        }
    }
    f->first_to[f->n] = n;
    for (uint32_t b = 1; b < f->n + 2; b++)
        f->first_from[b] += f->first_from[b - 1];
    for (uint32_t b = 0; b < f->n; b++)
        for (uint32_t i = f->first_to[b]; i < f->first_to[b + 1]; i++)
            f->from[f->first_from[f->to[i] + 1]++] = b;
    mem_free(last);
}

/* A walk in depth that keeps its way in memory, since functions can have many thousand blocks. */
struct walk {
    uint32_t *block, *next; /* the way; which edge of it is next */
    uint32_t n;
};

static void walk_push(struct walk *w, uint32_t block, uint32_t next)
{
    w->block[w->n] = block;
    w->next[w->n++] = next;
}

/* Marks the heads of loops, and lists blocks so that each comes after those that lead to it, but for
 * loops' ends. seen: 1 on the way, 2 done. */
static uint32_t order_forwards(const struct flow *f, bool *head, uint32_t *order)
{
    struct walk w = {mem_alloc((f->n + 1) * sizeof *w.block),
                     mem_alloc((f->n + 1) * sizeof *w.next), 0};
    uint8_t *seen = mem_zero(f->n + 1);
    uint32_t left = f->n;
    seen[0] = 1;
    walk_push(&w, 0, f->first_to[0]);
    while (w.n) {
        uint32_t b = w.block[w.n - 1];
        if (w.next[w.n - 1] == f->first_to[b + 1]) {
            seen[b] = 2;
            order[--left] = b;
            w.n--;
            continue;
        }
        uint32_t next = f->to[w.next[w.n - 1]++];
        if (seen[next] == 1)
            head[next] = true;
        if (!seen[next]) {
            seen[next] = 1;
            walk_push(&w, next, f->first_to[next]);
        }
    }
    mem_free(w.block);
    mem_free(w.next);
    mem_free(seen);
    return left;
}

/* Numbers blocks in the order in which a walk backwards leaves them. */
struct back {
    const struct flow *f;
    struct walk w;
    uint32_t *number, *order; /* number: FLOW_NONE: not yet left; order: by number */
    bool *seen, *ends;        /* ends: has an edge to the virtual end */
    uint32_t n;
};

static void walk_back(struct back *k, uint32_t root)
{
    if (k->seen[root])
        return;
    k->ends[root] = k->seen[root] = true;
    walk_push(&k->w, root, k->f->first_from[root]);
    while (k->w.n) {
        uint32_t b = k->w.block[k->w.n - 1];
        if (k->w.next[k->w.n - 1] == k->f->first_from[b + 1]) {
            k->order[k->n] = b;
            k->number[b] = k->n++;
            k->w.n--;
            continue;
        }
        uint32_t before = k->f->from[k->w.next[k->w.n - 1]++];
        if (!k->seen[before]) {
            k->seen[before] = true;
            walk_push(&k->w, before, k->f->first_from[before]);
        }
    }
}

static uint32_t meet(const struct back *k, const uint32_t *ipdom, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (k->number[a] < k->number[b])
            a = ipdom[a];
        while (k->number[b] < k->number[a])
            b = ipdom[b];
    }
    return a;
}

static void settle(struct flow *f, struct back *k)
{
    k->number[f->n] = k->n;
    f->ipdom[f->n] = f->n;
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = k->n; i-- > 0;) {
            uint32_t b = k->order[i], best = k->ends[b] ? f->n : FLOW_NONE;
            for (uint32_t e = f->first_to[b]; e < f->first_to[b + 1]; e++) {
                uint32_t next = f->to[e];
                if (f->ipdom[next] != FLOW_NONE)
                    best = best == FLOW_NONE ? next : meet(k, f->ipdom, best, next);
            }
            if (best != f->ipdom[b]) {
                f->ipdom[b] = best;
                more = true;
            }
        }
    }
}

static void find_ipdom(struct flow *f)
{
    size_t n = f->n + 1;
    struct back k = {.f = f,
                     .w = {mem_alloc(n * sizeof *k.w.block), mem_alloc(n * sizeof *k.w.next), 0},
                     .number = mem_alloc(n * sizeof *k.number),
                     .order = mem_alloc(n * sizeof *k.order),
                     .seen = mem_zero(n),
                     .ends = mem_zero(n)};
    bool *head = mem_zero(n);
    uint32_t *order = mem_alloc(n * sizeof *order);
    f->ipdom = mem_alloc(n * sizeof *f->ipdom);
    for (uint32_t b = 0; b <= f->n; b++)
        k.number[b] = f->ipdom[b] = FLOW_NONE;
    for (uint32_t b = 0; b < f->n; b++)
        if (f->first_to[b] == f->first_to[b + 1]) /* returns, and dead ones */
            walk_back(&k, b);
    uint32_t first = order_forwards(f, head, order);
    for (uint32_t i = first; i < f->n; i++)
        if (head[order[i]])
            walk_back(&k, order[i]);
    for (uint32_t b = 0; b < f->n; b++) /* what nothing leads to */
        walk_back(&k, b);
    settle(f, &k);
    mem_free(k.w.block);
    mem_free(k.w.next);
    mem_free(k.number);
    mem_free(k.order);
    mem_free(k.seen);
    mem_free(k.ends);
    mem_free(head);
    mem_free(order);
}

struct flow *flow_new(LLVMValueRef function)
{
    struct flow *f = mem_zero(sizeof *f);
    f->function = function;
    f->n = LLVMCountBasicBlocks(function);
    f->block = mem_alloc((f->n + 1) * sizeof *f->block);
    f->dead = mem_zero(f->n + 1);
    LLVMGetBasicBlocks(function, f->block);
    for (uint32_t b = 0; b < f->n; b++)
        map_set(&f->index, (uintptr_t)f->block[b], b);
    find_dead(f);
    find_edges(f);
    find_ipdom(f);
    return f;
}

void flow_free(struct flow *f)
{
    if (!f)
        return;
    mem_free(f->block);
    mem_free(f->dead);
    mem_free(f->first_to);
    mem_free(f->to);
    mem_free(f->first_from);
    mem_free(f->from);
    mem_free(f->ipdom);
    map_deinit(&f->index);
    mem_free(f);
}

/* Calls each(block, at, to) for all that the branch at the end of `at` decides. */
#define EACH_CONTROLLED(f, at, edge, b)                                                            \
    for (uint32_t edge = (f)->first_to[at]; edge < (f)->first_to[(at) + 1]; edge++)                \
        for (uint32_t b = (f)->to[edge]; b != flow_stop(f, at) && b < (f)->n; b = (f)->ipdom[b])

struct controls *controls_new(const struct flow *f)
{
    struct controls *c = mem_zero(sizeof *c);
    c->first = mem_zero((f->n + 2) * sizeof *c->first);
    for (uint32_t at = 0; at < f->n; at++)
        if (f->first_to[at + 1] - f->first_to[at] > 1)
            EACH_CONTROLLED(f, at, e, b)
    c->first[b + 2]++;
    for (uint32_t b = 1; b < f->n + 2; b++)
        c->first[b] += c->first[b - 1];
    c->item = mem_alloc((c->first[f->n + 1] + 1) * sizeof *c->item);
    for (uint32_t at = 0; at < f->n; at++)
        if (f->first_to[at + 1] - f->first_to[at] > 1)
            EACH_CONTROLLED(f, at, e, b)
    c->item[c->first[b + 1]++] = (struct control){at, f->to[e]};
    return c;
}

void controls_free(struct controls *c)
{
    if (!c)
        return;
    mem_free(c->first);
    mem_free(c->item);
    mem_free(c);
}
