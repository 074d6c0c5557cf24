/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that hold what services say: stores, logs, reports. They are their owner's alone. */
#ifndef OUTFOX_BASE_PRIVATE_H
#define OUTFOX_BASE_PRIVATE_H

/* open(2) of a file that is made when it is not there: for its owner alone (0600). One that is
 * there and open to others is closed to them, but no pipe or device, nor what is somebody else's. A
 * descriptor, or -1 with errno. */
int private_open(const char *path, int flags);

/* Closes a file that is there to others; nothing when there is none. */
void private_narrow(const char *path);

enum { PRIVATE_DIRECTORY = 0700 }; /* for mkdir(2) */

#endif
