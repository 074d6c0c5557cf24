/* SPDX-License-Identifier: Apache-2.0
 *
 * The first file of a system. Its text is checked by reading it as a configuration before anybody
 * sees it. */
#include "config/starter.h"

#include "config/config_int.h"

enum { TEXT_MAX = 1 << 20 };

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

struct starter_service *starter_find(struct starter *s, slice name, struct err *e)
{
    for (uint32_t i = 0; i < s->services.n; i++)
        if (slice_eq(s->services.at[i].name, name))
            return &s->services.at[i];
    if (!name_valid(name, false)) {
        err_set(e, 0, 0,
                "the name of a service has 1 to 100 letters, digits, \"-\" and \"_\"; \"%.*s\" has "
                "not",
                SHORT(name));
        return NULL;
    }
    vec_push(&s->services, (struct starter_service){.name = slice_copy(&s->arena, name)});
    return &vec_last(&s->services);
}

/* NAME=REST; *rest is not empty. */
static struct starter_service *find_told(struct starter *s, const char *option, slice text,
                                         slice *rest, struct err *e)
{
    size_t equals = slice_find(text, '=');
    *rest = equals < text.n ? slice_from(text, equals + 1) : (slice){0};
    if (!rest->n) {
        err_set(e, 0, 0, "%s takes NAME=%s, not \"%.*s\"", option,
                strcmp(option, "--run") == 0 ? "COMMAND" : "PORT or NAME=HOST:PORT", SHORT(text));
        return NULL;
    }
    return starter_find(s, (slice){text.p, equals}, e);
}

int starter_add_service(struct starter *s, slice text, struct err *e)
{
    slice rest;
    uint64_t port;
    struct starter_service *service = find_told(s, "--service", text, &rest, e);
    if (!service)
        return -1;
    size_t colon = rest.n;
    while (colon > 0 && rest.p[colon - 1] != ':')
        colon--;
    if (!slice_to_u64(slice_from(rest, colon), 65535, &port) || port == 0 || colon == 1)
        return err_set(e, 0, 0, "--service takes NAME=PORT or NAME=HOST:PORT, not \"%.*s\"",
                       SHORT(text));
    if (service->port)
        return err_set(e, 0, 0, "the service \"%.*s\" is there twice", SHORT(service->name));
    service->port = (uint16_t)port;
    if (colon)
        service->host = slice_copy(&s->arena, (slice){rest.p, colon - 1});
    return 0;
}

int starter_add_run(struct starter *s, slice text, struct err *e)
{
    slice rest;
    struct starter_service *service = find_told(s, "--run", text, &rest, e);
    if (!service)
        return -1;
    if (service->run.n)
        return err_set(e, 0, 0, "--run is there twice for \"%.*s\"", SHORT(service->name));
    service->run = slice_copy(&s->arena, rest);
    service->why_not = (slice){0};
    return 0;
}

void starter_add_scenario(struct starter *s, bool command, slice text)
{
    vec_push(&s->scenarios, (struct starter_scenario){command, slice_copy(&s->arena, text)});
}

/* ---- the file ---- */

/* Can it stand in YAML without quotes? */
static bool is_plain(slice text)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_is(text, words[i]))
            return false; /* somebody takes it for something else */
    bool ok = text.n &&
              ((text.p[0] >= 'a' && text.p[0] <= 'z') || (text.p[0] >= 'A' && text.p[0] <= 'Z') ||
               text.p[0] == '/' || (text.p[0] == '.' && text.n > 1 && text.p[1] == '/'));
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

/* A comment is one line. */
static void add_note(const char *before, slice note, struct buf *out)
{
    buf_addf(out, "%s# ", before);
    for (size_t i = 0; i < note.n; i++)
        buf_addc(out, (unsigned char)note.p[i] < 0x20 || note.p[i] == 0x7f ? ' ' : note.p[i]);
    buf_addc(out, '\n');
}

static bool add_listen(const struct starter_service *service, struct buf *out)
{
    if (service->listen.n)
        buf_addf(out, "    listen: \"%.*s\"  # its callers must use this address: the proxy\n",
                 SLICE_ARG(service->listen));
    return service->listen.n;
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
        buf_adds(out, told ? "    # no port: a free one is chosen and put in place of {port}\n"
                           : "    # port: 5000       # where it listens; or write {port} in the "
                             "command\n");
    if (service->host.n) {
        buf_adds(out, "    host: ");
        buf_add_json_string(out, service->host);
        buf_addc(out, '\n');
    }
    add_listen(service, out);
    buf_adds(out, "    # ready: GET /health  # default: as soon as it accepts connections\n"
                  "    # restart: each-run  # if it has a cache or a circuit breaker: forgotten "
                  "before every run\n");
    if (!service->env.n)
        buf_adds(out, "    # env: { OTHER_URL: \"{url:OTHER}\" }  # where this service finds "
                      "OTHER: the proxy\n");
    else
        buf_adds(out, "    env: # of the compose file, with the proxies in place of services\n");
    for (uint32_t i = 0; i < service->env.n; i++) {
        buf_addf(out, "      %.*s: ", SLICE_ARG(service->env.at[i].name));
        add_value(service->env.at[i].value, out);
        buf_addc(out, '\n');
    }
}

static void add_service(const struct starter_service *service, struct buf *out)
{
    if (service->why_not.n) {
        buf_addf(out, "  # %.*s: ", SLICE_ARG(service->name));
        buf_addf(out, "%.*s\n", SLICE_ARG(service->why_not));
        return;
    }
    buf_addf(out, "  %.*s:\n", SLICE_ARG(service->name));
    for (uint32_t i = 0; i < service->notes.n; i++)
        add_note("    ", service->notes.at[i], out);
    if (service->run.n) {
        add_started(service, out);
        return;
    }
    struct buf address = BUF_INIT(400);
    if (service->host.n)
        buf_add(&address, service->host);
    else
        buf_adds(&address, "127.0.0.1");
    buf_addf(&address, ":%u", service->port);
    buf_adds(out, "    address: ");
    buf_add_json_string(out, buf_slice(&address));
    buf_deinit(&address);
    buf_adds(out, "  # it runs already\n");
    if (!add_listen(service, out))
        buf_adds(out, "    # listen: 127.0.0.1:15000  # a fixed address for callers that Outfox "
                      "does not start\n");
}

static const struct starter_service *first_service(const struct starter *s)
{
    for (uint32_t i = 0; i < s->services.n; i++)
        if (!s->services.at[i].why_not.n)
            return &s->services.at[i];
    return NULL;
}

static void add_scenarios(const struct starter *s, slice first, struct buf *out)
{
    buf_adds(out, "\n# What is exercised. {url:NAME} is the address of a service behind its proxy."
                  "\nscenarios:\n");
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
        buf_adds(out, "    # before: ./reset-state.sh     # brings state back before every run\n");
    }
    if (!s->scenarios.n)
        buf_addf(out,
                 "  scenario-1:\n"
                 "    request: GET {url:%.*s}/      # change this to a request that matters\n"
                 "    expect: { status: 2xx }\n",
                 SLICE_ARG(first));
}

static const char ending[] =
    "\n# How calls are made to fail: an error, a broken connection, a lost reply, no answer at all.\n"
    "# `errors` takes less time, `thorough` tries more; `outfox modes` lists all ways.\n"
    "modes: standard\n"
    "\n# Calls that shall never fail.\n"
    "ignore: [\"* GET /health\"]\n"
    "\n# Take this out to try all combinations, which may take long.\n"
    "search: { max-faults: 2 }\n";

int starter_text(const struct starter *s, struct buf *out, struct err *e)
{
    const struct starter_service *first = first_service(s);
    if (!first)
        return err_set(e, 0, 0,
                       s->origin.n ? "no service of %.*s can be reached over HTTP from here: "
                                     "publish its port (\"ports\"), or add --service NAME=PORT"
                                   : "no service is named%.*s: add --service NAME=PORT, --run "
                                     "NAME=COMMAND or --compose FILE",
                       SHORT(s->origin));
    if (s->schema.n) {
        buf_adds(out, "# yaml-language-server: $schema=");
        buf_add(out, s->schema);
        buf_addc(out, '\n');
    }
    buf_adds(out,
             "# A campaign of Outfox. outfox validate checks this file, outfox run explores.\n"
             "version: 1\n\n# The services between which calls are made to fail.\nservices:\n");
    for (uint32_t i = 0; i < s->services.n; i++)
        add_service(&s->services.at[i], out);
    add_scenarios(s, first->name, out);
    buf_adds(out, ending);
    struct campaign_config *check;
    struct err inner = {0};
    if (out->full)
        return err_set(e, 0, 0, "the file would have more than 1 MiB");
    if (campaign_config_parse(buf_slice(out), "", &check, &inner))
        return err_set(e, 0, 0, "%s", inner.text);
    campaign_config_free(check);
    return 0;
}
