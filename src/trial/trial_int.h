/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this room share. */
#ifndef OUTFOX_TRIAL_TRIAL_INT_H
#define OUTFOX_TRIAL_TRIAL_INT_H

#include "trial/trial.h"

extern const struct keys trials_keys;

/* ---- variables in texts (variables.c) ---- */

enum variable_kind { VARIABLE_PORT, VARIABLE_DIR, VARIABLE_NODE };

struct variable {
    enum variable_kind kind;
    slice written; /* with its braces */
    slice node;    /* whose; empty: that which looks */
    slice name;    /* of a port */
};

/* Cuts the text up to the next variable off *rest to *before; false: there is none, and *before is
 * all of it. What only looks like one is text. */
bool variable_next(slice *rest, slice *before, struct variable *v);

/* Do all variables of a text mean something, seen from this node? *e at a place. */
int variables_check(const struct trials *t, uint32_t node, slice text, struct plan_place at,
                    struct err *e) MUST_USE;

#define FAIL(e, at, ...) err_set(e, (at).line, (at).col, __VA_ARGS__)

#endif
