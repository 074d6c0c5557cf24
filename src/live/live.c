/* SPDX-License-Identifier: Apache-2.0
 *
 * A live system's start and end. The order matters: the keeper is forked while there is nothing
 * that it could inherit; proxies listen before services start, whose environment names their
 * addresses; at the end services go first, so that nobody talks to a proxy that is gone. */
#include <stdio.h>

#include "base/clock.h"
#include "core/interface.h"
#include "io/sys.h"
#include "live/live_int.h"

static const int64_t STOP_NS = SECONDS(30); /* for services to end; each has its own deadline */

/* ---- running the loop until something happens ---- */

void live_leave(struct live *l)
{
    if (l->waiting)
        loop_stop(l->loop);
}

/* Is nothing to be waited for any more? */
static bool live_ended(const struct live *l)
{
    return l->signal || l->late;
}

static void run_once(struct live *l)
{
    l->waiting = true;
    loop_run(l->loop);
    l->waiting = false;
}

struct deadline {
    struct timer timer;
    struct live *live;
    bool passed;
};

static void on_deadline(struct timer *t)
{
    struct deadline *d = OWNER(t, struct deadline, timer);
    d->passed = true;
    live_leave(d->live);
}

/* ---- hooks of the services ---- */

static int on_expand(void *ctx, uint32_t service, slice text, struct buf *out, struct err *e)
{
    struct live *l = ctx;
    if (service == l->sim_process && slice_eq(text, l->config->services.at[service].run)) {
        sim_command(l, out);
        return 0;
    }
    return wiring_expand(l->wiring, service, text, out, e);
}

static const struct addr *on_address(void *ctx, uint32_t service)
{
    const struct live *l = ctx;
    return &l->wiring->address[service];
}

static void on_ready(void *ctx)
{
    struct live *l = ctx;
    if (execution_renewed(l, NULL))
        return;
    l->ready = true;
    live_leave(l);
}

static void on_failed(void *ctx, const struct err *e)
{
    struct live *l = ctx;
    if (execution_renewed(l, e))
        return;
    l->failed = true;
    l->failure = *e;
    live_leave(l);
}

static void on_died(void *ctx, uint32_t service, const char *how)
{
    struct live *l = ctx;
    (void)service;
    l->n_died++;
    event_send(&l->opt.sink, &(struct event){.type = EVENT_DIED, .text = how});
    if (!execution_hurt(l, how, NULL))
        (void)snprintf(l->death, sizeof l->death, "%s", how);
}

static void on_over(void *ctx, uint32_t service)
{
    struct live *l = ctx;
    events_over(l->events, service);
}

/* It was none of the system's doing, so nobody is to make a finding of it. */
static void on_lost(void *ctx, const struct err *e)
{
    struct live *l = ctx;
    l->n_died++;
    l->lost = true;
    l->failure = *e;
    (void)execution_hurt(l, e->text, e);
}

static void on_stopped(void *ctx)
{
    struct live *l = ctx;
    l->stopped = true;
    live_leave(l);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct live *l = handle->data;
    loop_batch(l->loop);
    if (l->signal) /* twice: at once. The keeper ends what we started */
        _exit(128 + number);
    l->signal = number;
    live_leave(l);
}

/* ---- opening ---- */

static int open_tls(struct live *l, struct err *e)
{
    const struct campaign_config *c = l->config;
    l->tls = mem_zero((c->services.n + 1) * sizeof *l->tls);
    for (uint32_t i = 0; i < c->services.n; i++) {
        struct buf name = BUF_INIT(400);
        if (!c->services.at[i].tls)
            continue;
        struct tls_client_options o = wiring_tls(l->wiring, i, &name);
        l->tls[i] = tls_client(&o, e);
        buf_deinit(&name);
        if (!l->tls[i])
            return -1;
    }
    return 0;
}

static void warn(void *ctx, const char *text)
{
    const struct live *l = ctx;
    if (l->events && events_any(l->events))
        return; /* what cannot be reached was harmed */
    event_send(&l->opt.sink, &(struct event){.type = EVENT_WARNING, .text = text});
}

static int open_plane(struct live *l, struct err *e)
{
    struct proxy_config *proxies;
    direct_init(l);
    if (wiring_proxies(l->wiring, &proxies, e))
        return -1;
    if (plane_embed(proxies, &l->director, warn, l, &l->plane, e)) {
        config_free(proxies);
        return -1;
    }
    l->loop = plane_loop(l->plane);
    wiring_bind(l->wiring, l->plane);
    int failed = l->opt.beside ? guest_open(&l->beside, l->loop, l->opt.beside) : 0;
    return failed ? err_set(e, 0, 0, "no event loop: %s", uv_strerror(failed)) : 0;
}

/* ---- telling who is waited for ---- */

static const int64_t WATCH_NS = MS(200);

static void on_watch(struct timer *t)
{
    struct live *l = OWNER(t, struct live, watch);
    struct buf text = BUF_INIT(1 << 12);
    services_waiting(l->services, l->starting, &text);
    buf_addf(&text, ", %llds", (long long)((l->loop->now_ns - l->watch_ns) / SECONDS(1)));
    event_send(&l->opt.sink, &(struct event){.type = EVENT_WAITING, .text = buf_text(&text)});
    buf_deinit(&text);
    timer_start(l->loop, &l->watch, l->loop->now_ns + WATCH_NS);
}

static void watch_begin(struct live *l)
{
    l->watch_ns = clock_ns();
    l->watch.fire = on_watch;
    timer_start(l->loop, &l->watch, l->watch_ns + WATCH_NS);
}

static enum status wait_ready(struct live *l, struct err *e)
{
    l->ready = l->failed = false;
    l->starting = true;
    watch_begin(l);
    while (!l->ready && !l->failed && !live_ended(l))
        run_once(l);
    timer_stop(l->loop, &l->watch);
    l->starting = false;
    if (l->failed) {
        *e = l->failure;
        return STATUS_FAILED;
    }
    if (l->signal)
        (void)err_set(e, 0, 0, "interrupted while the services were starting");
    return live_ended(l) ? STATUS_INTERRUPTED : STATUS_OK;
}

static enum status open_all(struct live *l, struct err *e)
{
    const struct campaign_config *c = l->config;
    if (keeper_new(&l->keeper, e) || (c->plan && events_new(l, &l->events, e)) ||
        wiring_new(c, l->opt.sim, l->opt.slots, &l->wiring, e) || open_tls(l, e))
        return -1;
    uint32_t n = l->wiring->n_services;
    l->pid = mem_zero((n + 1) * sizeof *l->pid);
    l->spared = mem_zero((n + 1) * sizeof *l->spared);
    l->passed = mem_zero((n + 1) * sizeof *l->passed);
    struct track_options tracking = {.names = l->opt.names,
                                     .rules = l->opt.words->rules,
                                     .services = l->wiring->name,
                                     .n_services = n,
                                     .best = l->opt.best,
                                     .payload = (enum track_payload)c->identify.payload,
                                     .predecessors = c->identify.predecessors,
                                     .custom = c->identify.headers.at,
                                     .n_custom = c->identify.headers.n,
                                     .ignore = c->ignore.at,
                                     .n_ignore = c->ignore.n,
                                     .seed = l->opt.seed};
    l->tracker = tracker_new(&tracking);
    if (open_plane(l, e))
        return -1;
    (void)uv_signal_init(&l->loop->uv, &l->on_int);
    (void)uv_signal_init(&l->loop->uv, &l->on_term);
    l->on_int.data = l->on_term.data = l;
    (void)uv_signal_start(&l->on_int, on_signal, SIGINT);
    (void)uv_signal_start(&l->on_term, on_signal, SIGTERM);
    uv_unref((uv_handle_t *)&l->on_int);
    uv_unref((uv_handle_t *)&l->on_term);
    l->control = (struct control){.tracker = l->tracker, .words = l->opt.words};
    if (control_open(&l->control, l->loop, e) || keeper_attach(l->keeper, l->loop, e))
        return -1;
    l->client = client_new(l->loop, c->connections == CONNECTIONS_FRESH);
    struct services_hooks hooks = {.ctx = l,
                                   .expand = on_expand,
                                   .address = on_address,
                                   .ready = on_ready,
                                   .failed = on_failed,
                                   .died = on_died,
                                   .over = on_over,
                                   .lost = on_lost};
    if (services_new(l->loop, l->keeper, l->client, c, &hooks, &l->services, e))
        return -1;
    if (l->events)
        events_attach(l->events, l->loop, l->keeper, l->services);
    services_start(l->services);
    return wait_ready(l, e);
}

uint32_t live_clear_up(void)
{
    return keeper_clear_up();
}

int live_open(struct campaign_config *config, const struct live_options *options, struct live **out,
              struct err *e)
{
    struct live *l = mem_zero(sizeof *l);
    l->config = config;
    l->opt = *options;
    l->sim_process = UINT32_MAX;
    if (options->sim)
        l->sim_process = config->services.n - 1; /* sim_adopt put it there */
    if (options->sim && options->slots == 1)
        sys_stay(true); /* one call at a time, between two processes */
    enum status status = open_all(l, e);
    if (status != STATUS_OK) {
        int signal = l->signal;
        live_close(l);
        return status == STATUS_INTERRUPTED ? signal : -1;
    }
    *out = l;
    return 0;
}

/* ---- closing ---- */

void live_close(struct live *l)
{
    if (!l)
        return;
    sys_stay(false);
    live_cancel(l, NULL);
    events_free(l->events); /* which undoes what is left */
    if (l->services) {
        l->failed = false;
        live_set_deadline(l, 0);
        services_stop(l->services, on_stopped, l);
        watch_begin(l);
        struct deadline d = {.timer.fire = on_deadline, .live = l};
        timer_start(l->loop, &d.timer, clock_ns() + STOP_NS);
        while (!l->stopped && !d.passed && !l->failed)
            run_once(l);
        timer_stop(l->loop, &d.timer);
        timer_stop(l->loop, &l->watch);
        services_free(l->services);
    }
    if (l->client)
        client_free(l->client);
    if (l->keeper)
        keeper_free(l->keeper);
    if (l->plane) {
        uv_close((uv_handle_t *)&l->on_int, NULL);
        uv_close((uv_handle_t *)&l->on_term, NULL);
        control_close(&l->control);
        guest_close(&l->beside);
        plane_stop(l->plane, true);
        loop_run(l->loop);
        plane_free(l->plane);
    }
    for (uint32_t i = 0; l->tls && i < l->config->services.n; i++)
        tls_context_free(l->tls[i]);
    for (uint32_t i = 0; i < LIVE_SLOTS_MAX; i++)
        arena_deinit(&l->slot[i].arena);
    tracker_free(l->tracker);
    wiring_free(l->wiring);
    mem_free(l->tls);
    mem_free(l->pid);
    mem_free(l->spared);
    mem_free(l->passed);
    mem_free(l);
}

/* ---- in between ---- */

struct tracker *live_tracker(struct live *l)
{
    return l->tracker;
}

void live_rest(struct live *l, int64_t ns)
{
    struct deadline d = {.timer.fire = on_deadline, .live = l};
    timer_start(l->loop, &d.timer, clock_ns() + ns);
    while (!d.passed && !l->signal)
        run_once(l);
    timer_stop(l->loop, &d.timer);
}

static void on_late(struct timer *t)
{
    struct live *l = OWNER(t, struct live, deadline);
    l->late = true;
    live_leave(l);
}

void live_set_deadline(struct live *l, int64_t at_ns)
{
    l->late = false;
    timer_stop(l->loop, &l->deadline);
    l->deadline.fire = on_late;
    if (at_ns)
        timer_start(l->loop, &l->deadline, at_ns);
}

int live_signal(const struct live *l)
{
    return l->signal;
}

uint32_t live_running(const struct live *l)
{
    return l->n_running;
}

uint32_t live_slots(const struct live *l)
{
    return l->opt.slots;
}

enum status live_wait(struct live *l, const struct execution_result **out)
{
    for (;; run_once(l)) {
        for (uint32_t i = 0; i < l->opt.slots; i++) {
            struct execution *x = &l->slot[i];
            if (x->state != EXECUTION_DONE)
                continue;
            l->n_running--;
            x->state = EXECUTION_FREE; /* its arena stays until the slot is used again */
            *out = &x->result;
            return STATUS_OK;
        }
        if (live_ended(l))
            return STATUS_INTERRUPTED;
        if (l->n_running == 0)
            return STATUS_NONE;
    }
}

void live_idle(struct live *l)
{
    if (!l->signal)
        run_once(l);
}

void live_poke(struct live *l)
{
    live_leave(l);
}

void live_cancel(struct live *l, const void *whose)
{
    for (uint32_t i = 0; i < l->opt.slots; i++)
        if (!whose || l->slot[i].order.whose == whose)
            execution_cancel(&l->slot[i]);
}

bool live_hurt(const struct live *l)
{
    return l->n_died > 0;
}

const char *live_death(const struct live *l)
{
    return l->death[0] ? l->death : NULL;
}

enum status live_heal(struct live *l, bool all, struct err *e)
{
    if (l->lost) {
        *e = l->failure;
        return STATUS_FAILED;
    }
    l->n_died = 0;
    l->death[0] = 0;
    services_restart(l->services, all);
    enum status status = wait_ready(l, e);
    if (status == STATUS_OK)
        event_send(&l->opt.sink, &(struct event){.type = EVENT_RESTARTED});
    return status;
}

void live_log_mark(struct live *l)
{
    services_log_mark(l->services);
}

void live_log_since(const struct live *l, slice service, uint32_t most, struct buf *out)
{
    uint32_t i = config_service(l->config, service);
    if (i != UINT32_MAX)
        services_log_since(l->services, i, most, out);
}

bool live_has_own(const struct live *l)
{
    for (uint32_t i = 0; i < l->config->services.n; i++)
        if (l->config->services.at[i].run.n)
            return true;
    return false;
}

bool live_usage(const struct live *l, uint32_t service, struct process_usage *out, int64_t *process)
{
    *process = services_pid(l->services, service);
    return *process > 0 && services_usage(l->services, service, out);
}
