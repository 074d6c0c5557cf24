/* SPDX-License-Identifier: Apache-2.0
 *
 * The keeper: forks guards, and outlives us for the moment that it takes to clear up.
 *
 * 1. It has a session of its own: Ctrl-C in a terminal reaches us, not it, and a hangup neither. It
 *    ends for one reason only, that our end of its socket is closed.
 * 2. Its guards stay in its session, and each process below a guard is in another. So a child of
 *    the keeper that is in another session has lost its guard (somebody killed it), and is killed.
 * 3. It knows no list of what it has started: the system has one. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/process_int.h"
#include "io/sys.h"

enum { KEEPER_FD = 3, STRAY_MS = 20, CLOSE_MOST = 65536 };

void note_send(int sock, enum note_kind kind, int value, int more)
{
    struct note note = {.kind = kind, .value = value, .more = more};
    ssize_t put;
    do
        put = send(sock, &note, sizeof note, MSG_NOSIGNAL);
    while (put < 0 && errno == EINTR);
}

int child_signals_open(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void child_signals_drain(int fd)
{
    struct signalfd_siginfo info;
    while (sys_read(fd, &info, sizeof info) > 0)
        continue;
}

/* What was asked of us while signals were blocked must not run our owner's handlers here. */
static void signals_ignore(void)
{
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL); /* those that cannot be set need not be */
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1,
                                  SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
}

static void close_from(unsigned first)
{
    if (close_range(first, ~0U, 0) == 0)
        return;
    struct rlimit most = {.rlim_cur = CLOSE_MOST}; /* an old kernel */
    (void)getrlimit(RLIMIT_NOFILE, &most);
    for (unsigned fd = first; fd < most.rlim_cur && fd < CLOSE_MOST; fd++)
        sys_close((int)fd);
}

/* Keeps the socket alone, as KEEPER_FD. */
static void descriptors_drop(int sock)
{
    if (sock != KEEPER_FD)
        (void)dup2(sock, KEEPER_FD);
    (void)fcntl(KEEPER_FD, F_SETFD, FD_CLOEXEC);
    close_from(KEEPER_FD + 1);
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
    family_read(&f, self);
    for (uint32_t i = 0; i < f.all.n; i++)
        f.all.at[i].marked = f.all.at[i].parent == self && f.all.at[i].session != self;
    for (uint32_t i = 0; i < f.all.n; i++) /* their own children become ours, and come next time */
        any = (f.all.at[i].marked && kill(f.all.at[i].pid, SIGKILL) == 0) || any;
    procs_deinit(&f);
    return any;
}

static void fds_close(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sys_close(fds[i]);
}

static void guard_fork(int signals, const int fds[SPAWN_FDS])
{
    /* Not fork: libuv has it close the descriptors of its own by number, and here these are others
     * by now. The keeper has no threads that fork would have to care for. */
    pid_t pid = _Fork();
    if (pid == 0) {
        sys_close(KEEPER_FD);
        sys_close(signals);
        guard_main(fds);
    }
    if (pid < 0)
        note_send(fds[SPAWN_SOCKET], NOTE_FAILED, errno, STEP_GUARD);
    fds_close(fds, SPAWN_FDS);
}

/* Takes one request; false when we are gone. */
static bool request_take(int signals)
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
        guard_fork(signals, fds);
        return true;
    }
    if (n > SPAWN_SOCKET) /* some did not fit into our table */
        note_send(fds[SPAWN_SOCKET], NOTE_FAILED, EMFILE, STEP_GUARD);
    fds_close(fds, n);
    return true;
}

void keeper_main(int sock, const char *mark)
{
    (void)setsid();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
    (void)prctl(PR_SET_NAME, "outfox-keeper");
    mark_set(mark);
    signals_ignore();
    descriptors_drop(sock);
    int signals = child_signals_open();
    bool strays = false;
    for (bool more = signals >= 0; more;) {
        struct pollfd fds[] = {{.fd = KEEPER_FD, .events = POLLIN},
                               {.fd = signals, .events = POLLIN}};
        (void)poll(fds, 2, strays ? STRAY_MS : -1);
        if (guards_reap(signals) || strays)
            strays = strays_kill();
        more = request_take(signals);
    }
    family_end();
    _exit(0);
}
