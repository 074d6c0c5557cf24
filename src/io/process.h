/* SPDX-License-Identifier: Apache-2.0
 *
 * Child processes that do not outlive us, however we end. They are started by a keeper: a process
 * of our own, forked early. For each of them it forks a guard, which is the subreaper of whatever
 * the process starts, and which holds one end of a socket pair. When the other end closes, because
 * we ended, were killed with SIGKILL or lost interest, the guard kills all its descendants and
 * ends; the keeper sees to what guards leave behind.
 *
 *   we (loop) <== socket pair ==> keeper --> guard --> process group --> ...
 *             <== one for each ============> guard --> process group --> ...
 *
 * 1. Every process has a session, hence a process group, of its own and no terminal; stopping it
 *    stops the group and what is left of its descendants, wherever they went.
 * 2. Our descriptors (listeners, store, sockets) are not inherited by anybody, the keeper included.
 * 3. Nothing here waits: all results come from the loop. Only keeper_free does, for a bounded time.
 * 4. Killing the keeper leaves the processes and their guards alone; new ones cannot be started.
 * 5. A process dies with its guard. Its descendants do so too, unless the keeper and we are killed
 *    at the same time: then they are ended by the next keeper_clear_up (keeper.c). */
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

/* The same, but what is abandoned, or loses us because we were killed, has so long to end by itself:
 * for commands that see the end of their input, and clear up. */
int keeper_new_patient(struct keeper **out, int64_t patience_ns, struct err *e) MUST_USE;
int keeper_attach(struct keeper *k, struct loop *l, struct err *e) MUST_USE;
struct loop *keeper_loop(const struct keeper *k);

/* Kills what is left and waits for the keeper's end (bounded). Processes that were not over are
 * abandoned. Before loop_deinit. */
void keeper_free(struct keeper *k);

/* Ends what is left of those that were killed together with all that watched over their processes;
 * how many processes that were. */
uint32_t keeper_clear_up(void);

struct process_spec {
    const char *command;    /* for /bin/sh -c */
    const char *dir;        /* NULL: ours */
    const char *const *env; /* NULL, or "NAME=VALUE" ..., NULL: on top of our environment as it was
                               when the keeper was made */
    int out_fd;             /* where stdout and stderr go; stays the caller's */
    bool fed;               /* stdin is this one, not /dev/null: */
    int in_fd;
    bool apart; /* only stderr goes there, and stdout to this one: */
    int stdout_fd;
};

/* `failed`, `ended` (when `gone` is NULL) and `gone` are last events: the process is no more when
 * they return, and what is left of its descendants is killed. */
struct process_events {
    void (*started)(struct process *p, pid_t pid);
    /* It could not be started, or is lost because somebody killed its guard. Why: a sentence for
     * people, without a full stop. */
    void (*failed)(struct process *p, const char *why);
    void (*ended)(struct process *p, int status); /* as of waitpid */
    /* NULL, or: it and all its descendants have ended. Until then they can be signalled. */
    void (*gone)(struct process *p);
};

/* Events come from the loop, never from within. `spec` is copied. */
struct process *process_start(struct keeper *k, const struct process_spec *spec,
                              const struct process_events *events, void *user);
void *process_user(const struct process *p);
pid_t process_pid(const struct process *p); /* 0: not started yet */

/* Its guard: it and all its descendants are below this process; 0: not started yet. */
pid_t process_guard(const struct process *p);

/* What a service holds: descriptors and bytes of resident memory, each of that of its processes (it
 * and its descendants) that has most. So one that starts more workers as it goes does not look like
 * one that leaks. */
struct process_usage {
    uint32_t descriptors;
    uint64_t memory;
};

/* false: not known. Costs what its family costs, but for kernels without lists of children. */
bool process_usage(const struct process *p, struct process_usage *out) MUST_USE;

/* The parent of any process; 0: there is no such process. */
pid_t process_parent(pid_t pid);

/* Signals the group, and those descendants that have left it. `ended` follows when it did. A shell
 * that is about to fork may lose a signal for its child (it blocks them meanwhile): give what does
 * not end SIGKILL, which is repeated until nobody is left. */
void process_signal(struct process *p, int signal);

/* No more events of it; kills it and all its descendants now. */
void process_abandon(struct process *p);

/* Have all that were abandoned ended, with all their descendants? For who needs their ports and files
 * again; `clear` is called, from the loop, each time that it becomes so. Of a patient keeper nobody
 * knows. */
bool keeper_is_clear(const struct keeper *k);
void keeper_tell(struct keeper *k, void (*clear)(void *user), void *user);

#endif
