/* SPDX-License-Identifier: Apache-2.0
 *
 * Handler trees: for each handler, the prefix tree of all its transcripts. A node is a prefix of a
 * transcript; the node below it by (element, label) is the edge "after this prefix the handler
 * makes this call and sees this". So an edge is named by the node that it leads to, and prefix,
 * edge and node are one number.
 *
 * Children form a list: a handler's next call after a prefix is always the same, so there is one
 * child per outcome, a handful. Nodes that are made together lie together, which keeps walks in the
 * cache. */
#ifndef OUTFOX_SEARCH_TREE_H
#define OUTFOX_SEARCH_TREE_H

#include "core/fault.h"
#include "core/trace.h"

#define NODE_NONE 0u

enum edge_state {
    EDGE_NEW,     /* known to exist */
    EDGE_QUEUED,  /* a faultload that leads here waits for its turn */
    EDGE_MISSED,  /* one was run and did not show it, because of how long things take */
    EDGE_LATE,    /* no faultload leads here: its caller leaves before */
    EDGE_UNKNOWN, /* it is not known whether one does */
    EDGE_SKIPPED, /* a reduction says that it need not be seen; `why` is which */
    EDGE_SEEN     /* a run showed it */
};

struct tree_node {
    uint32_t parent;         /* NODE_NONE: this is the root of a handler's tree */
    uint32_t child, sibling; /* first child; next child of the parent */
    uint32_t element;        /* root: the uid of the first handler seen with this key */
    label label;
    label reply;  /* OUT_NONE: no transcript ends here */
    uint32_t run; /* index of the run that first showed it */
    uint8_t state, why;
    bool expanded; /* every mode of the next call was queued or seen */
    bool listed;   /* the callee of the next call knows that it is called from here (replies.c) */
    bool told;     /* that it is EDGE_UNKNOWN */
    bool unstable; /* the handler went on in different ways from here */

    /* reduce.c: outcomes of the next call that have no edge were skipped by the reduction left_out
     * - 1; `counted`: every mode of the call was counted so */
    uint8_t left_out;
    bool counted;
    bool waits; /* the next call waits for its phase (reduce_tway.c) */
};

struct tree {
    VEC(struct tree_node) nodes; /* [0] is unused */
    VEC(uint32_t) root_of;       /* by uid, or by element when stateless */
    bool stateless;
    uint64_t edges, transcripts;
};

/* The empty prefix of a handler; made when it is new. */
uint32_t tree_root(struct tree *tree, struct names *names, uid handler);

/* The same, or NODE_NONE. */
uint32_t tree_find_root(const struct tree *tree, struct names *names, uid handler);

/* What tells handlers apart: the uid; under `stateless` the last element without its n. */
uint32_t handler_key(struct names *names, uid handler, bool stateless);
uint32_t tree_key(const struct tree *tree, struct names *names, uid handler);

uint32_t tree_find(const struct tree *tree, uint32_t node, uint32_t element, label l);

/* Like tree_find; makes the edge (EDGE_NEW) when it is new. */
uint32_t tree_child(struct tree *tree, uint32_t node, uint32_t element, label l);

/* What a trace says, call by call. Refilled for every observation. */
struct reading {
    struct trace_order order;
    VEC(uint32_t) post;   /* calls, callees before callers, without the first */
    VEC(uint32_t) node;   /* by call: the prefix before it in its handler's tree */
    VEC(uint32_t) causes; /* by call: how many of `fired` fired before it */
    VEC(uint32_t) below;  /* by call: how many of those after them fired below it */
    VEC(int64_t)
    busy;                    /* by call: when its handler and all below it had done their work, as
                                far as the trace tells */
    VEC(struct fault) fired; /* in causal order */
    VEC(faultload) prefix;   /* prefix[k]: the first k of `fired` */
    VEC(uint32_t) handlers;  /* calls that were handled */
    bool harmed; /* an event of a plan was met: services may not be well from there on */
};

struct search;
void reading_fill(struct search *s, const struct trace *trace);

/* A hash of all that the run showed, with the outcome of `point` (and all below it) left out. */
uint64_t reading_signature(const struct search *s, const struct trace *trace, uid point,
                           bool without_below);

#endif
