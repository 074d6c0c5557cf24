/* SPDX-License-Identifier: Apache-2.0
 *
 * set, add, append: values of handlers and services change by being replaced; nodes themselves
 * never do. */
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
    struct node *map = node_map(&env->sim->run_arena, at < n ? n : n + 1);
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
    struct node *longer = node_list(&env->sim->run_arena, n + 1);
    if (n)
        memcpy(longer->list, list->list, n * sizeof *longer->list);
    longer->list[n] = item;
    return value_bounded(longer, env);
}

void assign_run(struct env *env, uint32_t service, const struct step *step)
{
    struct sim *sim = env->sim;
    for (uint32_t i = 0; i < step->n_assigns; i++) {
        const struct assign *assign = &step->assign[i];
        const struct node **place =
            assign->state ? &sim->state[service][assign->slot] : &env->slot[assign->slot].value;
        const struct node *value = expr_eval(assign->value, env);
        const struct node *old = node_at(*place, assign->path);
        if (step->kind == STEP_APPEND)
            value = with_item(env, old, value);
        if (step->kind == STEP_ADD) {
            value = node_num(&sim->run_arena, (old->type == NODE_NUM ? old->num : 0) +
                                                  (value->type == NODE_NUM ? value->num : 0));
        }
        *place = with_field(env, *place, assign->path, value);
    }
}
