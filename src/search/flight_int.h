/* SPDX-License-Identifier: Apache-2.0
 *
 * flight: a faultload on its way between search_next and search_observe. */
#ifndef OUTFOX_SEARCH_FLIGHT_INT_H
#define OUTFOX_SEARCH_FLIGHT_INT_H

#include "base/index.h"
#include "search/frontier.h"

/* Flights that are taken from the frontier, at most, in search of one that is observed without
 * having been given; and that are given ahead of their turn. More than runs of a campaign are ever
 * under way at once. */
enum { FLIGHTS_AHEAD = 128 };

struct flight {
    struct frontier_item item;
    enum search_purpose purpose;
    enum reduction audited; /* FOR_AUDIT: on whose behalf */
    uint32_t attempt;       /* how often it was observed without all its faults firing */
    bool running;           /* given; else it waits to be given, again or for the first time */
    bool stranger;          /* the search did not ask for it */
};

struct flights {
    VEC(struct flight) list; /* those that wait in the order in which they are to be given */
    VEC(faultload) ahead;    /* given before their turn; they are queued still */
    struct map early; /* key of a faultload -> how often it was observed and may still be queued */
};

#endif
