/* SPDX-License-Identifier: Apache-2.0
 *
 * What /proc tells about processes. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

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

/* 0: likewise. */
static uint64_t memory_of(pid_t pid)
{
    char path[64], text[128] = "";
    uint64_t pages = 0;
    slice size, resident;
    (void)snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    slice rest = fgets(text, sizeof text, file) ? slice_of(text) : (slice){0};
    (void)fclose(file);
    bool known = slice_word(&rest, &size) && slice_word(&rest, &resident) &&
                 slice_to_u64(resident, UINT32_MAX, &pages);
    return known ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

bool process_usage(const struct process *p, struct process_usage *out)
{
    struct procs f = {0};
    *out = (struct process_usage){0};
    if (process_guard(p) && !procs_read_below(&f, process_guard(p)))
        family_read(&f, process_guard(p));
    for (uint32_t i = 0; i < f.all.n; i++) {
        if (!f.all.at[i].marked)
            continue;
        uint32_t n = descriptors_of(f.all.at[i].pid);
        uint64_t bytes = memory_of(f.all.at[i].pid);
        out->descriptors = n > out->descriptors ? n : out->descriptors;
        out->memory = bytes > out->memory ? bytes : out->memory;
    }
    procs_deinit(&f);
    return out->descriptors > 0;
}
