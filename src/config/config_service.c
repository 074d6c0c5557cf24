/* SPDX-License-Identifier: Apache-2.0
 *
 * Services of a configuration, and a simulated system in place of them. Addresses are checked by
 * their form alone: names are resolved when a campaign begins. */
#include "config/config_int.h"

/* ---- addresses ---- */

static bool is_host(slice host)
{
    bool ok = host.n > 0 && host.n <= 253;
    for (size_t i = 0; ok && i < host.n; i++) {
        char c = host.p[i];
        ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_' || c == '.';
    }
    return ok;
}

static bool is_ipv6(slice host)
{
    size_t colons = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < host.n; i++) {
        ok = host.p[i] && strchr("0123456789abcdefABCDEF:.%", host.p[i]);
        colons += host.p[i] == ':';
    }
    return ok && colons >= 2;
}

/* HOST:PORT, [IPV6]:PORT, :PORT, PORT. */
static bool is_address(slice text, uint64_t least_port)
{
    uint64_t port;
    size_t colon = text.n;
    while (colon > 0 && text.p[colon - 1] != ':')
        colon--;
    if (!slice_to_u64(slice_from(text, colon), 65535, &port) || port < least_port)
        return false;
    if (colon < 2)
        return true;
    slice host = {text.p, colon - 1};
    if (host.p[0] == '[' && host.p[host.n - 1] == ']')
        return is_ipv6((slice){host.p + 1, host.n - 2});
    return is_host(host);
}

/* https://HOST and http://HOST, with or without a port: the rest follows from the scheme. */
static int read_url(struct conf_reader *r, const struct conf_key *key, struct service_spec *s,
                    const struct node *value)
{
    bool tls = slice_starts(value->text, SLICE("https://"));
    slice rest = slice_from(value->text, tls ? 8 : 7);
    if (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    size_t bracket = slice_find(rest, ']');
    slice behind = slice_from(rest, bracket < rest.n ? bracket : 0);
    struct buf text = BUF_INIT(400);
    buf_add(&text, rest);
    if (slice_find(behind, ':') == behind.n)
        buf_adds(&text, tls ? ":443" : ":80");
    bool ok = rest.n && rest.p[0] != ':' && slice_find(rest, '/') == rest.n &&
              is_address(buf_slice(&text), true);
    s->address = slice_copy(&r->c->arena, buf_slice(&text));
    s->tls |= tls;
    buf_deinit(&text);
    return ok ? 0
              : conf_fail(r, value,
                          "\"%s\" is HOST:PORT or https://HOST, without a path, not \"%.*s\"",
                          key->name, SHORT(value->text));
}

int conf_address(struct conf_reader *r, const struct conf_key *key, void *into,
                 const struct node *value)
{
    bool listens = strcmp(key->name, "listen") == 0; /* port 0: any */
    slice text = value->text;
    if (slice_starts(text, SLICE("http://")) || slice_starts(text, SLICE("https://"))) {
        if (!listens)
            return read_url(r, key, into, value);
        return conf_fail(r, value, "\"%s\" is HOST:PORT without http://, not \"%.*s\"", key->name,
                         SHORT(text));
    }
    if (slice_starts(text, SLICE("unix:")) ? text.n > 5 : is_address(text, !listens))
        return 0;
    return conf_fail(r, value, "\"%s\" is HOST:PORT, [IPV6]:PORT, PORT or unix:PATH, not \"%.*s\"",
                     key->name, SHORT(text));
}

int conf_host(struct conf_reader *r, const struct conf_key *key, void *into,
              const struct node *value)
{
    (void)into;
    if (is_host(value->text) || is_ipv6(value->text))
        return 0;
    return conf_fail(r, value, "\"%s\" is a name or an IP address, not \"%.*s\"", key->name,
                     SHORT(value->text));
}

int conf_host_header(struct conf_reader *r, const struct conf_key *key, void *into,
                     const struct node *value)
{
    (void)into;
    slice text = value->text;
    if (is_host(text) || is_address(text, true))
        return 0;
    return conf_fail(r, value, "\"%s\" is keep, NAME or NAME:PORT, not \"%.*s\"", key->name,
                     SHORT(text));
}

/* ---- readiness ---- */

int conf_ready(struct conf_reader *r, const struct conf_key *key, void *into,
               const struct node *value)
{
    struct service_spec *s = into;
    slice rest = value->text, method, target, more;
    if (conf_want_scalar(r, key->name, value))
        return -1;
    if (slice_is(rest, "tcp") || slice_is(rest, "none")) {
        s->ready = slice_is(rest, "tcp") ? READY_TCP : READY_NONE;
        return 0;
    }
    if (!slice_word(&rest, &method) || !slice_word(&rest, &target) || slice_word(&rest, &more) ||
        !conf_token_ok(method) || !conf_target_ok(target))
        return conf_fail(r, value, "\"%s\" is tcp, none or METHOD /path, not \"%.*s\"", key->name,
                         SHORT(value->text));
    if (conf_method(r, value, method))
        return -1;
    s->ready = READY_HTTP;
    s->ready_method = slice_copy(&r->c->arena, method);
    s->ready_target = slice_copy(&r->c->arena, target);
    return 0;
}

/* ---- a service ---- */

/* Keys that mean nothing without another, or beside it. */
static const struct pairing {
    const char *key, *other;
    bool together; /* only together; else never */
    const char *why;
} pairings[] = {
    {"address", "run", false, "a service that is started has \"port\" and \"host\""},
    {"address", "port", false, "the address has a port already"},
    {"address", "host", false, "the address has a host already"},
    {"port", "run", true, "of one that runs already give \"address: 127.0.0.1:PORT\""},
    {"host", "run", true, "of one that runs already give \"address: HOST:PORT\""},
    {"dir", "run", true, "it is for the command"},
    {"env", "run", true, "it is for the command"},
    {"stop-within", "run", true, "only what was started is stopped"},
    {"restart", "run", true,
     "Outfox restarts only what it starts; let `before` of the scenario bring its state back"},
};

static const struct node_pair *pair_of(const struct node *map, const char *key)
{
    for (uint32_t i = 0; i < map->n; i++)
        if (slice_is(map->map[i].key, key))
            return &map->map[i];
    return NULL;
}

static int service_check(struct conf_reader *r, const struct service_spec *s,
                         const struct node *map)
{
    for (size_t i = 0; i < sizeof pairings / sizeof *pairings; i++) {
        const struct pairing *p = &pairings[i];
        const struct node_pair *key = pair_of(map, p->key);
        if (key && !pair_of(map, p->other) == p->together)
            return err_set(r->e, key->line, key->col, "\"%s\" does not go %s \"%s\": %s", p->key,
                           p->together ? "without" : "with", p->other, p->why);
    }
    for (int i = 0; i < 2 && !s->tls; i++) {
        const char *name = i ? "ca" : "insecure";
        const struct node_pair *key = pair_of(map, name);
        if (key)
            return err_set(r->e, key->line, key->col,
                           "\"%s\" does not go without \"tls\": it is about certificates", name);
    }
    if (s->run.n || s->address.n)
        return 0;
    return err_set(
        r->e, s->line, s->col,
        "the service \"%.*s\" needs \"run\", the command that starts it, or \"address\", "
        "where it runs already",
        SHORT(s->name));
}

struct service_spec conf_service(const struct conf_reader *r, const struct node_pair *pair)
{
    slice none = SLICE("");
    return (struct service_spec){.name = pair->key,
                                 .host = SLICE("127.0.0.1"),
                                 .address = none,
                                 .ca = none,
                                 .host_header = none,
                                 .listen = none,
                                 .run = none,
                                 .dir = r->c->dir,
                                 .ready_method = none,
                                 .ready_target = none,
                                 .ready_ns = 30 * INT64_C(1000000000),
                                 .stop_ns = 3 * INT64_C(1000000000),
                                 .line = pair->line,
                                 .col = pair->col};
}

static int service_read(struct conf_reader *r, const struct node_pair *pair)
{
    struct service_spec s = conf_service(r, pair);
    int status = -1;
    if (conf_name(r, pair, "the name of a service") == 0 &&
        conf_want(r, pair->key.p, pair->value, NODE_MAP) == 0 &&
        conf_map(r, IN_SERVICE, &s, pair->value) == 0)
        status = service_check(r, &s, pair->value);
    vec_push(&r->c->services, s); /* also a wrong one: its vectors are freed with the whole */
    return status;
}

int conf_services(struct conf_reader *r, const struct conf_key *key, void *into,
                  const struct node *value)
{
    (void)into;
    if (conf_want(r, key->name, value, NODE_MAP))
        return -1;
    if (value->n == 0 || value->n > SERVICES_MAX)
        return conf_fail(r, value, "\"%s\" must have 1 to %d services", key->name, SERVICES_MAX);
    for (uint32_t i = 0; i < value->n; i++)
        if (service_read(r, &value->map[i]))
            return -1;
    return 0;
}

/* ---- simulate ---- */

int conf_simulate(struct conf_reader *r, const struct conf_key *key, void *into,
                  const struct node *value)
{
    struct campaign_config *c = into;
    if (value->type == NODE_MAP) {
        if (conf_map(r, IN_SIMULATE, c, value))
            return -1;
        if (c->simulate.n)
            return 0;
        return conf_fail(r, value, "\"%s\" needs \"file\": the file of the simulated system",
                         key->name);
    }
    if (conf_want_scalar(r, key->name, value))
        return -1;
    if (!value->text.n)
        return conf_fail(r, value, "\"%s\" is empty: name the file of a simulated system",
                         key->name);
    c->simulate = conf_path(r, value->text);
    return 0;
}
