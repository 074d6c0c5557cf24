/* SPDX-License-Identifier: Apache-2.0
 *
 * loop: one thread's event loop (libuv), with what its connections share: a buffer to read into, a
 * free list of blocks, timers, and the list of connections that have something to write.
 *
 *     timers -> flush -> wait for events -> events -> flush -> free what was closed -> again
 *
 * 1. What events want to write is written once, after all of the events that came together
 *    (conn_touch, then conn.c's flush): one system call for many messages.
 * 2. Timers cost nothing while they run: a heap, and one timer of libuv for the earliest.
 * 3. The loop does not wait while connections are touched.
 * 4. A loop belongs to one thread. Only loop_wake may be called from another. */
#ifndef OUTFOX_IO_LOOP_H
#define OUTFOX_IO_LOOP_H

#include <uv.h>

#include "base/chain.h"
#include "base/clock.h"
#include "base/vec.h"

enum { LOOP_READ_BYTES = 64 * 1024 };

struct timer {
    int64_t at_ns;  /* 0: not running */
    uint32_t index; /* in the heap, while it runs */
    void (*fire)(struct timer *t);
};

/* Waits until the loop has come round. */
struct turn {
    struct turn *next;
    uint64_t round; /* of the loop, when it was started */
    bool waits;
    void (*fire)(struct turn *t);
};

struct loop {
    uv_loop_t uv;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle; /* runs, and so keeps the loop from waiting, while flushing is unfinished or
                       somebody waits for a turn */
    uv_async_t async;
    uv_timer_t tick;
    int64_t now_ns; /* when the current batch of events began; good enough for deadlines */
    bool stale;     /* now_ns is from before the loop waited: the next event sets it */
    struct blocks blocks;
    char *read_bytes; /* LOOP_READ_BYTES, for whoever reads next */
    VEC(struct timer *) timers;
    int64_t tick_ns;  /* when `tick` fires, at the latest timers.at[0]; 0: never */
    int64_t fired_ns; /* timers up to then have fired */
    struct conn *touched, *last_touched; /* to be flushed, linked by conn->next_touched */
    struct turn *turns;                  /* that wait, in their order */
    uint64_t round;                      /* how often events were told */
    uint32_t n_handles;                  /* connections and listeners not yet closed */
    void (*wake)(struct loop *l);
    void (*rest)(struct loop *l); /* called each time before the loop waits; NULL: nothing is */
    void *user;
};

/* 0, or a negative errno. wake: called in the loop's thread after loop_wake; NULL: nothing is. */
int loop_init(struct loop *l, void (*wake)(struct loop *l)) MUST_USE;

/* Brings now_ns up to date, at most once per batch. Who gives libuv callbacks of his own says it
 * first in each: libuv has no hook between waiting and the first event, and with a moment from
 * before a long wait deadlines would pass that have not begun. */
static inline void loop_batch(struct loop *l)
{
    if (l->stale) {
        l->now_ns = clock_ns();
        l->stale = false;
    }
}

/* Runs until loop_stop. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* From any thread. Several may become one call of `wake`. */
void loop_wake(struct loop *l);

/* Closes what is the loop's own. The owner has closed all connections and listeners before; those
 * connections that still write or linger are cut short. */
void loop_deinit(struct loop *l);

/* A loop whose events are told while another one runs, in the same thread: for what outlives that
 * one, or was there before. Between guest_open and guest_close only the host is run. */
struct guest {
    struct loop *loop;
    uv_poll_t poll;       /* it has events, */
    uv_timer_t timer;     /* or a timer of its own is due, */
    uv_prepare_t prepare; /* or something is to be written */
};

/* 0, or a negative errno. *g stays until the host has turned once after guest_close. */
int guest_open(struct guest *g, struct loop *host, struct loop *loop) MUST_USE;

/* Nothing happens when it is not open. */
void guest_close(struct guest *g);

/* (Re)starts a timer; fires once, not before at_ns. Timers fire in the order of their moments. */
void timer_start(struct loop *l, struct timer *t, int64_t at_ns);

/* Nothing happens when it is not running. */
void timer_stop(struct loop *l, struct timer *t);

/* Fires once, after the events that come together next (or that are being told now): so what was
 * ready has been looked at. Nothing happens when it waits already. */
void turn_start(struct loop *l, struct turn *t);

/* Nothing happens when it does not wait. */
void turn_stop(struct loop *l, struct turn *t);

#endif
