/* SPDX-License-Identifier: Apache-2.0
 *
 * card: one thing that is wrong, told once for every form of report. It is a finding of the
 * scenario's own expectation or contract, or what an oracle says.
 *
 *     FINDING id  title
 *       what      kind, state
 *       when      which calls fail, and how
 *       during    of a command: which of its requests met that, and what they got
 *       then      what the client got
 *       shows     evidence: the calls by which an oracle knows
 *       calls     of a run that shows it
 *       replay    the command that shows it again
 *
 * 1. Text is as people read it: a printer escapes it for its form and bounds it, and no more. A
 *    printer is text.c, markdown.c, junit.c, github.c or json.c.
 * 2. What is NULL is not known, or there is nothing to say of it.
 * 3. All of it lives as long as the card, and the summary it was made from. */
#ifndef OUTFOX_REPORT_CARD_H
#define OUTFOX_REPORT_CARD_H

#include "report/report.h"

/* A request of a command, in the run that is told of. */
struct card_request {
    uint32_t number; /* among those of its run, from 1 */
    uid call;
    outcome got, usual; /* with the faults, without; 0: it is not made */
    const char *text;   /* "2. web POST /orders, which gets 503 (200 without faults)" */
};

enum { CARD_REQUESTS = 8 };

struct card {
    const struct summary *s;
    const struct finding *finding; /* either this, or */
    const struct remark *remark;   /* this */
    bool warning;                  /* it does not count as a finding */
    const char *id;                /* "3", "checkout/3"; warnings have numbers of their own */
    const char *title;             /* a sentence; behind the name of its oracle */
    const char *kind, *state;      /* "the scenario hangs", "seen once"; of campaigns alone */
    const char *when, *then;
    struct card_request during[CARD_REQUESTS]; /* those below which something failed, the first */
    uint32_t n_during;
    const char *detail; /* what it was like in one run */
    const char *rest;   /* what of that `then` does not say */
    const char *evidence[EVIDENCE_MAX];
    uint32_t n_evidence;
    const char *faultload;
    const char *about; /* the command that prints the page of the oracle */
    const char *replay;
    const struct trace *plain, *seen; /* a run without faults, and one that shows it */
    struct trace own[2];
    struct arena keep;
};

/* The i-th finding of a scenario, the i-th remark; runs are read from the source. */
void card_finding(struct card *c, const struct report_source *source, uint32_t scenario,
                  uint32_t i);
void card_remark(struct card *c, const struct report_source *source, uint32_t scenario, uint32_t i);

/* One that has no number yet, so that it is replayed by its faultload. plain, seen: or NULL. */
void card_news(struct card *c, const struct summary *s, const struct finding *f,
               const struct remark *r, const struct trace *plain, const struct trace *seen);
void card_deinit(struct card *c);

/* ---- which are shown, where not all are ---- */

enum { REMARKS_SHOWN_MAX = 200 };

struct remarks_shown {
    uint32_t at[REMARKS_SHOWN_MAX];     /* of summary.remarks, in their order */
    uint32_t number[REMARKS_SHOWN_MAX]; /* among those of its severity, from 1 */
    uint32_t n;
    uint64_t left_out;
};

/* At most `most` of a severity. No oracle is left out for the sake of another that has more to say:
 * the first of each, then the second of each, and so on. */
void remarks_choose(const struct summary *s, enum severity severity, uint32_t most,
                    struct remarks_shown *out);

/* ---- what else forms share ---- */

/* How much can fail, and how much of that was run; runs, what the client saw, what was not run, how
 * calls are told apart. Blocks of text, for people (text.c). */
void text_what(const struct summary *s, struct buf *out);
void text_figures(const struct summary *s, struct buf *out);

/* Runs per second; 0: not known. */
double report_rate(const struct summary *s);

#endif
