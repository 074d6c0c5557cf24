/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop: libuv, with a flush before it waits (for what timers touched) and one after its events.
 *
 *     uv_timer -> on_tick
 *     uv_prepare -> conns_flush; the idle handle runs exactly while something stays touched
 *     wait, uv_poll and uv_async
 *     uv_check -> conns_flush
 *
 * Timers are a binary heap, ordered by moment, and one timer of libuv that fires for the first:
 *
 * 1. timers.at[t->index] == t for each timer that runs; a timer that does not has at_ns 0.
 * 2. tick_ns is never later than the first timer, but it may be earlier: most deadlines are put off
 *    or stopped before they pass, so the tick is left alone, fires for nothing, and is set anew.
 * 3. A timer that is started while others fire is due after them, so firing comes to an end. */
#include "io/loop.h"

#include <assert.h>

#include "io/conn.h"

/* --- Rounds --------------------------------------------------------------------------------- */

static void on_idle(uv_idle_t *h)
{
    (void)h; /* that it is active is all that matters */
}

static void on_prepare(uv_prepare_t *h)
{
    struct loop *l = h->data;
    if (l->touched) {
        l->now_ns = clock_ns();
        conns_flush(l);
    }
    if (l->touched || l->turns)
        (void)uv_idle_start(&l->idle, on_idle);
    else
        (void)uv_idle_stop(&l->idle);
    if (l->rest)
        l->rest(l);
    l->stale = true;
}

static void on_check(uv_check_t *h)
{
    struct loop *l = h->data;
    if (l->touched) {
        loop_batch(l);
        conns_flush(l);
    }
    l->round++; /* those that are started from here on wait for the next one */
    while (l->turns && l->turns->round != l->round) {
        struct turn *t = l->turns;
        loop_batch(l);
        turn_stop(l, t);
        t->fire(t);
    }
}

void turn_start(struct loop *l, struct turn *t)
{
    struct turn **end = &l->turns;
    if (t->waits)
        return;
    while (*end)
        end = &(*end)->next;
    t->waits = true;
    t->round = l->round;
    t->next = NULL;
    *end = t;
}

void turn_stop(struct loop *l, struct turn *t)
{
    struct turn **at = &l->turns;
    if (!t->waits)
        return;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    t->waits = false;
}

/* --- Timers --------------------------------------------------------------------------------- */

static void place(struct loop *l, uint32_t at, struct timer *t)
{
    l->timers.at[at] = t;
    t->index = at;
}

/* Finds the place of t on the way from `at` to the root. */
static void sift_up(struct loop *l, uint32_t at, struct timer *t)
{
    while (at > 0) {
        struct timer *above = l->timers.at[(at - 1) / 2];
        if (above->at_ns <= t->at_ns)
            break;
        place(l, at, above);
        at = (at - 1) / 2;
    }
    place(l, at, t);
}

/* Finds the place of t on the way from `at` to the leaves. */
static void sift_down(struct loop *l, uint32_t at, struct timer *t)
{
    for (;;) {
        uint32_t below = 2 * at + 1;
        if (below >= l->timers.n)
            break;
        if (below + 1 < l->timers.n && l->timers.at[below + 1]->at_ns < l->timers.at[below]->at_ns)
            below++;
        if (l->timers.at[below]->at_ns >= t->at_ns)
            break;
        place(l, at, l->timers.at[below]);
        at = below;
    }
    place(l, at, t);
}

static void on_tick(uv_timer_t *tick);

/* Sets libuv's timer when the first of ours is earlier. Both count on the same clock, libuv in
 * whole milliseconds: rounded up, it never fires early. */
static void tick_set(struct loop *l)
{
    if (l->timers.n == 0)
        return;
    int64_t at_ns = l->timers.at[0]->at_ns;
    if (l->tick_ns && l->tick_ns <= at_ns)
        return;
    l->tick_ns = at_ns;
    uint64_t at_ms = (uint64_t)(at_ns / MS(1) + (at_ns % MS(1) != 0));
    uint64_t now_ms = uv_now(&l->uv);
    (void)uv_timer_start(&l->tick, on_tick, at_ms > now_ms ? at_ms - now_ms : 0, 0);
}

static void on_tick(uv_timer_t *tick)
{
    struct loop *l = tick->data;
    l->now_ns = l->fired_ns = clock_ns();
    l->stale = false;
    l->tick_ns = 1; /* earlier than any timer: those that are started now leave libuv's alone */
    while (l->timers.n && l->timers.at[0]->at_ns <= l->fired_ns) {
        struct timer *t = l->timers.at[0];
        timer_stop(l, t);
        t->fire(t);
    }
    l->tick_ns = 0;
    tick_set(l);
}

void timer_start(struct loop *l, struct timer *t, int64_t at_ns)
{
    timer_stop(l, t);
    t->at_ns = at_ns > l->fired_ns ? at_ns : l->fired_ns + 1;
    vec_push(&l->timers, t);
    sift_up(l, l->timers.n - 1, t);
    tick_set(l);
}

void timer_stop(struct loop *l, struct timer *t)
{
    if (t->at_ns == 0)
        return;
    t->at_ns = 0;
    struct timer *last = vec_last(&l->timers);
    l->timers.n--;
    if (last == t)
        return;
    if (t->index > 0 && l->timers.at[(t->index - 1) / 2]->at_ns > last->at_ns)
        sift_up(l, t->index, last);
    else
        sift_down(l, t->index, last);
}

/* --- The loop itself ------------------------------------------------------------------------ */

static void on_async(uv_async_t *h)
{
    struct loop *l = h->data;
    loop_batch(l);
    if (l->wake)
        l->wake(l);
}

int loop_init(struct loop *l, void (*wake)(struct loop *l))
{
    *l = (struct loop){.wake = wake};
    int failed = uv_loop_init(&l->uv);
    if (failed)
        return failed;
    failed = uv_async_init(&l->uv, &l->async, on_async);
    if (failed) {
        (void)uv_loop_close(&l->uv);
        return failed;
    }
    /* what follows cannot fail */
    (void)uv_prepare_init(&l->uv, &l->prepare);
    (void)uv_check_init(&l->uv, &l->check);
    (void)uv_idle_init(&l->uv, &l->idle);
    (void)uv_timer_init(&l->uv, &l->tick);
    l->async.data = l->prepare.data = l->check.data = l->idle.data = l->tick.data = l;
    (void)uv_prepare_start(&l->prepare, on_prepare);
    (void)uv_check_start(&l->check, on_check);
    l->read_bytes = mem_alloc(LOOP_READ_BYTES);
    l->now_ns = clock_ns();
    l->stale = true;
    return 0;
}

void loop_run(struct loop *l)
{
    (void)uv_run(&l->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *l)
{
    uv_stop(&l->uv);
}

void loop_wake(struct loop *l)
{
    (void)uv_async_send(&l->async);
}

/* --- A loop within a loop -------------------------------------------------------------------- */

enum { GUEST_TURNS = 4 }; /* of the guest for one of the host, which has work of its own */

/* Once more while events come: what they have registered is known to the kernel only when the loop
 * looks again. `stale` says that none came. */
static void guest_turn(struct guest *g)
{
    int n = 0;
    do
        (void)uv_run(&g->loop->uv, UV_RUN_NOWAIT);
    while (!g->loop->stale && ++n < GUEST_TURNS);
}

static void on_guest_poll(uv_poll_t *h, int status, int events)
{
    (void)status;
    (void)events;
    guest_turn(h->data);
}

static void on_guest_timer(uv_timer_t *h)
{
    guest_turn(h->data);
}

static void on_guest_prepare(uv_prepare_t *h)
{
    struct guest *g = h->data;
    if (g->loop->touched || g->loop->turns || !g->loop->stale)
        guest_turn(g);
    uv_update_time(&g->loop->uv);
    int ms = uv_backend_timeout(&g->loop->uv);
    if (ms < 0)
        (void)uv_timer_stop(&g->timer);
    else
        (void)uv_timer_start(&g->timer, on_guest_timer, (uint64_t)ms, 0);
}

int guest_open(struct guest *g, struct loop *host, struct loop *loop)
{
    *g = (struct guest){.loop = loop};
    int failed = uv_poll_init(&host->uv, &g->poll, uv_backend_fd(&loop->uv));
    if (failed) {
        g->loop = NULL;
        return failed;
    }
    (void)uv_timer_init(&host->uv, &g->timer);
    (void)uv_prepare_init(&host->uv, &g->prepare);
    g->poll.data = g->timer.data = g->prepare.data = g;
    guest_turn(g); /* what it listens at is registered */
    (void)uv_poll_start(&g->poll, UV_READABLE, on_guest_poll);
    (void)uv_prepare_start(&g->prepare, on_guest_prepare);
    return 0;
}

void guest_close(struct guest *g)
{
    if (!g->loop)
        return;
    g->loop = NULL;
    uv_close((uv_handle_t *)&g->poll, NULL);
    uv_close((uv_handle_t *)&g->timer, NULL);
    uv_close((uv_handle_t *)&g->prepare, NULL);
}

void loop_deinit(struct loop *l)
{
    conns_drop(l);
    uv_handle_t *own[] = {
        (uv_handle_t *)&l->prepare, (uv_handle_t *)&l->check, (uv_handle_t *)&l->idle,
        (uv_handle_t *)&l->async,   (uv_handle_t *)&l->tick,
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        uv_close(own[i], NULL);
    for (int i = 0; i < 2; i++) /* the first may only find that loop_stop was said */
        (void)uv_run(&l->uv, UV_RUN_NOWAIT);
    conns_flush(l); /* frees what was closed while it was touched */
    assert(l->n_handles == 0);
    int open = uv_loop_close(&l->uv);
    assert(open == 0);
    (void)open;
    vec_deinit(&l->timers);
    blocks_deinit(&l->blocks);
    mem_free(l->read_bytes);
    *l = (struct loop){0};
}
