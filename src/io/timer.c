/* SPDX-License-Identifier: Apache-2.0
 *
 * Timers: a binary heap, ordered by moment, and one timer of libuv that fires for the first of
 * them.
 *
 * 1. timers.at[t->index] == t for each timer that runs; a timer that does not has at_ns 0.
 * 2. tick_ns is never later than the first timer, but it may be earlier: most deadlines are put off
 *    or stopped before they pass, so the tick is left alone, fires for nothing, and is set anew.
 * 3. A timer that is started while others fire is due after them, so firing comes to an end. */
#include "io/loop_int.h"

#include "base/clock.h"

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
    (void)uv_timer_start(&l->tick, timers_fire, at_ms > now_ms ? at_ms - now_ms : 0, 0);
}

void timers_fire(uv_timer_t *tick)
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
