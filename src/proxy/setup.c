/* SPDX-License-Identifier: Apache-2.0
 *
 * setup: a configuration made ready, all of it or nothing. Addresses are resolved, certificates
 * loaded and sockets bound before anything of it is used, so that a reload that fails changes
 * nothing. */
#include "proxy/proxy.h"
#include "proxy/worker_int.h"

#include <fcntl.h>

#include "base/clock.h"
#include "io/sys.h"

/* Port 0 is chosen anew for each proxy, so the text alone does not say which it was. */
bool same_listener(const struct proxy_spec *a, const struct proxy_spec *b)
{
    bool chosen = a->listen.n >= 2 && slice_eq(slice_from(a->listen, a->listen.n - 2), SLICE(":0"));
    return slice_eq(a->listen, b->listen) && (!chosen || slice_eq(a->service, b->service));
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int open_tls(struct door *d, const struct tls_terms *terms, const struct door *old,
                    struct err *e)
{
    const struct proxy_spec *spec = d->spec;
    if (spec->listen_tls) {
        /* a generated certificate stays: clients were told to trust it */
        bool keep = old && old->listen_tls && !spec->cert && !old->spec->cert &&
                    same_text(spec->test_cert, old->spec->test_cert) &&
                    same_text(spec->client_ca, old->spec->client_ca) &&
                    spec->http1 == old->spec->http1;
        d->listen_tls = keep ? tls_context_hold(old->listen_tls)
                             : tls_server(spec->cert, spec->key, spec->client_ca,
                                          d->listen.host[0] ? d->listen.host : NULL, e);
        if (!d->listen_tls)
            return -1;
        if (spec->http1 && !keep)
            tls_http1_only(d->listen_tls);
        if (spec->test_cert && !keep && tls_write_cert(d->listen_tls, spec->test_cert, e))
            return -1;
    }
    if (spec->to_tls) {
        struct tls_client_options o = {.terms = terms,
                                       .ca = spec->to_ca,
                                       .cert = spec->to_cert,
                                       .key = spec->to_key,
                                       .name = spec->to_name ? spec->to_name : d->to.host,
                                       .insecure = spec->insecure};
        d->to_tls = tls_client(&o, e);
        if (!d->to_tls)
            return -1;
    }
    return 0;
}

/* A socket for each worker; when there are several they share the port. */
static int open_sockets(struct door *d, uint32_t workers, struct err *e)
{
    for (uint32_t i = 0; i < workers; i++) {
        if (i > 0 && addr_is_unix(&d->listen)) { /* one file, one socket: all share it */
            d->fd[i] = fcntl(d->fd[0], F_DUPFD_CLOEXEC, 0);
            continue;
        }
        d->fd[i] = addr_listen(&d->listen, workers > 1, e);
        if (d->fd[i] < 0)
            return -1;
    }
    return 0;
}

static int read_addresses(const struct proxy_spec *spec, struct addr *listen, struct addr *to,
                          struct err *e)
{
    if (addr_parse(spec->listen, "listen", listen, e))
        return -1;
    if (spec->at)
        *to = *spec->at;
    else if (addr_parse(spec->to, "to", to, e))
        return -1;
    if (!addr_is_unix(to) && addr_port(to) == 0)
        return err_set(e, 0, 0, "to: \"%s\" has port 0; name the port of the service", to->text);
    return 0;
}

int plane_check(const struct proxy_config *config, struct err *e)
{
    for (uint32_t i = 0; i < config->proxies.n; i++) {
        const struct proxy_spec *spec = &config->proxies.at[i];
        struct addr listen, to;
        struct err why = {0};
        if (read_addresses(spec, &listen, &to, &why))
            return config_fail_at(config, spec->line, spec->col, &why, e);
    }
    return 0;
}

static int open_door(struct setup *s, struct door *d, const struct setup *old, struct err *e)
{
    const struct proxy_spec *spec = d->spec;
    const struct door *before = NULL;
    for (uint32_t i = 0; old && i < old->n_doors && !before; i++)
        if (same_listener(old->door[i].spec, spec))
            before = &old->door[i];
    if (read_addresses(spec, &d->listen, &d->to, e))
        return -1;
    if (open_tls(d, s->config->terms, before, e))
        return -1;
    if (before) {
        d->listen = before->listen;
        return 0;
    }
    return open_sockets(d, s->workers, e);
}

static void close_door(struct setup *s, struct door *d)
{
    bool unused = false; /* a worker that takes a socket up leaves -1 */
    for (uint32_t i = 0; i < s->workers; i++) {
        if (d->fd[i] < 0)
            continue;
        sys_close(d->fd[i]);
        unused = true;
    }
    if (unused)
        addr_unlink(&d->listen);
    mem_free(d->fd);
    tls_context_free(d->listen_tls);
    tls_context_free(d->to_tls);
}

int setup_new(struct proxy_config *config, const struct setup *old, struct setup **out,
              struct err *e)
{
    struct setup *s = mem_zero(sizeof *s);
    const struct limits *limits = &config->limits;
    *s = (struct setup){.refs = 1,
                        .config = config,
                        .n_doors = config->proxies.n,
                        .workers =
                            old ? old->workers : config->workers}; /* threads stay as they are */
    s->wire_limits = (struct wire_limits){.head_bytes = (uint32_t)limits->head_bytes,
                                          .head_fields = (uint32_t)limits->head_fields,
                                          .streams = (uint32_t)limits->streams,
                                          .resets = (uint32_t)limits->resets,
                                          .interims = (uint32_t)limits->interims};
    s->door = mem_zero(s->n_doors * sizeof *s->door);
    for (uint32_t i = 0; i < s->n_doors; i++) {
        s->door[i].spec = &config->proxies.at[i];
        s->door[i].fd = mem_alloc(s->workers * sizeof(int));
        for (uint32_t k = 0; k < s->workers; k++)
            s->door[i].fd[k] = -1;
    }
    int failed = config->log ? log_open(config->log, &s->log, e) : 0;
    for (uint32_t i = 0; i < s->n_doors && !failed; i++)
        failed = open_door(s, &s->door[i], old, e);
    if (failed) {
        s->config = NULL; /* stays the caller's */
        setup_drop(s);
        return -1;
    }
    if (old)
        rulebook_inherit(&config->book, &old->config->book);
    rulebook_start(&config->book, clock_ns());
    *out = s;
    return 0;
}

struct setup *setup_hold(struct setup *s)
{
    atomic_fetch_add(&s->refs, 1);
    return s;
}

void setup_drop(struct setup *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < s->n_doors; i++)
        close_door(s, &s->door[i]);
    log_close(s->log);
    if (s->config)
        config_free(s->config);
    mem_free(s->door);
    mem_free(s);
}
