/* SPDX-License-Identifier: Apache-2.0 */
#include "live/wiring.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "config/placeholder.h"
#include "io/sys.h"

/* ---- addresses of the services ---- */

/* Ports for services are chosen below those that the system gives to connections and to listeners
 * that ask for any: so nobody gets one by chance until its service listens, or while that is
 * restarted. Another campaign on this machine might choose the same one meanwhile. So each port is
 * held by a socket with its number as a name, which nobody else can have, and which is gone with
 * this process however that ends. */
enum { PORT_FIRST = 10000, PORT_LAST = 32000, PORT_TRIES = 300 };

/* A descriptor that listens there, or -1. */
static int listen_at(const char *text, struct addr *out)
{
    struct err ignored = {0};
    bool parsed = addr_parse(slice_of(text), "host", out, &ignored) == 0;
    return parsed ? addr_listen(out, false, &ignored) : -1;
}

static int choose_ports(struct wiring *w, struct err *e)
{
    struct rng rng = {(uint64_t)clock_ns() ^ (uint64_t)getpid() << 40};
    for (uint32_t i = 0; i < w->n_services; i++) {
        const struct service_spec *spec = &w->config->services.at[i];
        if (spec->port || spec->address.n)
            continue;
        bool found = false;
        for (int try = 0; try < PORT_TRIES && !found; try++) {
            uint32_t port = PORT_FIRST + rng_below(&rng, PORT_LAST - PORT_FIRST);
            bool taken = false;
            for (uint32_t k = 0; k < w->n_services; k++)
                taken |= addr_port(&w->address[k]) == port;
            char name[64];
            struct addr held_at;
            (void)snprintf(name, sizeof name, "unix:@outfox-port-%u", (unsigned)port);
            int held = taken ? -1 : listen_at(name, &held_at);
            if (held < 0)
                continue; /* another campaign's */
            char *text = arena_printf(&w->arena, "%.*s:%u", SLICE_ARG(spec->host), (unsigned)port);
            int fd = listen_at(text, &w->address[i]);
            found = fd >= 0;
            w->address[i].listening = false;
            sys_close(found ? fd : held);
            if (found)
                vec_push(&w->held, held);
        }
        if (!found)
            return err_set(e, spec->line, spec->col,
                           "no free port was found for service \"%s\" on %.*s; set its `port`",
                           spec->name.p, SLICE_ARG(spec->host));
    }
    return 0;
}

static int settle_services(struct wiring *w, struct err *e)
{
    const struct campaign_config *config = w->config;
    w->n_services = config->services.n;
    w->name = arena_alloc(&w->arena, (w->n_services + 1) * sizeof *w->name);
    w->address = arena_zero(&w->arena, (w->n_services + 1) * sizeof *w->address);
    for (uint32_t i = 0; i < w->n_services; i++) {
        const struct service_spec *spec = &config->services.at[i];
        struct err inner = {0};
        slice at = spec->address;
        w->name[i] = spec->name;
        if (!spec->port && !at.n)
            continue;
        if (!at.n)
            at = slice_of(
                arena_printf(&w->arena, "%.*s:%u", SLICE_ARG(spec->host), (unsigned)spec->port));
        if (addr_parse(at, "address", &w->address[i], &inner) == 0)
            continue;
        memcpy(e->source, config->source, strnlen(config->source, sizeof e->source - 1) + 1);
        return err_set(e, spec->line, spec->col, "service \"%s\": %s", spec->name.p, inner.text);
    }
    return choose_ports(w, e);
}

/* ---- doors ---- */

static struct wiring_door *find_door(const struct wiring *w, uint32_t caller, uint32_t callee)
{
    for (uint32_t i = 0; i < w->doors.n; i++)
        if (w->doors.at[i].caller == caller && w->doors.at[i].callee == callee)
            return &w->doors.at[i];
    return NULL;
}

static void add_door(struct wiring *w, uint32_t caller, uint32_t callee)
{
    if (!find_door(w, caller, callee))
        vec_push(&w->doors, (struct wiring_door){.caller = caller, .callee = callee});
}

/* A door to each service that the text names. */
static void add_doors_of(struct wiring *w, uint32_t caller, slice text)
{
    slice literal;
    struct placeholder p;
    while (placeholder_next(&text, &literal, &p))
        if (p.name.n)
            add_door(w, caller, config_service(w->config, p.name));
}

/* Services that call whatever address they are given may be given one by anybody, and that is the
 * giver's address of it: then everybody needs a door to everybody. */
static bool hands_addresses_on(const struct sim *sim, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t may = 0;
        for (uint32_t k = 0; k < n; k++)
            may += sim_may_call(sim, i, k);
        if (may == n && n > 1)
            return true;
    }
    return false;
}

static void list_doors(struct wiring *w, const struct sim *sim)
{
    const struct campaign_config *config = w->config;
    for (uint32_t i = 0; i < config->services.n; i++) {
        const struct service_spec *spec = &config->services.at[i];
        add_doors_of(w, i, spec->run);
        for (uint32_t k = 0; k < spec->env.n; k++)
            add_doors_of(w, i, spec->env.at[k].value);
        if ((!spec->run.n && !sim) || spec->listen.n)
            add_door(w, CALLER_UNKNOWN, i);
    }
    uint32_t n = sim ? sim->n_services : 0;
    bool all = hands_addresses_on(sim, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            if (!sim->service[k].external && (all || sim_may_call(sim, i, k)))
                add_door(w, i, k);
    bool commands = false;
    for (uint32_t i = 0; i < config->scenarios.n; i++) {
        const struct scenario_spec *spec = &config->scenarios.at[i];
        commands |= spec->is_command || spec->before.n || spec->after.n;
    }
    for (uint32_t slot = 0; commands && slot < w->slots; slot++)
        for (uint32_t i = 0; i < w->n_services; i++)
            add_door(w, CALLER_CLIENT | slot, i);
}

int wiring_new(const struct campaign_config *config, const struct sim *sim, uint32_t slots,
               struct wiring **out, struct err *e)
{
    struct wiring *w = mem_zero(sizeof *w);
    w->config = config;
    w->slots = slots;
    if (settle_services(w, e)) {
        wiring_free(w);
        return -1;
    }
    list_doors(w, sim);
    *out = w;
    return 0;
}

void wiring_free(struct wiring *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->held.n; i++)
        sys_close(w->held.at[i]);
    vec_deinit(&w->held);
    vec_deinit(&w->doors);
    arena_deinit(&w->arena);
    mem_free(w);
}

/* ---- proxies ---- */

/* Remedies in the words of outfox.yaml. */
static const struct tls_terms terms = {
    .authority = "\"ca\"",
    .ca = "`ca: FILE`",
    .cert = "a certificate, which `outfox proxy --to-cert` in front of it can present",
    .key = "its key",
    .name = "`host-header: NAME`",
    .insecure = "`insecure: true`",
    .plain = "leave `tls: true` or https:// out",
    .tls = "add `tls: true`, or write https:// in `address`",
};

static bool names_host(const struct service_spec *spec)
{
    return spec->host_header.n && !slice_is(spec->host_header, "keep");
}

void wiring_authority(const struct wiring *w, uint32_t service, struct buf *out)
{
    const struct addr *a = &w->address[service];
    const struct service_spec *spec = &w->config->services.at[service];
    if (names_host(spec)) {
        buf_add(out, spec->host_header);
    } else if (addr_is_unix(a)) {
        buf_adds(out, "localhost");
    } else {
        bool ipv6 = slice_find(slice_of(a->host), ':') < strlen(a->host);
        buf_addf(out, ipv6 ? "[%s]" : "%s", a->host);
        if (addr_port(a) != (spec->tls ? 443 : 80))
            buf_addf(out, ":%u", (unsigned)addr_port(a));
    }
}

struct tls_client_options wiring_tls(const struct wiring *w, uint32_t service, struct buf *name)
{
    const struct service_spec *spec = &w->config->services.at[service];
    slice host = slice_of(w->address[service].host);
    if (names_host(spec))
        host = (slice){spec->host_header.p, slice_find(spec->host_header, ':')};
    buf_add(name, host);
    return (struct tls_client_options){.terms = &terms,
                                       .ca = spec->ca.n ? spec->ca.p : NULL,
                                       .name = buf_text(name),
                                       .insecure = spec->insecure};
}

static int add_proxy(const struct wiring *w, const struct wiring_door *d, struct proxy_config *c,
                     struct err *e)
{
    const struct service_spec *spec = &w->config->services.at[d->callee];
    int i = config_add_proxy(c, e);
    if (i < 0)
        return -1;
    struct proxy_spec *p = &c->proxies.at[i];
    p->service = w->name[d->callee];
    p->listen = SLICE("127.0.0.1:0");
    p->at = &w->address[d->callee];
    p->to_tls = spec->tls;
    if (d->caller < w->n_services)
        p->caller = w->name[d->caller];
    struct buf text = BUF_INIT(400);
    if (names_host(spec) || (spec->address.n && !slice_is(spec->host_header, "keep"))) {
        wiring_authority(w, d->callee, &text);
        p->host = slice_copy(&c->arena, buf_slice(&text));
        buf_clear(&text);
    }
    if (spec->tls) {
        struct tls_client_options o = wiring_tls(w, d->callee, &text);
        p->to_name = arena_copy(&c->arena, o.name, text.n);
        p->to_ca = o.ca;
        p->insecure = o.insecure;
    }
    buf_deinit(&text);
    bool shared = d->caller == CALLER_UNKNOWN && spec->listen.n;
    return shared ? proxy_set(c, (uint32_t)i, SLICE("listen"), spec->listen, e) : 0;
}

int wiring_proxies(const struct wiring *w, struct proxy_config **out, struct err *e)
{
    struct proxy_config *c = config_new();
    c->terms = &terms;
    c->fresh = w->config->connections == CONNECTIONS_FRESH;
    c->fault_header = w->config->fault_header;
    int failed = 0;
    for (uint32_t i = 0; i < w->config->identify.normalise.n && !failed; i++)
        failed = config_set(c, SLICE("normalise"), w->config->identify.normalise.at[i], e);
    for (uint32_t i = 0; i < w->doors.n && !failed; i++)
        failed = add_proxy(w, &w->doors.at[i], c, e);
    failed = failed || (w->doors.n && config_finish(c, e)); /* a system may have no door at all */
    if (failed) {
        config_free(c);
        return -1;
    }
    *out = c;
    return 0;
}

void wiring_bind(struct wiring *w, const struct plane *plane)
{
    for (uint32_t i = 0; i < w->doors.n; i++) {
        struct wiring_door *d = &w->doors.at[i];
        struct buf text = BUF_INIT(sizeof d->address - 1);
        addr_print(plane_listens(plane, i), &text);
        memcpy(d->address, buf_text(&text), text.n + 1);
        buf_deinit(&text);
    }
}

const char *wiring_door(const struct wiring *w, uint32_t caller, uint32_t callee)
{
    const struct wiring_door *door = find_door(w, caller, callee);
    return door ? door->address : NULL;
}

/* ---- placeholders ---- */

int wiring_expand(const struct wiring *w, uint32_t caller, slice text, struct buf *out,
                  struct err *e)
{
    slice literal;
    struct placeholder p;
    while (placeholder_next(&text, &literal, &p)) {
        buf_add(out, literal);
        if (p.kind == PLACEHOLDER_NONE)
            continue;
        if (p.kind == PLACEHOLDER_TEXT || p.kind == PLACEHOLDER_WRONG) {
            buf_add(out, p.text);
            continue;
        }
        struct buf own = BUF_INIT(200);
        const char *door = NULL;
        if (p.name.n)
            door = wiring_door(w, caller, config_service(w->config, p.name));
        else if (caller < w->n_services)
            addr_print(&w->address[caller], &own);
        if (p.name.n && !door) {
            buf_deinit(&own);
            return err_set(e, 0, 0, "%.*s is not known here", SLICE_ARG(p.text));
        }
        slice address = door ? slice_of(door) : buf_slice(&own);
        size_t colon = address.n;
        while (colon > 0 && address.p[colon - 1] != ':')
            colon--;
        buf_adds(out, p.kind == PLACEHOLDER_URL ? "http://" : "");
        if (p.kind == PLACEHOLDER_HOST)
            address.n = colon ? colon - 1 : 0;
        buf_add(out, p.kind == PLACEHOLDER_PORT ? slice_from(address, colon) : address);
        buf_deinit(&own);
    }
    return 0;
}
