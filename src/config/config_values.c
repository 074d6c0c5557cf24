/* SPDX-License-Identifier: Apache-2.0
 *
 * Values by their type: one function each, and the rows of a map. */
#include <stdio.h>

#include "config/config_int.h"

#define HOURS_MAX (1000 * INT64_C(3600000000000))
enum { PAIRS_MAX = 1000, NEAR_WORDS = 64, NAME_MAX_BYTES = 100 };

int conf_fail(struct conf_reader *r, const struct node *at, const char *format, ...)
{
    char text[sizeof r->e->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return err_set(r->e, at->line, at->col, "%s", text);
}

int conf_want(struct conf_reader *r, const char *key, const struct node *value, enum node_type type)
{
    if (value->type == type)
        return 0;
    return conf_fail(r, value, "\"%s\" must be %s, not %s", key, node_type_name(type),
                     node_type_name(value->type));
}

int conf_want_scalar(struct conf_reader *r, const char *key, const struct node *value)
{
    if (value->type == NODE_STR || value->type == NODE_NUM || value->type == NODE_BOOL)
        return 0;
    return conf_fail(r, value, "\"%s\" must be a value, not %s%s", key, node_type_name(value->type),
                     value->type == NODE_NULL ? "" : ": put text with [ or { in quotes");
}

/* ---- shapes of text ---- */

bool conf_name_ok(slice name)
{
    bool ok = name.n > 0 && name.n <= NAME_MAX_BYTES;
    for (size_t i = 0; i < name.n && ok; i++) {
        char c = name.p[i];
        ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_';
    }
    return ok;
}

int conf_name(struct conf_reader *r, const struct node_pair *pair, const char *what)
{
    if (conf_name_ok(pair->key))
        return 0;
    return err_set(r->e, pair->line, pair->col,
                   "%s has 1 to %d letters, digits, \"-\" and \"_\"; \"%.*s\" has not", what,
                   NAME_MAX_BYTES, SHORT(pair->key));
}

bool conf_token_ok(slice token)
{
    bool ok = token.n > 0 && token.n <= 200;
    for (size_t i = 0; ok && i < token.n; i++) {
        char c = token.p[i];
        ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             (c && strchr("!#$%&'*+-.^_`|~", c));
    }
    return ok;
}

int conf_method(struct conf_reader *r, const struct node *at, slice method)
{
    static const char *const known[] = {
        "GET",     "HEAD",  "POST",     "PUT",       "DELETE", "PATCH", "OPTIONS",
        "TRACE",   "QUERY", "PROPFIND", "PROPPATCH", "MKCOL",  "COPY",  "MOVE",
        "LOCK",    "LINK",  "UNLOCK",   "UNLINK",    "REPORT", "PURGE", "SEARCH",
        "CONNECT", "BIND",  "UNBIND",   "REBIND",    "ACL",    "MERGE", "CHECKOUT"};
    char upper[16] = "";
    for (size_t i = 0; i < method.n && i + 1 < sizeof upper; i++)
        upper[i] = (char)(is_lower(method.p[i]) ? method.p[i] - 32 : method.p[i]);
    const char *near = err_nearest(slice_of(upper), known, sizeof known / sizeof *known);
    if (!near || slice_is(method, near))
        return 0;
    return conf_fail(r, at, "there is no method \"%.*s\"; did you mean \"%s\"?", SHORT(method),
                     near);
}

bool conf_target_ok(slice target)
{
    bool ok = target.n > 0 && target.p[0] == '/';
    for (size_t i = 0; ok && i < target.n; i++)
        ok = target.p[i] > 0x20 && target.p[i] < 0x7f && target.p[i] != '#';
    return ok;
}

slice conf_path(struct conf_reader *r, slice path)
{
    if (path.p[0] == '/' || slice_is(r->c->dir, "."))
        return slice_copy(&r->c->arena, path);
    struct buf joined = BUF_INIT(1 << 24);
    buf_add(&joined, r->c->dir);
    if (r->c->dir.p[r->c->dir.n - 1] != '/')
        buf_addc(&joined, '/');
    buf_add(&joined, path);
    slice copy = slice_copy(&r->c->arena, buf_slice(&joined));
    buf_deinit(&joined);
    return copy;
}

/* ---- one function per type ---- */

static int read_text(struct conf_reader *r, const struct conf_key *key, void *field,
                     const struct node *value)
{
    if (conf_want_scalar(r, key->name, value))
        return -1;
    if (!value->text.n)
        return conf_fail(r, value, "\"%s\" is empty: give it a value or leave it out", key->name);
    *(slice *)field = value->text;
    return 0;
}

static int read_path(struct conf_reader *r, const struct conf_key *key, void *field,
                     const struct node *value)
{
    if (read_text(r, key, field, value))
        return -1;
    *(slice *)field = conf_path(r, value->text);
    return 0;
}

static void keep_command(struct conf_reader *r, const struct conf_key *key,
                         const struct node *value)
{
    vec_push(&r->texts, (struct conf_text){.text = value->text,
                                           .key = key->name,
                                           .own = key->place == IN_SERVICE || key->place == IN_FILE,
                                           .line = value->line,
                                           .col = value->col});
}

static int read_command(struct conf_reader *r, const struct conf_key *key, void *field,
                        const struct node *value)
{
    if (read_text(r, key, field, value))
        return -1;
    keep_command(r, key, value);
    return 0;
}

static int read_switch(struct conf_reader *r, const struct conf_key *key, void *field,
                       const struct node *value)
{
    bool on = slice_is(value->text, "on") || slice_is(value->text, "true");
    if (!on && !slice_is(value->text, "off") && !slice_is(value->text, "false"))
        return conf_fail(r, value, "\"%s\" is true or false, not \"%.*s\"", key->name,
                         SHORT(value->text));
    *(bool *)field = on;
    return 0;
}

static int read_number(struct conf_reader *r, const struct conf_key *key, void *field,
                       const struct node *value)
{
    uint64_t number = 0;
    if (conf_want_scalar(r, key->name, value))
        return -1;
    if (!slice_to_u64(value->text, key->most, &number) || number < key->least)
        return conf_fail(r, value, "\"%s\" is a whole number from %llu to %llu, not \"%.*s\"",
                         key->name, (unsigned long long)key->least, (unsigned long long)key->most,
                         SHORT(value->text));
    if (key->type == CONF_U16)
        *(uint16_t *)field = (uint16_t)number;
    else if (key->type == CONF_U32)
        *(uint32_t *)field = (uint32_t)number;
    else
        *(uint64_t *)field = number;
    return 0;
}

int conf_duration(struct conf_reader *r, const char *key, const struct node *value, int64_t *out)
{
    if (conf_want_scalar(r, key, value))
        return -1;
    if (!slice_to_ns(value->text, out) || *out > HOURS_MAX)
        return conf_fail(
            r, value,
            "\"%s\" must be a duration such as 200ms, 2s or 1m (at most 1000h), not \"%.*s\"", key,
            SHORT(value->text));
    return 0;
}

static int read_duration(struct conf_reader *r, const struct conf_key *key, void *field,
                         const struct node *value)
{
    int64_t ns;
    if (conf_duration(r, key->name, value, &ns))
        return -1;
    if (ns < (int64_t)key->least)
        return conf_fail(r, value, "\"%s\" must be more than nothing, such as 200ms or 2s",
                         key->name);
    *(int64_t *)field = ns;
    return 0;
}

static int word_unknown(struct conf_reader *r, const struct conf_key *key, const struct node *value)
{
    const char *names[NEAR_WORDS];
    struct buf all = BUF_INIT(300);
    size_t n = 0;
    for (; n < NEAR_WORDS && key->words(n); n++) {
        names[n] = key->words(n);
        buf_addf(&all, "%s%s", n == 0 ? "" : key->words(n + 1) ? ", " : " or ", names[n]);
    }
    conf_fail(r, value, "\"%s\" knows %s, not \"%.*s\"%s", key->name, buf_text(&all),
              SHORT(value->text), err_hint(value->text, names, n).text);
    buf_deinit(&all);
    return -1;
}

int conf_word(struct conf_reader *r, const struct conf_key *key, const struct node *value,
              uint32_t *out)
{
    slice text = value->text;
    if (conf_want_scalar(r, key->name, value))
        return -1;
    if (value->type == NODE_BOOL) /* as other readers of YAML take on and off */
        text = value->boolean ? SLICE("on") : SLICE("off");
    for (*out = 0; key->words(*out); ++*out)
        if (slice_is(text, key->words(*out)))
            return 0;
    return word_unknown(r, key, value);
}

static int read_word(struct conf_reader *r, const struct conf_key *key, void *field,
                     const struct node *value)
{
    return conf_word(r, key, value, field);
}

static int read_texts(struct conf_reader *r, const struct conf_key *key, void *field,
                      const struct node *value)
{
    struct config_texts *out = field;
    if (conf_want(r, key->name, value, NODE_LIST))
        return -1;
    if (value->n > PAIRS_MAX)
        return conf_fail(r, value, "\"%s\" has more than %d entries", key->name, PAIRS_MAX);
    out->n = 0; /* without what it was by default */
    for (uint32_t i = 0; i < value->n; i++) {
        slice text;
        if (read_text(r, key, &text, value->list[i]))
            return -1;
        vec_push(out, text);
    }
    return 0;
}

static int check_field(struct conf_reader *r, const struct node_pair *pair)
{
    static const char *const ours[] = {
        "content-length", "transfer-encoding", "connection", "te", "upgrade", "host"};
    char name[32] = "";
    for (size_t i = 0; pair->key.n < sizeof name && i < pair->key.n; i++)
        name[i] =
            (char)(pair->key.p[i] | (pair->key.p[i] >= 'A' && pair->key.p[i] <= 'Z' ? 32 : 0));
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(name, ours[i]) == 0)
            return err_set(r->e, pair->line, pair->col,
                           "the header \"%s\" is set for each connection: leave it out", ours[i]);
    if (!conf_token_ok(pair->key))
        return err_set(r->e, pair->line, pair->col, "\"%.*s\" is no name of a header",
                       SHORT(pair->key));
    for (size_t i = 0; i < pair->value->text.n; i++) {
        unsigned char c = (unsigned char)pair->value->text.p[i];
        if (c < 0x20 || c == 0x7f)
            return conf_fail(r, pair->value, "the value of a header is one line");
    }
    return 0;
}

static int check_variable(struct conf_reader *r, const struct node_pair *pair)
{
    if (pair->key.n && slice_find(pair->key, '=') == pair->key.n)
        return 0;
    return err_set(r->e, pair->line, pair->col, "\"%.*s\" is no name of an environment variable",
                   SHORT(pair->key));
}

static int read_pairs(struct conf_reader *r, const struct conf_key *key, void *field,
                      const struct node *value)
{
    struct config_pairs *out = field;
    if (conf_want(r, key->name, value, NODE_MAP))
        return -1;
    if (value->n > PAIRS_MAX)
        return conf_fail(r, value, "\"%s\" has more than %d entries", key->name, PAIRS_MAX);
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node_pair *pair = &value->map[i];
        char name[100];
        snprintf(name, sizeof name, "%.*s", SHORT(pair->key));
        if (conf_want_scalar(r, name, pair->value))
            return -1;
        if (key->type == CONF_FIELDS ? check_field(r, pair) : check_variable(r, pair))
            return -1;
        if (key->type == CONF_ENV)
            keep_command(r, key, pair->value);
        vec_push(out, (struct config_pair){pair->key, pair->value->text});
    }
    return 0;
}

static int read_map(struct conf_reader *r, const struct conf_key *key, void *field,
                    const struct node *value)
{
    return conf_want(r, key->name, value, NODE_MAP) || conf_map(r, key->inner, field, value) ? -1
                                                                                             : 0;
}

static conf_read *const readers[CONF_TYPES] = {
    [CONF_TEXT] = read_text,     [CONF_PATH] = read_path,         [CONF_COMMAND] = read_command,
    [CONF_SWITCH] = read_switch, [CONF_U16] = read_number,        [CONF_U32] = read_number,
    [CONF_U64] = read_number,    [CONF_DURATION] = read_duration, [CONF_WORD] = read_word,
    [CONF_TEXTS] = read_texts,   [CONF_ENV] = read_pairs,         [CONF_FIELDS] = read_pairs,
    [CONF_MAP] = read_map,
};

/* ---- maps ---- */

static const struct conf_key *find_key(enum conf_place place, slice name)
{
    for (size_t i = 0; i < conf_key_count; i++)
        if (conf_keys[i].place == place && slice_is(name, conf_keys[i].name))
            return &conf_keys[i];
    return NULL;
}

static int unknown_key(struct conf_reader *r, enum conf_place place, const struct node_pair *pair)
{
    const char *names[NEAR_WORDS];
    size_t n = 0;
    for (size_t i = 0; i < conf_key_count && n < NEAR_WORDS; i++)
        if (conf_keys[i].place == place)
            names[n++] = conf_keys[i].name;
    return err_set(r->e, pair->line, pair->col, "unknown key \"%.*s\" in %s%s", SHORT(pair->key),
                   conf_place_names[place], err_hint(pair->key, names, n).text);
}

int conf_map(struct conf_reader *r, enum conf_place place, void *into, const struct node *map)
{
    for (uint32_t i = 0; i < map->n; i++) {
        const struct conf_key *key = find_key(place, map->map[i].key);
        const struct node *value = map->map[i].value;
        if (!key)
            return unknown_key(r, place, &map->map[i]);
        void *field = (char *)into + key->field;
        if ((readers[key->type] && readers[key->type](r, key, field, value)) ||
            (key->read && key->read(r, key, into, value)))
            return -1;
    }
    return 0;
}
