/* SPDX-License-Identifier: Apache-2.0
 *
 * What only the process knows: which file a descriptor is, which path an argument points to. The
 * process waits meanwhile; where it cannot be looked into, the call is not met. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harm/calls_int.h"

enum { PAGE = 4096, DIRS_BYTES = 64 };

bool calls_fetch(uint32_t pid, void *to, size_t n, const struct iovec *from, size_t n_from)
{
    struct iovec here = {to, n};
    return process_vm_readv((pid_t)pid, &here, 1, from, n_from, 0) == (ssize_t)n;
}

bool calls_store(uint32_t pid, const void *from, size_t n, const struct iovec *to, size_t n_to)
{
    struct iovec here = {(void *)(uintptr_t)from, n};
    return process_vm_writev((pid_t)pid, &here, 1, to, n_to, 0) == (ssize_t)n;
}

uint32_t calls_kind(void *user)
{
    const struct calls_look *look = user;
    char path[64];
    struct stat st;
    if (look->row->fd < 0)
        return 0;
    (void)snprintf(path, sizeof path, "/proc/%u/fd/%d", look->notif->pid,
                   (int)look->notif->data.args[look->row->fd]);
    if (stat(path, &st))
        return 0;
    return S_ISREG(st.st_mode)    ? FD_FILE
           : S_ISFIFO(st.st_mode) ? FD_PIPE
           : S_ISSOCK(st.st_mode) ? FD_SOCKET
                                  : 0;
}

/* What a link of /proc leads to; a file that was removed has its old name. */
static bool add_link(struct calls_look *look, const char *name, struct buf *out)
{
    static const char gone[] = " (deleted)";
    char path[DIRS_BYTES], target[PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%u/%s", look->notif->pid, name);
    ssize_t n = readlink(path, target, sizeof target);
    if (n < 0)
        look->blind = look->blind || errno == EACCES || errno == EPERM;
    slice text = {target, n > 0 ? (size_t)n : 0};
    if (text.n > sizeof gone && slice_is(slice_from(text, text.n - (sizeof gone - 1)), gone))
        text.n -= sizeof gone - 1;
    buf_add(out, text);
    return text.n > 0;
}

static bool add_descriptor(struct calls_look *look, int fd, struct buf *out)
{
    char name[32];
    (void)snprintf(name, sizeof name, "fd/%d", fd);
    return add_link(look, name, out);
}

/* A text of the process, up to its end or a page of it at a time. */
static bool add_text(struct calls_look *look, uint64_t at, struct buf *out)
{
    char piece[PAGE];
    for (size_t had = 0; had < PATH_MAX;) {
        size_t n = PAGE - at % PAGE;
        struct iovec from = {(void *)(uintptr_t)at, n}; /* NOLINT(performance-no-int-to-ptr) */
        if (!calls_fetch(look->notif->pid, piece, n, &from, 1)) {
            look->blind = look->blind || errno == EPERM;
            return false;
        }
        size_t length = strnlen(piece, n);
        buf_add(out, (slice){piece, length});
        if (length < n)
            return true;
        had += n;
        at += n;
    }
    return false;
}

/* The path of an argument, from "/" on. */
static bool add_path(struct calls_look *look, int dir, int arg, struct buf *out)
{
    struct buf name = BUF_INIT(2 * PATH_MAX);
    const __u64 *args = look->notif->data.args;
    bool good = add_text(look, args[arg], &name);
    if (good && buf_text(&name)[0] != '/') {
        good = dir < 0 || (int)args[dir] == AT_FDCWD ? add_link(look, "cwd", out)
                                                     : add_descriptor(look, (int)args[dir], out);
        if (name.n)
            buf_addc(out, '/');
    }
    buf_add(out, buf_slice(&name));
    buf_deinit(&name);
    return good;
}

bool calls_meant(void *user, slice path)
{
    struct calls_look *look = user;
    const struct syscall_row *row = look->row;
    bool meant = false;
    for (int i = 0; i < (row->paths ? row->paths : 1) && !meant; i++) {
        struct buf found = BUF_INIT(4 * PATH_MAX);
        int more = i * (row->dir < 0 ? 1 : 2);
        bool good =
            row->path >= 0
                ? add_path(look, row->dir < 0 ? -1 : row->dir + more, row->path + more, &found)
            : row->fd >= 0 ? add_descriptor(look, (int)look->notif->data.args[row->fd], &found)
                           : false;
        meant = good && syscall_path_meant(path, buf_slice(&found));
        buf_deinit(&found);
    }
    return meant;
}
