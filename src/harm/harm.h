/* SPDX-License-Identifier: Apache-2.0
 *
 * What faults of plans do that no shell can: inside processes, their system calls, their disks.
 * `outfox harm KIND WORD...` is called by the commands of injectors (plan/injector.h), on whatever
 * host the fault happens, so it is journalled, sent and undone like all others.
 *
 * A kind that counts what met its fault says so when it is undone: `struck N` as the last line. */
#ifndef OUTFOX_HARM_HARM_H
#define OUTFOX_HARM_HARM_H

#include "base/err.h"
#include "base/str.h"

/* A row for each kind. */
struct harm_row {
    const char *kind, *usage; /* usage: the words behind it */
    /* 0 with what is to be printed in *said, or -1 with *e. Some last as long as what they look
     * after does. */
    int (*run)(int argc, char **argv, struct buf *said, struct err *e);
};

/* The row of this name, or NULL. */
const struct harm_row *harm_find(const char *kind);

#endif
