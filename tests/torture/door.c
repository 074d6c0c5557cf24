/* SPDX-License-Identifier: Apache-2.0
 *
 * The door to the system, for tests: a library that stands between a program and the C library
 * (LD_PRELOAD) and makes the k-th of its calls fail. So every call counts, those of SQLite and
 * OpenSSL too, and the program knows nothing of it.
 *
 *   TORTURE=K       the K-th call fails, counted from 1; 0: none, they are only counted
 *   TORTURE_WHICH   the kinds that count, with commas; default: all but memory
 *   TORTURE_LOG     a file to which "COUNT NAME ERRNO" is appended for the call that failed, and
 *                   "calls COUNT" at the end
 *
 * It is for the first process alone: what that forks or starts is left in peace.
 *
 * 1. A call that fails has not been made. Only close is: it fails after it has closed, as on Linux.
 * 2. Calls of libuv do not count: it aborts where it takes a failure for impossible (its own
 *    eventfd, epoll), which says nothing about us. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long count;
static long fail_at = -1; /* -1: switched off */
static const char *which, *log_path;
static pid_t owner;

static void say(const char *format, long n, const char *name, int code)
{
    char line[200];
    int length = snprintf(line, sizeof line, format, n, name, code);
    int fd =
        (int)syscall(257 /* openat */, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) {
        (void)!syscall(1 /* write */, fd, line, (size_t)length);
        syscall(3 /* close */, fd);
    }
}

static bool counts(const char *kind)
{
    if (!which)
        return strcmp(kind, "memory") != 0;
    const char *at = strstr(which, kind);
    return at && (at == which || at[-1] == ',') && strchr(",", at[strlen(kind)]);
}

static bool is_libuv(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libuv");
}

/* Is this the one? caller: an address in who calls. */
static bool fails(const char *kind, const char *name, int code, const void *caller)
{
    if (fail_at < 0 || !counts(kind) || getpid() != owner || is_libuv(caller))
        return false;
    long n = atomic_fetch_add(&count, 1) + 1;
    if (n != fail_at)
        return false;
    if (log_path)
        say("%ld %s %d\n", n, name, code);
    errno = code;
    return true;
}

__attribute__((constructor)) static void begin(void)
{
    const char *k = getenv("TORTURE");
    if (!k)
        return;
    owner = getpid();
    which = getenv("TORTURE_WHICH");
    log_path = getenv("TORTURE_LOG");
    fail_at = strtol(k, NULL, 10);
    unsetenv("TORTURE"); /* what is started from here is left in peace */
    unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void)
{
    if (fail_at >= 0 && getpid() == owner && log_path)
        say("calls %ld%s%.0d\n", atomic_load(&count), "", 0);
}

/* The function of this name behind us. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* DOOR(result, what it gives when it fails, name, kind, errno, (parameters), (arguments)) */
#define DOOR(result, bad, name, kind, code, parameters, arguments)                                 \
    __attribute__((visibility("default"))) result name parameters                                  \
    {                                                                                              \
        static __typeof__(&name) real;                                                             \
        if (!real)                                                                                 \
            real = REAL(name);                                                                     \
        if (fails(kind, #name, code, __builtin_return_address(0)))                                 \
            return bad;                                                                            \
        return real arguments;                                                                     \
    }

#pragma GCC visibility push(default)
DOOR(ssize_t, -1, read, "io", EIO, (int fd, void *to, size_t n), (fd, to, n))
DOOR(ssize_t, -1, write, "io", ENOSPC, (int fd, const void *from, size_t n), (fd, from, n))
DOOR(ssize_t, -1, readv, "io", EIO, (int fd, const struct iovec *v, int n), (fd, v, n))
DOOR(ssize_t, -1, writev, "io", EPIPE, (int fd, const struct iovec *v, int n), (fd, v, n))
DOOR(ssize_t, -1, recv, "io", ECONNRESET, (int fd, void *to, size_t n, int f), (fd, to, n, f))
DOOR(ssize_t, -1, send, "io", EPIPE, (int fd, const void *m, size_t n, int f), (fd, m, n, f))
DOOR(ssize_t, -1, sendmsg, "io", EPIPE, (int fd, const struct msghdr *m, int f), (fd, m, f))
DOOR(ssize_t, -1, recvmsg, "io", ECONNRESET, (int fd, struct msghdr *m, int f), (fd, m, f))
DOOR(ssize_t, -1, pread, "io", EIO, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
DOOR(ssize_t, -1, pwrite, "disk", ENOSPC, (int fd, const void *f, size_t n, off_t at),
     (fd, f, n, at))
DOOR(ssize_t, -1, pread64, "io", EIO, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
DOOR(ssize_t, -1, pwrite64, "disk", ENOSPC, (int fd, const void *f, size_t n, off64_t at),
     (fd, f, n, at))
DOOR(int, -1, fsync, "disk", EIO, (int fd), (fd))
DOOR(int, -1, fdatasync, "disk", EIO, (int fd), (fd))
DOOR(int, -1, ftruncate, "disk", EIO, (int fd, off_t n), (fd, n))
DOOR(int, -1, ftruncate64, "disk", EIO, (int fd, off64_t n), (fd, n))
DOOR(int, -1, socket, "open", EMFILE, (int d, int t, int p), (d, t, p))
DOOR(int, -1, socketpair, "open", EMFILE, (int d, int t, int p, int v[2]), (d, t, p, v))
DOOR(int, -1, accept4, "open", EMFILE, (int fd, struct sockaddr *a, socklen_t *n, int f),
     (fd, a, n, f))
DOOR(int, -1, pipe2, "open", EMFILE, (int v[2], int f), (v, f))
DOOR(int, -1, connect, "net", ENETUNREACH, (int fd, const struct sockaddr *a, socklen_t n),
     (fd, a, n))
DOOR(int, -1, bind, "net", EADDRINUSE, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
DOOR(int, -1, listen, "net", EADDRINUSE, (int fd, int n), (fd, n))
DOOR(int, -1, getsockname, "net", ENOBUFS, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n))
DOOR(int, -1, getpeername, "net", ENOTCONN, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n))
DOOR(int, -1, setsockopt, "net", ENOPROTOOPT, (int fd, int l, int o, const void *v, socklen_t n),
     (fd, l, o, v, n))
DOOR(int, -1, getsockopt, "net", ENOPROTOOPT, (int fd, int l, int o, void *v, socklen_t *n),
     (fd, l, o, v, n))
DOOR(int, -1, shutdown, "net", ENOTCONN, (int fd, int how), (fd, how))
DOOR(int, EAI_AGAIN, getaddrinfo, "net", EAGAIN,
     (const char *h, const char *s, const struct addrinfo *w, struct addrinfo **out),
     (h, s, w, out))
DOOR(pid_t, -1, fork, "process", EAGAIN, (void), ())
DOOR(pid_t, -1, _Fork, "process", EAGAIN, (void), ())
DOOR(FILE *, NULL, fopen, "open", EMFILE, (const char *p, const char *m), (p, m))
DOOR(FILE *, NULL, fopen64, "open", EMFILE, (const char *p, const char *m), (p, m))
DOOR(FILE *, NULL, fdopen, "open", EMFILE, (int fd, const char *m), (fd, m))
DOOR(int, -1, mkdir, "file", EACCES, (const char *p, mode_t m), (p, m))
DOOR(int, -1, rename, "file", EACCES, (const char *a, const char *b), (a, b))
DOOR(int, -1, unlink, "file", EACCES, (const char *p), (p))
DOOR(int, -1, fchmod, "file", EPERM, (int fd, mode_t m), (fd, m))
DOOR(int, -1, stat, "file", EACCES, (const char *p, struct stat *s), (p, s))
DOOR(int, -1, fstat, "file", EIO, (int fd, struct stat *s), (fd, s))
DOOR(int, -1, lstat, "file", EACCES, (const char *p, struct stat *s), (p, s))
DOOR(int, -1, stat64, "file", EACCES, (const char *p, struct stat64 *s), (p, s))
DOOR(int, -1, fstat64, "file", EIO, (int fd, struct stat64 *s), (fd, s))
DOOR(char *, NULL, getcwd, "file", EACCES, (char *to, size_t n), (to, n))
DOOR(char *, NULL, realpath, "file", EACCES, (const char *p, char *to), (p, to))

/* dlsym allocates, so these go by the names that the C library has for itself. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    return fails("memory", "malloc", ENOMEM, __builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails("memory", "calloc", ENOMEM, __builtin_return_address(0)) ? NULL
                                                                          : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails("memory", "realloc", ENOMEM, __builtin_return_address(0)) ? NULL
                                                                           : __libc_realloc(p, n);
}

#define OPEN(name, head, arguments)                                                                \
    int name head                                                                                  \
    {                                                                                              \
        mode_t m = 0;                                                                              \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                                     \
            va_list more;                                                                          \
            va_start(more, flags);                                                                 \
            m = va_arg(more, mode_t);                                                              \
            va_end(more);                                                                          \
        }                                                                                          \
        return fails("open", #name, EMFILE, __builtin_return_address(0)) ? -1                      \
                                                                         : REAL(name) arguments;   \
    }
OPEN(open, (const char *path, int flags, ...), (path, flags, m))
OPEN(open64, (const char *path, int flags, ...), (path, flags, m))
OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, m))

int close(int fd)
{
    int code = REAL(close)(fd);
    return fails("close", "close", EIO, __builtin_return_address(0)) ? -1 : code;
}
#pragma GCC visibility pop
