/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop that gives the orders of campaigns to a live system, and what came of them back.
 *
 * 1. Orders are carried out in the order in which they were given, over all campaigns. One that must
 *    wait, because it wants to be alone or nothing may run, holds up those that were given later, so
 *    nobody waits for ever.
 * 2. While services rest or are started again, nothing runs.
 * 3. A run may end while its campaign's next order is held up: what came of it is kept until the
 *    campaign waits for it.
 * 4. Where searches of a suite wait for their turn, and nothing else is to be done, the suite says whose
 *    it is. So the runs without faults of all come first.
 * 5. The rests at the ends of campaigns are one: they wait until nothing else is to be done. Else a suite
 *    of many scenarios would rest for each.
 * 6. Who steers is heard between two orders. Orders that are held back because of that hold up nobody
 *    else. */
#include "base/clock.h"
#include "campaign/campaign_int.h"
#include "campaign/steer.h"
#include "search/suite.h"

struct target drive_target(struct live *live)
{
    return (struct target){.live = live,
                           .tracker = live_tracker(live),
                           .signal = live_signal,
                           .hurt = live_hurt,
                           .death = live_death,
                           .has_own = live_has_own,
                           .log_mark = live_log_mark,
                           .log_since = live_log_since,
                           .usage = live_usage,
                           .links = live_links,
                           .holder = live_holder,
                           .address = live_address,
                           .request = live_request};
}

/* What came of a run whose campaign did not wait for it yet. */
struct kept {
    struct execution_result result;
    bool alone;
    struct arena arena; /* what it points to */
};

struct seat {
    struct campaign *campaign; /* NULL: nobody sits here now */
    struct order order;        /* that is not carried out yet, or waited for */
    uint64_t given;            /* the how manieth it was, over all; 0: there is none */
    bool late;                 /* its deadline has passed, and it was told */
    VEC(struct kept) kept;     /* in the order in which they ended */
    struct kept given_back;    /* the last of them that its campaign took */
};

struct drive {
    struct live *live;
    struct steer *steer;
    struct suite *suite; /* NULL: none waits for its turn */
    bool *ready;         /* for suite_turn */
    struct seat *seat;   /* n campaigns, and behind them one that is replayed */
    uint32_t n;
    uint64_t orders;
    bool lonely; /* the run under way wants to be alone */
    int64_t deadline_ns;
    int64_t still_ns; /* since when clocks stand still; 0: they go */
};

static void answer(struct seat *s, struct answer a)
{
    campaign_took(s->campaign, &a);
    s->given = 0;
}

static void throw_away(struct seat *s)
{
    for (uint32_t i = 0; i < s->kept.n; i++) {
        vec_deinit(&s->kept.at[i].result.run.trace.calls);
        if (s->kept.at[i].result.lesson)
            track_lesson_free(s->kept.at[i].result.lesson);
        arena_deinit(&s->kept.at[i].arena);
    }
    vec_deinit(&s->kept);
}

/* Whoever has no order is asked for one; what was kept for a campaign that waits now is given back.
 */
static void ask(struct drive *d, struct seat *s)
{
    while (!s->given) {
        campaign_next(s->campaign, &s->order);
        s->given = ++d->orders;
        if (s->order.kind != ORDER_WAIT || !s->kept.n)
            continue;
        arena_deinit(&s->given_back.arena);
        s->given_back = s->kept.at[0];
        for (uint32_t i = 1; i < s->kept.n; i++)
            s->kept.at[i - 1] = s->kept.at[i];
        s->kept.n--;
        answer(s, (struct answer){.result = &s->given_back.result, .alone = s->given_back.alone});
    }
}

/* ---- who steers ---- */

static struct seat *replay_seat(const struct drive *d)
{
    return &d->seat[d->n];
}

static bool is_stopped(const struct drive *d)
{
    return d->steer->stop || live_signal(d->live);
}

/* Is this order not to be carried out now? A run of the search, or one that leaves a fault out, has
 * nothing to do with what was before: there a replay may come between. */
static bool is_held(const struct drive *d, const struct seat *s)
{
    enum order_kind kind = s->order.kind;
    if (s == replay_seat(d) || kind == ORDER_WAIT || kind == ORDER_DROP || kind == ORDER_DONE)
        return false;
    if (replay_seat(d)->campaign)
        return true;
    if (is_stopped(d))
        return false;
    if (d->steer->replay)
        return kind == ORDER_TURN || (kind == ORDER_RUN && (s->order.run.purpose == RUN_SEARCH ||
                                                            s->order.run.purpose == RUN_SHRINK));
    return d->steer->paused;
}

/* The clocks of the campaigns. */
static void stand_still(struct drive *d, bool still)
{
    int64_t now = clock_ns();
    for (uint32_t i = 0; i < d->n && d->still_ns; i++)
        campaign_stood(d->seat[i].campaign, now - d->still_ns);
    d->still_ns = still ? now : 0;
}

/* What is wanted, done as far as it can be now. */
static void heed(struct drive *d)
{
    struct steer *w = d->steer;
    struct seat *r = replay_seat(d);
    for (uint32_t i = 0; i <= d->n && w->stop; i++)
        if (d->seat[i].campaign)
            campaign_stop(d->seat[i].campaign);
    bool free = live_running(d->live) == 0;
    for (uint32_t i = 0; i < d->n && free; i++)
        free = d->seat[i].order.kind == ORDER_DONE || is_held(d, &d->seat[i]);
    if (!r->campaign && w->replay && free && !is_stopped(d))
        r->campaign = w->replay;
    stand_still(d, r->campaign || (w->paused && live_running(d->live) == 0 && !is_stopped(d)));
}

/* It is over: whoever wanted it hears of it. */
static void end_replay(struct drive *d)
{
    struct seat *s = replay_seat(d);
    struct campaign *c = s->campaign;
    struct err why = {0};
    enum status status = campaign_ended(c, &why);
    throw_away(s);
    arena_deinit(&s->given_back.arena);
    *s = (struct seat){0};
    d->steer->replay = NULL;
    if (d->steer->replayed)
        d->steer->replayed(d->steer->ctx, c, status, &why);
}

void steer_poke(struct steer *s)
{
    if (s->live && s->stop)
        live_set_deadline(s->live, 1); /* what is waited for is not waited for any more */
    else if (s->live)
        live_poke(s->live);
}

/* ---- the loop ---- */

/* Asks all; *oldest is the order that is to be carried out first, NULL: there is none. From now on
 * waiting ends at the first deadline that nobody was told of. False: all are done. */
static bool ask_all(struct drive *d, struct seat **oldest)
{
    bool any = false;
    int64_t first = 0;
    *oldest = NULL;
    for (uint32_t i = 0; i <= d->n; i++) {
        struct seat *s = &d->seat[i];
        if (!s->campaign)
            continue;
        ask(d, s);
        if (s->order.kind == ORDER_DONE)
            continue;
        any = true;
        if (s->order.kind != ORDER_WAIT && s->order.kind != ORDER_TURN && !s->order.patient &&
            !is_held(d, s) && (!*oldest || s->given < (*oldest)->given))
            *oldest = s;
        int64_t at = s->late || d->still_ns ? 0 : s->campaign->deadline_ns;
        first = at && (!first || at < first) ? at : first;
    }
    if (first != d->deadline_ns)
        live_set_deadline(d->live, first);
    d->deadline_ns = first;
    return any;
}

/* Carries one out, if the runs under way allow it. */
static bool carry_out(struct drive *d, struct seat *s)
{
    uint32_t running = live_running(d->live);
    struct answer a = {.alone = true};
    switch (s->order.kind) {
    case ORDER_RUN:
        if (running && (s->order.alone || d->lonely || running == live_slots(d->live)))
            return false;
        d->lonely = s->order.alone;
        s->order.run.whose = s->campaign;
        live_begin(d->live, &s->order.run);
        s->given = 0;
        return true;
    case ORDER_DROP:
        live_cancel(d->live, s->campaign);
        throw_away(s);
        s->given = 0;
        return true;
    case ORDER_REST:
    case ORDER_HEAL:
        if (running)
            return false;
        if (s->order.kind == ORDER_REST)
            live_rest(d->live, s->order.rest_ns);
        else
            a.status = live_heal(d->live, s->order.all, &a.why);
        answer(s, a);
        return true;
    case ORDER_TURN:
    case ORDER_WAIT:
    case ORDER_DONE: break;
    }
    return false;
}

/* One of the searches that wait for it has its turn, if there is room for a run. False: none. */
static bool give_turn(struct drive *d)
{
    uint32_t running = live_running(d->live), n = 0;
    if (running && (d->lonely || running == live_slots(d->live)))
        return false;
    for (uint32_t i = 0; i < d->n; i++) {
        struct seat *s = &d->seat[i];
        d->ready[i] = s->campaign && s->order.kind == ORDER_TURN && !is_held(d, s);
        n += d->ready[i];
    }
    if (!n)
        return false;
    uint32_t next = suite_turn(d->suite, d->ready);
    if (next == SUITE_NOBODY)
        return false; /* what runs under way show decides */
    answer(&d->seat[next], (struct answer){.alone = running == 0});
    return true;
}

static bool wants_rest(const struct drive *d, const struct seat *s)
{
    return s->campaign && s->given && s->order.patient && !is_held(d, s);
}

/* Lets the system be for all that have nothing else to do. False: there are none, or something runs. */
static bool rest_together(struct drive *d)
{
    int64_t longest = 0;
    for (uint32_t i = 0; i <= d->n && live_running(d->live) == 0; i++) {
        const struct seat *s = &d->seat[i];
        if (wants_rest(d, s) && s->order.rest_ns > longest)
            longest = s->order.rest_ns;
    }
    if (!longest)
        return false;
    live_rest(d->live, longest);
    for (uint32_t i = 0; i <= d->n; i++)
        if (wants_rest(d, &d->seat[i]))
            answer(&d->seat[i], (struct answer){.alone = true});
    return true;
}

static void wait_for_one(struct drive *d)
{
    const struct execution_result *r = NULL;
    bool anybody = false; /* waits */
    for (uint32_t i = 0; i <= d->n && !anybody; i++)
        anybody = d->seat[i].campaign && d->seat[i].order.kind == ORDER_WAIT;
    if (!anybody && live_running(d->live) == 0) {
        live_idle(d->live);
        return;
    }
    enum status status = live_wait(d->live, &r);
    int64_t now = clock_ns();
    bool alone = live_running(d->live) == 0, interrupted = status == STATUS_INTERRUPTED;
    bool stopped = interrupted && is_stopped(d);
    if (stopped)
        d->deadline_ns = 1; /* steer_poke has set it */
    for (uint32_t i = 0; i <= d->n; i++) {
        struct seat *s = &d->seat[i];
        if (!s->campaign)
            continue;
        int64_t deadline = d->still_ns ? 0 : s->campaign->deadline_ns;
        bool waits = s->order.kind == ORDER_WAIT, queues = s->order.kind == ORDER_TURN;
        bool late = interrupted && deadline && now >= deadline;
        bool its = status == STATUS_OK && s->campaign == r->order.whose;
        s->late |= late;
        if (its && waits) {
            answer(s, (struct answer){.result = r, .alone = alone});
        } else if (its) {
            struct kept k = {.result = *r, .alone = alone};
            campaign_hold(&k.arena, &k.result.run);
            if (r->note)
                k.result.note = arena_copy(&k.arena, r->note, strlen(r->note));
            vec_push(&s->kept, k);
        } else if ((waits || queues) && (late || stopped)) {
            answer(s, (struct answer){.status = STATUS_INTERRUPTED});
        } else if (waits && status == STATUS_NONE) { /* for nothing */
            answer(s, (struct answer){.status = STATUS_FAILED});
        }
    }
}

/* One turn. False: nothing is left. */
static bool turn(struct drive *d)
{
    struct seat *oldest;
    heed(d);
    bool any = ask_all(d, &oldest);
    if (replay_seat(d)->campaign && replay_seat(d)->order.kind == ORDER_DONE) {
        end_replay(d);
        return true;
    }
    if (oldest ? carry_out(d, oldest) : give_turn(d) || rest_together(d))
        return true;
    if (!any && (is_stopped(d) || !(d->steer->stay || d->steer->replay)))
        return false;
    if (!d->steer->replay || replay_seat(d)->campaign || live_running(d->live))
        wait_for_one(d);
    return true;
}

enum status drive(struct live *live, struct campaign *const *campaigns, uint32_t n,
                  struct steer *steer, struct err *e)
{
    struct steer nobody = {0};
    struct drive d = {.live = live,
                      .steer = steer ? steer : &nobody,
                      .suite = n ? campaigns[0]->opt.search.suite : NULL,
                      .ready = mem_zero((n + 1) * sizeof *d.ready),
                      .seat = mem_zero((n + 1) * sizeof *d.seat),
                      .n = n};
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < n; i++)
        d.seat[i].campaign = campaigns[i];
    live_set_deadline(live, 0);
    d.steer->live = live;
    while (turn(&d))
        ;
    d.steer->live = NULL;
    for (uint32_t i = 0; i < n; i++) {
        struct err why = {0};
        enum status ended = campaign_ended(campaigns[i], &why);
        if (ended == STATUS_FAILED && status != STATUS_FAILED)
            *e = why;
        status = status == STATUS_FAILED ? status : ended;
        throw_away(&d.seat[i]);
        arena_deinit(&d.seat[i].given_back.arena);
    }
    mem_free(d.seat);
    mem_free(d.ready);
    return status;
}
