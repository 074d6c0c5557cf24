/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is at the other ends: the links of callers and of services, what they have of the worker, and
 * what people are told of them. */
#include "io/sys.h"
#include "proxy/worker_int.h"

/* ---- what is no HTTP ---- */

/* Other protocols hang or fail here in ways that nobody understands: so it is said, once for each
 * listener, who does what and what to do. */
static void warn_foreign(const struct caller *k, const char *does, const char *remedy)
{
    const struct door *door = &k->generation->setup->door[k->site->door];
    slice caller = door->spec->caller;
    struct buf text = BUF_INIT(1000), to = BUF_INIT(200);
    addr_print(&door->to, &to);
    buf_addf(&text, "%.*s %s. Here only HTTP/1.1, HTTP/2 and gRPC pass; ",
             SLICE_ARG(caller.n ? caller : SLICE("a client")), does);
    buf_addf(&text, "%s %s", remedy, buf_text(&to));
    plane_warn(k->site->worker->plane, door->spec->service.p, buf_text(&text));
    buf_deinit(&text);
    buf_deinit(&to);
}

static const char past_us[] = "for another protocol let it connect to the service itself, at";

/* Where calls came before it is a spare connection of somebody's pool. */
static void on_silent(struct link *l)
{
    struct site *site = caller_of(l)->site;
    if (site->told_silent || site->spoken)
        return;
    warn_foreign(caller_of(l), "has connected, and sent nothing for 3s", past_us);
    site->told_silent = true;
}

static void on_foreign(struct link *l, slice bytes)
{
    struct site *site = caller_of(l)->site;
    bool tls = bytes.n > 1 && bytes.p[0] == 0x16 && bytes.p[1] == 3;
    if (site->told_foreign)
        return;
    site->told_foreign = true;
    struct buf does = BUF_INIT(200);
    buf_adds(&does,
             tls ? "speaks TLS where plain HTTP is expected" : "sent something that is not HTTP: ");
    for (size_t i = 0; !tls && i < bytes.n && i < 24; i++) {
        char c = bytes.p[i];
        buf_adds(&does, c == '\r' ? "\\r" : c == '\n' ? "\\n" : "");
        if (c != '\r' && c != '\n')
            buf_addc(&does, c >= ' ' && c < 0x7f ? c : '?');
    }
    warn_foreign(caller_of(l), buf_text(&does),
                 tls ? "write http:// where it has https://. The service is at" : past_us);
    buf_deinit(&does);
}

/* ---- callers ---- */

static void on_caller_failed(struct link *l, enum conn_gone why, const char *text)
{
    (void)why;
    plane_warn(caller_of(l)->site->worker->plane, NULL, text);
}

static void on_caller_freed(struct link *l)
{
    struct caller *k = caller_of(l);
    struct worker *w = k->site->worker;
    atomic_fetch_sub(&w->plane->n_clients, 1);
    generation_drop(k->generation);
    worker_check_done(w);
}

static const struct link_hooks caller_hooks = {
    .failed = on_caller_failed,
    .foreign = on_foreign,
    .silent = on_silent,
    .freed = on_caller_freed,
};

void caller_accept(struct site *site, int fd)
{
    struct worker *w = site->worker;
    struct generation *g = w->current;
    const struct door *door = &g->setup->door[site->door];
    if (atomic_fetch_add(&w->plane->n_clients, 1) >=
        (uint64_t)g->setup->config->limits.connections) {
        atomic_fetch_sub(&w->plane->n_clients, 1);
        plane_warn(w->plane, door->spec->service.p,
                   "a client was turned away: too many connections (limit `connections`)");
        sys_close(fd);
        return;
    }
    struct caller *k = mem_zero(sizeof *k);
    k->site = site;
    k->generation = generation_hold(g);
    link_accept(&k->link, &g->callers, fd, door->listen_tls);
}

/* ---- services ---- */

static const struct door *door_of(const struct link *l)
{
    const struct upstream *u = upstream_of(l);
    return &u->generation->setup->door[u->door];
}

static void on_service_opened(struct link *l)
{
    generation_hold(upstream_of(l)->generation);
}

static void on_service_failed(struct link *l, enum conn_gone why, const char *text)
{
    struct buf line = BUF_INIT(600);
    if (why == GONE_CONNECT)
        buf_addf(&line, "it cannot be reached at %s (%s): does it run, and listen there?",
                 door_of(l)->to.text, text);
    plane_warn(upstream_of(l)->worker->plane, door_of(l)->spec->service.p,
               why == GONE_CONNECT ? buf_text(&line) : text);
    buf_deinit(&line);
}

static void on_service_freed(struct link *l)
{
    struct worker *w = upstream_of(l)->worker;
    generation_drop(upstream_of(l)->generation);
    worker_check_done(w);
}

static const struct link_hooks service_hooks = {
    .opened = on_service_opened,
    .failed = on_service_failed,
    .freed = on_service_freed,
};

/* ---- both ---- */

void peers_init(struct worker *w, struct generation *g)
{
    const struct setup *setup = g->setup;
    const struct limits *limits = &setup->config->limits;
    g->callers = (struct link_terms){.loop = &w->loop,
                                     .all = &w->links,
                                     .hooks = &caller_hooks,
                                     .events = &down_events,
                                     .limits = &setup->wire_limits,
                                     .head_ns = limits->head_ns,
                                     .idle_ns = limits->idle_ns,
                                     .total_ns = limits->total_ns,
                                     .fresh = setup->config->fresh};
    g->services = g->callers;
    g->services.hooks = &service_hooks;
    g->services.events = &up_events;
    g->services.connect_ns = limits->connect_ns;
    g->services.idle_ns = limits->upstream_idle_ns;
    g->upstream = mem_zero((setup->n_doors ? setup->n_doors : 1) * sizeof *g->upstream);
    for (uint32_t i = 0; i < setup->n_doors; i++)
        g->upstream[i] = (struct upstream){.pool = {.terms = &g->services,
                                                    .to = &setup->door[i].to,
                                                    .tls = setup->door[i].to_tls,
                                                    .most = (uint32_t)limits->upstream_connections},
                                           .worker = w,
                                           .generation = g,
                                           .door = i};
}
