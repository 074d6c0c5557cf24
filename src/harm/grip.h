/* SPDX-License-Identifier: Apache-2.0
 *
 * A grip on a process: all its threads stand still (ptrace), so that what they run may be changed.
 * Milliseconds, and whatever becomes of us they go on: the kernel lets go of what a tracer held.
 *
 * 1. Threads that stood still before (SIGSTOP) do so afterwards; a signal that was about to come comes.
 * 2. A thread that does not stop within GRIP_NS makes it fail; nothing is changed then. */
#ifndef OUTFOX_HARM_GRIP_H
#define OUTFOX_HARM_GRIP_H

#include <sys/types.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/vec.h"

#define GRIP_NS SECONDS(2)

struct grip_thread {
    pid_t id;
    int signal; /* that it was about to get; 0: none */
    bool stopped;
};

struct grip {
    pid_t pid;
    VEC(struct grip_thread) threads;
    int64_t since_ns; /* clock_ns() */
};

/* 0; STATUS_NONE: the process is gone; or -1 with *e. To be ended in any case. */
enum status grip_take(struct grip *g, pid_t pid, struct err *e) MUST_USE;

/* Lets go; for how long it was held. */
int64_t grip_end(struct grip *g);

/* Where a thread is about to go on; 0: it is gone. */
uint64_t grip_at(const struct grip *g, uint32_t thread);

/* Reads and writes its memory, whatever its pages allow. Words of 8 bytes are written as a whole.
 * 0, or -1 with *e. */
int grip_read(const struct grip *g, uint64_t at, void *to, size_t n, struct err *e) MUST_USE;
int grip_write(const struct grip *g, uint64_t at, const void *from, size_t n,
               struct err *e) MUST_USE;

/* Makes the process end: its first thread makes the system call exit_group(code), by the instruction
 * at this address. 0 when it has ended with that code. */
int grip_exit(struct grip *g, uint64_t call, int code, struct err *e) MUST_USE;

#endif
