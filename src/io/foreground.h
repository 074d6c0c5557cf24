/* SPDX-License-Identifier: Apache-2.0
 *
 * A command in the foreground: it has our terminal, our standard streams and our process group, and
 * we wait for its end, however long that takes. Signals that would end us are the command's: it is
 * sent them, and we end when it did. */
#ifndef OUTFOX_IO_FOREGROUND_H
#define OUTFOX_IO_FOREGROUND_H

#include <signal.h>

#include "base/err.h"

struct foreground {
    sigset_t before; /* what was blocked */
};

/* From now on nothing but SIGKILL ends us: signals wait for foreground_run. */
void foreground_hold(struct foreground *f);

/* Runs argv, which ends with NULL; found by PATH. Returns its exit code, 128 + N when signal N
 * ended it; or, as shells do, 127 when there is no such command and 126 when it cannot be run, with
 * *e. */
int foreground_run(const struct foreground *f, char *const *argv, struct err *e);

#endif
