/* SPDX-License-Identifier: Apache-2.0
 *
 * Values as bytes. A URL that a service hands on must lead to where *it* would go: the file knows
 * services by name, so `http://SERVICE` at the beginning of a text is replaced on the way out. */
#include "data/json.h"
#include "serve/serve_int.h"

const struct node *body_parse(struct arena *a, slice bytes)
{
    const struct node *value;
    if (bytes.n == 0)
        return &node_null;
    bytes = slice_copy(a, bytes);
    if (node_parse_json(a, bytes, &value) == 0 && value->weight <= SERVE_VALUE_MAX)
        return value;
    return node_str(a, bytes);
}

/* http://SERVICE and what follows, when SERVICE is one of the system that can be reached. */
static const struct node *replace_text(const struct serve *s, uint32_t service,
                                       const struct node *value, struct arena *a)
{
    const slice scheme = SLICE("http://");
    const struct addr *addr;
    slice authority;
    if (!slice_starts(value->text, scheme))
        return value;
    slice rest = slice_from(value->text, scheme.n), name = rest;
    name.n = 0;
    while (name.n < rest.n && !memchr("/?#", rest.p[name.n], 3))
        name.n++;
    uint32_t callee = sim_service_find(s->sim, name);
    if (callee == UINT32_MAX || !serve_route(s, service, callee, &addr, &authority))
        return value;
    struct buf text = BUF_INIT(SERVE_BODY_MAX);
    buf_addf(&text, "http://%.*s", SLICE_ARG(authority));
    buf_add(&text, slice_from(rest, name.n));
    value = node_str(a, slice_copy(a, buf_slice(&text)));
    buf_deinit(&text);
    return value;
}

/* The value itself where nothing is to be replaced. */
static const struct node *replace(const struct serve *s, uint32_t service, const struct node *value,
                                  struct arena *a)
{
    struct node *copy = NULL;
    if (value->type == NODE_STR)
        return replace_text(s, service, value, a);
    if (value->type != NODE_LIST && value->type != NODE_MAP)
        return value;
    bool list = value->type == NODE_LIST;
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node *item = list ? value->list[i] : value->map[i].value;
        const struct node *other = replace(s, service, item, a);
        if (other == item)
            continue;
        if (!copy && list)
            memcpy((copy = node_list(a, value->n))->list, value->list,
                   value->n * sizeof *copy->list);
        else if (!copy)
            memcpy((copy = node_map(a, value->n))->map, value->map, value->n * sizeof *copy->map);
        if (list)
            copy->list[i] = other;
        else
            copy->map[i].value = other;
    }
    return copy ? copy : value;
}

void body_print(const struct serve *s, uint32_t service, const struct node *value, struct arena *a,
                struct buf *out)
{
    if (value->type != NODE_NULL)
        node_print(replace(s, service, value, a), out);
}
