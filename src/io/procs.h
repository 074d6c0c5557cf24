/* SPDX-License-Identifier: Apache-2.0
 *
 * The processes of this machine, by /proc. It is read as a whole: the kernel's own lists of
 * children are per thread and not in every kernel. */
#ifndef OUTFOX_IO_PROCS_H
#define OUTFOX_IO_PROCS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"

struct proc {
    pid_t pid, parent, group, session;
    bool alive;  /* not a zombie */
    bool marked; /* for whoever reads the list */
};

struct procs {
    VEC(struct proc) all;
};

/* One process; false: there is none (any more). */
bool proc_read(pid_t pid, struct proc *out) MUST_USE;

/* All of them, in place of what was there. Zero-initialised is empty. */
void procs_read(struct procs *out);
void procs_deinit(struct procs *p);

#endif
