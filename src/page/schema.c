/* SPDX-License-Identifier: Apache-2.0
 *
 * The files are read when somebody asks: they are small, and that is rare. They are in order, or a
 * test would say so (tests/docs/check_schemas.py): JSON, in which every reference leads somewhere. */
#include "page/schema.h"

#include "base/vec.h"

static const char COMMON[] = "common";

/* The lines of all files, in the order of their names (tools/pages). */
static const struct schema_line {
    const char *schema, *text;
} lines[] = {
#define LINE(schema, text) {schema, text},
#include "page/schemas.list"
#undef LINE
};

enum { LINES = sizeof lines / sizeof *lines };

const char *schema_next(const char *name)
{
    bool passed = !name;
    for (size_t i = 0; i < LINES; i++) {
        const char *schema = lines[i].schema;
        if ((i > 0 && strcmp(schema, lines[i - 1].schema) == 0) || strcmp(schema, COMMON) == 0)
            continue;
        if (passed)
            return schema;
        passed = strcmp(schema, name) == 0;
    }
    return NULL;
}

/* A file; NULL: there is none of this name. */
static const struct node *load(const char *name, struct arena *a)
{
    const struct node *schema = NULL;
    struct buf text = BUF_INIT(1 << 20);
    for (size_t i = 0; i < LINES; i++)
        if (strcmp(lines[i].schema, name) == 0)
            buf_addf(&text, "%s\n", lines[i].text);
    if (node_parse_json(a, buf_keep(&text, a), &schema))
        return NULL;
    return schema;
}

const char *schema_about(const char *name, struct arena *a)
{
    const struct node *schema = load(name, a);
    const struct node *about = schema ? node_get(schema, SLICE("description")) : NULL;
    return about ? slice_copy(a, about->text).p : NULL;
}

/* ---- all that has a name ---- */

/* A file as a whole, or a definition in one. */
struct entry {
    slice name;
    const struct node *schema;
    bool wanted; /* something refers to it that is printed */
};

/* To be used as a VEC. */
struct entries {
    struct entry *at;
    uint32_t n, cap;
};

static void take_file(struct entries *all, const char *name, struct arena *a)
{
    const struct node *schema = load(name, a), *inside = node_get(schema, SLICE("$defs"));
    if (strcmp(name, COMMON) != 0)
        vec_push(all, (struct entry){.name = slice_of(name), .schema = schema});
    for (uint32_t i = 0; inside && i < inside->n; i++)
        vec_push(all, (struct entry){inside->map[i].key, inside->map[i].value, false});
}

static struct entries take_all(struct arena *a)
{
    struct entries all = {0};
    for (const char *name = schema_next(NULL); name; name = schema_next(name))
        take_file(&all, name, a);
    take_file(&all, COMMON, a);
    return all;
}

/* NULL: there is none of this name. */
static struct entry *find(const struct entries *all, slice name)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (slice_eq(all->at[i].name, name))
            return &all->at[i];
    return NULL;
}

/* ---- references ---- */

static bool is_ref(const struct node_pair *p)
{
    return slice_is(p->key, "$ref") && p->value->type == NODE_STR;
}

/* What a reference names: a definition, or a file as a whole (urn:outfox:schema:NAME:1). */
static slice name_of(slice ref)
{
    size_t last = ref.n;
    if (slice_find(ref, '#') == ref.n)
        last = ref.n - (sizeof ":1" - 1);
    size_t from = last;
    while (from > 0 && ref.p[from - 1] != '/' && ref.p[from - 1] != ':')
        from--;
    return (slice){ref.p + from, last - from};
}

/* Marks what a schema refers to, directly or by others. */
static void mark(const struct entries *all, const struct node *value)
{
    for (uint32_t i = 0; value->type == NODE_LIST && i < value->n; i++)
        mark(all, value->list[i]);
    for (uint32_t i = 0; value->type == NODE_MAP && i < value->n; i++) {
        const struct node_pair *p = &value->map[i];
        struct entry *entry = is_ref(p) ? find(all, name_of(p->value->text)) : NULL;
        if (entry && !entry->wanted) {
            entry->wanted = true;
            mark(all, entry->schema);
        }
        if (!slice_is(p->key, "$defs"))
            mark(all, p->value);
    }
}

/* ---- printing ---- */

/* Where schemas are printed to, and what references begin with there. */
struct sheet {
    struct json_out *j;
    const char *prefix;
};

static void put_value(const struct sheet *s, const struct node *value);

static void put_member(const struct sheet *s, const struct node_pair *p)
{
    struct buf ref = BUF_INIT(256);
    if (is_ref(p)) {
        buf_adds(&ref, s->prefix);
        buf_add(&ref, name_of(p->value->text));
        json_take(s->j, "$ref", &ref);
    } else {
        json_key(s->j, p->key);
        put_value(s, p->value);
    }
    buf_deinit(&ref);
}

static void put_value(const struct sheet *s, const struct node *value)
{
    if (value->type == NODE_LIST) {
        json_list(s->j, NULL);
        for (uint32_t i = 0; i < value->n; i++)
            put_value(s, value->list[i]);
        json_list_end(s->j);
    } else if (value->type == NODE_MAP) {
        json_map(s->j, NULL);
        for (uint32_t i = 0; i < value->n; i++)
            put_member(s, &value->map[i]);
        json_map_end(s->j);
    } else {
        json_node(s->j, NULL, value);
    }
}

/* An entry as a member of a map, without what only a file of its own may have. */
static void put_entry(const struct sheet *s, const struct entry *entry)
{
    json_key(s->j, entry->name);
    json_map(s->j, NULL);
    for (uint32_t i = 0; i < entry->schema->n; i++) {
        slice key = entry->schema->map[i].key;
        if (!slice_is(key, "$schema") && !slice_is(key, "$id") && !slice_is(key, "$defs"))
            put_member(s, &entry->schema->map[i]);
    }
    json_map_end(s->j);
}

bool schema_print(const char *name, struct buf *out)
{
    struct arena a = {0};
    struct json_out j = json_out(out, JSON_PRETTY);
    const struct sheet s = {&j, "#/$defs/"};
    struct entries all = take_all(&a);
    const struct node *schema = strcmp(name, COMMON) != 0 ? load(name, &a) : NULL;
    if (schema) {
        mark(&all, schema);
        json_map(&j, NULL);
        for (uint32_t i = 0; i < schema->n; i++)
            if (!slice_is(schema->map[i].key, "$defs"))
                put_member(&s, &schema->map[i]);
        json_map(&j, "$defs");
        for (uint32_t i = 0; i < all.n; i++)
            if (all.at[i].wanted)
                put_entry(&s, &all.at[i]);
        json_map_end(&j);
        json_map_end(&j);
        buf_addc(out, '\n');
    }
    vec_deinit(&all);
    arena_deinit(&a);
    return schema != NULL;
}

void schema_components(struct json_out *j)
{
    struct arena a = {0};
    const struct sheet s = {j, "#/components/schemas/"};
    struct entries all = take_all(&a);
    for (uint32_t i = 0; i < all.n; i++)
        put_entry(&s, &all.at[i]);
    vec_deinit(&all);
    arena_deinit(&a);
}
