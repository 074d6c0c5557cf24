/* SPDX-License-Identifier: Apache-2.0
 *
 * What is left when we, the keeper and the guards are killed at once: nobody remains to clear up,
 * so the next start does. Everything that is started carries a mark in its environment, which
 * its descendants inherit wherever they go:
 *
 *     OUTFOX_STARTED_BY=NAMESPACE:PID:START
 *
 * 1. A process whose mark names one that is gone is a leftover. The start time (of the kernel, in
 *    ticks) tells a process from another one that has got its number since.
 * 2. Numbers mean something within one PID namespace alone: other containers are left in peace.
 * 3. No file is needed, which could be lost, or belong to a campaign in another directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "io/process.h"
#include "io/process_int.h"
#include "io/sys.h"

enum {
    ENVIRONMENT_MAX = 8 * 1024 * 1024, /* more than the kernel lets a process have */
    ROUNDS_MOST = 200,
    PAUSE_MS = 10,
};

#define NAME "OUTFOX_STARTED_BY"

static uint64_t namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) ? 0 : (uint64_t)st.st_ino;
}

void mark_print(pid_t pid, char out[MARK_MAX])
{
    struct proc p;
    uint64_t start = proc_read(pid, &p) ? p.start : 0; /* 0: not known, so nobody is ended by it */
    (void)snprintf(out, MARK_MAX, "%llu:%d:%llu", (unsigned long long)namespace(), (int)pid,
                   (unsigned long long)start);
}

void mark_set(const char *mark)
{
    (void)setenv(NAME, mark, 1);
}

/* Has the process that the mark names ended? Not when nobody can know. */
static bool is_orphaned(slice mark, uint64_t here)
{
    slice space, number;
    uint64_t there, pid, start;
    struct proc p;
    if (!slice_cut(&mark, ':', &space) || !slice_cut(&mark, ':', &number) ||
        !slice_to_u64(space, UINT64_MAX, &there) || !slice_to_u64(number, INT32_MAX, &pid) ||
        !slice_to_u64(mark, UINT64_MAX, &start) || there != here || !start)
        return false;
    if (proc_read((pid_t)pid, &p))
        return !p.alive || p.start != start;
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH; /* not: we have no descriptor left to look */
}

/* The mark of a process, within `room`; none: empty. */
static slice mark_of(const char *pid, struct buf *room)
{
    char path[64], piece[4096];
    buf_clear(room);
    (void)snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = sys_read(fd, piece, sizeof piece)) > 0 && !room->full;)
        buf_add(room, (slice){piece, (size_t)n});
    if (fd >= 0)
        sys_close(fd);
    slice rest = buf_slice(room), pair;
    while (rest.n && slice_cut(&rest, '\0', &pair))
        if (slice_starts(pair, SLICE(NAME "=")))
            return slice_from(pair, sizeof NAME);
    return (slice){0};
}

/* Kills once all that carries this mark, or, without one, that of a process that has ended; how
 * many there were. */
static uint32_t marked_kill(const char *mark)
{
    uint32_t n = 0;
    uint64_t here = namespace(), pid;
    struct buf room = BUF_INIT(ENVIRONMENT_MAX);
    DIR *dir = opendir("/proc");
    for (const struct dirent *d; dir && (d = readdir(dir));) {
        if (!slice_to_u64(slice_of(d->d_name), INT32_MAX, &pid) || (pid_t)pid == getpid())
            continue;
        slice found = mark_of(d->d_name, &room);
        bool meant = found.n && (mark ? slice_is(found, mark) : is_orphaned(found, here));
        n += meant && kill((pid_t)pid, SIGKILL) == 0;
    }
    if (dir)
        (void)closedir(dir);
    buf_deinit(&room);
    return n;
}

uint32_t marked_end(const char *mark)
{
    uint32_t first = marked_kill(mark), left = first;
    for (int i = 0; left && i < ROUNDS_MOST; i++) { /* what has forked meanwhile; what takes time */
        (void)poll(NULL, 0, PAUSE_MS);
        left = marked_kill(mark);
    }
    return first;
}

uint32_t keeper_clear_up(void)
{
    return marked_end(NULL);
}
