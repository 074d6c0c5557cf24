/* SPDX-License-Identifier: Apache-2.0
 *
 * Knowledge: what is known of handlers, whoever showed it: the searches of other scenarios, or an
 * earlier campaign. Per handler the prefix tree of what it was seen to do, each prefix under the hash of
 * its path, and what it may answer with the faults below it that bring that about.
 *
 * 1. Only what a run showed is known, and only runs of which all is followed up are learned from. So
 *    whoever skips what is known can be sure that somebody explores what comes after it.
 * 2. Handlers are told apart as in the trees of the search (tree_key). The scenario's own request is
 *    another handler in each scenario, whatever it is called: what a client makes of answers is its
 *    own. Without `stateless`, all handlers are.
 * 3. A handler decides by the outcomes of its calls. So where one is seen to go on otherwise than is
 *    known of the same prefix, it contradicts, and is not trusted from then on. Of an earlier campaign,
 *    nothing of its service is then.
 * 4. Where a caller leaves before there is an answer, what happens depends on how long things take, and
 *    that differs from scenario to scenario: neither handler is shared. Of the others it is known how fast,
 *    and how slowly, they answer.
 * 5. Whoever calls a handler that answers as it never did in the earlier campaign is not trusted
 *    either: what it does then was not seen, whatever else has failed before.
 *
 * Numbers of names and faultloads are those of one process, as everywhere in search/. */
#ifndef OUTFOX_SEARCH_KNOWLEDGE_H
#define OUTFOX_SEARCH_KNOWLEDGE_H

#include "core/fault.h"
#include "core/trace.h"

struct knowledge;

/* stateless: of the searches that use it. */
struct knowledge *knowledge_new(bool stateless);
void knowledge_free(struct knowledge *k);

/* The number of the scenario of this name, from 1. It is the same whatever search asks. */
uint32_t knowledge_scenario(struct knowledge *k, slice name);

/* ---- learning ---- */

struct lesson {
    uint32_t scenario;
    faultload faultload; /* what was planned */
    const struct trace *trace;
    const struct trace_order *order; /* its causal order; NULL: it is found */
    const uint8_t
        *stale;  /* by call: its handler is not that one any more: nothing is learned of it,
                             only of those that it calls; NULL: none is */
    bool keep;   /* the run may be asked for again, to verify what is known: see knowledge_verify */
    bool follow; /* what it shows is followed up; else it is only held against what is known */
};

/* From a run whose faults all fired. */
void knowledge_learn(struct knowledge *k, struct names *names, struct faultloads *fl,
                     const struct lesson *lesson);

/* Takes back what runs of this scenario have shown: they are made anew. */
void knowledge_forget(struct knowledge *k, uint32_t scenario);

/* Rises with everything that may matter to a search that has nothing left to do. */
uint64_t knowledge_news(const struct knowledge *k);

/* ---- an earlier campaign (--since) ---- */

/* Who showed it: the number of a scenario, or */
#define SHOWN_EARLIER 0u
#define SHOWN_BY_NONE UINT32_MAX /* who did has taken it back (knowledge_forget) */

/* All that is known so far was shown by an earlier campaign. After that come distrust and verify,
 * then the searches of the new campaign. */
void knowledge_age(struct knowledge *k);

/* The handlers of this service are not as they were: nothing that is known of them is used. */
void knowledge_distrust(struct knowledge *k, sym service);

/* The scenario itself, its test or its request, is not as it was. */
void knowledge_distrust_client(struct knowledge *k, uint32_t scenario);

struct knowledge_stats {
    uint64_t handlers, edges;                 /* known of an earlier campaign, */
    uint64_t trusted_handlers, trusted_edges; /* and of them, what is trusted */
};

void knowledge_stats(const struct knowledge *k, struct knowledge_stats *out);

/* Is anything known of this service, of an earlier campaign? */
bool knowledge_knows(const struct knowledge *k, sym service);

/* Faultloads of kept runs of this scenario that show as much as possible of what trusted handlers
 * did, at most `most`, the one that shows most first: give them to search_verify. What was chosen for
 * another scenario before need not be shown again. Returns how many. */
uint32_t knowledge_verify(struct knowledge *k, uint32_t scenario, uint32_t most, faultload *out);

/* ---- contradictions ---- */

struct contradiction {
    uid handler;
    sym service;
    uint32_t by;       /* who showed what is known of it, */
    uint32_t scenario; /* and whose run shows it otherwise, */
    faultload faultload;
};

/* In the order in which they were met; one for each handler. */
const struct contradiction *knowledge_contradictions(const struct knowledge *k, uint32_t *n);

/* ---- asking, for searches ---- */

/* The path of the empty prefix of this handler, and of a path with one step more. */
uint64_t knowledge_root(const struct knowledge *k, struct names *names, uint32_t scenario,
                        uid handler);
uint64_t knowledge_step(uint64_t path, uint32_t element, label l);

struct known_edge {
    uint32_t by;     /* who showed it, */
    uint32_t faults; /* with at least so many faults before and at it */
    bool leads; /* to a handler that is not trusted, and that no run of this campaign has reached */
};

/* False: nobody has shown it, or it is not trusted. */
bool knowledge_edge(struct knowledge *k, uint64_t path, struct known_edge *out) MUST_USE;

/* What brings an outcome about. */
struct reply_cause {
    uid handler;         /* in whose run it was seen */
    faultload faultload; /* its last `n` faults, all below the handler, bring it about */
    uint32_t n;
    int64_t ns;    /* how long the handler was busy, */
    bool measured; /* exactly; else at least */
};

/* An outcome that callers of a handler saw and that faults below it bring about. */
struct known_reply {
    uint64_t root; /* of the handler */
    outcome outcome;
    struct reply_cause cause;
    uint32_t by;
    uint32_t scenario; /* in whose run it was seen */
    uint32_t next;     /* of the same handler, + 1 */
};

/* All of them, in the order in which they were learned; the first of a handler, + 1, or 0. */
const struct known_reply *knowledge_replies(const struct knowledge *k, uint32_t *n);
uint32_t knowledge_first_reply(const struct knowledge *k, uint64_t root);

/* Is it known that these faults bring it about still? */
bool knowledge_trusts_reply(const struct knowledge *k, struct names *names,
                            const struct faultloads *fl, const struct known_reply *reply);

#endif
