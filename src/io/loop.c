/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop: libuv, with a flush before it waits (for what timers touched) and one after its events.
 *
 *     uv_timer -> timers_fire
 *     uv_prepare -> conns_flush; the idle handle runs exactly while something stays touched
 *     wait, uv_poll and uv_async
 *     uv_check -> conns_flush */
#include "io/loop.h"

#include <assert.h>

#include "io/loop_int.h"

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
