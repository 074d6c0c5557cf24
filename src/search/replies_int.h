/* SPDX-License-Identifier: Apache-2.0
 *
 * replies: what callers see of a service that no mode gives (replies.c), and what of it no run has
 * shown (late.c). */
#ifndef OUTFOX_SEARCH_REPLIES_INT_H
#define OUTFOX_SEARCH_REPLIES_INT_H

#include "base/index.h"
#include "search/search.h"

/* What brings an outcome about. */
struct reply_cause {
    uid handler;         /* in whose run it was seen */
    faultload faultload; /* its last `n` faults, all below the handler, bring it about */
    uint32_t n;
    int64_t ns;    /* how long the handler was busy, */
    bool measured; /* exactly; else at least */
};

struct reply_row {
    outcome outcome;
    bool seen; /* by a caller. Else it was only answered, and always too late */
    struct reply_cause first, fastest, slowest;
    uint32_t next; /* next row of the same tree + 1 */
};

/* A place from which a service is called. */
struct reply_prefix {
    uint32_t node; /* a prefix after which a handler calls it, */
    uid callee;
    faultload causes;  /* and how to get there */
    int64_t waited_ns; /* how long a caller waits here before it leaves; 0: none left */
    bool too_slow;     /* whatever fails below, the callee is not in time here */
    uint32_t next;
};

/* What callers may see of a callee besides the modes, and who would meet that. */
struct replies {
    VEC(struct reply_row) rows;
    VEC(struct reply_prefix) prefixes;
    struct map row_of, prefix_of; /* root of the callee's tree -> first row, first prefix, + 1 */
};

/* late.c: what is known of answers that come too late, and of edges that a run did not show. */
struct late {
    bool happens;      /* an answer came after its caller's timeout: time plays a part */
    struct map tries;  /* edge -> how many other causes were tried */
    struct map ran;    /* keys of the faultloads that were run, */
    uint32_t n_ran;    /* as many of search.runs */
    struct map waited; /* edge by which a caller left -> how long it had waited, in microseconds */
};

/* replies.c: considers what the callee may show that no mode gives. */
void replies_expand(struct search *s, const struct trace *trace, uint32_t call, bool duplicate);
void replies_deinit(struct replies *replies);

/* Does some mode of the search give this label at this call? */
mode replies_mode(const struct search *s, uid callee, label l);

/* The fastest or slowest known cause of this outcome at this call, OUT_NONE: of any; or NULL. */
const struct reply_cause *replies_cause(const struct search *s, uid callee, outcome o, bool fast);

/* f and the faults of the cause, moved below the callee. */
faultload replies_append(struct search *s, faultload f, const struct reply_cause *cause,
                         uid callee);

/* late.c: a call took this edge: did its caller leave? */
void late_left(struct search *s, uint32_t edge, const struct call *c);

/* A call that ends with this label, at a place where callers leave by the edge `left`: may it be too
 * late there? */
bool late_may_be(const struct search *s, uint32_t left, uid u, label l);

/* Did the run show what it was meant to? */
void late_observe(struct search *s, const struct trace *trace);

/* The faults that should lead to this edge have been run on another occasion. */
void late_missed(struct search *s, uint32_t edge);

/* Nothing else is left to run. True when that queued something. */
bool late_advance(struct search *s);
void late_deinit(struct late *late);

#endif
