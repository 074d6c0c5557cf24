/* SPDX-License-Identifier: Apache-2.0
 *
 * dependency: a call that a service makes, and what becomes of the client's request when it fails.
 * Which try it is, and of which item of a loop, does not count: `call` is the path with the first
 * number everywhere. */
#ifndef OUTFOX_CORE_DEPENDENCY_H
#define OUTFOX_CORE_DEPENDENCY_H

#include "core/fault.h"

enum dep_kind {
    DEP_HARD,        /* when it fails, so does the request */
    DEP_CONDITIONAL, /* that depends: on the mode, or it is only called after a fault */
    DEP_SOFT,        /* its failure is absorbed */
    DEP_UNKNOWN,     /* it never failed alone */
    DEP_KINDS
};

/* What absorbs a failure. */
enum dep_by {
    DEP_BY_NOTHING, /* there was nothing to absorb: its caller did not see a failure */
    DEP_BY_VALUE,   /* the handler goes on without it, or with a value of its own */
    DEP_BY_OTHER,   /* another call is made instead */
    DEP_BY_RETRY,   /* it is called again */
    DEP_BYS
};

extern const char *const dep_kind_names[DEP_KINDS];
extern const char *const dep_by_names[DEP_BYS];

/* How one failure of it is met. */
struct dep_way {
    label label;
    bool lasting;   /* every call to it failed; else only such a failure was seen that passes */
    bool injected;  /* a fault fired at it; else it failed because of one below */
    bool fails;     /* the request */
    outcome status; /* what the client got */
    label above;    /* how its caller's own call then ended; 0: its caller is the first service */
    enum dep_by by; /* when the request does not fail */
    uid instead;    /* DEP_BY_OTHER: which call */
    uid at;         /* the call whose handler absorbs it */
    faultload faultload;
    uint64_t number; /* of the run that shows it */
};

enum { DEP_CAUSE_CALLS = 16, DEP_CAUSES = 8 };

/* Calls whose failing, together, leads to another one. */
struct dep_cause {
    uint32_t n;
    uid calls[DEP_CAUSE_CALLS]; /* in the order of uid_cmp */
    bool fails;                 /* the request, whatever else becomes of it */
};

/* All that are known: none contains another. The smallest first. */
struct dep_causes {
    uint32_t n;
    struct dep_cause at[DEP_CAUSES];
    bool more; /* than there is room for */
};

struct dep {
    uid call;
    enum dep_kind kind;
    enum dep_by by; /* of the first failure that is absorbed; `instead` and `at` likewise */
    uid instead, at;
    bool retried;             /* a failure that passes is absorbed by calling it again */
    bool after_fault;         /* it is not called without faults ... */
    bool too_late;            /* ... and when it is, the request fails whatever becomes of it */
    faultload after;          /* the smallest that leads to it */
    struct dep_causes causes; /* of which one is enough */
    VEC(struct dep_way) ways; /* by label */
};

/* Two that are absorbed each, and not together. */
struct dep_pair {
    uid a, b;
    outcome status;
    faultload faultload;
    uint64_t number;
};

/* A call that is made more than once, with the same request, in a run without faults. */
struct dep_twice {
    uid call;
    uint32_t times;
    bool one_handler; /* all of them by one handler */
};

/* All of one scenario: single points of failure first. */
struct deps {
    VEC(struct dep) rows;
    VEC(struct dep_pair) pairs;
    VEC(struct dep_twice) redundant;
    VEC(label) labels; /* of the modes that were tried, in the order of their text */
};

void deps_deinit(struct deps *d);

/* How many there are of a kind. */
uint32_t deps_count(const struct deps *d, enum dep_kind kind);

#endif
