/* SPDX-License-Identifier: Apache-2.0
 *
 * Who descends from whom, by /proc. It is read as a whole: the kernel's own lists of children are
 * per thread and not in every kernel, and this happens only when there is something to stop.
 *
 * A process that forks while it is being looked for leaves a child that this reading does not show,
 * but the next one does: so family_end reads again until nothing is left to wait for. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "io/process_int.h"
#include "io/sys.h"

enum { STAT_MAX = 512, PAUSE_FIRST_MS = 1, PAUSE_MOST_MS = 20 };

#define END_NS 10000000000

static bool next_pid(slice *rest, pid_t *out)
{
    slice word;
    uint64_t number;
    if (!slice_word(rest, &word) || !slice_to_u64(word, INT32_MAX, &number))
        return false;
    *out = (pid_t)number;
    return true;
}

/* "PID (NAME) STATE PARENT GROUP SESSION ..."; a name may have blanks and parentheses in it. */
static bool stat_parse(slice text, struct relative *out)
{
    size_t end = text.n;
    while (end > 0 && text.p[end - 1] != ')')
        end--;
    slice state, rest = slice_from(text, end);
    return end > 0 && slice_word(&rest, &state) && next_pid(&rest, &out->parent) &&
           next_pid(&rest, &out->group) && next_pid(&rest, &out->session);
}

bool relative_read(struct relative *r)
{
    char path[64], text[STAT_MAX];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)r->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false; /* it has ended meanwhile */
    ssize_t n = sys_read(fd, text, sizeof text);
    sys_close(fd);
    return n > 0 && stat_parse((slice){text, (size_t)n}, r);
}

/* Children of the root, their children, and so on: as often through the list as the family has
 * members, who are few. */
static void mark(struct family *f, pid_t root)
{
    VEC(pid_t) found = {0};
    vec_push(&found, root);
    for (uint32_t i = 0; i < found.n; i++) {
        for (uint32_t j = 0; j < f->all.n; j++) {
            struct relative *r = &f->all.at[j];
            if (r->below || r->parent != found.at[i])
                continue;
            r->below = true;
            vec_push(&found, r->pid);
        }
    }
    vec_deinit(&found);
}

void family_read(struct family *f, pid_t root)
{
    f->all.n = 0;
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    for (const struct dirent *d; (d = readdir(proc));) {
        uint64_t pid;
        if (!slice_to_u64(slice_of(d->d_name), INT32_MAX, &pid))
            continue;
        struct relative r = {.pid = (pid_t)pid};
        if (relative_read(&r))
            vec_push(&f->all, r);
    }
    (void)closedir(proc);
    mark(f, root);
}

void family_deinit(struct family *f)
{
    vec_deinit(&f->all);
}

uint32_t family_signal(pid_t except_group, int signal)
{
    struct family f = {0};
    uint32_t n = 0;
    family_read(&f, getpid());
    for (uint32_t i = 0; i < f.all.n; i++) {
        const struct relative *r = &f.all.at[i];
        if (r->below && r->group != except_group && kill(r->pid, signal) == 0)
            n++;
    }
    family_deinit(&f);
    return n;
}

/* Reaps what has ended; false when there is nobody left to end. */
static bool reap(void)
{
    pid_t pid;
    do
        pid = waitpid(-1, NULL, WNOHANG);
    while (pid > 0 || (pid < 0 && errno == EINTR));
    return pid == 0;
}

void family_end(void)
{
    int64_t until_ns = clock_ns() + END_NS;
    int pause_ms = PAUSE_FIRST_MS;
    while (reap() && clock_ns() < until_ns) {
        (void)family_signal(0, SIGKILL);
        if (!reap())
            return;
        (void)poll(NULL, 0, pause_ms);
        pause_ms = pause_ms * 2 < PAUSE_MOST_MS ? pause_ms * 2 : PAUSE_MOST_MS;
    }
}
