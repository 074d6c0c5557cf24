/* SPDX-License-Identifier: Apache-2.0
 *
 * ${ENV} in the texts of a configuration. Nodes do not change: what holds an expanded text is built
 * anew, the rest is shared.
 *
 * 1. A variable's value is taken as it is: nothing in it is expanded again.
 * 2. All texts together grow by at most GROWTH_MAX bytes, whatever the environment holds. */
#include "config/config_int.h"

enum { GROWTH_MAX = 4 << 20, VARIABLE_MAX = 200 };

struct expansion {
    struct arena *arena;
    const char *(*value)(const char *name);
    struct err *e;
    size_t grown;
};

static bool is_variable(slice name)
{
    bool ok = name.n > 0 && name.n <= VARIABLE_MAX && !(name.p[0] >= '0' && name.p[0] <= '9');
    for (size_t i = 0; ok && i < name.n; i++) {
        char c = name.p[i];
        ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    return ok;
}

/* `inside` is what stands between ${ and }. */
static int add_variable(struct expansion *x, const struct node *at, slice inside, struct buf *out)
{
    slice name = inside, fallback = {0};
    size_t colon = slice_find(inside, ':');
    if (colon + 1 < inside.n && inside.p[colon + 1] == '-') {
        name.n = colon;
        fallback = slice_from(inside, colon + 2);
    }
    if (!is_variable(name))
        return err_set(x->e, at->line, at->col,
                       "\"${%.*s}\" is neither ${NAME} nor ${NAME:-default}: write $${ for a ${ "
                       "that the shell shall see",
                       SHORT(inside));
    char text[VARIABLE_MAX + 1];
    memcpy(text, name.p, name.n);
    text[name.n] = 0;
    const char *value = x->value(text);
    if (!value && !fallback.p)
        return err_set(x->e, at->line, at->col,
                       "the environment variable %s is not set: set it, or write ${%s:-default}",
                       text, text);
    /* as in shells, :- also stands in for an empty value */
    slice used = value && (*value || !fallback.p) ? slice_of(value) : fallback;
    x->grown += used.n;
    if (x->grown > GROWTH_MAX)
        return err_set(x->e, at->line, at->col,
                       "with the values of environment variables the file has more than 4 MiB");
    buf_add(out, used);
    return 0;
}

static int expand_text(struct expansion *x, const struct node *at, struct buf *out)
{
    slice rest = at->text;
    while (rest.n) {
        size_t n = slice_find(rest, '$');
        buf_add(out, (slice){rest.p, n});
        rest = slice_from(rest, n);
        if (rest.n > 1 && rest.p[1] == '$') {
            buf_addc(out, '$');
            rest = slice_from(rest, 2);
        } else if (rest.n > 1 && rest.p[1] == '{') {
            slice inside = slice_from(rest, 2);
            inside.n = slice_find(inside, '}');
            if (inside.n + 2 == rest.n)
                return err_set(x->e, at->line, at->col,
                               "\"%.*s\" has no }: write ${NAME}, or $$ for a dollar sign",
                               SHORT(rest));
            if (add_variable(x, at, inside, out))
                return -1;
            rest = slice_from(rest, inside.n + 3);
        } else if (rest.n) {
            buf_addc(out, '$');
            rest = slice_from(rest, 1);
        }
    }
    return 0;
}

static const struct node *expand_string(struct expansion *x, const struct node *node)
{
    struct buf out = BUF_INIT((size_t)GROWTH_MAX * 3);
    const struct node *result = NULL;
    if (expand_text(x, node, &out) == 0) {
        struct node *copy = arena_alloc(x->arena, sizeof *copy);
        *copy = *node;
        copy->text = slice_copy(x->arena, buf_slice(&out));
        result = copy;
    }
    buf_deinit(&out);
    return result;
}

static const struct node *expand(struct expansion *x, const struct node *node);

/* NULL: an error. The node itself when nothing in it changes. */
static const struct node *expand_items(struct expansion *x, const struct node *node)
{
    bool list = node->type == NODE_LIST;
    struct node *copy = NULL;
    for (uint32_t i = 0; i < node->n; i++) {
        const struct node *item = list ? node->list[i] : node->map[i].value;
        const struct node *now = expand(x, item);
        if (!now)
            return NULL;
        if (now == item)
            continue;
        if (!copy) {
            copy = list ? node_list(x->arena, node->n) : node_map(x->arena, node->n);
            copy->line = node->line;
            copy->col = node->col;
            if (list)
                memcpy(copy->list, node->list, node->n * sizeof *copy->list);
            else
                memcpy(copy->map, node->map, node->n * sizeof *copy->map);
        }
        if (list)
            copy->list[i] = now;
        else
            copy->map[i].value = now;
    }
    if (!copy)
        return node;
    node_seal(copy);
    return copy;
}

static const struct node *expand(struct expansion *x, const struct node *node)
{
    if (node->type == NODE_LIST || node->type == NODE_MAP)
        return expand_items(x, node);
    if (node->type == NODE_STR && slice_find(node->text, '$') < node->text.n)
        return expand_string(x, node);
    return node;
}

const struct node *conf_env(const struct node *root, struct arena *a,
                            const char *(*value)(const char *name), struct err *e)
{
    struct expansion x = {.arena = a, .value = value, .e = e};
    return expand(&x, root);
}
