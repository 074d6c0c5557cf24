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
#include "campaign/drive.h"

#include "base/clock.h"
#include "campaign/campaign_int.h"

/* ---- what campaigns ask ---- */

static int target_signal(void *ctx)
{
    return live_signal(ctx);
}

static bool target_hurt(void *ctx)
{
    return live_hurt(ctx);
}

static const char *target_death(void *ctx)
{
    return live_death(ctx);
}

static bool target_has_own(void *ctx)
{
    return live_has_own(ctx);
}

static void target_log_mark(void *ctx)
{
    live_log_mark(ctx);
}

static void target_log_since(void *ctx, slice service, uint32_t most, struct buf *out)
{
    live_log_since(ctx, service, most, out);
}

static bool target_usage(void *ctx, uint32_t service, struct process_usage *out, int64_t *process)
{
    return live_usage(ctx, service, out, process);
}

static void target_links(void *ctx, struct owner_links *out)
{
    live_links(ctx, out);
}

static uint32_t target_holder(void *ctx, uint64_t inode)
{
    return live_holder(ctx, inode);
}

static void target_address(void *ctx, uint32_t service, struct buf *out)
{
    live_address(ctx, service, out);
}

static uid target_request(void *ctx, uint32_t scenario)
{
    return live_request(ctx, scenario);
}

struct target drive_target(struct live *live)
{
    return (struct target){.ctx = live,
                           .tracker = live_tracker(live),
                           .signal = target_signal,
                           .hurt = target_hurt,
                           .death = target_death,
                           .has_own = target_has_own,
                           .log_mark = target_log_mark,
                           .log_since = target_log_since,
                           .usage = target_usage,
                           .links = target_links,
                           .holder = target_holder,
                           .address = target_address,
                           .request = target_request};
}

/* ---- the loop ---- */

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

/* ---- results that wait ---- */

static void keep(struct seat *s, const struct execution_result *r, bool alone)
{
    struct kept k = {.result = *r, .alone = alone};
    campaign_hold(&k.arena, &k.result.run);
    if (r->note)
        k.result.note = arena_copy(&k.arena, r->note, strlen(r->note));
    vec_push(&s->kept, k);
}

static void give_back(struct seat *s)
{
    arena_deinit(&s->given_back.arena);
    s->given_back = s->kept.at[0];
    for (uint32_t i = 1; i < s->kept.n; i++)
        s->kept.at[i - 1] = s->kept.at[i];
    s->kept.n--;
    answer(s, (struct answer){.result = &s->given_back.result, .alone = s->given_back.alone});
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

/* ---- orders ---- */

/* Whoever has no order is asked for one. False: all are done. */
static bool collect(struct drive *d)
{
    bool any = false;
    for (uint32_t i = 0; i < d->n; i++) {
        struct seat *s = &d->seat[i];
        while (!s->given) {
            campaign_next(s->campaign, &s->order);
            s->given = ++d->orders;
            if (s->order.kind == ORDER_WAIT && s->kept.n)
                give_back(s);
        }
        any |= s->order.kind != ORDER_DONE;
    }
    return any;
}

/* The oldest order that is to be carried out; NULL: there is none. */
static struct seat *oldest(const struct drive *d)
{
    struct seat *found = NULL;
    for (uint32_t i = 0; i < d->n; i++) {
        struct seat *s = &d->seat[i];
        if (s->order.kind != ORDER_WAIT && s->order.kind != ORDER_DONE &&
            (!found || s->given < found->given))
            found = s;
    }
    return found;
}

/* From now on waiting ends at the first deadline that nobody was told of. */
static void set_deadline(struct drive *d)
{
    int64_t first = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        const struct seat *s = &d->seat[i];
        int64_t at = s->late || s->order.kind == ORDER_DONE ? 0 : campaign_deadline(s->campaign);
        first = at && (!first || at < first) ? at : first;
    }
    if (first != d->deadline_ns)
        live_set_deadline(d->live, first);
    d->deadline_ns = first;
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
        live_cancel(d->live, campaign_scenario(s->campaign));
        throw_away(s);
        s->given = 0;
        return true;
    case ORDER_REST:
        if (running)
            return false;
        live_rest(d->live, s->order.rest_ns);
        answer(s, a);
        return true;
    case ORDER_HEAL:
        if (running)
            return false;
        a.status = live_heal(d->live, s->order.all, &a.why);
        answer(s, a);
        return true;
    case ORDER_WAIT:
    case ORDER_DONE: break;
    }
    return false;
}

/* Waiting was interrupted: whoever it concerns is told. */
static void interrupt(struct drive *d)
{
    int64_t now = clock_ns();
    for (uint32_t i = 0; i < d->n; i++) {
        struct seat *s = &d->seat[i];
        int64_t deadline = campaign_deadline(s->campaign);
        bool late = deadline && now >= deadline;
        s->late |= late;
        if (s->order.kind == ORDER_WAIT && (late || live_signal(d->live)))
            answer(s, (struct answer){.status = STATUS_INTERRUPTED});
    }
}

static void wait_for_one(struct drive *d)
{
    const struct execution_result *r;
    enum status status = live_wait(d->live, &r);
    bool alone = live_running(d->live) == 0;
    if (status == STATUS_INTERRUPTED)
        interrupt(d);
    for (uint32_t i = 0; i < d->n && status != STATUS_INTERRUPTED; i++) {
        struct seat *s = &d->seat[i];
        bool waits = s->order.kind == ORDER_WAIT;
        bool its = status == STATUS_OK && campaign_scenario(s->campaign) == r->order.scenario;
        if (its && waits)
            answer(s, (struct answer){.result = r, .alone = alone});
        else if (its)
            keep(s, r, alone);
        else if (waits && status == STATUS_NONE) /* for nothing */
            answer(s, (struct answer){.status = STATUS_FAILED});
    }
}

enum status drive(struct live *live, struct campaign *const *campaigns, uint32_t n, struct err *e)
{
    struct drive d = {.live = live, .seat = mem_zero((n + 1) * sizeof *d.seat), .n = n};
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < n; i++)
        d.seat[i].campaign = campaigns[i];
    live_set_deadline(live, 0);
    while (collect(&d)) {
        struct seat *s = oldest(&d);
        set_deadline(&d);
        if (!s || !carry_out(&d, s))
            wait_for_one(&d);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct err why = {0};
        enum status ended = campaign_ended(campaigns[i], &why);
        if (ended == STATUS_FAILED && status != STATUS_FAILED)
            *e = why;
        status = status == STATUS_FAILED ? status : ended;
    }
    for (uint32_t i = 0; i < n; i++) {
        throw_away(&d.seat[i]);
        arena_deinit(&d.seat[i].given_back.arena);
    }
    mem_free(d.seat);
    return status;
}
