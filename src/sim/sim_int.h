/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of sim/: what its files offer each other.
 *
 *   load.c  load_step.c  expr_parse.c  target.c     file -> program (program_int.h)
 *   check.c                                         calls that go nowhere or in circles
 *   exec.c  assign.c  expr.c                        the interpreter of handlers (exec_int.h)
 *   memory.c  act.c                                 its world in memory: program -> trace
 *   handler.c                                       its world outside: one handler, real calls
 *   judge.c                                         what the scenario expects of a run */
#ifndef OUTFOX_SIM_SIM_INT_H
#define OUTFOX_SIM_SIM_INT_H

#include "base/clock.h"
#include "data/keys.h"
#include "sim/expr_int.h"
#include "sim/program_int.h"

/* Bounds: on a file, then on one run. */
enum {
    SIM_SERVICES_MAX = 10000,
    SIM_ENDPOINTS_MAX = 1000, /* of a service */
    SIM_NAMES_MAX = 1000,     /* of answers and variables in a handler */
    SIM_DEPTH_MAX = 64,       /* calls below each other */
    SIM_CALLS_MAX = 10000,
    SIM_STEPS_MAX = 100000,
    SIM_BYTES_MAX = 64 << 20, /* of computed values */
    VALUE_DEPTH_MAX = 64,     /* of one computed value */
    VALUE_NODES_MAX = 10000,
    BODY_BYTES_MAX = 1 << 16, /* as how large an answer's body can count */
};

#define SIM_LATENCY_NS MS(1)       /* an answer takes 1ms unless the service says otherwise */
#define SIM_HOLD_NS    SECONDS(60) /* how long `hold` holds a caller without a timeout */
#define SIM_FAULT_NS   1000        /* how soon an injected failure is there */

/* Time stops in the far future rather than overflow. */
static inline int64_t later(int64_t now_ns, int64_t by_ns)
{
    return now_ns > INT64_MAX / 2 ? now_ns : now_ns + by_ns;
}

/* ---- oset.c ---- */
int oset_parse(slice text, struct arena *a, struct oset *out, struct err *e) MUST_USE;
bool oset_has(const struct oset *set, outcome o);

/* "503" or "grpc:5" */
int outcome_parse(slice text, outcome *out, struct err *e) MUST_USE;

/* ---- target.c ---- */

/* "SERVICE METHOD /path", "SERVICE package.Service/Method" or "METHOD http://SERVICE/path". */
const struct target *target_find(struct sim *sim, slice text);

/* The parts of such a text. */
struct target_text {
    slice service; /* or the host of a URL */
    bool url;
    slice method; /* "" for gRPC */
    slice path;   /* with the query; package.Service/Method for gRPC */
};
bool target_split(slice text, struct target_text *out);

/* The text of a call with {} for what is not known before a run. */
slice target_pattern(struct arena *a, const struct expr *target);

/* Finds the endpoint of t->service that answers the request, and its parameters. */
void endpoint_match(const struct sim *sim, struct arena *a, const struct endpoint *request,
                    struct target *t);
uint32_t service_find(const struct sim *sim, slice name);
uint32_t state_find(const struct service *service, slice name);
void endpoint_split(struct arena *a, slice text, struct endpoint *out);

/* Could this request, in whose path {...} stands for anything, be answered by this endpoint? */
bool endpoint_may_match(const struct endpoint *endpoint, const struct endpoint *request);

/* ---- assign.c ---- */

/* Carries out a step `set`, `add` or `append` of a handler of this service. */
void assign_run(struct env *env, uint32_t service, const struct step *step);

/* ---- act.c ---- */

/* What the caller gets at a call where a fault fires, instead of (or on top of) what the service
 * did: sets c->seen, c->end_ns and *body. They hold the service's own when it was reached; else
 * c->end_ns is when the request would have arrived. */
void fault_act(struct sim *sim, struct call *c, int64_t timeout_ns, const struct node **body);

/* ---- load_step.c ---- */
int steps_load(const struct scope *scope, const struct node *node, bool may_reply,
               struct steps *out, struct err *e) MUST_USE;

/* The names that steps give to answers and variables. */
int steps_names(const struct node *node, struct sim *sim, struct endpoint *ep,
                struct err *e) MUST_USE;

/* ---- load.c ---- */

/* What the functions of rows know (struct keys_reader). */
struct loading {
    const struct scope *scope;
    bool may_reply;
    const struct node *step; /* the map of the step */
};
key_read read_value, read_condition; /* to a struct expr * */

/* A name that people give, and not one that means something in every handler. */
int variable_check(slice name, uint32_t line, uint32_t col, const char *what,
                   struct err *e) MUST_USE;

/* ---- path.c ---- */

/* A segment with its %XX resolved; a % that begins none stays. */
slice path_decode(struct arena *a, slice s);

/* ---- judge.c ---- */
void scenario_judge(const struct scenario *sc, struct env *env, struct verdict *out);

/* ---- check.c ---- */

/* Unknown services and endpoints in calls; calls that go in circles. */
int sim_check(const struct sim *sim, struct err *e) MUST_USE;

#endif
