/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of a node whose calls are watched:
 *
 *     we --> go-between --> keeper of the watcher --> watcher
 *      |     (ends)         (waits for its end, and takes its place)
 *      `-- the filter is installed; when somebody watches, we become the program
 *
 * So the program has the number, the group and the parent that it would have had, and no child that it
 * does not know. The listener's descriptor gets to the watcher by a table of descriptors that all
 * share until then: sending it would take calls that may be watched themselves.
 *
 * No privilege is needed: a process that cannot get any more by what it runs (no_new_privs) may install
 * a filter. One that has CAP_SYS_ADMIN may anyway, and then its su and sudo go on working. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "harm/calls_int.h"
#include "harm/harm_int.h"
#include "io/sys.h"

/* Of later kernels: whoever is answered runs on at once, where the watcher was. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#define SYNC_WAKE_UP 1u

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define WAIT_NS SECONDS(20)
enum { WAIT_STEP_MS = 1, LIVES = 100 };

struct start {
    struct syscall_set calls;
    char **program;
    int state, counts; /* descriptors */
    struct calls_watch *watch;
};

/* ---- the watcher and its keeper ---- */

static void signals_ignore(void)
{
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1,
                                  SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
}

/* Nothing of the program's stays open but its stderr. */
static void descriptors_take(const struct start *s, int listener)
{
    const int from[CALLS_FDS] = {-1, -1, -1, listener, s->state, s->counts};
    int high[CALLS_FDS];
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = CALLS_LISTENER_FD; fd < CALLS_FDS; fd++)
        high[fd] = fcntl(from[fd], F_DUPFD_CLOEXEC, CALLS_FDS);
    for (int fd = CALLS_LISTENER_FD; fd < CALLS_FDS; fd++)
        (void)dup3(high[fd], fd, O_CLOEXEC);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(null, STDOUT_FILENO);
    (void)close_range(CALLS_FDS, ~0U, 0);
}

/* The listener's number, when there is one; -2: there will be none. */
static int await(const _Atomic int *value, int not_yet)
{
    int64_t until = clock_ns() + WAIT_NS;
    while (*value == not_yet && clock_ns() < until)
        (void)poll(NULL, 0, WAIT_STEP_MS);
    return *value;
}

/* Does not end before the watcher has, and starts another one when somebody has killed it. */
static _Noreturn void keep_watching(const struct start *s)
{
    struct calls_watch *w = s->watch;
    __u64 flags = SYNC_WAKE_UP;
    (void)setsid();
    (void)prctl(PR_SET_NAME, "outfox-calls");
    w->keeper = getpid();
    signals_ignore();
    int listener = await(&w->listener, -1);
    if (listener < 0 || unshare(CLONE_FILES))
        _exit(1);
    descriptors_take(s, listener);
    (void)ioctl(CALLS_LISTENER_FD, SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags);
    for (int i = 0; i < LIVES; i++) {
        int status = 0;
        pid_t watcher = _Fork();
        if (watcher == 0)
            calls_watch_run(w);
        if (watcher < 0)
            calls_watch_run(w); /* then without anybody behind us */
        while (waitpid(watcher, &status, 0) < 0 && errno == EINTR)
            continue;
        if (WIFEXITED(status))
            _exit(0);
    }
    _exit(1);
}

/* A process that shares our table of descriptors. */
static pid_t fork_sharing(void)
{
    return (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_FILES | SIGCHLD), 0UL, 0UL, 0UL, 0UL);
}

static int watcher_start(const struct start *s, struct err *e)
{
    pid_t between = fork_sharing();
    if (between == 0) {
        pid_t keeper = fork_sharing();
        if (keeper == 0)
            keep_watching(s);
        _exit(keeper < 0);
    }
    int status = 1;
    while (between > 0 && waitpid(between, &status, 0) < 0 && errno == EINTR)
        continue;
    return status ? err_set(e, 0, 0, "there can be no process that watches its system calls: %s",
                            strerror(errno))
                  : 0;
}

/* ---- the filter ---- */

static int listener_fail(int code, struct err *e)
{
    if (code == EBUSY)
        return err_set(e, 0, 0,
                       "its system calls are watched by another program already, and Linux allows "
                       "one: a container runtime, or outfox itself around it");
    if (code == ENOSYS || code == EINVAL || code == EOPNOTSUPP)
        return err_set(
            e, 0, 0,
            "this kernel does not tell of system calls (seccomp user notification, Linux "
            "5.5 and later)");
    if (code == EPERM || code == EACCES)
        return err_set(e, 0, 0,
                       "it may not watch its system calls (seccomp: %s): the container forbids it; "
                       "podman and docker allow it with --security-opt seccomp=unconfined",
                       strerror(code));
    return err_set(e, 0, 0, "its system calls cannot be watched: %s", strerror(code));
}

/* The descriptor of the listener, or -errno. Calls of other programs than this machine's are its own. */
static int filter_install(const struct syscall_set *calls)
{
    struct sock_filter code[CALLS_FILTER_MAX];
    struct sock_fprog program = {.len = (unsigned short)calls_filter(calls, code), .filter = code};
    unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    for (int i = 0; i < 3; i++) {
        int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
        if (fd >= 0)
            return fd;
        if (errno == EINVAL) /* before Linux 5.19 */
            flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
        else if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL))
            return -errno;
    }
    return -errno;
}

/* From here on nothing may be done that waits for the watcher before there is one. */
static int watched_start(const struct start *s, struct err *e)
{
    uint32_t action = SECCOMP_RET_USER_NOTIF;
    struct seccomp_notif_sizes sizes = {0};
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0UL, &action) ||
        syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0UL, &sizes) ||
        sizes.seccomp_notif > sizeof s->watch->now)
        return listener_fail(errno, e);
    if (watcher_start(s, e))
        return -1;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0UL, 0UL,
                0UL); /* where Yama wants to be asked */
    int fd = filter_install(&s->calls);
    s->watch->listener = fd < 0 ? -2 : fd;
    if (fd < 0)
        return listener_fail(-fd, e);
    if (!await(&s->watch->ready, 0))
        return err_set(e, 0, 0, "the process that watches its system calls does not start");
    /* Where Yama wants to be asked; it holds for watchers too, which are below their keeper. */
    (void)prctl(PR_SET_PTRACER, (unsigned long)s->watch->keeper, 0UL, 0UL, 0UL);
    return 0;
}

/* ---- the words ---- */

/* The calls before "--", and the program behind it. */
static int read_words(struct start *s, int argc, char **argv, struct err *e)
{
    bool any = false;
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!syscall_set_named(&s->calls, slice_of(argv[i])))
            return err_set(e, 0, 0, "this program does not know the system call \"%s\"", argv[i]);
        for (uint32_t id = 0; id < SYSCALLS; id++)
            any = any || (syscall_set_has(&s->calls, id) && calls_number(id) >= 0);
    }
    if (i + 1 >= argc)
        return err_set(e, 0, 0, "it needs FILE CALL... -- PROGRAM WORD...");
    s->program = argv + i + 1;
    return any ? 0 : err_set(e, 0, 0, "this machine has none of the system calls that are named");
}

static int open_files(struct start *s, const char *path, struct err *e)
{
    struct arena a = {0};
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    s->state = file_open_private(path, flags);
    s->counts = file_open_private(calls_counts_path(&a, path), flags);
    arena_deinit(&a);
    if (s->state < 0 || s->counts < 0 || flock(s->counts, LOCK_SH))
        return err_set(e, 0, 0, "%s cannot be written: %s", path, strerror(errno));
    s->watch =
        mmap(NULL, sizeof *s->watch, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->watch == MAP_FAILED)
        return err_set(e, 0, 0, "there is no memory to watch its system calls: %s",
                       strerror(errno));
    /* What a node that was killed and is started again has met counts on. */
    if (pread(s->counts, s->watch->counts, sizeof s->watch->counts, 0) < 0)
        memset(s->watch->counts, 0, sizeof s->watch->counts);
    s->watch->listener = -1;
    return 0;
}

int calls_run(int argc, char **argv, struct buf *said, struct err *e)
{
    struct start s = {.state = -1, .counts = -1};
    (void)said;
    if (argc < 1 || read_words(&s, argc, argv, e) || open_files(&s, argv[0], e) || !s.watch ||
        !s.program || watched_start(&s, e))
        return e->text[0] ? -1 : err_set(e, 0, 0, "it needs FILE CALL... -- PROGRAM WORD...");
    (void)execvp(s.program[0], s.program);
    return err_set(e, 0, 0, "%s cannot be run: %s", s.program[0], strerror(errno));
}
