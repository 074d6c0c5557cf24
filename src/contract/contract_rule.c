/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules: read from a file by tables of keys, and which of them speaks about the faults of a run.
 *
 * A rule covers a set of faults when each of them is meant by one of its calls, and each of its
 * calls means one of them. Of several the most precise one wins: the one that names more calls,
 * then by what it says of each call (entry_rank). Where none covers all faults, the rules about
 * each failing call alone are put together: those that leave the scenario unaffected are left out,
 * and what is left must agree, or be covered by a rule of its own.
 *
 * 1. A call and its further tries (#0, #1 ...) are one failing call, and so are the calls below
 *    them.
 * 2. Nothing here depends on the order of the faults, or of the rules but for which of two equal
 *    ones is named. */
#include <assert.h>

#include "base/hash.h"
#include "contract/contract_int.h"
#include "data/keys.h"
#include "data/node.h"

/* ---- precision ---- */

enum { PART_ANY, PART_BEGINNING, PART_EXACT };

/* By how precise service and interface are: both exact 8, an interface of any service 5, some
 * interfaces of a service 4, a service 3, some interfaces of any service 1. */
static const uint8_t service_worth[] = {0, 1, 3}, interface_worth[] = {0, 1, 5};

static uint32_t part_rank(slice text, uint32_t *length)
{
    bool star = slice_find(text, '*') < text.n;
    if (star && text.n == 1)
        return PART_ANY;
    if (!star)
        return PART_EXACT;
    *length += (uint32_t)(text.n < 1000 ? text.n : 1000);
    return PART_BEGINNING;
}

/* Service and interface, payload, number, mode: what stands further to the left counts more. Of two
 * that are equal in that, the longer path is more precise. */
static void entry_rank(const struct names *names, struct contract_entry *entry)
{
    const struct pattern *p = &entry->pattern;
    uint32_t steps = 0, length = 0;
    assert(p->steps.n > 0); /* it was parsed */
    const struct element *e = &p->steps.at[p->steps.n - 1].element;
    for (uint32_t i = 0; i < p->steps.n; i++)
        steps += !p->steps.at[i].any_path;
    uint32_t interface = part_rank(names_text(names, e->interface), &length);
    uint32_t service = part_rank(names_text(names, e->service), &length);
    uint32_t payload = (e->payload != 0) + (e->before != 0);
    uint32_t worth = (uint32_t)service_worth[service] + interface_worth[interface];
    entry->rank = worth << 12 | payload << 8 | (uint32_t)(e->n != N_ANY) << 4 |
                  (uint32_t)(p->mode != MODE_NONE);
    entry->length = steps << 16 | (length < 0xffff ? length : 0xffff);
}

static int entry_cmp(const struct contract_entry *a, const struct contract_entry *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->length == b->length ? 0 : a->length < b->length ? -1 : 1;
}

static bool entry_means(const struct contract *c, const struct contract_entry *entry,
                        struct fault f)
{
    return (entry->pattern.mode == MODE_NONE || entry->pattern.mode == f.mode) &&
           pattern_matches(&entry->pattern, c->opt.names, f.point);
}

/* The most precise call of the rule that means this fault; NULL: none does. */
static const struct contract_entry *rule_entry(const struct contract *c,
                                               const struct contract_rule *r, struct fault f)
{
    const struct contract_entry *best = NULL;
    for (uint32_t i = 0; i < r->fails.n; i++)
        if (entry_means(c, &r->fails.at[i], f) && (!best || entry_cmp(best, &r->fails.at[i]) < 0))
            best = &r->fails.at[i];
    return best;
}

/* Which of the faults (those of `among`, as bits) does the rule mean? 0 when one of its calls means
 * none of them. */
static uint64_t rule_covers(const struct contract *c, const struct contract_rule *r,
                            const struct fault *faults, uint32_t n, uint64_t among)
{
    uint64_t covered = 0;
    if (r->fails.n > n)
        return 0;
    for (uint32_t i = 0; i < r->fails.n; i++) {
        uint64_t means = 0;
        for (uint32_t k = 0; k < n; k++)
            if ((among >> k & 1) && entry_means(c, &r->fails.at[i], faults[k]))
                means |= 1ull << k;
        if (!means)
            return 0;
        covered |= means;
    }
    return covered;
}

/* Both cover these faults: which is more precise? 0: neither. */
static int rule_cmp(const struct contract *c, const struct contract_rule *a,
                    const struct contract_rule *b, const struct fault *faults, uint32_t n,
                    uint64_t covered)
{
    bool more = false, less = false;
    if (a->fails.n != b->fails.n)
        return a->fails.n < b->fails.n ? -1 : 1;
    for (uint32_t k = 0; k < n; k++) {
        if (!(covered >> k & 1))
            continue;
        int cmp = entry_cmp(rule_entry(c, a, faults[k]), rule_entry(c, b, faults[k]));
        more |= cmp > 0;
        less |= cmp < 0;
    }
    return more == less ? 0 : more ? 1 : -1;
}

/* ---- choosing ---- */

struct choice {
    struct contract_rule *rule, *other; /* other: as precise, and says something else */
    uint64_t covered;
};

/* Which faults a choice is about. */
struct question {
    const struct fault *faults;
    uint32_t n;
    uint64_t least, most; /* all of these must be covered, and only these */
    uint32_t calls;       /* the rule has at least so many */
};

/* 0: the rule is none of those that are asked for. */
static uint64_t answers(const struct contract *c, const struct question *q,
                        const struct contract_rule *r)
{
    uint64_t covered = r->fails.n < q->calls ? 0 : rule_covers(c, r, q->faults, q->n, q->most);
    return (covered & q->least) == q->least ? covered : 0;
}

/* Is the rule to be chosen rather than the best one? 0: neither. */
static int choice_cmp(const struct contract *c, const struct question *q,
                      const struct contract_rule *r, uint64_t covered, const struct choice *best)
{
    if (!best->rule)
        return 1;
    int more = __builtin_popcountll(covered) - __builtin_popcountll(best->covered);
    if (more)
        return more < 0 ? -1 : 1;
    return covered == best->covered ? rule_cmp(c, r, best->rule, q->faults, q->n, covered) : 0;
}

/* The rule that covers as many as possible, then as precisely as possible. What is as precise as
 * the best one is only known when that is: precision is no total order. */
static struct choice choose(const struct contract *c, const struct question *q)
{
    struct choice best = {0};
    bool doubt = false;
    for (uint32_t i = 0; i < c->rules.n; i++) {
        struct contract_rule *r = &c->rules.at[i];
        uint64_t covered = answers(c, q, r);
        int cmp = covered ? choice_cmp(c, q, r, covered, &best) : -1;
        if (cmp > 0)
            best = (struct choice){r, NULL, covered};
        doubt |= cmp == 0;
    }
    for (uint32_t i = 0; i < c->rules.n && doubt && !best.other; i++) {
        struct contract_rule *r = &c->rules.at[i];
        uint64_t covered = r->then.text == best.rule->then.text ? 0 : answers(c, q, r);
        if (covered && choice_cmp(c, q, r, covered, &best) == 0)
            best.other = r;
    }
    return best;
}

uint64_t group_of(const struct contract *c, const struct fault *faults, uint32_t n, uint32_t at)
{
    uint64_t group = 0;
    for (uint32_t k = 0; k < n; k++)
        if (uid_alike(c->opt.names, faults[k].point, faults[at].point))
            group |= 1ull << k;
    return group;
}

uint64_t group_key(const struct fault *faults, uint32_t n, uint64_t group)
{
    uint64_t key = 0;
    for (uint32_t k = 0; k < n; k++)
        if (group >> k & 1)
            key += fault_key(faults[k]);
    return key;
}

/* What the failing calls lead to, each alone. */
struct parts {
    uint64_t left;             /* faults of calls that do not leave the scenario unaffected */
    uint64_t undeclared;       /* those of the first call that has no rule */
    struct contract_rule *one; /* a rule of those that are left, or of any if none is */
    bool agree;                /* what is left has one outcome */
};

/* False: two rules are equally precise about one of them: *found. */
static bool look_at_parts(const struct contract *c, const struct fault *faults, uint32_t n,
                          bool use, struct parts *out, struct choice *found)
{
    uint64_t done = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (done >> k & 1)
            continue;
        uint64_t group = group_of(c, faults, n, k);
        done |= group;
        struct choice own = choose(c, &(struct question){faults, n, group, group, 1});
        if (own.other) {
            out->left = group;
            *found = own;
            return false;
        }
        if (!own.rule) { /* one that is only called after another failed has none, mostly */
            out->undeclared = out->undeclared ? out->undeclared : group;
            out->left |= group;
            continue;
        }
        own.rule->used += use;
        bool first = !out->one || out->one->then.unaffected;
        if (own.rule->then.unaffected) {
            out->one = out->one ? out->one : own.rule;
            continue;
        }
        out->agree &= first || own.rule->then.text == out->one->then.text;
        out->left |= group;
        out->one = first ? own.rule : out->one;
    }
    return true;
}

/* Where no rule speaks of all the faults: what follows from those about fewer. */
void contract_resolve(struct contract *c, const struct fault *faults, uint32_t n, bool use,
                      struct resolution *out)
{
    uint64_t all = n == 64 ? UINT64_MAX : (1ull << n) - 1, left = all;
    *out = (struct resolution){0};
    bool alone = group_of(c, faults, n, 0) == all;
    /* a rule about one call does not speak of several: others may be more precise about each */
    struct choice found = choose(c, &(struct question){faults, n, all, all, alone ? 1 : 2});
    struct parts parts = {.agree = true};
    if (!found.rule && !alone) {
        out->composed = true;
        bool clear = look_at_parts(c, faults, n, use, &parts, &found);
        left = parts.left;
        if (clear) {
            found = choose(c, &(struct question){faults, n, parts.left, all, 2});
            if (!found.rule && !parts.undeclared && parts.agree)
                found.rule = parts.one;
            else if (!found.rule || found.other)
                found = (struct choice){0};
            left = !found.rule && parts.undeclared ? parts.undeclared : left;
        }
    }
    out->rule = found.rule;
    out->other = found.other;
    if (found.rule)
        found.rule->used += use;
    for (uint32_t k = 0; k < n; k++)
        if (left >> k & 1)
            out->left[out->n_left++] = faults[k];
}

/* ---- equality ---- */

static bool pattern_same(const struct pattern *a, const struct pattern *b)
{
    if (a->steps.n != b->steps.n || a->mode != b->mode)
        return false;
    for (uint32_t i = 0; i < a->steps.n; i++) {
        const struct pattern_step *x = &a->steps.at[i], *y = &b->steps.at[i];
        const struct element *p = &x->element, *q = &y->element;
        if (x->any_path != y->any_path)
            return false;
        if (!x->any_path && (p->service != q->service || p->interface != q->interface ||
                             p->payload != q->payload || p->before != q->before || p->n != q->n))
            return false;
    }
    return true;
}

static bool calls_within(const struct contract_rule *a, const struct contract_rule *b)
{
    for (uint32_t i = 0; i < a->fails.n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < b->fails.n && !found; k++)
            found = pattern_same(&a->fails.at[i].pattern, &b->fails.at[k].pattern);
        if (!found)
            return false;
    }
    return true;
}

bool rule_same_calls(const struct contract_rule *a, const struct contract_rule *b)
{
    return a->fails.n == b->fails.n && calls_within(a, b) && calls_within(b, a);
}

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

/* ---- reading: calls ---- */

/* A pattern; *into is the caller's to free, also after an error. */
static int read_pattern(struct keys_reader *r, const struct node *value, struct pattern *into)
{
    if (!is_scalar(value))
        return keys_fail(r, value, "a call must be text such as \"payment POST /charge\", not %s",
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

/* ---- reading: then ---- */

static int add_status(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct contract_then *then = into;
    struct contract_status s;
    outcome o;
    (void)key;
    if (!is_scalar(value))
        return keys_fail(r, value, "a status must be a number such as 503, not %s",
                         node_type_name(value->type));
    slice text = value->text;
    uint64_t code = 0;
    if (text.n == 3 && text.p[0] >= '1' && text.p[0] <= '5' && text.p[1] == 'x' &&
        text.p[2] == 'x') {
        uint32_t first = (uint32_t)(text.p[0] - '0') * 100;
        s = (struct contract_status){OUT_STATUS, first, first + 99};
    } else if (slice_starts(text, SLICE("exit ")) &&
               slice_to_u64(slice_from(text, 5), 255, &code)) {
        s = (struct contract_status){OUT_EXIT, (uint32_t)code, (uint32_t)code};
    } else if (outcome_read(text, &o) && outcome_kind(o) != OUT_NONE &&
               outcome_kind(o) != OUT_EXIT &&
               (outcome_kind(o) != OUT_STATUS ||
                (outcome_code(o) >= 100 && outcome_code(o) <= 599))) {
        s = (struct contract_status){outcome_kind(o), outcome_code(o), outcome_code(o)};
    } else {
        return keys_fail(r, value,
                         "\"%.*s\" is not a status: use 503, 5xx, grpc:14, exit 1 or timeout",
                         SHORT(text));
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
                       "\"%.*s\" is not a JSON pointer: start it with a slash, and write ~ as ~0",
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
        return keys_fail(r, value, "\"%s\" must be text, not %s; use \"json\" to compare values",
                         key->name, node_type_name(value->type));
    then->body = node_copy(r->arena, value);
    return 0;
}

static int read_then_effects(struct keys_reader *r, const struct key *key, void *into,
                             const struct node *value)
{
    const struct reading *reading = r->ctx;
    struct contract_then *then = into;
    if (reading->usual)
        return keys_fail(r, value,
                         "effects without faults are what the others are compared with: put "
                         "rules about them under the key \"effects\" of the file");
    if (value->type == NODE_MAP && value->n) {
        then->effects = EFFECTS_COUNTS;
        for (uint32_t i = 0; i < value->n; i++) {
            const struct node_pair *pair = &value->map[i];
            uint64_t n = 0;
            vec_push(&then->counts,
                     (struct contract_count){.text = slice_copy(r->arena, pair->key)});
            struct contract_count *count = &vec_last(&then->counts);
            if (pattern_parse(&count->calls, contract_of(r)->opt.words, PATTERN_CALLS, pair->key,
                              r->e))
                return err_place(r->e, pair->line, pair->col);
            if (count->calls.steps.n != 2 || count->calls.mode != MODE_NONE)
                return err_set(r->e, pair->line, pair->col,
                               "effects are counted by service and interface; \"%.*s\" names more "
                               "than that",
                               SHORT(pair->key));
            if (!is_scalar(pair->value) || !slice_to_u64(pair->value->text, EFFECT_COUNT_MAX, &n))
                return keys_fail(r, pair->value,
                                 "how often \"%.*s\" has its effect must be a whole number",
                                 SHORT(pair->key));
            count->n = (uint32_t)n;
        }
        return 0;
    }
    bool none = value->type == NODE_STR && slice_is(value->text, "none");
    if (!none && !(value->type == NODE_STR && slice_is(value->text, "same")))
        return keys_fail(r, value, "\"%s\" must be none, same, or a map of calls and numbers",
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
        return keys_fail(r, value, "\"%s\" must be true, or left out%s", key->name,
                         reading->usual ? "; without faults there is nothing to propagate" : "");
    then->propagates = true;
    return 0;
}

static const struct key then_rows[] = {
    {"status", KEY_LIST, .least = 1, .alone = true, .read = add_status,
     .doc = "what the client sees"},
    {"json", KEY_EACH, .least = 1, .pair = add_json, .doc = "values, each under its JSON pointer"},
    {"body", KEY_OTHER, .read = read_body, .doc = "the whole body"},
    {"effects", KEY_OTHER, .read = read_then_effects,
     .doc = "none, same, or how often each happens"},
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
                         usual ? "\"without-faults\" must be a map such as { status: 200 }"
                               : "\"then\" must be unaffected, or a map such as { status: 503 }",
                         is_scalar(value) ? value->text.p : node_type_name(value->type));
    else if (keys_read(&r, usual ? &usual_keys : &then_keys, out, value))
        return -1;
    if (out->propagates && out->status.n)
        return keys_fail(&r, value, "\"propagates\" sets the status: remove \"status\"");
    then_print(out, &text);
    out->text = intern_put(&c->pool, buf_slice(&text));
    bool full = text.full || out->text == INTERN_NONE;
    buf_deinit(&text);
    return full ? keys_fail(&r, value, "this is too long: name fewer values") : 0;
}

/* ---- reading: rules ---- */

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
            return keys_fail(&r, item, "this mode has no status to propagate");
    return 0;
}

/* ---- reading: the file ---- */

static int read_scenario(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct contract *c = into;
    (void)key;
    c->has_scenario = true;
    if (is_scalar(value) && slice_is(value->text, c->opt.scenario))
        return 0;
    return keys_fail(r, value, "this file is the contract of scenario \"%s\": use that name",
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
        return keys_fail(r, value, "a call that reads takes no mode: remove it");
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
    for (uint32_t i = 0; i < value->n; i++) {
        vec_push(&c->rules, (struct contract_rule){0});
        if (rule_load(c, value->list[i], &c->rules.at[i], r->e))
            return -1;
        for (uint32_t k = 0; k < i; k++)
            if (rule_same_calls(&c->rules.at[k], &c->rules.at[i]))
                return keys_fail(r, value->list[i],
                                 "this rule names the same calls as the one on line %u: keep one",
                                 (unsigned)c->rules.at[k].line);
    }
    c->when_at = value->line;
    c->when_col = value->col;
    return 0;
}

static const struct key file_rows[] = {
    {"scenario", KEY_OTHER, .read = read_scenario, .doc = "the scenario it is about"},
    {"without-faults", KEY_OTHER, .read = read_without, .doc = "what holds without faults"},
    {"when", KEY_OTHER, .read = read_when, .doc = "the rules"},
    {"reads", KEY_LIST, .most = UINT32_MAX, .read = add_read, .doc = "calls without side effects"},
    {"effects", KEY_LIST, .most = UINT32_MAX, .read = add_effect,
     .doc = "calls with side effects, and how often"},
};
static const struct keys file_keys = {"a contract", "contract", KEY_ROWS(file_rows)};

int contract_load(const struct contract_options *options, const struct node *root,
                  struct contract **out, struct err *e)
{
    struct contract *c = mem_zero(sizeof *c);
    struct keys_reader r = {e, &c->arena, &(struct reading){.c = c}};
    c->opt = *options;
    c->unread = BUF_INIT(200);
    c->empty = !root || root->type == NODE_NULL;
    if (!c->empty && keys_read(&r, &file_keys, c, root)) {
        contract_free(c);
        return -1;
    }
    struct buf text = BUF_INIT(HASHED_MAX); /* comments, blanks and order of keys do not count */
    if (!c->empty) {
        node_print(root, &text);
        c->hash = hash_slice(buf_slice(&text));
    }
    buf_deinit(&text);
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
    buf_deinit(&c->unread);
    intern_deinit(&c->pool);
    arena_deinit(&c->arena);
    mem_free(c);
}
