/* SPDX-License-Identifier: Apache-2.0
 *
 * Who descends from whom. This is asked only when there is something to stop.
 *
 * A process that forks while it is being looked for leaves a child that this reading does not show,
 * but the next one does: so family_end reads again until nothing is left to wait for. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/process_int.h"

enum { PAUSE_FIRST_MS = 1, PAUSE_MOST_MS = 20 };

#define END_NS SECONDS(10)

/* Children of the root, their children, and so on: as often through the list as the family has
 * members, who are few. */
static void mark(struct procs *f, pid_t root)
{
    VEC(pid_t) found = {0};
    vec_push(&found, root);
    for (uint32_t i = 0; i < found.n; i++) {
        for (uint32_t j = 0; j < f->all.n; j++) {
            struct proc *r = &f->all.at[j];
            if (r->marked || r->parent != found.at[i])
                continue;
            r->marked = true;
            vec_push(&found, r->pid);
        }
    }
    vec_deinit(&found);
}

void family_read(struct procs *f, pid_t root)
{
    procs_read(f);
    mark(f, root);
}

uint32_t family_signal(pid_t except_group, int signal)
{
    struct procs f = {0};
    uint32_t n = 0;
    family_read(&f, getpid());
    for (uint32_t i = 0; i < f.all.n; i++) {
        const struct proc *r = &f.all.at[i];
        if (r->marked && r->group != except_group && kill(r->pid, signal) == 0)
            n++;
    }
    procs_deinit(&f);
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
