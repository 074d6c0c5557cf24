/* SPDX-License-Identifier: Apache-2.0
 *
 * The control address: where the test of a `command` scenario asks about its run, and says when
 * nothing is to be injected (docs/predicates.md).
 *
 *   GET    /runs/KEY                        what was injected so far
 *   GET    /runs/KEY/injected[?PATTERN]     was a fault injected at such a call?
 *   GET    /runs/KEY/calls[?PATTERN]        how often was it called?
 *   POST   /runs/KEY/no-faults              a block begins in which nothing is injected
 *   DELETE /runs/KEY/no-faults              it ends; both also as /runs/KEY/hush
 *
 * KEY is track_secret, 16 hexadecimal digits. PATTERN as in core/pattern.h, percent-encoded;
 * `pattern=` may stand before it. */
#ifndef OUTFOX_LIVE_CONTROL_H
#define OUTFOX_LIVE_CONTROL_H

#include "http/server.h"
#include "track/track.h"

enum { CONTROL_PATTERN_MAX = 4096, CONTROL_ANSWER_MAX = 1 << 16 };

struct control {
    const struct tracker *tracker;
    const struct vocabulary *words;
    struct addr at; /* where it listens */
    struct server *server;
};

/* Listens at a port of this machine that the system chooses. 0, or -1 with the cause. */
int control_open(struct control *c, struct loop *loop, struct err *e) MUST_USE;
void control_close(struct control *c);

/* Puts the answer, one JSON object, into *out, which is empty and has room for CONTROL_ANSWER_MAX;
 * an error is {"error": SENTENCE}. Returns its status. */
uint16_t control_answer(const struct tracker *t, const struct vocabulary *words,
                        const struct head *head, struct buf *out);

#endif
