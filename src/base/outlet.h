/* SPDX-License-Identifier: Apache-2.0
 *
 * Where printed text leaves the program: standard output, standard error and report files are
 * streams that make everything harmless (base/printable.h) on its way out. So no printer has to
 * think of it, and none can forget it.
 *
 * Nor can a reader that does not read hold us up: standard error is waited for a moment, then lines
 * are dropped, counted and said; standard output is waited for, but meanwhile SIGINT and SIGTERM
 * end the program as they end any other. */
#ifndef OUTFOX_BASE_OUTLET_H
#define OUTFOX_BASE_OUTLET_H

#include <stdio.h>

#include "base/str.h"

/* Replaces stdout and stderr, before anything is printed. */
void outlet_init(void);

/* The stream of this descriptor (1, 2) shows colours from now on. */
void outlet_colours(int fd);

/* The descriptor behind a stream, ours or any other. */
int outlet_fd(FILE *stream);

/* Past the filter of a standard stream, or of a file that has none: what we have made ourselves, and
 * know to be harmless. 0, or an errno. */
int outlet_raw(FILE *stream, slice bytes);

enum outlet_kind {
    OUTLET_TEXT,   /* made or emptied, for text */
    OUTLET_APPEND, /* the same, behind what is there */
    OUTLET_BYTES   /* made or emptied, for what must arrive as it is: no filter */
};

/* A file for a report: NULL with errno. It may be a link, a device or a pipe, as the user has named
 * it; a file is its owner's alone (0600) unless it is appended to; a pipe that nobody reads is ENXIO
 * instead of waited for. */
FILE *outlet_open(const char *path, enum outlet_kind kind);

#endif
