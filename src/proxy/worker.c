/* SPDX-License-Identifier: Apache-2.0
 *
 * worker: a thread with a loop, its listeners, the links of callers and to services, its exchanges.
 *
 *   worker_start --> take_up(setup) --> runs --[next setup]--> take_up --> ...
 *                                        |
 *                                        +--[stop]--> drains: no new connections, open calls may
 *                                                     end --> cut off at the limit --> ended
 *
 * What the plane wants is put into `next` and `stop`, and loop_wake makes the worker look. */
#include "proxy/exchange_int.h"

#include <assert.h>

#include "base/clock.h"
#include "io/sys.h"
#include "proxy/tunnel_int.h"

enum { LOG_BYTES = 64 * 1024 };

static const int64_t LINGER_NS = SECONDS(1), LOOK_NS = MS(10), LOG_NS = MS(10);

/* ---- generations ---- */

struct generation *generation_hold(struct generation *g)
{
    g->users++;
    return g;
}

void generation_drop(struct generation *g)
{
    if (--g->users > 0)
        return;
    setup_drop(g->setup);
    mem_free(g->upstream);
    mem_free(g);
}

static void retire(struct generation *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < g->setup->n_doors; i++)
        pool_close(&g->upstream[i].pool);
    generation_drop(g);
}

/* ---- the log ---- */

/* A write costs more than many lines: they wait for each other, a moment at most. */
static void log_now(struct worker *w)
{
    struct log *log = w->current->setup->log;
    bool failed = log_failed(log), left_out = log_left_out(log) > 0;
    w->logged_ns = w->loop.now_ns;
    if (log_flush(log, &w->log))
        timer_start(&w->loop, &w->log_due, w->logged_ns + LOG_NS);
    if (!failed && log_failed(log))
        plane_warn(w->plane, NULL, "the log cannot be written; calls are no longer logged");
    if (!left_out && log_left_out(log))
        plane_warn(w->plane, NULL, "the log has no reader; calls are left out of it");
}

static void before_waiting(struct loop *l)
{
    struct worker *w = l->user;
    if (!w->log.n || !w->current->setup->log)
        return;
    if (w->log.n >= LOG_BYTES || l->now_ns - w->logged_ns >= LOG_NS)
        log_now(w);
    else if (!w->log_due.at_ns)
        timer_start(l, &w->log_due, w->logged_ns + LOG_NS);
}

static void on_log_due(struct timer *t)
{
    struct worker *w = OWNER(t, struct worker, log_due);
    if (w->current->setup->log)
        log_now(w);
}

/* ---- what is no HTTP ---- */

/* Other protocols hang or fail here in ways that nobody understands: so it is said, once for each
 * listener, who does what and what to do. */
static void warn_foreign(const struct caller *k, const char *does, const char *remedy)
{
    const struct door *door = &k->generation->setup->door[k->site->door];
    slice caller = door->spec->caller;
    struct buf text = BUF_INIT(1000), to = BUF_INIT(200);
    addr_print(&door->to, &to);
    buf_addf(&text, "%.*s %s. Only HTTP/1.1, HTTP/2 and gRPC pass here; ",
             SLICE_ARG(caller.n ? caller : SLICE("a client")), does);
    buf_addf(&text, "%s %s", remedy, buf_text(&to));
    plane_warn(k->site->worker->plane, door->spec->service.p, buf_text(&text));
    buf_deinit(&text);
    buf_deinit(&to);
}

static const char past_us[] = "for another protocol, let it connect directly to the service at",
                  as_bytes[] = "for another protocol, listen on tcp://. The service is at";

/* What to do about it: a campaign knows calls alone. */
static const char *other_protocol(const struct caller *k)
{
    return k->site->worker->plane->director ? past_us : as_bytes;
}

/* Where calls came before it is a spare connection of somebody's pool. */
static void on_silent(struct link *l)
{
    struct site *site = caller_of(l)->site;
    if (site->told_silent || site->spoken)
        return;
    warn_foreign(caller_of(l), "connected, but sent nothing for 3s", other_protocol(caller_of(l)));
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
                 tls ? "use http:// instead of https://. The service is at"
                     : other_protocol(caller_of(l)));
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

static void on_accepted(struct listener *listener, int fd)
{
    struct site *site = listener->user;
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
    if (door->spec->tcp) {
        tunnel_accept(site, fd);
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
        buf_addf(&line, "cannot be reached at %s (%s): is it running, and listening there?",
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

/* The links of a generation, and who keeps them. */
static void peers_init(struct worker *w, struct generation *g)
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

/* ---- sites ---- */

static void close_site(struct worker *w, struct site *site)
{
    site->gone = true;
    listener_close(&site->listener, NULL);
    for (struct link *l = w->links, *next; l; l = next) {
        next = l->next;
        if (!l->pool && caller_of(l)->site == site)
            link_shutdown(l);
    }
}

/* Uses this setup from now on; calls under way go on under theirs. */
static int take_up(struct worker *w, struct setup *setup)
{
    struct generation *before = w->current;
    struct setup *old = before ? before->setup : NULL;
    uint32_t n_before = w->sites.n;
    VEC(uint32_t) doors = {0};
    int failed = 0;
    assert(old || n_before == 0);
    for (uint32_t i = 0; i < n_before; i++)
        vec_push(&doors, UINT32_MAX);
    if (before)
        on_log_due(&w->log_due); /* the lines so far belong to the log so far */
    w->current = mem_zero(sizeof *w->current);
    *w->current = (struct generation){.setup = setup, .users = 1};
    peers_init(w, w->current);
    for (uint32_t i = 0; i < setup->n_doors; i++) {
        uint32_t k = 0; /* the site that it has already */
        while (k < n_before &&
               (w->sites.at[k]->gone ||
                !same_listener(old->door[w->sites.at[k]->door].spec, setup->door[i].spec)))
            k++;
        if (k < n_before) {
            doors.at[k] = i;
            continue;
        }
        struct site *site = mem_zero(sizeof *site);
        int fd = setup->door[i].fd[w->index];
        setup->door[i].fd[w->index] = -1;
        *site = (struct site){.worker = w, .door = i};
        int code = listener_init(&site->listener, &w->loop, fd, on_accepted, site);
        if (code)
            mem_free(site);
        else
            vec_push(&w->sites, site);
        failed = failed ? failed : code;
    }
    for (uint32_t k = 0; k < n_before; k++) {
        struct site *site = w->sites.at[k];
        if (site->gone)
            continue;
        if (doors.at[k] == UINT32_MAX)
            close_site(w, site);
        else
            site->door = doors.at[k];
    }
    vec_deinit(&doors);
    retire(before);
    atomic_store(&w->taken, setup);
    return failed;
}

/* ---- steering ---- */

static struct site *site_of(struct worker *w, uint32_t door)
{
    for (uint32_t i = 0; i < w->sites.n; i++)
        if (!w->sites.at[i]->gone && w->sites.at[i]->door == door)
            return w->sites.at[i];
    return NULL;
}

int plane_steer(struct plane *p, uint32_t proxy, struct steer *s, struct err *e)
{
    struct site *site = site_of(&p->worker[0], proxy);
    assert(p->embedded && site);
    if (tunnels_steer(site, s))
        return err_set(e, 0, 0, "%d faults are on at this door already", STEERS_MAX);
    int failed = s->down && site->down == 0 ? listener_refuse(&site->listener) : 0;
    site->down += s->down && !failed;
    if (!failed)
        return 0;
    tunnels_release(site, s);
    return err_set(e, 0, 0, "its address cannot be given up for a while: %s", strerror(-failed));
}

int plane_release(struct plane *p, uint32_t proxy, struct steer *s, struct err *e)
{
    struct site *site = site_of(&p->worker[0], proxy);
    tunnels_release(site, s);
    int failed = s->down && --site->down == 0 ? listener_again(&site->listener) : 0;
    return failed
               ? err_set(e, 0, 0, "its address cannot be listened at again: %s", strerror(-failed))
               : 0;
}

/* ---- stopping ---- */

void worker_check_done(struct worker *w)
{
    if (w->stopping && !w->links && !w->tunnels && !w->drain.at_ns)
        timer_start(&w->loop, &w->drain, w->loop.now_ns);
}

/* While it stops: done when all is gone, and the last bytes have reached their readers. */
static void on_drain(struct timer *t)
{
    struct worker *w = OWNER(t, struct worker, drain);
    int64_t now = w->loop.now_ns;
    while (now >= w->drain_ns && w->links)
        link_kill(w->links);
    bool lingering = w->loop.n_handles > 0 && now < w->drain_ns + LINGER_NS;
    if (!w->links && !lingering)
        loop_stop(&w->loop);
    else
        timer_start(&w->loop, &w->drain, now + LOOK_NS);
}

static void on_wake(struct loop *l)
{
    struct worker *w = l->user;
    struct setup *next = atomic_exchange(&w->next, NULL);
    int stop = atomic_load(&w->stop);
    if (next && !w->stopping && take_up(w, next))
        plane_warn(w->plane, NULL, "a listener could not be opened after the reload");
    else if (next && w->stopping)
        setup_drop(next);
    if (stop && !w->stopping) {
        w->stopping = true;
        w->drain_ns = l->now_ns + w->current->setup->config->limits.drain_ns;
        for (uint32_t i = 0; i < w->sites.n; i++)
            if (!w->sites.at[i]->gone)
                close_site(w, w->sites.at[i]);
        for (uint32_t i = 0; i < w->current->setup->n_doors; i++)
            pool_close(&w->current->upstream[i].pool);
        tunnels_close(w);
        timer_start(l, &w->drain, l->now_ns);
    }
    if (stop == 2)
        w->drain_ns = l->now_ns;
}

/* ---- running ---- */

static void worker_deinit(struct worker *w)
{
    if (w->current && w->current->setup->log) {
        log_now(w);
        log_end(w->current->setup->log, &w->stop);
    }
    timer_stop(&w->loop, &w->log_due);
    timer_stop(&w->loop, &w->sweep);
    timer_stop(&w->loop, &w->drain);
    for (uint32_t i = 0; i < w->sites.n; i++)
        listener_close(&w->sites.at[i]->listener, NULL);
    retire(w->current);
    loop_deinit(&w->loop);
    for (uint32_t i = 0; i < w->sites.n; i++)
        mem_free(w->sites.at[i]);
    vec_deinit(&w->sites);
    while (w->spare) {
        struct exchange *x = w->spare;
        w->spare = x->next;
        arena_deinit(&x->arena);
        mem_free(x);
    }
    buf_deinit(&w->log);
    buf_deinit(&w->scratch);
    setup_drop(atomic_exchange(&w->next, NULL));
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    loop_run(&w->loop);
    worker_deinit(w);
    atomic_store(&w->ended, true);
    return NULL;
}

int worker_init(struct worker *w, struct plane *plane, uint32_t index, struct setup *setup,
                struct err *e)
{
    *w = (struct worker){.plane = plane,
                         .index = index,
                         .sweep.fire = exchange_sweep,
                         .drain.fire = on_drain,
                         .log_due.fire = on_log_due,
                         .seed = setup->config->seed,
                         .scratch = BUF_INIT(64 * 1024)};
    int failed = loop_init(&w->loop, on_wake);
    if (failed)
        return err_set(e, 0, 0, "no event loop: %s", uv_strerror(failed));
    w->loop.user = w;
    w->loop.rest = before_waiting;
    failed = take_up(w, setup_hold(setup));
    if (!failed)
        return 0;
    worker_deinit(w);
    return err_set(e, 0, 0, "a worker could not be started: %s", uv_strerror(failed));
}

int worker_start(struct worker *w, struct plane *plane, uint32_t index, struct setup *setup,
                 struct err *e)
{
    if (worker_init(w, plane, index, setup, e))
        return -1;
    if (pthread_create(&w->thread, NULL, worker_main, w) == 0)
        return 0;
    worker_deinit(w);
    return err_set(e, 0, 0, "a worker could not be started: no more threads");
}

void worker_join(struct worker *w)
{
    if (w->plane->embedded)
        worker_deinit(w);
    else
        pthread_join(w->thread, NULL);
}
