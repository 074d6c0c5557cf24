/* SPDX-License-Identifier: Apache-2.0
 *
 * libyaml gives events; a recursive descent over them builds the nodes. Depth is bounded by
 * YAML_DEPTH_MAX, so the recursion is too; size is bounded by the input's. */
#include "data/yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/index.h"

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    struct arena *arena;
    struct err *err;
    slice text; /* all of it */
    int depth;
};

static int fail_here(struct reader *r, const char *what)
{
    return err_set(r->err, (uint32_t)r->event.start_mark.line + 1,
                   (uint32_t)r->event.start_mark.column + 1, "%s", what);
}

/* Bytes that are no text: libyaml gives only their offset. */
static int fail_bytes(struct reader *r, size_t offset, const char *problem)
{
    uint32_t line = 1, col = 1;
    for (size_t i = 0; i < offset && i < r->text.n; i++) {
        bool within = ((unsigned char)r->text.p[i] & 0xc0) == 0x80; /* a letter of several bytes */
        col = r->text.p[i] == '\n' ? 1 : col + !within;
        line += r->text.p[i] == '\n';
    }
    return err_set(r->err, line, col, "not valid YAML: %s", problem ? problem : "not UTF-8");
}

/* Does this line begin with a tab, behind other blanks or none? */
static bool is_tabbed(slice text, size_t line)
{
    slice here = {0};
    for (size_t i = 0; i <= line; i++)
        if (!slice_cut(&text, '\n', &here))
            return false;
    size_t i = 0;
    while (i < here.n && here.p[i] == ' ')
        i++;
    return i < here.n && here.p[i] == '\t';
}

/* What mostly is the cause, and what to do, in words of people who write files. */
static const char *remedy(const struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (is_tabbed(r->text, p->problem_mark.line))
        return ": the line begins with a tab; indent with spaces";
    if (p->context && strstr(p->context, "flow"))
        return ": within { } and [ ], put text that has one of { } [ ] , : in quotes";
    if (p->problem && strstr(p->problem, "mapping values are not allowed"))
        return ": put text that has \": \" in quotes, or look at how this line is indented";
    return "";
}

/* Moves on to the next event. */
static int advance(struct reader *r)
{
    yaml_event_delete(&r->event);
    if (yaml_parser_parse(&r->parser, &r->event))
        return 0;
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        mem_oom();
    if (p->error == YAML_READER_ERROR)
        return fail_bytes(r, p->problem_offset, p->problem);
    return err_set(r->err, (uint32_t)p->problem_mark.line + 1, (uint32_t)p->problem_mark.column + 1,
                   "not valid YAML: %s%s%s%s", p->context ? p->context : "", p->context ? ", " : "",
                   p->problem ? p->problem : "unknown problem", remedy(r));
}

static bool looks_numeric(slice s)
{
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    if (i >= s.n || s.p[i] < '0' || s.p[i] > '9')
        return false;
    for (; i < s.n; i++)
        if (!memchr("0123456789.eE+-", s.p[i], 15))
            return false;
    return true;
}

/* Plain scalars are typed by the YAML core schema (decimal numbers only). */
static void type_plain(struct node *node)
{
    slice s = node->text;
    if (s.n == 0 || slice_is(s, "~") || slice_is(s, "null")) {
        node->type = NODE_NULL;
    } else if (slice_is(s, "true") || slice_is(s, "false")) {
        node->type = NODE_BOOL;
        node->boolean = s.p[0] == 't';
    } else if (looks_numeric(s)) {
        char *end;
        double num = strtod(s.p, &end);
        if (end == s.p + s.n && isfinite(num)) {
            node->type = NODE_NUM;
            node->num = num;
        }
    }
}

static const char decorations[] =
    "anchors (&), aliases (*) and tags (!) are not supported: write the value out, or put text that "
    "starts with & * ! in quotes";

static int read_value(struct reader *r, const struct node **out);

static int read_scalar(struct reader *r, struct node *node)
{
    const char *p = (const char *)r->event.data.scalar.value;
    size_t n = r->event.data.scalar.length;
    if (n && memchr(p, 0, n))
        return fail_here(r, "text must not contain a NUL byte");
    node->type = NODE_STR;
    node->text = (slice){arena_copy(r->arena, p, n), n};
    if (r->event.data.scalar.plain_implicit)
        type_plain(node);
    return 0;
}

static int read_list(struct reader *r, struct node *node)
{
    VEC(const struct node *) items = {0};
    int status = advance(r);
    while (status == 0 && r->event.type != YAML_SEQUENCE_END_EVENT) {
        const struct node *item;
        status = read_value(r, &item);
        if (status == 0) {
            vec_push(&items, item);
            status = advance(r);
        }
    }
    if (status == 0) {
        node->type = NODE_LIST;
        node->n = items.n;
        node->list = arena_alloc(r->arena, items.n * sizeof *node->list);
        if (items.n)
            memcpy(node->list, items.at, items.n * sizeof *items.at);
        node_seal(node);
    }
    vec_deinit(&items);
    return status;
}

struct pairs {
    VEC(struct node_pair) vec;
    struct index index;
};

static bool pair_eq(const void *owner, uint32_t id, const void *key)
{
    const struct pairs *pairs = owner;
    return slice_eq(pairs->vec.at[id].key, *(const slice *)key);
}

static int read_pair(struct reader *r, struct pairs *pairs)
{
    if (r->event.type != YAML_SCALAR_EVENT)
        return fail_here(r, "a key must be plain text");
    if (r->event.data.scalar.anchor || r->event.data.scalar.tag)
        return fail_here(r, decorations);
    struct node key = {0};
    if (read_scalar(r, &key))
        return -1;
    struct node_pair pair = {.key = key.text,
                             .line = (uint32_t)r->event.start_mark.line + 1,
                             .col = (uint32_t)r->event.start_mark.column + 1};
    uint64_t hash = hash_slice(key.text);
    if (index_get(&pairs->index, hash, pair_eq, pairs, &key.text) != INDEX_NONE)
        return err_set(r->err, pair.line, pair.col, "key \"%.*s\" is given twice", SHORT(key.text));
    if (advance(r) || read_value(r, &pair.value))
        return -1;
    index_put(&pairs->index, hash, pairs->vec.n);
    vec_push(&pairs->vec, pair);
    return advance(r);
}

static int read_map(struct reader *r, struct node *node)
{
    struct pairs pairs = {0};
    int status = advance(r);
    while (status == 0 && r->event.type != YAML_MAPPING_END_EVENT)
        status = read_pair(r, &pairs);
    if (status == 0) {
        node->type = NODE_MAP;
        node->n = pairs.vec.n;
        node->map = arena_alloc(r->arena, pairs.vec.n * sizeof *node->map);
        if (pairs.vec.n)
            memcpy(node->map, pairs.vec.at, pairs.vec.n * sizeof *pairs.vec.at);
        node_seal(node);
    }
    vec_deinit(&pairs.vec);
    index_deinit(&pairs.index);
    return status;
}

/* The value that starts at the current event; leaves its last event current. */
static int read_value(struct reader *r, const struct node **out)
{
    struct node *node = arena_zero(r->arena, sizeof *node);
    node->line = (uint32_t)r->event.start_mark.line + 1;
    node->col = (uint32_t)r->event.start_mark.column + 1;
    *out = node;
    if (r->depth >= YAML_DEPTH_MAX)
        return fail_here(r, "nested too deeply (the limit is 64 levels)");
    bool decorated = false;
    int status;
    r->depth++;
    switch (r->event.type) {
    case YAML_SCALAR_EVENT:
        decorated = r->event.data.scalar.anchor || r->event.data.scalar.tag;
        status = decorated ? -1 : read_scalar(r, node);
        break;
    case YAML_SEQUENCE_START_EVENT:
        decorated = r->event.data.sequence_start.anchor || r->event.data.sequence_start.tag;
        status = decorated ? -1 : read_list(r, node);
        break;
    case YAML_MAPPING_START_EVENT:
        decorated = r->event.data.mapping_start.anchor || r->event.data.mapping_start.tag;
        status = decorated ? -1 : read_map(r, node);
        break;
    default: decorated = true; status = -1;
    }
    r->depth--;
    if (decorated)
        return fail_here(r, decorations);
    return status;
}

/* Stream start, document start, the value, document end, stream end: nothing else. */
static int read_document(struct reader *r, const struct node **out)
{
    *out = &node_null;
    if (advance(r) || advance(r))
        return -1;
    if (r->event.type == YAML_STREAM_END_EVENT)
        return 0;
    if (advance(r) || read_value(r, out) || advance(r) || advance(r))
        return -1;
    if (r->event.type != YAML_STREAM_END_EVENT)
        return fail_here(r, "only one document per file (remove the second \"---\")");
    return 0;
}

int yaml_parse(slice text, struct arena *a, const struct node **out, struct err *e)
{
    if (text.n > YAML_BYTES_MAX)
        return err_set(e, 0, 0, "larger than %d MiB, the limit for a file", YAML_BYTES_MAX >> 20);
    if (slice_starts(text, SLICE("\xef\xbb\xbf")))
        text = slice_from(text, 3); /* a byte order mark */
    struct reader r = {.arena = a, .err = e, .text = text};
    if (!yaml_parser_initialize(&r.parser))
        mem_oom();
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.p, text.n);
    int status = read_document(&r, out);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return status;
}

int yaml_load(const char *path, struct arena *a, const struct node **out, struct err *e)
{
    bool from_stdin = strcmp(path, "-") == 0;
    snprintf(e->source, sizeof e->source, "%s", from_stdin ? "standard input" : path);
    /* one byte more than is allowed, so that yaml_parse sees what is too large */
    struct buf text = BUF_INIT((size_t)YAML_BYTES_MAX + 1);
    int code = file_read(from_stdin ? NULL : path, &text);
    int status = code ? err_set(e, 0, 0, "cannot be read: %s", strerror(code))
                      : yaml_parse(buf_slice(&text), a, out, e);
    buf_deinit(&text);
    return status;
}
