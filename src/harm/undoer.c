/* SPDX-License-Identifier: Apache-2.0
 *
 * The undoer: our side of it, and the process.
 *
 * Messages go over a pair of SOCK_SEQPACKET sockets, so nothing is ever half read: a struct order,
 * with the script behind it where a fault begins; and the id of the fault back, as an answer.
 *
 * The process is one loop that waits in poll alone, and runs one script at a time.
 *
 * 1. Orders are taken while a script runs, so that a run that lives need not wait for it.
 * 2. All that the run had sent before it was killed is read first: the system keeps it.
 * 3. Undoing waits until nobody is left who may be about to begin what is undone: a run that was killed
 *    leaves commands that are being killed, too, and one of them could have the last word.
 * 4. What failed is not tried twice for one reason: once when its lease is over, once at the end. */
#include "harm/undoer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "io/process.h"
#include "io/procs.h"
#include "io/sys.h"

enum {
    SOCKET_FD = 3, /* of the process */
    JOURNAL_FD,
    FDS,
    CLOSE_MOST = 65536,
    STEP_MS = 10,
    POLL_MOST_MS = 60 * 1000,
    SOCKET_ROOM = 4 * UNDO_TEXT_MAX,
};

#define ANSWER_NS    SECONDS(2)
#define FREE_MOST_NS SECONDS(60)
#define DEATH_NS     SECONDS(2)

enum order_kind { ORDER_BEGIN = 1, ORDER_ENDED };

struct order {
    uint32_t kind, id;
    int64_t until_ns; /* of clock_ns(), when its lease is over; 0: never */
};

struct undoer {
    int sock;
    pid_t pid;
    uint32_t n_active; /* how many scripts its end may take */
};

/* ---- the process ---- */

struct fault {
    uint32_t id;
    int64_t until_ns;
    char *undo;
    bool failed; /* its script, since the run ended, or before */
};

struct watch {
    const char *path;         /* of the journal */
    VEC(struct fault) active; /* oldest first */
    struct undo script;       /* that runs, of this fault: */
    uint32_t id;
    bool gone; /* the run is */
    struct proc run;
};

static void fault_remove(struct watch *w, uint32_t id)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->active.n; i++) {
        if (w->active.at[i].id == id)
            mem_free(w->active.at[i].undo);
        else
            w->active.at[n++] = w->active.at[i];
    }
    w->active.n = n;
}

static void order_take(struct watch *w, const struct order *o, slice undo)
{
    fault_remove(w, o->id);
    if (o->kind != ORDER_BEGIN)
        return;
    char *copy = mem_alloc(undo.n + 1);
    memcpy(copy, undo.p, undo.n);
    copy[undo.n] = 0;
    vec_push(&w->active, (struct fault){.id = o->id, .until_ns = o->until_ns, .undo = copy});
    (void)send(SOCKET_FD, &o->id, sizeof o->id, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Takes all orders that are there. */
static void orders_take(struct watch *w, char *room, size_t n_room)
{
    while (!w->gone) {
        struct order o;
        ssize_t n = recv(SOCKET_FD, room, n_room, MSG_DONTWAIT);
        if (n >= (ssize_t)sizeof o) {
            memcpy(&o, room, sizeof o);
            order_take(w, &o, (slice){room + sizeof o, (size_t)n - sizeof o});
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else if (n >= 0 || (errno != EINTR && errno != ECONNRESET)) {
            /* (A reset, once, comes before what is still to be read.) */
            w->gone = true;
            for (uint32_t i = 0; i < w->active.n; i++)
                w->active.at[i].failed = false;
        }
    }
}

/* The newest that is to be undone now; NULL: none. */
static struct fault *fault_due(const struct watch *w)
{
    int64_t now_ns = clock_ns();
    for (uint32_t i = w->active.n; i-- > 0;) {
        struct fault *f = &w->active.at[i];
        if (!f->failed && (w->gone || (f->until_ns && f->until_ns <= now_ns)))
            return f;
    }
    return NULL;
}

/* Until when nothing is to be done but to take orders. */
static int pause_ms(const struct watch *w)
{
    if (w->script.pid)
        return STEP_MS;
    int64_t now_ns = clock_ns(), least_ns = MS(POLL_MOST_MS);
    for (uint32_t i = 0; i < w->active.n; i++) {
        const struct fault *f = &w->active.at[i];
        if (f->until_ns && !f->failed && f->until_ns - now_ns < least_ns)
            least_ns = f->until_ns - now_ns;
    }
    return least_ns < 0 ? 0 : (int)(least_ns / MS(1)) + 1;
}

static void fault_fail(struct watch *w, uint32_t id)
{
    for (uint32_t i = 0; i < w->active.n; i++)
        if (w->active.at[i].id == id)
            w->active.at[i].failed = true;
}

/* When there is no room for another process, which may be what the faults are about, tries again for
 * a while. */
static void script_start(struct watch *w, struct fault *f)
{
    int64_t until_ns = clock_ns() + undo_bound_ns;
    w->id = f->id;
    while (!undo_start(&w->script, f->undo, STDOUT_FILENO)) {
        if (clock_ns() >= until_ns) {
            f->failed = true;
            return;
        }
        (void)poll(NULL, 0, STEP_MS);
    }
}

static void script_check(struct watch *w)
{
    enum undo_state state = undo_check(&w->script);
    if (state == UNDO_RUNS)
        return;
    w->script.pid = 0;
    if (state == UNDO_FAILED) {
        fault_fail(w, w->id);
        return;
    }
    (void)journal_end_at(JOURNAL_FD, w->id); /* else it is undone twice, at worst */
    fault_remove(w, w->id);
}

/* Ends the commands of a run that was killed. One that lives, and only left something undone, has ended its
 * own. */
static void commands_end(const struct watch *w)
{
    struct proc p;
    int64_t until_ns = clock_ns() + DEATH_NS;
    bool alive;
    while ((alive = proc_read(w->run.pid, &p) && p.start == w->run.start && p.alive) &&
           clock_ns() < until_ns)
        (void)poll(NULL, 0, STEP_MS);
    if (!alive)
        (void)keeper_clear_up();
}

/* Until the run is gone and everything was undone, or was tried to be. */
static void watch_run(struct watch *w)
{
    size_t n_room = sizeof(struct order) + UNDO_TEXT_MAX;
    char *room = mem_alloc(n_room);
    for (;;) {
        struct fault *due = w->script.pid ? NULL : fault_due(w);
        if (due) {
            script_start(w, due);
            continue;
        }
        if (w->gone && !w->script.pid)
            break;
        struct pollfd p = {.fd = w->gone ? -1 : SOCKET_FD, .events = POLLIN};
        (void)poll(&p, 1, pause_ms(w));
        if (!w->gone) {
            orders_take(w, room, n_room);
            if (w->gone && w->active.n)
                commands_end(w);
        }
        if (w->script.pid)
            script_check(w);
    }
    mem_free(room);
}

/* Keeps the socket and the journal, by numbers of our own. */
static void descriptors_drop(int sock, int journal)
{
    int s = fcntl(sock, F_DUPFD_CLOEXEC, FDS), j = fcntl(journal, F_DUPFD_CLOEXEC, FDS);
    if (s < 0 || j < 0 || dup3(s, SOCKET_FD, O_CLOEXEC) < 0 || dup3(j, JOURNAL_FD, O_CLOEXEC) < 0)
        _exit(1); /* nothing has begun: our owner learns of it when something is to */
    if (close_range(FDS, ~0U, 0)) { /* an old kernel */
        struct rlimit most = {.rlim_cur = CLOSE_MOST};
        (void)getrlimit(RLIMIT_NOFILE, &most);
        for (unsigned fd = FDS; fd < most.rlim_cur && fd < CLOSE_MOST; fd++)
            sys_close((int)fd);
    }
    int null = open("/dev/null", O_RDWR); /* scripts inherit it */
    for (int fd = 0; null >= 0 && fd < SOCKET_FD; fd++)
        (void)dup2(null, fd);
    if (null >= FDS)
        sys_close(null);
}

static _Noreturn void undoer_main(int sock, const struct journal *j, pid_t run)
{
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1,
                                  SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU};
    (void)setsid();
    (void)prctl(PR_SET_NAME, "outfox-undoer");
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL); /* our owner's handlers must not run here */
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    descriptors_drop(sock, journal_fd(j));
    if (chdir("/")) /* what we stand in cannot be unmounted */
        _exit(1);
    struct watch w = {.path = journal_path(j)};
    if (!proc_read(run, &w.run)) /* then nobody waits for it */
        w.run = (struct proc){.pid = run};
    watch_run(&w);
    if (!w.active.n)
        (void)unlink(w.path);
    _exit(w.active.n ? 1 : 0);
}

/* ---- our side ---- */

int undoer_new(struct undoer **out, struct journal *j, struct err *e)
{
    int pair[2], room = SOCKET_ROOM;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return err_set(e, 0, 0, "cannot create a socket: %s", strerror(errno));
    (void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    pid_t run = getpid(), pid = sys_fork();
    int code = errno;
    if (pid == 0)
        undoer_main(pair[1], j, run);
    sys_close(pair[1]);
    if (pid < 0) {
        sys_close(pair[0]);
        return err_set(e, 0, 0, "cannot create a process: %s", strerror(code));
    }
    *out = mem_zero(sizeof **out);
    (*out)->sock = pair[0];
    (*out)->pid = pid;
    return 0;
}

/* Waits until the socket is ready; false: not in time. */
static bool socket_wait(const struct undoer *u, short events, int64_t until_ns)
{
    int64_t left_ns = until_ns - clock_ns();
    struct pollfd p = {.fd = u->sock, .events = events};
    if (left_ns <= 0)
        return false;
    return poll(&p, 1, (int)(left_ns / MS(1)) + 1) != 0; /* errors: the caller sees them again */
}

/* 0, or errno. */
static int order_send(const struct undoer *u, const struct order *o, slice undo, int64_t until_ns)
{
    union {
        const void *from;
        void *p; /* sendmsg does not write there */
    } head = {.from = o}, tail = {.from = undo.p};
    struct iovec iov[] = {{.iov_base = head.p, .iov_len = sizeof *o},
                          {.iov_base = tail.p, .iov_len = undo.n}};
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = undo.n ? 2 : 1};
    while (sendmsg(u->sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno != EINTR && errno != EAGAIN)
            return errno;
        if (errno != EINTR && !socket_wait(u, POLLOUT, until_ns))
            return ETIMEDOUT;
    }
    return 0;
}

/* 0, or errno. Answers that came too late for others are passed over. */
static int answer_await(const struct undoer *u, uint32_t id, int64_t until_ns)
{
    for (;;) {
        uint32_t got;
        ssize_t n = recv(u->sock, &got, sizeof got, MSG_DONTWAIT);
        if (n == sizeof got && got == id)
            return 0;
        if (n == 0)
            return EPIPE;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return errno;
        if (n < 0 && errno != EINTR && !socket_wait(u, POLLIN, until_ns))
            return ETIMEDOUT;
    }
}

int undoer_begin(struct undoer *u, uint32_t id, const char *undo, int64_t lease_ns, struct err *e)
{
    int64_t now_ns = clock_ns();
    struct order o = {.kind = ORDER_BEGIN, .id = id};
    if (strlen(undo) > UNDO_TEXT_MAX)
        return err_set(e, 0, 0, "the undo script is longer than %d bytes: shorten it",
                       UNDO_TEXT_MAX);
    if (lease_ns > 0)
        o.until_ns = lease_ns < INT64_MAX - now_ns ? now_ns + lease_ns : INT64_MAX;
    int code = order_send(u, &o, slice_of(undo), now_ns + ANSWER_NS);
    if (!code)
        code = answer_await(u, id, now_ns + ANSWER_NS);
    if (code == ETIMEDOUT) {
        o.kind = ORDER_ENDED; /* it may find both later */
        (void)order_send(u, &o, (slice){0}, now_ns);
        return err_set(e, 0, 0,
                       "the outfox-undoer process (%d) does not answer: is it stopped, or "
                       "the machine overloaded?",
                       (int)u->pid);
    }
    if (code)
        return err_set(e, 0, 0, "the outfox-undoer process (%d) was killed: start the plan again",
                       (int)u->pid);
    u->n_active++;
    return 0;
}

void undoer_ended(struct undoer *u, uint32_t id)
{
    struct order o = {.kind = ORDER_ENDED, .id = id};
    (void)order_send(u, &o, (slice){0}, clock_ns()); /* else it is undone twice, at worst */
    u->n_active -= u->n_active > 0;
}

void undoer_free(struct undoer *u)
{
    if (!u)
        return;
    sys_close(u->sock);
    int64_t wait_ns = FREE_MOST_NS;
    if (u->n_active < FREE_MOST_NS / (undo_bound_ns + ANSWER_NS))
        wait_ns = (u->n_active + 1) * (undo_bound_ns + ANSWER_NS);
    int64_t until_ns = clock_ns() + wait_ns;
    pid_t got;
    do {
        got = waitpid(u->pid, NULL, WNOHANG);
        if (got == 0)
            (void)poll(NULL, 0, STEP_MS / 2);
    } while ((got == 0 || (got < 0 && errno == EINTR)) && clock_ns() < until_ns);
    mem_free(u);
}

pid_t undoer_pid(const struct undoer *u)
{
    return u->pid;
}
