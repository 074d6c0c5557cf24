/* SPDX-License-Identifier: Apache-2.0
 *
 * What /proc tells about processes. */
#include <dirent.h>
#include <stdio.h>

#include "io/process.h"
#include "io/process_int.h"

pid_t process_parent(pid_t pid)
{
    struct proc p;
    return proc_read(pid, &p) ? p.parent : 0;
}

/* 0: it is not ours to look at, or has ended. */
static uint32_t descriptors_of(pid_t pid)
{
    char path[64];
    uint32_t n = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return 0;
    for (const struct dirent *d; (d = readdir(dir));)
        n += d->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

uint32_t process_descriptors(const struct process *p)
{
    struct procs f = {0};
    uint32_t most = 0;
    if (process_guard(p))
        family_read(&f, process_guard(p));
    for (uint32_t i = 0; i < f.all.n; i++) {
        uint32_t n = f.all.at[i].marked ? descriptors_of(f.all.at[i].pid) : 0;
        most = n > most ? n : most;
    }
    procs_deinit(&f);
    return most ? most : UINT32_MAX;
}
