/* SPDX-License-Identifier: Apache-2.0
 *
 * Two things can be read from the file: which services are named by placeholders in the commands
 * and variables of others, and whether somebody has the port of a service, which is fixed then,
 * in plain text. */
#include "config/reach.h"

#include <stdio.h>

#include "config/placeholder.h"

enum { LISTEN_OFFSET = 10000 };

/* ---- placeholders ---- */

static bool names_service(slice text, slice name)
{
    slice literal;
    struct placeholder p;
    while (placeholder_next(&text, &literal, &p))
        if (p.kind != PLACEHOLDER_TEXT && p.name.n && slice_eq(p.name, name))
            return true;
    return false;
}

/* ---- addresses in plain text ---- */

static bool is_host_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
}

/* HOST:PORT or unix:PATH, cut at its last colon. */
static slice own_port(const struct service_spec *s, slice *host)
{
    slice address = s->address;
    size_t colon = address.n;
    while (colon > 0 && address.p[colon - 1] != ':')
        colon--;
    *host = colon ? (slice){address.p, colon - 1} : s->host;
    return colon ? slice_from(address, colon) : (slice){0};
}

static bool is_host_of(const struct service_spec *s, slice host)
{
    static const char *const here[] = {"localhost", "127.0.0.1", "0.0.0.0", "host.docker.internal"};
    slice own;
    (void)own_port(s, &own);
    bool same = slice_eq(host, own) || slice_eq(host, s->name);
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        same |= slice_is(host, here[i]);
    return same;
}

/* HOST:PORT at the colon text.p[at], with the scheme before it. */
static bool literal_at(const struct service_spec *s, slice text, size_t at, slice port,
                       slice *literal)
{
    size_t end = at + 1 + port.n, start = at;
    if (!slice_starts(slice_from(text, at + 1), port) || (end < text.n && is_digit(text.p[end])))
        return false;
    while (start > 0 && is_host_byte(text.p[start - 1]))
        start--;
    if (!is_host_of(s, (slice){text.p + start, at - start}))
        return false;
    if (start >= 3 && memcmp(text.p + start - 3, "://", 3) == 0)
        for (start -= 3; start > 0 && is_letter(text.p[start - 1]);)
            start--;
    *literal = (slice){text.p + start, end - start};
    return true;
}

static bool has_literal(const struct service_spec *s, slice text, bool whole, slice *literal)
{
    char digits[8];
    slice host, port = own_port(s, &host);
    if (s->port)
        port = (slice){digits, (size_t)snprintf(digits, sizeof digits, "%u", (unsigned)s->port)};
    if (!port.n)
        return false;
    *literal = text;
    if (whole && slice_eq(text, port))
        return true;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ':' && literal_at(s, text, i, port, literal))
            return true;
    return false;
}

static void find_told(const struct campaign_config *c, uint32_t service, struct reach *out)
{
    const struct service_spec *callee = &c->services.at[service];
    for (uint32_t i = 0; i < c->services.n; i++) {
        const struct service_spec *s = &c->services.at[i];
        if (i == service)
            continue;
        out->told = i;
        out->in_env = true;
        for (uint32_t k = 0; k < s->env.n; k++)
            if (has_literal(callee, s->env.at[k].value, true, &out->literal)) {
                out->before = s->env.at[k].name;
                return;
            }
        out->in_env = false;
        if (has_literal(callee, s->run, false, &out->literal)) {
            const char *start = out->literal.p; /* of the word it is in: STOCK_URL=http://... */
            while (start > s->run.p && !strchr(" \t\n\"'", start[-1]))
                start--;
            out->before = (slice){start, (size_t)(out->literal.p - start)};
            return;
        }
    }
    out->told = UINT32_MAX;
}

void reach_of(const struct campaign_config *c, uint32_t service, struct reach *out)
{
    slice name = c->services.at[service].name;
    *out = (struct reach){.given = c->services.at[service].listen.n > 0};
    for (uint32_t i = 0; i < c->services.n; i++) {
        const struct service_spec *s = &c->services.at[i];
        bool other = i != service;
        out->given |= other && names_service(s->run, name);
        for (uint32_t k = 0; k < s->env.n && other; k++)
            out->given |= names_service(s->env.at[k].value, name);
    }
    out->asked |= c->suite.given; /* its tests are commands */
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        out->asked |= c->scenarios.at[i].is_command || c->scenarios.at[i].service == service;
    find_told(c, service, out);
}

/* ---- words ---- */

/* The likely caller: the service that a request goes to, else the first other that we start. */
static const char *likely_caller(const struct campaign_config *c, uint32_t service)
{
    for (uint32_t i = 0; i < c->scenarios.n; i++) {
        uint32_t first = c->scenarios.at[i].service;
        if (!c->scenarios.at[i].is_command && first != service && c->services.at[first].run.n)
            return c->services.at[first].name.p;
    }
    for (uint32_t i = 0; i < c->services.n; i++)
        if (i != service && c->services.at[i].run.n)
            return c->services.at[i].name.p;
    return NULL;
}

/* env: { STOCK_URL: "{url:stock}" } */
static void say_env(slice name, struct buf *out)
{
    buf_adds(out, "`env: { ");
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        buf_addc(out, (char)(is_lower(c) ? c - 32 : is_upper(c) || is_digit(c) ? c : '_'));
    }
    buf_addf(out, "_URL: \"{url:%.*s}\" }`", SLICE_ARG(name));
}

static void say_nobody(const struct campaign_config *c, uint32_t service, struct buf *out)
{
    const struct service_spec *s = &c->services.at[service];
    const char *caller = likely_caller(c, service);
    buf_addf(out, "no service is given {url:%s}, so no call to %s can be faulted. ", s->name.p,
             s->name.p);
    if (caller) {
        buf_addf(out, "Add it to the service that calls %s, for example to %s: ", s->name.p,
                 caller);
        say_env(s->name, out);
        buf_adds(out, ", with the variable that it reads");
        return;
    }
    slice host, port = own_port(s, &host);
    uint64_t number = 5000;
    if (!slice_to_u64(port, 65535 - LISTEN_OFFSET, &number))
        number = 5000;
    buf_addf(out, "Add `listen: 127.0.0.1:%u` to %s, and point its callers to that address",
             (unsigned)number + LISTEN_OFFSET, s->name.p);
}

void reach_remedy(const struct campaign_config *c, uint32_t service, struct buf *out)
{
    const struct service_spec *s = &c->services.at[service];
    struct reach r;
    reach_of(c, service, &r);
    if (r.told != UINT32_MAX) {
        size_t colon = slice_find(r.literal, ':');
        const char *word = colon == r.literal.n ? "port" /* the placeholder in its place */
                           : slice_starts(slice_from(r.literal, colon), SLICE("://")) ? "url"
                                                                                      : "address";
        buf_addf(out,
                 "%s is given the address of %s itself (%.*s%s%.*s in its `%s`), so its calls ",
                 c->services.at[r.told].name.p, s->name.p, SLICE_ARG(r.before),
                 r.in_env ? ": " : "", SLICE_ARG(r.literal), r.in_env ? "env" : "run");
        buf_addf(out, "bypass Outfox. Write {%s:%s} instead of %.*s", word, s->name.p,
                 SLICE_ARG(r.literal));
    } else if (!r.given)
        say_nobody(c, service, out);
    else if (s->listen.n)
        buf_addf(out, "Outfox listens for calls to %s at %.*s: point its callers to that address",
                 s->name.p, SLICE_ARG(s->listen));
}

/* ---- the whole file ---- */

/* SCHEME://HOST[:PORT] in the text. */
static bool find_url(slice text, slice *url)
{
    const char *at = text.n ? memmem(text.p, text.n, "://", 3) : NULL;
    if (!at)
        return false;
    const char *start = at, *end = at + 3;
    while (start > text.p && is_letter(start[-1]))
        start--;
    while (end < text.p + text.n && (is_host_byte(*end) || *end == ':'))
        end++;
    *url = (slice){start, (size_t)(end - start)};
    return end > at + 3 && slice_starts(*url, SLICE("http"));
}

/* A service that is alone may have the address of what it calls. */
static void say_foreign(const struct service_spec *s, struct buf *out)
{
    slice url = {0}, before = {0};
    for (uint32_t i = 0; i < s->env.n && !url.n; i++)
        if (find_url(s->env.at[i].value, &url))
            before = s->env.at[i].name;
    if (!url.n && !find_url(s->run, &url))
        return;
    buf_addf(out, ", such as `other: { address: \"%.*s\" }`, and write {url:other} in its place",
             SLICE_ARG(url));
    if (before.n)
        buf_addf(out, " (%.*s)", SLICE_ARG(before));
}

void reach_check(const struct campaign_config *c, void (*tell)(void *ctx, const char *text),
                 void *ctx)
{
    bool any = false;
    for (uint32_t i = 0; i < c->services.n && c->services.n > 1; i++) {
        struct reach r;
        struct buf text = BUF_INIT(2000);
        reach_of(c, i, &r);
        if (r.told != UINT32_MAX ? !r.given || !r.asked : !r.given && !r.asked)
            reach_remedy(c, i, &text);
        any |= r.given || text.n;
        if (text.n)
            tell(ctx, buf_text(&text));
        buf_deinit(&text);
    }
    if (any || !c->services.n)
        return;
    struct buf text = BUF_INIT(1000);
    if (c->services.n == 1) {
        buf_addf(&text,
                 "%s is the only service, so no call can be faulted: add the "
                 "services that it calls",
                 c->services.at[0].name.p);
        say_foreign(&c->services.at[0], &text);
    } else {
        buf_adds(&text, "no service is given the address of another, so no call can be "
                        "faulted. Where one calls another, write for example ");
        say_env(c->services.at[c->services.n - 1].name, &text);
    }
    tell(ctx, buf_text(&text));
    buf_deinit(&text);
}
