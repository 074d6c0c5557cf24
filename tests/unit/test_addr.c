/* SPDX-License-Identifier: Apache-2.0
 *
 * io/addr and io/sys: addresses as text, and real sockets made from them. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/addr.h"
#include "io/sys.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { WAIT_MS = 10 * 1000 };

/* ---- help ---- */

static char folder[] = "/tmp/outfox-addr-XXXXXX";

/* Sockets have short names in a folder of their own. */
static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/") || rmdir(folder) ? -1 : 0; /* every test has cleaned up */
}

static struct addr parsed(const char *text)
{
    struct addr a;
    struct err e = {.line = 0};
    if (addr_parse(slice_of(text), "--to", &a, &e))
        fail_msg("%s: %s", text, e.text);
    return a;
}

static void assert_prints(const struct addr *a, const char *text)
{
    struct buf b = BUF_INIT(300);
    addr_print(a, &b);
    assert_string_equal(buf_text(&b), text);
    buf_deinit(&b);
}

static int listening(struct addr *a, bool shared)
{
    struct err e = {.line = 0};
    int fd = addr_listen(a, shared, &e);
    if (fd < 0)
        fail_msg("%s", e.text);
    return fd;
}

static void assert_no_listening(struct addr *a, bool shared, const char *words)
{
    struct err e = {.line = 0};
    assert_int_equal(addr_listen(a, shared, &e), -1);
    if (!strstr(e.text, words))
        fail_msg("\"%s\" does not say \"%s\"", e.text, words);
}

static void wait_for(int fd, short what)
{
    struct pollfd p = {.fd = fd, .events = what};
    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t n = sizeof value;
    assert_int_equal(getsockopt(fd, level, name, &value, &n), 0);
    return value;
}

static void assert_private_and_non_blocking(int fd)
{
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static struct iovec piece(const char *text)
{
    return (struct iovec){.iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text)};
}

/* Connects to a and sends a byte through; both ends are closed again. */
static void assert_reaches(const struct addr *a, int listener)
{
    char byte = 0;
    struct iovec x = piece("x");
    int client = addr_connect(a);
    assert_true(client >= 0);
    assert_private_and_non_blocking(client);
    wait_for(listener, POLLIN);
    int server = sys_accept(listener);
    assert_true(server >= 0);
    assert_private_and_non_blocking(server);
    wait_for(client, POLLOUT);
    assert_int_equal(option(client, SOL_SOCKET, SO_ERROR), 0);
    assert_int_equal(sys_writev(client, &x, 1), 1);
    wait_for(server, POLLIN);
    assert_int_equal(sys_read(server, &byte, 1), 1);
    assert_int_equal(byte, 'x');
    sys_close(client);
    sys_close(server);
}

/* ---- text ---- */

static void test_parse(void **state)
{
    static const struct {
        const char *text, *printed, *host;
    } rows[] = {
        {"127.0.0.1:8001", "127.0.0.1:8001", "127.0.0.1"},
        {"10.1.2.3:0", "10.1.2.3:0", "10.1.2.3"},
        {"[::1]:8001", "[::1]:8001", "::1"},
        {"[2001:DB8::0:7]:65535", "[2001:db8::7]:65535", "2001:DB8::0:7"},
        {"[::ffff:1.2.3.4]:1", "[::ffff:1.2.3.4]:1", "::ffff:1.2.3.4"},
        {"[fe80::1%lo]:1", "[fe80::1%lo]:1", "fe80::1"},
        {"localhost:8001", "127.0.0.1:8001", "localhost"},
        {":8001", "0.0.0.0:8001", "0.0.0.0"},
        {"8001", "127.0.0.1:8001", "127.0.0.1"},
        {"0", "127.0.0.1:0", "127.0.0.1"},
        {"unix:/run/a.sock", "unix:/run/a.sock", ""},
        {"unix:a", "unix:a", ""},
        {"unix:@outfox", "unix:@outfox", ""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct addr a = parsed(rows[i].text);
        bool bare = rows[i].text[0] == ':' || !strchr(rows[i].text, ':'); /* nobody could use it */
        assert_string_equal(a.text, bare ? rows[i].printed : rows[i].text);
        assert_string_equal(a.host, rows[i].host);
        assert_prints(&a, rows[i].printed);
    }
}

static void test_parse_errors(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", "--to: the address is missing; write HOST:PORT"},
        {"foo", "--to: \"foo\" has no port; write HOST:PORT"},
        {"127.0.0.1", "has no port"},
        {"[::1]", "has no port"},
        {"[::1]8001", "has no port"},
        {"[::1:8001", "is missing a ]"},
        {"[]:8001", "no address in its brackets"},
        {"::1:8001", "in brackets: [::1]:8001"},
        {"localhost:", "the port \"\" is not a number from 0 to 65535"},
        {"localhost:http", "the port \"http\""},
        {"localhost:65536", "the port \"65536\""},
        {"65536", "the port \"65536\""},
        {"localhost:-1", "the port \"-1\""},
        {"localhost:+1", "the port \"+1\""},
        {"localhost:99999999999999999999999", "is not a number"},
        {"localhost:8001/", "is more than an address"},
        {"ftp://localhost:8001", "is more than an address"},
        {"local host:1", "a blank"},
        {"[zz::1]:1", "\"zz::1\" is not an IPv6 address; write [::1]:8001"},
        {"[localhost]:1", "is not an IPv6 address"},
        {"[fe80::1%no-such-link]:1", "is not an IPv6 address"},
        /* no resolver can be asked for a name with an empty part */
        {"a..b:1", "--to: cannot resolve \"a..b\" ("},
        {"a..b:1", "; check the name, or write a numeric address"},
        {"unix:", "has no path"},
        {"unix:@", "has no path"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct addr a;
        struct err e = {.line = 0};
        assert_int_equal(addr_parse(slice_of(rows[i].text), "--to", &a, &e), -1);
        if (!strstr(e.text, rows[i].words))
            fail_msg("\"%s\" gives \"%s\", without \"%s\"", rows[i].text, e.text, rows[i].words);
    }
}

static void test_parse_bounds(void **state)
{
    static const struct {
        const char *start;
        size_t n;
        const char *end;
        int result;
    } rows[] = {
        {"unix:/", 106, "", 0},     {"unix:/", 107, "", -1}, {"unix:@", 106, "", 0},
        {"unix:@", 107, "", -1},    {"", 128, ":1", -1},     {"", 200, ":1", -1},
        {"unix:/", 100000, "", -1}, {"", 100000, ":1", -1},  {"[", 127, "]:1", -1},
        {"1:", 150, "", -1},        {"unix:/", 300, "", -1}, {"", 153, ":80", -1},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(200000);
        struct addr a;
        struct err e = {.line = 0};
        buf_adds(&text, rows[i].start);
        for (size_t n = 0; n < rows[i].n; n++)
            buf_addc(&text, 'a');
        buf_adds(&text, rows[i].end);
        assert_int_equal(addr_parse(buf_slice(&text), "--to", &a, &e), rows[i].result);
        assert_int_equal(e.text[0] != 0, rows[i].result != 0);
        if (rows[i].result == 0)
            assert_prints(&a, buf_text(&text));
        buf_deinit(&text);
    }
}

/* The slice need not end with NUL, and a NUL in it is refused, not taken for the end. */
static void test_parse_slices(void **state)
{
    struct addr a;
    struct err e = {.line = 0};
    (void)state;
    assert_int_equal(addr_parse((slice){"127.0.0.1:80012", 14}, "--to", &a, &e), 0);
    assert_int_equal(addr_port(&a), 8001);
    assert_int_equal(addr_parse((slice){"127.0.0.1:80\0"
                                        "01",
                                        15},
                                "--to", &a, &e),
                     -1);
    e.text[0] = 0;
    assert_int_equal(addr_parse((slice){"unix:/a\0b", 9}, "--to", &a, &e), -1);
}

static void test_port(void **state)
{
    struct addr four = parsed("127.0.0.1:258"), six = parsed("[::1]:65535"), un = parsed("unix:a");
    (void)state;
    assert_int_equal(addr_port(&four), 258);
    assert_int_equal(addr_port(&six), 65535);
    assert_int_equal(addr_port(&un), 0);
    assert_true(addr_is_unix(&un));
    /* the name of an abstract socket is as long as it was written: "@b" */
    assert_int_equal(parsed("unix:@b").n, offsetof(struct sockaddr_un, sun_path) + 2);
    assert_false(addr_is_unix(&six));
}

/* ---- TCP ---- */

/* Some containers have none. */
static bool has_ipv6(void)
{
    struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&loopback, sizeof loopback) == 0;
    if (fd >= 0)
        sys_close(fd);
    return has;
}

static void test_listen(void **state)
{
    static const char *const texts[] = {"127.0.0.1:0", "[::1]:0", "localhost:0", "0", ":0"};
    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        if (texts[i][0] == '[' && !has_ipv6())
            continue;
        struct addr a = parsed(texts[i]);
        int fd = listening(&a, false);
        assert_int_not_equal(addr_port(&a), 0);
        assert_private_and_non_blocking(fd);
        assert_int_equal(sys_accept(fd), -EAGAIN);
        assert_int_equal(option(fd, SOL_SOCKET, SO_REUSEPORT), 0);
        assert_reaches(&a, fd);
        sys_close(fd);
    }
}

/* [::] takes the port of IPv6 alone: 0.0.0.0 may have the same. */
static void test_listen_v6_only(void **state)
{
    (void)state;
    if (!has_ipv6())
        skip();
    struct addr six = parsed("[::]:0");
    int fd = listening(&six, false);
    assert_int_equal(option(fd, IPPROTO_IPV6, IPV6_V6ONLY), 1);
    sys_close(fd);
}

static void test_listen_in_use(void **state)
{
    (void)state;
    struct addr first = parsed("127.0.0.1:0");
    int fd = listening(&first, false);
    char text[32], words[64];
    snprintf(text, sizeof text, "127.0.0.1:%u", addr_port(&first));
    snprintf(words, sizeof words, "port %u is in use; `ss -ltnp`", addr_port(&first));
    struct addr second = parsed(text);
    assert_no_listening(&second, false, words);
    assert_no_listening(&second, true, words);
    sys_close(fd);
    /* and it can be had again at once */
    fd = listening(&second, false);
    assert_reaches(&second, fd);
    sys_close(fd);
}

/* A port whose connections are in TIME_WAIT can be listened at. */
static void test_listen_after_time_wait(void **state)
{
    (void)state;
    struct addr a = parsed("127.0.0.1:0");
    int fd = listening(&a, false);
    int client = addr_connect(&a);
    wait_for(fd, POLLIN);
    int server = sys_accept(fd);
    assert_true(client >= 0 && server >= 0);
    sys_close(server); /* who closes first has the port in TIME_WAIT */
    char byte;
    wait_for(client, POLLIN);
    assert_int_equal(sys_read(client, &byte, 1), 0);
    sys_close(client);
    sys_close(fd);
    fd = listening(&a, false);
    sys_close(fd);
}

static void test_listen_shared(void **state)
{
    enum { N = 4, CONNECTIONS = 64 };
    int fds[N], hits[N] = {0}, clients[CONNECTIONS];
    (void)state;
    struct addr a = parsed("127.0.0.1:0");
    for (int i = 0; i < N; i++)
        fds[i] = listening(&a, true);
    for (int i = 0; i < CONNECTIONS; i++) {
        clients[i] = addr_connect(&a);
        assert_true(clients[i] >= 0);
        struct pollfd p[N];
        for (int j = 0; j < N; j++)
            p[j] = (struct pollfd){.fd = fds[j], .events = POLLIN};
        assert_int_equal(poll(p, N, WAIT_MS), 1);
        for (int j = 0; j < N; j++)
            if (p[j].revents) {
                hits[j]++;
                sys_close(sys_accept(fds[j]));
            }
    }
    int used = 0;
    for (int j = 0; j < N; j++)
        used += hits[j] > 0;
    assert_true(used > 1); /* all on one of four by chance: 4^-63 */

    /* somebody else does not get in, although both would share */
    char text[32];
    snprintf(text, sizeof text, "127.0.0.1:%u", addr_port(&a));
    struct addr other = parsed(text);
    assert_no_listening(&other, true, "is in use");
    assert_no_listening(&other, false, "is in use");
    for (int i = 0; i < CONNECTIONS; i++)
        sys_close(clients[i]);
    for (int i = 0; i < N; i++)
        sys_close(fds[i]);
}

static void test_listen_errors(void **state)
{
    (void)state;
    struct addr nowhere = parsed("192.0.2.1:0"); /* for documentation: no machine has it */
    assert_no_listening(&nowhere, false, "does not have that address; `ip addr`");
    struct addr low = parsed("127.0.0.1:1");
    struct err e = {.line = 0};
    int fd = addr_listen(&low, false, &e);
    if (fd >= 0) /* root, or a machine where all may */
        sys_close(fd);
    else
        assert_non_null(strstr(e.text, "ports below 1024"));
}

static void test_connect_refused(void **state)
{
    (void)state;
    struct addr a = parsed("127.0.0.1:0");
    int bound = socket(AF_INET, SOCK_STREAM, 0); /* nobody listens, and nobody else gets the port */
    assert_int_equal(bind(bound, (struct sockaddr *)&a.sa, a.n), 0);
    assert_int_equal(getsockname(bound, (struct sockaddr *)&a.sa, &a.n), 0);
    int fd = addr_connect(&a);
    if (fd < 0) {
        assert_int_equal(errno, ECONNREFUSED);
    } else {
        wait_for(fd, POLLOUT);
        assert_int_equal(option(fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
        sys_close(fd);
    }
    sys_close(bound);
}

static void test_connect_no_delay(void **state)
{
    (void)state;
    struct addr a = parsed("127.0.0.1:0");
    int listener = listening(&a, false), fd = addr_connect(&a);
    assert_int_not_equal(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
    sys_close(fd);
    sys_close(listener);
}

/* ---- unix sockets ---- */

static bool exists(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0;
}

static void test_unix(void **state)
{
    char abstract[64];
    const char *const texts[] = {"unix:s", abstract};
    (void)state;
    snprintf(abstract, sizeof abstract, "unix:@outfox-test-addr-%d", getpid());
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct addr a = parsed(texts[i]), again = a;
        int fd = listening(&a, false);
        assert_prints(&a, texts[i]);
        assert_reaches(&a, fd);
        assert_no_listening(&again, false, "it is in use");
        int probe =
            sys_accept(fd); /* a path is asked whether anybody listens; a name need not be */
        assert_int_equal(probe >= 0, i == 0);
        if (probe >= 0)
            sys_close(probe);
        assert_reaches(&a, fd);
        sys_close(fd);
        addr_unlink(&a);
        assert_false(exists("s"));
    }
}

static void test_unix_abandoned(void **state)
{
    (void)state;
    struct addr a = parsed("unix:s");
    sys_close(listening(&a, false)); /* the file stays, as after a crash */
    assert_true(exists("s"));
    struct addr b = parsed("unix:s");
    int fd = listening(&b, false);
    assert_reaches(&b, fd);
    sys_close(fd);
    addr_unlink(&b);
    assert_false(exists("s"));
}

static void test_unix_full_queue_is_in_use(void **state)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = "s"};
    int clients[4], n = 0;
    (void)state;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    assert_int_equal(listen(fd, 0), 0);
    struct addr a = parsed("unix:s");
    for (; n < 4; n++) {
        clients[n] = addr_connect(&a);
        if (clients[n] < 0) {
            assert_int_equal(errno, EAGAIN);
            break;
        }
    }
    assert_true(n < 4);
    assert_no_listening(&a, false, "it is in use");
    assert_true(exists("s"));
    while (n > 0)
        sys_close(clients[--n]);
    sys_close(fd);
    addr_unlink(&a);
}

/* Connecting to an ordinary file is refused too: it must survive. */
static void test_unix_other_file(void **state)
{
    (void)state;
    int file = open("precious", O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    sys_close(file);
    struct addr a = parsed("unix:precious");
    assert_no_listening(&a, false, "a file that is not a socket");
    addr_unlink(&a);
    assert_true(exists("precious"));
    assert_int_equal(unlink("precious"), 0);
}

static void test_unix_errors(void **state)
{
    (void)state;
    struct addr a = parsed("unix:no-such-folder/s");
    assert_no_listening(&a, false, "No such file or directory");
    assert_int_equal(addr_connect(&a), -1);
    assert_int_equal(errno, ENOENT);
    addr_unlink(&a);
}

static void test_unlink_tcp(void **state)
{
    (void)state;
    struct addr a = parsed("127.0.0.1:0");
    addr_unlink(&a);
}

/* ---- system calls ---- */

static void test_sys_writev(void **state)
{
    int fd[2];
    char got[16] = "";
    struct iovec iov[] = {piece("ab"), piece(""), piece("cde"), piece("f")};
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    assert_int_equal(sys_read(fd[1], got, sizeof got), -EAGAIN);
    assert_int_equal(sys_writev(fd[0], iov, LENGTH(iov)), 6);
    assert_int_equal(sys_read(fd[1], got, sizeof got), 6);
    assert_memory_equal(got, "abcdef", 6);
    sys_close(fd[0]);
    assert_int_equal(sys_read(fd[1], got, sizeof got), 0);
    sys_close(fd[1]);
}

static void test_sys_chunk(void **state)
{
    int fd[2];
    char got[16] = "";
    struct iovec iov[] = {piece(""), piece("abcde"), piece("f")};
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    sys_chunk = 3;
    assert_int_equal(sys_writev(fd[0], iov, LENGTH(iov)), 3);
    assert_int_equal(sys_writev(fd[0], iov + 2, 1), 1);
    assert_int_equal(sys_read(fd[1], got, sizeof got), 3);
    sys_chunk = 0;
    assert_int_equal(sys_read(fd[1], got + 3, sizeof got - 3), 1);
    assert_memory_equal(got, "abcf", 4);
    sys_close(fd[0]);
    sys_close(fd[1]);
}

/* SIGPIPE would end this process. */
static void test_sys_no_sigpipe(void **state)
{
    int fd[2];
    struct iovec iov = piece("x");
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    sys_close(fd[1]);
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(sys_writev(fd[0], &iov, 1), -EPIPE);
    sys_close(fd[0]);
}

static void test_sys_linger_reset(void **state)
{
    char byte;
    (void)state;
    struct addr a = parsed("127.0.0.1:0");
    int listener = listening(&a, false), client = addr_connect(&a);
    wait_for(listener, POLLIN);
    int server = sys_accept(listener);
    assert_true(server >= 0);
    sys_linger_reset(server);
    sys_close(server);
    wait_for(client, POLLIN);
    assert_int_equal(sys_read(client, &byte, 1), -ECONNRESET);
    sys_close(client);
    sys_close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_errors),
        cmocka_unit_test(test_parse_bounds),
        cmocka_unit_test(test_parse_slices),
        cmocka_unit_test(test_port),
        cmocka_unit_test(test_listen),
        cmocka_unit_test(test_listen_v6_only),
        cmocka_unit_test(test_listen_in_use),
        cmocka_unit_test(test_listen_after_time_wait),
        cmocka_unit_test(test_listen_shared),
        cmocka_unit_test(test_listen_errors),
        cmocka_unit_test(test_connect_refused),
        cmocka_unit_test(test_connect_no_delay),
        cmocka_unit_test(test_unix),
        cmocka_unit_test(test_unix_abandoned),
        cmocka_unit_test(test_unix_full_queue_is_in_use),
        cmocka_unit_test(test_unix_other_file),
        cmocka_unit_test(test_unix_errors),
        cmocka_unit_test(test_unlink_tcp),
        cmocka_unit_test(test_sys_writev),
        cmocka_unit_test(test_sys_chunk),
        cmocka_unit_test(test_sys_no_sigpipe),
        cmocka_unit_test(test_sys_linger_reset),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
