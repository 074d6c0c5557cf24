/* SPDX-License-Identifier: Apache-2.0
 *
 * A plane: all proxies of a configuration. Its setup is the configuration made ready, all of it or
 * nothing: addresses are resolved, certificates loaded and sockets bound before anything of it is
 * used, so that a reload that fails changes nothing. */
#include "proxy/proxy.h"

#include <fcntl.h>

#include "base/clock.h"
#include "io/sys.h"
#include "proxy/exchange_int.h"

enum { TAKE_UP_MS = 2000 };

/* ---- a setup ---- */

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
    /* a socket for each worker; when there are several they share the port */
    for (uint32_t i = 0; i < s->workers; i++) {
        bool shared = i > 0 && addr_is_unix(&d->listen); /* one file, one socket */
        d->fd[i] = shared ? fcntl(d->fd[0], F_DUPFD_CLOEXEC, 0)
                          : addr_listen(&d->listen, s->workers > 1, e);
        if (d->fd[i] < 0 && !shared)
            return -1;
    }
    return 0;
}

/* Takes the configuration over. What `old` (NULL: none) listens at already is taken from there. */
static int setup_new(struct proxy_config *config, const struct setup *old, struct setup **out,
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
    for (uint32_t i = 0; i < s->n_doors; i++) {
        struct door *d = &s->door[i];
        bool unused = false; /* a worker that takes a socket up leaves -1 */
        for (uint32_t k = 0; k < s->workers; k++) {
            if (d->fd[k] < 0)
                continue;
            sys_close(d->fd[k]);
            unused = true;
        }
        if (unused)
            addr_unlink(&d->listen);
        mem_free(d->fd);
        tls_context_free(d->listen_tls);
        tls_context_free(d->to_tls);
    }
    log_close(s->log);
    if (s->config)
        config_free(s->config);
    mem_free(s->door);
    mem_free(s);
}

/* ---- a plane ---- */

void plane_warn(struct plane *p, const char *service, const char *text)
{
    int64_t now = clock_ns(), last = atomic_load(&p->warned_ns);
    if (!p->warn || (last && now - last < SECONDS(1)) ||
        !atomic_compare_exchange_strong(&p->warned_ns, &last, now))
        return;
    struct buf line = BUF_INIT(1024);
    buf_addf(&line, "%s%s%s", service ? service : "", service ? ": " : "", text);
    p->warn(p->warn_ctx, buf_text(&line));
    buf_deinit(&line);
}

/* Unix sockets are files; those that no later setup listens at go. */
static void unlink_sockets(const struct setup *old, const struct setup *kept)
{
    for (uint32_t i = 0; i < old->n_doors; i++) {
        bool stays = false;
        for (uint32_t k = 0; kept && k < kept->n_doors; k++)
            stays |= same_listener(old->door[i].spec, kept->door[k].spec);
        if (!stays)
            addr_unlink(&old->door[i].listen);
    }
}

static struct plane *plane_new(struct proxy_config *config,
                               void (*warn)(void *ctx, const char *text), void *ctx, struct err *e)
{
    struct setup *setup;
    if (setup_new(config, NULL, &setup, e))
        return NULL;
    struct plane *p = mem_zero(sizeof *p);
    *p = (struct plane){.setup = setup, .warn = warn, .warn_ctx = ctx, .naming = naming_new()};
    setup->naming = p->naming;
    p->worker = mem_zero(config->workers * sizeof *p->worker);
    return p;
}

/* It could not start: the configuration stays the caller's. */
static int give_up(struct plane *p)
{
    struct setup *setup = setup_hold(p->setup);
    plane_stop(p, true);
    plane_free(p);
    setup->config = NULL;
    setup_drop(setup);
    return -1;
}

int plane_start(struct proxy_config *config, void (*warn)(void *ctx, const char *text), void *ctx,
                struct plane **out, struct err *e)
{
    struct plane *p = plane_new(config, warn, ctx, e);
    if (!p)
        return -1;
    int failed = 0;
    while (!failed && p->n_workers < config->workers) {
        failed = worker_start(&p->worker[p->n_workers], p, p->n_workers, p->setup, e);
        p->n_workers += !failed;
    }
    *out = p;
    return failed ? give_up(p) : 0;
}

int plane_embed(struct proxy_config *config, const struct director *director,
                void (*warn)(void *ctx, const char *text), void *ctx, struct plane **out,
                struct err *e)
{
    config->workers = 1;
    struct plane *p = plane_new(config, warn, ctx, e);
    if (!p)
        return -1;
    p->director = director;
    p->embedded = true;
    if (worker_init(&p->worker[0], p, 0, p->setup, e))
        return give_up(p);
    p->n_workers = 1;
    *out = p;
    return 0;
}

struct loop *plane_loop(struct plane *p)
{
    return &p->worker[0].loop;
}

void plane_cut(struct plane *p, uint64_t run)
{
    exchange_cut(&p->worker[0], run);
}

void plane_go_on(struct plane *p, uint64_t run, bool begun)
{
    exchange_go_on(&p->worker[0], run, begun);
}

void plane_part(struct plane *p)
{
    for (struct link *l = p->worker[0].links; l; l = l->next)
        if (!l->pool)
            link_part(l);
}

int plane_reload(struct plane *p, struct proxy_config *config, struct err *e)
{
    struct setup *setup, *old = p->setup;
    /* sockets are handed on from setup to setup by the workers, so they take up each of them */
    for (int ms = 0; ms <= TAKE_UP_MS; ms++) {
        bool all = true;
        for (uint32_t k = 0; k < p->n_workers; k++)
            all &= atomic_load(&p->worker[k].taken) == p->setup;
        if (all)
            break;
        if (ms == TAKE_UP_MS)
            return err_set(e, 0, 0, "the last reload is still in progress; try again");
        uv_sleep(1);
    }
    if (setup_new(config, old, &setup, e))
        return -1;
    setup->naming = p->naming;
    p->setup = setup;
    for (uint32_t i = 0; i < p->n_workers; i++) {
        setup_drop(atomic_exchange(&p->worker[i].next, setup_hold(setup)));
        loop_wake(&p->worker[i].loop);
    }
    unlink_sockets(old, setup);
    setup_drop(old);
    return 0;
}

void plane_stop(struct plane *p, bool now)
{
    for (uint32_t i = 0; i < p->n_workers; i++) {
        atomic_store(&p->worker[i].stop, now ? 2 : 1);
        if (!atomic_load(&p->worker[i].ended))
            loop_wake(&p->worker[i].loop);
    }
}

bool plane_ended(const struct plane *p)
{
    for (uint32_t i = 0; i < p->n_workers; i++)
        if (!atomic_load(&p->worker[i].ended))
            return false;
    return true;
}

static void add_url(struct buf *out, const struct addr *a, bool tls, bool tcp)
{
    buf_adds(out, tls ? "https://" : tcp ? "tcp://" : addr_is_unix(a) ? "" : "http://");
    addr_print(a, out);
}

const struct addr *plane_listens(const struct plane *p, uint32_t proxy)
{
    return &p->setup->door[proxy].listen;
}

void plane_where(const struct plane *p, uint32_t proxy, struct buf *listen, struct buf *to)
{
    const struct door *d = &p->setup->door[proxy];
    add_url(listen, &d->listen, d->listen_tls, d->spec->tcp);
    add_url(to, &d->to, d->to_tls, d->spec->tcp);
}

const struct proxy_config *plane_config(const struct plane *p)
{
    return p->setup->config;
}

bool plane_log_failed(const struct plane *p)
{
    return log_failed(p->setup->log);
}

uint64_t plane_log_left_out(const struct plane *p)
{
    return log_left_out(p->setup->log);
}

void plane_free(struct plane *p)
{
    for (uint32_t i = 0; i < p->n_workers; i++)
        worker_join(&p->worker[i]);
    unlink_sockets(p->setup, NULL);
    setup_drop(p->setup);
    naming_free(p->naming);
    mem_free(p->worker);
    mem_free(p);
}
