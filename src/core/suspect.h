/* SPDX-License-Identifier: Apache-2.0
 *
 * suspect: something that was not as it should be, so that no conclusion may rest on it.
 * reason: why runs could not be relied on, in words that users know. One reason stands for all
 * suspects that it explains.
 * explanation: why a faultload was run, or need not be, or cannot be. All are data; report/ finds
 * the words, and what to do about it. */
#ifndef OUTFOX_CORE_SUSPECT_H
#define OUTFOX_CORE_SUSPECT_H

#include "core/fault.h"

enum suspect_kind {
    SUSPECT_NOT_FIRED, /* a planned fault did not fire */
    SUSPECT_STEP,      /* a handler went on differently after the same outcomes */
    SUSPECT_MISSING,   /* a call is in some fault-free runs and not in others */
    SUSPECT_BLOCKED,   /* calls whose names change from run to run were given up */
    SUSPECT_AUDIT,     /* a reduction's assumption does not hold */
    SUSPECT_NOT_SHOWN, /* no run showed an outcome that a caller should be able to meet */
    SUSPECT_KINDS
};

enum suspect_cause {
    CAUSE_UNKNOWN,
    CAUSE_PAYLOAD,   /* the same call came with another payload */
    CAUSE_INTERFACE, /* the same service was called with another path */
    CAUSE_COUNT,     /* the call came less often */
    CAUSE_ABSENT,    /* the service was not called at all */
    CAUSE_UNFIT,     /* the call came, and the fault could not be acted out at it */
    CAUSE_ORDER,     /* the call came, at another place */
    CAUSE_EXTRA,     /* a call came where none had come before */
    CAUSES
};

/* What came of the last call of this caller to this service. */
enum suspect_last { LAST_NOT_KNOWN, LAST_OK, LAST_FAILED };

struct suspect {
    enum suspect_kind kind;
    enum suspect_cause cause;
    faultload faultload; /* of the run in which it was noticed */
    uid point;           /* the call, or the handler (SUSPECT_STEP) */
    uid call;            /* what was not made, or not in every run; UID_NONE: it is no call */
    uid other;           /* what came instead; UID_NONE: nothing */
    uint32_t n;          /* attempts, runs or calls, by kind */
    uint32_t shown;      /* SUSPECT_MISSING: the fault-free runs with it, the first is bit 0, */
    uint32_t of;         /* of so many */
    enum suspect_last last;
    label outcome;         /* SUSPECT_NOT_SHOWN: which */
    const char *reduction; /* SUSPECT_AUDIT: whose assumption */
    const char *what;      /* SUSPECT_AUDIT: what was new */
};

enum reason_kind {
    REASON_BREAKER,    /* a service stops calling another that has failed in earlier runs */
    REASON_CACHE,      /* a service does not call another again that has answered in an earlier run
                        */
    REASON_GROWTH,     /* more calls from run to run: data of earlier runs is left */
    REASON_POLLING,    /* the number of equal calls differs from run to run */
    REASON_PATH,       /* another path in each run */
    REASON_PAYLOAD,    /* another payload in each run */
    REASON_ORDER,      /* the same calls in another order */
    REASON_SOMETIMES,  /* a call is made in some runs and not in others, and nothing tells why */
    REASON_REPLY,      /* another answer after the same outcomes */
    REASON_UNFIT,      /* a mode finds nothing to alter in an answer */
    REASON_TIMING,     /* whether an answer comes in time cannot be brought about */
    REASON_ASSUMPTION, /* a reduction leaves out what is needed */
    REASON_KINDS
};

extern const char *const reason_names[REASON_KINDS]; /* "circuit-breaker" ..., for programs */

enum { REASON_CALLS = 3 };

struct reason {
    enum reason_kind kind;
    uid call[REASON_CALLS]; /* the calls that it is about, whatever their number, the first of */
    uint32_t n_calls;       /* UID_NONE in call[0]: it is about no call */
    uid handler;            /* whose decision it is */
    uint64_t times;
    const struct suspect *example; /* with faults, if there is one */
    bool given_up;                 /* faults at these calls are tried no more */
};

struct reasons {
    struct reason *at;
    uint32_t n, cap;
};

/* Groups them; known causes come first, and what was seen most often. `out` is empty, and points to
 * `list`. */
void reasons_find(const struct names *names, const struct suspect *list, uint32_t n,
                  struct reasons *out);

enum explain_kind {
    EXPLAIN_RUN,        /* it was run */
    EXPLAIN_REDUNDANT,  /* every edge of it was seen */
    EXPLAIN_IMPOSSIBLE, /* one of its faults can never fire */
    EXPLAIN_REDUCED,    /* a reduction skipped it */
    EXPLAIN_OPEN,       /* not reached within the budget, or a mode that is not in use */
    EXPLAIN_UNSEEN,     /* no run has shown this call */
    EXPLAIN_TIMING,     /* whether an answer comes in time is not known without a run */
    EXPLAIN_KINDS
};

/* The policies of the published tools that an explanation corresponds to. */
enum policy {
    POLICY_NONE,
    POLICY_DOWNSTREAM,
    POLICY_EXCLUSION,
    POLICY_INCLUSION,
    POLICY_UNREACHABLE,
    POLICY_PROPAGATION,
    POLICY_ENCAPSULATION,
    POLICIES
};

struct explanation {
    enum explain_kind kind;
    enum policy policy;
    const char *reduction;   /* EXPLAIN_REDUCED: its name */
    struct fault fault;      /* the fault that decides */
    uint32_t run;            /* index of the run that shows it, or UINT32_MAX */
    faultload run_faultload; /* what was run there */
    uid handler;             /* whose decision it is */
    uid after;               /* the call after whose outcome the handler went elsewhere; 0: none */
    label outcome;           /* that outcome */
};

#endif
