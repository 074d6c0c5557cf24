/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of sim/: the program that a file is compiled into. Everything lives in sim.arena and does not change
 * after loading, except for the caches and the state at the end of struct sim.
 *
 *   load.c  load_step.c  expr.c  target.c     file -> program
 *   check.c                                   calls that go in circles
 *   exec.c  expr.c                            program -> trace */
#ifndef OUTFOX_SIM_SIM_INT_H
#define OUTFOX_SIM_SIM_INT_H

#include "base/rng.h"
#include "core/interface.h"
#include "sim/sim.h"

enum {
    SIM_DEPTH_MAX = 64,      /* calls below each other */
    SIM_CALLS_MAX = 100000,  /* calls in one run */
    SIM_STEPS_MAX = 1000000, /* steps in one run */
    EXPR_DEPTH_MAX = 64,
};

#define SIM_LATENCY_NS 1000000  /* an answer takes 1ms unless the service says otherwise */
#define SIM_HOLD_NS    60000000000 /* how long `hold` holds a caller without a timeout */

/* ---- values and conditions ---- */

enum expr_op {
    EX_CONST, /* constant */
    EX_REF,   /* ref */
    EX_TEXT,  /* the parts, joined */
    EX_LIST,  /* the parts, as a list */
    EX_MAP,   /* the parts, under the keys of constant (a map) */
    EX_NOT, EX_AND, EX_OR, EX_EQ, EX_NE, EX_LT, EX_LE, EX_GT, EX_GE, EX_IN,
};

enum ref_kind {
    REF_VALUE,   /* slot: a path parameter or variable */
    REF_ANSWER,  /* slot, field: the answer to a call */
    REF_PAYLOAD, /* the request's body */
    REF_STATE,   /* service, slot */
    REF_RANDOM, REF_TIME,
    REF_STATUS, REF_BODY, /* what the client received (scenarios only) */
    REF_FAULTS,           /* faults that fired; service: into that one, or UINT32_MAX */
};

enum answer_field {
    ANS_STATUS, ANS_BODY, ANS_OK, ANS_FAILED, ANS_ERROR, ANS_CONN, ANS_TIMEOUT, ANS_JSON, ANS_CALLED,
    ANS_FIELDS
};

struct ref {
    enum ref_kind kind;
    enum answer_field field;
    uint32_t service, slot;
    slice path; /* into the value, "a/0/b" */
};

struct expr {
    enum expr_op op;
    uint32_t n;
    const struct node *constant;
    struct ref ref;
    struct expr **part; /* operands of EX_NOT ... EX_IN too */
};

/* The names that an expression may use. */
struct scope {
    struct sim *sim;
    struct endpoint *endpoint; /* NULL in a scenario */
    uint32_t service;          /* whose endpoint it is */
};

/* ---- steps ---- */

enum oset_bits { OSET_OK = 1, OSET_FAILED = 2, OSET_ERROR = 4, OSET_CONN = 8, OSET_TIMEOUT = 16, OSET_ANY = 32 };

/* A set of outcomes: `failed`, "404, 5xx" ... */
struct oset {
    uint32_t bits;    /* oset_bits */
    uint32_t classes; /* bit 4: 4xx */
    uint32_t n;
    outcome *exact;
};

struct steps {
    uint32_t n;
    struct step *at;
};

struct on_rule {
    struct oset when;
    struct steps steps;
};

struct on_rules {
    uint32_t n;
    struct on_rule *at;
};

/* NAME/field = value, or += value */
struct assign {
    bool state; /* slot is one of the service's, not of the handler's */
    uint32_t slot;
    slice path;
    struct expr *value;
};

enum step_kind {
    STEP_CALL, STEP_PARALLEL, STEP_IF, STEP_EACH, STEP_SET, STEP_ADD, STEP_SLEEP, STEP_CHOOSE,
    STEP_SHUFFLE, STEP_REPLY,
    STEP_KINDS
};

#define SLOT_NONE UINT32_MAX

struct step {
    enum step_kind kind;
    uint32_t line, col;
    struct expr *value;     /* call: target; if: condition; each: list; reply: status */
    struct expr *body;      /* call: payload; reply: body. NULL: none */
    uint32_t slot;          /* call, each: the name, or SLOT_NONE */
    int64_t ns;             /* sleep; call: timeout (0: none) */
    struct {
        uint32_t times;
        int64_t delay_ns;
        struct oset on;
    } retry;
    struct on_rules on;     /* call, parallel */
    bool background;        /* call */
    bool first_error;       /* parallel */
    struct steps then, other; /* if; each: then; shuffle: then */
    uint32_t n_branches;    /* parallel, choose */
    struct steps *branch;
    uint32_t n_assigns;
    struct assign *assign;  /* set, add */
};

/* ---- services ---- */

struct endpoint {
    slice text;      /* as in the file */
    slice method;    /* "" for gRPC */
    uint32_t n_segments;
    slice *segment;  /* of the path; {name} for a parameter */
    uint32_t n_slots;
    struct slot_name {
        slice name;
        bool answer; /* names a call's answer, not a value */
    } *slot;         /* parameters first */
    uint32_t n_params;
    struct steps steps;
    uint32_t line, col;
};

struct service {
    slice name;
    sym sym;
    bool external;
    outcome external_reply;
    int64_t latency_ns;
    uint32_t n_endpoints;
    struct endpoint *endpoint;
    const struct node *state; /* a map of initial values, or NULL */
    uint32_t line, col;
};

struct rule {
    struct expr *when; /* NULL: always */
    struct expr *then;
    const char *say;
};

struct scenario {
    slice name;
    struct expr *request, *payload; /* payload may be NULL */
    uint32_t n_rules;
    struct rule *rule;
    uint32_t line, col;
};

/* Where a call goes; found once per text and kept. */
struct target {
    uint32_t service;                /* UINT32_MAX: nobody of that name, the connection is refused */
    sym interface;
    const struct endpoint *endpoint; /* NULL: no such endpoint, 404 */
    const struct node **param;
    uint32_t n_params;
};

struct sim {
    struct arena arena;
    struct names *names;
    struct rewrite *rewrite;
    slice name;
    const struct node *data;
    bool name_payload, name_before, keep_state;
    uint32_t n_modes;
    mode *modes;
    uint32_t n_services;
    struct service *service;
    uint32_t n_scenarios;
    struct scenario *scenario;

    /* caches and what is left from run to run */
    VEC(struct target) targets;
    struct map target_of;           /* sym of the text -> targets */
    const struct node ***state;     /* [service][slot] */
    struct arena run_arena;
    struct arena state_arena[2];    /* keep-state: the values before and after a run */
};

/* ---- expr.c ---- */

/* A value with {references} in its strings. */
int expr_value(const struct scope *scope, const struct node *node, struct expr **out, struct err *e) MUST_USE;

/* A condition. */
int expr_condition(const struct scope *scope, const struct node *node, struct expr **out,
                   struct err *e) MUST_USE;

struct slot {
    const struct node *value; /* or the answer's body */
    outcome seen;
    bool called;
};

/* What expressions are evaluated in. */
struct env {
    struct sim *sim;
    struct rng *rng;
    int64_t now_ns;
    struct slot *slot;          /* of the handler */
    const struct node *payload;
    const struct node *body;    /* scenario: what the client received */
    outcome status;
    const struct trace *trace;  /* scenario: what happened */
};

const struct node *expr_eval(const struct expr *ex, struct env *env);
bool expr_true(const struct expr *ex, struct env *env);

/* Text of a value as part of a path or a text. */
slice node_as_text(const struct node *node, struct arena *a);

/* ---- oset.c ---- */
int oset_parse(slice text, struct arena *a, struct oset *out, struct err *e) MUST_USE;
bool oset_has(const struct oset *set, outcome o);

/* "503" or "grpc:5" */
int outcome_parse(slice text, outcome *out, struct err *e) MUST_USE;

/* ---- target.c ---- */

/* "SERVICE METHOD /path", "SERVICE package.Service/Method" or "METHOD http://SERVICE/path". */
const struct target *target_find(struct sim *sim, slice text);
uint32_t service_find(const struct sim *sim, slice name);
uint32_t state_find(const struct service *service, slice name);
void endpoint_split(struct arena *a, slice text, struct endpoint *out);

/* Could this pattern ({...} stands for anything) be answered by this endpoint? */
bool endpoint_may_match(const struct endpoint *endpoint, slice pattern);

/* ---- load_step.c ---- */
int steps_load(const struct scope *scope, const struct node *node, bool may_reply,
               struct steps *out, struct err *e) MUST_USE;

/* The names that steps give to answers and variables. */
int steps_names(const struct node *node, struct sim *sim, struct endpoint *endpoint, struct err *e) MUST_USE;

/* ---- load.c ---- */

/* Every key of the map is among the n allowed ones? `what` says in whose map. */
int keys_check(const struct node *map, const char *const *allowed, size_t n, const char *what,
               struct err *e) MUST_USE;
int name_check(slice name, uint32_t line, uint32_t col, const char *what, struct err *e) MUST_USE;
int duration_load(const struct node *node, const char *what, int64_t *out, struct err *e) MUST_USE;

/* ---- check.c ---- */

/* Unknown services and endpoints in calls; calls that go in circles. */
int sim_check(const struct sim *sim, struct err *e) MUST_USE;

#endif
