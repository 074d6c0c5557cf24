/* SPDX-License-Identifier: Apache-2.0
 *
 * The first file of a system. Its text is checked by reading it as a configuration before anybody
 * sees it.
 *
 * Of a docker-compose file only that is looked at: which ports services publish, and which variables
 * hold the addresses of others. A service that publishes a port runs at 127.0.0.1. One that
 * containers call gets a proxy that listens where they can reach it, and a note with the variables
 * that must point to it. A caller that Outfox starts instead (--run) is given the variables, with
 * placeholders in them. */
#include "config/starter.h"

#include <stdio.h>

#include "config/config_int.h"
#include "data/yaml.h"

enum { TEXT_MAX = 1 << 20, PROXY_OFFSET = 10000, NOTES_MAX = 50 };

struct starter *starter_new(void)
{
    return mem_zero(sizeof(struct starter));
}

void starter_free(struct starter *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->services.n; i++) {
        vec_deinit(&s->services.at[i].notes);
        vec_deinit(&s->services.at[i].env);
    }
    vec_deinit(&s->services);
    vec_deinit(&s->scenarios);
    arena_deinit(&s->arena);
    mem_free(s);
}

/* ---- what is told ---- */

/* The service of this name, added when there is none; NULL: the name is not allowed. */
static struct starter_service *find_service(struct starter *s, slice name, struct err *e)
{
    for (uint32_t i = 0; i < s->services.n; i++)
        if (slice_eq(s->services.at[i].name, name))
            return &s->services.at[i];
    if (!name_valid(name, false)) {
        err_set(e, 0, 0,
                "invalid service name \"%.*s\": use 1 to 100 letters, digits, \"-\" or \"_\"",
                SHORT(name));
        return NULL;
    }
    vec_push(&s->services, (struct starter_service){.name = slice_copy(&s->arena, name)});
    return &vec_last(&s->services);
}

/* NAME=REST; *rest is not empty. */
static struct starter_service *find_named(struct starter *s, const char *option, slice text,
                                          slice *rest, struct err *e)
{
    size_t equals = slice_find(text, '=');
    *rest = equals < text.n ? slice_from(text, equals + 1) : (slice){0};
    if (!rest->n) {
        err_set(e, 0, 0, "%s takes NAME=%s, not \"%.*s\"", option,
                strcmp(option, "--run") == 0 ? "COMMAND" : "PORT or NAME=HOST:PORT", SHORT(text));
        return NULL;
    }
    return find_service(s, (slice){text.p, equals}, e);
}

int starter_add_service(struct starter *s, slice text, struct err *e)
{
    slice rest;
    uint64_t port;
    struct starter_service *service = find_named(s, "--service", text, &rest, e);
    if (!service)
        return -1;
    size_t colon = rest.n;
    while (colon > 0 && rest.p[colon - 1] != ':')
        colon--;
    if (!slice_to_u64(slice_from(rest, colon), 65535, &port) || port == 0 || colon == 1)
        return err_set(e, 0, 0, "--service takes NAME=PORT or NAME=HOST:PORT, not \"%.*s\"",
                       SHORT(text));
    if (service->port)
        return err_set(e, 0, 0, "service \"%.*s\" is given twice", SHORT(service->name));
    service->port = (uint16_t)port;
    if (colon)
        service->host = slice_copy(&s->arena, (slice){rest.p, colon - 1});
    return 0;
}

int starter_add_run(struct starter *s, slice text, struct err *e)
{
    slice rest;
    struct starter_service *service = find_named(s, "--run", text, &rest, e);
    if (!service)
        return -1;
    if (service->run.n)
        return err_set(e, 0, 0, "--run is given twice for \"%.*s\"", SHORT(service->name));
    service->run = slice_copy(&s->arena, rest);
    service->why_not = (slice){0};
    return 0;
}

void starter_add_scenario(struct starter *s, bool command, slice text)
{
    vec_push(&s->scenarios, (struct starter_scenario){command, slice_copy(&s->arena, text)});
}

/* ---- a docker-compose file: ports ---- */

/* Ports of what does not speak HTTP. */
static const struct other_protocol {
    uint16_t port;
    const char *name;
} others[] = {
    {1433, "SQL Server"}, {2181, "ZooKeeper"},  {3306, "MySQL"},    {4222, "NATS"},
    {5432, "PostgreSQL"}, {5672, "AMQP"},       {6379, "Redis"},    {9042, "Cassandra"},
    {9092, "Kafka"},      {11211, "memcached"}, {27017, "MongoDB"},
};

/* The text of a value with its ${VARIABLES}; empty when one is not set. */
static slice value_text(struct starter *s, const struct node *value)
{
    struct err ignored = {0};
    const struct node *now = value ? conf_env(value, &s->arena, &ignored) : NULL;
    return now ? now->text : SLICE("");
}

struct published {
    uint64_t host, container; /* 0: not known */
    bool http;                /* not udp */
};

static uint64_t port_of(slice text)
{
    uint64_t port;
    return slice_to_u64(text, 65535, &port) ? port : 0;
}

/* Takes ":PORT", or PORT alone, off the end of *text. */
static uint64_t take_port(slice *text)
{
    size_t colon = text->n;
    while (colon > 0 && text->p[colon - 1] != ':')
        colon--;
    slice port = slice_from(*text, colon);
    text->n = colon ? colon - 1 : 0;
    return port_of(port);
}

/* [IP:]HOST:CONTAINER[/tcp], or CONTAINER alone, which gets any port; or a map of these. */
static struct published port_read(struct starter *s, const struct node *item)
{
    if (item->type == NODE_MAP) {
        slice protocol = value_text(s, node_get(item, SLICE("protocol")));
        return (struct published){
            .host = port_of(value_text(s, node_get(item, SLICE("published")))),
            .container = port_of(value_text(s, node_get(item, SLICE("target")))),
            .http = !protocol.n || slice_is(protocol, "tcp")};
    }
    slice text = value_text(s, item);
    size_t slash = slice_find(text, '/');
    struct published p = {.http = slash == text.n || slice_is(slice_from(text, slash), "/tcp")};
    text.n = slash;
    p.container = take_port(&text);
    p.host = p.container ? take_port(&text) : 0;
    return p;
}

static void ports_read(struct starter *s, struct starter_service *service, const struct node *map)
{
    const struct node *ports = node_get(map, SLICE("ports"));
    const char *other = NULL;
    for (uint32_t i = 0; ports && ports->type == NODE_LIST && i < ports->n && !service->port; i++) {
        struct published p = port_read(s, ports->list[i]);
        const char *name = NULL;
        for (size_t k = 0; k < sizeof others / sizeof *others && !name; k++)
            if ((p.container ? p.container : p.host) == others[k].port)
                name = others[k].name;
        if (name)
            other = name;
        else if (p.http)
            service->port = (uint16_t)p.host;
    }
    if (service->port)
        return;
    service->why_not =
        slice_of(other ? arena_printf(&s->arena, "left out because it speaks %s, not HTTP", other)
                       : "left out because it publishes no port (or \"ports\" does not say which)");
}

/* ---- a docker-compose file: who calls whom ---- */

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

/* A free port for the proxy in front of a service. */
static uint16_t proxy_port(const struct starter *s, uint32_t port)
{
    uint32_t wanted = port + PROXY_OFFSET <= 65535 ? port + PROXY_OFFSET : port - PROXY_OFFSET;
    for (uint32_t i = 0; i < s->services.n; i++)
        if (s->services.at[i].port == wanted || s->services.at[i].proxy == wanted) {
            wanted = wanted < 65535 ? wanted + 1 : PROXY_OFFSET;
            i = UINT32_MAX; /* from the start; it ends: there are fewer services than ports */
        }
    return (uint16_t)wanted;
}

/* A variable of the service `name` may hold the address of others. */
static void variable_read(struct starter *s, slice name, slice key, slice value)
{
    struct starter_service *caller = NULL;
    slice at;
    for (uint32_t i = 0; i < s->services.n; i++)
        if (slice_eq(s->services.at[i].name, name))
            caller = &s->services.at[i];
    for (uint32_t i = 0; i < s->services.n; i++) {
        struct starter_service *callee = &s->services.at[i];
        if (callee->why_not.n || callee == caller || !names_host(value, callee->name, &at))
            continue;
        if (caller && caller->run.n) { /* we start it: the variable gets the address of the proxy */
            if (caller->env.n == NOTES_MAX)
                continue;
            size_t before = (size_t)(at.p - value.p);
            const char *wired =
                arena_printf(&s->arena, "%.*s{%s:%.*s}%.*s", (int)before, value.p,
                             memmem(at.p, at.n, "://", 3) ? "url" : "address",
                             SLICE_ARG(callee->name), SLICE_ARG(slice_from(value, before + at.n)));
            vec_push(&caller->env,
                     ((struct text_pair){slice_copy(&s->arena, key), slice_of(wired)}));
            return; /* a list of addresses is for people to read */
        }
        if (callee->notes.n == NOTES_MAX)
            continue;
        if (!callee->proxy)
            callee->proxy = proxy_port(s, callee->port);
        vec_push(&callee->notes,
                 slice_of(arena_printf(&s->arena,
                                       "%.*s calls it: in the compose file, point %.*s of %.*s to "
                                       "host.docker.internal:%u",
                                       SHORT(name), SHORT(key), SHORT(name), callee->proxy)));
    }
}

static void environment_read(struct starter *s, slice caller, const struct node *map)
{
    const struct node *variables = node_get(map, SLICE("environment"));
    for (uint32_t i = 0; variables && i < variables->n; i++) {
        if (variables->type == NODE_MAP) {
            variable_read(s, caller, variables->map[i].key, variables->map[i].value->text);
        } else if (variables->type == NODE_LIST) {
            slice rest = variables->list[i]->text, key;
            if (slice_cut(&rest, '=', &key) && rest.p)
                variable_read(s, caller, key, rest);
        }
    }
}

static void depends_read(struct starter *s, struct starter_service *service, const struct node *map)
{
    const struct node *on = node_get(map, SLICE("depends_on"));
    struct buf text = BUF_INIT(400);
    for (uint32_t i = 0; on && i < on->n && (on->type == NODE_MAP || on->type == NODE_LIST); i++) {
        slice name = on->type == NODE_MAP ? on->map[i].key : on->list[i]->text;
        buf_addf(&text, "%s%.*s", i ? ", " : "it depends on ", SHORT(name));
    }
    if (text.n)
        vec_push(&service->notes, slice_copy(&s->arena, buf_slice(&text)));
    buf_deinit(&text);
}

/* status: of reading the nodes. The reader of YAML does without what compose files often have:
 * another program can help. */
static int compose_read(struct starter *s, int status, const struct node *root, struct err *e)
{
    if (status) {
        bool anchors = strstr(e->text, "anchors") != NULL;
        if (anchors)
            snprintf(e->text, sizeof e->text,
                     "anchors, aliases and tags are not supported: \"docker compose "
                     "config >flat.yml\" writes the file without them");
        return -1;
    }
    const struct node *services = node_get(root, SLICE("services"));
    if (!services || services->type != NODE_MAP)
        return err_set(e, root->line, root->col,
                       "not a docker-compose file: it has no \"services\"");
    if (services->n > SERVICES_MAX)
        return err_set(e, services->line, services->col, "more than %d services", SERVICES_MAX);
    for (uint32_t i = 0; i < services->n; i++) {
        const struct node_pair *pair = &services->map[i];
        struct starter_service *service = find_service(s, pair->key, e);
        if (!service)
            return err_place(e, pair->line, pair->col);
        if (service->run.n || service->port)
            continue; /* told on the command line */
        ports_read(s, service, pair->value);
        depends_read(s, service, pair->value);
    }
    for (uint32_t i = 0; i < services->n; i++)
        environment_read(s, services->map[i].key, services->map[i].value);
    return 0;
}

int starter_compose(struct starter *s, const char *path, struct err *e)
{
    const struct node *root;
    struct err inner = {0}; /* of that file */
    s->origin = slice_copy(&s->arena, slice_of(path));
    int status = yaml_load(path, &s->arena, &root, &inner);
    status = compose_read(s, status, root, &inner);
    if (status)
        *e = inner;
    return status;
}

int starter_compose_text(struct starter *s, slice text, struct err *e)
{
    const struct node *root;
    s->origin = SLICE("the text");
    int status = yaml_parse(text, &s->arena, &root, e);
    return compose_read(s, status, root, e);
}

/* ---- the file ---- */

/* Can it stand in YAML without quotes? */
static bool is_plain(slice text)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_is(text, words[i]))
            return false; /* somebody takes it for something else */
    bool ok = text.n && (is_letter(text.p[0]) || text.p[0] == '/' ||
                         (text.p[0] == '.' && text.n > 1 && text.p[1] == '/'));
    for (size_t i = 0; ok && i < text.n; i++) {
        char c = text.p[i], next = i + 1 < text.n ? text.p[i + 1] : ' ';
        ok = c >= 0x20 && c < 0x7f && !(c == ':' && next == ' ') && !(c == ' ' && next == '#');
    }
    return ok && text.p[text.n - 1] != ' ';
}

/* What the shell shall see as ${ must not be taken for an environment variable of the file. */
static void add_value(slice text, struct buf *out)
{
    struct buf kept = BUF_INIT(TEXT_MAX);
    for (size_t i = 0; i < text.n; i++) {
        bool dollar = text.p[i] == '$';
        char next = i + 1 < text.n ? text.p[i + 1] : 0, before = i ? text.p[i - 1] : 0;
        if (dollar && (next == '{' || next == '$' || before == '$'))
            buf_addc(&kept, '$');
        buf_addc(&kept, text.p[i]);
    }
    if (is_plain(buf_slice(&kept)))
        buf_add(out, buf_slice(&kept));
    else
        buf_add_json_string(out, buf_slice(&kept));
    buf_deinit(&kept);
}

static void add_listen(const struct starter_service *service, struct buf *out)
{
    if (service->proxy) /* containers do not reach 127.0.0.1 */
        buf_addf(out,
                 "    listen: \"0.0.0.0:%u\"  # its callers must use this address: the proxy\n",
                 service->proxy);
}

static void add_started(const struct starter_service *service, struct buf *out)
{
    bool told = false;
    buf_adds(out, "    run: ");
    add_value(service->run, out);
    buf_addc(out, '\n');
    for (size_t i = 0; i + 6 <= service->run.n; i++)
        told |= slice_starts(slice_from(service->run, i), SLICE("{port"));
    if (service->port)
        buf_addf(out, "    port: %u\n", service->port);
    else
        buf_adds(out, told ? "    # no port: Outfox puts a free one in place of {port}\n"
                           : "    # port: 5000       # where it listens; or write {port} in the "
                             "command\n");
    if (service->host.n) {
        buf_adds(out, "    host: ");
        buf_add_json_string(out, service->host);
        buf_addc(out, '\n');
    }
    add_listen(service, out);
    buf_adds(out, "    # ready: GET /health  # default: as soon as it accepts connections\n"
                  "    # restart: each-run  # if it has a cache or circuit breaker: reset before "
                  "every run\n");
    if (!service->env.n)
        buf_adds(out, "    # env: { OTHER_URL: \"{url:OTHER}\" }  # where this service finds "
                      "OTHER: the proxy\n");
    else
        buf_adds(out, "    env: # from the compose file, with proxies in place of services\n");
    for (uint32_t i = 0; i < service->env.n; i++) {
        buf_addf(out, "      %.*s: ", SLICE_ARG(service->env.at[i].name));
        add_value(service->env.at[i].value, out);
        buf_addc(out, '\n');
    }
}

static void add_service(const struct starter_service *service, struct buf *out)
{
    if (service->why_not.n) {
        buf_addf(out, "  # %.*s: %.*s\n", SLICE_ARG(service->name), SLICE_ARG(service->why_not));
        return;
    }
    buf_addf(out, "  %.*s:\n", SLICE_ARG(service->name));
    for (uint32_t i = 0; i < service->notes.n; i++) {
        slice note = service->notes.at[i];
        buf_adds(out, "    # ");
        for (size_t k = 0; k < note.n; k++) /* a comment is one line */
            buf_addc(out, (unsigned char)note.p[k] < 0x20 || note.p[k] == 0x7f ? ' ' : note.p[k]);
        buf_addc(out, '\n');
    }
    if (service->run.n) {
        add_started(service, out);
        return;
    }
    slice host = service->host.n ? service->host : SLICE("127.0.0.1");
    struct buf address = BUF_INIT(400);
    buf_addf(&address, "%.*s:%u", SLICE_ARG(host), service->port);
    buf_adds(out, "    address: ");
    buf_add_json_string(out, buf_slice(&address));
    buf_deinit(&address);
    buf_adds(out, "  # already running\n");
    add_listen(service, out);
    if (!service->proxy)
        buf_adds(out, "    # listen: 127.0.0.1:15000  # a fixed address for callers that Outfox "
                      "does not start\n");
}

static void add_scenarios(const struct starter *s, slice first, struct buf *out)
{
    buf_adds(out, "\n# What to exercise. {url:NAME} is the address of a service behind its proxy.\n"
                  "# `suite` takes the tests of a runner (pytest, JUnit ...): docs/suites.md.\n"
                  "scenarios:\n");
    for (uint32_t i = 0; i < s->scenarios.n; i++) {
        const struct starter_scenario *scenario = &s->scenarios.at[i];
        buf_addf(out, "  scenario-%u:\n    %s: ", i + 1, scenario->command ? "command" : "request");
        add_value(scenario->text, out);
        buf_addc(out, '\n');
        if (scenario->command)
            buf_adds(out, "    # env: { SHOP: \"{url:NAME}\" }  # tells the command where the "
                          "services are\n");
        else
            buf_adds(out, "    expect: { status: 2xx }\n");
        buf_adds(out, "    # before: ./reset-state.sh     # resets state before every run\n");
    }
    if (!s->scenarios.n)
        buf_addf(out,
                 "  scenario-1:\n"
                 "    request: GET {url:%.*s}/      # change this to a request that matters\n"
                 "    expect: { status: 2xx }\n",
                 SLICE_ARG(first));
}

static const char ending[] =
    "\n# How calls fail: an error, a broken connection, a lost reply, no answer at all.\n"
    "# `errors` takes less time, `thorough` tries more; `outfox modes` lists all modes.\n"
    "modes: standard\n"
    "\n# Calls that must never fail.\n"
    "ignore: [\"* GET /health\"]\n"
    "\n# Remove this to try all combinations, which may take long.\n"
    "search: { max-faults: 2 }\n";

int starter_text(const struct starter *s, struct buf *out, struct err *e)
{
    uint32_t first = 0;
    while (first < s->services.n && s->services.at[first].why_not.n)
        first++;
    if (first == s->services.n)
        return err_set(e, 0, 0,
                       s->origin.n
                           ? "no service in %.*s can be reached over HTTP from here: publish "
                             "its port (\"ports\"), or add --service NAME=PORT"
                           : "no service is given%.*s: add --service NAME=PORT, --run "
                             "NAME=COMMAND or --compose FILE",
                       SHORT(s->origin));
    if (s->schema.n)
        buf_addf(out, "# yaml-language-server: $schema=%.*s\n", SLICE_ARG(s->schema));
    buf_adds(out,
             "# A campaign of Outfox: `outfox validate` checks this file, `outfox run` explores.\n"
             "version: 1\n"
             "\n# The services; the calls between them are faulted.\n"
             "services:\n");
    for (uint32_t i = 0; i < s->services.n; i++)
        add_service(&s->services.at[i], out);
    add_scenarios(s, s->services.at[first].name, out);
    buf_adds(out, ending);
    struct campaign_config *check;
    struct err inner = {0};
    if (out->full)
        return err_set(e, 0, 0, "the file would exceed 1 MiB");
    if (campaign_config_parse(buf_slice(out), "", &check, &inner))
        return err_set(e, 0, 0, "%s", inner.text);
    campaign_config_free(check);
    return 0;
}
