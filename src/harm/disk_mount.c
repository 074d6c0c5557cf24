/* SPDX-License-Identifier: Apache-2.0
 *
 * Mounted and unmounted: by us where we may, else by fusermount3, which may do so for every user. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harm/disk_int.h"
#include "io/sys.h"

enum { UNMOUNTS_MOST = 10 };

#define TYPE "fuse.outfox-disk"

/* fusermount3 with these words, NULL behind them; its exit code, or -1. */
static int run_fusermount(char *const words[], int comm_fd)
{
    char number[20];
    int status = 0;
    (void)snprintf(number, sizeof number, "%d", comm_fd);
    pid_t pid = fork();
    if (pid == 0) {
        (void)setenv("_FUSE_COMMFD", number, 1);
        (void)execvp(words[0], words);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The descriptor that fusermount3 has sent; -1: none. */
static int take_descriptor(int sock)
{
    char byte;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.room,
                       .msg_controllen = sizeof control.room};
    int fd = -1;
    ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

static char *text_of(const char *constant, char *room, size_t n)
{
    (void)snprintf(room, n, "%s", constant);
    return room;
}

static int mount_by_helper(const char *mount_at, struct err *e)
{
    char at[4096], program[] = "fusermount3", option[] = "-o", dashes[] = "--";
    char options[] = "fsname=outfox,subtype=outfox-disk,default_permissions";
    char *words[] = {program, option, options, dashes, text_of(mount_at, at, sizeof at), NULL};
    int pair[2], fd = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return err_set(e, 0, 0, "cannot create a socket: %s", strerror(errno));
    (void)fcntl(pair[1], F_SETFD, FD_CLOEXEC);
    int code = run_fusermount(words, pair[0]);
    sys_close(pair[0]);
    if (code == 0)
        fd = take_descriptor(pair[1]);
    sys_close(pair[1]);
    return fd >= 0 ? fd
                   : err_set(e, 0, 0,
                             code == 127
                                 ? "a disk of a node's own needs root, or the command fusermount3: "
                                   "install fuse3"
                                 : "fusermount3 could not mount a disk at %.200s: a disk of a "
                                   "node's own needs root, or a /dev/fuse that you may open",
                             mount_at);
}

int disk_mount(const char *mount_at, struct err *e)
{
    char options[200];
    if (disk_unmount(mount_at, e))
        return -1;
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENODEV || errno == ENXIO))
        return err_set(
            e, 0, 0,
            "a disk of a node's own needs /dev/fuse, which is not there: modprobe fuse, or "
            "give the container --device /dev/fuse");
    if (fd < 0 && geteuid() == 0)
        return err_set(e, 0, 0,
                       "/dev/fuse cannot be opened: %s; give the container --device "
                       "/dev/fuse and --cap-add SYS_ADMIN",
                       strerror(errno));
    (void)snprintf(options, sizeof options,
                   "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other,default_permissions",
                   fd, (unsigned)geteuid(), (unsigned)getegid());
    if (fd >= 0 && !mount("outfox", mount_at, TYPE, MS_NOSUID | MS_NODEV, options))
        return fd;
    int code = errno;
    if (fd >= 0)
        sys_close(fd);
    if (geteuid() != 0)
        return mount_by_helper(mount_at, e);
    return err_set(e, 0, 0, "a disk cannot be mounted at %.200s: %s%s", mount_at, strerror(code),
                   code == EPERM ? "; it needs root: in a container --cap-add SYS_ADMIN, in a user "
                                   "namespace one of mounts too (unshare -Urm)"
                                 : "");
}

/* Is a disk of ours there? As /proc tells it, because a dead one answers nothing. */
static bool is_mounted(const char *mount_at)
{
    struct buf all = BUF_INIT(16 << 20);
    bool found = false;
    char piece[4096];
    ssize_t n;
    int fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = sys_read(fd, piece, sizeof piece)) > 0)
        buf_add(&all, (slice){piece, (size_t)n});
    if (fd >= 0)
        sys_close(fd);
    struct buf escaped = BUF_INIT(4 * 4096 + 100);
    for (const char *c = mount_at; *c; c++) {
        if (strchr(" \t\n\\", *c))
            buf_addf(&escaped, "\\%03o", (unsigned)(unsigned char)*c);
        else
            buf_addc(&escaped, *c);
    }
    buf_adds(&escaped, " " TYPE " ");
    slice rest = buf_slice(&all), line;
    while (slice_cut(&rest, '\n', &line)) {
        slice behind = slice_from(line, slice_find(line, ' '));
        found = found || (behind.n && slice_starts(slice_from(behind, 1), buf_slice(&escaped)));
    }
    buf_deinit(&escaped);
    buf_deinit(&all);
    return found;
}

int disk_unmount(const char *mount_at, struct err *e)
{
    char at[4096], program[] = "fusermount3", option[] = "-uz", dashes[] = "--";
    char *words[] = {program, option, dashes, text_of(mount_at, at, sizeof at), NULL};
    int code = 0;
    for (int i = 0; i < UNMOUNTS_MOST && is_mounted(mount_at); i++) /* one may lie over another */
        if (umount2(mount_at, MNT_DETACH | UMOUNT_NOFOLLOW)) {
            code = errno;
            if (run_fusermount(words, -1) != 0)
                break;
        }
    return is_mounted(mount_at)
               ? err_set(e, 0, 0, "%.200s cannot be unmounted: %s; do it: umount -l %.200s",
                         mount_at, strerror(code), mount_at)
               : 0;
}
