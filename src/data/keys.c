/* SPDX-License-Identifier: Apache-2.0 */
#include "data/keys.h"

#include <stdio.h>

#include "base/clock.h"

enum { ITEMS_MAX = 1000, HOURS_MAX = 1000, NAMES_MAX = 64, LISTED_BYTES = 200 };

/* ---- what all readers say alike ---- */

int keys_fail(struct keys_reader *r, const struct node *at, const char *format, ...)
{
    char text[sizeof r->e->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return err_set(r->e, at->line, at->col, "%s", text);
}

static bool is_scalar(const struct node *value)
{
    return value->type == NODE_STR || value->type == NODE_NUM || value->type == NODE_BOOL;
}

int keys_want(struct keys_reader *r, const char *key, const struct node *value, enum node_type type)
{
    if (value->type == type)
        return 0;
    return keys_fail(r, value, "\"%s\" must be %s, not %s", key, node_type_name(type),
                     node_type_name(value->type));
}

int keys_want_scalar(struct keys_reader *r, const char *key, const struct node *value)
{
    if (is_scalar(value))
        return 0;
    return keys_fail(r, value, "\"%s\" must be a value, not %s%s", key, node_type_name(value->type),
                     value->type == NODE_NULL ? "" : ": put text with [ or { in quotes");
}

bool name_valid(slice name, bool dots)
{
    bool ok = name.n > 0 && name.n <= NAME_BYTES_MAX;
    for (size_t i = 0; i < name.n && ok; i++)
        ok = is_letter(name.p[i]) || (name.p[i] >= '0' && name.p[i] <= '9') || name.p[i] == '-' ||
             name.p[i] == '_' || (dots && name.p[i] == '.');
    return ok;
}

int keys_name(struct keys_reader *r, slice name, uint32_t line, uint32_t col, const char *what,
              bool dots)
{
    if (name_valid(name, dots))
        return 0;
    return err_set(r->e, line, col, "\"%.*s\" cannot be %s; use 1 to %d letters, digits, %s",
                   SHORT(name), what, NAME_BYTES_MAX,
                   dots ? "\"-\", \"_\" or \".\"" : "\"-\" or \"_\"");
}

/* What was written, for the end of a message. */
struct written {
    char text[100];
};

static struct written written(const struct node *value)
{
    struct written w;
    if (is_scalar(value))
        snprintf(w.text, sizeof w.text, "\"%.*s\"", SHORT(value->text));
    else
        snprintf(w.text, sizeof w.text, "%s", node_type_name(value->type));
    return w;
}

/* on or off, also as true and false. */
static int keys_switch(struct keys_reader *r, const char *key, const struct node *value, bool *out)
{
    *out = slice_is(value->text, "on") || slice_is(value->text, "true");
    if (*out || slice_is(value->text, "off") || slice_is(value->text, "false"))
        return 0;
    return keys_fail(r, value, "\"%s\" must be true or false, not %s", key, written(value).text);
}

int keys_duration(struct keys_reader *r, const struct key *key, const struct node *value,
                  int64_t *out)
{
    int64_t most = key->most ? (int64_t)key->most : HOURS(HOURS_MAX);
    if (!slice_to_ns(value->text, out) || *out > most)
        return keys_fail(
            r, value, "\"%s\" must be a duration such as 200ms, 2s or 1m (at most %lldh), not %s",
            key->name, (long long)(most / HOURS(1)), written(value).text);
    if (*out < (int64_t)key->least)
        return keys_fail(r, value, "\"%s\" must be a duration greater than 0, such as 200ms or 2s",
                         key->name);
    return 0;
}

static const char *word_of(const struct key *key, size_t i)
{
    return key->word ? key->word(i) : key->words[i];
}

int keys_word(struct keys_reader *r, const struct key *key, const struct node *value, uint32_t *out)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    slice text = value->text;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    if (value->type == NODE_BOOL) /* as other readers of YAML take on and off */
        text = value->boolean ? SLICE("on") : SLICE("off");
    struct buf all = BUF_INIT(300);
    for (; n < NAMES_MAX && (names[n] = word_of(key, n)) && !slice_is(text, names[n]); n++)
        buf_addf(&all, "%s%s", n == 0 ? "" : word_of(key, n + 1) ? ", " : " or ", names[n]);
    bool known = n < NAMES_MAX && names[n];
    *out = (uint32_t)n;
    if (!known)
        keys_fail(r, value, "\"%s\" must be %s, not \"%.*s\"%s", key->name, buf_text(&all),
                  SHORT(text), err_hint(text, names, n).text);
    buf_deinit(&all);
    return known ? 0 : -1;
}

int keys_number(struct keys_reader *r, const char *key, const struct node *value, double least,
                double most, double *out)
{
    if (value->type != NODE_NUM || !(value->num >= least && value->num <= most))
        return keys_fail(r, value, "\"%s\" must be a number from %g to %g", key, least, most);
    *out = value->num;
    return 0;
}

int keys_regex(struct keys_reader *r, const char *key, const struct node *value, slice *pattern,
               const struct regex **out)
{
    struct err inner = {0};
    if (keys_want_scalar(r, key, value))
        return -1;
    *pattern = value->text;
    if (regex_parse(value->text, r->arena, out, &inner))
        return keys_fail(r, value, "\"%s\": %s", key, inner.text);
    return 0;
}

/* ---- values by their type ---- */

static int read_text(struct keys_reader *r, const char *name, const struct node *value, slice *out)
{
    if (keys_want_scalar(r, name, value))
        return -1;
    if (!value->text.n)
        return keys_fail(r, value, "\"%s\" is empty; set it or leave it out", name);
    *out = value->text;
    return 0;
}

static int read_number(struct keys_reader *r, const struct key *key, const struct node *value,
                       void *field)
{
    uint64_t number;
    if (!slice_to_u64(value->text, key->most, &number) || number < key->least)
        return keys_fail(r, value, "\"%s\" must be a whole number from %llu to %llu, not %s",
                         key->name, (unsigned long long)key->least, (unsigned long long)key->most,
                         written(value).text);
    if (key->type == KEY_U16)
        *(uint16_t *)field = (uint16_t)number;
    else if (key->type == KEY_U32)
        *(uint32_t *)field = (uint32_t)number;
    else
        *(uint64_t *)field = number;
    return 0;
}

/* Is it a list or a map with as many items as there may be? */
static int want_items(struct keys_reader *r, const struct key *key, const struct node *value,
                      enum node_type type)
{
    unsigned long long least = key->least, most = key->most ? key->most : ITEMS_MAX;
    if (keys_want(r, key->name, value, type))
        return -1;
    if (value->n >= least && value->n <= most)
        return 0;
    if (value->n < least && most == UINT32_MAX)
        return keys_fail(r, value, "\"%s\" must have at least %llu %s", key->name, least,
                         plural(least, "entry", "entries"));
    return least ? keys_fail(r, value, "\"%s\" must have %llu to %llu entries", key->name, least,
                             most)
                 : keys_fail(r, value, "\"%s\" has more than %llu entries", key->name, most);
}

static int read_texts(struct keys_reader *r, const struct key *key, const struct node *value,
                      struct texts *out)
{
    if (want_items(r, key, value, NODE_LIST))
        return -1;
    out->n = 0; /* without what it was by default */
    for (uint32_t i = 0; i < value->n; i++) {
        slice text;
        if (read_text(r, key->name, value->list[i], &text))
            return -1;
        vec_push(out, text);
    }
    return 0;
}

static int read_pairs(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct text_pairs *out = key_field(key, into);
    if (want_items(r, key, value, NODE_MAP))
        return -1;
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node_pair *pair = &value->map[i];
        char name[100];
        snprintf(name, sizeof name, "%.*s", SHORT(pair->key));
        if (keys_want_scalar(r, name, pair->value) || (key->pair && key->pair(r, key, into, pair)))
            return -1;
        vec_push(out, (struct text_pair){pair->key, pair->value->text});
    }
    return 0;
}

static int read_typed(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    void *field = key_field(key, into);
    slice text = {0};
    int status;
    switch (key->type) {
    case KEY_OTHER: return 0;
    case KEY_TEXT: return read_text(r, key->name, value, field);
    case KEY_STRING:
        if (read_text(r, key->name, value, &text))
            return -1;
        *(const char **)field = text.p;
        return 0;
    case KEY_SWITCH: return keys_switch(r, key->name, value, field);
    case KEY_U16:
    case KEY_U32:
    case KEY_U64: return read_number(r, key, value, field);
    case KEY_DURATION: return keys_duration(r, key, value, field);
    case KEY_WORD: return keys_word(r, key, value, field);
    case KEY_TEXTS: return read_texts(r, key, value, field);
    case KEY_PAIRS: return read_pairs(r, key, into, value);
    case KEY_NODE:
        *(const struct node **)field = value;
        return keys_want(r, key->name, value, NODE_MAP);
    case KEY_MAP:
        return keys_want(r, key->name, value, NODE_MAP) ? -1
                                                        : keys_read(r, key->inner, field, value);
    case KEY_LIST:
        if (key->alone && is_scalar(value))
            return key->read(r, key, into, value);
        status = want_items(r, key, value, NODE_LIST);
        for (uint32_t i = 0; i < value->n && !status; i++)
            status = key->read(r, key, into, value->list[i]);
        return status;
    case KEY_EACH:
        status = want_items(r, key, value, NODE_MAP);
        for (uint32_t i = 0; i < value->n && !status; i++)
            status = key->pair(r, key, into, &value->map[i]);
        return status;
    }
    return 0;
}

static int read_key(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    if (key->given)
        *(bool *)((char *)into + key->given) = true;
    if (read_typed(r, key, into, value))
        return -1;
    return key->read && key->type != KEY_LIST ? key->read(r, key, into, value) : 0;
}

/* ---- maps ---- */

const struct key *keys_find(const struct keys *keys, slice name)
{
    for (size_t i = 0; i < keys->n; i++)
        if (slice_is(name, keys->row[i].name))
            return &keys->row[i];
    return NULL;
}

/* The nearest name, or all of them. */
static int unknown_key(struct keys_reader *r, const struct keys *keys, slice key, uint32_t line,
                       uint32_t col)
{
    const char *names[NAMES_MAX];
    struct buf all = BUF_INIT(LISTED_BYTES);
    size_t n = 0;
    for (; n < keys->n && n + 1 < NAMES_MAX; n++)
        names[n] = keys->row[n].name;
    if (keys->others)
        names[n++] = keys->others;
    for (size_t i = 0; i < n; i++)
        buf_addf(&all, "%s%s", i == 0 ? "; it takes " : i + 1 < n ? ", " : " and ", names[i]);
    struct hint near = err_hint(key, names, n);
    err_set(r->e, line, col, "unknown key \"%.*s\" in %s%s%s", SHORT(key), keys->what,
            near.text[0] ? near.text : buf_text(&all), all.full && !near.text[0] ? "..." : "");
    buf_deinit(&all);
    return -1;
}

static int not_a_map(struct keys_reader *r, const struct keys *keys, const struct node *value)
{
    struct buf first = BUF_INIT(LISTED_BYTES);
    for (size_t i = 0; i < keys->n && i < 3; i++)
        buf_addf(&first, "%s%s", i ? ", " : "", keys->row[i].name);
    keys_fail(r, value, "%s must be a map with the key%s %s%s, not %s", keys->what,
              plural(keys->n, "", "s"), buf_text(&first), keys->n > 3 ? " ..." : "",
              node_type_name(value->type));
    buf_deinit(&first);
    return -1;
}

int keys_read(struct keys_reader *r, const struct keys *keys, void *into, const struct node *map)
{
    if (map->type != NODE_MAP)
        return not_a_map(r, keys, map);
    for (uint32_t i = 0; i < map->n && !keys->other; i++)
        if (!keys_find(keys, map->map[i].key))
            return unknown_key(r, keys, map->map[i].key, map->map[i].line, map->map[i].col);
    for (size_t i = 0; i < keys->n; i++) {
        const struct key *key = &keys->row[i];
        const struct node *value = node_get(map, slice_of(key->name));
        if (!value && key->needed)
            return keys_fail(r, map, "\"%s\" is missing from %s", key->needed, keys->what);
        if (value && read_key(r, key, into, value))
            return -1;
    }
    for (uint32_t i = 0; i < map->n && keys->other; i++) {
        const struct node_pair *pair = &map->map[i];
        int status = keys_find(keys, pair->key) ? 0 : keys->other(r, NULL, into, pair);
        if (status > 0)
            return unknown_key(r, keys, pair->key, pair->line, pair->col);
        if (status)
            return -1;
    }
    return 0;
}

int keys_set(struct keys_reader *r, const struct keys *keys, void *into, slice key, slice text)
{
    const struct key *row = keys_find(keys, key);
    if (!row)
        return unknown_key(r, keys, key, 0, 0);
    if (row->type == KEY_MAP) {
        size_t equals = slice_find(text, '=');
        slice name = slice_trim((slice){text.p, equals});
        const struct key *inner = keys_find(row->inner, name);
        if (equals == text.n && inner && inner->type != KEY_SWITCH)
            return err_set(r->e, 0, 0, "\"%s\" is set with NAME=VALUE, not \"%.*s\"", row->name,
                           SHORT(text));
        return keys_set(r, row->inner, key_field(row, into), name,
                        equals == text.n ? SLICE("on") : slice_trim(slice_from(text, equals + 1)));
    }
    struct node *value = arena_zero(r->arena, sizeof *value);
    value->type = NODE_STR;
    value->text = slice_copy(r->arena, text);
    return row->type == KEY_LIST ? row->read(r, row, into, value) : read_key(r, row, into, value);
}

/* ---- the schema ---- */

/* Other readers of YAML take `on` for true, and any value may be a text with ${ENV}. */
static const char shared_defs[] =
    "    \"text\": {\"type\": [\"string\", \"number\", \"boolean\"]},\n"
    "    \"env\": {\"type\": \"string\", \"pattern\": \"\\\\$\\\\{\"},\n"
    "    \"switch\": {\"anyOf\": [{\"enum\": [true, false, \"on\", \"off\"]}, {\"$ref\": "
    "\"#/$defs/env\"}]},\n"
    "    \"duration\": {\"anyOf\": [{\"type\": \"string\", \"pattern\": "
    "\"^[0-9]+(ns|us|ms|s|m|h)$\"}, {\"$ref\": \"#/$defs/env\"}]}";

static const char or_env[] = "}, {\"$ref\": \"#/$defs/env\"}]";

static void add_ref(const char *name, struct buf *out)
{
    buf_addf(out, "\"$ref\": \"#/$defs/%s\"", name);
}

/* One value, or one item of several. */
static void add_item(const struct key *key, struct buf *out)
{
    if (key->schema) {
        buf_adds(out, key->schema);
    } else if (key->inner) {
        add_ref(key->inner->name, out);
    } else if (key->words || key->word) {
        buf_adds(out, "\"anyOf\": [{\"enum\": [");
        for (size_t i = 0; word_of(key, i); i++)
            buf_addf(out, "%s\"%s\"%s", i ? ", " : "", word_of(key, i),
                     strcmp(word_of(key, i), "on") == 0 ? ", true, false" : "");
        buf_addf(out, "]%s", or_env);
    } else {
        add_ref("text", out);
    }
}

static void add_value(const struct key *key, struct buf *out)
{
    unsigned long long least = key->least, most = key->most ? key->most : ITEMS_MAX;
    switch (key->type) {
    case KEY_SWITCH: add_ref("switch", out); break;
    case KEY_DURATION: add_ref("duration", out); break;
    case KEY_U16:
    case KEY_U32:
    case KEY_U64:
        buf_addf(out, "\"anyOf\": [{\"type\": \"integer\", \"minimum\": %llu, \"maximum\": %llu%s",
                 least, (unsigned long long)key->most, or_env);
        break;
    case KEY_LIST:
    case KEY_TEXTS:
        if (key->alone) {
            buf_adds(out, "\"anyOf\": [{");
            add_item(key, out);
            buf_adds(out, "}, {");
        }
        buf_adds(out, "\"type\": \"array\", ");
        if (least)
            buf_addf(out, "\"minItems\": %llu, ", least);
        buf_addf(out, "\"maxItems\": %llu, \"items\": {", most);
        add_item(key, out);
        buf_adds(out, key->alone ? "}}]" : "}");
        break;
    case KEY_EACH:
    case KEY_PAIRS:
        buf_adds(out, "\"type\": \"object\", ");
        if (least)
            buf_addf(out, "\"minProperties\": %llu, ", least);
        buf_addf(out, "\"maxProperties\": %llu, \"additionalProperties\": {", most);
        add_item(key, out);
        buf_adds(out, "}");
        break;
    case KEY_OTHER:
    case KEY_TEXT:
    case KEY_STRING:
    case KEY_WORD:
    case KEY_NODE:
    case KEY_MAP: add_item(key, out); break;
    }
}

static void add_keys(const struct keys *keys, const char *indent, struct buf *out)
{
    bool required = false;
    buf_addf(out, "%s\"type\": \"object\",\n", indent);
    for (size_t i = 0; i < keys->n; i++)
        if (keys->row[i].needed) {
            buf_addf(out, "%s%s\"%s\"", required ? "" : indent, required ? ", " : "\"required\": [",
                     keys->row[i].name);
            required = true;
        }
    buf_adds(out, required ? "],\n" : "");
    if (keys->schema)
        buf_addf(out, "%s%s,\n", indent, keys->schema);
    buf_addf(out, "%s\"additionalProperties\": %s,\n%s\"properties\": {\n", indent,
             keys->other ? "true" : "false", indent);
    for (size_t i = 0; i < keys->n; i++) {
        const struct key *key = &keys->row[i];
        struct buf about = BUF_INIT(1000);
        buf_adds(&about, key->doc);
        if (key->fallback)
            buf_addf(&about, " (default: %s)", key->fallback);
        buf_addf(out, "%s%s  \"%s\": {\"description\": ", i ? ",\n" : "", indent, key->name);
        buf_add_json_string(out, buf_slice(&about));
        buf_deinit(&about);
        buf_adds(out, ", ");
        add_value(key, out);
        buf_adds(out, "}");
    }
    buf_addf(out, "\n%s}", indent);
}

void keys_schema(const struct keys *keys, const char *title, struct buf *out)
{
    VEC(const struct keys *) all = {0}; /* the table itself, and each that is below it, once */
    vec_push(&all, keys);
    for (uint32_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < all.at[i]->n; k++) {
            const struct keys *inner = all.at[i]->row[k].inner;
            bool known = !inner;
            for (uint32_t j = 0; j < all.n && !known; j++)
                known = all.at[j] == inner;
            if (!known)
                vec_push(&all, inner);
        }
    buf_addf(out,
             "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
             "  \"title\": \"%s\",\n",
             title);
    add_keys(keys, "  ", out);
    buf_addf(out, ",\n  \"$defs\": {\n%s", shared_defs);
    for (uint32_t i = 1; i < all.n; i++) {
        buf_addf(out, ",\n    \"%s\": {\n", all.at[i]->name);
        add_keys(all.at[i], "      ", out);
        buf_adds(out, "\n    }");
    }
    buf_adds(out, "\n  }\n}\n");
    vec_deinit(&all);
}
