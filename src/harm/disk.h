/* SPDX-License-Identifier: Apache-2.0
 *
 * Disks that fail when they are told: `outfox harm disk DIRECTORY` mounts one and lasts as long as its
 * input does; the other commands tell it what fails. The files of DIR/data are in DIR/data.disk/now,
 * a plain directory, also when the disk is gone. */
#ifndef OUTFOX_HARM_DISK_H
#define OUTFOX_HARM_DISK_H

#include "base/err.h"

/* Rows of harm/harm.c. */
int disk_run(int argc, char **argv, struct buf *said, struct err *e); /* DIR */
int disk_arm(int argc, char **argv, struct buf *said, struct err *e); /* DIR NAME DEED KEY=V... */
int disk_disarm(int argc, char **argv, struct buf *said, struct err *e); /* DIR NAME */
int disk_node(int argc, char **argv, struct buf *said, struct err *e);   /* DIR PID */
int disk_leave(int argc, char **argv, struct buf *said, struct err *e);  /* DIR: unmounted */

#endif
