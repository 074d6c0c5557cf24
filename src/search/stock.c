/* SPDX-License-Identifier: Apache-2.0 */
#include "search/stock.h"

#include "base/hash.h"

void stock_deinit(struct stock *st)
{
    for (uint32_t i = 0; i < st->scenarios.n; i++)
        vec_deinit(&st->scenarios.at[i].requests);
    for (uint32_t i = 0; i < st->requests.n; i++)
        vec_deinit(&st->requests.at[i].spots);
    for (uint32_t i = 0; i < st->sites.n; i++)
        vec_deinit(&st->sites.at[i].spots);
    for (uint32_t i = 0; i < st->spots.n; i++)
        vec_deinit(&st->spots.at[i].shelves);
    for (uint32_t i = 0; i < st->shelves.n; i++)
        vec_deinit(&st->shelves.at[i].heap);
    vec_deinit(&st->scenarios);
    vec_deinit(&st->requests);
    vec_deinit(&st->sites);
    vec_deinit(&st->spots);
    vec_deinit(&st->shelves);
    map_deinit(&st->request_of);
    map_deinit(&st->site_of);
    map_deinit(&st->spot_of);
    map_deinit(&st->shelf_of);
    map_deinit(&st->caller_of);
}

static uint64_t pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

uint32_t stock_request(struct stock *st, uint32_t scenario, uid request)
{
    uint32_t at = map_index(&st->request_of, pair(scenario, request), st->requests.n);
    if (at == st->requests.n) {
        vec_push(&st->requests, (struct stock_request){.scenario = scenario});
        vec_push(&st->scenarios.at[scenario].requests, at);
    }
    return at;
}

uint32_t stock_site(struct stock *st, const struct stock_place *place)
{
    uint64_t callee = hash_mix(place->callee, place->interface);
    uint64_t key = hash_mix(hash_mix(place->caller, callee), place->try);
    uint32_t at = map_index(&st->site_of, key, st->sites.n);
    if (at == st->sites.n) {
        uint32_t number = map_index(&st->caller_of, place->caller, st->callers);
        st->callers += number == st->callers;
        vec_push(&st->sites, (struct stock_site){.caller = number});
    }
    return at;
}

static uint32_t stock_spot(struct stock *st, uint32_t request, uint32_t site)
{
    uint32_t at = map_index(&st->spot_of, pair(request, site), st->spots.n);
    if (at == st->spots.n) {
        vec_push(&st->spots, (struct stock_spot){.request = request, .site = site});
        vec_push(&st->requests.at[request].spots, at);
        vec_push(&st->sites.at[site].spots, at);
    }
    return at;
}

uint32_t stock_shelf(struct stock *st, const struct stock_place *place)
{
    uint32_t request = stock_request(st, place->scenario, place->request);
    uint32_t site = stock_site(st, place);
    uint32_t spot = stock_spot(st, request, site);
    uint32_t at = map_index(&st->shelf_of, pair(spot, place->mode), st->shelves.n);
    if (at == st->shelves.n) {
        vec_push(&st->shelves, (struct stock_shelf){.spot = spot, .mode = place->mode});
        vec_push(&st->spots.at[spot].shelves, at);
        st->requests.at[request].shelves++;
    }
    return at;
}

/* ---- items ---- */

static bool sooner(const struct stock_item *a, const struct stock_item *b)
{
    return a->score != b->score ? a->score < b->score : a->number < b->number;
}

static void sift_up(struct stock_item *heap, uint32_t i)
{
    for (uint32_t up; i > 0 && sooner(&heap[i], &heap[up = (i - 1) / 2]); i = up) {
        struct stock_item item = heap[i];
        heap[i] = heap[up];
        heap[up] = item;
    }
}

static void sift_down(struct stock_item *heap, uint32_t n, uint32_t i)
{
    for (uint32_t down; (down = 2 * i + 1) < n; i = down) {
        if (down + 1 < n && sooner(&heap[down + 1], &heap[down]))
            down++;
        if (!sooner(&heap[down], &heap[i]))
            return;
        struct stock_item item = heap[i];
        heap[i] = heap[down];
        heap[down] = item;
    }
}

static void count(struct stock *st, uint32_t shelf, uint32_t more)
{
    struct stock_spot *spot = &st->spots.at[st->shelves.at[shelf].spot];
    struct stock_request *request = &st->requests.at[spot->request];
    spot->queued += more;
    request->queued += more;
    st->scenarios.at[request->scenario].queued += more;
}

/* The shelf has become fresh, or (more: -1) it is not any longer. */
static void count_fresh(struct stock *st, uint32_t shelf, uint32_t more)
{
    struct stock_spot *spot = &st->spots.at[st->shelves.at[shelf].spot];
    spot->fresh += more;
    st->sites.at[spot->site].fresh += more;
}

void stock_put(struct stock *st, uint32_t shelf, struct frontier_item item, uint64_t key,
               uint32_t score)
{
    struct stock_shelf *s = &st->shelves.at[shelf];
    vec_push(&s->heap, (struct stock_item){item, key, score, st->numbers++});
    sift_up(s->heap.at, s->heap.n - 1);
    count(st, shelf, 1);
    if (s->heap.n == 1 && shelf_fresh(s))
        count_fresh(st, shelf, 1);
}

void stock_tried(struct stock *st, uint32_t shelf)
{
    struct stock_shelf *s = &st->shelves.at[shelf];
    struct stock_spot *spot = &st->spots.at[s->spot];
    if (shelf_fresh(s))
        count_fresh(st, shelf, UINT32_MAX);
    st->requests.at[spot->request].tried += s->tried++ == 0;
    st->sites.at[spot->site].tried++;
}

static void remove_at(struct stock *st, uint32_t shelf, uint32_t i)
{
    struct stock_shelf *s = &st->shelves.at[shelf];
    stock_tried(st, shelf);
    s->heap.at[i] = vec_last(&s->heap);
    s->heap.n--;
    if (i < s->heap.n) {
        sift_up(s->heap.at, i);
        sift_down(s->heap.at, s->heap.n, i);
    }
    count(st, shelf, UINT32_MAX); /* one less */
}

struct frontier_item stock_first(const struct stock *st, uint32_t shelf)
{
    return st->shelves.at[shelf].heap.at[0].item;
}

struct frontier_item stock_pop(struct stock *st, uint32_t shelf)
{
    struct frontier_item item = stock_first(st, shelf);
    remove_at(st, shelf, 0);
    return item;
}

bool stock_take(struct stock *st, uint32_t shelf, uint64_t key, struct frontier_item *out)
{
    const struct stock_shelf *s = &st->shelves.at[shelf];
    for (uint32_t i = 0; i < s->heap.n; i++)
        if (s->heap.at[i].key == key) {
            *out = s->heap.at[i].item;
            remove_at(st, shelf, i);
            return true;
        }
    return false;
}

void stock_clear(struct stock *st, uint32_t scenario)
{
    while (st->scenarios.n <= scenario)
        vec_push(&st->scenarios, (struct stock_scenario){0});
    for (uint32_t i = 0; i < st->shelves.n; i++)
        if (shelf_request(st, i)->scenario == scenario) {
            if (shelf_fresh(&st->shelves.at[i]))
                count_fresh(st, i, UINT32_MAX);
            count(st, i, -st->shelves.at[i].heap.n);
            vec_deinit(&st->shelves.at[i].heap);
        }
}
