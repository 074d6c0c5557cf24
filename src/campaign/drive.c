/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop that gives the orders of campaigns to a live system, and what came of them back.
 *
 * 1. Orders are carried out in the order in which they were given, over all campaigns. One that must
 *    wait, because it wants to be alone or nothing may run, holds up those that were given later, so
 *    nobody waits for ever.
 * 2. While services rest or are started again, nothing runs.
 * 3. A run may end while its campaign's next order is held up: what came of it is kept until the
 *    campaign waits for it. */
#include "base/clock.h"
#include "campaign/campaign_int.h"

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
    struct campaign *campaign;
    struct order order;     /* that is not carried out yet, or waited for */
    uint64_t given;         /* the how manieth it was, over all; 0: there is none */
    bool late;              /* its deadline has passed, and it was told */
    VEC(struct kept) kept;  /* in the order in which they ended */
    struct kept given_back; /* the last of them that its campaign took */
};

struct drive {
    struct live *live;
    struct seat *seat;
    uint32_t n;
    uint64_t orders;
    bool lonely; /* the run under way wants to be alone */
    int64_t deadline_ns;
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

/* Asks all; *oldest is the order that is to be carried out first, NULL: there is none. From now on
 * waiting ends at the first deadline that nobody was told of. False: all are done. */
static bool ask_all(struct drive *d, struct seat **oldest)
{
    bool any = false;
    int64_t first = 0;
    *oldest = NULL;
    for (uint32_t i = 0; i < d->n; i++) {
        struct seat *s = &d->seat[i];
        ask(d, s);
        if (s->order.kind == ORDER_DONE)
            continue;
        any = true;
        if (s->order.kind != ORDER_WAIT && (!*oldest || s->given < (*oldest)->given))
            *oldest = s;
        int64_t at = s->late ? 0 : s->campaign->deadline_ns;
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
        live_begin(d->live, &s->order.run);
        s->given = 0;
        return true;
    case ORDER_DROP:
        live_cancel(d->live, s->campaign->opt.scenario);
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
    case ORDER_WAIT:
    case ORDER_DONE: break;
    }
    return false;
}

static void wait_for_one(struct drive *d)
{
    const struct execution_result *r = NULL;
    enum status status = live_wait(d->live, &r);
    int64_t now = clock_ns();
    bool alone = live_running(d->live) == 0;
    for (uint32_t i = 0; i < d->n; i++) {
        struct seat *s = &d->seat[i];
        int64_t deadline = s->campaign->deadline_ns;
        bool waits = s->order.kind == ORDER_WAIT, interrupted = status == STATUS_INTERRUPTED;
        bool late = interrupted && deadline && now >= deadline;
        bool its = status == STATUS_OK && s->campaign->opt.scenario == r->order.scenario;
        s->late |= late;
        if (its && waits) {
            answer(s, (struct answer){.result = r, .alone = alone});
        } else if (its) {
            struct kept k = {.result = *r, .alone = alone};
            campaign_hold(&k.arena, &k.result.run);
            if (r->note)
                k.result.note = arena_copy(&k.arena, r->note, strlen(r->note));
            vec_push(&s->kept, k);
        } else if (waits && (late || (interrupted && live_signal(d->live)))) {
            answer(s, (struct answer){.status = STATUS_INTERRUPTED});
        } else if (waits && status == STATUS_NONE) { /* for nothing */
            answer(s, (struct answer){.status = STATUS_FAILED});
        }
    }
}

enum status drive(struct live *live, struct campaign *const *campaigns, uint32_t n, struct err *e)
{
    struct drive d = {.live = live, .seat = mem_zero((n + 1) * sizeof *d.seat), .n = n};
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < n; i++)
        d.seat[i].campaign = campaigns[i];
    live_set_deadline(live, 0);
    for (struct seat *oldest; ask_all(&d, &oldest);)
        if (!oldest || !carry_out(&d, oldest))
            wait_for_one(&d);
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
    return status;
}
