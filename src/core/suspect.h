/* SPDX-License-Identifier: Apache-2.0
 *
 * suspect: something that was not as it should be, so that no conclusion may rest on it.
 * explanation: why a faultload was run, or need not be, or cannot be. Both are data; report/ finds
 * the words. */
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
