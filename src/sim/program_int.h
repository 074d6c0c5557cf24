/* SPDX-License-Identifier: Apache-2.0
 *
 * The program that a file is compiled into: services with endpoints, endpoints with steps, steps
 * with expressions. Everything lives in sim.arena and does not change after loading, except for the
 * caches and the state at the end of struct sim. */
#ifndef OUTFOX_SIM_PROGRAM_INT_H
#define OUTFOX_SIM_PROGRAM_INT_H

#include "base/index.h"
#include "base/rng.h"
#include "core/interface.h"
#include "sim/expr_int.h"
#include "sim/sim.h"

/* ---- steps ---- */

enum oset_bits {
    OSET_OK = 1,
    OSET_FAILED = 2,
    OSET_ERROR = 4,
    OSET_CONN = 8,
    OSET_TIMEOUT = 16,
    OSET_ANY = 32
};

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
    STEP_CALL,
    STEP_PARALLEL,
    STEP_IF,
    STEP_EACH,
    STEP_SET,
    STEP_ADD,
    STEP_APPEND,
    STEP_SLEEP,
    STEP_CHOOSE,
    STEP_SHUFFLE,
    STEP_REPLY,
    STEP_KINDS
};

#define SLOT_NONE UINT32_MAX

struct step {
    enum step_kind kind;
    uint32_t line, col;
    struct expr *value; /* call: target; if: condition; each: list; reply: status */
    struct expr *body;  /* call: payload; reply: body. NULL: none */
    struct expr *key;   /* call: idempotency key. NULL: none */
    uint32_t slot;      /* call, each: the name, or SLOT_NONE */
    int64_t ns;         /* sleep; call: timeout (0: none) */
    struct {
        uint32_t times;
        int64_t delay_ns;
        struct oset on;
    } retry;
    struct on_rules on;       /* call, parallel */
    bool background;          /* call */
    bool first_error;         /* parallel */
    struct steps then, other; /* if; each: then */
    uint32_t n_branches;      /* parallel, choose, shuffle */
    struct steps *branch;
    uint32_t n_assigns;
    struct assign *assign; /* set, add, append */
};

/* ---- services ---- */

struct endpoint {
    slice text;   /* as in the file */
    slice method; /* "" for gRPC */
    uint32_t n_segments;
    slice *segment; /* of the path; {name} for a parameter */
    uint32_t n_slots;
    struct slot_name {
        slice name;
        bool answer; /* names a call's answer, not a value */
    } * slot;        /* parameters first */
    uint32_t n_params;
    struct steps steps;
    const struct node *source; /* the steps, as in the file */
    uint32_t line, col;
};

struct service {
    slice name;
    sym sym;
    bool external;
    outcome external_reply;
    int64_t latency_ns;
    bool latency_given; /* in the file: it is waited for by real servers, too */
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
    int64_t limit_ns; /* 0: none */
    uint32_t line, col;
};

/* Where a call goes; found once per text and kept. */
struct target {
    uint32_t service; /* UINT32_MAX: nobody of that name, the connection is refused */
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
    const struct node *data, *judge; /* NULL: not there */
    bool name_payload, name_before, keep_state;
    bool random; /* something in it is drawn by lot */
    struct mode_list modes;
    uint32_t n_services;
    struct service *service;
    struct map service_of; /* by the symbol of its name */
    struct map equal; /* of the run: (handler, element without n) -> how many of its calls so far */
    uint32_t n_scenarios;
    struct scenario *scenario;

    /* caches and what is left from run to run */
    VEC(struct target) targets;
    struct map target_of;       /* sym of the text -> targets */
    const struct node ***state; /* [service][slot] */
    struct arena run_arena;
    struct arena state_arena[2]; /* keep-state: the values before and after a run */
};

#endif
