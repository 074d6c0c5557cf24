/* SPDX-License-Identifier: Apache-2.0
 *
 * set, add, append: values of handlers and services change by being replaced; nodes themselves
 * never do. */
#include "sim/handler.h"
#include "sim/sim_int.h"

/* `into` with the value at `path` replaced. */
static const struct node *with_field(struct env *env, const struct node *into, slice path,
                                     const struct node *value)
{
    slice key;
    if (!path.p || path.n == 0)
        return value;
    slice_cut(&path, '/', &key);
    uint32_t n = into->type == NODE_MAP ? into->n : 0, at = 0;
    while (at < n && !slice_eq(into->map[at].key, key))
        at++;
    struct node *map = node_map(env->arena, at < n ? n : n + 1);
    if (n)
        memcpy(map->map, into->map, n * sizeof *map->map);
    const struct node *old = at < n ? into->map[at].value : &node_null;
    map->map[at] = (struct node_pair){.key = key, .value = with_field(env, old, path, value)};
    return value_bounded(map, env);
}

/* The list with one item more; anything else counts as an empty list. */
static const struct node *with_item(struct env *env, const struct node *list,
                                    const struct node *item)
{
    uint32_t n = list->type == NODE_LIST ? list->n : 0;
    struct node *longer = node_list(env->arena, n + 1);
    if (n)
        memcpy(longer->list, list->list, n * sizeof *longer->list);
    longer->list[n] = item;
    return value_bounded(longer, env);
}

const struct node *state_read(struct env *env, uint32_t service, uint32_t slot)
{
    if (env->state)
        return env->state[service][slot];
    const struct node **state = env->world->state_begin(env->world_ctx, service);
    const struct node *value = node_copy(env->arena, state[slot]);
    env->world->state_end(env->world_ctx, service, UINT32_MAX);
    return value;
}

static void assign_one(struct env *env, const struct node **place, const struct assign *assign,
                       enum step_kind kind)
{
    const struct node *value = expr_eval(assign->value, env);
    const struct node *old = node_at(*place, assign->path);
    if (kind == STEP_APPEND)
        value = with_item(env, old, value);
    if (kind == STEP_ADD)
        value = node_num(env->arena, (old->type == NODE_NUM ? old->num : 0) +
                                         (value->type == NODE_NUM ? value->num : 0));
    *place = with_field(env, *place, assign->path, value);
}

void assign_run(struct env *env, uint32_t service, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_assigns; i++) {
        const struct assign *assign = &step->assign[i];
        bool kept = assign->state && !env->state; /* by the world: nobody else changes it now */
        const struct node **place = &env->slot[assign->slot].value;
        if (assign->state)
            place =
                (kept ? env->world->state_begin(env->world_ctx, service) : env->state[service]) +
                assign->slot;
        assign_one(env, place, assign, step->kind);
        if (kept)
            env->world->state_end(env->world_ctx, service, assign->slot);
    }
}
