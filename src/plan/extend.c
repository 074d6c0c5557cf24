/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan that extends another one: one file says what a system is and what its clients do, and each
 * of many others what happens to it.
 *
 * 1. Keys of the file replace those of the base. Of maps of named things (nodes, doors, clients,
 *    roles, env) only those with the same name are replaced.
 * 2. What comes from the base has the place of `extends`: the base is right by itself, so what is
 *    wrong is what this file makes of it. */
#include "plan/plan_int.h"

static const char *const merged[] = {"nodes", "doors", "clients", "roles", "env"};
static const char *const own[] = {"plan", "about", "extends"};

static bool is_one(const char *const *names, size_t n, slice name)
{
    for (size_t i = 0; i < n; i++)
        if (slice_is(name, names[i]))
            return true;
    return false;
}

#define IS_ONE(names, name) is_one(names, sizeof(names) / sizeof *(names), name)

static const struct node *placed(struct arena *a, const struct node *node, const struct node *place)
{
    struct node *copy = arena_alloc(a, sizeof *copy);
    *copy = *node;
    copy->line = place->line;
    copy->col = place->col;
    if (node->type == NODE_LIST) {
        copy->list = arena_alloc(a, node->n * sizeof *copy->list);
        for (uint32_t i = 0; i < node->n; i++)
            copy->list[i] = placed(a, node->list[i], place);
    } else if (node->type == NODE_MAP) {
        copy->map = arena_alloc(a, node->n * sizeof *copy->map);
        for (uint32_t i = 0; i < node->n; i++)
            copy->map[i] = (struct node_pair){node->map[i].key, place->line, place->col,
                                              placed(a, node->map[i].value, place)};
    }
    return copy;
}

/* The pairs of the base, in their order and with the values of `over` where it has them; then the
 * others of `over`. */
static struct node *over_base(struct arena *a, const struct node *base, const struct node *over)
{
    struct node *out = arena_alloc(a, sizeof *out);
    *out = *over;
    out->n = 0;
    out->map = arena_alloc(a, (size_t)(base->n + over->n) * sizeof *out->map);
    for (uint32_t i = 0; i < base->n; i++)
        if (!node_get(over, base->map[i].key))
            out->map[out->n++] = base->map[i];
        else
            for (uint32_t k = 0; k < over->n; k++)
                if (slice_eq(over->map[k].key, base->map[i].key))
                    out->map[out->n++] = over->map[k];
    for (uint32_t i = 0; i < over->n; i++)
        if (!node_get(base, over->map[i].key))
            out->map[out->n++] = over->map[i];
    return out;
}

/* What of the base is taken over. */
static const struct node *heritage(struct arena *a, const struct node *base,
                                   const struct node *place)
{
    struct node *out = arena_alloc(a, sizeof *out);
    *out = *placed(a, base, place);
    uint32_t n = out->n;
    out->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!IS_ONE(own, out->map[i].key))
            out->map[out->n++] = out->map[i];
    return out;
}

const struct node *plan_extend(struct arena *a, const struct node *base, const struct node *file)
{
    const struct node *from = heritage(a, base, node_get(file, SLICE("extends")));
    struct node *out = over_base(a, from, file);
    for (uint32_t i = 0; i < out->n; i++) {
        struct node_pair *pair = &out->map[i];
        const struct node *old = node_get(from, pair->key);
        if (IS_ONE(merged, pair->key) && old && old != pair->value &&
            pair->value->type == NODE_MAP && old->type == NODE_MAP)
            pair->value = over_base(a, old, pair->value);
    }
    return out;
}
