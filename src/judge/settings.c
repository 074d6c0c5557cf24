/* SPDX-License-Identifier: Apache-2.0
 *
 * What users say about their system, for the oracles: the key `judge` of a file, and --oracle. */
#include "judge/judge.h"

#include "base/clock.h"
#include "data/node.h"

enum { LIMIT_MAX_HOURS = 24 };

void judge_settings_init(struct judge_settings *s)
{
    *s = (struct judge_settings){0};
    for (uint32_t i = 0; i < ORACLES; i++)
        s->severity[i] = oracle_rows[i].severity;
}

void judge_settings_deinit(struct judge_settings *s)
{
    for (uint32_t i = 0; i < s->reads.n; i++)
        pattern_deinit(&s->reads.at[i]);
    for (uint32_t i = 0; i < s->idempotent.n; i++)
        pattern_deinit(&s->idempotent.at[i]);
    for (uint32_t i = 0; i < s->effects.n; i++)
        effect_rule_deinit(&s->effects.at[i]);
    for (uint32_t i = 0; i < s->undo.n; i++) {
        pattern_deinit(&s->undo.at[i].effect);
        pattern_deinit(&s->undo.at[i].undo);
    }
    vec_deinit(&s->reads);
    vec_deinit(&s->idempotent);
    vec_deinit(&s->effects);
    vec_deinit(&s->undo);
    vec_deinit(&s->volatile_);
    vec_deinit(&s->stable);
    vec_deinit(&s->optional);
    arena_deinit(&s->arena);
}

/* ---- severities ---- */

static int set_severity(struct judge_settings *s, slice name, slice word, struct err *e)
{
    bool all = slice_is(name, "all");
    enum oracle o = oracle_find(name);
    uint32_t severity = 0;
    if (!all && o == ORACLES) {
        const char *words[ORACLES + 1] = {[ORACLES] = "all"};
        for (uint32_t i = 0; i < ORACLES; i++)
            words[i] = oracle_rows[i].name;
        return err_set(e, 0, 0, "unknown oracle \"%.*s\"; run `outfox oracles` for a list%s",
                       SHORT(name), err_hint(name, words, ORACLES + 1).text);
    }
    while (severity < SEVERITIES && !slice_is(word, severity_names[severity]))
        severity++;
    if (severity == SEVERITIES)
        return err_set(e, 0, 0, "unknown severity \"%.*s\"; use off, warning or finding%s",
                       SHORT(word), err_hint(word, severity_names, SEVERITIES).text);
    for (uint32_t i = 0; i < ORACLES; i++)
        if (all || i == o)
            s->severity[i] = (enum severity)severity;
    return 0;
}

int judge_settings_set(struct judge_settings *s, slice text, struct err *e)
{
    size_t at = slice_find(text, '=');
    if (at == text.n)
        return err_set(
            e, 0, 0, "invalid oracle setting \"%.*s\": use NAME=off, NAME=warning or NAME=finding",
            SHORT(text));
    return set_severity(s, slice_trim((slice){text.p, at}), slice_trim(slice_from(text, at + 1)),
                        e);
}

/* ---- the map ---- */

static int read_oracles(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *map)
{
    if (keys_want(r, key->name, map, NODE_MAP))
        return -1;
    for (int exceptions = 0; exceptions < 2; exceptions++) /* `all` first */
        for (uint32_t i = 0; i < map->n; i++) {
            const struct node_pair *pair = &map->map[i];
            bool all = slice_is(pair->key, "all"), known = all || oracle_find(pair->key) != ORACLES;
            if (all != exceptions && set_severity(into, pair->key, pair->value->text, r->e))
                return known ? err_place(r->e, pair->value->line, pair->value->col)
                             : err_place(r->e, pair->line, pair->col);
        }
    return 0;
}

/* A pattern of a file; `text` stands at line and col. *out is freed with the settings, also after an
 * error. */
static int read_pattern(struct keys_reader *r, slice text, uint32_t line, uint32_t col,
                        struct pattern *out)
{
    int status = pattern_parse(out, r->ctx, PATTERN_CALLS, text, r->e);
    if (!status && out->mode != MODE_NONE)
        status =
            err_set(r->e, 0, 0, "a call takes no mode here: remove it from \"%.*s\"", SHORT(text));
    return status ? err_place(r->e, line, col) : 0;
}

static int read_call(struct keys_reader *r, const struct key *key, const struct node *value,
                     struct pattern *out)
{
    if (value->type != NODE_STR)
        return keys_fail(r, value,
                         "\"%s\" must list calls such as \"SERVICE METHOD /path\", not %s",
                         key->name, node_type_name(value->type));
    return read_pattern(r, value->text, value->line, value->col, out);
}

static int add_call(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct patterns *out = key_field(key, into);
    vec_push(out, (struct pattern){0});
    return read_call(r, key, value, &vec_last(out));
}

static int add_effect(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct judge_settings *s = into;
    struct effect_rule rule;
    (void)key;
    if (effect_rule_load(value, r->ctx, &rule, r->e))
        return -1;
    vec_push(&s->effects, rule);
    return 0;
}

static int add_undo(struct keys_reader *r, const struct key *key, void *into,
                    const struct node_pair *pair)
{
    struct judge_settings *s = into;
    vec_push(&s->undo, (struct undo_rule){0});
    struct undo_rule *rule = &vec_last(&s->undo);
    return read_pattern(r, pair->key, pair->line, pair->col, &rule->effect) ||
                   read_call(r, key, pair->value, &rule->undo)
               ? -1
               : 0;
}

static int add_pointer(struct keys_reader *r, const struct key *key, void *into,
                       const struct node *value)
{
    struct texts *out = key_field(key, into);
    if (value->type != NODE_STR || !pointer_valid(value->text))
        return keys_fail(r, value, "\"%s\" must list JSON pointers such as /id or /items/*/id",
                         key->name);
    vec_push(out, slice_copy(r->arena, value->text));
    return 0;
}

/* clang-format off */
static const struct key rows[] = {
    {"oracles", KEY_OTHER, .read = read_oracles,
     .schema = "\"type\": \"object\", \"additionalProperties\": {\"enum\": [\"off\", \"warning\", \"finding\", false]}",
     .fallback = "as outfox oracles lists them", .doc = "severity of each oracle, by name or for all: off, warning or finding"},
    {"reads", KEY_LIST, offsetof(struct judge_settings, reads), .read = add_call, .schema = "\"type\": \"string\"",
     .fallback = "by method and name", .doc = "calls without side effects"},
    {"idempotent", KEY_LIST, offsetof(struct judge_settings, idempotent), .read = add_call, .schema = "\"type\": \"string\"",
     .fallback = "by method and name", .doc = "calls that may safely be repeated"},
    {"effects", KEY_LIST, .read = add_effect, .schema = "\"type\": [\"string\", \"object\"]",
     .fallback = "by method and name", .doc = "calls with side effects, and how often each must happen: CALL: exactly 1 when status 200, otherwise 0"},
    {"undo", KEY_EACH, .pair = add_undo, .schema = "\"type\": \"string\"",
     .fallback = "by name", .doc = "calls that undo a side effect: CALL: CALL"},
    {"limit", KEY_DURATION, offsetof(struct judge_settings, limit_ns), .least = 1, .most = HOURS(LIMIT_MAX_HOURS),
     .fallback = "none", .doc = "how long a scenario may take with one fault"},
    {"volatile", KEY_LIST, offsetof(struct judge_settings, volatile_), .read = add_pointer, .schema = "\"type\": \"string\"",
     .fallback = "what differs without faults", .doc = "JSON pointers: values in answers that are not compared"},
    {"stable", KEY_LIST, offsetof(struct judge_settings, stable), .read = add_pointer, .schema = "\"type\": \"string\"",
     .fallback = "none", .doc = "JSON pointers: values that are compared although they look like a time or a generated id"},
    {"optional", KEY_LIST, offsetof(struct judge_settings, optional), .read = add_pointer, .schema = "\"type\": \"string\"",
     .fallback = "none", .doc = "JSON pointers: values that may be null, empty or missing under faults"},
};
/* clang-format on */

const struct keys judge_keys = {"judge", "judge", KEY_ROWS(rows)};

int judge_settings_load(const struct node *map, const struct vocabulary *v,
                        struct judge_settings *out, struct err *e)
{
    struct vocabulary words = *v;
    struct keys_reader r = {e, &out->arena, &words};
    return map ? keys_read(&r, &judge_keys, out, map) : 0;
}
