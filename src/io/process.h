/* SPDX-License-Identifier: Apache-2.0
 *
 * Child processes that do not outlive us, however we end. They are started by a keeper: a process
 * of our own, forked early, that is the subreaper of everything below it and holds one end of a
 * socket pair. When the other end closes, because we ended or were killed with SIGKILL, it kills
 * all its descendants and ends.
 *
 *   we (loop) <== socket pair ==> keeper --> process group --> ...
 *                                        --> process group --> ...
 *
 * 1. Every process has a process group of its own; stopping it stops the group and what is left of
 *    its descendants.
 * 2. Our descriptors (listeners, store, sockets) are not inherited by anybody, the keeper included.
 * 3. Nothing here waits: all results come from the loop. */
#ifndef OUTFOX_IO_PROCESS_H
#define OUTFOX_IO_PROCESS_H

#include <sys/types.h>

#include "base/err.h"
#include "io/loop.h"

struct keeper;
struct process;

/* Forks the keeper: before threads are started, and before descriptors are opened that it must not
 * have. keeper_attach gives it a loop. */
int keeper_new(struct keeper **out, struct err *e) MUST_USE;
int keeper_attach(struct keeper *k, struct loop *l, struct err *e) MUST_USE;

/* Kills what is left and waits for the keeper's end (bounded). */
void keeper_free(struct keeper *k);

struct process_spec {
    const char *command;    /* for /bin/sh -c */
    const char *dir;        /* NULL: ours */
    const char *const *env; /* "NAME=VALUE", NULL-terminated, on top of our environment */
    int out_fd;             /* where stdout and stderr go; stays the caller's */
};

struct process_events {
    void (*started)(struct process *p, pid_t pid);
    /* It could not be started (why), or has ended. Last event; the process is gone after it. */
    void (*failed)(struct process *p, const char *why);
    void (*ended)(struct process *p, int status); /* as of waitpid */
};

struct process *process_start(struct keeper *k, const struct process_spec *spec,
                              const struct process_events *events, void *user);
void *process_user(const struct process *p);
pid_t process_pid(const struct process *p); /* 0: not started yet */

/* Signals the group. `ended` follows when it did. */
void process_signal(struct process *p, int signal);

/* No more events of it; kills the group now. */
void process_abandon(struct process *p);

#endif
