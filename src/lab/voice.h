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

/* log_fd: stays the caller's; -1: none. Events come from the loop, never from within. */
struct voice *voice_start(struct keeper *k, const struct process_spec *spec, int log_fd,
                          const struct voice_events *events, void *user);

/* The group and all descendants. */
void voice_signal(struct voice *w, int signal);
pid_t voice_pid(const struct voice *w); /* 0: not started yet */

/* Kills it and all its descendants; no more events. */
void voice_abandon(struct voice *w);

#endif
