/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and conditions: evaluated here, compiled in expr_parse.c. Evaluation never fails: what is
 * not there is null, and null compares as different from everything but null. */
#include <math.h>

#include "sim/handler.h"
#include "sim/sim_int.h"

slice node_as_text(const struct node *node, struct arena *a)
{
    if (node->type == NODE_STR)
        return node->text;
    struct buf text = BUF_INIT(1 << 16);
    node_print(node, &text);
    return buf_keep(&text, a);
}

static const struct node *of_bool(bool b)
{
    return b ? &node_true : &node_false;
}

static const struct node *status_node(outcome o, struct env *env)
{
    bool has_status = outcome_kind(o) == OUT_STATUS || outcome_kind(o) == OUT_GRPC;
    return node_num(env->arena, has_status ? outcome_code(o) : 0);
}

static const struct node *eval_answer(const struct slot *slot, enum answer_field field,
                                      struct env *env)
{
    switch (field) {
    case ANS_STATUS: return status_node(slot->seen, env);
    case ANS_BODY: return slot->value ? slot->value : &node_null;
    case ANS_OK: return of_bool(slot->called && outcome_ok(slot->seen));
    case ANS_FAILED: return of_bool(slot->called && !outcome_ok(slot->seen));
    case ANS_ERROR: return of_bool(outcome_error(slot->seen));
    case ANS_CONN: return of_bool(outcome_is_conn(slot->seen));
    case ANS_TIMEOUT: return of_bool(outcome_kind(slot->seen) == OUT_TIMEOUT);
    case ANS_JSON:
        return of_bool(slot->value && slot->value->type != NODE_STR &&
                       slot->value->type != NODE_NULL);
    case ANS_CALLED:
    case ANS_FIELDS: break;
    }
    return of_bool(slot->called);
}

static uint32_t count_faults(const struct trace *trace, const struct sim *sim, uint32_t service)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        n += c->mode != MODE_NONE &&
             (service == UINT32_MAX ||
              uid_element(sim->names, c->uid)->service == sim->service[service].sym);
    }
    return n;
}

/* A value of a service's state. */
static const struct node *state_read(struct env *env, uint32_t service, uint32_t slot)
{
    if (env->state)
        return env->state[service][slot];
    const struct node **state = env->world->state_begin(env->world_ctx, service);
    const struct node *value = node_copy(env->arena, state[slot]);
    env->world->state_end(env->world_ctx, service, UINT32_MAX);
    return value;
}

static const struct node *eval_ref(const struct ref *ref, struct env *env)
{
    struct arena *a = env->arena;
    const struct node *v = &node_null;
    switch (ref->kind) {
    case REF_VALUE: v = env->slot[ref->slot].value; break;
    case REF_ANSWER: v = eval_answer(&env->slot[ref->slot], ref->field, env); break;
    case REF_PAYLOAD: v = env->payload; break;
    case REF_STATE: v = state_read(env, ref->service, ref->slot); break;
    case REF_RANDOM:
        v = node_str(a, slice_of(arena_printf(a, "r%012llx",
                                              (unsigned long long)(rng_next(env->rng) >> 16))));
        break;
    case REF_TIME: v = node_num(a, (double)(rng_next(env->rng) >> 20) + (double)env->now_ns); break;
    case REF_STATUS: v = status_node(env->status, env); break;
    case REF_BODY: v = env->body; break;
    case REF_FAULTS: v = node_num(a, count_faults(env->trace, env->sim, ref->service)); break;
    }
    return node_at(v, ref->path);
}

const struct node *value_bounded(struct node *value, struct env *env)
{
    node_seal(value);
    if (value->depth <= VALUE_DEPTH_MAX && value->weight <= VALUE_NODES_MAX)
        return value;
    env->overflow = true;
    return &node_null;
}

/* -1, 0, 1; or 2 where the two cannot be ordered. */
static int compare(const struct node *a, const struct node *b)
{
    if (a->type == NODE_NUM && b->type == NODE_NUM)
        return (a->num > b->num) - (a->num < b->num);
    if (a->type == NODE_STR && b->type == NODE_STR) {
        int c = slice_cmp(a->text, b->text);
        return (c > 0) - (c < 0);
    }
    return 2;
}

static bool eval_compare(const struct expr *ex, struct env *env)
{
    const struct node *a = expr_eval(ex->part[0], env), *b = expr_eval(ex->part[1], env);
    int c = compare(a, b);
    switch (ex->op) {
    case EX_EQ: return node_eq(a, b);
    case EX_NE: return !node_eq(a, b);
    case EX_LT: return c == -1;
    case EX_LE: return c == -1 || c == 0;
    case EX_GT: return c == 1;
    case EX_GE: return c == 1 || c == 0;
    default: break;
    }
    for (uint32_t i = 0; b->type == NODE_LIST && i < b->n; i++) /* EX_IN */
        if (node_eq(a, b->list[i]))
            return true;
    return false;
}

bool expr_true(const struct expr *ex, struct env *env)
{
    switch (ex->op) {
    case EX_NOT: return !expr_true(ex->part[0], env);
    case EX_AND: return expr_true(ex->part[0], env) && expr_true(ex->part[1], env);
    case EX_OR: return expr_true(ex->part[0], env) || expr_true(ex->part[1], env);
    default: break;
    }
    if (ex->op >= EX_EQ)
        return eval_compare(ex, env);
    const struct node *v = expr_eval(ex, env);
    return v->type == NODE_BOOL  ? v->boolean
           : v->type == NODE_NUM ? fpclassify(v->num) != FP_ZERO
                                 : v->type != NODE_NULL;
}

const struct node *expr_eval(const struct expr *ex, struct env *env)
{
    struct arena *a = env->arena;
    struct node *value;
    switch (ex->op) {
    case EX_CONST: return ex->constant;
    case EX_REF: return eval_ref(&ex->ref, env);
    case EX_TEXT: {
        struct buf text = BUF_INIT(1 << 16);
        for (uint32_t i = 0; i < ex->n; i++)
            buf_add(&text, node_as_text(expr_eval(ex->part[i], env), a));
        slice copy = buf_keep(&text, a);
        return node_str(a, copy);
    }
    case EX_LIST:
        value = node_list(a, ex->n);
        for (uint32_t i = 0; i < ex->n; i++)
            value->list[i] = expr_eval(ex->part[i], env);
        return value_bounded(value, env);
    case EX_MAP:
        value = node_map(a, ex->n);
        for (uint32_t i = 0; i < ex->n; i++)
            value->map[i] = (struct node_pair){.key = ex->constant->map[i].key,
                                               .value = expr_eval(ex->part[i], env)};
        return value_bounded(value, env);
    default: return expr_true(ex, env) ? &node_true : &node_false;
    }
}
