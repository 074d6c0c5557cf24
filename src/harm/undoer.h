/* SPDX-License-Identifier: Apache-2.0
 *
 * The undoer: a process of our own, forked early, that undoes the faults of a run when the run
 * cannot, because it was killed, or stands still.
 *
 *     run <== socket pair ==> undoer --> /bin/sh -c UNDO
 *
 * For each fault: journal_begin, undoer_begin, start it; then undo it, undoer_ended, journal_end.
 *
 * 1. A fault is only started once the undoer has said that it knows of it.
 * 2. When the run's end of the socket closes, however that comes, the undoer undoes what is under
 *    way, newest first, each script for a bounded time (undo_bound_ns). Of a run that was killed it
 *    ends the commands first. It removes the journal when nothing is left, and ends.
 * 3. When a fault's lease is over while the run still has it under way, the undoer undoes it at once.
 *    The run may undo it again: scripts are idempotent (harm/journal.h). A script that fails then is
 *    tried again when the run ends.
 * 4. It has a session of its own, ignores what terminals and users send to groups, and has no
 *    descriptor of ours but the socket and the journal.
 * 5. When it is killed no fault can begin any more; those under way are the run's to undo, and stay
 *    in the journal until it has. */
#ifndef OUTFOX_HARM_UNDOER_H
#define OUTFOX_HARM_UNDOER_H

#include "harm/journal.h"

struct undoer;

/* Forks it: before threads are started. The journal outlives the undoer. */
int undoer_new(struct undoer **out, struct journal *j, struct err *e) MUST_USE;

/* Waits until the undoer knows it, up to 2 s. After `lease_ns` from now it is undone, whatever the
 * run does; 0: no lease. -1: the fault must not be started. */
int undoer_begin(struct undoer *u, uint32_t id, const char *undo, int64_t lease_ns,
                 struct err *e) MUST_USE;

/* The run has undone it. */
void undoer_ended(struct undoer *u, uint32_t id);

/* Has it undo what is left, and waits for its end: as long as the scripts may take, at most a minute.
 * Then it goes on alone. Before journal_close. */
void undoer_free(struct undoer *u);

pid_t undoer_pid(const struct undoer *u);

#endif
