/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger: what is remembered of all runs of one scenario, so that a page can ask at any time, also
 * while the campaign lasts, and no run is read twice: a line for each run, what its handlers do
 * (handlers.c), which calls there are, and what it covers.
 *
 * It is told what the campaign tells (ledger_event): so it holds the runs that count, read as the
 * search has read them, and nothing else. */
#ifndef OUTFOX_PAGE_LEDGER_H
#define OUTFOX_PAGE_LEDGER_H

#include "core/event.h"
#include "report/report.h"

struct ledger;

/* Bounds. What is beyond is counted, and the documents say how much that is. */
enum {
    LEDGER_RUNS_MAX = 1 << 20,  /* lines, 44 bytes each */
    LEDGER_NODES_MAX = 1 << 20, /* nodes and ends of handlers together, 80 bytes each at most */
    LEDGER_CALLS_MAX = 4096,    /* different calls, 256 bytes each */
    LEDGER_TIMES = 25           /* of a call: runs without faults that its median is taken from */
};

/* Both outlive it, and give the numbers in runs their meaning. */
struct ledger *ledger_new(const struct names *names, const struct faultloads *fl);
void ledger_free(struct ledger *l);

/* EVENT_RUN adds a run, EVENT_AGAIN forgets all; others are nothing to it. Of one scenario. */
void ledger_event(struct ledger *l, const struct event *event);

/* A number that is another one whenever what it holds is. */
uint64_t ledger_version(const struct ledger *l);

/* How many runs it has lines of; how many of a page, from 0, failed. */
uint32_t ledger_runs(const struct ledger *l);
uint32_t ledger_failed(const struct ledger *l, uint32_t page);

/* The search counts the runs that it has asked for, a campaign all of them. Makes the run of an
 * explanation one of the campaign. */
void ledger_number_run(const struct ledger *l, struct explanation *x);

/* The calls that there are, for vec_deinit. */
void ledger_calls(const struct ledger *l, struct known_calls *out);

/* What its scenario covers of the system. */
const struct coverage *ledger_coverage(const struct ledger *l);

/* Different things that its handlers were seen to do: (handler, transcript, reply). */
uint64_t ledger_transcripts(const struct ledger *l);

#endif
