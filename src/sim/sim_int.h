/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of sim/: what its files offer each other.
 *
 *   load.c  load_step.c  expr_parse.c    file -> program (program_int.h)
 *   check.c                              calls that go nowhere or in circles
 *   target.c                             whom a call goes to
 *   exec.c  expr.c                       the interpreter of handlers, in one of two worlds:
 *   memory.c                             time is a number and a call is a recursion,
 *   handler.c                            both are real
 *   sim.c                                what a scenario asks for, and expects of a run */
#ifndef OUTFOX_SIM_SIM_INT_H
#define OUTFOX_SIM_SIM_INT_H

#include "base/clock.h"
#include "base/random.h"
#include "data/keys.h"
#include "sim/program_int.h"

struct sim_world;

/* Bounds: on a file, then on one run. */
enum {
    SIM_SERVICES_MAX = 10000,
    SIM_SCENARIOS_MAX = 10000, /* a search is kept for each of them */
    SIM_ENDPOINTS_MAX = 1000,  /* of a service */
    SIM_NAMES_MAX = 1000,      /* of answers and variables in a handler */
    EXPR_DEPTH_MAX = 64,
    EXPR_PAIRS_MAX = 1000,
    SIM_DEPTH_MAX = 64, /* calls below each other */
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

/* ---- load_step.c ---- */

/* The names that an expression may use. */
struct scope {
    struct sim *sim;
    struct endpoint *endpoint; /* NULL in a scenario */
    uint32_t service;          /* whose endpoint it is */
};

/* What the functions of rows know (struct keys_reader). */
struct loading {
    const struct scope *scope;
    bool may_reply;
    const struct node *step; /* the map of the step */
};
key_read read_value, read_condition; /* to a struct expr * */

int steps_load(const struct scope *scope, const struct node *node, bool may_reply,
               struct steps *out, struct err *e) MUST_USE;

/* The names that steps give to answers and variables. */
int steps_names(const struct node *node, struct sim *sim, struct endpoint *ep,
                struct err *e) MUST_USE;

/* Names of parameters, answers and variables. One that means something in every handler is refused;
 * `what` as of keys_name. */
uint32_t slot_of(const struct endpoint *ep, slice name);
int slot_add(struct sim *sim, struct endpoint *ep, slice name, bool answer, const char *what,
             uint32_t line, uint32_t col, struct err *e) MUST_USE;

/* "503" or "grpc:5" */
int outcome_parse(slice text, outcome *out, struct err *e) MUST_USE;

/* ---- expr_parse.c ---- */

/* A value with {references} in its strings. */
int expr_value(const struct scope *scope, const struct node *node, struct expr **out,
               struct err *e) MUST_USE;
int expr_condition(const struct scope *scope, const struct node *node, struct expr **out,
                   struct err *e) MUST_USE;

/* ---- check.c ---- */

/* Unknown services and endpoints in calls; calls that go in circles. */
int sim_check(const struct sim *sim, struct err *e) MUST_USE;

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

/* Sets t->endpoint to the one of t->service that answers this request, if there is one, and
 * t->param, which lives as long as the path and `a`. `decode`: the path is as it was sent, with %XX. */
void target_match(const struct sim *sim, struct arena *a, slice method, slice path, bool decode,
                  struct target *t);

/* The method and the segments of "METHOD /path" or "package.Service/Method". */
void endpoint_split(struct arena *a, slice text, struct endpoint *out);

/* Number of literal segments + 1, or 0 when the endpoint does not answer this request. If that is
 * not `known` in full, {...} in its path stands for anything. */
uint32_t endpoint_match(const struct endpoint *ep, const struct endpoint *request, bool known);
uint32_t state_find(const struct sim_service *service, slice name);

/* ---- expr.c ---- */

struct slot {
    const struct node *value; /* or the answer's body */
    outcome seen;
    bool called;
};

/* What expressions are evaluated in. */
struct env {
    bool overflow; /* a value became too large; the run must end */
    const struct sim *sim;
    struct arena *arena; /* of computed values */
    struct rng *rng;
    const struct node ***state; /* [service][slot]; NULL: `world` keeps it */
    const struct sim_world *world;
    void *world_ctx;
    int64_t now_ns;
    struct slot *slot; /* of the handler */
    const struct node *payload;
    const struct node *body; /* scenario: what the client received */
    outcome status;
    const struct trace *trace; /* scenario: what happened */
};

const struct node *expr_eval(const struct expr *ex, struct env *env);
bool expr_true(const struct expr *ex, struct env *env);

/* A list or map that was just filled; null (and overflow) when it is too large. */
const struct node *value_bounded(struct node *value, struct env *env);

/* Text of a value as part of a path or a text. */
slice node_as_text(const struct node *node, struct arena *a);

/* No connection, or one that broke. */
static inline bool outcome_is_conn(outcome o)
{
    enum outcome_kind k = outcome_kind(o);
    return k == OUT_REFUSED || k == OUT_RESET || k == OUT_CLOSED;
}

/* ---- exec.c ---- */

/* How a handler goes on after a step. */
enum flow { FLOW_ON, FLOW_REPLIED, FLOW_ABORT };

/* What all handlers of a run share. */
struct exec {
    const struct exec_ops *ops;
    struct rng rng;
    uint32_t steps;
    struct err *err;
};

/* A handler at work. */
struct frame {
    struct exec *exec;
    uint32_t service;
    uint32_t call; /* in memory: index of the call that it handles */
    uint32_t n_slots;
    struct env env;
    outcome last_seen; /* of the last call that it waited for: what a branch comes to */
    outcome reply;
    const struct node *body;
    VEC(uint32_t) children; /* in memory: calls that it made */
};

/* What a call asks for. Its tries ask the same. */
struct ask {
    slice target; /* SERVICE METHOD /path ... */
    const struct node *payload;
    slice key; /* its idempotency key; empty: none */
};

/* What a world must give the interpreter. */
struct exec_ops {
    /* One try of a call. */
    enum flow (*call)(struct frame *f, const struct step *step, const struct ask *ask,
                      struct slot *out);
    void (*pause)(struct frame *f, int64_t ns);

    /* Carries out the branches of a `parallel`: branch i starts with the frame's slots and leaves
     * its own in after[i * n_slots]. *failed: the first branch in the file that failed, or
     * UINT32_MAX, with its outcome in *seen. What the other branches left is there when none failed
     * or the step waits for all of them. */
    enum flow (*branches)(struct frame *f, const struct step *step, struct slot *after,
                          uint32_t *failed, outcome *seen);
};

/* A frame for the work of this endpoint, which begins at `now_ns`. Give its env the rest. */
void frame_init(struct frame *f, struct exec *exec, const struct target *t, struct arena *a,
                const struct node *payload);
enum flow run_steps(struct frame *f, const struct steps *steps);
enum flow abort_run(struct exec *exec, const char *what, int limit);

/* ---- sim.c ---- */

/* What the scenario's expectations say. */
void scenario_judge(const struct sim_scenario *sc, struct env *env, struct verdict *out);

#endif
