/* SPDX-License-Identifier: Apache-2.0
 *
 * The first plan of a system, from what is known of it. It has comments that teach, and what is
 * written is a plan that can be checked. */
#ifndef OUTFOX_PLAN_STARTER_H
#define OUTFOX_PLAN_STARTER_H

#include "plan/plan.h"

struct plan_starter {
    struct arena arena;
    slice name;
    VEC(struct plan_starter_node) nodes;
    struct text_pairs clients; /* name and command */
    slice compose;             /* a compose file whose containers are harmed; empty: none */
    struct texts containers;   /* its services */
};

struct plan_starter_node {
    slice name, command, ready; /* ready: empty, not known */
};

/* NAME=COMMAND. 0, or -1 with *e. */
int plan_starter_node(struct plan_starter *s, slice text, struct err *e) MUST_USE;

/* A client that is run again and again. Without a name, or with one that cannot be one, it is made. */
void plan_starter_client(struct plan_starter *s, slice name, slice command);

/* The services of a compose file become containers that are paused and killed. */
int plan_starter_compose(struct plan_starter *s, const char *path, struct err *e) MUST_USE;

/* The file. 0, or -1 with *e: what was told does not make a plan. */
int plan_starter_text(struct plan_starter *s, struct buf *out, struct err *e) MUST_USE;
void plan_starter_deinit(struct plan_starter *s);

#endif
