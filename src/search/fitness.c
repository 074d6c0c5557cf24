/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of the paper (IntelliFT, algorithm 1) and ours: test case tc: scenario. Injection point ip:
 * site. Fault type ft: mode. Q_pending: the stock. Q_priority: `parents`. Q_history: what is counted
 * of runs, in services, shelves, requests and scenarios.
 *
 * 1. A scenario's first item is drawn from all it has, whatever else is known; then comes a test of
 *    each site that has none.
 * 2. Changes lead to what was not tested: to fresh shelves (stock.h). The others are left for the end.
 * 3. `parents` holds at most PARENTS_MAX, each with a fitness of at least FITNESS_MIN.
 * 4. A plan names a shelf that has items, or none. */
#include "search/fitness.h"

#include <string.h>

#include "base/hash.h"

enum axis { AXIS_SCENARIO, AXIS_REQUEST, AXIS_SITE, AXIS_MODE, AXES };

enum {
    ONE = 1024,             /* parts of a point of fitness, and of certainty */
    PARENTS_MAX = 64,       /* tests that may be changed */
    FITNESS_MIN = 21 * ONE, /* below it a test is not changed, or not any more */
    WEARS = 6,              /* each change that is made of a test takes 1/6 of its fitness */
    NOTHING_NEW = 10,       /* the impact of what was seen before */
    WAITS = 4,              /* a test in which somebody waits is drawn a quarter as often */
    GAIN_OF = 16,           /* as many tests back tell what an axis brings */
    TRIES = 4,              /* changes that are looked for before something else is taken */
    TRIALS_MAX = 256        /* runs under way of which the axis is remembered */
};

/* A service that calls others: how often it failed when a call failed so. */
struct service {
    VEC(struct handling {
        mode mode;
        uint32_t tests;
        uint32_t errors;
    })
    handling;
    uint32_t frail; /* the sum of its vulnerabilities */
};

struct parent {
    uint32_t shelf, fitness;
};

/* What was last gained by changes along an axis. */
struct gain {
    uint32_t last[GAIN_OF], at, sum;
};

/* A run under way. */
struct trial {
    uint32_t scenario;
    faultload faultload;
    uint8_t axes; /* bits 1 << enum axis: which were changed; 0: it was drawn */
};

struct fitness {
    struct rng rng;
    enum fitness_rest rest;
    struct stock stock;
    VEC(struct plan {
        uint32_t shelf; /* STOCK_NONE: none */
        uint8_t axes;
        bool begun; /* something of the scenario was run */
        uint32_t failures;
    })
    plans;                        /* by scenario */
    VEC(struct service) services; /* by caller */
    VEC(struct parent) parents;
    struct gain gain[AXES];
    VEC(struct trial) trials;
    struct map seen;   /* failures, and calls that only faults bring about */
    struct map known;  /* fitness_know */
    struct map called; /* (request, site) that runs without faults showed */
    VEC(struct lot {
        uint32_t what;
        uint32_t weight;
    })
    lots;
};

/* Who may be chosen. */
struct among {
    const bool *ready; /* NULL: only this one */
    uint32_t only;
};

static bool may(const struct among *among, uint32_t scenario)
{
    return among->ready ? among->ready[scenario] : scenario == among->only;
}

struct fitness *fitness_new(uint64_t seed, enum fitness_rest rest)
{
    struct fitness *fit = mem_zero(sizeof *fit);
    fit->rng.state = seed;
    fit->rest = rest;
    for (int axis = 0; axis < AXES; axis++) {
        struct gain *gain = &fit->gain[axis];
        for (uint32_t i = 0; i < GAIN_OF; i++) /* nothing is known: as if little were gained */
            gain->sum += gain->last[i] = 10 * ONE;
    }
    return fit;
}

void fitness_free(struct fitness *fit)
{
    if (!fit)
        return;
    for (uint32_t i = 0; i < fit->services.n; i++)
        vec_deinit(&fit->services.at[i].handling);
    stock_deinit(&fit->stock);
    vec_deinit(&fit->plans);
    vec_deinit(&fit->services);
    vec_deinit(&fit->parents);
    vec_deinit(&fit->trials);
    vec_deinit(&fit->lots);
    map_deinit(&fit->seen);
    map_deinit(&fit->known);
    map_deinit(&fit->called);
    mem_free(fit);
}

void fitness_clear(struct fitness *fit, uint32_t scenario)
{
    while (fit->plans.n <= scenario)
        vec_push(&fit->plans, (struct plan){0});
    fit->plans.at[scenario].shelf = STOCK_NONE;
    fit->plans.at[scenario].begun = false;
    stock_clear(&fit->stock, scenario);
}

/* ---- drawing lots ---- */

static void lot_add(struct fitness *fit, uint32_t what, uint32_t weight)
{
    vec_push(&fit->lots, (struct lot){what, weight ? weight : 1});
}

/* One of them, in proportion to its weight; none is left. STOCK_NONE: there was none. */
static uint32_t lot_draw(struct fitness *fit)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < fit->lots.n; i++)
        sum += fit->lots.at[i].weight;
    if (sum == 0)
        return STOCK_NONE;
    uint64_t at = (rng_next(&fit->rng) >> 1) % sum;
    uint32_t i = 0;
    for (; at >= fit->lots.at[i].weight; i++)
        at -= fit->lots.at[i].weight;
    fit->lots.n = 0;
    return fit->lots.at[i].what;
}

/* ---- what is known ---- */

static struct service *caller_of(struct fitness *fit, uint32_t shelf)
{
    uint32_t at = fit->stock.sites.at[shelf_spot(&fit->stock, shelf)->site].caller;
    while (fit->services.n <= at)
        vec_push(&fit->services, (struct service){0});
    return &fit->services.at[at];
}

/* vul: the share of such faults that the service does not handle. Nothing known counts as half. */
static uint32_t vulnerability(const struct handling *h)
{
    return (h->errors + 1) * ONE / (h->tests + 2);
}

static struct handling *handling_of(struct service *service, mode m)
{
    for (uint32_t i = 0; i < service->handling.n; i++)
        if (service->handling.at[i].mode == m)
            return &service->handling.at[i];
    vec_push(&service->handling, (struct handling){.mode = m});
    service->frail += vulnerability(&vec_last(&service->handling));
    return &vec_last(&service->handling);
}

static uint32_t shelf_vulnerability(struct fitness *fit, uint32_t shelf)
{
    return vulnerability(handling_of(caller_of(fit, shelf), fit->stock.shelves.at[shelf].mode));
}

/* How much there may be to see at a site, as its caller is frail and it was tried so often. */
static uint32_t promise(const struct fitness *fit, uint32_t site)
{
    const struct stock_site *at = &fit->stock.sites.at[site];
    return fit->services.at[at->caller].frail / (1 + at->tried);
}

/* 1 / fc: the less of a request was tried, the more. */
static uint32_t uncovered(const struct stock_request *request)
{
    return ONE * request->shelves / (request->tried + 1);
}

void fitness_know(struct fitness *fit, uint64_t what)
{
    map_count(&fit->known, what);
}

bool fitness_known(const struct fitness *fit, uint64_t what)
{
    return map_get(&fit->known, what);
}

uint32_t fitness_failures(const struct fitness *fit, uint32_t scenario)
{
    return fit->plans.at[scenario].failures;
}

/* ---- what is queued ---- */

static uint32_t shelf_for(struct fitness *fit, const struct stock_place *place)
{
    uint32_t shelf = stock_shelf(&fit->stock, place);
    handling_of(caller_of(fit, shelf), place->mode);
    return shelf;
}

void fitness_call(struct fitness *fit, const struct stock_place *place)
{
    uint32_t request = stock_request(&fit->stock, place->scenario, place->request);
    uint32_t site = stock_site(&fit->stock, place);
    if (map_count(&fit->called, (uint64_t)request << 32 | site) == 1)
        fit->stock.requests.at[request].kind += hash_mix(1, site); /* in whatever order */
}

void fitness_put(struct fitness *fit, const struct stock_place *place, struct frontier_item item,
                 uint64_t key, uint32_t score)
{
    stock_put(&fit->stock, shelf_for(fit, place), item, key, score);
}

bool fitness_take(struct fitness *fit, const struct stock_place *place, uint64_t key,
                  struct frontier_item *out)
{
    uint32_t shelf = stock_shelf(&fit->stock, place);
    if (!stock_take(&fit->stock, shelf, key, out))
        return false;
    struct plan *plan = &fit->plans.at[place->scenario];
    if (plan->shelf == shelf && fit->stock.shelves.at[shelf].heap.n == 0)
        plan->shelf = STOCK_NONE; /* invariant 4 */
    return true;
}

uint32_t fitness_queued(const struct fitness *fit, uint32_t scenario)
{
    return fit->stock.scenarios.at[scenario].queued;
}

struct frontier_item fitness_peek(const struct fitness *fit, uint32_t scenario, uint32_t after)
{
    const struct stock *st = &fit->stock;
    const struct stock_scenario *sc = &st->scenarios.at[scenario];
    for (uint32_t r = 0; r < sc->requests.n; r++) {
        const struct stock_request *request = &st->requests.at[sc->requests.at[r]];
        for (uint32_t s = 0; s < request->spots.n; s++) {
            const struct stock_spot *spot = &st->spots.at[request->spots.at[s]];
            for (uint32_t k = 0; k < spot->shelves.n; k++) {
                const struct stock_shelf *shelf = &st->shelves.at[spot->shelves.at[k]];
                if (after < shelf->heap.n)
                    return shelf->heap.at[after].item;
                after -= shelf->heap.n;
            }
        }
    }
    return (struct frontier_item){0}; /* there are not as many */
}

/* ---- mutators ---- */

/* A fresh shelf of this spot, but not that one: with this mode if there is one, else as the caller is
 * vulnerable to its mode. */
static uint32_t draw_shelf(struct fitness *fit, uint32_t spot, mode same, uint32_t not )
{
    const struct stock *st = &fit->stock;
    const struct stock_spot *at = &st->spots.at[spot];
    for (uint32_t i = 0; i < at->shelves.n; i++) {
        uint32_t shelf = at->shelves.at[i];
        const struct stock_shelf *s = &st->shelves.at[shelf];
        if (!shelf_fresh(s) || shelf == not )
            continue;
        if (s->mode == same) {
            fit->lots.n = 0;
            return shelf;
        }
        lot_add(fit, shelf, shelf_vulnerability(fit, shelf) / (mode_waits(s->mode) ? WAITS : 1));
    }
    return lot_draw(fit);
}

/* A site of this request with something fresh, but not that one. */
static uint32_t draw_spot(struct fitness *fit, uint32_t request, uint32_t not )
{
    const struct stock *st = &fit->stock;
    const struct stock_request *at = &st->requests.at[request];
    for (uint32_t i = 0; i < at->spots.n; i++) {
        const struct stock_spot *spot = &st->spots.at[at->spots.at[i]];
        if (at->spots.at[i] == not || spot->fresh == 0)
            continue;
        lot_add(fit, at->spots.at[i], promise(fit, spot->site));
    }
    return lot_draw(fit);
}

/* A change of this shelf along an axis, with what was changed; STOCK_NONE: there is none. */
typedef uint32_t mutator(struct fitness *fit, const struct among *among, uint32_t shelf,
                         uint8_t *axes);

/* The same site in another request: of this scenario, or else of others. */
static uint32_t mutate_request(struct fitness *fit, const struct among *among, uint32_t shelf,
                               uint8_t *axes)
{
    const struct stock *st = &fit->stock;
    const struct stock_spot *from = shelf_spot(st, shelf);
    uint32_t scenario = st->requests.at[from->request].scenario;
    const struct stock_site *site = &st->sites.at[from->site];
    for (int others = 0; others < 2; others++) {
        for (uint32_t i = 0; i < site->spots.n; i++) {
            const struct stock_spot *to = &st->spots.at[site->spots.at[i]];
            const struct stock_request *request = &st->requests.at[to->request];
            if (to->request != from->request && to->fresh && may(among, request->scenario) &&
                (request->scenario == scenario) == !others)
                lot_add(fit, site->spots.at[i], uncovered(request));
        }
        uint32_t spot = lot_draw(fit);
        *axes = others ? 1 << AXIS_REQUEST | 1 << AXIS_SCENARIO : 1 << AXIS_REQUEST;
        if (spot != STOCK_NONE)
            return draw_shelf(fit, spot, st->shelves.at[shelf].mode, STOCK_NONE);
    }
    return STOCK_NONE;
}

/* A request that is alike, in another scenario; if there is none, as above. */
static uint32_t mutate_scenario(struct fitness *fit, const struct among *among, uint32_t shelf,
                                uint8_t *axes)
{
    const struct stock *st = &fit->stock;
    const struct stock_request *from = shelf_request(st, shelf);
    for (uint32_t i = 0; from->kind && i < st->requests.n; i++) {
        const struct stock_request *to = &st->requests.at[i];
        if (to->queued && to->kind == from->kind && to->scenario != from->scenario &&
            may(among, to->scenario))
            lot_add(fit, i, 1 + fit->plans.at[to->scenario].failures);
    }
    uint32_t request = lot_draw(fit);
    if (request == STOCK_NONE)
        return mutate_request(fit, among, shelf, axes);
    *axes = 1 << AXIS_SCENARIO;
    const uint32_t *same =
        map_get(&st->spot_of, (uint64_t)request << 32 | shelf_spot(st, shelf)->site);
    uint32_t spot = same && st->spots.at[*same].fresh ? *same : draw_spot(fit, request, STOCK_NONE);
    return spot == STOCK_NONE ? STOCK_NONE
                              : draw_shelf(fit, spot, st->shelves.at[shelf].mode, STOCK_NONE);
}

/* Another site in the same request. */
static uint32_t mutate_site(struct fitness *fit, const struct among *among, uint32_t shelf,
                            uint8_t *axes)
{
    const struct stock *st = &fit->stock;
    const struct stock_spot *from = shelf_spot(st, shelf);
    *axes = 1 << AXIS_SITE;
    if (!may(among, shelf_request(st, shelf)->scenario))
        return STOCK_NONE;
    uint32_t spot = draw_spot(fit, from->request, st->shelves.at[shelf].spot);
    return spot == STOCK_NONE ? STOCK_NONE
                              : draw_shelf(fit, spot, st->shelves.at[shelf].mode, STOCK_NONE);
}

/* Another mode at the same site. */
static uint32_t mutate_mode(struct fitness *fit, const struct among *among, uint32_t shelf,
                            uint8_t *axes)
{
    *axes = 1 << AXIS_MODE;
    if (!may(among, shelf_request(&fit->stock, shelf)->scenario))
        return STOCK_NONE;
    return draw_shelf(fit, fit->stock.shelves.at[shelf].spot, MODE_NONE, shelf);
}

/* A test was changed once more; when it is worn out it goes. */
static void wear(struct fitness *fit, uint32_t at)
{
    struct parent *parent = &fit->parents.at[at];
    parent->fitness -= parent->fitness / WEARS;
    if (parent->fitness < FITNESS_MIN) {
        *parent = vec_last(&fit->parents);
        fit->parents.n--;
    }
}

static mutator *const mutators[AXES] = {
    [AXIS_SCENARIO] = mutate_scenario,
    [AXIS_REQUEST] = mutate_request,
    [AXIS_SITE] = mutate_site,
    [AXIS_MODE] = mutate_mode,
};

/* A change of a test that showed something new. It wears, whether or not there is such a change: so
 * all of them have their turn, and none keeps the others from it. */
static uint32_t mutate(struct fitness *fit, const struct among *among, uint8_t *axes)
{
    for (int i = 0; i < TRIES; i++) {
        for (uint32_t k = 0; k < fit->parents.n; k++)
            lot_add(fit, k, fit->parents.at[k].fitness);
        uint32_t at = lot_draw(fit);
        if (at == STOCK_NONE)
            return STOCK_NONE;
        for (uint32_t axis = 0; axis < AXES; axis++)
            lot_add(fit, axis, fit->gain[axis].sum);
        uint32_t shelf = mutators[lot_draw(fit)](fit, among, fit->parents.at[at].shelf, axes);
        wear(fit, at);
        if (shelf != STOCK_NONE)
            return shelf;
    }
    return STOCK_NONE;
}

/* ---- choosing ---- */

/* Any: a scenario, a request of it, a site of that, a mode, each as likely as its siblings. */
static uint32_t draw_any(struct fitness *fit, const struct among *among, bool new)
{
    const struct stock *st = &fit->stock;
    for (uint32_t i = 0; i < st->scenarios.n; i++)
        if (st->scenarios.at[i].queued && may(among, i) && !(new && fit->plans.at[i].begun))
            lot_add(fit, i, 1);
    uint32_t scenario = lot_draw(fit);
    if (scenario == STOCK_NONE)
        return STOCK_NONE;
    const struct stock_scenario *in = &st->scenarios.at[scenario];
    for (uint32_t i = 0; i < in->requests.n; i++)
        if (st->requests.at[in->requests.at[i]].queued)
            lot_add(fit, in->requests.at[i], 1);
    const struct stock_request *request = &st->requests.at[lot_draw(fit)];
    for (uint32_t i = 0; i < request->spots.n; i++)
        if (st->spots.at[request->spots.at[i]].queued)
            lot_add(fit, request->spots.at[i], 1);
    const struct stock_spot *spot = &st->spots.at[lot_draw(fit)];
    for (uint32_t i = 0; i < spot->shelves.n; i++)
        if (st->shelves.at[spot->shelves.at[i]].heap.n)
            lot_add(fit, spot->shelves.at[i], 1);
    return lot_draw(fit);
}

/* Is something fresh at this site, where it may be chosen? */
static bool may_at(const struct fitness *fit, const struct among *among, uint32_t site)
{
    const struct stock *st = &fit->stock;
    for (uint32_t i = 0; i < st->sites.at[site].spots.n; i++) {
        const struct stock_spot *spot = &st->spots.at[st->sites.at[site].spots.at[i]];
        if (spot->fresh && may(among, st->requests.at[spot->request].scenario))
            return true;
    }
    return false;
}

/* A test that was not made yet: at a site of which much is to be expected, in a request of which little
 * was tried. `first`: at one where nothing was tried at all, in the first mode. */
static uint32_t draw_fresh(struct fitness *fit, const struct among *among, bool first)
{
    const struct stock *st = &fit->stock;
    for (uint32_t i = 0; i < st->sites.n; i++)
        if (st->sites.at[i].fresh && !(first && st->sites.at[i].tried) && may_at(fit, among, i))
            lot_add(fit, i, promise(fit, i));
    uint32_t at = lot_draw(fit);
    if (at == STOCK_NONE)
        return STOCK_NONE;
    const struct stock_site *site = &st->sites.at[at];
    for (uint32_t i = 0; i < site->spots.n; i++) {
        const struct stock_spot *spot = &st->spots.at[site->spots.at[i]];
        if (spot->fresh && may(among, st->requests.at[spot->request].scenario))
            lot_add(fit, site->spots.at[i], uncovered(&st->requests.at[spot->request]));
    }
    uint32_t spot = lot_draw(fit), k = 0;
    if (!first)
        return draw_shelf(fit, spot, MODE_NONE, STOCK_NONE);
    while (!shelf_fresh(&st->shelves.at[st->spots.at[spot].shelves.at[k]]))
        k++;
    return st->spots.at[spot].shelves.at[k];
}

/* The lowest score of all. */
static uint32_t find_lowest(const struct fitness *fit, const struct among *among)
{
    const struct stock *st = &fit->stock;
    uint32_t best = STOCK_NONE;
    for (uint32_t i = 0; i < st->shelves.n; i++) {
        const struct stock_shelf *s = &st->shelves.at[i];
        if (s->heap.n && may(among, shelf_request(st, i)->scenario) &&
            (best == STOCK_NONE || s->heap.at[0].score < st->shelves.at[best].heap.at[0].score))
            best = i;
    }
    return best;
}

static uint32_t choose_shelf(struct fitness *fit, const struct among *among, uint8_t *axes)
{
    *axes = 0;
    uint32_t shelf = draw_any(fit, among, true);
    if (shelf == STOCK_NONE)
        shelf = draw_fresh(fit, among, true);
    if (shelf == STOCK_NONE)
        shelf = mutate(fit, among, axes);
    if (shelf != STOCK_NONE)
        return shelf;
    *axes = 0;
    shelf = draw_fresh(fit, among, false);
    if (shelf != STOCK_NONE)
        return shelf;
    return fit->rest == REST_RANDOM ? draw_any(fit, among, false) : find_lowest(fit, among);
}

uint32_t fitness_choose(struct fitness *fit, const bool *ready)
{
    uint8_t axes;
    uint32_t shelf = choose_shelf(fit, &(struct among){.ready = ready}, &axes);
    if (shelf == STOCK_NONE)
        return STOCK_NONE;
    uint32_t scenario = shelf_request(&fit->stock, shelf)->scenario;
    fit->plans.at[scenario].shelf = shelf;
    fit->plans.at[scenario].axes = axes;
    return scenario;
}

struct frontier_item fitness_pop(struct fitness *fit, uint32_t scenario)
{
    struct plan *plan = &fit->plans.at[scenario];
    if (plan->shelf == STOCK_NONE)
        plan->shelf = choose_shelf(fit, &(struct among){.only = scenario}, &plan->axes);
    struct frontier_item item = stock_pop(&fit->stock, plan->shelf);
    if (fit->trials.n == TRIALS_MAX) { /* the oldest was never run */
        fit->trials.n--;
        memmove(fit->trials.at, fit->trials.at + 1, fit->trials.n * sizeof *fit->trials.at);
    }
    vec_push(&fit->trials, (struct trial){scenario, item.faultload, plan->axes});
    plan->shelf = STOCK_NONE;
    plan->begun = true;
    return item;
}

/* ---- learning ---- */

uint32_t fitness_impact(const struct fitness_result *r)
{
    if (r->pass)
        return !r->request_ok ? 20 : r->backup ? 40 : 10;
    return r->request_ok ? 40 : 50;
}

/* When there are too many, one goes, the more likely the less fit it is. */
static void add_parent(struct fitness *fit, uint32_t shelf, uint32_t impact)
{
    if (impact < FITNESS_MIN)
        return;
    if (fit->parents.n == PARENTS_MAX) {
        for (uint32_t i = 0; i < fit->parents.n; i++)
            lot_add(fit, i, UINT32_MAX / fit->parents.at[i].fitness);
        fit->parents.at[lot_draw(fit)] = vec_last(&fit->parents);
        fit->parents.n--;
    }
    vec_push(&fit->parents, (struct parent){shelf, impact});
}

/* The axes along which the test was changed share what it brought. */
static void add_gain(struct fitness *fit, uint8_t axes, uint32_t impact)
{
    uint32_t share = impact / (uint32_t)(axes ? __builtin_popcount(axes) : 1);
    for (uint32_t axis = 0; axis < AXES; axis++)
        if (axes >> axis & 1) {
            struct gain *gain = &fit->gain[axis];
            gain->sum += share - gain->last[gain->at];
            gain->last[gain->at] = share;
            gain->at = (gain->at + 1) % GAIN_OF;
        }
}

/* How this run came about. */
static uint8_t land_trial(struct fitness *fit, uint32_t scenario, faultload f)
{
    for (uint32_t i = 0; i < fit->trials.n; i++)
        if (fit->trials.at[i].scenario == scenario && fit->trials.at[i].faultload == f) {
            uint8_t axes = fit->trials.at[i].axes;
            fit->trials.n--;
            memmove(fit->trials.at + i, fit->trials.at + i + 1,
                    (fit->trials.n - i) * sizeof *fit->trials.at);
            return axes;
        }
    return 0;
}

void fitness_learn(struct fitness *fit, const struct stock_place *place, faultload f,
                   const struct fitness_result *result)
{
    uint32_t shelf = shelf_for(fit, place);
    struct service *service = caller_of(fit, shelf);
    struct handling *h = handling_of(service, place->mode);
    service->frail -= vulnerability(h);
    h->tests++;
    h->errors += result->passed_on;
    service->frail += vulnerability(h);

    if (fit->stock.shelves.at[shelf].tried == 0)
        stock_tried(&fit->stock, shelf);
    fit->plans.at[place->scenario].begun = true;
    uint32_t impact = fitness_impact(result) * ONE;
    uint64_t shown = !result->pass ? result->failure : result->request_ok ? result->backup : 0;
    bool before = shown && map_count(&fit->seen, shown) > 1;
    if (before)
        impact = NOTHING_NEW * ONE;
    else if (!result->pass)
        fit->plans.at[place->scenario].failures++;
    add_gain(fit, land_trial(fit, place->scenario, f), impact);
    add_parent(fit, shelf, impact);
}
