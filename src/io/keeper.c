/* SPDX-License-Identifier: Apache-2.0
 *
 * The other side of child processes: the keeper, its guards, and what is left of them.
 *
 * The keeper forks guards, and outlives us for the moment that it takes to clear up.
 *
 * 1. It has a session of its own: Ctrl-C in a terminal reaches us, not it, and a hangup neither. It
 *    ends for one reason only, that our end of its socket is closed.
 * 2. Its guards stay in its session, and each process below a guard is in another. So a child of
 *    the keeper that is in another session has lost its guard (somebody killed it), and is killed.
 * 3. It knows no list of what it has started: the system has one.
 *
 * A guard is forked by the keeper for one process. It starts it, tells us what becomes of it, passes
 * signals on, and does not end before everything below it has.
 *
 * 1. All that the process starts stays below the guard (subreaper), whatever it does to get away.
 * 2. When our end of the socket is closed (we ended, or want to hear no more of it), everything
 *    below is killed, at once or when a patience is over. This needs no help of the keeper, which
 *    may have been killed as well.
 * 3. No order is taken before the command runs: signals would find a copy of the guard, which
 *    ignores most of them. That the socket was closed is noticed even then.
 *
 * When we, the keeper and the guards are killed at once, nobody remains to clear up, so the next
 * start does. Everything that is started carries a mark in its environment, which its descendants
 * inherit wherever they go:
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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "io/process.h"
#include "io/process_int.h"
#include "io/procs.h"
#include "io/sys.h"

enum {
    KEEPER_FD = 3,
    STRAY_MS = 20,
    CLOSE_MOST = 65536,
    KILL_MS = 10,
    PAUSE_FIRST_MS = 1,
    PAUSE_MOST_MS = 20,
    ENVIRONMENT_MAX = 8 * 1024 * 1024, /* more than the kernel lets a process have */
    CLEARINGS_MOST = 200,
    CLEARING_MS = 10,
};

#define END_NS    SECONDS(10)
#define MARK_NAME "OUTFOX_STARTED_BY"

/* ---- what is below us ---- */

/* Sends a signal to all that is below us but is not in this group (0: in any). */
static void family_signal(pid_t except_group, int signal)
{
    struct procs f = {0};
    procs_read_family(&f, getpid());
    for (uint32_t i = 0; i < f.all.n; i++) {
        const struct proc *r = &f.all.at[i];
        if (r->marked && r->group != except_group)
            (void)kill(r->pid, signal);
    }
    procs_deinit(&f);
}

/* Reaps what has ended; false when there is nobody left to end. */
static bool family_reap(void)
{
    pid_t pid;
    do
        pid = waitpid(-1, NULL, WNOHANG);
    while (pid > 0 || (pid < 0 && errno == EINTR));
    return pid == 0;
}

/* Kills and reaps until nothing is below us; gives up after some seconds, because what waits for a
 * broken disk cannot be killed. A process that forks while it is being looked for leaves a child that
 * this reading does not show, but the next one does. */
static void family_end(void)
{
    int64_t until_ns = clock_ns() + END_NS;
    int pause_ms = PAUSE_FIRST_MS;
    while (family_reap() && clock_ns() < until_ns) {
        family_signal(0, SIGKILL);
        if (!family_reap())
            return;
        (void)poll(NULL, 0, pause_ms);
        pause_ms = pause_ms * 2 < PAUSE_MOST_MS ? pause_ms * 2 : PAUSE_MOST_MS;
    }
}

/* ---- marks ---- */

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
        if (slice_starts(pair, SLICE(MARK_NAME "=")))
            return slice_from(pair, sizeof MARK_NAME);
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
    for (int i = 0; left && i < CLEARINGS_MOST;
         i++) { /* what has forked meanwhile; what takes time */
        (void)poll(NULL, 0, CLEARING_MS);
        left = marked_kill(mark);
    }
    return first;
}

uint32_t keeper_clear_up(void)
{
    return marked_end(NULL);
}

/* ---- what both have ---- */

static void note_send(int sock, enum note_kind kind, int value, int more)
{
    struct note note = {.kind = kind, .value = value, .more = more};
    ssize_t put;
    do
        put = send(sock, &note, sizeof note, MSG_NOSIGNAL);
    while (put < 0 && errno == EINTR);
}

/* SIGCHLD, which is blocked, as a descriptor; -1 with errno. */
static int child_signals_open(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Forgets what has come. */
static void child_signals_drain(int fd)
{
    struct signalfd_siginfo info;
    while (sys_read(fd, &info, sizeof info) > 0)
        continue;
}

static void signals_default(void)
{
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL); /* those that cannot be set need not be */
}

/* ---- a guard ---- */

struct guard {
    int sock, signals;
    int report;   /* the child's, until the command runs; then -1 */
    pid_t child;  /* the command's process */
    bool started; /* the command runs, or did */
    bool ended;   /* the child has been reaped */
    int64_t patience_ns,
        until_ns; /* nobody is there any more: all below ends by then. 0: somebody is */
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

static char *next_text(char *text, const char *end)
{
    char *next = text + strnlen(text, (size_t)(end - text)) + 1;
    return next < end ? next : NULL;
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
    if (dup2(fds[SPAWN_INPUT], 0) != 0 || dup2(fds[SPAWN_OUTPUT], 1) != 1 ||
        dup2(fds[SPAWN_ERRORS], 2) != 2)
        child_fail(report, STEP_OUTPUT);
    if (!dir || (*dir && chdir(dir)))
        child_fail(report, STEP_DIR);
    for (char *pair = next_text(dir, end); pair; pair = next_text(pair, end))
        (void)putenv(pair);
    signals_default();
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
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
        sys_close(g->sock);
        g->sock = -1;
        g->until_ns = clock_ns() + (g->killing ? 0 : g->patience_ns);
        return;
    }
    /* Once the child is reaped, its number may become somebody else's. */
    if (!g->ended)
        (void)kill(-g->child, order);
    family_signal(g->ended ? 0 : g->child, order);
    g->killing = g->killing || order == SIGKILL;
}

/* How long a guard waits for what happens next, in milliseconds; -1: as long as it takes. */
static int guard_pause(const struct guard *g)
{
    if (!g->until_ns)
        return g->killing ? KILL_MS : -1;
    int64_t left_ns = g->until_ns - clock_ns();
    return left_ns > 0 ? (int)(left_ns / MS(1)) + 1 : 0;
}

/* What a guard does until its process and all below it are gone. */
static _Noreturn void guard_main(const int fds[SPAWN_FDS], int64_t patience_ns)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
    (void)prctl(PR_SET_NAME, "outfox-guard");
    struct guard g = {.sock = fds[SPAWN_SOCKET],
                      .signals = child_signals_open(),
                      .report = -1,
                      .patience_ns = patience_ns};
    if (g.signals < 0)
        guard_fail(&g, errno, STEP_GUARD);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        guard_fail(&g, errno, STEP_FORK);
    g.report = ends[0];
    pid_t guard = getpid();
    g.child = _Fork(); /* see guard_fork */
    if (g.child == 0)
        child_main(guard, ends[1], fds);
    if (g.child < 0)
        guard_fail(&g, errno, STEP_FORK);
    sys_close(ends[1]);
    sys_close(fds[SPAWN_TEXT]);
    sys_close(fds[SPAWN_OUTPUT]);
    sys_close(fds[SPAWN_ERRORS]);
    sys_close(fds[SPAWN_INPUT]);
    for (;;) {
        struct pollfd wait[] = {{.fd = g.sock, .events = (short)(g.report < 0 ? POLLIN : 0)},
                                {.fd = g.signals, .events = POLLIN},
                                {.fd = g.report, .events = POLLIN}};
        int ready = poll(wait, 3, guard_pause(&g));
        if (wait[2].revents)
            report_take(&g);
        children_reap(&g);
        if (g.until_ns && clock_ns() >= g.until_ns) {
            family_end();
            _exit(0);
        }
        if (ready == 0)
            family_signal(0, SIGKILL);
        if (wait[0].revents)
            order_take(&g);
    }
}

/* ---- the keeper ---- */

/* Keeps the socket alone, as KEEPER_FD. */
static void descriptors_drop(int sock)
{
    if (sock != KEEPER_FD)
        (void)dup2(sock, KEEPER_FD);
    (void)fcntl(KEEPER_FD, F_SETFD, FD_CLOEXEC);
    if (close_range(KEEPER_FD + 1, ~0U, 0)) { /* an old kernel */
        struct rlimit most = {.rlim_cur = CLOSE_MOST};
        (void)getrlimit(RLIMIT_NOFILE, &most);
        for (unsigned fd = KEEPER_FD + 1; fd < most.rlim_cur && fd < CLOSE_MOST; fd++)
            sys_close((int)fd);
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd < KEEPER_FD; fd++)
        (void)dup2(null, fd);
    if (null > KEEPER_FD)
        sys_close(null);
}

/* Reaps; true when a guard did not end by itself. */
static bool guards_reap(int signals)
{
    bool lost = false;
    int status;
    pid_t pid;
    child_signals_drain(signals);
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0 || (pid < 0 && errno == EINTR))
        lost = lost || (pid > 0 && WIFSIGNALED(status));
    return lost;
}

/* Kills what is left of those that have lost their guard; true when there was anything. */
static bool strays_kill(void)
{
    struct procs f = {0};
    bool any = false;
    pid_t self = getpid();
    procs_read(&f);
    for (uint32_t i = 0; i < f.all.n;
         i++) { /* their own children become ours, and come next time */
        const struct proc *p = &f.all.at[i];
        if (p->parent == self && p->session != self && kill(p->pid, SIGKILL) == 0)
            any = true;
    }
    procs_deinit(&f);
    return any;
}

static void fds_close(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sys_close(fds[i]);
}

static void guard_fork(int signals, const int fds[SPAWN_FDS], int64_t patience_ns)
{
    /* Not fork: libuv has it close the descriptors of its own by number, and here these are others
     * by now. The keeper has no threads that fork would have to care for. */
    pid_t pid = _Fork();
    if (pid == 0) {
        sys_close(KEEPER_FD);
        sys_close(signals);
        guard_main(fds, patience_ns);
    }
    if (pid < 0)
        note_send(fds[SPAWN_SOCKET], NOTE_FAILED, errno, STEP_GUARD);
    fds_close(fds, SPAWN_FDS);
}

/* Takes one request; false when we are gone. */
static bool request_take(int signals, int64_t patience_ns)
{
    char byte;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * SPAWN_FDS)];
    } room;
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = room.bytes,
                       .msg_controllen = sizeof room.bytes};
    ssize_t got = recvmsg(KEEPER_FD, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got <= 0)
        return got < 0 && (errno == EINTR || errno == EAGAIN);
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_type != SCM_RIGHTS)
        return true;
    int fds[SPAWN_FDS];
    size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
    memcpy(fds, CMSG_DATA(c), n * sizeof *fds);
    if (n == SPAWN_FDS) {
        guard_fork(signals, fds, patience_ns);
        return true;
    }
    if (n > SPAWN_SOCKET) /* some did not fit into our table */
        note_send(fds[SPAWN_SOCKET], NOTE_FAILED, EMFILE, STEP_GUARD);
    fds_close(fds, n);
    return true;
}

void keeper_main(int sock, const char *mark, int64_t patience_ns)
{
    (void)setsid();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
    (void)prctl(PR_SET_NAME, "outfox-keeper");
    (void)setenv(MARK_NAME, mark, 1);
    /* what was asked of us while signals were blocked must not run our owner's handlers here */
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1,
                                  SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU};
    signals_default();
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    descriptors_drop(sock);
    if (patience_ns)
        sys_give_back(); /* who is so patient rests most of the time */
    int signals = child_signals_open();
    bool strays = false;
    for (bool more = signals >= 0; more;) {
        struct pollfd fds[] = {{.fd = KEEPER_FD, .events = POLLIN},
                               {.fd = signals, .events = POLLIN}};
        (void)poll(fds, 2, strays ? STRAY_MS : -1);
        if (guards_reap(signals) || strays)
            strays = strays_kill();
        more = request_take(signals, patience_ns);
    }
    for (int64_t until_ns = clock_ns() + patience_ns; clock_ns() < until_ns && family_reap();)
        (void)poll(NULL, 0, STRAY_MS); /* guards have the same patience */
    family_end();
    _exit(0);
}
