/* SPDX-License-Identifier: Apache-2.0
 *
 * progress: what long work says of itself while it lasts, on standard error. On a terminal one line
 * that is redrawn in place, at most ten times a second, no wider than the terminal, and gone at the
 * end; elsewhere (a log of CI) a plain line every five seconds. */
#ifndef OUTFOX_REPORT_PROGRESS_H
#define OUTFOX_REPORT_PROGRESS_H

#include <stdio.h>

#include "core/event.h"
#include "report/report.h"

struct progress_facts {
    uint64_t runs, queued, findings;
    int64_t elapsed_ns;
    int64_t max_time_ns;          /* 0: no bound */
    uint64_t max_runs;            /* 0: no bound */
    const char *scenario, *phase; /* NULL or "": none */
    bool growing;                 /* runs find more to run: nobody knows how much */
};

struct progress;

/* terminal: can a line be rewritten there (style_terminal)? `out` stays the caller's, and is
 * written to by nobody else until progress_end. */
struct progress *progress_new(FILE *out, bool terminal);

/* A log gets its first line after this time, instead of five seconds. */
void progress_first(struct progress *p, int64_t after_ns);

/* Says how far it is, when the time for that has come. Cheap: may be called for every run. now_ns:
 * of a clock that never goes back. */
void progress_show(struct progress *p, const struct progress_facts *f, int64_t now_ns);

/* The same from what happens in a campaign: runs, and what is waited for. */
void progress_event(struct progress *p, const struct event *event, int64_t now_ns);

/* A line of its own, above the one that is redrawn. */
void progress_note(struct progress *p, const char *text);

/* Clears the line. Accepts NULL. */
void progress_end(struct progress *p);

/* ---- what it says: pure ---- */

/* What is left for the queue and the bounds that were set, at this rate. */
enum progress_left { LEFT_UNKNOWN, LEFT_ABOUT, LEFT_AT_LEAST, LEFT_AT_MOST };
enum progress_left progress_left(const struct progress_facts *f, double runs_per_s, int64_t *ns);

/* How fast it goes, of late. Zero-initialised: nothing is known yet. */
struct pace {
    bool begun;
    uint64_t runs;  /* when one last ended */
    int64_t at_ns;  /* when that was seen */
    double rate;    /* runs per second; -1: not known yet */
    uint64_t total; /* runs made and queued, as of then */
    double growth;  /* of that, per second */
};

/* Counts that go back mean that something else has begun. */
void pace_note(struct pace *p, uint64_t runs, uint64_t queued, int64_t now_ns);

/* Runs per second, not above 0: not known. runs: how many there are by now; while none ends, it
 * falls. */
double pace_rate(const struct pace *p, uint64_t runs, int64_t now_ns);

/* More is found than is done: what is queued is not all. */
bool pace_grows(const struct pace *p);

/* How much of what is known to be there is done, 0 to 1; -1: nobody knows. */
double progress_share(const struct progress_facts *f);

/* The line of a terminal of `width` columns: at most width - 1. What is least worth knowing is left
 * out first. */
void progress_line(const struct progress_facts *f, double runs_per_s, uint32_t width,
                   const struct style *style, struct buf *out);

/* The same as a sentence. */
void progress_sentence(const struct progress_facts *f, double runs_per_s, struct buf *out);

#endif
