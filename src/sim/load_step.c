/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of a handler, from YAML. A step is a map with exactly one key of the table below; the other
 * keys that it may have stand in the same row. */
#include "sim/sim_int.h"

/* What is needed to load one step. */
struct loading {
    const struct scope *scope;
    const struct node *node; /* the step's map */
    bool may_reply;
    struct step *out;
    struct err *err;
};

static int load_call(struct loading *l, const struct node *value);
static int load_parallel(struct loading *l, const struct node *value);
static int load_if(struct loading *l, const struct node *value);
static int load_each(struct loading *l, const struct node *value);
static int load_assign(struct loading *l, const struct node *value);
static int load_sleep(struct loading *l, const struct node *value);
static int load_choose(struct loading *l, const struct node *value);
static int load_shuffle(struct loading *l, const struct node *value);
static int load_reply(struct loading *l, const struct node *value);

static const struct step_row {
    const char *key;
    int (*load)(struct loading *l, const struct node *value);
    const char *also[7]; /* other keys of the same map */
} rows[STEP_KINDS] = {
    [STEP_CALL] = {"call",
                   load_call,
                   {"as", "payload", "timeout", "retry", "on", "background", "idempotency-key"}},
    [STEP_PARALLEL] = {"parallel", load_parallel, {"until", "on"}},
    [STEP_IF] = {"if", load_if, {"then", "else"}},
    [STEP_EACH] = {"each", load_each, {"as", "do"}},
    [STEP_SET] = {"set", load_assign, {NULL}},
    [STEP_ADD] = {"add", load_assign, {NULL}},
    [STEP_APPEND] = {"append", load_assign, {NULL}},
    [STEP_SLEEP] = {"sleep", load_sleep, {NULL}},
    [STEP_CHOOSE] = {"choose", load_choose, {NULL}},
    [STEP_SHUFFLE] = {"shuffle", load_shuffle, {NULL}},
    [STEP_REPLY] = {"reply", load_reply, {"body"}},
};

static const struct node *get(const struct loading *l, const char *key)
{
    return node_get(l->node, slice_of(key));
}

static int wrong_type(const struct node *node, const char *what, const char *wanted, struct err *e)
{
    return err_set(e, node->line, node->col, "\"%s\" must be %s, not %s", what, wanted,
                   node_type_name(node->type));
}

/* Errors of parsers that know no position get that of the node. */
static int at_node(int status, const struct node *node, struct err *e)
{
    if (status && !e->line) {
        e->line = node->line;
        e->col = node->col;
    }
    return status;
}

static uint32_t slot_of(const struct endpoint *ep, slice name)
{
    for (uint32_t i = 0; i < ep->n_slots; i++)
        if (slice_eq(ep->slot[i].name, name))
            return i;
    return SLOT_NONE;
}

static int load_oset(const struct node *node, const char *what, struct arena *a, struct oset *out,
                     struct err *e)
{
    if (node->type != NODE_STR && node->type != NODE_NUM)
        return wrong_type(node, what, "outcomes such as failed or \"404, 5xx\"", e);
    return at_node(oset_parse(node->text, a, out, e), node, e);
}

static int load_on(struct loading *l)
{
    const struct node *on = get(l, "on");
    if (!on)
        return 0;
    if (on->type != NODE_MAP)
        return wrong_type(on, "on", "a map from outcomes to steps", l->err);
    struct arena *a = &l->scope->sim->arena;
    struct on_rules *rules = &l->out->on;
    rules->n = on->n;
    rules->at = arena_zero(a, on->n * sizeof *rules->at);
    for (uint32_t i = 0; i < on->n; i++) {
        struct err inner = {0};
        if (oset_parse(on->map[i].key, a, &rules->at[i].when, &inner))
            return err_set(l->err, on->map[i].line, on->map[i].col, "%s", inner.text);
        if (steps_load(l->scope, on->map[i].value, l->may_reply, &rules->at[i].steps, l->err))
            return -1;
    }
    return 0;
}

static int load_retry(struct loading *l)
{
    static const char *const allowed[] = {"times", "on", "delay"};
    const struct node *retry = get(l, "retry");
    if (!retry)
        return 0;
    if (retry->type != NODE_MAP)
        return wrong_type(retry, "retry", "a map such as { times: 2, on: failed }", l->err);
    if (keys_check(retry, allowed, 3, "retry", l->err))
        return -1;
    const struct node *times = node_get(retry, SLICE("times"));
    const struct node *on = node_get(retry, SLICE("on"));
    const struct node *delay = node_get(retry, SLICE("delay"));
    uint64_t n;
    if (!times || times->type != NODE_NUM || !slice_to_u64(times->text, 1000, &n))
        return err_set(l->err, retry->line, retry->col,
                       "\"retry\" needs \"times\": a number from 0 to 1000");
    l->out->retry.times = (uint32_t)n;
    l->out->retry.on.bits = OSET_FAILED;
    if (on && load_oset(on, "on", &l->scope->sim->arena, &l->out->retry.on, l->err))
        return -1;
    return delay ? duration_load(delay, "delay", &l->out->retry.delay_ns, l->err) : 0;
}

static int load_bool(const struct loading *l, const char *key, bool *out)
{
    const struct node *node = get(l, key);
    if (!node)
        return 0;
    if (node->type != NODE_BOOL)
        return wrong_type(node, key, "true or false", l->err);
    *out = node->boolean;
    return 0;
}

static int load_key(struct loading *l)
{
    const struct node *key = get(l, "idempotency-key");
    if (!key)
        return 0;
    if (key->type != NODE_STR && key->type != NODE_NUM)
        return wrong_type(key, "idempotency-key", "a text", l->err);
    return expr_value(l->scope, key, &l->out->key, l->err);
}

static int load_call(struct loading *l, const struct node *value)
{
    const struct node *as = get(l, "as"), *payload = get(l, "payload"),
                      *timeout = get(l, "timeout");
    slice rest = value->text, word;
    if (value->type != NODE_STR || !slice_word(&rest, &word) || !slice_word(&rest, &word))
        return err_set(l->err, value->line, value->col,
                       "a call is written SERVICE METHOD /path, for example: "
                       "call: users GET /users/{id}");
    if (as)
        l->out->slot = slot_of(l->scope->endpoint, as->text);
    if (expr_value(l->scope, value, &l->out->value, l->err) ||
        (payload && expr_value(l->scope, payload, &l->out->body, l->err)) ||
        (timeout && duration_load(timeout, "timeout", &l->out->ns, l->err)) ||
        load_bool(l, "background", &l->out->background) || load_key(l) || load_retry(l))
        return -1;
    if (l->out->background && (get(l, "on") || get(l, "retry") || as))
        return err_set(
            l->err, value->line, value->col,
            "nobody waits for a background call: \"as\", \"on\" and \"retry\" mean nothing there");
    return load_on(l);
}

/* A list of branches, each a step or a list of steps. */
static int load_branches(struct loading *l, const struct node *value, bool may_reply)
{
    if (value->type != NODE_LIST || value->n == 0)
        return wrong_type(value, rows[l->out->kind].key, "a list with at least one item", l->err);
    l->out->n_branches = value->n;
    l->out->branch = arena_zero(&l->scope->sim->arena, value->n * sizeof *l->out->branch);
    for (uint32_t i = 0; i < value->n; i++)
        if (steps_load(l->scope, value->list[i], may_reply, &l->out->branch[i], l->err))
            return -1;
    return 0;
}

static int load_parallel(struct loading *l, const struct node *value)
{
    const struct node *until = get(l, "until");
    if (until) {
        l->out->first_error = slice_is(until->text, "first-error");
        if (!l->out->first_error && !slice_is(until->text, "all"))
            return err_set(l->err, until->line, until->col, "\"until\" is all or first-error");
    }
    return load_branches(l, value, false) || load_on(l) ? -1 : 0;
}

static int load_if(struct loading *l, const struct node *value)
{
    const struct node *then = get(l, "then"), *other = get(l, "else");
    if (!then)
        return err_set(l->err, value->line, value->col, "\"if\" needs \"then\"");
    if (expr_condition(l->scope, value, &l->out->value, l->err) ||
        steps_load(l->scope, then, l->may_reply, &l->out->then, l->err))
        return -1;
    return other ? steps_load(l->scope, other, l->may_reply, &l->out->other, l->err) : 0;
}

static int load_each(struct loading *l, const struct node *value)
{
    const struct node *as = get(l, "as"), *body = get(l, "do");
    if (!as || !body)
        return err_set(l->err, value->line, value->col, "\"each\" needs \"as\" and \"do\"");
    l->out->slot = slot_of(l->scope->endpoint, as->text);
    return expr_value(l->scope, value, &l->out->value, l->err) ||
                   steps_load(l->scope, body, l->may_reply, &l->out->then, l->err)
               ? -1
               : 0;
}

static int load_assign(struct loading *l, const struct node *value)
{
    if (value->type != NODE_MAP)
        return wrong_type(value, rows[l->out->kind].key, "a map from names to values", l->err);
    l->out->n_assigns = value->n;
    l->out->assign = arena_zero(&l->scope->sim->arena, value->n * sizeof *l->out->assign);
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node_pair *pair = &value->map[i];
        struct assign *assign = &l->out->assign[i];
        slice name;
        size_t levels = 0;
        for (size_t k = 0; k < pair->key.n; k++)
            levels += pair->key.p[k] == '/';
        if (levels > VALUE_DEPTH_MAX)
            return err_set(l->err, pair->line, pair->col, "a field is at most %d levels down",
                           VALUE_DEPTH_MAX);
        assign->path = pair->key;
        slice_cut(&assign->path, '/', &name);
        assign->state = slice_starts(name, SLICE("state."));
        const struct service *service = &l->scope->sim->service[l->scope->service];
        assign->slot = assign->state ? state_find(service, slice_from(name, 6))
                                     : slot_of(l->scope->endpoint, name);
        if (assign->slot == SLOT_NONE)
            return err_set(
                l->err, pair->line, pair->col,
                "service \"%.*s\" has no \"%.*s\": add it with an initial value under \"state:\"",
                SLICE_ARG(service->name), SLICE_ARG(name));
        if (expr_value(l->scope, pair->value, &assign->value, l->err))
            return -1;
    }
    return 0;
}

static int load_sleep(struct loading *l, const struct node *value)
{
    return duration_load(value, "sleep", &l->out->ns, l->err);
}

static int load_choose(struct loading *l, const struct node *value)
{
    l->scope->sim->random = true;
    return load_branches(l, value, l->may_reply);
}

static int load_shuffle(struct loading *l, const struct node *value)
{
    l->scope->sim->random = true;
    return load_branches(l, value, l->may_reply);
}

static int load_reply(struct loading *l, const struct node *value)
{
    const struct node *body = get(l, "body");
    if (!l->may_reply)
        return err_set(
            l->err, value->line, value->col,
            "no \"reply\" inside of \"parallel\": use \"on\" of the group, or \"if\" after it");
    if (value->type != NODE_STR && value->type != NODE_NUM)
        return wrong_type(value, "reply", "a status", l->err);
    if (expr_value(l->scope, value, &l->out->value, l->err))
        return -1;
    outcome ignored;
    if (l->out->value->op == EX_CONST &&
        at_node(outcome_parse(l->out->value->constant->text, &ignored, l->err), value, l->err))
        return -1;
    return body ? expr_value(l->scope, body, &l->out->body, l->err) : 0;
}

/* The row whose key the map has; NULL with *e when none or two. */
static const struct step_row *find_row(const struct node *map, struct err *e)
{
    const struct step_row *found = NULL;
    for (size_t k = 0; k < STEP_KINDS; k++) {
        if (!node_get(map, slice_of(rows[k].key)))
            continue;
        if (found) {
            err_set(e, map->line, map->col, "a step does one thing: \"%s\" and \"%s\" are two",
                    found->key, rows[k].key);
            return NULL;
        }
        found = &rows[k];
    }
    if (found)
        return found;
    const char *keys[STEP_KINDS];
    for (size_t k = 0; k < STEP_KINDS; k++)
        keys[k] = rows[k].key;
    slice first = map->n ? map->map[0].key : SLICE("{}");
    err_set(e, map->line, map->col,
            "\"%.*s\" is not a step; steps are call, parallel, if, each, set, add, append, "
            "sleep, choose, shuffle, reply%s",
            SHORT(first), err_hint(first, keys, STEP_KINDS).text);
    return NULL;
}

static int step_load(const struct scope *scope, const struct node *node, bool may_reply,
                     struct step *out, struct err *e)
{
    if (node->type != NODE_MAP)
        return err_set(e, node->line, node->col,
                       "a step such as \"reply: 200\" was expected, not %s",
                       node_type_name(node->type));
    const struct step_row *row = find_row(node, e);
    if (!row)
        return -1;
    const char *allowed[8] = {row->key};
    size_t n = 1;
    while (n < 8 && row->also[n - 1]) {
        allowed[n] = row->also[n - 1];
        n++;
    }
    if (keys_check(node, allowed, n, row->key, e))
        return -1;
    *out = (struct step){.kind = (enum step_kind)(row - rows),
                         .line = node->line,
                         .col = node->col,
                         .slot = SLOT_NONE};
    struct loading l = {scope, node, may_reply, out, e};
    return row->load(&l, node_get(node, slice_of(row->key)));
}

int steps_load(const struct scope *scope, const struct node *node, bool may_reply,
               struct steps *out, struct err *e)
{
    *out = (struct steps){0};
    if (node->type == NODE_NULL)
        return 0;
    bool list = node->type == NODE_LIST;
    out->n = list ? node->n : 1;
    out->at = arena_zero(&scope->sim->arena, out->n * sizeof *out->at);
    for (uint32_t i = 0; i < out->n; i++)
        if (step_load(scope, list ? node->list[i] : node, may_reply, &out->at[i], e))
            return -1;
    return 0;
}

/* ---- names ---- */

static int add_name(struct sim *sim, struct endpoint *ep, slice name, bool answer,
                    const struct node *where, struct err *e)
{
    uint32_t slot = slot_of(ep, name);
    if (slot != SLOT_NONE && ep->slot[slot].answer == answer)
        return 0;
    if (slot != SLOT_NONE)
        return err_set(e, where->line, where->col,
                       "\"%.*s\" names an answer in one place and a value in another",
                       SLICE_ARG(name));
    if (variable_check(name, where->line, where->col, "a name", e))
        return -1;
    if (ep->n_slots == SIM_NAMES_MAX)
        return err_set(e, where->line, where->col, "a handler has at most %d names", SIM_NAMES_MAX);
    struct slot_name *more = arena_zero(&sim->arena, (ep->n_slots + 1) * sizeof *more);
    if (ep->n_slots)
        memcpy(more, ep->slot, ep->n_slots * sizeof *more);
    more[ep->n_slots++] = (struct slot_name){name, answer};
    ep->slot = more;
    return 0;
}

static int names_of_step(const struct node *step, struct sim *sim, struct endpoint *ep,
                         struct err *e)
{
    const struct node *as = node_get(step, SLICE("as"));
    if (as && as->type != NODE_STR)
        return wrong_type(as, "as", "a name", e);
    if (as && add_name(sim, ep, as->text, !node_get(step, SLICE("each")), as, e))
        return -1;
    static const char *const assigns[] = {"set", "add", "append"};
    for (size_t k = 0; k < sizeof assigns / sizeof *assigns; k++) {
        const struct node *map = node_get(step, slice_of(assigns[k]));
        for (uint32_t i = 0; map && map->type == NODE_MAP && i < map->n; i++) {
            slice rest = map->map[i].key, name;
            slice_cut(&rest, '/', &name);
            if (!slice_starts(name, SLICE("state.")) && add_name(sim, ep, name, false, map, e))
                return -1;
        }
    }
    return 0;
}

int steps_names(const struct node *node, struct sim *sim, struct endpoint *ep, struct err *e)
{
    static const char *const values[] = {"payload", "body", "set", "add", "append", "retry"};
    if (node->type == NODE_MAP && names_of_step(node, sim, ep, e))
        return -1;
    for (uint32_t i = 0; node->type == NODE_LIST && i < node->n; i++)
        if (steps_names(node->list[i], sim, ep, e))
            return -1;
    for (uint32_t i = 0; node->type == NODE_MAP && i < node->n; i++) {
        bool is_value = false;
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            is_value |= slice_is(node->map[i].key, values[k]);
        if (!is_value && steps_names(node->map[i].value, sim, ep, e))
            return -1;
    }
    return 0;
}
