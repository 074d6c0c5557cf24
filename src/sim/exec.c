/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of handlers: steps, one after the other. What a call is, how time passes and who
 * carries out concurrent branches is the world's (struct exec_ops).
 *
 * 1. Every loop and recursion is bounded by the SIM_*_MAX numbers; passing one aborts with an error.
 * 2. Values of handlers and services change by being replaced; nodes themselves never do. */
#include "sim/handler.h"
#include "sim/sim_int.h"

enum flow abort_run(struct exec *exec, const char *what, int limit)
{
    err_set(exec->err, 0, 0, "%s (the limit is %d)", what, limit);
    return FLOW_ABORT;
}

void frame_init(struct frame *f, struct exec *exec, const struct target *t, struct arena *a,
                const struct node *payload)
{
    *f = (struct frame){.exec = exec,
                        .service = t->service,
                        .reply = OUTCOME_OK,
                        .body = &node_null,
                        .n_slots = t->endpoint->n_slots};
    f->env.arena = a;
    f->env.rng = &exec->rng;
    f->env.payload = payload;
    f->env.body = &node_null;
    f->env.slot = arena_alloc(a, f->n_slots * sizeof *f->env.slot);
    for (uint32_t i = 0; i < f->n_slots; i++)
        f->env.slot[i] = (struct slot){.value = i < t->n_params ? t->param[i] : &node_null};
}

/* ---- calls ---- */

static bool oset_has(const struct oset *set, outcome o)
{
    uint32_t bits = OSET_ANY | (outcome_ok(o) ? OSET_OK : OSET_FAILED);
    bits |= outcome_error(o) ? OSET_ERROR : 0;
    bits |= outcome_is_conn(o) ? OSET_CONN : 0;
    bits |= outcome_kind(o) == OUT_TIMEOUT ? OSET_TIMEOUT : 0;
    if (set->bits & bits)
        return true;
    if (outcome_kind(o) == OUT_STATUS && set->classes >> (outcome_code(o) / 100) & 1)
        return true;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->exact[i] == o)
            return true;
    return false;
}

static enum flow run_rules(struct frame *f, const struct on_rules *rules, outcome seen)
{
    for (uint32_t i = 0; i < rules->n; i++)
        if (oset_has(&rules->at[i].when, seen))
            return run_steps(f, &rules->at[i].steps);
    return FLOW_ON;
}

static enum flow step_call(struct frame *f, const struct step *step)
{
    const struct exec_ops *ops = f->exec->ops;
    struct ask ask = {.target = node_as_text(expr_eval(step->value, &f->env), f->env.arena),
                      .payload = step->body ? expr_eval(step->body, &f->env) : &node_null};
    const struct node *key = step->key ? expr_eval(step->key, &f->env) : &node_null;
    if (key->type != NODE_NULL)
        ask.key = node_as_text(key, f->env.arena);
    int64_t sent_ns = f->env.now_ns;
    struct slot answer;
    for (uint32_t try = 0;; try++) {
        if (ops->call(f, step, &ask, &answer) == FLOW_ABORT)
            return FLOW_ABORT;
        if (try >= step->retry.times || !oset_has(&step->retry.on, answer.seen))
            break;
        ops->pause(f, step->retry.delay_ns);
    }
    if (step->background) {
        f->env.now_ns = sent_ns;
        return FLOW_ON;
    }
    f->last_seen = answer.seen;
    if (step->slot != SLOT_NONE)
        f->env.slot[step->slot] = answer;
    return run_rules(f, &step->on, answer.seen);
}

/* The branches do not see each other's names; what they leave behind is put together at the end. A
 * group that goes on at the first error knows of no other branch than the failed one. Which one
 * counts as failed first is decided by the file's order, not by time: a handler decides by outcomes
 * alone (docs/search.md, the first assumption). */
static enum flow step_parallel(struct frame *f, const struct step *step)
{
    uint32_t n = f->n_slots, failed = UINT32_MAX;
    size_t size = n * sizeof(struct slot);
    struct slot *before = arena_alloc(f->env.arena, size);
    struct slot *after = arena_alloc(f->env.arena, size * step->n_branches);
    outcome group = OUTCOME_OK;
    memcpy(before, f->env.slot, size);
    if (f->exec->ops->branches(f, step, after, &failed, &group) == FLOW_ABORT)
        return FLOW_ABORT;
    bool give_up = step->first_error && failed != UINT32_MAX;
    memcpy(f->env.slot, before, size);
    for (uint32_t i = 0; i < step->n_branches; i++)
        for (uint32_t k = 0; k < n && (!give_up || i == failed); k++) {
            const struct slot *old = &before[k], *new = &after[i * n + k];
            if (new->value != old->value || new->seen != old->seen || new->called != old->called)
                f->env.slot[k] = *new;
        }
    return run_rules(f, &step->on, group);
}

static enum flow step_each(struct frame *f, const struct step *step)
{
    const struct node *list = expr_eval(step->value, &f->env);
    for (uint32_t i = 0; list->type == NODE_LIST && i < list->n; i++) {
        f->env.slot[step->slot].value = list->list[i];
        if (++f->exec->steps > SIM_STEPS_MAX)
            return abort_run(f->exec, "too many steps in one run", SIM_STEPS_MAX);
        enum flow flow = run_steps(f, &step->then);
        if (flow != FLOW_ON)
            return flow;
    }
    return FLOW_ON;
}

static enum flow step_shuffle(struct frame *f, const struct step *step)
{
    uint32_t *order = arena_alloc(f->env.arena, step->n_branches * sizeof *order);
    for (uint32_t i = 0; i < step->n_branches; i++) {
        uint32_t j = rng_below(&f->exec->rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < step->n_branches; i++) {
        enum flow flow = run_steps(f, &step->branch[order[i]]);
        if (flow != FLOW_ON)
            return flow;
    }
    return FLOW_ON;
}

/* ---- values ---- */

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

/* set, add, append */
static void assign(struct env *env, uint32_t service, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_assigns; i++) {
        const struct assign *assign = &step->assign[i];
        bool kept = assign->state && !env->state; /* by the world: nobody else changes it now */
        const struct node **place = &env->slot[assign->slot].value;
        if (assign->state)
            place =
                (kept ? env->world->state_begin(env->world_ctx, service) : env->state[service]) +
                assign->slot;
        const struct node *value = expr_eval(assign->value, env);
        const struct node *old = node_at(*place, assign->path);
        if (step->kind == STEP_APPEND) { /* what is no list counts as an empty one */
            uint32_t n = old->type == NODE_LIST ? old->n : 0;
            struct node *longer = node_list(env->arena, n + 1);
            if (n)
                memcpy(longer->list, old->list, n * sizeof *longer->list);
            longer->list[n] = value;
            value = value_bounded(longer, env);
        } else if (step->kind == STEP_ADD) {
            value = node_num(env->arena, (old->type == NODE_NUM ? old->num : 0) +
                                             (value->type == NODE_NUM ? value->num : 0));
        }
        *place = with_field(env, *place, assign->path, value);
        if (kept)
            env->world->state_end(env->world_ctx, service, assign->slot);
    }
}

static void step_reply(struct frame *f, const struct step *step)
{
    struct err ignored = {0};
    slice text = node_as_text(expr_eval(step->value, &f->env), f->env.arena);
    if (step->value->op == EX_CONST)
        text = step->value->constant->text;
    if (outcome_parse(text, &f->reply, &ignored))
        f->reply =
            OUTCOME(OUT_STATUS, 500); /* a computed status that is none: the handler is broken */
    f->body = step->body ? expr_eval(step->body, &f->env) : &node_null;
}

static enum flow run_step(struct frame *f, const struct step *step)
{
    switch (step->kind) {
    case STEP_CALL: return step_call(f, step);
    case STEP_PARALLEL: return step_parallel(f, step);
    case STEP_IF: return run_steps(f, expr_true(step->value, &f->env) ? &step->then : &step->other);
    case STEP_EACH: return step_each(f, step);
    case STEP_SET:
    case STEP_ADD:
    case STEP_APPEND: assign(&f->env, f->service, step); return FLOW_ON;
    case STEP_SLEEP: f->exec->ops->pause(f, step->ns); return FLOW_ON;
    case STEP_CHOOSE:
        return run_steps(f, &step->branch[rng_below(&f->exec->rng, step->n_branches)]);
    case STEP_SHUFFLE: return step_shuffle(f, step);
    case STEP_REPLY: step_reply(f, step); return FLOW_REPLIED;
    case STEP_KINDS: break;
    }
    return FLOW_ON;
}

enum flow run_steps(struct frame *f, const struct steps *steps)
{
    enum flow flow = FLOW_ON;
    for (uint32_t i = 0; i < steps->n && flow == FLOW_ON; i++) {
        if (++f->exec->steps > SIM_STEPS_MAX)
            return abort_run(f->exec, "too many steps in one run", SIM_STEPS_MAX);
        if (f->env.arena->used > SIM_BYTES_MAX)
            return abort_run(f->exec, "too many bytes of values in one run", SIM_BYTES_MAX);
        flow = run_step(f, &steps->at[i]);
        if (f->env.overflow)
            return abort_run(f->exec, "a value has too many parts", VALUE_NODES_MAX);
    }
    return flow;
}
