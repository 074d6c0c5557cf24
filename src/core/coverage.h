/* SPDX-License-Identifier: Apache-2.0
 *
 * coverage: what the runs of one scenario have shown of a system. suite_coverage: what the scenarios
 * of a suite show together, what only one of them shows, and what none does.
 *
 *   call      caller, service, interface: between two services, so not what the client asks itself
 *   handler   service, interface, payload: the same in every scenario and at every place, as under
 *             the reduction `stateless`
 *   edge      a step of a handler: after these calls with these outcomes, this call with that
 *             outcome; or this reply
 *
 * 1. Only runs count that the search asked for and all faults of which fired: of another run it is
 *    not known what it is a run of.
 * 2. Whoever reaches a handler sees an edge of it, and whoever makes a call an edge of its caller. So a
 *    scenario all edges of which others show adds nothing to what is known.
 * 3. Edges are 64-bit hashes. A collision could hide one, never invent one.
 * 4. It follows from the runs alone: a campaign that is taken up, or reported again, has the same. */
#ifndef OUTFOX_CORE_COVERAGE_H
#define OUTFOX_CORE_COVERAGE_H

#include "core/event.h"

/* Bounds, of one scenario. Runs that show more are counted. */
enum {
    COVERAGE_EDGES_MAX = 1 << 18, /* 40 bytes each */
    COVERAGE_NAMES_MAX = 1 << 12, /* calls; handlers */
    SUITE_SHOWN_BY = 8 /* scenarios that are named as those that show what another does */
};

struct covered_call {
    sym caller, service, interface;
    bool usual;      /* a run without faults made it */
    uint64_t failed; /* runs in which a fault fired at it, */
    uint64_t last;   /* and the last of them that was counted, from 1 */
};

struct covered_handler {
    sym service, interface;
    uint32_t payload; /* 0: not part of its name */
    uint32_t edges;
};

struct coverage {
    const struct names *names;
    VEC(struct covered_call) calls;
    VEC(struct covered_handler) handlers;
    struct map call_at, handler_at; /* hash -> place; their items are in the order of places */
    struct map edges;               /* hash -> place of its handler */
    uint64_t runs;
    uint64_t left_out; /* runs that showed something for which there was no room */
    bool broken;       /* a run without faults failed: what it shows may be what is broken */
    bool client;       /* the first call of its runs stands for a command, which is no service */
    struct trace_order order;
    VEC(bool) reached; /* of a run, by call: handled, and so was all above it */
};

/* names: outlives it; of all scenarios of a suite the same. */
void coverage_init(struct coverage *c, const struct names *names);
void coverage_deinit(struct coverage *c);

/* EVENT_RUN adds a run that counts, EVENT_AGAIN forgets all; others are nothing to it. Of one
 * scenario. */
void coverage_event(struct coverage *c, const struct event *event);

/* How many of its calls were made to fail. */
uint32_t coverage_failed(const struct coverage *c);

/* ---- suites ---- */

/* A call that is known without any run: because the file says that a service has the address of
 * another, or because it says all that services do. */
struct known_way {
    slice caller, service, interface; /* in which * stands for anything; empty: not known */
};

/* To be used as a VEC. */
struct known_ways {
    struct known_way *at;
    uint32_t n, cap;
};

struct suite_facts {
    const char *const *services; /* all that there are */
    uint32_t n_services;
    struct known_ways ways;
};

/* What a scenario is to the others. */
struct suite_scenario {
    const struct coverage *shows;
    uint64_t only_edges; /* that no other shows */
    uint32_t only_calls, only_handlers;
    bool
        adds_nothing; /* those that are left show all its edges; no scenario that shows them is left
                          out, so that all of these can go at once */
    uint32_t n_shown_by;
    uint32_t shown_by[SUITE_SHOWN_BY]; /* places of scenarios; the first ones */
    bool shown_by_more;                /* there are others */
};

struct suite_call {
    struct covered_call call; /* over all of them */
    uint32_t scenarios;       /* that make it */
    uint64_t key;             /* in coverage.call_at */
    const struct names *names;
};

struct suite_handler {
    struct covered_handler handler;
    uint32_t scenarios; /* that reach it */
    uint64_t key;       /* in coverage.handler_at */
    const struct names *names;
};

struct suite_coverage {
    VEC(struct suite_scenario) scenarios;
    VEC(struct suite_call) calls;       /* in the order of their names */
    VEC(struct suite_handler) handlers; /* likewise */
    uint32_t failed;                    /* calls that were made to fail */
    uint64_t edges;
    VEC(const char *) services;     /* that no scenario reaches */
    VEC(struct known_way) not_made; /* of those that services which were reached could make */
    struct arena arena;             /* of their texts */
};

/* Compares n scenarios. *out refers to them, and to the names of services. */
void suite_cover(const struct coverage *const *list, uint32_t n, const struct suite_facts *facts,
                 struct suite_coverage *out);
void suite_coverage_deinit(struct suite_coverage *s);

#endif
