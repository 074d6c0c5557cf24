/* SPDX-License-Identifier: Apache-2.0
 *
 * One handler of a simulated service at work in a real world: it is given a request, and makes its
 * calls, waits and keeps its state through a `struct sim_world`. Everything here may be used by any
 * number of threads at once: a loaded system does not change.
 *
 * 1. A world's functions are called by several threads at once only from the jobs of `parallel`.
 * 2. What lives in the request's arenas lives until every job of the request has ended. */
#ifndef OUTFOX_SIM_HANDLER_H
#define OUTFOX_SIM_HANDLER_H

#include "sim/sim.h"

/* One try of a call. */
struct sim_call {
    uint32_t caller, callee; /* services; callee UINT32_MAX: whoever is at `host` */
    slice host;              /* HOST:PORT of a URL, when nobody of the system has that name */
    slice method;            /* "" for gRPC */
    slice path;              /* with the query; package.Service/Method for gRPC */
    const struct node *payload;
    slice key;          /* idempotency key; empty: none */
    int64_t timeout_ns; /* 0: none */
    bool background;    /* to be made, but not to be waited for; the answer means nothing */
};

struct sim_world {
    /* Makes a call and returns what is seen of it. The body lives in `a`. */
    outcome (*call)(void *ctx, const struct sim_call *call, struct arena *a,
                    const struct node **body);
    void (*sleep)(void *ctx, int64_t ns);

    /* Has job(arg, i) done for all i < n at the same time. Returns when all of them have returned,
     * and with `first_error` as soon as one has returned false and so have all before it returned.
     * The index of the first that returned false, or UINT32_MAX. */
    uint32_t (*parallel)(void *ctx, uint32_t n, bool first_error,
                         bool (*job)(void *arg, uint32_t i), void *arg);

    /* An arena of the request for one more thread. */
    struct arena *(*arena)(void *ctx);

    /* The state of a service, by slot, until state_end: nobody else reads or changes it meanwhile.
     * state_end takes a copy of the value in a slot that was set; UINT32_MAX: none was. The thread
     * that has begun may begin again. */
    const struct node **(*state_begin)(void *ctx, uint32_t service);
    void (*state_end)(void *ctx, uint32_t service, uint32_t slot);
};

struct sim_request {
    uint32_t service;
    slice method; /* "" for gRPC */
    slice path;   /* without the query, percent-encoded; package.Service/Method for gRPC */
    const struct node *payload;
    uint64_t seed; /* for random, time, choose and shuffle */
};

/* Has the request handled. 0 with the answer, whose body lives as long as the request; or -1 with
 * *e when the handler passes a bound. */
int sim_handle(const struct sim *sim, const struct sim_world *world, void *ctx,
               const struct sim_request *request, outcome *reply, const struct node **body,
               struct err *e) MUST_USE;

/* A path as it is written in a request: what is no plain byte of a URL as %XX. May be the path
 * itself. */
slice sim_path_encode(struct arena *a, slice path);

#endif
