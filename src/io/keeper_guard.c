/* SPDX-License-Identifier: Apache-2.0
 *
 * A guard: forked by the keeper for one process. It starts it, tells us what becomes of it, passes
 * signals on, and does not end before everything below it has.
 *
 * 1. All that the process starts stays below the guard (subreaper), whatever it does to get away.
 * 2. When our end of the socket is closed (we ended, or want to hear no more of it), everything
 *    below is killed. This needs no help of the keeper, which may have been killed as well.
 * 3. No order is taken before the command runs: signals would find a copy of the guard, which
 *    ignores most of them. That the socket was closed is noticed even then. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/process_int.h"
#include "io/sys.h"

enum { KILL_MS = 10 };

struct guard {
    int sock, signals;
    int report;   /* the child's, until the command runs; then -1 */
    pid_t child;  /* the command's process */
    bool started; /* the command runs, or did */
    bool ended;   /* the child has been reaped */
    bool killing; /* SIGKILL was ordered: again and again, as who forks gets away the first time */
};

/* What a child that cannot run its command leaves in its pipe. */
struct report {
    int code, step;
};

static _Noreturn void child_fail(int report, int step)
{
    struct report r = {.code = errno, .step = step};
    ssize_t put = write(report, &r, sizeof r);
    _exit(put == sizeof r ? 127 : 126);
}

static void signals_default(void)
{
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static char *next_text(char *text, const char *end)
{
    char *next = text + strnlen(text, (size_t)(end - text)) + 1;
    return next < end ? next : NULL;
}

static bool redirect(int out)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return null >= 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2;
}

/* Becomes the command. All descriptors but the standard ones close by themselves. It dies with its
 * guard, should that be killed; what it has started is found by its mark. */
static _Noreturn void child_main(pid_t guard, int report, const int fds[SPAWN_FDS])
{
    (void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL);
    if (getppid() != guard) /* too late to be told */
        _exit(126);
    (void)setsid(); /* a group of its own, and no terminal that could stop it */
    struct stat st;
    if (fstat(fds[SPAWN_TEXT], &st))
        child_fail(report, STEP_TEXT);
    char *command =
        mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fds[SPAWN_TEXT], 0);
    if (command == MAP_FAILED)
        child_fail(report, STEP_TEXT);
    const char *end = command + st.st_size;
    char *dir = next_text(command, end);
    if (!redirect(fds[SPAWN_OUTPUT]))
        child_fail(report, STEP_OUTPUT);
    if (!dir || (*dir && chdir(dir)))
        child_fail(report, STEP_DIR);
    for (char *pair = next_text(dir, end); pair; pair = next_text(pair, end))
        (void)putenv(pair);
    signals_default();
    (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    child_fail(report, STEP_EXEC);
}

static _Noreturn void guard_end(const struct guard *g)
{
    if (g->started)
        note_send(g->sock, NOTE_GONE, 0, 0);
    _exit(0);
}

static _Noreturn void guard_fail(const struct guard *g, int code, int step)
{
    note_send(g->sock, NOTE_FAILED, code, step);
    family_end();
    guard_end(g);
}

/* The pipe is empty when exec has closed it. */
static void report_take(struct guard *g)
{
    struct report r;
    ssize_t got = sys_read(g->report, &r, sizeof r);
    sys_close(g->report);
    g->report = -1;
    if (got)
        guard_fail(g, got == sizeof r ? r.code : EIO, got == sizeof r ? r.step : STEP_EXEC);
    g->started = true;
    note_send(g->sock, NOTE_STARTED, (int)g->child, (int)getpid());
}

/* Does not come back when that was the last one. */
static void children_reap(struct guard *g)
{
    child_signals_drain(g->signals);
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0)
            return;
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            guard_end(g);
        if (pid != g->child)
            continue;
        if (g->report >= 0)
            report_take(g);
        g->ended = true;
        note_send(g->sock, NOTE_ENDED, status, 0);
    }
}

static void order_take(struct guard *g)
{
    int32_t order;
    ssize_t got = recv(g->sock, &order, sizeof order, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got != sizeof order) { /* nobody is there any more */
        family_end();
        _exit(0);
    }
    /* Once the child is reaped, its number may become somebody else's. */
    if (!g->ended)
        (void)kill(-g->child, order);
    (void)family_signal(g->ended ? 0 : g->child, order);
    g->killing = g->killing || order == SIGKILL;
}

static void child_start(struct guard *g, const int fds[SPAWN_FDS])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        guard_fail(g, errno, STEP_FORK);
    g->report = ends[0];
    pid_t guard = getpid();
    g->child = _Fork(); /* see keeper.c */
    if (g->child == 0)
        child_main(guard, ends[1], fds);
    if (g->child < 0)
        guard_fail(g, errno, STEP_FORK);
    sys_close(ends[1]);
    sys_close(fds[SPAWN_TEXT]);
    sys_close(fds[SPAWN_OUTPUT]);
}

void guard_main(const int fds[SPAWN_FDS])
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
    (void)prctl(PR_SET_NAME, "outfox-guard");
    struct guard g = {.sock = fds[SPAWN_SOCKET], .signals = child_signals_open(), .report = -1};
    if (g.signals < 0)
        guard_fail(&g, errno, STEP_GUARD);
    child_start(&g, fds);
    for (;;) {
        struct pollfd wait[] = {{.fd = g.sock, .events = (short)(g.report < 0 ? POLLIN : 0)},
                                {.fd = g.signals, .events = POLLIN},
                                {.fd = g.report, .events = POLLIN}};
        int ready = poll(wait, 3, g.killing ? KILL_MS : -1);
        if (wait[2].revents)
            report_take(&g);
        children_reap(&g);
        if (ready == 0)
            (void)family_signal(0, SIGKILL);
        if (wait[0].revents)
            order_take(&g);
    }
}
