/* SPDX-License-Identifier: Apache-2.0
 *
 * The program that a file is compiled into: services with endpoints, endpoints with steps, steps
 * with expressions. Everything lives in sim.arena and does not change after loading, except for the
 * caches and the state at the end of struct sim. */
#ifndef OUTFOX_SIM_PROGRAM_INT_H
#define OUTFOX_SIM_PROGRAM_INT_H

#include "sim/sim.h"

/* ---- expressions ---- */

enum expr_op {
    EX_CONST, /* constant */
    EX_REF,   /* ref */
    EX_TEXT,  /* the parts, joined */
    EX_LIST,  /* the parts, as a list */
    EX_MAP,   /* the parts, under the keys of constant (a map) */
    EX_NOT,
    EX_AND,
    EX_OR,
    EX_EQ, /* this and the following compare two */
    EX_NE,
    EX_LT,
    EX_LE,
    EX_GT,
    EX_GE,
    EX_IN,
};

enum ref_kind {
    REF_VALUE,   /* slot: a path parameter or variable */
    REF_ANSWER,  /* slot, field: the answer to a call */
    REF_PAYLOAD, /* the request's body */
    REF_STATE,   /* service, slot */
    REF_RANDOM,
    REF_TIME,
    REF_STATUS,
    REF_BODY,   /* what the client received (scenarios only) */
    REF_FAULTS, /* faults that fired; service: into that one, or UINT32_MAX */
};

enum answer_field {
    ANS_STATUS,
    ANS_BODY,
    ANS_OK,
    ANS_FAILED,
    ANS_ERROR,
    ANS_CONN,
    ANS_TIMEOUT,
    ANS_JSON,
    ANS_CALLED,
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

/* ---- steps ---- */

/* In the order of the words for them. */
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
    uint32_t first_error;     /* parallel: 1 if it ends there */
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

struct rule {
    struct expr *when; /* NULL: always */
    struct expr *then;
    const char *say;
};

/* Where a call goes; found once per text and kept. */
struct target {
    uint32_t service; /* UINT32_MAX: nobody of that name, the connection is refused */
    sym interface;
    const struct endpoint *endpoint; /* NULL: no such endpoint, 404 */
    const struct node **param;
    uint32_t n_params;
};

#endif
