/* SPDX-License-Identifier: Apache-2.0
 *
 * The process of a disk: mounted as long as its input is open, told over a socket what fails; and the
 * commands that tell it. A message is one packet of lines, the answer one line:
 *
 *   arm NAME DEED KEY=VALUE ...  a rule begins (disk_rule.h)    ok
 *   disarm NAME                  it ends                        struck N; ok: there was none
 *   node PID                     the node is this process now   ok
 *
 * Where something is wrong the answer is a sentence behind "no ". When the node's process ends while
 * syncs are lost, the disk goes back: before anything else is answered, so before the node starts
 * again. */
#include "harm/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "harm/disk_int.h"
#include "io/sys.h"

enum { MESSAGE_MAX = 8192, ANSWER_MAX = 600, FILES_MAX = 1 << 20 };

/* The process; of the program's, because threads that wait for requests outlive what began them. */
static struct disk disk = {.dev_fd = -1,
                           .home_fd = -1,
                           .root = {.fd = -1},
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .gone_fd = -1};

struct control {
    struct disk *disk;
    int listen_fd, gone_fd;
    int node_fd; /* of the node's process; -1: there is none */
};

/* DIR/data.disk, and the socket there: by a descriptor, because paths of sockets are short. */
static int home_open(const char *mount)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s.disk", mount) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static struct sockaddr_un control_address(int home_fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/control", home_fd);
    return at;
}

/* ---- what is told ---- */

/* The node's process has ended: what was only said to be synced is gone. */
static int node_died(struct control *c, struct err *e)
{
    struct disk *d = c->disk;
    sys_close(c->node_fd);
    c->node_fd = -1;
    (void)pthread_mutex_lock(&d->lock);
    bool lost = disk_rules_doing(&d->rules, DISK_LOST_SYNC);
    (void)pthread_mutex_unlock(&d->lock);
    return lost ? disk_go_back(d, e) : 0;
}

static int node_check(struct control *c, struct err *e)
{
    struct pollfd p = {.fd = c->node_fd, .events = POLLIN};
    return c->node_fd >= 0 && poll(&p, 1, 0) > 0 ? node_died(c, e) : 0;
}

static int node_take(struct control *c, slice text, struct err *e)
{
    uint64_t pid;
    if (!slice_to_u64(text, INT32_MAX, &pid))
        return err_set(e, 0, 0, "a disk wants the number of a process");
    if (c->node_fd >= 0)
        sys_close(c->node_fd);
    c->node_fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    return c->node_fd < 0
               ? err_set(e, 0, 0, "the node's process cannot be watched: %s", strerror(errno))
               : 0;
}

static void rules_changed(struct disk *d)
{
    atomic_store_explicit(&d->n_rules, d->rules.list.n, memory_order_release);
    (void)pthread_cond_broadcast(&d->wake);
}

static int arm(struct disk *d, slice text, struct err *e)
{
    slice name;
    struct disk_rule rule;
    int status = 0;
    if (!slice_cut(&text, '\n', &name) || disk_rule_parse(&rule, name, text, e))
        return err_set(e, 0, 0, "a fault of a disk needs a name");
    bool past = rule.deed == DISK_LOST_SYNC;
    if (past) /* no operation is half done in the copy, and none comes between it and the rule */
        (void)pthread_rwlock_wrlock(&d->gate);
    if (past && disk_rules_doing(&d->rules, DISK_LOST_SYNC))
        status = err_set(e, 0, 0, "syncs of this disk are lost already");
    else if (disk_rules_find(&d->rules, name) || d->rules.list.n == DISK_RULES_MAX)
        status =
            err_set(e, 0, 0, "the disk has such a fault already, or %d others", DISK_RULES_MAX);
    else if (past)
        status = disk_copy(d, "now", "then", e);
    if (!status) {
        (void)pthread_mutex_lock(&d->lock);
        vec_push(&d->rules.list, rule);
        rules_changed(d);
        (void)pthread_mutex_unlock(&d->lock);
    }
    if (past)
        (void)pthread_rwlock_unlock(&d->gate);
    if (!status && (rule.deed == DISK_SLOW || rule.deed == DISK_ERROR) && (rule.does & DISK_READ))
        disk_drop_content(d);
    return status;
}

static void disarm(struct disk *d, slice name, struct buf *answer)
{
    (void)pthread_mutex_lock(&d->lock);
    struct disk_rule *r = disk_rules_find(&d->rules, name);
    bool past = r && r->deed == DISK_LOST_SYNC;
    buf_adds(answer, "ok");
    if (r) {
        buf_clear(answer);
        buf_addf(answer, "struck %llu", (unsigned long long)r->struck);
        *r = vec_last(&d->rules.list);
        d->rules.list.n--;
        d->turn++;
        rules_changed(d);
    }
    (void)pthread_mutex_unlock(&d->lock);
    if (past)
        disk_remove(d, "then");
}

/* One message. -1: the disk cannot go on. */
static int answer_one(struct control *c, int fd, struct err *e)
{
    char room[MESSAGE_MAX];
    struct buf answer = BUF_INIT(ANSWER_MAX);
    struct err wrong = {0};
    int status = node_check(c, e);
    ssize_t n = status ? 0 : recv(fd, room, sizeof room, 0);
    slice text = {room, n > 0 ? (size_t)n : 0}, verb;
    if (n > 0 && slice_cut(&text, '\n', &verb)) {
        if (slice_is(verb, "disarm"))
            disarm(c->disk, text, &answer);
        else if (slice_is(verb, "arm") ? !arm(c->disk, text, &wrong)
                                       : slice_is(verb, "node") && !node_take(c, text, &wrong))
            buf_adds(&answer, "ok");
        else
            buf_addf(&answer, "no %s", wrong.text[0] ? wrong.text : "the disk does not know that");
        (void)send(fd, answer.p, answer.n, MSG_NOSIGNAL);
    }
    buf_deinit(&answer);
    sys_close(fd);
    return status;
}

/* ---- the process ---- */

/* Until its input ends: 0; -1: something else has ended it. */
static int watch(struct control *c, struct err *e)
{
    enum { INPUT, TOLD, GONE, NODE };
    char room[512];
    for (;;) {
        struct pollfd p[] = {[INPUT] = {.fd = 0, .events = POLLIN},
                             [TOLD] = {.fd = c->listen_fd, .events = POLLIN},
                             [GONE] = {.fd = c->gone_fd, .events = POLLIN},
                             [NODE] = {.fd = c->node_fd, .events = POLLIN}};
        if (poll(p, sizeof p / sizeof *p, -1) < 0 && errno != EINTR)
            return err_set(e, 0, 0, "poll: %s", strerror(errno));
        if (p[INPUT].revents && sys_read(0, room, sizeof room) <= 0)
            return 0;
        if (p[GONE].revents)
            return err_set(e, 0, 0, "somebody has unmounted the disk");
        if (p[NODE].revents && node_died(c, e))
            return -1;
        int fd = p[TOLD].revents ? accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0 && answer_one(c, fd, e))
            return -1;
    }
}

/* Each file that the kernel knows is open here. */
static void raise_limit(void)
{
    struct rlimit most = {FILES_MAX, FILES_MAX};
    if (!setrlimit(RLIMIT_NOFILE, &most) || getrlimit(RLIMIT_NOFILE, &most))
        return;
    most.rlim_cur = most.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &most);
}

static int control_open(struct control *c, struct err *e)
{
    struct disk *d = c->disk;
    struct sockaddr_un at = control_address(d->home_fd);
    (void)unlinkat(d->home_fd, "control", 0);
    c->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (c->listen_fd < 0 || bind(c->listen_fd, (struct sockaddr *)&at, sizeof at) ||
        listen(c->listen_fd, 16))
        return err_set(e, 0, 0, "the disk has no socket: %s", strerror(errno));
    return 0;
}

/* The directories of a disk, and the process that serves them. */
static int prepare(struct control *c, const char *mount, struct err *e)
{
    struct disk *d = c->disk;
    char path[4096];
    pthread_rwlockattr_t kind;
    pthread_condattr_t clock;
    int ends[2];
    (void)pthread_rwlockattr_init(&kind);
    (void)pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    (void)pthread_rwlock_init(&d->gate, &kind);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&d->wake, &clock);
    d->mount = mount;
    d->is_root = geteuid() == 0;
    d->rules.rng.state = 1;
    (void)umask(0); /* modes of what is made come from the kernel */
    (void)snprintf(path, sizeof path, "%s.disk", mount);
    (void)mkdir(path, 0700);
    d->home_fd = home_open(mount);
    if (d->home_fd < 0)
        return err_set(e, 0, 0, "%.300s: %s", path, strerror(errno));
    static const char *const old[] = {"then", "next", "lost"};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        disk_remove(d, old[i]);
    (void)mkdirat(d->home_fd, "now", 0755);
    if (disk_open_root(d) || pipe2(ends, O_CLOEXEC))
        return err_set(e, 0, 0, "%.300s/now: %s", path, strerror(errno));
    c->gone_fd = ends[0];
    d->gone_fd = ends[1];
    return control_open(c, e);
}

int disk_run(int argc, char **argv, struct buf *said, struct err *e)
{
    struct control c = {.disk = &disk, .listen_fd = -1, .gone_fd = -1, .node_fd = -1};
    char on[40];
    if (argc != 1)
        return err_set(e, 0, 0, "it wants a directory");
    (void)said;
    raise_limit();
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    if (prepare(&c, argv[0], e))
        return -1;
    if (mkdir(argv[0], 0755) && errno != EEXIST)
        return err_set(e, 0, 0, "%.300s cannot be made: %s", argv[0], strerror(errno));
    disk.dev_fd = disk_mount(argv[0], e);
    if (disk.dev_fd < 0)
        return -1;
    int status = disk_serve(&disk, e);
    int n = snprintf(on, sizeof on, "outfox-on %d\n", (int)getpid());
    if (!status && write(1, on, (size_t)n) == n)
        status = watch(&c, e);
    struct err unmounting = {0};
    if (disk_unmount(argv[0], &unmounting) && !status)
        status = err_set(e, 0, 0, "%s", unmounting.text);
    return status;
}

/* ---- who tells it ---- */

/* Sends a message; its answer. 1: nobody is there. */
static int ask(const char *mount, const struct buf *message, struct buf *answer, struct err *e)
{
    char room[ANSWER_MAX];
    int home = home_open(mount);
    struct sockaddr_un at = control_address(home);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    ssize_t n = -1;
    if (home >= 0 && fd >= 0 && !connect(fd, (struct sockaddr *)&at, sizeof at) &&
        send(fd, message->p, message->n, MSG_NOSIGNAL) == (ssize_t)message->n)
        n = recv(fd, room, sizeof room, 0);
    if (fd >= 0)
        sys_close(fd);
    if (home >= 0)
        sys_close(home);
    if (message->full)
        return err_set(e, 0, 0, "that is longer than %d bytes", MESSAGE_MAX);
    if (n <= 0)
        return 1;
    buf_add(answer, (slice){room, (size_t)n});
    return slice_starts(buf_slice(answer), SLICE("no "))
               ? err_set(e, 0, 0, "%s", buf_text(answer) + 3)
               : 0;
}

/* The verb and the words behind the directory, a line each. */
static int tell(const char *verb, int argc, char **argv, struct buf *answer, struct err *e)
{
    struct buf message = BUF_INIT(MESSAGE_MAX);
    buf_addf(&message, "%s", verb);
    for (int i = 1; i < argc; i++)
        buf_addf(&message, "\n%s", argv[i]);
    int status = argc < 2 ? err_set(e, 0, 0, "it wants a directory and what is to be done")
                          : ask(argv[0], &message, answer, e);
    buf_deinit(&message);
    return status;
}

#define NOBODY "the disk is gone: its process has ended"

int disk_arm(int argc, char **argv, struct buf *said, struct err *e)
{
    (void)said;
    struct buf answer = BUF_INIT(ANSWER_MAX);
    int status = tell("arm", argc, argv, &answer, e);
    buf_deinit(&answer);
    return status > 0 ? err_set(e, 0, 0, NOBODY) : status;
}

/* Where the disk is gone, so are its faults. */
int disk_disarm(int argc, char **argv, struct buf *said, struct err *e)
{
    struct buf answer = BUF_INIT(ANSWER_MAX);
    int status = tell("disarm", argc, argv, &answer, e);
    if (!status && slice_starts(buf_slice(&answer), SLICE("struck ")))
        buf_addf(said, "%s\n", buf_text(&answer));
    buf_deinit(&answer);
    return status > 0 ? 0 : status;
}

int disk_node(int argc, char **argv, struct buf *said, struct err *e)
{
    (void)said;
    struct buf answer = BUF_INIT(ANSWER_MAX);
    int status = tell("node", argc, argv, &answer, e);
    buf_deinit(&answer);
    return status > 0 ? err_set(e, 0, 0, NOBODY) : status;
}

int disk_leave(int argc, char **argv, struct buf *said, struct err *e)
{
    (void)said;
    return argc == 1 ? disk_unmount(argv[0], e) : err_set(e, 0, 0, "it wants a directory");
}
