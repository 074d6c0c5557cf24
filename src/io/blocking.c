/* SPDX-License-Identifier: Apache-2.0 */
#include "io/blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/time.h>

#include "base/clock.h"
#include "io/sys.h"

enum { PIECES = 16 };

void block_init(int fd)
{
    int flags = fcntl(fd, F_GETFL), on = 1;
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Milliseconds up to a deadline, rounded up; -1: none. */
static int left_ms(int64_t deadline_ns)
{
    if (deadline_ns == 0)
        return -1;
    int64_t left = deadline_ns - clock_ns();
    if (left <= 0)
        return 0;
    int64_t ms = (left + MS(1) - 1) / MS(1);
    return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

int block_connect(const struct addr *to, int64_t deadline_ns)
{
    int fd = addr_connect(to), code = 0, n;
    if (fd < 0)
        return -errno;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    do
        n = poll(&p, 1, left_ms(deadline_ns));
    while (n < 0 && errno == EINTR);
    socklen_t size = sizeof code;
    if (n == 0)
        code = ETIMEDOUT;
    else if (n < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size))
        code = errno;
    if (code) {
        sys_close(fd);
        return -code;
    }
    block_init(fd);
    return fd;
}

static void set_time(int fd, int option, int64_t ns)
{
    int64_t us = ns > 0 ? (ns + 999) / 1000 : 0;
    struct timeval t = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    (void)setsockopt(fd, SOL_SOCKET, option, &t, sizeof t);
}

void block_patience(int fd, int64_t read_ns, int64_t write_ns)
{
    set_time(fd, SO_RCVTIMEO, read_ns);
    set_time(fd, SO_SNDTIMEO, write_ns);
}

int block_write(int fd, struct chain *out)
{
    while (out->n) {
        struct iovec piece[PIECES];
        ssize_t put = sys_writev(fd, piece, chain_iov(out, piece, PIECES));
        if (put < 0)
            return (int)put;
        chain_drop(out, (size_t)put);
    }
    return 0;
}

void block_end(int fd)
{
    (void)shutdown(fd, SHUT_RDWR);
}

int block_wait(const int *fd, bool *ready, uint32_t n, int64_t deadline_ns)
{
    struct pollfd *p = mem_alloc(n * sizeof *p);
    for (uint32_t i = 0; i < n; i++)
        p[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
    int got = poll(p, n, left_ms(deadline_ns));
    int code = got < 0 && errno != EINTR ? -errno : 0;
    for (uint32_t i = 0; i < n; i++)
        ready[i] = got > 0 && p[i].revents != 0;
    mem_free(p);
    return code;
}
