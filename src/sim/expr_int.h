/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and conditions: compiled once (expr_parse.c), evaluated in every run (expr.c). */
#ifndef OUTFOX_SIM_EXPR_INT_H
#define OUTFOX_SIM_EXPR_INT_H

#include "base/err.h"
#include "base/rng.h"
#include "core/mode.h"
#include "data/node.h"

struct sim;
struct endpoint;
struct trace;
struct sim_world;

enum { EXPR_DEPTH_MAX = 64, EXPR_PAIRS_MAX = 1000 };

enum expr_op {
    EX_CONST, /* constant */
    EX_REF,   /* ref */
    EX_TEXT,  /* the parts, joined */
    EX_LIST,  /* the parts, as a list */
    EX_MAP,   /* the parts, under the keys of constant (a map) */
    EX_NOT,
    EX_AND,
    EX_OR,
    EX_EQ,
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

/* The names that an expression may use. */
struct scope {
    struct sim *sim;
    struct endpoint *endpoint; /* NULL in a scenario */
    uint32_t service;          /* whose endpoint it is */
};

/* Text under compilation. */
struct source {
    const struct scope *scope;
    const struct node *node; /* whose text it is, for the position of errors */
    slice rest;
    struct err *err;
    int depth;
    int pairs; /* joined by operators so far */
};

/* Makers of expressions; they live as long as the system. */
struct expr *expr_new(const struct scope *scope, enum expr_op op, uint32_t n);
struct expr *expr_const(const struct scope *scope, const struct node *value);
struct expr *expr_text(const struct scope *scope, slice text);

/* Fails with "what "word"" at the source's place. */
int expr_fail(const struct source *src, const char *what, slice word);

/* head[.tail][/path] to what it refers to. */
int expr_resolve(const struct source *src, slice text, struct expr **out) MUST_USE;

/* A value with {references} in its strings. */
int expr_value(const struct scope *scope, const struct node *node, struct expr **out,
               struct err *e) MUST_USE;

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

/* A value of a service's state. */
const struct node *state_read(struct env *env, uint32_t service, uint32_t slot);

const struct node *expr_eval(const struct expr *ex, struct env *env);
bool expr_true(const struct expr *ex, struct env *env);

/* A list or map that was just filled; null (and overflow) when it is too large. */
const struct node *value_bounded(struct node *value, struct env *env);

/* Text of a value as part of a path or a text. */
slice node_as_text(const struct node *node, struct arena *a);

#endif
