/* SPDX-License-Identifier: Apache-2.0
 *
 * pattern: which calls people mean, written by hand.
 *
 *   payment POST /charge                  that call, wherever it comes from
 *   payment                               any call to that service
 *   cart GET *                            any path; /car* would be: any that starts so
 *   * GET *                               any call of this method, to whatever service
 *   checkout * > payment *                what checkout calls of payment, itself
 *   payment > shipping POST /ship         from any interface of payment, however often called
 *   a > * > b POST /x                     below a, however deep
 *   payment POST /charge #1 : reset       the second of equal siblings, failing in this mode
 *
 * `*` stands for any service, any interface or (in #*) any n; a lone `*` between `>` for any path,
 * also an empty one; a lone service for anything that is called of it. A pattern that does not
 * start at the scenario's own request is taken to start with `* >`. {payload} and ^predecessors
 * match when they are left out. */
#ifndef OUTFOX_CORE_PATTERN_H
#define OUTFOX_CORE_PATTERN_H

#include "base/vec.h"
#include "core/mode.h"
#include "core/names.h"

struct pattern_step {
    struct element element;
    bool any_path; /* a lone `*`; element means nothing then */
};

struct pattern {
    VEC(struct pattern_step) steps; /* the first is `*` */
    mode mode;                      /* MODE_NONE: not given */
};

enum pattern_kind {
    PATTERN_FAULT, /* ": MODE" must follow; without #n the first of equal siblings is meant */
    PATTERN_CALLS, /* ": MODE" may follow; without #n all of them are; a lone service is enough */
};

/* Reads all of the text. *out is zero-initialised; -1 with *e leaves it to pattern_deinit too. */
int pattern_parse(struct pattern *out, struct names *names, enum pattern_kind kind, slice text,
                  struct err *e) MUST_USE;
void pattern_deinit(struct pattern *p);

/* Is this call meant? Its mode is not looked at. */
bool pattern_matches(const struct pattern *p, const struct names *names, uid u);

#endif
