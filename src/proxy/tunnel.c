/* SPDX-License-Identifier: Apache-2.0
 *
 * tunnel: a client's connection and one to the service, and what flows between them. A connection is
 * to a door of tcp:// what a call is to others: rules count it, a fault is acted out on it, and it has
 * one line in the log.
 *
 *   accepted --> a rule fires? --+--> broken off, or held: the service is not called
 *                                +--> connects, and both flows run --> both have ended --> done
 *
 *   flow:   from --bytes--> [held: late -> ripe --gate: hold, pace, slices-->] --> to->out
 *
 * What a flow does to its bytes are its terms: those of the rule, and those of whoever steers
 * (proxy/steer.h), which change while bytes flow. Without any, bytes go at once (plain).
 *
 * 1. Each end is passed on for itself: a client that has said all may still be answered.
 * 2. What one side does not take stops the reading of the other: at most ROOM bytes wait, and LATE_ROOM
 *    where they wait for time.
 * 3. A side that breaks breaks the other one, once that has what came before.
 * 4. tunnel_finish is the only end: one record for every connection. Nothing touches the tunnel after
 *    it, so functions that may call it do so at their very end.
 * 5. Bytes keep their order, whatever the terms were when they came: held = ripe + those in `due`. */
#include "proxy/tunnel_int.h"

#include <assert.h>
#include <stdio.h>

#include "base/random.h"
#include "proxy/director.h"
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

/* What is done to bytes. All 0: nothing. */
struct terms {
    int64_t late_ns, jitter_ns, pause_ns, close_ns; /* as of struct steer */
    uint64_t rate;
    uint32_t slice;
    bool hold;
};

/* What comes from one side. */
struct flow {
    struct chain held;
    struct timer timer;  /* runs while something waits for its moment */
    struct terms base;   /* of the rule */
    struct terms terms;  /* with those of whoever steers */
    bool plain;          /* bytes go at once */
    VEC(struct due) due; /* when held bytes are ripe, in order, from `next` on */
    uint32_t next;
    size_t ripe;     /* held bytes that may go, behind the gate */
    int64_t last_ns; /* when the last ones in `due` are ripe */
    struct pace pace;
    int64_t gate_ns; /* no byte goes before */
    int64_t end_ns;  /* the end is not told before; 0: it is not put off */
    uint64_t left;   /* bytes until it is broken off; UINT64_MAX: it is not */
    uint64_t bytes;  /* passed on */
    bool ended;      /* it has said all */
    bool cut;        /* nothing more is passed on, and the other side is broken */
    bool shut;       /* the other side was told the end */
};

struct tunnel {
    struct tunnel *next, **self;
    struct worker *worker;
    struct generation *generation;
    uint32_t door;
    struct site *site;
    uint32_t meets, met;     /* what steers it, as bits; what of that it has met, */
    slice steered;           /* and the name of the first */
    bool waits;              /* the service is called when nothing is held any more */
    struct conn *end[SIDES]; /* NULL: none (yet), or gone */
    struct flow flow[SIDES];
    struct timer hold;
    const struct rule *rule; /* NULL: none */
    mode mode;               /* what is acted out */
    bool fired;
    uint32_t n;
    struct rng dice;                /* for jitter */
    outcome reply;                  /* how the service ended it */
    outcome seen;                   /* when it is cut: what the client will have seen, */
    void (*cut_by)(struct conn *c); /* and how both sides are let go then */
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
                            .fault = t->rule ? t->rule->id : t->steered,
                            .mode = t->rule ? t->rule->mode : MODE_NONE,
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
    if (t->fired && t->rule)
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
    case ACT_DELAY: up->base.late_ns = mode_delay_ns(t->mode); break;
    case ACT_LATE: down->base.late_ns = mode_delay_ns(t->mode); break;
    case ACT_PACE: down->base.rate = mode_argument(t->mode); break;
    case ACT_CUT: down->left = mode_argument(t->mode); break; /* nobody steers where rules decide */
    default: break;
    }
}

/* ---- whoever steers ---- */

/* What of a connection can be met. */
enum moment { MET_START, MET_BYTES, MET_END, MET_CUT };

static bool is_met(const struct steer *s, enum moment when)
{
    switch (when) {
    case MET_START: return s->hold || s->reset || s->down;
    case MET_BYTES: return s->late_ns || s->jitter_ns || s->rate || s->slice || s->hold;
    case MET_END: return s->close_ns != 0;
    case MET_CUT: return s->limit != 0;
    }
    return false;
}

/* Each connection counts once for each that it meets. */
static void steer_meet(struct tunnel *t, enum side from, enum moment when)
{
    for (struct steer *s = t->site->steers; s && t->meets != t->met; s = s->next) {
        if (!(t->meets & ~t->met & s->bit) || !(from == CLIENT ? s->in : s->out) ||
            !is_met(s, when))
            continue;
        t->met |= s->bit;
        s->struck++;
        if (!t->steered.n)
            t->steered = s->name;
        t->fired = true;
    }
}

/* Is this connection one of those that are meant? `number`: from 1. */
static bool is_meant(const struct steer *s, uint64_t number)
{
    return (!s->nth || number == s->nth) && (!s->every || number % s->every == 0);
}

static void steer_limit(struct tunnel *t, const struct steer *s)
{
    for (enum side from = 0; s->limit && from < SIDES; from++)
        if ((from == CLIENT ? s->in : s->out) && t->flow[from].left > s->limit)
            t->flow[from].left = s->limit;
}

static void steer_take(struct tunnel *t, const struct steer *s)
{
    t->meets |= s->bit;
    steer_limit(t, s);
}

/* The terms as they are now. */
static void flow_agree(struct tunnel *t, enum side from)
{
    struct flow *f = &t->flow[from];
    struct terms m = f->base;
    for (const struct steer *s = t->site->steers; s; s = s->next) {
        if (!(t->meets & s->bit) || !(from == CLIENT ? s->in : s->out))
            continue;
        m.late_ns += s->late_ns;
        m.jitter_ns += s->jitter_ns;
        m.close_ns += s->close_ns;
        m.pause_ns = m.pause_ns > s->pause_ns ? m.pause_ns : s->pause_ns;
        m.rate = s->rate && (!m.rate || s->rate < m.rate) ? s->rate : m.rate;
        m.slice = s->slice && (!m.slice || s->slice < m.slice) ? s->slice : m.slice;
        m.hold |= s->hold;
    }
    f->terms = m;
    f->plain = !m.late_ns && !m.jitter_ns && !m.rate && !m.slice && !m.hold;
    f->pace.rate = m.rate;
    f->gate_ns = m.rate || m.pause_ns ? f->gate_ns : 0;
    f->end_ns = m.close_ns ? f->end_ns : 0;
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
    size_t room = f->terms.late_ns || f->terms.jitter_ns ? LATE_ROOM : ROOM;
    if (t->end[from] && t->end[!from])
        conn_read(t->end[from], !f->cut && f->held.n + t->end[!from]->out.n < room);
}

/* Is the end still to be put off? */
static bool end_waits(struct tunnel *t, enum side from)
{
    struct flow *f = &t->flow[from];
    int64_t now = t->worker->loop.now_ns;
    if (f->terms.close_ns && !f->end_ns) {
        f->end_ns = now + f->terms.close_ns;
        steer_meet(t, from, MET_END);
        timer_start(&t->worker->loop, &f->timer, f->end_ns);
    }
    return now < f->end_ns;
}

/* What was said is on its way: is there an end to be passed on? Perhaps that of the tunnel. */
static void flow_settle(struct tunnel *t, enum side from)
{
    struct flow *f = &t->flow[from];
    struct conn *to = t->end[!from];
    if (f->held.n || f->terms.hold || !to)
        return;
    if (f->cut) {
        if (to->out.n == 0)
            tunnel_end(t, t->cut_by, t->seen);
        return;
    }
    if (f->ended && !f->shut && !end_waits(t, from)) {
        f->shut = true;
        conn_shut(to);
    }
    if (t->flow[CLIENT].shut && t->flow[SERVICE].shut)
        tunnel_end(t, conn_close, OUTCOME(OUT_CLOSED, 0));
}

/* Nothing more is passed on; both are let go when the other side has what came before. */
static void flow_cut(struct tunnel *t, enum side from, outcome seen, void (*how)(struct conn *c))
{
    t->flow[from].cut = true;
    t->seen = seen;
    t->cut_by = how;
    if (t->end[from])
        conn_read(t->end[from], false);
    if (!t->flow[from].terms.hold)
        conn_expire(t->end[!from], t->worker->loop.now_ns + LAST_WORDS_NS);
    flow_settle(t, from);
}

/* Those whose moment has come; all, where nothing is late any more. */
static void flow_ripen(struct flow *f, int64_t now_ns)
{
    bool late = f->terms.late_ns || f->terms.jitter_ns;
    while (f->next < f->due.n && (!late || f->due.at[f->next].at_ns <= now_ns))
        f->ripe += f->due.at[f->next++].n;
    if (f->next > f->due.n / 2) { /* those that have gone take no memory, however long it flows */
        f->due.n -= f->next;
        memmove(f->due.at, f->due.at + f->next, f->due.n * sizeof *f->due.at);
        f->next = 0;
    }
}

/* How many of the ripe bytes go now; the gate is shut behind them. */
static size_t flow_share(struct flow *f, const struct conn *to, int64_t now_ns)
{
    const struct terms *m = &f->terms;
    size_t n = f->ripe;
    if (!n || m->hold || now_ns < f->gate_ns || (m->slice && to->out.n))
        return 0;
    if (m->slice) { /* each is written by itself */
        n = n < m->slice ? n : m->slice;
        int64_t paced = m->rate ? (int64_t)(n * (uint64_t)SECONDS(1) / m->rate) : 0;
        int64_t from = f->gate_ns > now_ns - MS(10) ? f->gate_ns : now_ns; /* timers are coarse */
        f->gate_ns = m->pause_ns > paced ? now_ns + m->pause_ns : from + paced;
    } else if (m->rate) {
        n = pace_share(&f->pace, n);
        f->gate_ns = now_ns + pace_ns(&f->pace);
    }
    f->ripe -= n;
    return n;
}

/* When there is something to do next. What waits for a slice to be written hears of that. */
static void flow_wait(struct tunnel *t, enum side from)
{
    struct flow *f = &t->flow[from];
    int64_t at = INT64_MAX;
    if (f->terms.hold)
        at = INT64_MAX;
    else if (f->ripe)
        at = f->terms.slice && t->end[!from]->out.n ? INT64_MAX : f->gate_ns;
    else if (f->next < f->due.n)
        at = f->due.at[f->next].at_ns;
    else if (f->end_ns && !f->shut)
        at = f->end_ns;
    if (at == INT64_MAX)
        timer_stop(&t->worker->loop, &f->timer);
    else
        timer_start(&t->worker->loop, &f->timer, at);
}

static void flow_tick(struct tunnel *t, enum side from)
{
    struct flow *f = &t->flow[from];
    int64_t now = t->worker->loop.now_ns;
    struct conn *to = t->end[!from];
    if (!to)
        return;
    flow_ripen(f, now);
    flow_let_go(t, from, flow_share(f, to, now));
    flow_wait(t, from);
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
    struct terms *m = &f->terms;
    int64_t now = t->worker->loop.now_ns, at = now + m->late_ns;
    t->fired = true;
    if (m->rate && !m->slice && !f->held.n && f->gate_ns < now)
        f->gate_ns = now + pace_ns(&f->pace);
    chain_add(&f->held, bytes);
    if (m->jitter_ns)
        at += (int64_t)rng_below(&t->dice, (uint32_t)(m->jitter_ns / 1000) + 1) * 1000;
    if (f->next == f->due.n && !m->late_ns && !m->jitter_ns) {
        f->ripe += bytes.n;
        return;
    }
    f->last_ns = f->next < f->due.n && f->last_ns > at ? f->last_ns : at;
    vec_push(&f->due, ((struct due){f->last_ns, bytes.n}));
}

/* ---- what connections tell ---- */

static enum side side_of(const struct tunnel *t, const struct conn *c)
{
    return c == t->end[CLIENT] ? CLIENT : SERVICE;
}

static void dial(struct tunnel *t)
{
    struct loop *loop = &t->worker->loop;
    t->waits = false;
    t->forward_ns = clock_ns();
    t->end[SERVICE] = conn_connect(loop, &door_of(t)->to, NULL, ALPN_NONE, &events, t);
    conn_expire(t->end[SERVICE], loop->now_ns + t->generation->setup->config->limits.connect_ns);
    conn_read(t->end[CLIENT], true);
}

/* The client is there: on to the service, unless a fault comes first. */
static void begin(struct tunnel *t)
{
    struct loop *loop = &t->worker->loop;
    conn_expire(t->end[CLIENT], loop->now_ns + t->generation->setup->config->limits.total_ns);
    if (t->mode != MODE_NONE && !mode_reached(t->mode)) {
        conn_read(t->end[CLIENT], true);
        act_at_once(t);
        return;
    }
    set_flows(t);
    steer_meet(t, CLIENT, MET_START);
    for (const struct steer *s = t->site->steers; s; s = s->next)
        if ((t->meets & s->bit) && s->reset) {
            tunnel_end(t, conn_reset, OUTCOME(OUT_RESET, 0));
            return;
        }
    flow_agree(t, CLIENT);
    flow_agree(t, SERVICE);
    t->waits = t->flow[CLIENT].terms.hold;
    if (!t->waits)
        dial(t);
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
    if (t->meets != t->met)
        steer_meet(t, from, MET_BYTES);
    bool last = bytes.n >= f->left;
    bytes.n = last ? (size_t)f->left : bytes.n;
    f->left -= f->left == UINT64_MAX ? 0 : bytes.n;
    if (f->plain && !f->held.n)
        flow_pass(t, from, bytes);
    else
        flow_hold(t, from, bytes);
    if (!last) {
        if (f->held.n)
            flow_tick(t, from);
        else
            flow_read(t, from);
        return;
    }
    t->fired = true;
    steer_meet(t, from, MET_CUT);
    if (mode_kind(t->mode) == MODE_RESET)
        flow_cut(t, from, OUTCOME(OUT_RESET, 0), conn_reset);
    else if (f->held.n)
        flow_cut(t, from, OUTCOME(OUT_CLOSED, 0), conn_close);
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
    if (t->flow[from].terms.slice && t->flow[from].held.n) {
        flow_tick(t, from);
        return;
    }
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
        flow_cut(t, from, seen, conn_reset);
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

void tunnel_accept(struct site *site, int fd)
{
    struct worker *w = site->worker;
    const struct director *d = w->plane->director;
    if (d && d->connected) /* first: what it steers then is meant for this one, too */
        d->connected(d->ctx, site->door);
    struct tunnel *t = mem_alloc(sizeof *t);
    *t = (struct tunnel){.worker = w,
                         .generation = generation_hold(w->current),
                         .door = site->door,
                         .site = site,
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
                                   .plain = true,
                                   .left = UINT64_MAX};
    decide(t);
    for (struct steer *s = site->steers; s; s = s->next)
        if (is_meant(s, ++s->counted))
            steer_take(t, s);
    t->dice.state = w->seed + w->n_tunnels++;
    t->end[CLIENT] = conn_accept(&w->loop, fd, NULL, &events, t);
}

/* What has changed is looked at by the loop, not here: a tunnel may end by it. */
static void tunnel_agree(struct tunnel *t)
{
    struct loop *loop = &t->worker->loop;
    flow_agree(t, CLIENT);
    flow_agree(t, SERVICE);
    if (t->waits && !t->flow[CLIENT].terms.hold)
        dial(t);
    for (enum side s = 0; s < SIDES; s++) {
        struct flow *f = &t->flow[s];
        if (f->held.n)
            steer_meet(t, s, MET_BYTES);
        timer_start(loop, &f->timer, loop->now_ns);
        if (f->cut && !f->terms.hold && t->end[!s])
            conn_expire(t->end[!s], loop->now_ns + LAST_WORDS_NS);
    }
}

int tunnels_steer(struct site *site, struct steer *s)
{
    uint32_t used = 0;
    uint64_t open = 0;
    loop_batch(&site->worker->loop);
    for (const struct steer *other = site->steers; other; other = other->next)
        used |= other->bit;
    if (used == UINT32_MAX)
        return -1;
    for (const struct tunnel *t = site->worker->tunnels; t; t = t->next)
        open += t->site == site;
    s->bit = ~used & (used + 1);
    s->struck = 0;
    s->counted = open;
    s->next = site->steers;
    site->steers = s;
    for (struct tunnel *t = site->worker->tunnels, *next; t; t = next) { /* the youngest first */
        next = t->next;
        if (t->site != site || !is_meant(s, open--))
            continue;
        steer_take(t, s);
        if (s->reset || s->down) {
            steer_meet(t, CLIENT, MET_START);
            tunnel_end(t, conn_reset, OUTCOME(OUT_RESET, 0));
        } else {
            tunnel_agree(t);
        }
    }
    return 0;
}

void tunnels_release(struct site *site, struct steer *s)
{
    loop_batch(&site->worker->loop);
    for (struct steer **at = &site->steers; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    for (struct tunnel *t = site->worker->tunnels; t; t = t->next) {
        if (t->site != site || !(t->meets & s->bit))
            continue;
        t->meets &= ~s->bit;
        t->met &= ~s->bit;
        for (enum side side = 0; s->limit && side < SIDES; side++)
            t->flow[side].left = UINT64_MAX;
        for (const struct steer *other = site->steers; s->limit && other; other = other->next)
            if (t->meets & other->bit)
                steer_limit(t, other);
        tunnel_agree(t);
    }
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
