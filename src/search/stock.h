/* SPDX-License-Identifier: Apache-2.0
 *
 * The stock: what is queued in all searches of a suite, so that something like a given item is found
 * at once. A shelf holds what has the same four attributes:
 *
 *   scenario > request of its client > site (who calls whom by which interface) > mode
 *
 * which are those of an item's last fault: the others only lead to it. Of one shelf the item with
 * the lowest score comes first, equal ones in the order in which they came. Scenarios, requests and
 * sites count what is queued below them; nothing but items is ever taken away.
 *
 * A shelf that has items and gave none is fresh: nothing with these attributes was run. */
#ifndef OUTFOX_SEARCH_STOCK_H
#define OUTFOX_SEARCH_STOCK_H

#include "search/frontier.h"

#define STOCK_NONE UINT32_MAX

/* Where a fault is, and how it fails: what shelves are for. */
struct stock_place {
    uint32_t scenario; /* its seat in the suite */
    uid request;       /* of the client, under which it lies */
    sym caller, callee, interface;
    uint32_t try; /* which of several, from 0: each is a site of its own */
    mode mode;
};

struct stock_shelf {
    uint32_t spot;
    mode mode;
    uint32_t tried; /* items that it gave */
    VEC(struct stock_item {
        struct frontier_item item;
        uint64_t key; /* of its faultload */
        uint32_t score;
        uint32_t number;
    })
    heap;
};

/* A site within a request. */
struct stock_spot {
    uint32_t request, site;
    uint32_t queued;
    uint32_t fresh; /* its shelves that have items and gave none */
    VEC(uint32_t) shelves;
};

struct stock_request {
    uint32_t scenario;
    uint64_t kind; /* equal for requests that bring about the same calls; 0: not known */
    uint32_t queued;
    uint32_t shelves, tried; /* how many there are below it, and how many of them gave an item */
    VEC(uint32_t) spots;
};

struct stock_site {
    uint32_t caller;     /* its number among the callers of all sites */
    uint32_t fresh;      /* of all its spots */
    uint32_t tried;      /* items that they gave */
    VEC(uint32_t) spots; /* in all requests of all scenarios */
};

struct stock_scenario {
    uint32_t queued;
    VEC(uint32_t) requests;
};

struct stock {
    VEC(struct stock_scenario) scenarios;
    VEC(struct stock_request) requests;
    VEC(struct stock_site) sites;
    VEC(struct stock_spot) spots;
    VEC(struct stock_shelf) shelves;
    uint32_t callers;      /* how many */
    uint32_t numbers;      /* given to items */
    struct map request_of, /* (scenario, request) */
        site_of,           /* (caller, callee, interface, try) */
        spot_of,           /* (request, site) */
        shelf_of,          /* (spot, mode) */
        caller_of;         /* sym */
};

void stock_deinit(struct stock *st);

/* There is a scenario of this number, and nothing is queued in it. */
void stock_clear(struct stock *st, uint32_t scenario);

/* The numbers of these; made when they are new. */
uint32_t stock_request(struct stock *st, uint32_t scenario, uid request);
uint32_t stock_site(struct stock *st, const struct stock_place *place);
uint32_t stock_shelf(struct stock *st, const struct stock_place *place);

/* key: faultload_key of the item's. */
void stock_put(struct stock *st, uint32_t shelf, struct frontier_item item, uint64_t key,
               uint32_t score);

/* The first item of a shelf that has any, and the same taken away. */
struct frontier_item stock_first(const struct stock *st, uint32_t shelf);
struct frontier_item stock_pop(struct stock *st, uint32_t shelf);

/* Takes an item with this key away. False: there is none on this shelf. */
bool stock_take(struct stock *st, uint32_t shelf, uint64_t key, struct frontier_item *out) MUST_USE;

/* A test with the attributes of this shelf was made, of something that was not on it. */
void stock_tried(struct stock *st, uint32_t shelf);

/* All that is above a shelf. */
static inline const struct stock_spot *shelf_spot(const struct stock *st, uint32_t shelf)
{
    return &st->spots.at[st->shelves.at[shelf].spot];
}

static inline const struct stock_request *shelf_request(const struct stock *st, uint32_t shelf)
{
    return &st->requests.at[shelf_spot(st, shelf)->request];
}

static inline bool shelf_fresh(const struct stock_shelf *s)
{
    return s->heap.n > 0 && s->tried == 0;
}

#endif
