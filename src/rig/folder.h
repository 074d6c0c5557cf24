/* SPDX-License-Identifier: Apache-2.0
 *
 * Directories of nodes: made anew for each trial by copying a template, in this process. */
#ifndef OUTFOX_RIG_FOLDER_H
#define OUTFOX_RIG_FOLDER_H

#include "base/err.h"

enum { FOLDER_FILES_MAX = 100000, FOLDER_DEPTH_MAX = 40 };

/* Removes it with all that is in it; links are not followed. What cannot be removed stays. */
void folder_remove(const char *path);

/* Makes `to`, empty, or with what is in `from` (NULL: nothing): files (their blocks are shared where
 * the file system can), directories and links; nothing else. 0, or -1 with *e. */
int folder_make(const char *from, const char *to, struct err *e) MUST_USE;

/* Moves or copies one file; nothing is said where there is none. */
void folder_keep(const char *from, const char *to);

#endif
