/* SPDX-License-Identifier: Apache-2.0
 *
 * tunnel: a client's connection and one to the service, and what flows between them. A connection is
 * to a door of tcp:// what a call is to others: rules count it, a fault is acted out on it, and it has
 * one line in the log.
 *
 *   accepted --> a rule fires? --+--> broken off, or held: the service is not called
 *                                +--> connects, and both flows run --> both have ended --> done
 *
 *   flow:   from --bytes--> [held: for a time, or until its share is due] --> to->out
 *
 * 1. Each end is passed on for itself: a client that has said all may still be answered.
 * 2. What one side does not take stops the reading of the other: at most ROOM bytes wait, and LATE_ROOM
 *    where they wait for time.
 * 3. A side that breaks breaks the other one, once that has what came before.
 * 4. tunnel_finish is the only end: one record for every connection. Nothing touches the tunnel after
 *    it, so functions that may call it do so at their very end. */
#include "proxy/tunnel_int.h"

#include <assert.h>
#include <stdio.h>

#include "proxy/pace_int.h"

enum { ROOM = 64 * 1024, LATE_ROOM = 1024 * 1024 };

/* How long a side that is to be broken may take for what came before. */
static const int64_t LAST_WORDS_NS = SECONDS(5);

enum side { CLIENT, SERVICE, SIDES };

/* Bytes that go at a moment. */
struct due {
    int64_t at_ns;
    size_t n;
};

/* What comes from one side. */
struct flow {
    struct chain held;
    struct timer timer;  /* runs while bytes are held */
    int64_t late_ns;     /* each byte comes so much later; 0: at once */
    VEC(struct due) due; /* when, in order, from `next` on */
    uint32_t next;
    struct pace pace; /* rate 0: as fast as they come */
    uint64_t left;    /* bytes until it is broken off; UINT64_MAX: it is not */
    uint64_t bytes;   /* passed on */
    bool ended;       /* it has said all */
    bool cut;         /* nothing more is passed on, and the other side is broken */
    bool shut;        /* the other side was told the end */
};

struct tunnel {
    struct tunnel *next, **self;
    struct worker *worker;
    struct generation *generation;
    uint32_t door;
    struct conn *end[SIDES]; /* NULL: none, or gone */
    struct flow flow[SIDES];
    struct timer hold;
    const struct rule *rule; /* NULL: none */
    mode mode;               /* what is acted out */
    bool fired;
    uint32_t n;
    outcome reply; /* how the service ended it */
    outcome seen;  /* when it is cut: what the client will have seen */
    int64_t start_ns, forward_ns, answer_ns;
    char error[300];
};

static const struct conn_events events;

/* ---- beginning and end ---- */

static const struct door *door_of(const struct tunnel *t)
{
    return &t->generation->setup->door[t->door];
}

static void record(const struct tunnel *t, outcome seen)
{
    struct call_record r = {.service = door_of(t)->spec->service,
                            .interface = SLICE(RULE_TCP),
                            .protocol = SLICE("tcp"),
                            .n = t->n,
                            .rule = t->rule,
                            .fired = t->fired,
                            .seen = seen,
                            .reply = t->reply,
                            .start_ns = t->start_ns,
                            .forward_ns = t->forward_ns,
                            .answer_ns = t->answer_ns,
                            .request_bytes = t->flow[CLIENT].bytes,
                            .response_bytes = t->flow[SERVICE].bytes,
                            .error = t->error[0] ? t->error : NULL};
    record_call(t->worker, &r);
}

/* Both connections are closed, or gone. */
static void tunnel_finish(struct tunnel *t, outcome seen)
{
    struct worker *w = t->worker;
    assert(!t->end[CLIENT] && !t->end[SERVICE]);
    if (t->fired)
        rule_fired(t->rule);
    if (w->current->setup->log)
        record(t, seen);
    for (enum side s = 0; s < SIDES; s++) {
        timer_stop(&w->loop, &t->flow[s].timer);
        chain_clear(&t->flow[s].held);
        vec_deinit(&t->flow[s].due);
    }
    timer_stop(&w->loop, &t->hold);
    *t->self = t->next;
    if (t->next)
        t->next->self = t->self;
    atomic_fetch_sub(&w->plane->n_clients, 1);
    generation_drop(t->generation);
    mem_free(t);
    worker_check_done(w);
}

/* Lets go of a side, in this way. */
static void leave(struct tunnel *t, enum side s, void (*how)(struct conn *c))
{
    struct conn *c = t->end[s];
    t->end[s] = NULL;
    if (c)
        how(c);
}

static void tunnel_end(struct tunnel *t, void (*how)(struct conn *c), outcome seen)
{
    leave(t, CLIENT, how);
    leave(t, SERVICE, how);
    tunnel_finish(t, seen);
}

/* ---- faults ---- */

/* Breaks the client off as the mode says. */
static void tunnel_break(struct tunnel *t)
{
    outcome seen = mode_outcome(t->mode);
    leave(t, SERVICE, conn_reset);
    tunnel_end(t, outcome_kind(seen) == OUT_CLOSED ? conn_close : conn_reset, seen);
}

static void on_held(struct timer *timer)
{
    struct tunnel *t = OWNER(timer, struct tunnel, hold);
    tunnel_end(t, conn_close, mode_outcome(t->mode));
}

/* The client waits, whatever it says. */
static void tunnel_hold(struct tunnel *t)
{
    leave(t, SERVICE, conn_reset);
    timer_start(&t->worker->loop, &t->hold,
                t->worker->loop.now_ns + t->generation->setup->config->limits.hold_ns);
}

/* Instead of the service, or of what it says. */
static void act_at_once(struct tunnel *t)
{
    t->fired = true;
    t->mode = mode_without_lost(t->mode);
    if (mode_act(t->mode) == ACT_HOLD)
        tunnel_hold(t);
    else
        tunnel_break(t);
}

/* What the mode does to the flows. */
static void set_flows(struct tunnel *t)
{
    struct flow *up = &t->flow[CLIENT], *down = &t->flow[SERVICE];
    switch (mode_lost(t->mode) ? ACTS : mode_act(t->mode)) {
    case ACT_DELAY: up->late_ns = mode_delay_ns(t->mode); break;
    case ACT_LATE: down->late_ns = mode_delay_ns(t->mode); break;
    case ACT_PACE: down->pace.rate = mode_argument(t->mode); break;
    case ACT_CUT: down->left = mode_argument(t->mode); break;
    default: break;
    }
}

/* ---- flows ---- */

static void flow_pass(struct tunnel *t, enum side from, slice bytes)
{
    struct conn *to = t->end[!from];
    t->flow[from].bytes += bytes.n;
    chain_add(&to->out, bytes);
    conn_touch(to);
}

static void flow_let_go(struct tunnel *t, enum side from, size_t n)
{
    struct flow *f = &t->flow[from];
    while (n) {
        slice front = chain_front(&f->held);
        front.n = front.n < n ? front.n : n;
        flow_pass(t, from, front);
        n -= front.n;
        chain_drop(&f->held, front.n);
    }
}

/* The side is read while there is room for what it says. */
static void flow_read(struct tunnel *t, enum side from)
{
    struct flow *f = &t->flow[from];
    size_t room = f->late_ns ? LATE_ROOM : ROOM;
    if (t->end[from] && t->end[!from])
        conn_read(t->end[from], !f->cut && f->held.n + t->end[!from]->out.n < room);
}

/* What was said is on its way: is there an end to be passed on? Perhaps that of the tunnel. */
static void flow_settle(struct tunnel *t, enum side from)
{
    struct flow *f = &t->flow[from];
    struct conn *to = t->end[!from];
    if (f->held.n || !to)
        return;
    if (f->cut) {
        if (to->out.n == 0)
            tunnel_end(t, conn_reset, t->seen);
        return;
    }
    if (f->ended && !f->shut) {
        f->shut = true;
        conn_shut(to);
    }
    if (t->flow[CLIENT].shut && t->flow[SERVICE].shut)
        tunnel_end(t, conn_close, OUTCOME(OUT_CLOSED, 0));
}

/* Nothing more is passed on; the other side is reset when it has what came before. */
static void flow_cut(struct tunnel *t, enum side from, outcome seen)
{
    struct conn *to = t->end[!from];
    t->flow[from].cut = true;
    t->seen = seen;
    if (t->end[from])
        conn_read(t->end[from], false);
    conn_expire(to, t->worker->loop.now_ns + LAST_WORDS_NS);
    flow_settle(t, from);
}

static void flow_tick(struct tunnel *t, enum side from)
{
    struct flow *f = &t->flow[from];
    struct loop *loop = &t->worker->loop;
    size_t n = 0;
    if (!t->end[!from])
        return;
    if (f->pace.rate)
        n = pace_share(&f->pace, f->held.n);
    while (!f->pace.rate && f->next < f->due.n && f->due.at[f->next].at_ns <= loop->now_ns)
        n += f->due.at[f->next++].n;
    flow_let_go(t, from, n);
    if (f->next > f->due.n / 2) { /* those that have gone take no memory, however long it flows */
        f->due.n -= f->next;
        memmove(f->due.at, f->due.at + f->next, f->due.n * sizeof *f->due.at);
        f->next = 0;
    }
    if (f->held.n)
        timer_start(loop, &f->timer,
                    f->pace.rate ? loop->now_ns + pace_ns(&f->pace) : f->due.at[f->next].at_ns);
    flow_read(t, from);
    flow_settle(t, from);
}

static void on_tick_client(struct timer *timer)
{
    flow_tick(OWNER(timer, struct tunnel, flow[CLIENT].timer), CLIENT);
}

static void on_tick_service(struct timer *timer)
{
    flow_tick(OWNER(timer, struct tunnel, flow[SERVICE].timer), SERVICE);
}

static void flow_hold(struct tunnel *t, enum side from, slice bytes)
{
    struct flow *f = &t->flow[from];
    struct loop *loop = &t->worker->loop;
    int64_t at_ns = loop->now_ns + (f->late_ns ? f->late_ns : pace_ns(&f->pace));
    t->fired = true;
    chain_add(&f->held, bytes);
    if (f->late_ns)
        vec_push(&f->due, ((struct due){at_ns, bytes.n}));
    if (!f->timer.at_ns)
        timer_start(loop, &f->timer, at_ns);
}

/* ---- what connections tell ---- */

static enum side side_of(const struct tunnel *t, const struct conn *c)
{
    return c == t->end[CLIENT] ? CLIENT : SERVICE;
}

/* The client is there: on to the service, unless a fault comes first. */
static void begin(struct tunnel *t)
{
    struct loop *loop = &t->worker->loop;
    const struct limits *limits = &t->generation->setup->config->limits;
    conn_expire(t->end[CLIENT], loop->now_ns + limits->total_ns);
    conn_read(t->end[CLIENT], true);
    if (t->mode != MODE_NONE && !mode_reached(t->mode)) {
        act_at_once(t);
        return;
    }
    set_flows(t);
    t->forward_ns = clock_ns();
    t->end[SERVICE] = conn_connect(loop, &door_of(t)->to, NULL, ALPN_NONE, &events, t);
    conn_expire(t->end[SERVICE], loop->now_ns + limits->connect_ns);
}

static void on_ready(struct conn *c)
{
    struct tunnel *t = c->user;
    if (c == t->end[CLIENT]) {
        begin(t);
        return;
    }
    conn_expire(c, 0);
    flow_read(t, SERVICE);
}

static void on_bytes(struct conn *c, slice bytes)
{
    struct tunnel *t = c->user;
    enum side from = side_of(t, c);
    struct flow *f = &t->flow[from];
    if (from == SERVICE && !t->answer_ns) {
        t->answer_ns = clock_ns();
        if (mode_lost(t->mode)) {
            act_at_once(t);
            return;
        }
    }
    if (t->hold.at_ns || f->cut || !t->end[!from])
        return; /* nobody will want it */
    bool last = bytes.n >= f->left;
    bytes.n = last ? (size_t)f->left : bytes.n;
    f->left -= f->left == UINT64_MAX ? 0 : bytes.n;
    if (f->late_ns || f->pace.rate)
        flow_hold(t, from, bytes);
    else
        flow_pass(t, from, bytes);
    if (!last) {
        flow_read(t, from);
        return;
    }
    t->fired = true;
    if (mode_kind(t->mode) == MODE_RESET)
        flow_cut(t, from, OUTCOME(OUT_RESET, 0));
    else
        tunnel_end(t, conn_close, OUTCOME(OUT_CLOSED, 0));
}

static void on_eof(struct conn *c)
{
    struct tunnel *t = c->user;
    enum side from = side_of(t, c);
    t->flow[from].ended = true;
    if (from == SERVICE)
        t->reply = OUTCOME(OUT_CLOSED, 0);
    if (t->hold.at_ns) /* the client has given up */
        tunnel_end(t, conn_close, OUTCOME(OUT_TIMEOUT, 0));
    else
        flow_settle(t, from);
}

static void on_flush(struct conn *c)
{
    (void)c;
}

/* What waits for this side may have room again, or an end. */
static void on_wrote(struct conn *c)
{
    struct tunnel *t = c->user;
    enum side from = !side_of(t, c);
    flow_read(t, from);
    if (t->flow[from].cut)
        flow_settle(t, from);
}

/* Why the service is not there; and the client is to see it. */
static void unreached(struct tunnel *t, outcome reply, const char *text)
{
    snprintf(t->error, sizeof t->error, "cannot be reached at %s (%s)", door_of(t)->to.text, text);
    plane_warn(t->worker->plane, door_of(t)->spec->service.p, t->error);
    t->reply = reply;
    tunnel_end(t, conn_reset, OUTCOME(OUT_RESET, 0));
}

static void on_gone(struct conn *c, enum conn_gone why, const char *text)
{
    struct tunnel *t = c->user;
    enum side from = side_of(t, c);
    outcome seen = OUTCOME(from == SERVICE ? OUT_RESET : OUT_CANCELLED, 0);
    t->end[from] = NULL;
    if (from == SERVICE && why == GONE_CONNECT) {
        unreached(t, OUTCOME(OUT_REFUSED, 0), text);
        return;
    }
    if (from == SERVICE)
        t->reply = seen;
    if (t->hold.at_ns)
        tunnel_end(t, conn_close, OUTCOME(OUT_TIMEOUT, 0));
    else if (!t->end[!from] || t->flow[!from].cut)
        tunnel_end(t, conn_reset, t->flow[!from].cut ? t->seen : seen);
    else
        flow_cut(t, from, seen);
}

static void on_expired(struct conn *c)
{
    struct tunnel *t = c->user;
    if (c->state < CONN_OPEN) {
        unreached(t, OUTCOME(OUT_TIMEOUT, 0), "no connection within the limit `connect`");
    } else if (t->flow[!side_of(t, c)].cut) { /* it does not take what came before the end */
        tunnel_end(t, conn_reset, t->seen);
    } else {
        snprintf(t->error, sizeof t->error, "the connection lasted too long (limit `total`)");
        tunnel_end(t, conn_reset, OUTCOME(OUT_RESET, 0));
    }
}

static const struct conn_events events = {
    .ready = on_ready,
    .bytes = on_bytes,
    .eof = on_eof,
    .flush = on_flush,
    .wrote = on_wrote,
    .gone = on_gone,
    .expired = on_expired,
};

/* ---- for the worker ---- */

static void decide(struct tunnel *t)
{
    const struct setup *setup = t->generation->setup;
    const struct proxy_spec *spec = door_of(t)->spec;
    slice interface = SLICE(RULE_TCP);
    struct request_facts facts = {
        .service = spec->service, .interface = interface, .now_ns = t->start_ns};
    if (setup->log)
        t->n = naming_count(setup->naming, spec->service, interface, 0);
    t->rule = rules_find(&spec->rules, &facts);
    t->mode = t->rule ? t->rule->mode : MODE_NONE;
}

void tunnel_accept(struct worker *w, uint32_t door, int fd)
{
    struct tunnel *t = mem_alloc(sizeof *t);
    *t = (struct tunnel){.worker = w,
                         .generation = generation_hold(w->current),
                         .door = door,
                         .start_ns = clock_ns(),
                         .next = w->tunnels,
                         .self = &w->tunnels,
                         .hold.fire = on_held};
    if (t->next)
        t->next->self = &t->next;
    w->tunnels = t;
    for (enum side s = 0; s < SIDES; s++)
        t->flow[s] = (struct flow){.held = CHAIN_INIT(&w->loop.blocks),
                                   .timer.fire = s == CLIENT ? on_tick_client : on_tick_service,
                                   .left = UINT64_MAX};
    decide(t);
    t->end[CLIENT] = conn_accept(&w->loop, fd, NULL, &events, t);
}

void tunnels_close(struct worker *w)
{
    while (w->tunnels) {
        struct tunnel *t = w->tunnels;
        snprintf(t->error, sizeof t->error,
                 "the connection was ended because the proxy was stopped");
        for (enum side s = 0; s < SIDES; s++)
            if (t->end[!s])
                flow_let_go(t, s, t->flow[s].held.n);
        tunnel_end(t, conn_close, OUTCOME(OUT_CLOSED, 0));
    }
}
