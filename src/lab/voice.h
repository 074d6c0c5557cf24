/* SPDX-License-Identifier: Apache-2.0
 *
 * A process that lasts, and whose lines are heard as they are printed: a node, a client, a fault
 * that is held. What it prints goes to its log as well. */
#ifndef OUTFOX_LAB_VOICE_H
#define OUTFOX_LAB_VOICE_H

#include "data/keys.h"
#include "io/process.h"

enum { VOICE_LINE_MAX = 16 * 1024 }; /* longer ones are heard in pieces */

struct voice;

struct voice_events {
    void (*started)(void *user, pid_t pid);
    void (*line)(void *user, slice text); /* without its newline; NULL: nobody listens */
    /* The last event. status: as of waitpid, and `why` is what it printed last; -1: `why` says why it
     * could not be started. */
    void (*ended)(void *user, int status, const char *why);
};

/* log_fd: stays the caller's; -1: none. Events come from the loop, never from within. A spec that is
 * `fed` is a command on a host (plan/connector.h): what it prints first says its process there, and
 * only then has it started; it is told regularly that we are here. */
struct voice *voice_start(struct keeper *k, const struct process_spec *spec, int log_fd,
                          const struct voice_events *events, void *user);

/* The group and all descendants; of a command on a host: only what is of it here. */
void voice_signal(struct voice *w, int signal);
pid_t voice_pid(const struct voice *w); /* 0: not started yet */
pid_t voice_guard(
    const struct voice *w); /* all that is of it here is below this one; 0: likewise */

/* Of a command on a host: its input ends, and so does it, in its own time. */
void voice_end(struct voice *w);

/* Kills it and all its descendants; no more events. */
void voice_abandon(struct voice *w);

#endif
