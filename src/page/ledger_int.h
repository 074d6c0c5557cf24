/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a ledger, which its printers read. */
#ifndef OUTFOX_PAGE_LEDGER_INT_H
#define OUTFOX_PAGE_LEDGER_INT_H

#include "page/document.h"
#include "page/ledger.h"

enum { SHOWN_MAX = 3 };

/* How often something was seen, and in which runs first; 0: no further one. */
struct seen_in {
    uint64_t runs;
    uint32_t shown[SHOWN_MAX];
};

/* ---- handlers.c ---- */

/* What a handler knows after the outcomes on the way from the root. As in the search, a node is the
 * edge that leads to it. */
struct handler_node {
    uint32_t parent, child, sibling; /* 0: none; children are behind their parents */
    uint32_t element;                /* of a root: 0 */
    label label;
    uint32_t end; /* how transcripts end here: the last of `ends` that is of it; 0: none does */
    struct seen_in seen;
};

struct handler_end {
    outcome reply;
    uint32_t next; /* 0: none */
    struct seen_in seen;
};

struct handler_root {
    uid handler;
    uint32_t node;
    uint64_t transcripts; /* different ones: ends below it */
};

struct handlers {
    VEC(struct handler_node) nodes; /* [0] is unused */
    VEC(struct handler_end) ends;   /* [0] is unused */
    VEC(struct handler_root) roots;
    struct map root_of; /* uid -> its place in roots */
    struct index edges; /* (parent, element, label) -> node */
    uint64_t left_out;  /* runs that showed something for which there was no room */
    uint32_t most;      /* nodes and ends */
};

void handlers_init(struct handlers *h, uint32_t most);
void handlers_deinit(struct handlers *h);

/* Takes a run: its calls in their order. */
void handlers_add(struct handlers *h, const struct names *names, uint64_t number,
                  const struct trace *trace, const struct trace_order *order);

enum status handlers_print(const struct report_source *source, const struct document_place *place,
                           struct buf *out, struct err *e);

/* ---- runs.c ---- */

/* Bits in the document. */
enum run_mark { MARK_HUNG = 1, MARK_CRASHED = 2, MARK_UNFIRED = 4 };

struct run_line {
    uint64_t number;
    int64_t took_ns;
    faultload faultload;
    outcome status;
    uint32_t why; /* in `sentences`; INTERN_NONE: nothing is wrong */
    uint32_t calls;
    uint8_t purpose, marks;
    bool pass;
};

enum status runs_print(const struct report_source *source, const struct document_place *place,
                       struct buf *out, struct err *e);
enum status run_calls_print(const struct report_source *source, const struct document_place *place,
                            struct buf *out, struct err *e);

/* ---- ledger.c ---- */

/* A call that was seen. */
struct call_line {
    uid call;
    bool first;    /* the first run without faults made it */
    uint64_t last; /* number of the last run that it was counted in */
    uint64_t runs; /* without faults that made it */
    int64_t took_ns[LEDGER_TIMES];
};

struct ledger {
    const struct names *names;
    const struct faultloads *fl;
    struct handlers handlers;
    struct coverage coverage;
    VEC(struct run_line) runs;
    uint32_t most;   /* of them */
    uint64_t n_runs; /* also those without a line */
    struct intern sentences;
    VEC(uint32_t) asked; /* places in runs of those that the search has asked for */
    VEC(struct call_line) calls;
    struct map call_at; /* uid -> its place in calls */
    uint64_t n_calls;   /* also those without a place */
    uint64_t plain;     /* number of the first run without faults; 0: there was none */
    bool is_command;    /* its scenario is one, not a request */
    uint64_t version;
    struct trace tested; /* the run that is being added, without what is not tested */
    struct trace_order order;
};

/* The ledger of a scenario, or NULL. */
const struct ledger *ledger_of(const struct report_source *source, uint32_t scenario);

#endif
