/* SPDX-License-Identifier: Apache-2.0
 *
 * How large the space of faultloads is and where it goes. The possible faultloads (every fault
 * fires) are counted from the finished trees: an edge is reached in as many ways as its prefix,
 * times the ways in which its outcome comes about, by a fault at the call itself or by the faults
 * below it that make the callee answer so. */
#include <math.h>

#include "search/search_int.h"

/* ---- which policy makes how many faultloads impossible ---- */

/* Their sum is known from the trees; the shares come from explaining faultloads one by one: all of
 * them when the space is small, a sample otherwise. */

enum { ALL_MAX = 20000, SAMPLE = 2000, TRIES = 100000 };

struct sharing {
    const struct search *s;
    VEC(struct sharing_point {
        uid point;
        uint32_t first; /* of `modes`: those that it takes, */
        uint32_t n;     /* so many */
        uint32_t digit; /* 0, or 1 + which of them */
    })
    points;
    VEC(mode) modes;
    uint64_t count[POLICIES], n;
};

/* Explains the faultload that the digits stand for. */
static void explain_digits(struct sharing *x)
{
    const struct search *s = x->s;
    struct explanation why;
    uint32_t keep = s->fl->rows.n;
    faultload f = FAULTLOAD_EMPTY;
    for (uint32_t i = 0; i < x->points.n; i++) {
        const struct sharing_point *p = &x->points.at[i];
        if (p->digit > 0)
            f = faultload_extend(s->fl, f,
                                 (struct fault){p->point, x->modes.at[p->first + p->digit - 1]});
    }
    explain_predict(s, f, false, &why);
    s->fl->rows.n = keep; /* it was only asked about */
    if (why.kind != EXPLAIN_IMPOSSIBLE || why.policy == POLICY_DOWNSTREAM)
        return;
    x->count[why.policy]++;
    x->n++;
}

/* Counts on by one; false after the last. */
static bool next_digits(struct sharing *x)
{
    for (uint32_t i = 0; i < x->points.n; i++) {
        if (++x->points.at[i].digit <= x->points.at[i].n)
            return true;
        x->points.at[i].digit = 0;
    }
    return false;
}

/* Shares n impossible faultloads between exclusion, inclusion and unreachability. True: by a sample.
 */
static bool policies_share(const struct search *s, double space, double n, double *saved)
{
    struct sharing x = {.s = s};
    struct rng rng = {1};
    bool all = space <= ALL_MAX;
    for (uid u = 0; u < s->seen_in.n; u++) {
        struct sharing_point p = {.point = u, .first = x.modes.n};
        if (!search_point(s, u))
            continue;
        for (uint32_t i = 0; i < s->opt.n_modes; i++)
            if (search_takes(s, u, s->opt.modes[i]))
                vec_push(&x.modes, s->opt.modes[i]);
        p.n = x.modes.n - p.first;
        vec_push(&x.points, p);
    }
    for (bool more = all; more; more = next_digits(&x))
        explain_digits(&x);
    for (uint32_t k = 0; !all && n > 0 && k < TRIES && x.n < SAMPLE; k++) {
        for (uint32_t i = 0; i < x.points.n; i++)
            x.points.at[i].digit = rng_below(&rng, x.points.at[i].n + 1);
        explain_digits(&x);
    }
    double rest = n;
    for (enum policy p = POLICY_EXCLUSION; p <= POLICY_INCLUSION && x.n > 0; p++) {
        saved[p] = fmin(rest, round(n * ((double)x.count[p] / (double)x.n)));
        rest -= saved[p];
    }
    saved[POLICY_UNREACHABLE] = rest;
    vec_deinit(&x.points);
    vec_deinit(&x.modes);
    return !all && n > 0;
}

/* ---- counting ---- */

struct ways {
    uint32_t root; /* of a handler's tree */
    label reply;
    double n;
};

struct count {
    const struct search *s;
    VEC(double) node_ways; /* by node: faultloads that lead to it, within its handler's subtree */
    VEC(struct ways) ways; /* sorted into runs per handler: */
    VEC(uint32_t) first;   /* by root: its run in `ways`, + 1 */
};

/* Faultloads below a handler that make it answer `reply`; all of them when reply is OUT_NONE. */
static double ways_of(const struct count *c, uint32_t root, label reply)
{
    double sum = 0;
    if (root == NODE_NONE || c->first.at[root] == 0)
        return 0;
    for (uint32_t i = c->first.at[root] - 1; i < c->ways.n && c->ways.at[i].root == root; i++)
        if (reply == OUT_NONE || c->ways.at[i].reply == reply)
            sum += c->ways.at[i].n;
    return sum;
}

static double edge_ways(const struct count *c, uid handler, const struct tree_node *edge)
{
    const struct search *s = c->s;
    uid callee = names_uid(s->names, handler, edge->element);
    uint32_t root = tree_find_root(&s->tree, s->names, callee);
    if (edge->label & LABEL_MODE)
        return mode_reached(edge->label & ~LABEL_MODE) ? ways_of(c, root, OUT_NONE) : 1;
    double injected = 0;
    for (uint32_t i = 0; i < s->opt.n_modes; i++)
        injected +=
            mode_label(s->opt.modes[i]) == edge->label && search_takes(s, callee, s->opt.modes[i]);
    return injected + ways_of(c, root, edge->label);
}

/* One handler: its nodes in the order in which they were made, so parents come first. */
static void count_handler(struct count *c, uint32_t root, const uint32_t *node, uint32_t n)
{
    const struct tree_node *nodes = c->s->tree.nodes.at;
    uint32_t first = c->ways.n;
    c->first.at[root] = first + 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct tree_node *at = &nodes[node[i]];
        if (node[i] == root)
            c->node_ways.at[root] = 1;
        else if (at->state == EDGE_SEEN)
            c->node_ways.at[node[i]] =
                c->node_ways.at[at->parent] * edge_ways(c, nodes[root].element, at);
        if (at->reply == OUT_NONE)
            continue;
        uint32_t k = first;
        while (k < c->ways.n && c->ways.at[k].reply != at->reply)
            k++;
        if (k == c->ways.n)
            vec_push(&c->ways, (struct ways){root, at->reply, 0});
        c->ways.at[k].n += c->node_ways.at[node[i]];
    }
}

/* All handlers, the deepest first, so that callees come before callers. */
static double count_possible(const struct search *s)
{
    const struct tree_node *nodes = s->tree.nodes.at;
    uint32_t n = s->tree.nodes.n, deepest = 0, top = NODE_NONE;
    struct count c = {.s = s};
    VEC(uint32_t) start = {0}, order = {0}, root = {0};
    for (uint32_t i = 0; i < n; i++) {
        vec_push(&c.node_ways, 0);
        vec_push(&c.first, 0);
        vec_push(&start, 0);
        vec_push(&order, 0);
        vec_push(&root, nodes[i].parent == NODE_NONE ? i : root.at[nodes[i].parent]);
    }
    vec_push(&start, 0);
    for (uint32_t i = 1; i < n; i++)
        start.at[root.at[i] + 1]++;
    for (uint32_t i = 1; i <= n; i++)
        start.at[i] += start.at[i - 1];
    for (uint32_t i = 1; i < n; i++)
        order.at[start.at[root.at[i]]++] = i;
    /* start[r] is now the end of r's run, and start[r - 1] its beginning */
    for (uint32_t i = 1; i < n; i++)
        if (root.at[i] == i && uid_depth(s->names, nodes[i].element) > deepest)
            deepest = uid_depth(s->names, nodes[i].element);
    for (uint32_t depth = deepest; depth > 0; depth--)
        for (uint32_t i = 1; i < n; i++)
            if (root.at[i] == i && uid_depth(s->names, nodes[i].element) == depth) {
                count_handler(&c, i, order.at + start.at[i - 1], start.at[i] - start.at[i - 1]);
                top = i; /* ends as the scenario's own request, the only one at depth 1 */
            }
    double possible = top == NODE_NONE ? 0 : ways_of(&c, top, OUT_NONE);
    vec_deinit(&c.node_ways);
    vec_deinit(&c.ways);
    vec_deinit(&c.first);
    vec_deinit(&start);
    vec_deinit(&order);
    vec_deinit(&root);
    return possible;
}

/* Faultloads without a fault below another one that keeps it from happening. */
static double count_apart(const struct search *s)
{
    uint32_t n = s->names->uids.n;
    double *below = mem_alloc(n * sizeof *below), all;
    for (uint32_t u = 0; u < n; u++)
        below[u] = 1;
    for (uint32_t u = n; u-- > 1;) {
        uid parent = uid_parent(s->names, u);
        uint32_t reached = 0, stopped = 0;
        for (uint32_t i = 0; i < s->opt.n_modes && search_point(s, u); i++) {
            bool takes = search_takes(s, u, s->opt.modes[i]);
            reached += takes && mode_reached(s->opt.modes[i]);
            stopped += takes && !mode_reached(s->opt.modes[i]);
        }
        below[parent] *= (1 + reached) * below[u] + stopped;
    }
    all = below[UID_NONE];
    mem_free(below);
    return all;
}

void search_space(const struct search *s, struct search_space *out)
{
    struct search_stats stats;
    search_stats(s, &stats);
    *out = (struct search_space){.space = 1};
    for (uid u = 0; u < s->seen_in.n; u++)
        if (search_point(s, u))
            out->space *= search_modes(s, u) + 1.0;
    bool timing = out->late = s->late.happens;
    for (uint32_t i = 0; i < s->opt.n_modes; i++)
        timing |= mode_delay_ns(s->opt.modes[i]) > 0 || mode_kind(s->opt.modes[i]) == MODE_SLOW;
    out->known = stats.complete && s->opt.assume == 0 && s->opt.shards < 2 && s->n_suspects == 0 &&
                 !timing && isfinite(out->space);
    if (!out->known)
        return;
    double apart = count_apart(s), possible = count_possible(s);
    if (apart < out->space * (1 - 1e-12)) /* else it is rounding */
        out->saved[POLICY_DOWNSTREAM] = out->space - apart;
    out->saved[POLICY_ENCAPSULATION] = possible - (double)stats.runs;
    out->estimated = policies_share(s, out->space, apart - possible, out->saved);
}
