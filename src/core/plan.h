/* SPDX-License-Identifier: Apache-2.0
 *
 * plan: what decides, for each call of one run, whether and how it fails. It holds a faultload of
 * exact points, found in constant time, and patterns that people write by hand:
 *
 *   payment POST /charge : 503            that call, wherever it comes from
 *   * > payment POST /charge #* : 503     the same, and every repetition of it
 *   checkout * > payment * #1 : reset     checkout's second call to any interface of payment
 *   payment > shipping POST /ship : 503   from any interface of payment, however often called
 *   * * #* : delay:2s                     every call
 *   cart GET * : 503                      any path; /car* would be: any that starts so
 *
 * `*` stands for any service, any interface or (in #*) any n; a lone `*` between `>` for any path,
 * also an empty one; a lone service for anything that is called of it. A pattern that does not
 * start at the scenario's own request is taken to start with `* >`. {payload} and ^predecessors
 * match when they are left out. The text of a point, as reports print it, means just that point.
 * Exact points win over patterns, earlier patterns over later ones. A plan does not change while a
 * run uses it. */
#ifndef OUTFOX_CORE_PLAN_H
#define OUTFOX_CORE_PLAN_H

#include "core/fault.h"

struct plan_step {
    struct element element;
    bool any_path; /* a lone `*`; element means nothing then */
};

struct plan_pattern {
    uint32_t first, n; /* its steps, in plan.steps */
    mode mode;
    uid exact;      /* a full path from the scenario's request: this point and no other; else 0 */
    uint32_t fired; /* how many calls it matched */
};

struct plan {
    VEC(mode) exact; /* by uid; MODE_NONE: no fault */
    VEC(uid) set;    /* the uids that are set in exact */
    bool any_n;      /* a point with n = N_ANY is among them */
    VEC(struct plan_step) steps;
    VEC(struct plan_pattern) patterns;
    sym star; /* the symbol `*` */
};

void plan_init(struct plan *plan, struct names *names);
void plan_deinit(struct plan *plan);

/* Replaces the exact part. */
void plan_set(struct plan *plan, const struct names *names, const struct faultloads *fl,
              faultload f);

/* Adds a pattern from its text. One that is the canonical text of a point below `request` (the
 * scenario's own; UID_NONE: not known) means that point and no other. */
int plan_add(struct plan *plan, struct names *names, uid request, slice text,
             struct err *e) MUST_USE;

/* The mode for this call or MODE_NONE; *by is the point that matched (u itself for a pattern). */
mode plan_find(struct plan *plan, struct names *names, uid u, uid *by);

#endif
