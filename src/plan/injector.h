/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways to harm a system as a whole: one row each. An injector is a pure function from an event and
 * a node to what is to be done, in these kinds:
 *
 *   INJECT_PROCESS  the node itself: it is ended, by a signal or a command, and started again when
 *                   the fault ends
 *   INJECT_SCRIPT   a command begins it, another one undoes it. The undo is idempotent: it may be
 *                   run twice, and by somebody else after a crash
 *   INJECT_DISK     the same, done to the node's own disk: it needs one, unless it has a path
 *   INJECT_HOLD     a command that lasts as long as the fault does, and ends with it
 *   INJECT_LINK     packets between members of the plan's network (lab/lan.h); it ends with us
 *   INJECT_NAMES    what its name server answers: the same
 *   INJECT_DOOR     connections or calls at a door (lab/doors.h); it ends with us */
#ifndef OUTFOX_PLAN_INJECTOR_H
#define OUTFOX_PLAN_INJECTOR_H

#include "plan/plan.h"

enum inject_kind {
    INJECT_PROCESS,
    INJECT_SCRIPT,
    INJECT_DISK,
    INJECT_HOLD,
    INJECT_LINK,
    INJECT_NAMES,
    INJECT_DOOR
};

struct inject_order {
    int signal;             /* INJECT_PROCESS; 0: `start` ends the node */
    struct buf start, undo; /* for /bin/sh -c; undo empty: nothing is left */
    slice node;             /* its name; empty: there is none */
    uint64_t seed;          /* of the plan */
};

struct injector {
    const char *name;
    enum inject_kind kind;
    const char *needs;     /* keys of the fault that must be there, separated by blanks */
    const char *may;       /* that may be there; in brackets: at least one of them must */
    bool momentary;        /* over when it was done: it has no duration */
    const char *verb;      /* "freezes", for people; what follows is its target */
    const char *tools;     /* commands that it needs, separated by blanks */
    const char *blast;     /* what else it touches; NULL: nothing but the node */
    const char *about;     /* one sentence */
    const char *untouched; /* it counts what met it, and this is said where nothing did; or NULL */
    void (*order)(const struct plan_event *e, int64_t pid, struct inject_order *out); /* or NULL */
};

extern const struct injector injectors[];
extern const size_t n_injectors;

/* The row of this name, or NULL. */
const struct injector *injector_find(slice name);

/* Does the fault have a target? Does it happen at a door? */
bool injector_aims(const struct injector *in);
bool injector_at_door(const struct injector *in);

/* The keys that the fault has but must not, or must have but has not: 0, or -1 with *e. */
int injector_check(const struct plan_event *ev, struct err *e) MUST_USE;

/* What is to be done to the node of this name, whose process group is pid (0: there is none). */
void injector_order(const struct plan_event *e, int64_t pid, slice node, uint64_t seed,
                    struct inject_order *out);
void inject_order_deinit(struct inject_order *o);

/* Its undo, so that it depends on nothing of ours: where it is run, and with which variables. */
void inject_order_settle(struct inject_order *o, slice dir, const struct text_pair *env,
                         uint32_t n_env);

/* "freezes redis1, redis2": the event in words, as it was written. */
void injector_describe(const struct plan_event *e, struct buf *out);

#endif
