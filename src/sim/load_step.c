/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of a handler, from YAML. Each kind of step is a table of keys, of which the first says that
 * it is this step. */
#include "sim/sim_int.h"

static int wrong_type(const struct node *node, const char *what, const char *wanted, struct err *e)
{
    return err_set(e, node->line, node->col, "\"%s\" must be %s, not %s", what, wanted,
                   node_type_name(node->type));
}

/* ---- names ---- */

/* Names that mean something in every handler. */
static const char *const taken[] = {"payload", "state", "data", "random", "time"};

uint32_t slot_of(const struct endpoint *ep, slice name)
{
    for (uint32_t i = 0; i < ep->n_slots; i++)
        if (slice_eq(ep->slot[i].name, name))
            return i;
    return SLOT_NONE;
}

int slot_add(struct sim *sim, struct endpoint *ep, slice name, bool answer, const char *what,
             uint32_t line, uint32_t col, struct err *e)
{
    struct keys_reader r = {.e = e};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (slice_is(name, taken[i]))
            return err_set(e, line, col, "\"%s\" is reserved; choose another name", taken[i]);
    if (keys_name(&r, name, line, col, what, false))
        return -1;
    if (ep->n_slots == SIM_NAMES_MAX)
        return err_set(e, line, col, "a handler can have at most %d names", SIM_NAMES_MAX);
    ep->slot = arena_grown(&sim->arena, ep->slot, ep->n_slots, sizeof *ep->slot);
    ep->slot[ep->n_slots++] = (struct slot_name){name, answer};
    return 0;
}

static int add_name(struct sim *sim, struct endpoint *ep, slice name, bool answer,
                    const struct node *where, struct err *e)
{
    uint32_t slot = slot_of(ep, name);
    if (slot == SLOT_NONE)
        return slot_add(sim, ep, name, answer, "a name", where->line, where->col, e);
    if (ep->slot[slot].answer == answer)
        return 0;
    return err_set(e, where->line, where->col,
                   "\"%.*s\" names an answer in one place and a value in another", SLICE_ARG(name));
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

/* ---- outcomes ---- */

int outcome_parse(slice text, outcome *out, struct err *e)
{
    uint64_t code;
    if (slice_starts(text, SLICE("grpc:")) && slice_to_u64(slice_from(text, 5), 16, &code)) {
        *out = OUTCOME(OUT_GRPC, code);
        return 0;
    }
    if (slice_to_u64(text, 599, &code) && code >= 100) {
        *out = OUTCOME(OUT_STATUS, code);
        return 0;
    }
    return err_set(e, 0, 0, "expected a status from 100 to 599 or grpc:0 to grpc:16, not \"%.*s\"",
                   SHORT(text));
}

/* A set of outcomes: "404, 5xx, conn". */
static int oset_parse(slice text, struct arena *a, struct oset *out, struct err *e)
{
    static const char *const words[] = {"ok", "failed", "error", "conn", "timeout", "any"};
    enum { WORDS = sizeof words / sizeof *words };
    size_t commas = 0;
    for (size_t i = 0; i < text.n; i++)
        commas += text.p[i] == ',';
    *out = (struct oset){.exact = arena_zero(a, (commas + 1) * sizeof *out->exact)};
    for (slice word; slice_cut(&text, ',', &word);) {
        struct err ignored = {0};
        word = slice_trim(word);
        uint32_t bit = 0;
        while (bit < WORDS && !slice_is(word, words[bit]))
            bit++;
        if (bit < WORDS)
            out->bits |= 1u << bit;
        else if (word.n == 3 && word.p[0] >= '1' && word.p[0] <= '5' && word.p[1] == 'x' &&
                 word.p[2] == 'x')
            out->classes |= 1u << (word.p[0] - '0');
        else if (outcome_parse(word, &out->exact[out->n], &ignored) == 0)
            out->n++;
        else
            return err_set(e, 0, 0,
                           "unknown outcome \"%.*s\"; outcomes are ok, failed, error, conn, "
                           "timeout, any, 404, 5xx, grpc:14%s",
                           SHORT(word), err_hint(word, words, WORDS).text);
    }
    return 0;
}

/* ---- values ---- */

int read_value(struct keys_reader *r, const struct key *key, void *into, const struct node *value)
{
    const struct loading *l = r->ctx;
    return expr_value(l->scope, value, key_field(key, into), r->e);
}

int read_condition(struct keys_reader *r, const struct key *key, void *into,
                   const struct node *value)
{
    const struct loading *l = r->ctx;
    return expr_condition(l->scope, value, key_field(key, into), r->e);
}

static int read_steps(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    const struct loading *l = r->ctx;
    return steps_load(l->scope, value, l->may_reply, key_field(key, into), r->e);
}

/* The names were checked and given slots before (steps_names). */
static int read_as(struct keys_reader *r, const struct key *key, void *into,
                   const struct node *value)
{
    const struct loading *l = r->ctx;
    struct step *step = into;
    (void)key;
    step->slot = slot_of(l->scope->endpoint, value->text);
    return 0;
}

static int read_oset(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    if (value->type != NODE_STR && value->type != NODE_NUM)
        return wrong_type(value, key->name, "outcomes such as failed or \"404, 5xx\"", r->e);
    return oset_parse(value->text, r->arena, key_field(key, into), r->e)
               ? err_place(r->e, value->line, value->col)
               : 0;
}

/* OUTCOMES: STEPS */
static int add_on(struct keys_reader *r, const struct key *key, void *into,
                  const struct node_pair *pair)
{
    const struct loading *l = r->ctx;
    struct on_rules *rules = key_field(key, into);
    rules->at = arena_grown(r->arena, rules->at, rules->n, sizeof *rules->at);
    struct on_rule *rule = &rules->at[rules->n++];
    if (oset_parse(pair->key, r->arena, &rule->when, r->e))
        return err_place(r->e, pair->line, pair->col);
    return steps_load(l->scope, pair->value, l->may_reply, &rule->steps, r->e);
}

static int read_text(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    if (value->type != NODE_STR && value->type != NODE_NUM)
        return wrong_type(value, key->name, "text", r->e);
    return read_value(r, key, into, value);
}

/* A branch: a step or a list of steps. */
static int add_branch(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    const struct loading *l = r->ctx;
    struct step *step = into;
    bool parallel = step->kind == STEP_PARALLEL;
    (void)key;
    l->scope->sim->random |= !parallel; /* choose, shuffle */
    step->branch = arena_grown(r->arena, step->branch, step->n_branches, sizeof *step->branch);
    return steps_load(l->scope, value, l->may_reply && !parallel, &step->branch[step->n_branches++],
                      r->e);
}

/* ---- calls ---- */

static int read_call(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    slice rest = value->text, word;
    if (value->type != NODE_STR || !slice_word(&rest, &word) || !slice_word(&rest, &word))
        return keys_fail(r, value,
                         "write a call as SERVICE METHOD /path, for example: "
                         "call: users GET /users/{id}");
    return read_value(r, key, into, value);
}

static const struct key retry_rows[] = {
    {"times", KEY_U32, offsetof(struct step, retry.times), .most = 1000, .needed = "times: N",
     .doc = "how often it is retried at most"},
    {"on", KEY_OTHER, offsetof(struct step, retry.on), .read = read_oset, .fallback = "failed",
     .doc = "outcomes after which it is retried"},
    {"delay", KEY_DURATION, offsetof(struct step, retry.delay_ns), .fallback = "0s",
     .doc = "the pause before each retry"},
};
static const struct keys retry_keys = {"retry", "retry", KEY_ROWS(retry_rows)};

static int check_background(struct keys_reader *r, const struct key *key, void *into,
                            const struct node *value)
{
    const struct loading *l = r->ctx;
    const struct step *step = into;
    (void)key;
    (void)value;
    if (!step->background || (!node_get(l->step, SLICE("on")) && !node_get(l->step, SLICE("as")) &&
                              !node_get(l->step, SLICE("retry"))))
        return 0;
    return keys_fail(r, node_get(l->step, SLICE("call")),
                     "a background call is not waited for; remove \"as\", \"on\" and \"retry\"");
}

static const struct key call_rows[] = {
    {"call", KEY_OTHER, offsetof(struct step, value), .read = read_call, .doc = "what is called"},
    {"as", KEY_OTHER, .read = read_as, .doc = "name of its answer"},
    {"payload", KEY_OTHER, offsetof(struct step, body), .read = read_value, .doc = "its body"},
    {"timeout", KEY_DURATION, offsetof(struct step, ns), .fallback = "none",
     .doc = "how long to wait for the answer"},
    {"background", KEY_SWITCH, offsetof(struct step, background), .read = check_background,
     .fallback = "false", .doc = "send it and go on at once"},
    {"idempotency-key", KEY_OTHER, offsetof(struct step, key), .read = read_text,
     .doc = "the key by which the service recognises a repeated request"},
    {"retry", KEY_MAP, .inner = &retry_keys, .doc = "when to call again"},
    {"on", KEY_EACH, offsetof(struct step, on), .most = UINT32_MAX, .pair = add_on,
     .doc = "what to do then, by outcome"},
};

/* ---- groups ---- */

static const char *const untils[] = {"all", "first-error", NULL};

static const struct key parallel_rows[] = {
    {"parallel", KEY_LIST, .least = 1, .most = UINT32_MAX, .read = add_branch,
     .doc = "steps to take at the same time"},
    {"until", KEY_WORD, offsetof(struct step, first_error), .words = untils, .fallback = "all",
     .doc = "when the group ends"},
    {"on", KEY_EACH, offsetof(struct step, on), .most = UINT32_MAX, .pair = add_on,
     .doc = "what to do then, by outcome"},
};
static const struct key if_rows[] = {
    {"if", KEY_OTHER, offsetof(struct step, value), .read = read_condition, .doc = "a condition"},
    {"then", KEY_OTHER, offsetof(struct step, then), .read = read_steps, .needed = "then: STEPS",
     .doc = "what to do where it holds"},
    {"else", KEY_OTHER, offsetof(struct step, other), .read = read_steps,
     .doc = "what to do where it does not"},
};
static const struct key each_rows[] = {
    {"each", KEY_OTHER, offsetof(struct step, value), .read = read_value, .doc = "a list"},
    {"as", KEY_OTHER, .read = read_as, .needed = "as: NAME", .doc = "name of its item"},
    {"do", KEY_OTHER, offsetof(struct step, then), .read = read_steps, .needed = "do: STEPS",
     .doc = "what to do with each"},
};
static const struct key choose_rows[] = {
    {"choose", KEY_LIST, .least = 1, .most = UINT32_MAX, .read = add_branch,
     .doc = "one of these, at random"},
};
static const struct key shuffle_rows[] = {
    {"shuffle", KEY_LIST, .least = 1, .most = UINT32_MAX, .read = add_branch,
     .doc = "all of these, in random order"},
};

/* ---- values, time, the end ---- */

/* NAME/field: VALUE */
static int add_assign(struct keys_reader *r, const struct key *key, void *into,
                      const struct node_pair *pair)
{
    const struct loading *l = r->ctx;
    const struct sim_service *service = &l->scope->sim->service[l->scope->service];
    struct step *step = into;
    slice name;
    size_t levels = 0;
    (void)key;
    step->assign = arena_grown(r->arena, step->assign, step->n_assigns, sizeof *step->assign);
    struct assign *assign = &step->assign[step->n_assigns++];
    for (size_t k = 0; k < pair->key.n; k++)
        levels += pair->key.p[k] == '/';
    if (levels > VALUE_DEPTH_MAX)
        return err_set(r->e, pair->line, pair->col, "a field can be at most %d levels deep",
                       VALUE_DEPTH_MAX);
    assign->path = pair->key;
    slice_cut(&assign->path, '/', &name);
    assign->state = slice_starts(name, SLICE("state."));
    assign->slot = assign->state ? state_find(service, slice_from(name, 6))
                                 : slot_of(l->scope->endpoint, name);
    if (assign->slot == SLOT_NONE)
        return err_set(
            r->e, pair->line, pair->col,
            "service \"%.*s\" has no \"%.*s\": add it with an initial value under \"state:\"",
            SLICE_ARG(service->name), SLICE_ARG(name));
    return expr_value(l->scope, pair->value, &assign->value, r->e);
}

static int read_reply(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    const struct loading *l = r->ctx;
    const struct step *step = into;
    outcome ignored;
    if (!l->may_reply)
        return keys_fail(
            r, value,
            "\"reply\" is not allowed inside \"parallel\"; use \"on\" of the group, or \"if\" after it");
    if (value->type != NODE_STR && value->type != NODE_NUM)
        return wrong_type(value, key->name, "a status", r->e);
    if (read_value(r, key, into, value))
        return -1;
    if (step->value->op == EX_CONST && outcome_parse(step->value->constant->text, &ignored, r->e))
        return err_place(r->e, value->line, value->col);
    return 0;
}

static const struct key set_rows[] = {
    {"set", KEY_EACH, .most = UINT32_MAX, .pair = add_assign, .doc = "NAME: VALUE"},
};
static const struct key add_rows[] = {
    {"add", KEY_EACH, .most = UINT32_MAX, .pair = add_assign, .doc = "NAME: what to add to it"},
};
static const struct key append_rows[] = {
    {"append", KEY_EACH, .most = UINT32_MAX, .pair = add_assign, .doc = "NAME: a further item"},
};
static const struct key sleep_rows[] = {
    {"sleep", KEY_DURATION, offsetof(struct step, ns), .doc = "how long"},
};
static const struct key reply_rows[] = {
    {"reply", KEY_OTHER, offsetof(struct step, value), .read = read_reply, .doc = "the status"},
    {"body", KEY_OTHER, offsetof(struct step, body), .read = read_value, .doc = "the body"},
};

/* ---- steps ---- */

static const struct keys kinds[STEP_KINDS] = {
    [STEP_CALL] = {"call", "call", KEY_ROWS(call_rows)},
    [STEP_PARALLEL] = {"parallel", "parallel", KEY_ROWS(parallel_rows)},
    [STEP_IF] = {"if", "if", KEY_ROWS(if_rows)},
    [STEP_EACH] = {"each", "each", KEY_ROWS(each_rows)},
    [STEP_SET] = {"set", "set", KEY_ROWS(set_rows)},
    [STEP_ADD] = {"add", "add", KEY_ROWS(add_rows)},
    [STEP_APPEND] = {"append", "append", KEY_ROWS(append_rows)},
    [STEP_SLEEP] = {"sleep", "sleep", KEY_ROWS(sleep_rows)},
    [STEP_CHOOSE] = {"choose", "choose", KEY_ROWS(choose_rows)},
    [STEP_SHUFFLE] = {"shuffle", "shuffle", KEY_ROWS(shuffle_rows)},
    [STEP_REPLY] = {"reply", "reply", KEY_ROWS(reply_rows)},
};

/* The kind whose key the map has; STEP_KINDS with *e when it has none or two. */
static enum step_kind kind_of(const struct node *map, struct err *e)
{
    enum step_kind found = STEP_KINDS;
    const char *names[STEP_KINDS];
    for (enum step_kind k = 0; k < STEP_KINDS; k++) {
        names[k] = kinds[k].name;
        if (!node_get(map, slice_of(names[k])))
            continue;
        if (found != STEP_KINDS) {
            err_set(e, map->line, map->col,
                    "a step does one thing; make two steps of \"%s\" and \"%s\"", names[found],
                    names[k]);
            return STEP_KINDS;
        }
        found = k;
    }
    slice first = map->n ? map->map[0].key : SLICE("{}");
    if (found == STEP_KINDS)
        err_set(e, map->line, map->col,
                "\"%.*s\" is not a step; steps are call, parallel, if, each, set, add, append, "
                "sleep, choose, shuffle, reply%s",
                SHORT(first), err_hint(first, names, STEP_KINDS).text);
    return found;
}

static int step_load(const struct scope *scope, const struct node *node, bool may_reply,
                     struct step *out, struct err *e)
{
    if (node->type != NODE_MAP)
        return err_set(e, node->line, node->col, "expected a step such as \"reply: 200\", not %s",
                       node_type_name(node->type));
    enum step_kind kind = kind_of(node, e);
    if (kind == STEP_KINDS)
        return -1;
    *out = (struct step){.kind = kind,
                         .line = node->line,
                         .col = node->col,
                         .slot = SLOT_NONE,
                         .retry.on.bits = OSET_FAILED};
    struct loading l = {scope, may_reply, node};
    struct keys_reader r = {e, &scope->sim->arena, &l};
    return keys_read(&r, &kinds[kind], out, node);
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
