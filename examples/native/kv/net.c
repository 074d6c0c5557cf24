/* SPDX-License-Identifier: Apache-2.0
 *
 * Sockets, files, time and what is said: small things that all others use. */
#include "kv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_in address_of(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

int net_listen(int port)
{
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    struct sockaddr_in a = address_of(port);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
        bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 64) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A blocking socket on which nothing waits forever. */
int net_connect(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int one = 1;
    struct sockaddr_in a = address_of(port);
    struct timeval limit = {.tv_usec = SILENCE_MS * 1000};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0 ||
        connect(fd, (struct sockaddr *)&a, sizeof a) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

int(send_all)(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -1;
        p += sent;
        n -= (size_t)sent;
    }
    return 0;
}

int recv_all(int fd, void *data, size_t n)
{
    char *p = data;
    while (n) {
        errno = 0;
        ssize_t got = recv(fd, p, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        p += got;
        n -= (size_t)got;
    }
    return 0;
}

int write_all(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t written = write(fd, p, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        p += written;
        n -= (size_t)written;
    }
    return 0;
}

void say(enum level level, const char *format, ...)
{
    static const char *const names[] = {"INFO", "WARN", "ERROR"};
    char line[400];
    int64_t ms = date_ms();
    int n = snprintf(line, sizeof line, "%lld.%03lld %s ", (long long)(ms / 1000),
                     (long long)(ms % 1000), names[level]);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
    va_end(args);
    n = more < 0 ? n : n + more;
    if ((size_t)n > sizeof line - 2)
        n = sizeof line - 2;
    line[n++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)n);
    (void)ignored; /* there is nobody left to tell */
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t now_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

int64_t date_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

void pause_ms(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

void wait_ms(pthread_cond_t *c, pthread_mutex_t *m, int ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t ns = t.tv_nsec + (int64_t)ms * 1000000;
    t.tv_sec += ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(c, m, &t);
}
