/* SPDX-License-Identifier: Apache-2.0
 *
 * What all runs together say about dependencies. */
#include "judge/deps.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "judge/deps_int.h"

/* ---- one dependency ---- */

static int compare_labels(label a, label b)
{
    struct buf x = BUF_INIT(MODE_TEXT_MAX), y = BUF_INIT(MODE_TEXT_MAX);
    label_print(a, &x);
    label_print(b, &y);
    int order = strcmp(buf_text(&x), buf_text(&y));
    buf_deinit(&x);
    buf_deinit(&y);
    return order;
}

static int compare_ways(const void *a, const void *b)
{
    return compare_labels(((const struct dep_way *)a)->label, ((const struct dep_way *)b)->label);
}

/* A failure that lasts decides; one that passes only where it is worse, or all that is known. */
static void add_way(struct dep *row, const struct dep_way *way)
{
    row->retried |= !way->lasting && !way->fails && way->by == DEP_BY_RETRY;
    for (uint32_t i = 0; i < row->ways.n; i++) {
        struct dep_way *other = &row->ways.at[i];
        if (other->label != way->label)
            continue;
        bool better = way->fails != other->fails ? way->fails : way->lasting;
        if (better)
            *other = *way;
        return;
    }
    vec_push(&row->ways, *way);
}

/* Failures that its caller answers alike are alike to all above it: where those absorb one that
 * passes, the search does not try each of them for good, and what it has tried counts for the
 * others. */
static void add_alike(const struct names *names, struct dep *row)
{
    for (uint32_t i = 0; i < row->ways.n; i++) {
        struct dep_way *way = &row->ways.at[i];
        bool above = way->by == DEP_BY_RETRY && way->at != uid_parent(names, row->call);
        for (uint32_t k = 0; k < row->ways.n && above && !way->lasting; k++) {
            const struct dep_way *other = &row->ways.at[k];
            label own = way->label;
            if (!other->lasting || other->above != way->above)
                continue;
            *way = *other;
            way->label = own;
        }
    }
}

/* That a failure which passes is absorbed says little where one that lasts was tried. */
static void set_kind(struct dep *row)
{
    uint32_t hard = 0, soft = 0, lasting = 0;
    for (uint32_t i = 0; i < row->ways.n; i++)
        lasting += row->ways.at[i].lasting;
    for (uint32_t i = 0; i < row->ways.n; i++) {
        const struct dep_way *way = &row->ways.at[i];
        hard += way->fails;
        if (way->fails || way->by == DEP_BY_NOTHING || (lasting && !way->lasting))
            continue;
        if (soft++ == 0) {
            row->by = way->by;
            row->instead = way->instead;
            row->at = way->at;
        }
    }
    row->kind = row->after_fault || (hard && soft) ? DEP_CONDITIONAL
                : hard                             ? DEP_HARD
                : soft                             ? DEP_SOFT
                                                   : DEP_UNKNOWN;
}

static void add_row(const struct judge *j, struct dep row, struct deps *out)
{
    const struct dep_memory *m = j->deps;
    for (uint32_t i = 0; i < m->facts.n; i++)
        if (m->facts.at[i].call == row.call)
            add_way(&row, &m->facts.at[i].way);
    if (row.ways.n)
        qsort(row.ways.at, row.ways.n, sizeof *row.ways.at, compare_ways);
    add_alike(j->opt.names, &row);
    set_kind(&row);
    vec_push(&out->rows, row);
}

/* ---- all of them ---- */

/* Single points of failure first; what is only called after a fault behind what is always called.
 */
static int place_of(const struct dep *row)
{
    static const int places[DEP_KINDS] = {
        [DEP_HARD] = 0, [DEP_CONDITIONAL] = 1, [DEP_SOFT] = 2, [DEP_UNKNOWN] = 4};
    return row->after_fault ? 3 : places[row->kind];
}

/* Whatever leads to it, the request fails then. */
static bool too_late(const struct dep_extra *x)
{
    bool fails = x->fails;
    for (uint32_t i = 0; i < x->causes.n; i++)
        fails &= x->causes.at[i].fails;
    return fails;
}

static void add_rows(const struct judge *j, struct deps *out)
{
    const struct dep_memory *m = j->deps;
    struct deps all = {0};
    for (uint32_t i = 0; i < m->usual.n; i++)
        if (!m->usual.at[i].exempt)
            add_row(j, (struct dep){.call = m->usual.at[i].call}, &all);
    for (uint32_t i = 0; i < m->extra.n; i++)
        if (!map_get(&m->usual_at, m->extra.at[i].call))
            add_row(j,
                    (struct dep){.call = m->extra.at[i].call,
                                 .after_fault = true,
                                 .too_late = too_late(&m->extra.at[i]),
                                 .after = m->extra.at[i].after,
                                 .causes = m->extra.at[i].causes},
                    &all);
    for (int place = 0; place < 5; place++)
        for (uint32_t i = 0; i < all.rows.n; i++)
            if (place_of(&all.rows.at[i]) == place)
                vec_push(&out->rows, all.rows.at[i]);
    vec_deinit(&all.rows); /* the ways have moved */
}

/* Those that are soft, and what is called when one of them fails. */
static void add_pairs(const struct dep_memory *m, struct deps *out)
{
    struct map soft = {0};
    for (uint32_t i = 0; i < out->rows.n; i++)
        if (out->rows.at[i].kind == DEP_SOFT || out->rows.at[i].after_fault)
            map_set(&soft, out->rows.at[i].call, 1);
    for (uint32_t i = 0; i < m->both.n; i++)
        if (map_get(&soft, m->both.at[i].a) && map_get(&soft, m->both.at[i].b))
            vec_push(&out->pairs, m->both.at[i]);
    map_deinit(&soft);
}

static int compare_label_items(const void *a, const void *b)
{
    return compare_labels(*(const label *)a, *(const label *)b);
}

static void add_labels(const struct dep_memory *m, struct deps *out)
{
    for (uint32_t i = 0; i < m->facts.n; i++) {
        uint32_t k = 0;
        while (k < out->labels.n && out->labels.at[k] != m->facts.at[i].way.label)
            k++;
        if (k == out->labels.n && m->facts.at[i].way.injected)
            vec_push(&out->labels, m->facts.at[i].way.label);
    }
    if (out->labels.n)
        qsort(out->labels.at, out->labels.n, sizeof *out->labels.at, compare_label_items);
}

/* ---- redundant calls ---- */

/* What a test asks for twice is its own affair: calls are compared below each of its requests. */
static uint64_t request_key(const struct names *names, const struct trace *t, uint32_t call)
{
    const struct element *e = uid_element(names, t->calls.at[call].uid);
    uint32_t top = call;
    while (t->calls.at[top].parent != 0)
        top = t->calls.at[top].parent;
    bool client = t->calls.at[top].flags & CALL_EXEMPT;
    return hash_mix(hash_mix(hash_mix(e->service, e->interface), t->calls.at[call].request),
                    client ? top : 0);
}

static void add_redundant(const struct judge *j, struct deps *out)
{
    const struct trace *t = &j->base.trace;
    struct map at = {0};
    VEC(uint32_t) first = {0};
    for (uint32_t i = 1; i < t->calls.n; i++) {
        const struct call *c = &t->calls.at[i];
        if (!c->request || call_failed(c) || c->flags & CALL_EXEMPT)
            continue;
        uint64_t key = request_key(j->opt.names, t, i);
        const uint32_t *seen = map_get(&at, key);
        if (!seen) {
            map_set(&at, key, out->redundant.n);
            vec_push(&out->redundant, (struct dep_twice){j->paths.at[c->uid], 1, true});
            vec_push(&first, i);
            continue;
        }
        assert(*seen < first.n); /* grows with out->redundant */
        out->redundant.at[*seen].times++;
        out->redundant.at[*seen].one_handler &= t->calls.at[first.at[*seen]].parent == c->parent;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->redundant.n; i++)
        if (out->redundant.at[i].times > 1)
            out->redundant.at[n++] = out->redundant.at[i];
    out->redundant.n = n;
    vec_deinit(&first);
    map_deinit(&at);
}

void deps_build(const struct judge *j, struct deps *out)
{
    *out = (struct deps){0};
    if (!j->base.known)
        return;
    add_rows(j, out);
    add_labels(j->deps, out);
    add_pairs(j->deps, out);
    add_redundant(j, out);
}
