/* SPDX-License-Identifier: Apache-2.0
 *
 * watch: what a session tells while it lasts, from the events of its campaigns and of its system:
 * progress and findings as they come on standard error, and all of it as lines of JSON (--events).
 */
#ifndef OUTFOX_CMD_WATCH_H
#define OUTFOX_CMD_WATCH_H

#include "core/event.h"
#include "report/progress.h"

struct session;

struct watch {
    struct progress *progress; /* NULL: nobody looks at that */
    FILE *events;              /* NULL: nobody wants them */
    int failed;                /* why they could not be written, as errno; 0: they could */
};

/* Begins to tell: progress unless --quiet, events with --events. 0, or an exit code after the error
 * was printed. */
int watch_begin(struct session *s);

/* All was told. 0, or an exit code after the error was printed. */
int watch_end(struct session *s);

/* What campaigns and the live system are given. Warnings are told in any case. */
struct event_sink watch_sink(struct session *s);

#endif
