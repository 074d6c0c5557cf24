/* SPDX-License-Identifier: Apache-2.0
 *
 * What a docker-compose file says about services: which ports they publish, and which variables
 * hold the addresses of others. Only that is looked at; whatever else is in the file is let be.
 *
 * A service that publishes a port runs at 127.0.0.1. One that containers call gets a proxy that
 * listens where they can reach it, and a note with the variables that must point to it. A caller
 * that Outfox starts instead (--run) is given the variables, with placeholders in them. */
#include "config/config_int.h"
#include "config/starter.h"
#include "data/yaml.h"

#define ALL_ADDRESSES "0.0.0.0:" /* containers do not reach 127.0.0.1 */
enum { PROXY_OFFSET = 10000, NOTES_MAX = 50 };

/* Ports of what does not speak HTTP. */
static const struct other_protocol {
    uint16_t port;
    const char *name;
} others[] = {
    {1433, "SQL Server"}, {2181, "ZooKeeper"},  {3306, "MySQL"},    {4222, "NATS"},
    {5432, "PostgreSQL"}, {5672, "AMQP"},       {6379, "Redis"},    {9042, "Cassandra"},
    {9092, "Kafka"},      {11211, "memcached"}, {27017, "MongoDB"},
};

struct compose {
    struct starter *s;
    const struct node *services;
};

static slice noted(struct compose *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static slice noted(struct compose *c, const char *format, ...)
{
    struct buf text = BUF_INIT(600);
    va_list args;
    va_start(args, format);
    buf_addv(&text, format, args);
    va_end(args);
    return buf_keep(&text, &c->s->arena);
}

/* ---- ports ---- */

/* The text of a value with its ${VARIABLES}; empty when one is not set. */
static slice value_text(struct compose *c, const struct node *value)
{
    struct err ignored = {0};
    const struct node *now = value ? conf_env(value, &c->s->arena, &ignored) : NULL;
    return now ? now->text : SLICE("");
}

struct published {
    uint64_t host, container; /* 0: not known */
    bool http;                /* not udp */
};

/* [IP:]HOST:CONTAINER[/tcp], or CONTAINER alone, which gets any port. */
static struct published port_text(slice text)
{
    struct published p = {.http = true};
    size_t slash = slice_find(text, '/');
    p.http = slash == text.n || slice_is(slice_from(text, slash), "/tcp");
    text.n = slash;
    size_t colon = text.n;
    while (colon > 0 && text.p[colon - 1] != ':')
        colon--;
    if (!slice_to_u64(slice_from(text, colon), 65535, &p.container) || !colon)
        return p;
    slice host = {text.p, colon - 1};
    size_t before = host.n;
    while (before > 0 && host.p[before - 1] != ':')
        before--;
    if (!slice_to_u64(slice_from(host, before), 65535, &p.host))
        p.host = 0;
    return p;
}

static struct published port_read(struct compose *c, const struct node *item)
{
    if (item->type != NODE_MAP)
        return port_text(value_text(c, item));
    slice protocol = value_text(c, node_get(item, SLICE("protocol")));
    struct published p = {.http = !protocol.n || slice_is(protocol, "tcp")};
    if (!slice_to_u64(value_text(c, node_get(item, SLICE("published"))), 65535, &p.host))
        p.host = 0;
    if (!slice_to_u64(value_text(c, node_get(item, SLICE("target"))), 65535, &p.container))
        p.container = 0;
    return p;
}

static const char *other_protocol(const struct published *p)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (p->container == others[i].port || (!p->container && p->host == others[i].port))
            return others[i].name;
    return NULL;
}

static void ports_read(struct compose *c, struct starter_service *service, const struct node *map)
{
    const struct node *ports = node_get(map, SLICE("ports"));
    const char *other = NULL;
    for (uint32_t i = 0; ports && ports->type == NODE_LIST && i < ports->n && !service->port; i++) {
        struct published p = port_read(c, ports->list[i]);
        const char *name = other_protocol(&p);
        if (name)
            other = name;
        else if (p.http && p.host)
            service->port = (uint16_t)p.host;
    }
    if (service->port)
        return;
    service->why_not =
        other
            ? noted(c, "left out, because it speaks %s and not HTTP", other)
            : noted(c, "left out, because it publishes no port (or \"ports\" does not say which)");
}

/* ---- who calls whom ---- */

static bool is_name_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
}

/* Does the value hold the service as a host: http://NAME, user@NAME, NAME:80? *at: from the scheme,
 * or the name, to the end of the port. */
static bool names_host(slice value, slice name, slice *at)
{
    for (size_t i = 0; i + name.n <= value.n; i++) {
        char before = i ? value.p[i - 1] : ' ';
        bool slashes = before == '/' && i >= 2 && value.p[i - 2] == '/';
        bool in_url = before == '@' || slashes;
        bool starts = before == ' ' || before == ',';
        if ((!in_url && !starts) || !slice_starts(slice_from(value, i), name))
            continue;
        slice behind = slice_from(value, i + name.n);
        bool ends = behind.n == 0 || !is_name_byte(behind.p[0]);
        bool port = behind.n >= 2 && behind.p[0] == ':' && is_digit(behind.p[1]);
        if (!(in_url ? ends : port))
            continue;
        size_t from = i, to = i + name.n + port;
        while (port && to < value.n && is_digit(value.p[to]))
            to++;
        while (slashes && from > 0 && !strchr(" ,", value.p[from - 1]))
            from--;
        *at = (slice){value.p + from, to - from};
        return true;
    }
    return false;
}

static bool port_taken(const struct compose *c, uint32_t port)
{
    bool taken = false;
    for (uint32_t i = 0; i < c->s->services.n; i++) {
        const struct starter_service *service = &c->s->services.at[i];
        uint64_t listens = 0;
        if (service->listen.n &&
            !slice_to_u64(slice_from(service->listen, sizeof ALL_ADDRESSES - 1), 65535, &listens))
            listens = 0;
        taken |= service->port == port || listens == port;
    }
    return taken;
}

static uint32_t proxy_port(const struct compose *c, uint32_t port)
{
    uint32_t wanted = port + PROXY_OFFSET <= 65535 ? port + PROXY_OFFSET : port - PROXY_OFFSET;
    while (port_taken(c, wanted)) /* ends: there are fewer services than ports */
        wanted = wanted < 65535 ? wanted + 1 : PROXY_OFFSET;
    return wanted;
}

/* The variable of `caller` holds the address of a service. */
static void call_found(struct compose *c, slice caller, slice key, struct starter_service *callee)
{
    if (callee->notes.n == NOTES_MAX)
        return;
    if (!callee->listen.n)
        callee->listen = noted(c, ALL_ADDRESSES "%u", proxy_port(c, callee->port));
    slice port = slice_from(callee->listen, sizeof ALL_ADDRESSES - 1);
    vec_push(&callee->notes, noted(c,
                                   "%.*s calls it: in the compose file let %.*s of %.*s point to "
                                   "host.docker.internal:%.*s",
                                   SHORT(caller), SHORT(key), SHORT(caller), SHORT(port)));
}

/* A caller that we start: its variable gets the address of the proxy. */
static void call_wired(struct compose *c, struct starter_service *caller, slice key, slice value,
                       slice at, slice callee)
{
    bool url = memmem(at.p, at.n, "://", 3) != NULL;
    slice before = {value.p, (size_t)(at.p - value.p)}, behind = slice_from(value, before.n + at.n);
    vec_push(&caller->env,
             ((struct starter_variable){slice_copy(&c->s->arena, key),
                                        noted(c, "%.*s{%s:%.*s}%.*s", SLICE_ARG(before),
                                              url ? "url" : "address", SLICE_ARG(callee),
                                              SLICE_ARG(behind))}));
}

static void variable_read(struct compose *c, slice name, slice key, slice value)
{
    struct starter_service *caller = NULL;
    slice at;
    for (uint32_t i = 0; i < c->s->services.n; i++)
        if (slice_eq(c->s->services.at[i].name, name))
            caller = &c->s->services.at[i];
    for (uint32_t i = 0; i < c->s->services.n; i++) {
        struct starter_service *callee = &c->s->services.at[i];
        if (callee->why_not.n || callee == caller || !names_host(value, callee->name, &at))
            continue;
        if (!caller || !caller->run.n) {
            call_found(c, name, key, callee);
        } else if (caller->env.n < NOTES_MAX) {
            call_wired(c, caller, key, value, at, callee->name);
            return; /* a list of addresses is for people to read */
        }
    }
}

static void environment_read(struct compose *c, slice caller, const struct node *map)
{
    const struct node *variables = node_get(map, SLICE("environment"));
    for (uint32_t i = 0; variables && i < variables->n; i++) {
        if (variables->type == NODE_MAP) {
            variable_read(c, caller, variables->map[i].key, variables->map[i].value->text);
        } else if (variables->type == NODE_LIST) {
            slice rest = variables->list[i]->text, key;
            if (slice_cut(&rest, '=', &key) && rest.p)
                variable_read(c, caller, key, rest);
        }
    }
}

static void depends_read(struct compose *c, struct starter_service *service, const struct node *map)
{
    const struct node *on = node_get(map, SLICE("depends_on"));
    struct buf text = BUF_INIT(400);
    for (uint32_t i = 0; on && i < on->n && (on->type == NODE_MAP || on->type == NODE_LIST); i++) {
        slice name = on->type == NODE_MAP ? on->map[i].key : on->list[i]->text;
        buf_addf(&text, "%s%.*s", i ? ", " : "it depends on ", SHORT(name));
    }
    if (text.n)
        vec_push(&service->notes, slice_copy(&c->s->arena, buf_slice(&text)));
    buf_deinit(&text);
}

/* ---- the file ---- */

static int services_read(struct compose *c, struct err *e)
{
    for (uint32_t i = 0; i < c->services->n; i++) {
        const struct node_pair *pair = &c->services->map[i];
        struct err inner = {0};
        struct starter_service *service = starter_find(c->s, pair->key, &inner);
        if (!service)
            return err_set(e, pair->line, pair->col, "%s", inner.text);
        if (service->run.n || service->port)
            continue; /* told on the command line */
        ports_read(c, service, pair->value);
        depends_read(c, service, pair->value);
    }
    for (uint32_t i = 0; i < c->services->n; i++)
        environment_read(c, c->services->map[i].key, c->services->map[i].value);
    return 0;
}

static int compose_read(struct starter *s, const struct node *root, struct err *e)
{
    struct compose c = {s, node_get(root, SLICE("services"))};
    if (!c.services || c.services->type != NODE_MAP)
        return err_set(e, root->line, root->col, "no docker-compose file: it has no \"services\"");
    if (c.services->n > SERVICES_MAX)
        return err_set(e, c.services->line, c.services->col, "more than %d services", SERVICES_MAX);
    return services_read(&c, e);
}

/* The reader of YAML does without what compose files often have; another program can help. */
static int compose_fail(const struct err *inner, struct err *e)
{
    bool anchors = strstr(inner->text, "anchors") != NULL;
    return err_set(e, inner->line, inner->col, "%s%s",
                   anchors ? "anchors, aliases and tags are not read" : inner->text,
                   anchors ? ": \"docker compose config >flat.yml\" writes the file without them"
                           : "");
}

int starter_compose(struct starter *s, const char *path, struct err *e)
{
    const struct node *root;
    struct err inner = {0};
    int status = yaml_load(path, &s->arena, &root, &inner) ? compose_fail(&inner, e)
                                                           : compose_read(s, root, e);
    s->origin = slice_copy(&s->arena, slice_of(path));
    if (status)
        memcpy(e->source, inner.source, sizeof e->source);
    return status;
}

int starter_compose_text(struct starter *s, slice text, struct err *e)
{
    const struct node *root;
    struct err inner = {0};
    s->origin = SLICE("the text");
    return yaml_parse(text, &s->arena, &root, &inner) ? compose_fail(&inner, e)
                                                      : compose_read(s, root, e);
}
