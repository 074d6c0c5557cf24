/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/proxy.h"

#include "base/clock.h"
#include "proxy/exchange_int.h"

enum { TAKE_UP_MS = 2000 };

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
    if (worker_embed(&p->worker[0], p, p->setup, e))
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
            return err_set(e, 0, 0, "the last reload is still under way; try again");
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

static void add_url(struct buf *out, const struct addr *a, bool tls)
{
    buf_adds(out, tls ? "https://" : addr_is_unix(a) ? "" : "http://");
    addr_print(a, out);
}

const struct addr *plane_listens(const struct plane *p, uint32_t proxy)
{
    return &p->setup->door[proxy].listen;
}

void plane_where(const struct plane *p, uint32_t proxy, struct buf *listen, struct buf *to)
{
    const struct door *d = &p->setup->door[proxy];
    add_url(listen, &d->listen, d->listen_tls);
    add_url(to, &d->to, d->to_tls);
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
