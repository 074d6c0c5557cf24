/* SPDX-License-Identifier: Apache-2.0 */
#include "data/node.h"

#include <math.h>

const struct node node_null = {.type = NODE_NULL};
const struct node node_true = {.type = NODE_BOOL, .boolean = true};
const struct node node_false = {.type = NODE_BOOL, .boolean = false};

static struct node *node_new(struct arena *a, enum node_type type, uint32_t n)
{
    struct node *node = arena_zero(a, sizeof *node);
    node->type = type;
    node->n = n;
    return node;
}

const struct node *node_num(struct arena *a, double num)
{
    struct node *node = node_new(a, NODE_NUM, 0);
    node->num = num;
    return node;
}

const struct node *node_str(struct arena *a, slice text)
{
    struct node *node = node_new(a, NODE_STR, 0);
    node->text = text;
    return node;
}

struct node *node_list(struct arena *a, uint32_t n)
{
    struct node *node = node_new(a, NODE_LIST, n);
    node->list = arena_zero(a, n * sizeof *node->list);
    return node;
}

struct node *node_map(struct arena *a, uint32_t n)
{
    struct node *node = node_new(a, NODE_MAP, n);
    node->map = arena_zero(a, n * sizeof *node->map);
    return node;
}

void node_seal(struct node *node)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < node->n; i++) {
        const struct node *item = node->type == NODE_LIST ? node->list[i] : node->map[i].value;
        weight += 1 + (uint64_t)item->weight;
        if (item->depth >= node->depth)
            node->depth = item->depth + 1;
    }
    node->weight = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
}

const struct node *node_copy(struct arena *a, const struct node *node)
{
    struct node *copy = arena_alloc(a, sizeof *copy);
    *copy = *node;
    copy->text = slice_copy(a, node->text);
    if (node->type == NODE_LIST) {
        copy->list = arena_alloc(a, node->n * sizeof *copy->list);
        for (uint32_t i = 0; i < node->n; i++)
            copy->list[i] = node_copy(a, node->list[i]);
    } else if (node->type == NODE_MAP) {
        copy->map = arena_alloc(a, node->n * sizeof *copy->map);
        for (uint32_t i = 0; i < node->n; i++)
            copy->map[i] = (struct node_pair){.key = slice_copy(a, node->map[i].key),
                                              .value = node_copy(a, node->map[i].value)};
    }
    return copy;
}

const struct node *node_get(const struct node *map, slice key)
{
    if (!map || map->type != NODE_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->n; i++)
        if (slice_eq(map->map[i].key, key))
            return map->map[i].value;
    return NULL;
}

const struct node *node_at(const struct node *from, slice path)
{
    slice step;
    while (path.n && from && slice_cut(&path, '/', &step)) {
        uint64_t i;
        if (from->type == NODE_LIST)
            from = from->n && slice_to_u64(step, from->n - 1, &i) ? from->list[i] : NULL;
        else
            from = node_get(from, step);
    }
    return from ? from : &node_null;
}

/* A copy with another item at one place, or without the one there (NULL). */
static const struct node *replace_item(struct arena *a, const struct node *from, uint32_t at,
                                       const struct node *item)
{
    uint32_t n = from->n, rest = n - at - 1;
    struct node *copy;
    if (from->type == NODE_LIST) {
        copy = node_list(a, n);
        memcpy(copy->list, from->list, n * sizeof *copy->list);
        if (item)
            copy->list[at] = item;
        else
            memmove(&copy->list[at], &copy->list[at + 1], rest * sizeof *copy->list);
    } else {
        copy = node_map(a, n);
        memcpy(copy->map, from->map, n * sizeof *copy->map);
        if (item)
            copy->map[at].value = item;
        else
            memmove(&copy->map[at], &copy->map[at + 1], rest * sizeof *copy->map);
    }
    copy->n = item ? n : n - 1;
    node_seal(copy);
    return copy;
}

const struct node *node_replace(struct arena *a, const struct node *from, slice path,
                                const struct node *value)
{
    slice key;
    uint64_t at = 0;
    slice_cut(&path, '/', &key);
    if (from->type == NODE_LIST && !slice_to_u64(key, UINT32_MAX, &at))
        return from;
    while (from->type == NODE_MAP && at < from->n && !slice_eq(from->map[at].key, key))
        at++;
    if (at >= from->n) /* there is no such item, or it has none */
        return from;
    if (!path.p)
        return replace_item(a, from, (uint32_t)at, value);
    const struct node *item = from->type == NODE_LIST ? from->list[at] : from->map[at].value;
    const struct node *changed = node_replace(a, item, path, value);
    return changed == item ? from : replace_item(a, from, (uint32_t)at, changed);
}

static bool maps_eq(const struct node *a, const struct node *b)
{
    for (uint32_t i = 0; i < a->n; i++) {
        /* usually in the same order */
        const struct node *other =
            slice_eq(a->map[i].key, b->map[i].key) ? b->map[i].value : node_get(b, a->map[i].key);
        if (!other || !node_eq(a->map[i].value, other))
            return false;
    }
    return true;
}

slice node_digits(const struct node *n)
{
    static const double exact = 9007199254740992.0; /* 2^53 */
    slice text = n->text;
    size_t at = text.n && text.p[0] == '-';
    if (n->type != NODE_NUM || fabs(n->num) < exact || at == text.n || text.p[at] == '0')
        return (slice){0};
    for (; at < text.n; at++)
        if (text.p[at] < '0' || text.p[at] > '9')
            return (slice){0};
    return text;
}

bool node_eq(const struct node *a, const struct node *b)
{
    slice x, y;
    if (a == b)
        return true;
    if (a->type != b->type || a->n != b->n)
        return false;
    switch (a->type) {
    case NODE_NULL: return true;
    case NODE_BOOL: return a->boolean == b->boolean;
    case NODE_NUM:
        x = node_digits(a);
        y = node_digits(b);
        return !islessgreater(a->num, b->num) && (!x.n || !y.n || slice_eq(x, y));
    case NODE_STR: return slice_eq(a->text, b->text);
    case NODE_LIST:
        for (uint32_t i = 0; i < a->n; i++)
            if (!node_eq(a->list[i], b->list[i]))
                return false;
        return true;
    case NODE_MAP: return maps_eq(a, b);
    }
    return false;
}

const char *node_type_name(enum node_type type)
{
    static const char *const names[] = {"nothing", "true or false", "a number",
                                        "text",    "a list",        "a map"};
    return names[type];
}

/* ---- pointers ---- */

bool pointer_valid(slice text)
{
    bool ok = text.n == 0 || text.p[0] == '/';
    for (size_t i = 0; ok && i < text.n; i++)
        ok = text.p[i] != '~' || (i + 1 < text.n && (text.p[i + 1] == '0' || text.p[i + 1] == '1'));
    return ok;
}

void pointer_add(struct buf *path, slice key)
{
    buf_addc(path, '/');
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '~' || key.p[i] == '/')
            buf_adds(path, key.p[i] == '~' ? "~0" : "~1");
        else
            buf_addc(path, key.p[i]);
    }
}

bool pointer_next(slice *rest, struct buf *key)
{
    size_t i = 1;
    buf_clear(key);
    if (rest->n == 0)
        return false;
    for (; i < rest->n && rest->p[i] != '/'; i++) {
        bool escape = rest->p[i] == '~' && i + 1 < rest->n;
        if (escape)
            i++;
        buf_addc(key, !escape ? rest->p[i] : rest->p[i] == '0' ? '~' : '/');
    }
    *rest = slice_from(*rest, i);
    return true;
}

bool pointer_index(slice step, uint64_t *out)
{
    return !(step.n > 1 && step.p[0] == '0') && slice_to_u64(step, UINT32_MAX, out);
}

const struct node *pointer_at(const struct node *from, slice pointer)
{
    struct buf key = BUF_INIT(pointer.n + 1);
    uint64_t i;
    if (!pointer_valid(pointer))
        from = NULL;
    while (from && pointer_next(&pointer, &key)) {
        if (from->type == NODE_LIST)
            from = pointer_index(buf_slice(&key), &i) && i < from->n ? from->list[i] : NULL;
        else
            from = node_get(from, buf_slice(&key));
    }
    buf_deinit(&key);
    return from;
}
