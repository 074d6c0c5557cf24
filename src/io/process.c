/* SPDX-License-Identifier: Apache-2.0
 *
 * Our side of child processes: requests to the keeper, notes of the guards.
 *
 * 1. A process has a socket pair of its own from the beginning. One end travels to its guard; that
 *    nobody holds it any more, for whatever reason, is seen as the end of the stream.
 * 2. What the keeper cannot take at once (its socket is full, too many descriptors are under way)
 *    waits with its descriptors, and is tried again.
 * 3. A process is freed by process_release alone; memory that libuv still has a hand on goes when
 *    libuv says so. */
#include "io/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "io/process_int.h"
#include "io/procs.h"
#include "io/sys.h"

enum { TEXT_MAX = 8 * 1024 * 1024, NOTES_MOST = 8, WAIT_MOST_MS = 12000, WAIT_STEP_MS = 2 };

#define RETRY_NS MS(5)

struct keeper {
    uv_poll_t poll; /* of fd; first, so that its address is the keeper's */
    int fd;
    bool dead; /* fd has seen its end */
    char mark[MARK_MAX];
    pid_t pid;
    bool patient;
    void (*clear)(void *user); /* NULL: nobody waits for it */
    void *user;
    struct loop *loop;           /* NULL: not attached */
    struct timer retry;          /* runs while requests wait */
    struct process *first, *end; /* in the order of their start */
};

struct process {
    uv_poll_t poll; /* of fd; first, so that its address is the process's */
    bool polled;    /* `poll` is libuv's until it is closed */
    bool waiting;   /* the request has not been sent: theirs[] is still ours */
    bool ended;
    bool released; /* no more events, whatever comes */
    int fd;
    int theirs[SPAWN_FDS];
    pid_t pid, guard;
    struct keeper *keeper;
    struct process *prev, *next;
    struct timer soon; /* `failed` is due */
    const struct process_events *events;
    void *user;
    char dir[200]; /* for messages */
    char why[400];
};

/* --- Ends ------------------------------------------------------------------------------------- */

static void fd_close(int *fd)
{
    if (*fd >= 0)
        sys_close(*fd);
    *fd = -1;
}

static void theirs_close(struct process *p)
{
    for (int i = 0; i < SPAWN_FDS; i++)
        fd_close(&p->theirs[i]);
    p->waiting = false;
}

static void on_closed(uv_handle_t *h)
{
    mem_free(h); /* a process or the keeper: the handle is its first member */
}

static void process_release(struct process *p)
{
    struct keeper *k = p->keeper;
    p->released = true;
    timer_stop(k->loop, &p->soon);
    *(p->prev ? &p->prev->next : &k->first) = p->next;
    *(p->next ? &p->next->prev : &k->end) = p->prev;
    theirs_close(p);
    if (p->polled)
        uv_close((uv_handle_t *)&p->poll, on_closed);
    fd_close(&p->fd);
    if (!p->polled)
        mem_free(p);
}

static void process_fail(struct process *p)
{
    timer_stop(p->keeper->loop, &p->soon);
    p->released = true; /* process_abandon from within is one word too many, and harmless */
    p->events->failed(p, p->why);
    process_release(p);
}

static void on_soon(struct timer *t)
{
    process_fail(OWNER(t, struct process, soon));
}

__attribute__((format(printf, 2, 3))) static void process_fail_soon(struct process *p,
                                                                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(p->why, sizeof p->why, format, args);
    va_end(args);
    theirs_close(p);
    p->soon.fire = on_soon;
    timer_start(p->keeper->loop, &p->soon, p->keeper->loop->now_ns);
}

#define KEEPER_GONE "the process of outfox that starts others was killed; run outfox again"

/* --- Requests --------------------------------------------------------------------------------- */

/* 0, or -errno. */
static int request_send(int sock, const int fds[SPAWN_FDS])
{
    char byte = 0;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * SPAWN_FDS)];
    } room = {0};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = room.bytes,
                       .msg_controllen = sizeof room.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * SPAWN_FDS);
    memcpy(CMSG_DATA(c), fds, sizeof(int) * SPAWN_FDS);
    return sendmsg(sock, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static bool is_busy(int code)
{
    return code == -EAGAIN || code == -EINTR || code == -ETOOMANYREFS || code == -ENOBUFS ||
           code == -ENOMEM;
}

static void on_retry(struct timer *t);

static void process_send(struct process *p)
{
    struct keeper *k = p->keeper;
    int code = k->dead ? -EPIPE : request_send(k->fd, p->theirs);
    if (is_busy(code)) {
        p->waiting = true;
        k->retry.fire = on_retry;
        timer_start(k->loop, &k->retry, k->loop->now_ns + RETRY_NS);
    } else if (code) {
        process_fail_soon(p, KEEPER_GONE);
    } else {
        theirs_close(p);
    }
}

/* As many as the keeper takes, in their order. */
static void on_retry(struct timer *t)
{
    struct keeper *k = OWNER(t, struct keeper, retry);
    for (struct process *p = k->first; p && !k->retry.at_ns; p = p->next)
        if (p->waiting)
            process_send(p);
}

/* Puts the text of a request into a file in memory. 0, or -1 with errno. */
static int text_write(int fd, const struct process_spec *spec)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    buf_add(&text, (slice){spec->command, strlen(spec->command) + 1});
    const char *dir = spec->dir ? spec->dir : "";
    buf_add(&text, (slice){dir, strlen(dir) + 1});
    for (const char *const *pair = spec->env; pair && *pair; pair++)
        buf_add(&text, (slice){*pair, strlen(*pair) + 1});
    size_t done = 0;
    while (!text.full && done < text.n) {
        ssize_t put = write(fd, text.p + done, text.n - done);
        if (put < 0 && errno != EINTR)
            break;
        done += put > 0 ? (size_t)put : 0;
    }
    bool all = done == text.n && !text.full;
    if (text.full)
        errno = E2BIG;
    buf_deinit(&text);
    return all ? 0 : -1;
}

static void on_note(uv_poll_t *h, int status, int events);

/* 0, or -1 with errno. */
static int process_prepare(struct process *p, const struct process_spec *spec)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return -1;
    p->fd = pair[0];
    p->theirs[SPAWN_SOCKET] = pair[1];
    int output = spec->apart ? spec->stdout_fd : spec->out_fd;
    p->theirs[SPAWN_OUTPUT] = fcntl(output, F_DUPFD_CLOEXEC, 0);
    p->theirs[SPAWN_ERRORS] = fcntl(spec->out_fd, F_DUPFD_CLOEXEC, 0);
    p->theirs[SPAWN_INPUT] = spec->fed ? fcntl(spec->in_fd, F_DUPFD_CLOEXEC, 0)
                                       : open("/dev/null", O_RDONLY | O_CLOEXEC);
    p->theirs[SPAWN_TEXT] = memfd_create("outfox-command", MFD_CLOEXEC);
    if (p->theirs[SPAWN_OUTPUT] < 0 || p->theirs[SPAWN_ERRORS] < 0 || p->theirs[SPAWN_TEXT] < 0 ||
        p->theirs[SPAWN_INPUT] < 0 || text_write(p->theirs[SPAWN_TEXT], spec))
        return -1;
    int code = uv_poll_init(&p->keeper->loop->uv, &p->poll, p->fd);
    p->polled = code == 0;
    if (code == 0)
        code = uv_poll_start(&p->poll, UV_READABLE, on_note);
    errno = -code;
    return code ? -1 : 0;
}

struct process *process_start(struct keeper *k, const struct process_spec *spec,
                              const struct process_events *events, void *user)
{
    struct process *p = mem_zero(sizeof *p);
    *p = (struct process){.fd = -1, .keeper = k, .prev = k->end, .events = events, .user = user};
    for (int i = 0; i < SPAWN_FDS; i++)
        p->theirs[i] = -1;
    (void)snprintf(p->dir, sizeof p->dir, "%.*s", (int)sizeof p->dir - 1,
                   spec->dir ? spec->dir : ".");
    *(k->end ? &k->end->next : &k->first) = p;
    k->end = p;
    if (process_prepare(p, spec) == 0)
        process_send(p);
    else if (errno == E2BIG)
        process_fail_soon(p, "its command and environment are too long");
    else
        process_fail_soon(p, "it cannot be started: %s", strerror(errno));
    return p;
}

/* --- Notes ------------------------------------------------------------------------------------ */

static void failure_print(struct process *p, int code, int step)
{
    static const char *const what[STEPS] = {
        [STEP_GUARD] = "cannot create a process for it",
        [STEP_FORK] = "cannot create a process for it",
        [STEP_TEXT] = "its command cannot be read",
        [STEP_OUTPUT] = "its output cannot be redirected",
        [STEP_EXEC] = "/bin/sh cannot be run",
    };
    if (step == STEP_DIR)
        (void)snprintf(p->why, sizeof p->why, "its directory %s cannot be entered: %s", p->dir,
                       strerror(code));
    else if (code == E2BIG)
        (void)snprintf(p->why, sizeof p->why, "its command and environment are too long");
    else
        (void)snprintf(p->why, sizeof p->why, "%s: %s", what[step % STEPS], strerror(code));
}

/* The other end was closed: by a guard that has nothing more to say, or because it is no more. */
static void process_lost(struct process *p)
{
    if (p->ended) {
        p->released = true;
        p->events->gone(p); /* else it was released when it ended */
        process_release(p);
        return;
    }
    if (p->pid) /* the keeper does more, but may be dead as well */
        (void)kill(-p->pid, SIGKILL);
    (void)snprintf(p->why, sizeof p->why, "%s",
                   p->keeper->dead || !p->pid
                       ? KEEPER_GONE
                       : "the process of outfox that watches over it was killed");
    process_fail(p);
}

static void process_take(struct process *p, const struct note *note)
{
    switch (note->kind) {
    case NOTE_STARTED:
        p->pid = note->value;
        p->guard = note->more;
        p->events->started(p, p->pid);
        break;
    case NOTE_FAILED:
        failure_print(p, note->value, note->more);
        process_fail(p);
        break;
    case NOTE_ENDED:
        p->ended = true;
        p->released = !p->events->gone;
        p->events->ended(p, note->value);
        if (!p->events->gone)
            process_release(p);
        break;
    default: /* NOTE_GONE is as good as the end that follows it, and that cannot get lost */ break;
    }
}

static void on_note(uv_poll_t *h, int status, int events)
{
    (void)events;
    struct process *p = (struct process *)h;
    loop_batch(p->keeper->loop);
    for (int i = 0; i < NOTES_MOST && !p->released; i++) {
        struct note note;
        ssize_t got = status < 0 ? 0 : recv(p->fd, &note, sizeof note, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got == (ssize_t)sizeof note)
            process_take(p, &note);
        else
            process_lost(p);
    }
}

void *process_user(const struct process *p)
{
    return p->user;
}

pid_t process_pid(const struct process *p)
{
    return p->pid;
}

pid_t process_guard(const struct process *p)
{
    return p->guard;
}

void process_signal(struct process *p, int signal)
{
    int32_t order = signal;
    (void)send(p->fd, &order, sizeof order, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What an abandoned process says. It stays known until it and all below it are gone. */
static void on_silent_start(struct process *p, pid_t pid)
{
    (void)p, (void)pid;
}

static void on_silent_end(struct process *p, int status)
{
    (void)p, (void)status;
}

static void on_silent_gone(struct process *p);

static void on_silent_failure(struct process *p, const char *why)
{
    (void)why;
    on_silent_gone(p);
}

static const struct process_events silent = {on_silent_start, on_silent_failure, on_silent_end,
                                             on_silent_gone};

bool keeper_is_clear(const struct keeper *k)
{
    for (const struct process *p = k->first; p; p = p->next)
        if (p->events == &silent && !p->released)
            return false;
    return true;
}

void keeper_tell(struct keeper *k, void (*clear)(void *user), void *user)
{
    k->clear = clear;
    k->user = user;
}

/* Its last event: `released` is set already. */
static void on_silent_gone(struct process *p)
{
    if (p->keeper->clear && keeper_is_clear(p->keeper))
        p->keeper->clear(p->keeper->user);
}

void process_abandon(struct process *p)
{
    if (p->released)
        return;
    if (p->waiting || !p->polled || p->keeper->patient) { /* not begun, or has time to end */
        process_release(p);
        return;
    }
    p->events = &silent;
    process_signal(p, SIGKILL);
}

/* --- What /proc tells of them ----------------------------------------------------------------- */

pid_t process_parent(pid_t pid)
{
    struct proc p;
    return proc_read(pid, &p) ? p.parent : 0;
}

bool process_usage(const struct process *p, struct process_usage *out)
{
    struct procs f = {0};
    *out = (struct process_usage){0};
    if (p->guard && !procs_read_below(&f, p->guard))
        procs_read_family(&f, p->guard);
    for (uint32_t i = 0; i < f.all.n; i++) {
        struct proc_usage one;
        if (!f.all.at[i].marked || !proc_usage(f.all.at[i].pid, &one))
            continue;
        out->descriptors = one.descriptors > out->descriptors ? one.descriptors : out->descriptors;
        out->memory = one.memory > out->memory ? one.memory : out->memory;
    }
    procs_deinit(&f);
    return out->descriptors > 0;
}

/* --- The keeper ------------------------------------------------------------------------------- */

int keeper_new(struct keeper **out, struct err *e)
{
    return keeper_new_patient(out, 0, e);
}

int keeper_new_patient(struct keeper **out, int64_t patience_ns, struct err *e)
{
    int pair[2];
    char mark[MARK_MAX];
    mark_print(getpid(), mark);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return err_set(e, 0, 0, "cannot create a socket: %s", strerror(errno));
    pid_t pid = sys_fork();
    int code = errno;
    if (pid >= 0 && patience_ns) /* it outlives us: what it looks after is nobody's leftover */
        mark_print(pid ? pid : getpid(), mark);
    if (pid == 0)
        keeper_main(pair[1], mark, patience_ns);
    sys_close(pair[1]);
    if (pid < 0) {
        sys_close(pair[0]);
        return err_set(e, 0, 0, "cannot create a process: %s", strerror(code));
    }
    *out = mem_zero(sizeof **out);
    (*out)->fd = pair[0];
    (*out)->patient = patience_ns > 0;
    (*out)->pid = pid;
    memcpy((*out)->mark, mark, sizeof mark);
    return 0;
}

/* The keeper says nothing, so something to read is its end. */
static void on_keeper(uv_poll_t *h, int status, int events)
{
    (void)status;
    (void)events;
    struct keeper *k = (struct keeper *)h;
    loop_batch(k->loop);
    k->dead = true;
    (void)uv_poll_stop(&k->poll);
    for (struct process *p = k->first; p; p = p->next)
        if (p->waiting)
            process_fail_soon(p, KEEPER_GONE);
}

int keeper_attach(struct keeper *k, struct loop *l, struct err *e)
{
    int code = uv_poll_init(&l->uv, &k->poll, k->fd);
    if (code)
        return err_set(e, 0, 0, "cannot watch child processes: %s", uv_strerror(code));
    k->loop = l;
    (void)uv_poll_start(&k->poll, UV_READABLE, on_keeper);
    return 0;
}

struct loop *keeper_loop(const struct keeper *k)
{
    return k->loop;
}

void keeper_free(struct keeper *k)
{
    if (!k)
        return;
    while (k->first)
        process_release(k->first);
    if (k->loop) {
        timer_stop(k->loop, &k->retry);
        uv_close((uv_handle_t *)&k->poll, on_closed);
    }
    fd_close(&k->fd);
    /* it ends by itself when its socket is closed, unless something below it cannot be killed */
    pid_t got = 0;
    for (int ms = 0; ms < WAIT_MOST_MS && got == 0; ms += WAIT_STEP_MS) {
        got = waitpid(k->pid, NULL, WNOHANG);
        if (got < 0 && errno == EINTR)
            got = 0;
        if (got == 0)
            (void)poll(NULL, 0, WAIT_STEP_MS);
    }
    if (got == 0) {
        (void)kill(k->pid, SIGKILL);
        (void)waitpid(k->pid, NULL, 0);
    }
    (void)marked_end(k->mark); /* there is something only if somebody killed keeper and guards */
    if (!k->loop)
        mem_free(k);
}
