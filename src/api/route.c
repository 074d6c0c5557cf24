/* SPDX-License-Identifier: Apache-2.0
 *
 * Which route a path leads to. Pure. */
#include "api/api_int.h"

#define GET    "GET"
#define POST   "POST"
#define OPEN   true
#define TOKEN  false
#define NUMBER true

const struct route routes[] = {
#define VALUE(...)
#define ROUTE(id, method, path, query, open, handle, kind, type, schema, body, summary)            \
    {#id, method, path, query, open, handle, kind, type, schema, body, summary},
#include "api/route.list"
#undef ROUTE
#undef VALUE
};

const uint32_t n_routes = sizeof routes / sizeof *routes;

#define INTEGER true
#define TEXT    false

const struct value_row value_rows[VALUES] = {
#define VALUE(name, text, number, about) [VALUE_##name] = {text, number, about},
#define ROUTE(...)
#include "api/route.list"
#undef ROUTE
#undef VALUE
};

/* The number of a value by its name; VALUES: there is none. */
static uint32_t value_of(slice name)
{
    uint32_t i = 0;
    while (i < VALUES && !slice_is(name, value_rows[i].name))
        i++;
    return i;
}

/* Takes a value, percent-encoded. False: it is not what it has to be. */
static bool take(struct asked *k, uint32_t value, slice text, bool form, struct arena *a)
{
    struct buf plain = BUF_INIT(API_BODY_MAX * 4);
    bool fine = percent_decode(text, form, &plain) && !plain.full;
    k->given[value] = true;
    k->text[value] = plain.n ? buf_keep(&plain, a) : (slice){"", 0};
    buf_deinit(&plain);
    return fine && (!value_rows[value].number ||
                    slice_to_u64(k->text[value], UINT32_MAX, &k->number[value]));
}

static bool leads(const struct route *r, slice path, struct arena *a, struct asked *out)
{
    slice wanted = slice_of(r->path), step, name;
    *out = (struct asked){.route = r};
    while (slice_cut(&wanted, '/', &name)) {
        if (!slice_cut(&path, '/', &step))
            return false;
        bool named = name.n && name.p[0] == '{';
        if (named &&
            (!step.n || !take(out, value_of((slice){name.p + 1, name.n - 2}), step, false, a)))
            return false;
        if (!named && !slice_eq(step, name))
            return false;
    }
    return !path.p;
}

uint16_t route_find(slice method, slice path, struct arena *a, struct asked *out,
                    const char **allow)
{
    bool get = false, post = false;
    struct asked k;
    for (uint32_t i = 0; i < n_routes; i++) {
        if (!leads(&routes[i], path, a, &k))
            continue;
        bool is_get = strcmp(routes[i].method, GET) == 0;
        if (slice_is(method, routes[i].method) || (is_get && slice_is(method, "HEAD"))) {
            *out = k;
            return 200;
        }
        get |= is_get;
        post |= !is_get;
    }
    *allow = get && post ? "GET, HEAD, POST" : post ? "POST" : "GET, HEAD";
    return get || post ? 405 : 404;
}

bool query_word(slice *query, slice *name, bool *needed)
{
    if (!slice_word(query, name))
        return false;
    *needed = name->p[0] != '[';
    if (!*needed)
        *name = (slice){name->p + 1, name->n - 2};
    return true;
}

/* Does the route take it in its query? */
static bool takes(const struct route *r, uint32_t value)
{
    slice query = slice_of(r->query), name;
    bool needed;
    while (query_word(&query, &name, &needed))
        if (value_of(name) == value)
            return true;
    return false;
}

int route_query(struct asked *k, slice query, struct arena *a, struct err *e)
{
    slice pair, name;
    bool needed;
    while (query.p && slice_cut(&query, '&', &pair)) {
        if (!pair.n)
            continue;
        slice text = pair;
        slice_cut(&text, '=', &name);
        uint32_t value = value_of(name);
        if (value == VALUES || !takes(k->route, value))
            return err_set(e, 0, 0, "%s takes no parameter \"%.*s\"%s", k->route->path, SHORT(name),
                           slice_is(name, "token") ? "; write it behind a #, as in /#token=TOKEN, "
                                                     "or send Authorization: Bearer TOKEN"
                                                   : "");
        if (k->given[value])
            return err_set(e, 0, 0, "parameter \"%s\" is there twice", value_rows[value].name);
        if (!take(k, value, text.p ? text : (slice){"", 0}, true, a))
            return err_set(e, 0, 0, "parameter \"%s\" must be %s", value_rows[value].name,
                           value_rows[value].number ? "a whole number"
                                                    : "text in percent-encoding");
    }
    for (query = slice_of(k->route->query); query_word(&query, &name, &needed);)
        if (needed && !k->given[value_of(name)])
            return err_set(e, 0, 0, "%s needs parameter \"%.*s\": %s", k->route->path,
                           SLICE_ARG(name), value_rows[value_of(name)].about);
    return 0;
}
