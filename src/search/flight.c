/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs under way: what is given, and to what an observation belongs.
 *
 *   frontier --pick--> waiting --search_next--> running --search_observe--> gone
 *                         ^                        |
 *                         '---- search_forget, not all faults fired ----'
 *
 * An exact search shows the same in whatever order runs are observed, so each is observed when it
 * ends. Under a reduction what was seen first stands for the rest. There the search decides as if
 * runs were made one after the other: one flight has its turn, and what is given besides is given
 * ahead of its turn, as a guess. It stays in the frontier; when its turn comes its result is there
 * already, and when it is not worth a run any more its result is thrown away.
 *
 * A resumed campaign observes runs that nobody gave. Orders that learn take such a run out of the
 * frontier. With the others, what search_next would give is picked until the run is among it; with one
 * run at a time that is the very next. What was picked before it waits, and is given by search_next
 * later.
 *
 * 1. With one run at a time, and under a reduction, there is never more than one flight (after the
 *    baselines, unless a campaign is resumed whose runs were observed in another order).
 * 2. A flight that waits for the first time is looked at again before it is given: what it would
 *    show may have been seen meanwhile.
 * 3. A new phase of t-way begins, and audits are given, only when no other run is under way.
 * 4. What is given ahead of its turn changes nothing but `ahead`. */
#include "search/shared_int.h"

/* Flights that are taken from the frontier, at most, in search of one that is observed without
 * having been given; and that are given ahead of their turn. More than runs of a campaign are ever
 * under way at once. */
enum { FLIGHTS_AHEAD = 128 };

static void remove_flight(struct flights *fs, uint32_t i)
{
    fs->list.n--;
    for (; i < fs->list.n; i++)
        fs->list.at[i] = fs->list.at[i + 1];
}

static uint32_t count_flights(const struct flights *fs, enum search_purpose purpose)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fs->list.n; i++)
        n += fs->list.at[i].purpose == purpose;
    return n;
}

/* Does it wait for the first time? */
static bool is_fresh(const struct flight *flight)
{
    return !flight->running && flight->attempt == 0 && flight->purpose == FOR_SEARCH;
}

/* ---- what is given ---- */

/* What becomes of something queued when its turn comes. */
enum fate {
    FATE_RUN,
    FATE_SEEN,
    FATE_BLOCKED,
    FATE_EMPTY_ROW,
    FATE_T_WAY,
    FATE_MODES_ONCE,
    FATE_SHOWN /* by others; `why` on which assumption that is enough */
};

/* Is it to show another edge, too, for which it was not queued again? */
static bool wanted_twice(const struct search *s, faultload f)
{
    const uint32_t *times = map_get(&s->queued, faultload_key(s->fl, f));
    return times && *times > 1;
}

static enum fate foresee(struct search *s, struct frontier_item item, enum reduction *why)
{
    bool row = item.edge == NODE_NONE; /* of t-way */
    bool twice = !row && wanted_twice(s, item.faultload);
    if (!row && s->tree.nodes.at[item.edge].state == EDGE_SEEN && !twice)
        return FATE_SEEN;
    bool blocked = suspect_blocks(s, s->fl->rows.at[item.faultload].last.point);
    if (row && (blocked || tway_row_shows_nothing(s, item.faultload)))
        return FATE_EMPTY_ROW;
    if (blocked)
        return FATE_BLOCKED;
    if (!row && ASSUMES(s, REDUCE_T_WAY) && tway_ask(s, item.faultload) == TWAY_SKIP)
        return FATE_T_WAY; /* a run has shown all its parts meanwhile */
    if (!row && ASSUMES(s, REDUCE_MODES_ONCE) && modes_once_skips(s, item.faultload))
        return FATE_MODES_ONCE;
    *why = row || !s->known.all || twice
               ? REDUCTIONS
               : shared_shows(s, item.edge, faultload_size(s->fl, item.faultload));
    return *why != REDUCTIONS ? FATE_SHOWN : FATE_RUN;
}

/* Has it something to show still? If not, that is noted. */
static bool worth(struct search *s, struct frontier_item item)
{
    enum reduction why;
    enum fate fate = foresee(s, item, &why);
    if (fate == FATE_SEEN)
        s->n_dropped++;
    else if (fate == FATE_EMPTY_ROW)
        tway_doubt(s, item.faultload);
    else if (fate == FATE_T_WAY)
        skip_edge(s, item, REDUCE_T_WAY);
    else if (fate == FATE_MODES_ONCE)
        skip_edge(s, item, REDUCE_MODES_ONCE);
    else if (fate == FATE_SHOWN) {
        shared_skip(s, item, why);
        map_set(&s->queued, faultload_key(s->fl, item.faultload),
                0); /* for another edge it may be */
    }
    return fate == FATE_RUN;
}

/* How often it was observed before its turn came. */
static uint32_t observed_early(struct search *s, faultload f)
{
    if (s->flights.early.items.n == 0)
        return 0;
    const uint32_t *n = map_get(&s->flights.early, faultload_key(s->fl, f));
    return n ? *n : 0;
}

static bool is_ahead(const struct flights *fs, faultload f)
{
    for (uint32_t i = 0; i < fs->ahead.n; i++)
        if (fs->ahead.at[i] == f)
            return true;
    return false;
}

/* Its turn has come, or it has lost it. False: it was not given ahead of its turn. */
static bool leave_ahead(struct flights *fs, faultload f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fs->ahead.n; i++)
        if (fs->ahead.at[i] != f)
            fs->ahead.at[n++] = fs->ahead.at[i];
    bool was = n < fs->ahead.n;
    fs->ahead.n = n;
    return was;
}

/* From the frontier, what still has something to show. */
static bool pick_queued(struct search *s, struct flight *out)
{
    *out = (struct flight){.purpose = FOR_SEARCH};
    while (frontier_pop(&s->frontier, &out->item)) {
        uint32_t early = observed_early(s, out->item.faultload);
        out->running = leave_ahead(&s->flights, out->item.faultload);
        if (early) {
            map_set(&s->flights.early, faultload_key(s->fl, out->item.faultload), early - 1);
            struct tree_node *edge = &s->tree.nodes.at[out->item.edge];
            if (out->item.edge != NODE_NONE && edge->state == EDGE_QUEUED)
                edge->state = EDGE_MISSED; /* that run has not shown it */
        } else if (worth(s, out->item)) {
            return true;
        }
    }
    return false;
}

static bool pick_search(struct search *s, struct flight *out)
{
    do {
        if (pick_queued(s, out))
            return true;
    } while (s->flights.list.n == 0 && ((ASSUMES(s, REDUCE_T_WAY) && tway_advance(s)) ||
                                        late_advance(s) || shared_advance(s)));
    return false;
}

static bool pick_verify(struct search *s, struct flight *out)
{
    if (s->known.verify_at == s->known.verify.n)
        return false;
    faultload f = s->known.verify.at[s->known.verify_at++];
    *out = (struct flight){.item = {f, NODE_NONE}, .purpose = FOR_VERIFY};
    out->running = leave_ahead(&s->flights, f);
    return true;
}

static bool pick_audit(struct search *s, struct flight *out)
{
    if (s->audit_at == s->to_audit.n || count_flights(&s->flights, FOR_SEARCH) > 0 ||
        shared_waits(s)) /* what others find out yet is no news for an audit */
        return false;
    struct audit_item audit = s->to_audit.at[s->audit_at++];
    *out = (struct flight){audit.item, FOR_AUDIT, .audited = audit.reduction};
    out->running = leave_ahead(&s->flights, audit.item.faultload);
    return true;
}

/* The first that waits and is worth it; what is not goes. NULL: none. */
static struct flight *first_waiting(struct search *s)
{
    struct flights *fs = &s->flights;
    for (uint32_t i = 0; i < fs->list.n;) {
        struct flight *flight = &fs->list.at[i];
        if (flight->running)
            i++;
        else if (is_fresh(flight) && !worth(s, flight->item))
            remove_flight(fs, i);
        else
            return flight;
    }
    return NULL;
}

/* One that is not running, unless it was given ahead of its turn; NULL: none. */
static struct flight *next_flight(struct search *s)
{
    struct flight *waiting = first_waiting(s), flight = {.purpose = FOR_BASELINE};
    if (waiting)
        return waiting;
    bool more =
        s->baselines_done >= s->opt.baselines
            ? pick_verify(s, &flight) || pick_search(s, &flight) || pick_audit(s, &flight)
            : s->baselines_done + count_flights(&s->flights, FOR_BASELINE) < s->opt.baselines;
    if (!more)
        return NULL;
    vec_push(&s->flights.list, flight);
    return &vec_last(&s->flights.list);
}

/* ---- ahead of their turn ---- */

/* Does it matter what is observed first? Not of the baselines. */
static bool in_order(const struct search *s)
{
    return s->opt.assume && s->baselines_done >= s->opt.baselines;
}

bool flight_guesses(const struct search *s)
{
    if (in_order(s))
        for (uint32_t i = 0; i < s->flights.list.n; i++)
            if (s->flights.list.at[i].running)
                return true;
    return false;
}

/* Whose turn it is; NULL: nothing is left. */
static struct flight *turn(struct search *s)
{
    for (uint32_t i = 0; i < s->flights.list.n; i++)
        if (s->flights.list.at[i].running)
            return &s->flights.list.at[i];
    return next_flight(s);
}

/* What comes after so many others, when nothing changes. */
static bool peek(const struct search *s, enum search_purpose purpose, uint32_t after,
                 struct frontier_item *out)
{
    if (purpose == FOR_SEARCH)
        return frontier_peek(&s->frontier, after, out);
    if (purpose == FOR_VERIFY) {
        if (after >= s->known.verify.n - s->known.verify_at)
            return false;
        *out = (struct frontier_item){s->known.verify.at[s->known.verify_at + after], NODE_NONE};
        return true;
    }
    if (after >= s->to_audit.n - s->audit_at)
        return false;
    *out = s->to_audit.at[s->audit_at + after].item;
    return true;
}

/* Is it among those? */
static bool comes_soon(const struct search *s, enum search_purpose purpose, faultload f)
{
    struct frontier_item item;
    for (uint32_t k = 0; k < FLIGHTS_AHEAD && peek(s, purpose, k, &item); k++)
        if (faultload_eq(s->fl, item.faultload, f))
            return true;
    return false;
}

/* As many are ahead as may be: one that has fallen behind goes. */
static void make_room(struct search *s, enum search_purpose purpose)
{
    struct flights *fs = &s->flights;
    for (uint32_t i = 0; i < fs->ahead.n; i++)
        if (!comes_soon(s, purpose, fs->ahead.at[i])) {
            leave_ahead(fs, fs->ahead.at[i]);
            return;
        }
}

/* Something that will probably be asked for soon after what has its turn. */
static bool give_ahead(struct search *s, const struct flight *now, faultload *out)
{
    struct flights *fs = &s->flights;
    struct frontier_item item;
    enum reduction why;
    for (uint32_t k = 0; k < FLIGHTS_AHEAD && peek(s, now->purpose, k, &item); k++) {
        if (is_ahead(fs, item.faultload) ||
            faultload_eq(s->fl, item.faultload, now->item.faultload))
            continue;
        if (now->purpose == FOR_SEARCH &&
            (observed_early(s, item.faultload) || foresee(s, item, &why) != FATE_RUN))
            continue;
        if (fs->ahead.n == FLIGHTS_AHEAD)
            make_room(s, now->purpose);
        if (fs->ahead.n == FLIGHTS_AHEAD)
            return false;
        vec_push(&fs->ahead, item.faultload);
        *out = item.faultload;
        return true;
    }
    return false;
}

enum search_turn search_turn(struct search *s, faultload f)
{
    if (!in_order(s) || f == FAULTLOAD_EMPTY)
        return TURN_NOW;
    const struct flight *now = turn(s);
    if (now && faultload_eq(s->fl, now->item.faultload, f))
        return TURN_NOW;
    return is_ahead(&s->flights, f) ? TURN_LATER : TURN_NEVER;
}

bool search_next(struct search *s, faultload *out)
{
    shared_take(s);
    struct flight *flight = in_order(s) ? turn(s) : next_flight(s);
    s->known.idle = !flight && s->flights.list.n == 0;
    if (!flight)
        return false;
    if (flight->running)
        return give_ahead(s, flight, out);
    flight->running = true;
    *out = flight->item.faultload;
    return true;
}

bool search_done(const struct search *s)
{
    return s->flights.list.n == 0 && s->frontier.n == 0 && s->tway.n_waiting == 0 &&
           s->tway.waiting.n == 0 && s->baselines_done >= s->opt.baselines &&
           s->audit_at == s->to_audit.n && s->known.verify_at == s->known.verify.n &&
           !shared_waits(s);
}

uint64_t flights_waiting(const struct search *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->flights.list.n; i++)
        n += is_fresh(&s->flights.list.at[i]);
    return n;
}

/* ---- what is observed ---- */

/* The flight of f; one that runs rather than one that waits. */
static uint32_t find(const struct search *s, faultload f)
{
    const struct flights *fs = &s->flights;
    uint32_t waiting = UINT32_MAX;
    for (uint32_t i = 0; i < fs->list.n; i++)
        if (fs->list.at[i].running && fs->list.at[i].item.faultload == f)
            return i;
    for (uint32_t i = fs->list.n; i-- > 0;)
        if (faultload_eq(s->fl, fs->list.at[i].item.faultload, f)) {
            if (fs->list.at[i].running)
                return i;
            waiting = i;
        }
    return waiting;
}

/* Puts what this picks among those that wait, until f is among it; else UINT32_MAX. */
static uint32_t pick_until(struct search *s, faultload f,
                           bool (*from)(struct search *, struct flight *))
{
    struct flights *fs = &s->flights;
    struct flight flight;
    while (fs->list.n < FLIGHTS_AHEAD && from(s, &flight)) {
        vec_push(&fs->list, flight);
        if (faultload_eq(s->fl, flight.item.faultload, f))
            return fs->list.n - 1;
    }
    return UINT32_MAX;
}

/* Picks what would be given next until f is among it; else UINT32_MAX. Something that was queued
 * and is not there any more was given when it still had something to show, next to others: that is
 * no reason to begin a new phase. */
static uint32_t look_ahead(struct search *s, faultload f)
{
    if (s->baselines_done < s->opt.baselines)
        return UINT32_MAX;
    uint32_t at = comes_soon(s, FOR_VERIFY, f) ? pick_until(s, f, pick_verify)
                                               : pick_until(s, f, pick_queued);
    if (at == UINT32_MAX && s->flights.list.n == 0 && !ASSUMES(s, REDUCE_T_WAY) && late_advance(s))
        at = pick_until(s, f, pick_queued);
    if (at != UINT32_MAX ||
        (map_get(&s->queued, faultload_key(s->fl, f)) && !comes_soon(s, FOR_AUDIT, f)))
        return at;
    /* what waits and has been seen meanwhile would keep the next phase from beginning */
    for (uint32_t i = s->flights.list.n; i-- > 0;)
        if (is_fresh(&s->flights.list.at[i]) && !worth(s, s->flights.list.at[i].item))
            remove_flight(&s->flights, i);
    at = pick_until(s, f, pick_search);
    return at == UINT32_MAX && comes_soon(s, FOR_AUDIT, f) ? pick_until(s, f, pick_audit) : at;
}

struct flight flight_land(struct search *s, faultload f)
{
    shared_take(s);
    s->known.idle = false;
    struct flight flight = {{f, NODE_NONE}, FOR_SEARCH, .stranger = true};
    uint32_t at = find(s, f);
    if (at == UINT32_MAX && f == FAULTLOAD_EMPTY)
        return (struct flight){.purpose = FOR_BASELINE};
    if (at == UINT32_MAX && frontier_take(s, f, &flight.item)) {
        leave_ahead(&s->flights, f);
        flight.stranger = false;
        return flight;
    }
    if (at == UINT32_MAX)
        at = look_ahead(s, f);
    if (at == UINT32_MAX) {
        map_count(&s->flights.early, faultload_key(s->fl, f));
        return flight;
    }
    flight = s->flights.list.at[at];
    remove_flight(&s->flights, at);
    return flight;
}

void search_forget(struct search *s, faultload f)
{
    uint32_t at = find(s, f);
    if (leave_ahead(&s->flights, f) || at == UINT32_MAX)
        return;
    if (s->flights.list.at[at].purpose == FOR_BASELINE)
        remove_flight(&s->flights, at);
    else
        s->flights.list.at[at].running = false;
}
