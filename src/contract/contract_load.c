/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a contract to rules. Every key is a row of a table with the function that reads it;
 * what is wrong is said with line and column, and with the nearest name where one is near. */
#include "base/hash.h"
#include "contract/contract_int.h"
#include "core/outcome.h"
#include "data/pointer.h"

enum { KEYS_MOST = 8, EFFECT_COUNT_MAX = 1000000, HASHED_MAX = 8 << 20 };

/* Sets the error at the place of a node; -1. */
#define fail_at(at, e, ...) err_set(e, (at)->line, (at)->col, __VA_ARGS__)

static bool is_scalar(const struct node *n)
{
    return n->type == NODE_STR || n->type == NODE_NUM || n->type == NODE_BOOL;
}

/* ---- maps by tables ---- */

struct reading {
    struct contract *c;
    struct err *e;
    struct contract_rule *rule;
    struct contract_then *then;
    bool usual; /* without faults */
};

struct key_row {
    const char *name;
    int (*read)(struct reading *r, const struct node *value);
};

static int unknown_key(const struct node_pair *pair, const struct key_row *rows, size_t n,
                       const char *where, struct err *e)
{
    const char *names[KEYS_MOST];
    for (size_t i = 0; i < n; i++)
        names[i] = rows[i].name;
    return err_set(e, pair->line, pair->col, "unknown key \"%.*s\" in %s%s", SHORT(pair->key),
                   where, err_hint(pair->key, names, n).text);
}

static int read_map(struct reading *r, const struct node *map, const struct key_row *rows, size_t n,
                    const char *where)
{
    for (uint32_t i = 0; i < map->n; i++) {
        const struct node_pair *pair = &map->map[i];
        size_t k = 0;
        while (k < n && !slice_is(pair->key, rows[k].name))
            k++;
        if (k == n)
            return unknown_key(pair, rows, n, where, r->e);
        if (rows[k].read(r, pair->value))
            return -1;
    }
    return 0;
}

/* ---- calls ---- */

/* A pattern; *into is the caller's to free, also after an error. */
static int read_pattern(struct reading *r, const struct node *value, struct pattern *into)
{
    struct err inner = {0};
    if (!is_scalar(value))
        return fail_at(value, r->e, "a call is text such as \"payment POST /charge\", not %s",
                       node_type_name(value->type));
    if (pattern_parse(into, r->c->opt.words, PATTERN_CALLS, value->text, &inner))
        return fail_at(value, r->e, "%s", inner.text);
    return 0;
}

static int add_call(struct reading *r, const struct node *value)
{
    struct contract_entry entry = {.text = slice_copy(&r->c->arena, value->text)};
    int failed = read_pattern(r, value, &entry.pattern);
    if (!failed)
        entry_rank(r->c->opt.names, &entry);
    vec_push(&r->rule->fails, entry);
    for (uint32_t i = 0; i + 1 < r->rule->fails.n && !failed; i++)
        if (slice_eq(r->rule->fails.at[i].text, entry.text))
            failed = err_set(r->e, value->line, value->col, "\"%.*s\" is in this list twice",
                             SHORT(entry.text));
    return failed;
}

static int read_fails(struct reading *r, const struct node *value)
{
    if (value->type != NODE_LIST)
        return add_call(r, value);
    if (value->n == 0 || value->n > ENTRIES_MAX)
        return err_set(r->e, value->line, value->col, "\"fails\" names 1 to %d calls", ENTRIES_MAX);
    for (uint32_t i = 0; i < value->n; i++)
        if (add_call(r, value->list[i]))
            return -1;
    return 0;
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

static int add_status(struct reading *r, const struct node *value)
{
    struct contract_status s;
    outcome o;
    if (!is_scalar(value))
        return fail_at(value, r->e, "a status is a number such as 503, not %s",
                       node_type_name(value->type));
    if (!read_class(value->text, &s) && !read_exit(value->text, &s)) {
        bool known = outcome_read(value->text, &o) && outcome_kind(o) != OUT_NONE &&
                     outcome_kind(o) != OUT_EXIT;
        uint32_t code = known ? outcome_code(o) : 0;
        if (known && outcome_kind(o) == OUT_STATUS)
            known = code >= 100 && code <= 599;
        if (!known)
            return err_set(r->e, value->line, value->col,
                           "\"%.*s\" is no status: write 503, 5xx, grpc:14, exit 1 or timeout",
                           SHORT(value->text));
        s = (struct contract_status){outcome_kind(o), code, code};
    }
    vec_push(&r->then->status, s);
    return 0;
}

static int read_status(struct reading *r, const struct node *value)
{
    if (value->type != NODE_LIST)
        return add_status(r, value);
    if (value->n == 0)
        return fail_at(value, r->e, "\"status\" names at least one status");
    for (uint32_t i = 0; i < value->n; i++)
        if (add_status(r, value->list[i]))
            return -1;
    return 0;
}

static int read_json(struct reading *r, const struct node *value)
{
    if (value->type != NODE_MAP || value->n == 0)
        return fail_at(value, r->e, "\"json\" is a map of JSON pointers, such as { /total: 0 }");
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node_pair *pair = &value->map[i];
        if (!pointer_valid(pair->key))
            return err_set(
                r->e, pair->line, pair->col,
                "\"%.*s\" is no JSON pointer: it starts with a slash, and ~ is written ~0",
                SHORT(pair->key));
        vec_push(&r->then->json, (struct contract_value){slice_copy(&r->c->arena, pair->key),
                                                         node_copy(&r->c->arena, pair->value)});
    }
    return 0;
}

static int read_body(struct reading *r, const struct node *value)
{
    if (!is_scalar(value))
        return fail_at(value, r->e, "\"body\" is text, not %s; \"json\" compares values",
                       node_type_name(value->type));
    r->then->body = node_copy(&r->c->arena, value);
    return 0;
}

static int add_count(struct reading *r, const struct node_pair *pair)
{
    struct err inner = {0};
    uint64_t n = 0;
    struct contract_count count = {.text = slice_copy(&r->c->arena, pair->key)};
    int failed = pattern_parse(&count.calls, r->c->opt.words, PATTERN_CALLS, pair->key, &inner);
    if (failed)
        err_set(r->e, pair->line, pair->col, "%s", inner.text);
    else if (count.calls.steps.n != 2 || count.calls.mode != MODE_NONE)
        failed = err_set(r->e, pair->line, pair->col,
                         "effects are counted by service and interface: \"%.*s\" names more",
                         SHORT(pair->key));
    else if (!is_scalar(pair->value) || !slice_to_u64(pair->value->text, EFFECT_COUNT_MAX, &n))
        failed = err_set(r->e, pair->value->line, pair->value->col,
                         "how often \"%.*s\" has its effect is a whole number", SHORT(pair->key));
    count.n = (uint32_t)n;
    vec_push(&r->then->counts, count);
    return failed;
}

static int read_then_effects(struct reading *r, const struct node *value)
{
    if (r->usual)
        return fail_at(value, r->e,
                       "effects without faults are what the others are compared with: write rules "
                       "about them under the key \"effects\" of the file");
    if (value->type == NODE_MAP && value->n) {
        r->then->effects = EFFECTS_COUNTS;
        for (uint32_t i = 0; i < value->n; i++)
            if (add_count(r, &value->map[i]))
                return -1;
        return 0;
    }
    bool none = value->type == NODE_STR && slice_is(value->text, "none");
    if (!none && !(value->type == NODE_STR && slice_is(value->text, "same")))
        return fail_at(value, r->e, "\"effects\" is none, same, or a map of calls and numbers");
    r->then->effects = none ? EFFECTS_NONE : EFFECTS_SAME;
    return 0;
}

static int read_propagates(struct reading *r, const struct node *value)
{
    if (r->usual || value->type != NODE_BOOL || !value->boolean)
        return fail_at(value, r->e, "\"propagates\" is true, or left out%s",
                       r->usual ? "; without faults there is nothing to propagate" : "");
    r->then->propagates = true;
    return 0;
}

static const struct key_row then_keys[] = {
    {"status", read_status},
    {"json", read_json},
    {"body", read_body},
    {"effects", read_then_effects},
    {"propagates", read_propagates},
};

int then_load(struct contract *c, const struct node *value, bool usual, struct contract_then *out,
              struct err *e)
{
    struct reading r = {.c = c, .e = e, .then = out, .usual = usual};
    struct buf text = BUF_INIT(THEN_TEXT_MAX);
    out->line = value->line;
    out->col = value->col;
    if (!usual && value->type == NODE_STR && slice_is(value->text, "unaffected"))
        out->unaffected = true;
    else if (value->type != NODE_MAP || value->n == 0)
        return fail_at(value, e, "%s, not %s",
                       usual ? "\"without-faults\" is a map such as { status: 200 }"
                             : "\"then\" is unaffected, or a map such as { status: 503 }",
                       is_scalar(value) ? value->text.p : node_type_name(value->type));
    else if (read_map(&r, value, then_keys, sizeof then_keys / sizeof *then_keys,
                      usual ? "without-faults" : "then"))
        return -1;
    if (out->propagates && out->status.n)
        return fail_at(value, e, "\"propagates\" says which status: leave \"status\" out");
    then_print(c, out, &text);
    out->text = intern_put(&c->pool, buf_slice(&text));
    bool full = text.full || out->text == INTERN_NONE;
    buf_deinit(&text);
    return full ? fail_at(value, e, "this is too large: name fewer values") : 0;
}

/* ---- rules ---- */

static int read_then(struct reading *r, const struct node *value)
{
    return then_load(r->c, value, false, &r->rule->then, r->e);
}

static const struct key_row rule_keys[] = {{"fails", read_fails}, {"then", read_then}};

int rule_load(struct contract *c, const struct node *item, struct contract_rule *out, struct err *e)
{
    struct reading r = {.c = c, .e = e, .rule = out};
    out->line = item->line;
    out->col = item->col;
    if (item->type != NODE_MAP)
        return fail_at(item, e, "a rule is a map with \"fails\" and \"then\", not %s",
                       node_type_name(item->type));
    if (read_map(&r, item, rule_keys, 2, "a rule"))
        return -1;
    if (!out->fails.n || !out->then.line)
        return fail_at(item, e, "this rule has no \"%s\"", out->fails.n ? "then" : "fails");
    if (out->then.propagates)
        for (uint32_t i = 0; i < out->fails.n; i++)
            if (out->fails.at[i].pattern.mode != MODE_NONE &&
                !mode_outcome(out->fails.at[i].pattern.mode))
                return fail_at(item, e, "this mode has no status that could propagate");
    return 0;
}

static int read_when(struct reading *r, const struct node *value)
{
    struct contract *c = r->c;
    if (value->type == NODE_NULL) {
        c->has_when = true;
        return 0;
    }
    if (value->type != NODE_LIST)
        return fail_at(value, r->e, "\"when\" is a list of rules, not %s",
                       node_type_name(value->type));
    if (value->n > RULES_MAX)
        return err_set(r->e, value->line, value->col, "\"when\" has more than %d rules", RULES_MAX);
    c->has_when = true;
    for (uint32_t i = 0; i < value->n; i++) {
        vec_push(&c->rules, (struct contract_rule){0});
        if (rule_load(c, value->list[i], &vec_last(&c->rules), r->e))
            return -1;
        for (uint32_t k = 0; k < i; k++)
            if (rule_same_calls(&c->rules.at[k], &c->rules.at[i]))
                return err_set(r->e, value->list[i]->line, value->list[i]->col,
                               "this rule names the same calls as the one in line %u: keep one",
                               (unsigned)c->rules.at[k].line);
    }
    c->when_at = value->line;
    c->when_col = value->col;
    return 0;
}

/* ---- the file ---- */

static int read_scenario(struct reading *r, const struct node *value)
{
    r->c->has_scenario = true;
    if (is_scalar(value) && slice_is(value->text, r->c->opt.scenario))
        return 0;
    return fail_at(value, r->e, "this file is the contract of the scenario \"%s\": name that one",
                   r->c->opt.scenario);
}

static int read_without(struct reading *r, const struct node *value)
{
    return then_load(r->c, value, true, &r->c->without, r->e);
}

static int read_reads(struct reading *r, const struct node *value)
{
    if (value->type != NODE_LIST)
        return fail_at(value, r->e, "\"reads\" is a list of calls, not %s",
                       node_type_name(value->type));
    for (uint32_t i = 0; i < value->n; i++) {
        vec_push(&r->c->reads, (struct pattern){0});
        if (read_pattern(r, value->list[i], &vec_last(&r->c->reads)))
            return -1;
        if (vec_last(&r->c->reads).mode != MODE_NONE)
            return fail_at(value->list[i], r->e, "a call that reads is named without a mode");
    }
    return 0;
}

static int read_effects(struct reading *r, const struct node *value)
{
    if (value->type != NODE_LIST)
        return fail_at(value, r->e, "\"effects\" is a list of calls, not %s",
                       node_type_name(value->type));
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node *item = value->list[i];
        struct effect_rule rule = {0};
        if (effect_rule_load(item, r->c->opt.words, &rule, r->e))
            return -1;
        vec_push(&r->c->effects, rule);
    }
    return 0;
}

static const struct key_row file_keys[] = {
    {"scenario", read_scenario}, {"without-faults", read_without}, {"when", read_when},
    {"reads", read_reads},       {"effects", read_effects},
};

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
    struct reading r = {.c = c, .e = e};
    c->opt = *options;
    c->empty = !root || root->type == NODE_NULL;
    int failed = 0;
    if (!c->empty && root->type != NODE_MAP)
        failed = fail_at(root, e, "a contract is a map with the key \"when\", not %s",
                         node_type_name(root->type));
    if (!c->empty && !failed) {
        failed = read_map(&r, root, file_keys, sizeof file_keys / sizeof *file_keys, "a contract");
        c->hash = hash_of(root);
    }
    if (failed) {
        contract_free(c);
        return -1;
    }
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
