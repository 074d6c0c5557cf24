/* SPDX-License-Identifier: Apache-2.0
 *
 * The order `fitness`: searches and traces, as fitness.h wants to know them. The searches of a suite
 * have one fitness between them, in suite->own; one that is alone has its own. */
#include "base/hash.h"
#include "search/fitness.h"
#include "search/search_int.h"

/* In suite->own, from the first search to the last that is there. */
struct shared {
    struct fitness *fit;
    uint32_t searches;
};

/* In frontier.own. */
struct seat {
    struct search *search;
    struct fitness *fit;
    uint32_t scenario;
};

static const struct seat *seat_of(const struct search *s)
{
    return s->frontier.own;
}

void fitness_open(struct search *s, enum fitness_rest rest)
{
    struct seat *seat = mem_zero(sizeof *seat);
    struct suite *suite = s->opt.suite;
    seat->search = s;
    seat->scenario = s->opt.seat;
    if (suite && !suite->own) {
        struct shared *new = mem_zero(sizeof *new);
        new->fit = fitness_new(s->opt.seed, rest);
        suite->own = new;
    }
    if (suite) {
        struct shared *shared = suite->own;
        shared->searches++;
        seat->fit = shared->fit;
    } else {
        seat->fit = fitness_new(s->opt.seed, rest);
    }
    fitness_clear(seat->fit, seat->scenario);
    s->frontier.own = seat;
}

struct fitness *fitness_of(const void *own)
{
    return ((const struct seat *)own)->fit;
}

static void open_fitness(struct search *s)
{
    fitness_open(s, REST_RANDOM);
}

static void close_fitness(struct search *s)
{
    struct seat *seat = s->frontier.own;
    struct shared *shared = s->opt.suite ? s->opt.suite->own : NULL;
    if (shared && --shared->searches > 0) {
        fitness_clear(seat->fit, seat->scenario);
    } else {
        fitness_free(seat->fit);
        mem_free(shared);
        if (s->opt.suite)
            s->opt.suite->own = NULL;
    }
    mem_free(seat);
}

/* ---- what is queued ---- */

/* The call of the client under which this point lies: one of a test's own, or all that the scenario
 * is. */
static uid request_of(const struct search *s, uid point)
{
    uid up = point, below = point;
    for (uid next; (next = uid_parent(s->names, up)) != UID_NONE; up = next)
        below = up;
    uint8_t flags = below < s->flags.n ? s->flags.at[below] : 0;
    return (flags & (CALL_EXEMPT | CALL_HUSHED)) == CALL_EXEMPT ? below : up;
}

static struct stock_place place_of(const struct search *s, struct fault fault)
{
    const struct element *el = uid_element(s->names, fault.point);
    uid caller = uid_parent(s->names, fault.point);
    return (struct stock_place){
        .scenario = seat_of(s)->scenario,
        .request = request_of(s, fault.point),
        .caller = caller == UID_NONE ? 0 : uid_element(s->names, caller)->service,
        .callee = el->service,
        .interface = el->interface,
        .try = search_happy(s, fault.point) || el->n == N_ANY ? 0 : el->n,
        .mode = fault.mode,
    };
}

static void push_fitness(struct frontier *f, struct frontier_item item, uint32_t score)
{
    const struct seat *seat = f->own;
    const struct search *s = seat->search;
    struct stock_place place = place_of(s, s->fl->rows.at[item.faultload].last);
    fitness_put(seat->fit, &place, item, faultload_key(s->fl, item.faultload), score);
}

static struct frontier_item pop_fitness(struct frontier *f)
{
    const struct seat *seat = f->own;
    return fitness_pop(seat->fit, seat->scenario);
}

static struct frontier_item peek_fitness(const struct frontier *f, uint64_t after)
{
    const struct seat *seat = f->own;
    return fitness_peek(seat->fit, seat->scenario, (uint32_t)after);
}

/* It lies where its last fault is; which that is may have been another one when it was queued. */
static bool take_fitness(struct search *s, faultload f, struct frontier_item *out)
{
    uint64_t key = faultload_key(s->fl, f);
    for (faultload at = f; at != FAULTLOAD_EMPTY; at = s->fl->rows.at[at].rest) {
        struct stock_place place = place_of(s, s->fl->rows.at[at].last);
        if (fitness_take(seat_of(s)->fit, &place, key, out))
            return true;
    }
    return false;
}

static uint32_t choose_fitness(struct suite *suite, const bool *ready)
{
    const struct shared *shared = suite->own;
    uint32_t seat = fitness_choose(shared->fit, ready);
    for (uint32_t i = 0; seat == STOCK_NONE; i++) /* what is left is not in a frontier */
        if (ready[i])
            seat = i;
    return seat;
}

/* ---- what a run showed ---- */

static bool is_request(const struct call *c)
{
    return c->parent == 0 && (c->flags & (CALL_EXEMPT | CALL_HUSHED)) == CALL_EXEMPT;
}

/* Failures are one when the client made the same requests, saw the same of them, and says the same.
 */
static uint64_t failure_of(const struct search *s, const struct trace *trace,
                           const struct verdict *verdict)
{
    uint64_t hash = hash_mix(hash_slice(slice_of(verdict->why)), verdict->status);
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        if (i == 0 || is_request(c))
            hash = hash_mix(hash_mix(hash, s->names->uids.at[c->uid].element), c->seen);
    }
    return hash;
}

/* The same in all scenarios: who calls whom. */
static uint64_t backup_of(const struct search *s, uid call)
{
    const struct element *el = uid_element(s->names, call);
    const struct element *caller = uid_element(s->names, uid_parent(s->names, call));
    return hash_mix(hash_mix(1 + caller->service, el->service), el->interface);
}

static struct fitness_result result_of(const struct search *s, struct fault last, uid request,
                                       const struct trace *trace, const struct verdict *verdict)
{
    struct fitness_result r = {.request_ok = true, .pass = verdict->pass};
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        if (c->uid == request)
            r.request_ok = outcome_ok(i == 0 ? verdict->status : c->seen);
        if (i > 0 && !search_happy(s, c->uid) && s->seen_in.at[c->uid] == 1)
            r.backup = backup_of(s, c->uid); /* in this run */
        if (c->mode != MODE_NONE && c->fault_point == last.point && c->parent != CALL_NONE)
            r.passed_on = !outcome_ok(trace->calls.at[c->parent].seen);
    }
    if (!r.pass)
        r.failure = failure_of(s, trace, verdict);
    return r;
}

static void observed_fitness(struct search *s, struct frontier_item item, const struct trace *trace,
                             const struct verdict *verdict)
{
    const struct seat *seat = seat_of(s);
    struct stock_place place;
    if (s->runs.n == 1)
        for (uint32_t i = 1; i < trace->calls.n; i++) {
            place = place_of(s, (struct fault){trace->calls.at[i].uid, MODE_NONE});
            fitness_call(seat->fit, &place);
        }
    if (item.faultload == FAULTLOAD_EMPTY || !search_last(s)->fired)
        return;
    struct fault last = s->fl->rows.at[item.faultload].last;
    place = place_of(s, last);
    struct fitness_result result = result_of(s, last, place.request, trace, verdict);
    fitness_learn(seat->fit, &place, item.faultload, &result);
}

const struct order_ops fitness_ops = {
    .open = open_fitness,
    .close = close_fitness,
    .score = soon_score,
    .push = push_fitness,
    .pop = pop_fitness,
    .peek = peek_fitness,
    .take = take_fitness,
    .observed = observed_fitness,
    .choose = choose_fitness,
};
