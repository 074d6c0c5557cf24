/* SPDX-License-Identifier: Apache-2.0
 *
 * Files: reading whole ones, and making those that hold what services say (stores, logs, reports),
 * which are their owner's alone. */
#ifndef OUTFOX_BASE_FILE_H
#define OUTFOX_BASE_FILE_H

#include "base/arena.h"
#include "base/str.h"

/* Adds all of a file (NULL: standard input) to a buffer, up to its bound. 0, or errno. */
int file_read(const char *path, struct buf *out) MUST_USE;

/* The hash of all that is in a regular file, read piece by piece, and its size. 0, or errno: EFBIG when
 * it has more than `most` bytes, EINVAL when it is no regular file. */
int file_hash(const char *path, uint64_t most, uint64_t *hash, uint64_t *size) MUST_USE;

/* open(2) of a file that is made when it is not there: for its owner alone (0600). One that is
 * there and open to others is closed to them, but no pipe or device, nor what is somebody else's. A
 * descriptor, or -1 with errno. */
int file_open_private(const char *path, int flags);

/* Closes a file that is there to others; nothing when there is none. */
void file_narrow(const char *path);

/* The directory that a file is in: absolute, where there is such a directory. */
slice file_directory(struct arena *a, const char *path);

/* Makes the directories of a path, those in front of its last slash, for their owner alone (0700). 0,
 * or -1 with errno. */
int file_make_directories(const char *path) MUST_USE;

/* Writes a file as a whole, for its owner alone: whoever reads it gets what was there before or all
 * of this, whatever happens meanwhile. 0, or errno. */
int file_replace(const char *path, slice bytes) MUST_USE;

/* Where what lasts is kept: $XDG_STATE_HOME/outfox, else $HOME/.local/state/outfox, else
 * /var/tmp/outfox-UID. It may not be there. */
void file_state_home(struct buf *out);

/* The path of the program that runs. */
const char *file_program(struct arena *a);

#endif
