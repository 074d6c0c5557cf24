/* SPDX-License-Identifier: Apache-2.0
 *
 * io/owner: real processes that connect, listen and have children. Everything that is asked is
 * asked of sock_diag and of the tables in /proc, which must agree.
 *
 * It has a network of its own, where it may: the system remembers a bounded number of closed
 * connections, of all programs together, and one of them that has just been closed is looked for. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/addr.h"
#include "io/owner.h"
#include "io/sys.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { WAIT_MS = 10 * 1000, LIFE_S = 60 };

/* ---- processes ---- */

struct child {
    pid_t pid;
    int told; /* what it tells */
    int hold; /* it ends when something is written here */
};

/* Runs `body(arg, tell)` in a process of its own, which then stays until it is released. */
static struct child child_start(void (*body)(const void *arg, int tell), const void *arg)
{
    int tell[2], hold[2];
    assert_return_code(pipe2(tell, O_CLOEXEC), errno);
    assert_return_code(pipe2(hold, O_CLOEXEC), errno);
    pid_t pid = fork();
    assert_return_code(pid, errno);
    if (pid == 0) {
        char c;
        alarm(LIFE_S); /* whatever happens */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(tell[0]);
        close(hold[1]);
        body(arg, tell[1]);
        _exit(read(hold[0], &c, 1) == 1 ? 0 : 1);
    }
    close(tell[1]);
    close(hold[0]);
    return (struct child){pid, tell[0], hold[1]};
}

static void child_end(struct child *c)
{
    int status;
    assert_int_equal(write(c->hold, "!", 1), 1);
    close(c->hold);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(c->told);
}

static void child_hear(const struct child *c, void *to, size_t n)
{
    struct pollfd p = {c->told, POLLIN, 0};
    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
    assert_int_equal(read(c->told, to, n), n);
}

/* In the child: a sentence that is not said is noticed by the parent. */
static void tell(int fd, const void *what, size_t n)
{
    if (write(fd, what, n) != (ssize_t)n)
        _exit(2);
}

static struct addr parsed(const char *text)
{
    struct addr a;
    struct err e = {.line = 0};
    if (addr_parse(slice_of(text), "--to", &a, &e))
        fail_msg("%s: %s", text, e.text);
    return a;
}

static int listening(struct addr *a)
{
    struct err e = {.line = 0};
    int fd = addr_listen(a, false, &e);
    if (fd < 0)
        fail_msg("%s", e.text);
    return fd;
}

static uint64_t inode_of(int fd)
{
    struct stat s;
    return fstat(fd, &s) ? 0 : s.st_ino;
}

/* Asks both ways. */
static uint64_t both_inodes(int fd)
{
    owner_by_table = true;
    uint64_t table = owner_inode(fd);
    owner_by_table = false;
    uint64_t diag = owner_inode(fd);
    assert_int_equal(table, diag);
    return diag;
}

static pid_t both_listeners(const struct addr *a)
{
    owner_by_table = true;
    pid_t table = owner_listener(a);
    owner_by_table = false;
    pid_t diag = owner_listener(a);
    assert_int_equal(table, diag);
    return diag;
}

/* ---- the other end of a connection ---- */

static void connect_and_tell(const void *arg, int to)
{
    const struct addr *a = arg;
    int fd = socket(a->sa.ss_family, SOCK_STREAM, 0);
    uint64_t inode = inode_of(fd);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&a->sa, a->n))
        inode = 0;
    tell(to, &inode, sizeof inode);
}

static int accepted(int listener)
{
    struct pollfd p = {listener, POLLIN, 0};
    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_return_code(fd, errno);
    return fd;
}

static void set_port(struct addr *a, uint16_t port)
{
    if (a->sa.ss_family == AF_INET)
        ((struct sockaddr_in *)&a->sa)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)&a->sa)->sin6_port = htons(port);
}

/* A socket of IPv6 that takes IPv4, too, whatever the system's default. */
static int listening_to_both(struct addr *a)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), no = 0;
    *a = parsed("[::]:0");
    assert_return_code(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no), errno);
    assert_return_code(bind(fd, (struct sockaddr *)&a->sa, a->n), errno);
    assert_return_code(listen(fd, 16), errno);
    assert_return_code(getsockname(fd, (struct sockaddr *)&a->sa, &a->n), errno);
    return fd;
}

static void the_peer_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *listen, *connect; /* listen NULL: at both kinds of addresses */
    } rows[] = {
        {"127.0.0.1:0", "127.0.0.1:1"},
        {"[::1]:0", "[::1]:1"},
        {NULL, "127.0.0.1:1"},
        {NULL, "[::1]:1"},
        {"127.0.0.1:0", "[::ffff:127.0.0.1]:1"},
        {NULL, "[::ffff:127.0.0.1]:1"},
        {"0.0.0.0:0", "127.0.0.2:1"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct addr at, to = parsed(rows[i].connect);
        if (rows[i].listen)
            at = parsed(rows[i].listen);
        int listener = rows[i].listen ? listening(&at) : listening_to_both(&at);
        set_port(&to, addr_port(&at));
        struct child c[3]; /* the same address, other processes */
        int fd[3];
        uint64_t inode[3];
        for (int k = 0; k < 3; k++) {
            c[k] = child_start(connect_and_tell, &to);
            child_hear(&c[k], &inode[k], sizeof inode[k]);
            assert_int_not_equal(inode[k], 0);
            fd[k] = accepted(listener);
        }
        for (int k = 0; k < 3; k++) {
            assert_int_equal(both_inodes(fd[k]), inode[k]);
            for (int other = 0; other < 3; other++)
                assert_int_equal(owner_holds(c[other].pid, inode[k]), other == k);
            assert_false(owner_holds(getpid(), inode[k]));
            assert_true(owner_holds(getpid(), inode_of(fd[k])));
        }
        for (int k = 0; k < 3; k++) {
            child_end(&c[k]);
            assert_int_equal(both_inodes(fd[k]), 0); /* its socket is nobody's any more */
            assert_false(owner_holds(c[k].pid, inode[k]));
            close(fd[k]);
        }
        close(listener);
    }
}

static uint32_t links_of(const struct owner_links *links, uint32_t to, uint64_t inode)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < links->list.n; i++)
        n += links->list.at[i].to == to && links->list.at[i].inode == inode;
    return n;
}

/* By any loopback address; listeners are no connections; closed ones are there without an owner. */
static void connections_are_listed(void **state)
{
    (void)state;
    struct addr at[3] = {parsed("127.0.0.1:0"), parsed("127.0.0.1:0"), parsed("unix:/nowhere")};
    struct owner_links links = {.list = {0}};
    int listener[2] = {listening(&at[0]), listening(&at[1])};
    owner_links(at, 3, &links);
    assert_int_equal(links.list.n, 0);
    struct child c = child_start(connect_and_tell, &at[1]);
    uint64_t inode;
    child_hear(&c, &inode, sizeof inode);
    int fd = accepted(listener[1]);
    owner_links(at, 3, &links);
    assert_int_equal(links_of(&links, 1, inode), 1);
    assert_int_equal(links_of(&links, 1, 0), 1); /* the end of the service */
    assert_int_equal(links.list.n, 2);
    struct addr named = parsed("[::1]:1");
    set_port(&named, addr_port(&at[1]));
    owner_links(&named, 1, &links);
    assert_int_equal(links_of(&links, 0, inode), 1);
    close(fd); /* first: its end is remembered for a while */
    child_end(&c);
    owner_links(at, 3, &links);
    assert_int_equal(links_of(&links, 1, inode), 0);
    assert_int_not_equal(links.list.n, 0);
    close(listener[0]);
    close(listener[1]);
    vec_deinit(&links.list);
}

static void nobody_knows(void **state)
{
    (void)state;
    int pair[2], fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), errno);
    assert_int_equal(both_inodes(pair[0]), 0);
    assert_int_equal(both_inodes(fd), 0); /* not connected */
    assert_int_equal(both_inodes(-1), 0);
    assert_false(owner_holds(getpid(), 0));
    assert_false(owner_holds(0, inode_of(fd)));
    assert_false(owner_holds(-1, inode_of(fd)));
    assert_false(owner_holds(INT32_MAX, inode_of(fd)));
    close(pair[0]);
    close(pair[1]);
    close(fd);
}

/* A port where a peer was that has gone may belong to a listener by now: that is not the peer. */
static void a_listener_is_no_peer(void **state)
{
    (void)state;
    struct addr at = parsed("127.0.0.1:0"), own;
    int listener = listening(&at), yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    own = parsed("127.0.0.1:0");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    assert_return_code(bind(fd, (struct sockaddr *)&own.sa, own.n), errno);
    assert_return_code(connect(fd, (struct sockaddr *)&at.sa, at.n), errno);
    assert_return_code(getsockname(fd, (struct sockaddr *)&own.sa, &own.n), errno);
    int peer = accepted(listener);
    assert_int_equal(both_inodes(peer), inode_of(fd));
    sys_linger_reset(fd);
    close(fd);
    int second = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(second, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    assert_return_code(bind(second, (struct sockaddr *)&own.sa, own.n), errno);
    assert_return_code(listen(second, 4), errno);
    assert_int_equal(both_inodes(peer), 0);
    close(second);
    close(peer);
    close(listener);
}

/* ---- who listens ---- */

struct listen_plan {
    struct addr *at;
    int fd;
    bool share; /* with a child of its own */
};

static void listen_and_tell(const void *arg, int to)
{
    const struct listen_plan *plan = arg;
    if (plan->share && fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(LIFE_S);
        for (;;)
            pause();
    }
    tell(to, "!", 1);
}

static void the_listener_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *listen, *ask;
        bool share;
    } rows[] = {
        {"127.0.0.1:0", "127.0.0.1:1", false}, {"127.0.0.1:0", "[::ffff:127.0.0.1]:1", false},
        {"0.0.0.0:0", "127.0.0.1:1", true},    {"[::1]:0", "[::1]:1", false},
        {"[::]:0", "[::1]:1", true},           {NULL, "127.0.0.1:1", true},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct addr at, ask = parsed(rows[i].ask);
        if (rows[i].listen)
            at = parsed(rows[i].listen);
        int fd = rows[i].listen ? listening(&at) : listening_to_both(&at);
        struct listen_plan plan = {&at, fd, rows[i].share};
        set_port(&ask, addr_port(&at));
        assert_int_equal(both_listeners(&ask), getpid());
        struct child c = child_start(listen_and_tell, &plan);
        char told;
        child_hear(&c, &told, 1);
        assert_int_equal(both_listeners(&ask), getpid()); /* the parent of those who share it */
        close(fd);
        assert_int_equal(both_listeners(&ask), c.pid);
        child_end(&c);
    }
    struct addr unix_socket = parsed("unix:@outfox-owner");
    assert_int_equal(owner_listener(&unix_socket), 0);
}

static void nobody_listens(void **state)
{
    (void)state;
    struct addr at = parsed("127.0.0.1:0"), other = parsed("127.0.0.2:1");
    int fd = listening(&at);
    set_port(&other, addr_port(&at));
    assert_int_equal(both_listeners(&other), 0);
    assert_int_equal(both_listeners(&at), getpid());
    close(fd);
    assert_int_equal(both_listeners(&at), 0);
}

/* ---- families ---- */

/* Tells the ids of a child, of the child's child, of one whose parent has ended, and of a zombie.
 */
static void have_family(const void *arg, int to)
{
    (void)arg;
    pid_t ids[4];
    int pipes[2];
    setpgid(0, 0);
    if (pipe(pipes))
        _exit(2);
    ids[0] = fork();
    if (ids[0] == 0) {
        alarm(LIFE_S);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "a) R 1 1 (b");
        pid_t below = fork();
        if (below == 0)
            for (alarm(LIFE_S);;)
                pause();
        tell(pipes[1], &below, sizeof below);
        for (;;)
            pause();
    }
    if (read(pipes[0], &ids[1], sizeof ids[1]) != sizeof ids[1])
        _exit(2);
    pid_t dies = fork();
    if (dies == 0) {
        pid_t orphan = fork();
        if (orphan == 0)
            for (alarm(LIFE_S);;)
                pause();
        tell(pipes[1], &orphan, sizeof orphan);
        _exit(0);
    }
    if (read(pipes[0], &ids[2], sizeof ids[2]) != sizeof ids[2] || waitpid(dies, NULL, 0) != dies)
        _exit(2);
    ids[3] = fork();
    if (ids[3] == 0)
        _exit(0);
    siginfo_t info;
    waitid(P_PID, (id_t)ids[3], &info, WEXITED | WNOWAIT);
    tell(to, ids, sizeof ids);
}

static bool among(const struct pids *p, pid_t pid)
{
    for (uint32_t i = 0; i < p->list.n; i++)
        if (p->list.at[i] == pid)
            return true;
    return false;
}

static void the_family_is_found(void **state)
{
    (void)state;
    struct pids all = {.list = {0}};
    struct child c = child_start(have_family, NULL);
    pid_t ids[4];
    child_hear(&c, ids, sizeof ids);
    owner_family(c.pid, &all);
    assert_int_equal(all.list.n, 4);
    assert_int_equal(all.list.at[0], c.pid);
    for (int i = 0; i < 3; i++)
        assert_true(among(&all, ids[i]));
    assert_false(among(&all, ids[3]));
    owner_family(ids[0], &all);
    assert_int_equal(all.list.n, 2);
    assert_int_equal(all.list.at[0], ids[0]);
    assert_int_equal(all.list.at[1], ids[1]);
    owner_family(getpid(), &all);
    assert_int_equal(all.list.at[0], getpid());
    assert_true(among(&all, ids[1]));
    pid_t group = c.pid;
    child_end(&c);
    owner_family(group, &all); /* those it has left behind */
    assert_false(among(&all, group));
    assert_true(among(&all, ids[2]));
    kill(-group, SIGKILL);
    static const pid_t nobody[] = {0, -1, INT32_MAX};
    for (size_t i = 0; i < LENGTH(nobody); i++) {
        owner_family(nobody[i], &all);
        assert_int_equal(all.list.n, 0);
    }
    vec_deinit(&all.list);
}

/* Where that is not allowed, the network of everybody has to do. */
static int network_of_its_own(void **state)
{
    (void)state;
    if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
        return 0;
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int rc = ioctl(fd, SIOCSIFFLAGS, &loopback);
    close(fd);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peer_is_found),      cmocka_unit_test(nobody_knows),
        cmocka_unit_test(a_listener_is_no_peer),  cmocka_unit_test(the_listener_is_found),
        cmocka_unit_test(nobody_listens),         cmocka_unit_test(the_family_is_found),
        cmocka_unit_test(connections_are_listed),
    };
    return cmocka_run_group_tests(tests, network_of_its_own, NULL);
}
