/* SPDX-License-Identifier: Apache-2.0
 *
 * The processes of this machine, by /proc: all of them, or those below one. The kernel's own lists
 * of children are per thread, not in every kernel, and may miss a child while others end: good
 * enough to look at what a service holds, often and on a machine with many processes, but not to
 * end it. */
#ifndef OUTFOX_IO_PROCS_H
#define OUTFOX_IO_PROCS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct proc {
    pid_t pid, parent, group, session;
    uint64_t start; /* in ticks since the machine's; with pid it is one process for good */
    bool alive;     /* not a zombie */
    bool marked;    /* for whoever reads the list */
};

struct procs {
    VEC(struct proc) all;
};

/* One process; false: there is none (any more). */
bool proc_read(pid_t pid, struct proc *out) MUST_USE;

/* All of them, in place of what was there. Zero-initialised is empty. */
void procs_read(struct procs *out);

/* The same, and marks those that are below root. */
void procs_read_family(struct procs *out, pid_t root);

/* Those below root, marked, in place of what was there; of each only its pid is known. Costs what
 * the family costs, however many others there are. False: the kernel has no lists of children. */
bool procs_read_below(struct procs *out, pid_t root) MUST_USE;
void procs_deinit(struct procs *p);

/* What one process holds now, and what it has used so far. */
struct proc_usage {
    uint64_t start;                /* as of struct proc */
    int64_t cpu_ns;                /* in steps of the kernel's clock, mostly 10 ms */
    uint64_t memory;               /* bytes that are resident */
    uint32_t threads, descriptors; /* descriptors 0: it is not ours to look at */
};
bool proc_usage(pid_t pid, struct proc_usage *out) MUST_USE;

#endif
