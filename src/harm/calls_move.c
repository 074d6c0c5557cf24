/* SPDX-License-Identifier: Apache-2.0
 *
 * A short read or write. No answer can change how many bytes the call is to move, so we do it: with
 * the process's own descriptor (its place in the file moves too) and its memory. Then the call is
 * answered with what we did.
 *
 * 1. We never wait: what would block is left to the process.
 * 2. Files, pipes and streams alone: elsewhere a part of a message means another message. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harm/calls_int.h"
#include "io/sys.h"

enum { SOCKET_NO_WAIT = MSG_DONTWAIT | MSG_NOSIGNAL };

struct shape {
    bool out, vector, placed, flagged;
};

static struct shape shape_of(enum syscall_moves moves)
{
    static const struct shape shapes[] = {
        [MOVES_READ] = {0},
        [MOVES_WRITE] = {.out = true},
        [MOVES_READ_AT] = {.placed = true},
        [MOVES_WRITE_AT] = {.out = true, .placed = true},
        [MOVES_READ_V] = {.vector = true},
        [MOVES_WRITE_V] = {.out = true, .vector = true},
        [MOVES_READ_V_AT] = {.vector = true, .placed = true},
        [MOVES_WRITE_V_AT] = {.out = true, .vector = true, .placed = true},
        [MOVES_SEND] = {.out = true, .flagged = true},
        [MOVES_RECEIVE] = {.flagged = true},
    };
    return shapes[moves];
}

/* Where the bytes are in the process, and how many of them; 0: not known. */
static size_t find_bytes(const struct seccomp_notif *n, struct shape s, struct iovec iov[IOV_MAX],
                         size_t *n_iov)
{
    const __u64 *args = n->data.args;
    size_t total = 0;
    void *at = (void *)(uintptr_t)args[1]; /* NOLINT(performance-no-int-to-ptr) */
    *n_iov = 1;
    iov[0] = (struct iovec){at, args[2]};
    if (s.vector) {
        *n_iov = args[2] <= IOV_MAX ? args[2] : 0;
        struct iovec from = {at, *n_iov * sizeof *iov};
        if (!*n_iov || !calls_fetch(n->pid, iov, from.iov_len, &from, 1))
            return 0;
    }
    for (size_t i = 0; i < *n_iov; i++) {
        if (iov[i].iov_len > SSIZE_MAX - total)
            return 0;
        total += iov[i].iov_len;
    }
    return total;
}

/* Cuts the list to its first `want` bytes; how many items are left. */
static size_t cut_bytes(struct iovec *iov, size_t n, size_t want)
{
    size_t used = 0;
    for (; used < n && want; used++) {
        if (iov[used].iov_len > want)
            iov[used].iov_len = want;
        want -= iov[used].iov_len;
    }
    return used;
}

/* The descriptor itself: ours too, until it is closed; -1. Its process waits, so its number is not
 * somebody else's. */
static int borrow(int listener, const struct seccomp_notif *n)
{
    char path[64], line[200];
    int group = 0;
    (void)snprintf(path, sizeof path, "/proc/%u/status", n->pid);
    FILE *file = fopen(path, "re");
    while (file && !group && fgets(line, sizeof line, file)) {
        uint64_t number;
        if (strncmp(line, "Tgid:", 5) == 0 &&
            slice_to_u64(slice_trim(slice_of(line + 5)), INT_MAX, &number))
            group = (int)number;
    }
    if (file)
        (void)fclose(file);
    int process = group ? (int)syscall(SYS_pidfd_open, group, 0) : -1;
    if (process < 0)
        return -1;
    __u64 id = n->id;
    int fd = ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id)
                 ? -1
                 : (int)syscall(SYS_pidfd_getfd, process, (int)n->data.args[0], 0);
    sys_close(process);
    return fd;
}

static uint32_t kind_of(int fd)
{
    struct stat st;
    int type = 0;
    socklen_t n = sizeof type;
    if (fstat(fd, &st))
        return 0;
    if (S_ISREG(st.st_mode))
        return FD_FILE;
    if (S_ISFIFO(st.st_mode))
        return FD_PIPE;
    return S_ISSOCK(st.st_mode) && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 &&
                   type == SOCK_STREAM
               ? FD_SOCKET
               : 0;
}

/* Reads or writes without waiting; what the call returns. */
static ssize_t move(int fd, const struct seccomp_notif *n, struct shape s, void *bytes, size_t want)
{
    uint32_t kind = kind_of(fd);
    struct iovec iov = {bytes, want};
    off_t at = s.placed ? (off_t)n->data.args[3] : -1;
    if (kind == FD_SOCKET && !s.placed) {
        int flags = (s.flagged ? (int)n->data.args[3] & ~MSG_WAITALL : 0) | SOCKET_NO_WAIT;
        return s.out ? send(fd, bytes, want, flags) : recv(fd, bytes, want, flags);
    }
    if (!kind || kind == FD_SOCKET || s.flagged || (s.placed && kind != FD_FILE))
        return -1;
    int flags = kind == FD_PIPE ? RWF_NOWAIT : 0;
    return s.out ? pwritev2(fd, &iov, 1, at, flags) : preadv2(fd, &iov, 1, at, flags);
}

int64_t calls_move(int listener, const struct seccomp_notif *n, enum syscall_moves moves,
                   uint32_t part)
{
    static char bytes[CALLS_PART_MAX];
    static struct iovec iov[IOV_MAX];
    struct shape s = shape_of(moves);
    size_t n_iov, total = find_bytes(n, s, iov, &n_iov);
    if (total < 2 || (s.flagged && n->data.args[4])) /* an address comes with it */
        return 0;
    size_t want = (size_t)((double)total * part / SYSCALL_MILLION);
    want = want < 1 ? 1 : want < total ? want : total - 1;
    want = want < CALLS_PART_MAX ? want : CALLS_PART_MAX;
    n_iov = cut_bytes(iov, n_iov, want);
    if (s.out && !calls_fetch(n->pid, bytes, want, iov, n_iov))
        return 0;
    int fd = borrow(listener, n);
    if (fd < 0)
        return 0;
    ssize_t moved = move(fd, n, s, bytes, want);
    sys_close(fd);
    if (moved <= 0) /* nothing was moved: the process finds out itself why */
        return 0;
    if (!s.out) {
        n_iov = cut_bytes(iov, n_iov, (size_t)moved);
        if (!calls_store(n->pid, bytes, (size_t)moved, iov, n_iov))
            return -EFAULT;
    }
    return moved;
}
