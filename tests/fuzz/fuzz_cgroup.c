// SPDX-License-Identifier: Apache-2.0
//
// Any text as what the kernel says of mounts, and behind an empty line of a process's groups.
//
// 1. Nothing outside of it is read.
// 2. A group that is found is at or below its mount, however one climbs from it.

#include <stdint.h>
#include <string.h>

#include "fuzz/must.h"
#include "harm/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cgroup g;
    static const char *const controllers[] = {"cpu", "memory", "pids", ""};
    char *copy = mem_alloc(size ? size : 1);
    memcpy(copy, data, size);
    slice mounts = {copy, size};
    const char *gap = size > 1 ? memmem(copy, size, "\n\n", 2) : NULL;
    slice groups = gap ? slice_from(mounts, (size_t)(gap - copy) + 2) : (slice){copy, size};
    mounts.n = gap ? (size_t)(gap - copy) + 1 : size;
    for (size_t i = 0; i < 4; i++)
        if (cgroup_find(mounts, groups, controllers[i], &g)) {
            size_t n = strlen(g.mount);
            MUST(strncmp(g.dir, g.mount, n) == 0 && strlen(g.dir) < CGROUP_PATH_MOST);
            while (cgroup_up(g.dir, g.mount))
                MUST(strlen(g.dir) >= n);
        }
    mem_free(copy);
    return 0;
}
