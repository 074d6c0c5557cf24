/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways to harm a system as a whole: one row each. An injector is a pure function from an event and
 * a node to what is to be done, in three kinds:
 *
 *   INJECT_PROCESS  the node itself: it is ended, and started again when the fault ends
 *   INJECT_SCRIPT   a command begins it, another one undoes it. The undo is idempotent: it may be
 *                   run twice, and by somebody else after a crash
 *   INJECT_HOLD     a command that lasts as long as the fault does, and ends with it */
#ifndef OUTFOX_PLAN_INJECTOR_H
#define OUTFOX_PLAN_INJECTOR_H

#include "plan/plan.h"

enum inject_kind { INJECT_PROCESS, INJECT_SCRIPT, INJECT_HOLD };

/* What an event can say on top of its type. */
enum inject_key {
    INJECT_TARGET = 1,
    INJECT_START = 2,
    INJECT_UNDO = 4,
    INJECT_PATH = 8,
    INJECT_SIZE = 16,
    INJECT_COUNT = 32,
};

struct inject_order {
    int signal;             /* INJECT_PROCESS */
    struct buf start, undo; /* for /bin/sh -c; undo empty: nothing is left */
};

struct injector {
    const char *name;
    enum inject_kind kind;
    uint32_t needs, may; /* bits of inject_key: must be said, may be said */
    bool momentary;      /* over when it was done: it has no duration */
    const char *verb;    /* "freezes", for people; what follows is its target */
    const char *tools;   /* commands that it needs, separated by blanks */
    const char *blast;   /* what else it touches; NULL: nothing but the node */
    const char *about;   /* one sentence */
    void (*order)(const struct plan_event *e, int64_t pid, struct inject_order *out);
};

extern const struct injector injectors[];
extern const size_t n_injectors;

/* The row of this name, or NULL. */
const struct injector *injector_find(slice name);

/* What is to be done to the node whose process group this is (0: there is none). */
void injector_order(const struct plan_event *e, int64_t pid, struct inject_order *out);
void inject_order_deinit(struct inject_order *o);

/* "freezes redis1, redis2": the event in words, with its target as it was written. */
void injector_describe(const struct plan_event *e, struct buf *out);

#endif
