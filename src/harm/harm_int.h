/* SPDX-License-Identifier: Apache-2.0
 *
 * What rows of the table of harm.c run: as struct harm_row says. */
#ifndef OUTFOX_HARM_HARM_INT_H
#define OUTFOX_HARM_HARM_INT_H

#include "harm/harm.h"

/* Runs a program whose calls are watched, in place of this one; arms a rule; takes it back. */
int calls_run(int argc, char **argv, struct buf *said, struct err *e);
int calls_arm(int argc, char **argv, struct buf *said, struct err *e);
int calls_disarm(int argc, char **argv, struct buf *said, struct err *e);

/* Faults of processes: clock.c, descriptors.c, exit.c, limit.c. */
typedef int harm_run(int argc, char **argv, struct buf *said, struct err *e);
harm_run harm_clock, harm_descriptors, harm_exit, harm_limit;

#endif
