/* SPDX-License-Identifier: Apache-2.0
 *
 * What users say about their system, for the oracles: the key `judge` of a file, and --oracle. */
#include "judge/judge.h"

#include "data/pointer.h"

enum { ROWS_MAX = 1000, LIMIT_MAX_HOURS = 24 };

#define LENGTH(array) (sizeof(array) / sizeof *(array))

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

static int refuse_name(slice name, const char *what, const char *const *words, size_t n,
                       const char *remedy, struct err *e)
{
    return err_set(e, 0, 0, "there is no %s \"%.*s\"; %s%s", what, SHORT(name), remedy,
                   err_hint(name, words, n).text);
}

static int severity_find(slice name, enum severity *out, struct err *e)
{
    for (uint32_t i = 0; i < SEVERITIES; i++)
        if (slice_is(name, severity_names[i])) {
            *out = (enum severity)i;
            return 0;
        }
    return refuse_name(name, "severity", severity_names, SEVERITIES,
                       "they are off, warning and finding", e);
}

static int set_severity(struct judge_settings *s, slice name, slice word, struct err *e)
{
    enum severity severity = SEVERITY_OFF;
    bool all = slice_is(name, "all");
    enum oracle o = oracle_find(name);
    if (!all && o == ORACLES) {
        const char *words[ORACLES + 1] = {[ORACLES] = "all"};
        for (uint32_t i = 0; i < ORACLES; i++)
            words[i] = oracle_rows[i].name;
        return refuse_name(name, "oracle", words, LENGTH(words), "`outfox oracles` lists them", e);
    }
    if (severity_find(word, &severity, e))
        return -1;
    for (uint32_t i = 0; i < ORACLES; i++)
        if (all || i == o)
            s->severity[i] = severity;
    return 0;
}

int judge_settings_set(struct judge_settings *s, slice text, struct err *e)
{
    size_t at = slice_find(text, '=');
    if (at == text.n)
        return err_set(e, 0, 0,
                       "an oracle is set by NAME=off, NAME=warning or NAME=finding, not \"%.*s\"",
                       SHORT(text));
    return set_severity(s, slice_trim((slice){text.p, at}), slice_trim(slice_from(text, at + 1)),
                        e);
}

/* ---- the map ---- */

struct load {
    const struct vocabulary *words;
    struct judge_settings *out;
    struct err *e;
};

static int want(const struct node *node, enum node_type type, const char *what, struct err *e)
{
    if (node->type == type && node->n <= ROWS_MAX)
        return 0;
    if (node->type == type)
        return err_set(e, node->line, node->col, "\"%s\" has more than %d entries", what, ROWS_MAX);
    return err_set(e, node->line, node->col, "\"%s\" must be %s, not %s", what,
                   node_type_name(type), node_type_name(node->type));
}

static int load_oracles(const struct load *l, const struct node *map)
{
    if (want(map, NODE_MAP, "oracles", l->e))
        return -1;
    const struct node_pair *all = NULL;
    for (uint32_t i = 0; i < map->n; i++) /* `all` first: the others are exceptions to it */
        all = slice_is(map->map[i].key, "all") ? &map->map[i] : all;
    for (uint32_t i = 0; i <= map->n; i++) {
        const struct node_pair *pair = i ? &map->map[i - 1] : all;
        struct err inner = {0};
        if (!pair || (i && pair == all) ||
            !set_severity(l->out, pair->key, pair->value->text, &inner))
            continue;
        bool known = slice_is(pair->key, "all") || oracle_find(pair->key) != ORACLES;
        return err_set(l->e, known ? pair->value->line : pair->line,
                       known ? pair->value->col : pair->col, "%s", inner.text);
    }
    return 0;
}

/* A pattern of a file; `text` stands at line and col. */
static int load_pattern(const struct load *l, slice text, uint32_t line, uint32_t col,
                        struct pattern *out)
{
    struct err inner = {0};
    *out = (struct pattern){0};
    int status = pattern_parse(out, l->words, PATTERN_CALLS, text, &inner);
    if (!status && out->mode != MODE_NONE)
        status = err_set(&inner, 0, 0, "calls are meant here: leave out the mode of \"%.*s\"",
                         SHORT(text));
    if (status) {
        pattern_deinit(out);
        return err_set(l->e, line, col, "%s", inner.text);
    }
    return 0;
}

static int load_text(const struct load *l, const struct node *node, const char *what,
                     struct pattern *out)
{
    if (node->type != NODE_STR)
        return err_set(l->e, node->line, node->col,
                       "\"%s\" has calls such as \"SERVICE METHOD /path\", not %s", what,
                       node_type_name(node->type));
    return load_pattern(l, node->text, node->line, node->col, out);
}

static int load_reads(const struct load *l, const struct node *list)
{
    struct pattern p;
    if (want(list, NODE_LIST, "reads", l->e))
        return -1;
    for (uint32_t i = 0; i < list->n; i++) {
        if (load_text(l, list->list[i], "reads", &p))
            return -1;
        vec_push(&l->out->reads, p);
    }
    return 0;
}

static int load_idempotent(const struct load *l, const struct node *list)
{
    struct pattern p;
    if (want(list, NODE_LIST, "idempotent", l->e))
        return -1;
    for (uint32_t i = 0; i < list->n; i++) {
        if (load_text(l, list->list[i], "idempotent", &p))
            return -1;
        vec_push(&l->out->idempotent, p);
    }
    return 0;
}

static int load_effects(const struct load *l, const struct node *list)
{
    struct effect_rule rule;
    if (want(list, NODE_LIST, "effects", l->e))
        return -1;
    for (uint32_t i = 0; i < list->n; i++) {
        if (effect_rule_load(list->list[i], l->words, &rule, l->e))
            return -1;
        vec_push(&l->out->effects, rule);
    }
    return 0;
}

static int load_undo(const struct load *l, const struct node *map)
{
    if (want(map, NODE_MAP, "undo", l->e))
        return -1;
    for (uint32_t i = 0; i < map->n; i++) {
        const struct node_pair *pair = &map->map[i];
        struct undo_rule rule = {0};
        if (load_pattern(l, pair->key, pair->line, pair->col, &rule.effect))
            return -1;
        if (load_text(l, pair->value, "undo", &rule.undo)) {
            pattern_deinit(&rule.effect);
            return -1;
        }
        vec_push(&l->out->undo, rule);
    }
    return 0;
}

static int load_pointers(const struct load *l, const struct node *list, const char *key,
                         struct judge_pointers *out)
{
    if (want(list, NODE_LIST, key, l->e))
        return -1;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct node *item = list->list[i];
        if (item->type != NODE_STR || !pointer_valid(item->text))
            return err_set(l->e, item->line, item->col,
                           "\"%s\" has JSON pointers such as /id or /items/*/id", key);
        vec_push(out, slice_copy(&l->out->arena, item->text));
    }
    return 0;
}

static int load_volatile(const struct load *l, const struct node *list)
{
    return load_pointers(l, list, "volatile", &l->out->volatile_);
}

static int load_stable(const struct load *l, const struct node *list)
{
    return load_pointers(l, list, "stable", &l->out->stable);
}

static int load_optional(const struct load *l, const struct node *list)
{
    return load_pointers(l, list, "optional", &l->out->optional);
}

static int load_limit(const struct load *l, const struct node *value)
{
    int64_t ns;
    if (!slice_to_ns(value->text, &ns) || ns <= 0 || ns > LIMIT_MAX_HOURS * 3600LL * 1000000000)
        return err_set(l->e, value->line, value->col,
                       "\"limit\" must be a duration such as 200ms, 2s or 1m");
    l->out->limit_ns = ns;
    return 0;
}

static const struct {
    const char *key;
    int (*load)(const struct load *l, const struct node *value);
} keys[] = {
    {"oracles", load_oracles},   {"reads", load_reads},   {"idempotent", load_idempotent},
    {"effects", load_effects},   {"undo", load_undo},     {"limit", load_limit},
    {"volatile", load_volatile}, {"stable", load_stable}, {"optional", load_optional},
};

static int load_key(const struct load *l, const struct node_pair *pair)
{
    const char *words[LENGTH(keys)];
    for (size_t i = 0; i < LENGTH(keys); i++) {
        if (slice_is(pair->key, keys[i].key))
            return keys[i].load(l, pair->value);
        words[i] = keys[i].key;
    }
    return err_set(l->e, pair->line, pair->col,
                   "unknown key \"%.*s\" in judge; it has oracles, reads, idempotent, "
                   "effects, undo, limit, volatile, stable and optional%s",
                   SHORT(pair->key), err_hint(pair->key, words, LENGTH(words)).text);
}

int judge_settings_load(const struct node *map, const struct vocabulary *v,
                        struct judge_settings *out, struct err *e)
{
    struct load l = {v, out, e};
    if (!map)
        return 0;
    if (want(map, NODE_MAP, "judge", e))
        return -1;
    for (uint32_t i = 0; i < map->n; i++)
        if (load_key(&l, &map->map[i]))
            return -1;
    return 0;
}
