/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a contract to rules, by tables of keys: of the file, of a rule, and of what then holds.
 */
#include "base/hash.h"
#include "contract/contract_int.h"
#include "data/keys.h"
#include "data/pointer.h"

enum { EFFECT_COUNT_MAX = 1000000, HASHED_MAX = 8 << 20 };

/* The context of the rows' functions. */
struct reading {
    struct contract *c;
    bool usual; /* without faults */
};

static struct contract *contract_of(const struct keys_reader *r)
{
    const struct reading *reading = r->ctx;
    return reading->c;
}

static bool is_scalar(const struct node *n)
{
    return n->type == NODE_STR || n->type == NODE_NUM || n->type == NODE_BOOL;
}

/* ---- calls ---- */

/* A pattern; *into is the caller's to free, also after an error. */
static int read_pattern(struct keys_reader *r, const struct node *value, struct pattern *into)
{
    if (!is_scalar(value))
        return keys_fail(r, value, "a call is text such as \"payment POST /charge\", not %s",
                         node_type_name(value->type));
    return pattern_parse(into, contract_of(r)->opt.words, PATTERN_CALLS, value->text, r->e)
               ? err_place(r->e, value->line, value->col)
               : 0;
}

static int add_call(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct contract_rule *rule = into;
    struct contract_entry entry = {.text = slice_copy(r->arena, value->text)};
    (void)key;
    int failed = read_pattern(r, value, &entry.pattern);
    if (!failed)
        entry_rank(contract_of(r)->opt.names, &entry);
    vec_push(&rule->fails, entry);
    for (uint32_t i = 0; i + 1 < rule->fails.n && !failed; i++)
        if (slice_eq(rule->fails.at[i].text, entry.text))
            failed = keys_fail(r, value, "\"%.*s\" is in this list twice", SHORT(entry.text));
    return failed;
}

/* ---- then ---- */

static bool read_class(slice text, struct contract_status *out)
{
    if (text.n != 3 || text.p[0] < '1' || text.p[0] > '5' || text.p[1] != 'x' || text.p[2] != 'x')
        return false;
    uint32_t first = (uint32_t)(text.p[0] - '0') * 100;
    *out = (struct contract_status){OUT_STATUS, first, first + 99};
    return true;
}

static bool read_exit(slice text, struct contract_status *out)
{
    uint64_t code;
    if (!slice_starts(text, SLICE("exit ")) || !slice_to_u64(slice_from(text, 5), 255, &code))
        return false;
    *out = (struct contract_status){OUT_EXIT, (uint32_t)code, (uint32_t)code};
    return true;
}

static int add_status(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct contract_then *then = into;
    struct contract_status s;
    outcome o;
    (void)key;
    if (!is_scalar(value))
        return keys_fail(r, value, "a status is a number such as 503, not %s",
                         node_type_name(value->type));
    if (!read_class(value->text, &s) && !read_exit(value->text, &s)) {
        bool known = outcome_read(value->text, &o) && outcome_kind(o) != OUT_NONE &&
                     outcome_kind(o) != OUT_EXIT;
        uint32_t code = known ? outcome_code(o) : 0;
        if (known && outcome_kind(o) == OUT_STATUS)
            known = code >= 100 && code <= 599;
        if (!known)
            return keys_fail(r, value,
                             "\"%.*s\" is no status: write 503, 5xx, grpc:14, exit 1 or timeout",
                             SHORT(value->text));
        s = (struct contract_status){outcome_kind(o), code, code};
    }
    vec_push(&then->status, s);
    return 0;
}

static int add_json(struct keys_reader *r, const struct key *key, void *into,
                    const struct node_pair *pair)
{
    struct contract_then *then = into;
    (void)key;
    if (!pointer_valid(pair->key))
        return err_set(r->e, pair->line, pair->col,
                       "\"%.*s\" is no JSON pointer: it starts with a slash, and ~ is written ~0",
                       SHORT(pair->key));
    vec_push(&then->json, (struct contract_value){slice_copy(r->arena, pair->key),
                                                  node_copy(r->arena, pair->value)});
    return 0;
}

static int read_body(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct contract_then *then = into;
    if (!is_scalar(value))
        return keys_fail(r, value, "\"%s\" is text, not %s; \"json\" compares values", key->name,
                         node_type_name(value->type));
    then->body = node_copy(r->arena, value);
    return 0;
}

static int add_count(struct keys_reader *r, struct contract_then *then,
                     const struct node_pair *pair)
{
    uint64_t n = 0;
    struct contract_count count = {.text = slice_copy(r->arena, pair->key)};
    int failed =
        pattern_parse(&count.calls, contract_of(r)->opt.words, PATTERN_CALLS, pair->key, r->e);
    if (failed)
        err_place(r->e, pair->line, pair->col);
    else if (count.calls.steps.n != 2 || count.calls.mode != MODE_NONE)
        failed = err_set(r->e, pair->line, pair->col,
                         "effects are counted by service and interface: \"%.*s\" names more",
                         SHORT(pair->key));
    else if (!is_scalar(pair->value) || !slice_to_u64(pair->value->text, EFFECT_COUNT_MAX, &n))
        failed = keys_fail(r, pair->value, "how often \"%.*s\" has its effect is a whole number",
                           SHORT(pair->key));
    count.n = (uint32_t)n;
    vec_push(&then->counts, count);
    return failed;
}

static int read_then_effects(struct keys_reader *r, const struct key *key, void *into,
                             const struct node *value)
{
    const struct reading *reading = r->ctx;
    struct contract_then *then = into;
    if (reading->usual)
        return keys_fail(r, value,
                         "effects without faults are what the others are compared with: write "
                         "rules about them under the key \"effects\" of the file");
    if (value->type == NODE_MAP && value->n) {
        then->effects = EFFECTS_COUNTS;
        for (uint32_t i = 0; i < value->n; i++)
            if (add_count(r, then, &value->map[i]))
                return -1;
        return 0;
    }
    bool none = value->type == NODE_STR && slice_is(value->text, "none");
    if (!none && !(value->type == NODE_STR && slice_is(value->text, "same")))
        return keys_fail(r, value, "\"%s\" is none, same, or a map of calls and numbers",
                         key->name);
    then->effects = none ? EFFECTS_NONE : EFFECTS_SAME;
    return 0;
}

static int read_propagates(struct keys_reader *r, const struct key *key, void *into,
                           const struct node *value)
{
    const struct reading *reading = r->ctx;
    struct contract_then *then = into;
    if (reading->usual || value->type != NODE_BOOL || !value->boolean)
        return keys_fail(r, value, "\"%s\" is true, or left out%s", key->name,
                         reading->usual ? "; without faults there is nothing to propagate" : "");
    then->propagates = true;
    return 0;
}

static const struct key then_rows[] = {
    {"status", KEY_LIST, .least = 1, .alone = true, .read = add_status,
     .doc = "what the client sees"},
    {"json", KEY_EACH, .least = 1, .pair = add_json, .doc = "values, each under its JSON pointer"},
    {"body", KEY_OTHER, .read = read_body, .doc = "the whole body"},
    {"effects", KEY_OTHER, .read = read_then_effects, .doc = "none, same, or how often each"},
    {"propagates", KEY_OTHER, .read = read_propagates, .doc = "the status of the failed call"},
};
static const struct keys then_keys = {"then", "then", KEY_ROWS(then_rows)};
static const struct keys usual_keys = {"without-faults", "without-faults", KEY_ROWS(then_rows)};

int then_load(struct contract *c, const struct node *value, bool usual, struct contract_then *out,
              struct err *e)
{
    struct keys_reader r = {e, &c->arena, &(struct reading){c, usual}};
    struct buf text = BUF_INIT(THEN_TEXT_MAX);
    out->line = value->line;
    out->col = value->col;
    if (!usual && value->type == NODE_STR && slice_is(value->text, "unaffected"))
        out->unaffected = true;
    else if (value->type != NODE_MAP || value->n == 0)
        return keys_fail(&r, value, "%s, not %s",
                         usual ? "\"without-faults\" is a map such as { status: 200 }"
                               : "\"then\" is unaffected, or a map such as { status: 503 }",
                         is_scalar(value) ? value->text.p : node_type_name(value->type));
    else if (keys_read(&r, usual ? &usual_keys : &then_keys, out, value))
        return -1;
    if (out->propagates && out->status.n)
        return keys_fail(&r, value, "\"propagates\" says which status: leave \"status\" out");
    then_print(c, out, &text);
    out->text = intern_put(&c->pool, buf_slice(&text));
    bool full = text.full || out->text == INTERN_NONE;
    buf_deinit(&text);
    return full ? keys_fail(&r, value, "this is too large: name fewer values") : 0;
}

/* ---- rules ---- */

static int read_then(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct contract_rule *rule = into;
    (void)key;
    return then_load(contract_of(r), value, false, &rule->then, r->e);
}

static const struct key rule_rows[] = {
    {"fails", KEY_LIST, .least = 1, .most = ENTRIES_MAX, .alone = true, .read = add_call,
     .needed = "fails: CALL", .doc = "which calls fail"},
    {"then", KEY_OTHER, .read = read_then, .needed = "then: unaffected", .doc = "what then holds"},
};
static const struct keys rule_keys = {"a rule", "rule", KEY_ROWS(rule_rows)};

int rule_load(struct contract *c, const struct node *item, struct contract_rule *out, struct err *e)
{
    struct keys_reader r = {e, &c->arena, &(struct reading){.c = c}};
    out->line = item->line;
    out->col = item->col;
    if (keys_read(&r, &rule_keys, out, item))
        return -1;
    for (uint32_t i = 0; out->then.propagates && i < out->fails.n; i++)
        if (out->fails.at[i].pattern.mode != MODE_NONE &&
            !mode_outcome(out->fails.at[i].pattern.mode))
            return keys_fail(&r, item, "this mode has no status that could propagate");
    return 0;
}

static int add_rule(struct keys_reader *r, struct contract *c, const struct node *value)
{
    uint32_t n = c->rules.n;
    vec_push(&c->rules, (struct contract_rule){0});
    if (rule_load(c, value, &vec_last(&c->rules), r->e))
        return -1;
    for (uint32_t k = 0; k < n; k++)
        if (rule_same_calls(&c->rules.at[k], &c->rules.at[n]))
            return keys_fail(r, value,
                             "this rule names the same calls as the one in line %u: keep one",
                             (unsigned)c->rules.at[k].line);
    return 0;
}

/* ---- the file ---- */

static int read_scenario(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct contract *c = into;
    (void)key;
    c->has_scenario = true;
    if (is_scalar(value) && slice_is(value->text, c->opt.scenario))
        return 0;
    return keys_fail(r, value, "this file is the contract of the scenario \"%s\": name that one",
                     c->opt.scenario);
}

static int read_without(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    struct contract *c = into;
    (void)key;
    return then_load(c, value, true, &c->without, r->e);
}

static int add_read(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct contract *c = into;
    (void)key;
    vec_push(&c->reads, (struct pattern){0});
    if (read_pattern(r, value, &vec_last(&c->reads)))
        return -1;
    if (vec_last(&c->reads).mode != MODE_NONE)
        return keys_fail(r, value, "a call that reads is named without a mode");
    return 0;
}

static int add_effect(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct contract *c = into;
    struct effect_rule rule = {0};
    (void)key;
    if (effect_rule_load(value, c->opt.words, &rule, r->e))
        return -1;
    vec_push(&c->effects, rule);
    return 0;
}

/* A list of rules, or nothing yet. */
static int read_when(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct contract *c = into;
    c->has_when = true;
    if (value->type == NODE_NULL)
        return 0;
    if (keys_want(r, key->name, value, NODE_LIST))
        return -1;
    if (value->n > RULES_MAX)
        return keys_fail(r, value, "\"%s\" has more than %d rules", key->name, RULES_MAX);
    for (uint32_t i = 0; i < value->n; i++)
        if (add_rule(r, c, value->list[i]))
            return -1;
    c->when_at = value->line;
    c->when_col = value->col;
    return 0;
}

static const struct key file_rows[] = {
    {"scenario", KEY_OTHER, .read = read_scenario, .doc = "whose contract it is"},
    {"without-faults", KEY_OTHER, .read = read_without, .doc = "what holds without faults"},
    {"when", KEY_OTHER, .read = read_when, .doc = "the rules"},
    {"reads", KEY_LIST, .most = UINT32_MAX, .read = add_read, .doc = "calls without side effects"},
    {"effects", KEY_LIST, .most = UINT32_MAX, .read = add_effect,
     .doc = "calls with side effects, and how often"},
};
static const struct keys file_keys = {"a contract", "contract", KEY_ROWS(file_rows)};

/* Comments, blanks and order of keys do not count. */
static uint64_t hash_of(const struct node *root)
{
    struct buf text = BUF_INIT(HASHED_MAX);
    node_print(root, &text);
    uint64_t hash = hash_slice(buf_slice(&text));
    buf_deinit(&text);
    return hash;
}

int contract_load(const struct contract_options *options, const struct node *root,
                  struct contract **out, struct err *e)
{
    struct contract *c = mem_zero(sizeof *c);
    struct keys_reader r = {e, &c->arena, &(struct reading){.c = c}};
    c->opt = *options;
    c->empty = !root || root->type == NODE_NULL;
    if (!c->empty && keys_read(&r, &file_keys, c, root)) {
        contract_free(c);
        return -1;
    }
    c->hash = c->empty ? 0 : hash_of(root);
    *out = c;
    return 0;
}

/* ---- the end ---- */

void then_deinit(struct contract_then *t)
{
    for (uint32_t i = 0; i < t->counts.n; i++)
        pattern_deinit(&t->counts.at[i].calls);
    vec_deinit(&t->counts);
    vec_deinit(&t->status);
    vec_deinit(&t->json);
}

void rule_deinit(struct contract_rule *r)
{
    for (uint32_t i = 0; i < r->fails.n; i++)
        pattern_deinit(&r->fails.at[i].pattern);
    vec_deinit(&r->fails);
    then_deinit(&r->then);
}

void contract_free(struct contract *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->rules.n; i++)
        rule_deinit(&c->rules.at[i]);
    for (uint32_t i = 0; i < c->reads.n; i++)
        pattern_deinit(&c->reads.at[i]);
    for (uint32_t i = 0; i < c->effects.n; i++)
        effect_rule_deinit(&c->effects.at[i]);
    then_deinit(&c->without);
    vec_deinit(&c->rules);
    vec_deinit(&c->reads);
    vec_deinit(&c->effects);
    vec_deinit(&c->usual.trace.calls);
    mask_deinit(&c->usual.answer);
    answers_deinit(&c->usual.asked);
    vec_deinit(&c->usual.effects);
    vec_deinit(&c->usual.calls);
    vec_deinit(&c->faults);
    vec_deinit(&c->seen);
    map_deinit(&c->broken);
    vec_deinit(&c->effect);
    vec_deinit(&c->parsed);
    intern_deinit(&c->pool);
    arena_deinit(&c->arena);
    mem_free(c);
}
