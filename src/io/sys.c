/* SPDX-License-Identifier: Apache-2.0 */
#include "io/sys.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"

size_t sys_chunk = 0;

ssize_t sys_read(int fd, void *to, size_t n)
{
    if (sys_chunk && n > sys_chunk)
        n = sys_chunk;
    ssize_t got;
    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

/* The first piece that is not empty, cut to sys_chunk. */
static struct iovec first_chunk(const struct iovec *iov, int n)
{
    struct iovec piece = {0};
    for (int i = 0; i < n && piece.iov_len == 0; i++)
        piece = iov[i];
    if (piece.iov_len > sys_chunk)
        piece.iov_len = sys_chunk;
    return piece;
}

ssize_t sys_writev(int fd, const struct iovec *iov, int n)
{
    struct iovec piece;
    /* The detour drops the const: sendmsg only reads there, but its struct cannot say so. */
    struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)n};
    if (sys_chunk) {
        piece = first_chunk(iov, n);
        m.msg_iov = &piece;
        m.msg_iovlen = 1;
    }
    ssize_t put;
    do /* writev cannot be told to spare us SIGPIPE; one piece is cheaper sent alone */
        put = m.msg_iovlen == 1 ? send(fd, m.msg_iov->iov_base, m.msg_iov->iov_len, MSG_NOSIGNAL)
                                : sendmsg(fd, &m, MSG_NOSIGNAL);
    while (put < 0 && errno == EINTR);
    return put < 0 ? -errno : put;
}

int sys_accept(int fd)
{
    int got;
    do
        got = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

void sys_close(int fd)
{
    close(fd); /* EINTR too has closed it */
}

uint64_t sys_acked(int fd)
{
    struct tcp_info info = {0};
    socklen_t n = sizeof info;
    size_t needed = offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) || n < needed)
        return UINT64_MAX;
    return info.tcpi_bytes_acked;
}

size_t sys_unsent(int fd)
{
    int n = 0;
    return ioctl(fd, SIOCOUTQ, &n) == 0 && n > 0 ? (size_t)n : 0;
}

bool sys_quiet(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void sys_watch_peer(int fd, int seconds)
{
    enum { TRIES = 3 };
    const struct {
        int level, name, value;
    } rows[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                {IPPROTO_TCP, TCP_KEEPIDLE, seconds / TRIES},
                {IPPROTO_TCP, TCP_KEEPINTVL, seconds / TRIES},
                {IPPROTO_TCP, TCP_KEEPCNT, TRIES - 1},
                {IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        (void)setsockopt(fd, rows[i].level, rows[i].name, &rows[i].value, sizeof rows[i].value);
}

void sys_linger_reset(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

/* Only mappings of files that cannot be written to and in which nothing is of our own: what the linker
 * has relocated must stay. */
void sys_give_back(void)
{
    char line[512];
    uint64_t from = 0, to = 0, own;
    FILE *maps = fopen("/proc/self/smaps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        slice rest = slice_of(line), word, start;
        if (!slice_word(&rest, &word))
            continue;
        if (slice_find(word, '-') < word.n && slice_cut(&word, '-', &start)) {
            bool fits = slice_to_hex(start, &from) && slice_to_hex(word, &to) &&
                        slice_word(&rest, &word) && word.n > 1 && word.p[1] == '-' &&
                        slice_find(rest, '/') < rest.n;
            from = fits ? from : 0;
        } else if (from && slice_is(word, "Anonymous:") && slice_word(&rest, &word) &&
                   slice_to_u64(word, UINT64_MAX, &own) && own == 0) {
            union {
                uintptr_t number;
                void *p;
            } at = {.number = (uintptr_t)from};
            (void)madvise(at.p, (size_t)(to - from), MADV_DONTNEED);
        }
    }
    if (maps)
        (void)fclose(maps);
    (void)malloc_trim(0);
}

void sys_stay(bool on)
{
    static cpu_set_t before;
    static bool known;
    cpu_set_t one;
    int cpu = sched_getcpu();
    if (!known)
        known = sched_getaffinity(0, sizeof before, &before) == 0;
    if (!known || cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)sched_setaffinity(0, sizeof one, on ? &one : &before);
}

void sys_ack(int fd)
{
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

pid_t sys_fork(void)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid) {
        int code = errno;
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        errno = code;
    }
    return pid;
}
