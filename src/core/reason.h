/* SPDX-License-Identifier: Apache-2.0
 *
 * reason: why runs could not be relied on, in words that users know. One reason stands for all
 * suspects that it explains; report/ finds its sentence and what to do about it. */
#ifndef OUTFOX_CORE_REASON_H
#define OUTFOX_CORE_REASON_H

#include "core/suspect.h"

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

#endif
