/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulated systems, run in memory (the language: docs/simulated-systems.md). A run is a function
 * of the system, the scenario, the aim and the seed; time is virtual. */
#ifndef OUTFOX_SIM_SIM_H
#define OUTFOX_SIM_SIM_H

#include "base/index.h"
#include "core/aim.h"
#include "core/mode.h"
#include "core/trace.h"
#include "data/node.h"

struct endpoint;
struct expr;
struct known_ways;
struct rule;
struct target;

/* What is loaded. It is read here and everywhere else, and changed by nobody but sim. Texts end with
 * a NUL. */
struct sim_service {
    slice name;
    sym sym;
    bool external; /* outside of the system: it is not looked into */
    outcome external_reply;
    int64_t latency_ns;
    bool latency_given; /* in the file: it is waited for by real servers, too */
    uint32_t n_endpoints;
    struct endpoint *endpoint;
    const struct node *state; /* a map of initial values, or NULL */
    uint32_t line, col;
};

struct sim_scenario {
    slice name;
    struct expr *request, *payload; /* payload may be NULL */
    uint32_t n_rules;
    struct rule *rule;
    int64_t limit_ns; /* how long it may take under one fault; 0: not given */
    uint32_t line, col;
};

struct sim {
    const char *name;
    struct mode_list modes;   /* how its calls may fail */
    uint8_t speaks;           /* CALL_HTTP, CALL_GRPC or both */
    bool random;              /* chance plays a part: random, time, choose, shuffle */
    bool keep_state;          /* from run to run */
    bool name_payload;        /* is the payload part of a call's name? */
    bool name_before;         /* are the calls before it? */
    struct rewrite *rewrite;  /* the rules of `normalise`, by which its calls are named */
    const struct node *judge; /* the map of the key `judge`, which is read by the judge; or NULL */
    const struct node *data;  /* or NULL */
    uint32_t n_services, n_inside; /* all, and those that are not external */
    struct sim_service *service;
    uint32_t n_scenarios;
    struct sim_scenario *scenario;

    /* how it runs, see program_int.h */
    struct arena arena; /* of all that is loaded */
    struct names *names;
    struct map service_of; /* hash of its name -> service */

    /* caches and what is left from run to run */
    VEC(struct target) targets;
    struct map target_of; /* sym of the text -> targets */
    struct map equal; /* of the run: (handler, element without n) -> how many of its calls so far */
    const struct node ***state; /* [service][slot] */
    struct arena run_arena;
    struct arena state_arena[2]; /* keep-state: the values before and after a run */
};

/* Builds a system from its YAML. Names are interned in `names`, which outlives it. 0, or -1 with
 * *e. */
int sim_load(const struct node *root, struct names *names, struct sim **out,
             struct err *e) MUST_USE;
void sim_free(struct sim *sim);

/* The scenario of this name; the first when name is NULL; UINT32_MAX when there is none. */
uint32_t sim_scenario(const struct sim *sim, const char *name);

/* UINT32_MAX: there is none of this name. */
uint32_t sim_service_find(const struct sim *sim, slice name);

/* Could a handler of `caller` call `callee`? True as well where only a run can tell. */
bool sim_may_call(const struct sim *sim, uint32_t caller, uint32_t callee);

/* Adds all calls that its file has, each once; not those whose service only a run can tell. Texts are
 * in the arena. */
void sim_ways(const struct sim *sim, struct arena *a, struct known_ways *out);

/* ---- for runs that are made elsewhere ---- */

/* The scenario's own request: whom it goes to, its method ("" for gRPC), its path (with the query;
 * package.Service/Method for gRPC) and its body (empty: none). The texts live in `a`. The service
 * is UINT32_MAX when it goes to nobody. */
void sim_request_parts(const struct sim *sim, uint32_t scenario, struct arena *a, uint32_t *service,
                       slice *method, slice *target, slice *payload_json);

/* Do the scenario's expectations look at the state of services? */
bool sim_wants_state(const struct sim *sim, uint32_t scenario);

/* What the scenario's expectations say of a run: what the client saw and received (NULL: no body),
 * the calls with their faults, and the services' state afterwards, {service: {name: value}} (NULL:
 * as in the file). */
void sim_judge(const struct sim *sim, uint32_t scenario, outcome status, const struct node *body,
               const struct trace *trace, const struct node *state, struct verdict *out);

/* The scenario's own request. */
uid sim_request(struct sim *sim, uint32_t scenario);

/* One run. The trace is cleared first. The body that the client received is in *body until the next
 * run (body may be NULL). -1 with *e when the run is impossible: calls nest too deeply, or there
 * are too many. */
int sim_run(struct sim *sim, uint32_t scenario, struct aim *aim, uint64_t seed, struct trace *trace,
            struct verdict *verdict, const struct node **body, struct err *e) MUST_USE;

#endif
