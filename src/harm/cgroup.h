/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a process is among the control groups, by what the kernel says of mounts and of the process.
 * Two versions of them are about; a controller is in one of them. Pure. */
#ifndef OUTFOX_HARM_CGROUP_H
#define OUTFOX_HARM_CGROUP_H

#include "base/str.h"

enum { CGROUP_PATH_MOST = 4000 };

struct cgroup {
    bool second;                  /* version 2: one tree for all controllers */
    char mount[CGROUP_PATH_MOST]; /* of its tree */
    char dir[CGROUP_PATH_MOST];   /* of the process, at or below it */
};

/* The trees in /proc/self/mountinfo, one after the other; false: no more. *rest begins as all of it. */
bool cgroup_mount(slice *rest, struct cgroup *out, slice *controllers);

/* The group by this controller: `mounts` is /proc/self/mountinfo, `groups` /proc/PID/cgroup. False:
 * there is none. Whether one of version 2 really has the controller, its files say. */
bool cgroup_find(slice mounts, slice groups, const char *controller, struct cgroup *out);

/* Is it one of the words in a list with these separators? */
bool cgroup_has(slice list, char separator, const char *word);

/* Makes a directory that of its parent; false: it is `top`, or not below it. */
bool cgroup_up(char *dir, const char *top);

#endif
