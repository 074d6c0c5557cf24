/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a server, a row of a table each. */
#include "serve/serve_int.h"

static int find_service(const struct serve *s, slice name, const char *option, uint32_t *out,
                        struct err *e)
{
    *out = sim_service_find(s->sim, name);
    if (*out != UINT32_MAX)
        return 0;
    const char *names[64];
    size_t n = 0;
    for (uint32_t i = 0; i < sim_service_count(s->sim) && n < 64; i++)
        names[n++] = sim_service_name(s->sim, i);
    return err_set(e, 0, 0, "--%s: there is no service \"%.*s\"%s", option, SHORT(name),
                   err_hint(name, names, n).text);
}

static int read_port(slice text, const char *option, uint16_t *out, struct err *e)
{
    uint64_t port;
    if (!slice_to_u64(text, UINT16_MAX, &port))
        return err_set(e, 0, 0, "--%s: a port from 0 (any) to 65535 was expected, not \"%.*s\"",
                       option, SHORT(text));
    *out = (uint16_t)port;
    return 0;
}

static int set_service(struct serve *s, slice value, struct err *e)
{
    uint32_t i;
    if (find_service(s, value, "service", &i, e))
        return -1;
    if (sim_service_external(s->sim, i))
        return err_set(e, 0, 0, "--service: \"%.*s\" is outside of the system", SLICE_ARG(value));
    s->served[i] = s->chosen = true;
    return 0;
}

static int set_port(struct serve *s, slice value, struct err *e)
{
    slice name;
    uint32_t i;
    if (!slice_cut(&value, '=', &name) || !value.p)
        return err_set(e, 0, 0, "--port is written NAME=PORT");
    return find_service(s, name, "port", &i, e) || read_port(value, "port", &s->port[i], e) ? -1
                                                                                            : 0;
}

/* http://HOST:PORT, or HOST:PORT alone. */
static int read_url(struct serve *s, slice url, struct route *out, struct err *e)
{
    if (slice_starts(url, SLICE("http://")))
        url = slice_from(url, 7);
    if (url.n && url.p[url.n - 1] == '/')
        url.n--;
    if (addr_parse(url, "--to", &out->addr, e))
        return -1;
    if (addr_is_unix(&out->addr) || addr_port(&out->addr) == 0)
        return err_set(e, 0, 0, "--to: an address such as http://127.0.0.1:8001 was expected");
    struct buf text = BUF_INIT(200);
    buf_add(&text, url);
    if (slice_find(url, ':') == url.n) { /* a port alone */
        buf_clear(&text);
        buf_addf(&text, "127.0.0.1:%u", (unsigned)addr_port(&out->addr));
    }
    out->authority = buf_keep(&text, &s->arena);
    return 0;
}

static int set_to(struct serve *s, slice value, struct err *e)
{
    struct route route = {.caller = UINT32_MAX};
    slice names, caller;
    if (!slice_cut(&value, '=', &names) || !value.p)
        return err_set(e, 0, 0, "--to is written [CALLER>]CALLEE=URL");
    if (slice_find(names, '>') < names.n) {
        slice_cut(&names, '>', &caller);
        if (find_service(s, slice_trim(caller), "to", &route.caller, e))
            return -1;
    }
    if (find_service(s, slice_trim(names), "to", &route.callee, e) || read_url(s, value, &route, e))
        return -1;
    vec_push(&s->routes, route);
    return 0;
}

static int set_propagate(struct serve *s, slice value, struct err *e)
{
    slice name;
    s->n_propagate = 0;
    if (slice_is(value, "none"))
        return 0;
    while (slice_cut(&value, ',', &name)) {
        name = slice_trim(name);
        if (slice_eq_nocase(name, SLICE("content-type")) || slice_eq_nocase(name, SLICE("te")))
            return err_set(e, 0, 0, "--propagate: \"%.*s\" belongs to one message alone",
                           SLICE_ARG(name));
        if (!name.n || s->n_propagate == SERVE_PROPAGATE_MAX)
            return err_set(e, 0, 0,
                           "--propagate takes `none` or up to %d names of headers, with commas",
                           SERVE_PROPAGATE_MAX);
        s->propagate[s->n_propagate++] = slice_copy(&s->arena, name);
    }
    return 0;
}

static int set_control(struct serve *s, slice value, struct err *e)
{
    s->control = true;
    return read_port(value, "control", &s->control_port, e);
}

int serve_option(struct serve *s, slice name, slice value, struct err *e)
{
    static const struct {
        const char *name;
        int (*set)(struct serve *s, slice value, struct err *e);
    } rows[] = {{"service", set_service},
                {"port", set_port},
                {"to", set_to},
                {"propagate", set_propagate},
                {"control", set_control}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_is(name, rows[i].name))
            return rows[i].set(s, value, e);
    return err_set(e, 0, 0, "there is no option --%.*s here", SLICE_ARG(name));
}
