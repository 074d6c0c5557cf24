/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop's timers and its waking: order, never early, starting and stopping from within. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "io/loop.h"
#include "support/unit.h"

#define MS_NS 1000000LL

/* --- A timer that ends the test -------------------------------------------------------------- */

struct ender {
    struct timer t;
    struct loop *l;
};

static void ender_fire(struct timer *t)
{
    loop_stop(((struct ender *)t)->l);
}

static void run_for(struct loop *l, int64_t ns)
{
    struct ender e = {.t.fire = ender_fire, .l = l};
    timer_start(l, &e.t, clock_ns() + ns);
    loop_run(l);
    timer_stop(l, &e.t);
}

/* What must come in the end may take long on a busy machine: then turn by turn, up to a deadline. */
static void run_until(struct loop *l, bool (*done)(const void *what), const void *what)
{
    int64_t deadline_ns = clock_ns() + 20 * 1000 * MS_NS;
    while (!done(what) && clock_ns() < deadline_ns)
        run_for(l, 5 * MS_NS);
    assert_true(done(what));
}

/* --- Many timers ----------------------------------------------------------------------------- */

enum { TIMERS = 1000, STARTS = 4000 };

struct world;

struct probe {
    struct timer t;
    struct world *w;
    int64_t wanted_ns; /* 0: must not fire */
};

struct world {
    struct loop l;
    struct probe probes[TIMERS];
    struct rng rng;
    int64_t last_ns;  /* moment of the timer that fired last in this round */
    int64_t round_ns; /* l.now_ns of that round */
    int starts, fired, early, disorder, wrong;
};

static void probe_start(struct world *w)
{
    struct probe *p = &w->probes[rng_below(&w->rng, TIMERS)];
    int64_t at_ns = w->l.now_ns + (int64_t)rng_below(&w->rng, 60 * MS_NS);
    w->starts++;
    timer_start(&w->l, &p->t, at_ns);
    p->wanted_ns = p->t.at_ns;
    w->wrong += p->wanted_ns < at_ns;
}

static void probe_stop(struct world *w)
{
    struct probe *p = &w->probes[rng_below(&w->rng, TIMERS)];
    p->wanted_ns = 0;
    timer_stop(&w->l, &p->t);
}

static void probe_fire(struct timer *t)
{
    struct probe *p = (struct probe *)t;
    struct world *w = p->w;
    int64_t wanted_ns = p->wanted_ns, now_ns = clock_ns();
    p->wanted_ns = 0;
    w->fired++;
    w->wrong += wanted_ns == 0 || t->at_ns != 0;
    w->early += now_ns < wanted_ns;
    w->disorder += w->round_ns == w->l.now_ns && wanted_ns < w->last_ns;
    w->round_ns = w->l.now_ns;
    w->last_ns = wanted_ns;
    for (int i = 0; i < 2 && w->starts < STARTS; i++)
        probe_start(w);
    probe_stop(w);
}

static void heap_holds(const struct loop *l)
{
    for (uint32_t i = 0; i < l->timers.n; i++) {
        assert_int_equal(l->timers.at[i]->index, i);
        if (i > 0)
            assert_true(l->timers.at[(i - 1) / 2]->at_ns <= l->timers.at[i]->at_ns);
    }
}

static void test_many_timers(void **state)
{
    (void)state;
    static struct world w;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        memset(&w, 0, sizeof w);
        w.rng = (struct rng){seed};
        assert_int_equal(loop_init(&w.l, NULL), 0);
        for (int i = 0; i < TIMERS; i++)
            w.probes[i] = (struct probe){.t.fire = probe_fire, .w = &w};
        for (int i = 0; i < TIMERS; i++) {
            probe_start(&w);
            if (i % 3 == 0)
                probe_stop(&w);
            if (i % 50 == 0)
                heap_holds(&w.l);
        }
        for (int i = 0; i < 200 && w.l.timers.n > 0; i++) {
            run_for(&w.l, 10 * MS_NS);
            heap_holds(&w.l);
        }
        assert_int_equal(w.l.timers.n, 0);
        /* each start that was not undone has fired, and nothing else has */
        for (int i = 0; i < TIMERS; i++)
            assert_int_equal(w.probes[i].wanted_ns, 0);
        assert_true(w.fired > TIMERS / 2);
        assert_int_equal(w.wrong, 0);
        assert_int_equal(w.early, 0);
        assert_int_equal(w.disorder, 0);
        loop_deinit(&w.l);
    }
}

/* --- Timers that start themselves again ------------------------------------------------------ */

struct again {
    struct timer t;
    struct loop *l;
    int n;
};

static void again_fire(struct timer *t)
{
    struct again *a = (struct again *)t;
    a->n++;
    timer_start(a->l, t, 1); /* long past */
}

static bool again_both(const void *what)
{
    const struct again *pair = what;
    return pair[0].n > 1 && pair[1].n > 1;
}

static void test_restarting_timer_starves_nobody(void **state)
{
    (void)state;
    struct loop l;
    assert_int_equal(loop_init(&l, NULL), 0);
    struct again pair[2] = {{.t.fire = again_fire, .l = &l}, {.t.fire = again_fire, .l = &l}};
    timer_start(&l, &pair[0].t, 1);
    timer_start(&l, &pair[1].t, 1);
    run_until(&l, again_both, pair);
    timer_stop(&l, &pair[0].t);
    timer_stop(&l, &pair[0].t);
    timer_stop(&l, &pair[1].t);
    assert_int_equal(l.timers.n, 0);
    loop_deinit(&l);
}

/* A deadline that is put off many times costs the loop few turns. */
static void count_turn(uv_prepare_t *p)
{
    ++*(int *)p->data;
}

static void ignore(struct timer *t)
{
    (void)t;
}

static void test_waiting_costs_nothing(void **state)
{
    (void)state;
    struct loop l;
    uv_prepare_t p;
    int turns = 0;
    assert_int_equal(loop_init(&l, NULL), 0);
    assert_int_equal(uv_prepare_init(&l.uv, &p), 0);
    p.data = &turns;
    uv_prepare_start(&p, count_turn);
    struct timer t[100];
    for (int i = 0; i < 100; i++) {
        t[i] = (struct timer){.fire = ignore};
        timer_start(&l, &t[i], l.now_ns + 3600 * 1000 * MS_NS + i);
    }
    timer_start(&l, &t[0], INT64_MAX);
    run_for(&l, 100 * MS_NS);
    assert_true(turns < 10);
    for (int i = 0; i < 100; i++)
        timer_stop(&l, &t[i]);
    uv_close((uv_handle_t *)&p, NULL);
    loop_deinit(&l);
}

/* --- Waking ---------------------------------------------------------------------------------- */

enum { WAKES = 2000 };

struct waker {
    struct loop l;
    atomic_int posted, seen;
    _Atomic int64_t posted_ns;
    int calls, stale;
};

static void on_wake(struct loop *l)
{
    struct waker *w = l->user;
    w->calls++;
    w->stale += l->now_ns < atomic_load(&w->posted_ns);
    int n = atomic_load(&w->posted);
    atomic_store(&w->seen, n);
    if (n == WAKES)
        loop_stop(l);
}

/* Each post waits until the one before was seen, so a wake that got lost would hang; in between it
 * lets the loop fall asleep. */
static void *wake_often(void *arg)
{
    struct waker *w = arg;
    for (int i = 1; i <= WAKES; i++) {
        while (atomic_load(&w->seen) < i - 1)
            sched_yield();
        if (i % 500 == 0)
            usleep(20000);
        atomic_store(&w->posted_ns, clock_ns());
        atomic_store(&w->posted, i);
        loop_wake(&w->l);
    }
    return NULL;
}

static void test_wake_from_another_thread(void **state)
{
    (void)state;
    static struct waker w;
    assert_int_equal(loop_init(&w.l, on_wake), 0);
    w.l.user = &w;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wake_often, &w), 0);
    alarm(120);
    loop_run(&w.l);
    alarm(0);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&w.seen), WAKES);
    assert_true(w.calls >= WAKES);
    assert_int_equal(w.stale, 0); /* the moment is from after the wait */
    loop_deinit(&w.l);
}

static void test_empty_loop(void **state)
{
    (void)state;
    struct loop l;
    assert_int_equal(loop_init(&l, NULL), 0);
    loop_wake(&l); /* nobody minds */
    loop_stop(&l);
    loop_run(&l); /* said before: returns at once */
    run_for(&l, MS_NS);
    loop_stop(&l);
    loop_deinit(&l);
}

/* --- Turns ----------------------------------------------------------------------------------- */

enum { LAPS = 5 };

struct lap {
    struct turn turn;
    struct loop *l;
    struct lap *stops; /* this one, when it fires */
    int left, fired;
    uint64_t rounds[LAPS];
};

static void lap_fire(struct turn *t)
{
    struct lap *lap = (struct lap *)t;
    lap->rounds[lap->fired++] = lap->l->round;
    if (lap->stops)
        turn_stop(lap->l, &lap->stops->turn);
    if (--lap->left > 0)
        turn_start(lap->l, t);
}

static bool laps_done(const void *what)
{
    const struct lap *lap = what;
    return lap->left == 0;
}

static void test_turns(void **state)
{
    (void)state;
    struct loop l;
    struct lap never = {.turn.fire = lap_fire, .l = &l, .left = 1};
    struct lap once = {.turn.fire = lap_fire, .l = &l, .left = 1, .stops = &never};
    struct lap often = {.turn.fire = lap_fire, .l = &l, .left = LAPS};
    assert_int_equal(loop_init(&l, NULL), 0);
    turn_start(&l, &once.turn);
    turn_start(&l, &never.turn);
    turn_start(&l, &often.turn);
    turn_start(&l, &often.turn); /* waits already */
    run_until(&l, laps_done, &often);
    assert_int_equal(once.fired, 1);
    assert_int_equal(never.fired, 0);
    assert_int_equal(often.fired, LAPS);
    for (int i = 1; i < LAPS; i++) /* one for each time that events were told */
        assert_int_equal(often.rounds[i], often.rounds[0] + (uint64_t)i);
    assert_null(l.turns);
    turn_stop(&l, &often.turn); /* does not wait */
    loop_deinit(&l);
}

/* --- A loop within a loop -------------------------------------------------------------------- */

struct inner {
    struct loop l;
    struct timer t;
    struct turn turn;
    int fired, turned;
    atomic_int woken;
    int64_t wanted_ns;
};

static void inner_turn(struct turn *t)
{
    OWNER(t, struct inner, turn)->turned++;
}

static void inner_fire(struct timer *t)
{
    struct inner *i = OWNER(t, struct inner, t);
    assert_true(clock_ns() >= i->wanted_ns);
    i->fired++;
    turn_start(&i->l, &i->turn);
    i->wanted_ns = clock_ns() + 7 * MS_NS;
    timer_start(&i->l, t, i->wanted_ns);
}

static void inner_wake(struct loop *l)
{
    atomic_fetch_add(&OWNER(l, struct inner, l)->woken, 1);
}

enum { GUEST_WAKES = 5 };

/* Each waits until the one before was seen: two that are not seen between are one. */
static void *wake_inner(void *arg)
{
    struct inner *i = arg;
    for (int k = 1; k <= GUEST_WAKES; k++) {
        usleep(10000);
        loop_wake(&i->l);
        while (atomic_load(&i->woken) < k)
            usleep(1000);
    }
    return NULL;
}

static bool inner_lives(const void *what)
{
    const struct inner *i = what;
    return i->fired >= 3 && i->turned >= i->fired - 1 && atomic_load(&i->woken) == GUEST_WAKES;
}

/* Only the host is run: timers, turns and what other threads want of the guest are told all the same,
 * as long as it is one; and a guest that waits costs nothing. */
static void test_guest(void **state)
{
    struct loop host;
    struct inner in = {.t.fire = inner_fire, .turn.fire = inner_turn};
    struct guest g;
    pthread_t thread;
    (void)state;
    assert_int_equal(loop_init(&host, NULL), 0);
    assert_int_equal(loop_init(&in.l, inner_wake), 0);
    for (int round = 0; round < 2; round++) { /* it may be a guest again */
        in.fired = in.turned = 0;
        atomic_store(&in.woken, 0);
        assert_int_equal(guest_open(&g, &host, &in.l), 0);
        in.wanted_ns = clock_ns() + 5 * MS_NS;
        timer_start(&in.l, &in.t, in.wanted_ns);
        assert_int_equal(pthread_create(&thread, NULL, wake_inner, &in), 0);
        run_until(&host, inner_lives, &in);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&in.woken), GUEST_WAKES);
        guest_close(&g);
        int fired = in.fired;
        run_for(&host, 20 * MS_NS);
        assert_int_equal(in.fired, fired);
    }
    timer_stop(&in.l, &in.t);
    loop_deinit(&in.l);
    loop_deinit(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_timers),
        cmocka_unit_test(test_restarting_timer_starves_nobody),
        cmocka_unit_test(test_waiting_costs_nothing),
        cmocka_unit_test(test_wake_from_another_thread),
        cmocka_unit_test(test_empty_loop),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_guest),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
