/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads are seized, which does not disturb them, then interrupted. A thread that is not held yet may
 * start others meanwhile, so the list is read until it has no new one. */
#include "harm/grip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/sys.h"

enum { THREADS_MOST = 20000, STEP_US = 50 };

/* ---- taken ---- */

static int refused(pid_t pid, struct err *e)
{
    int reason = errno;
    return err_set(e, 0, 0,
                   "the process %d cannot be held (ptrace: %s); needed are root or "
                   "CAP_SYS_PTRACE (in a container: --cap-add SYS_PTRACE), and that no debugger "
                   "has it",
                   (int)pid, strerror(reason));
}

/* The letter of its state in /proc; 0: it is gone. */
static char state_of(pid_t pid, pid_t thread)
{
    char path[80], text[512];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : sys_read(fd, text, sizeof text - 1);
    if (fd >= 0)
        sys_close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *end = strrchr(text, ')'); /* of its name, which may hold anything */
    return end && end[1] == ' ' ? end[2] : 0;
}

static bool is_held(const struct grip *g, pid_t thread)
{
    for (uint32_t i = 0; i < g->threads.n; i++)
        if (g->threads.at[i].id == thread)
            return true;
    return false;
}

static int seize(struct grip *g, pid_t thread, struct err *e)
{
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL)) {
        int reason = errno;
        char state = reason == ESRCH ? 0 : state_of(g->pid, thread);
        errno = reason;
        return !state || strchr("ZXx", state) ? 0 : refused(g->pid, e);
    }
    vec_push(&g->threads, (struct grip_thread){.id = thread});
    (void)ptrace(PTRACE_INTERRUPT, thread, NULL, NULL); /* fails when it is gone, which is seen */
    return 1;
}

/* Seizes those that are new: how many, or -1. */
static int seize_all(struct grip *g, struct err *e)
{
    char path[40];
    int found = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)g->pid);
    DIR *dir = opendir(path);
    if (!dir)
        return 0;
    for (struct dirent *d; found >= 0 && (d = readdir(dir));) {
        pid_t thread = (pid_t)strtol(d->d_name, NULL, 10);
        if (thread <= 0 || is_held(g, thread))
            continue;
        int one = g->threads.n < THREADS_MOST
                      ? seize(g, thread, e)
                      : err_set(e, 0, 0, "the process %d has too many threads", (int)g->pid);
        found = one < 0 ? -1 : found + one;
    }
    (void)closedir(dir);
    return found;
}

static void forget(struct grip *g, uint32_t i)
{
    g->threads.at[i] = g->threads.at[--g->threads.n];
}

/* Waits until all that are held stand still. */
static int wait_all(struct grip *g, struct err *e)
{
    for (uint32_t i = 0; i < g->threads.n;) {
        struct grip_thread *t = &g->threads.at[i];
        int status = 0;
        pid_t got = t->stopped ? t->id : waitpid(t->id, &status, __WALL | WNOHANG);
        if (got == t->id && !t->stopped && WIFSTOPPED(status)) {
            t->stopped = true;
            t->signal = status >> 16 ? 0 : WSTOPSIG(status); /* not an event of ptrace itself */
        }
        if (got == t->id && t->stopped)
            i++;
        else if (got) /* it has ended */
            forget(g, i);
        else if (clock_ns() - g->since_ns > GRIP_NS)
            return err_set(e, 0, 0,
                           "a thread of the process %d does not stop within %d s: it waits in the "
                           "kernel (state %c)",
                           (int)g->pid, (int)(GRIP_NS / SECONDS(1)), state_of(g->pid, t->id));
        else
            (void)usleep(STEP_US);
    }
    return 0;
}

enum status grip_take(struct grip *g, pid_t pid, struct err *e)
{
    int found;
    *g = (struct grip){.pid = pid, .since_ns = clock_ns()};
    do {
        found = seize_all(g, e);
        if (found < 0 || wait_all(g, e))
            return STATUS_FAILED;
    } while (found);
    return g->threads.n ? STATUS_OK : STATUS_NONE;
}

int64_t grip_end(struct grip *g)
{
    for (uint32_t i = 0; i < g->threads.n; i++) {
        const struct grip_thread *t = &g->threads.at[i];
        if (t->stopped)
            (void)ptrace(PTRACE_DETACH, t->id, NULL, (void *)(intptr_t)t->signal); // NOLINT
        /* The others are let go when we end, which is soon. */
    }
    vec_deinit(&g->threads);
    return clock_ns() - g->since_ns;
}

/* ---- while it is held ---- */

int grip_read(const struct grip *g, uint64_t at, void *to, size_t n, struct err *e)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)g->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refused(g->pid, e);
    ssize_t got = pread(fd, to, n, (off_t)at);
    int reason = got < 0 ? errno : EIO;
    sys_close(fd);
    return got == (ssize_t)n ? 0
                             : err_set(e, 0, 0, "the memory of the process %d cannot be read: %s",
                                       (int)g->pid, strerror(reason));
}

int grip_write(const struct grip *g, uint64_t at, const void *from, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const char *)from + i, sizeof word);
        if (ptrace(PTRACE_POKEDATA, g->threads.at[0].id, (void *)(uintptr_t)(at + i), // NOLINT
                   (void *)(uintptr_t)word))                                          // NOLINT
            return err_set(e, 0, 0, "the memory of the process %d cannot be changed: %s",
                           (int)g->pid, strerror(errno));
    }
    return 0;
}

#if defined(__x86_64__)
uint64_t grip_at(const struct grip *g, uint32_t thread)
{
    struct user_regs_struct regs;
    return ptrace(PTRACE_GETREGS, g->threads.at[thread].id, NULL, &regs) ? 0 : regs.rip;
}

/* No system call that was interrupted is begun again: orig_rax says that there was none. */
static int set_exit(pid_t thread, uint64_t call, int code)
{
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &regs))
        return -1;
    regs.rax = SYS_exit_group;
    regs.orig_rax = UINT64_MAX;
    regs.rdi = (uint64_t)code;
    regs.rip = call;
    return ptrace(PTRACE_SETREGS, thread, NULL, &regs) ? -1 : 0;
}
#else
uint64_t grip_at(const struct grip *g, uint32_t thread)
{
    (void)g, (void)thread;
    return 0;
}

static int set_exit(pid_t thread, uint64_t call, int code)
{
    (void)thread, (void)call, (void)code;
    errno = ENOSYS;
    return -1;
}
#endif

/* Only one thread is still held then: what is traced must be waited for, also when it ends. */
static pid_t keep_one(struct grip *g)
{
    struct grip_thread kept = g->threads.at[0];
    for (uint32_t i = 1; i < g->threads.n; i++)
        if (g->threads.at[i].id == g->pid)
            kept = g->threads.at[i];
    for (uint32_t i = 0; i < g->threads.n; i++)
        if (g->threads.at[i].id != kept.id)
            (void)ptrace(PTRACE_DETACH, g->threads.at[i].id, NULL, NULL);
    g->threads.at[0] = kept;
    g->threads.n = 1;
    return kept.id;
}

int grip_exit(struct grip *g, uint64_t call, int code, struct err *e)
{
    pid_t thread = keep_one(g), got = 0;
    int status = 0;
    if (set_exit(thread, call, code) || ptrace(PTRACE_CONT, thread, NULL, NULL))
        return err_set(e, 0, 0, "the process %d cannot be made to end: %s", (int)g->pid,
                       strerror(errno));
    while (got >= 0 && clock_ns() - g->since_ns < GRIP_NS) {
        got = waitpid(thread, &status, __WALL | WNOHANG);
        if (got == thread && WIFSTOPPED(status)) /* by a signal, which comes too late */
            (void)ptrace(PTRACE_CONT, thread, NULL, NULL);
        else if (got == thread)
            break;
        else if (!got)
            (void)usleep(STEP_US);
    }
    g->threads.n = 0;
    return got == thread && WIFEXITED(status) && WEXITSTATUS(status) == code
               ? 0
               : err_set(e, 0, 0, "the process %d did not end with exit code %d", (int)g->pid,
                         code);
}
