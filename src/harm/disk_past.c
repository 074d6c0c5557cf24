/* SPDX-License-Identifier: Apache-2.0
 *
 * The disk as it was. While syncs are lost nothing that is written is sure to be there after a power
 * cut; `then` is a copy of the disk as it was before, and a power cut puts it back.
 *
 * 1. Files are copied without their holes, and share their blocks with the copy where the file
 *    system can do that (btrfs, xfs).
 * 2. What was written before the copy counts as written for good, whether it was synced or not.
 * 3. Files that are open are those of the disk as it was when they were opened: who still writes to
 *    one after a power cut writes to what is gone. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harm/disk_int.h"
#include "io/sys.h"

enum { DEEPEST = 60, DEEPEST_REMOVED = 4 * DEEPEST, PIECE = 1 << 20 };
#define COPY_MAX (UINT64_C(1) << 30)

struct copying {
    uint64_t bytes; /* copied so far */
    char *piece;
};

/* One stretch of data; 0, or errno. */
static int copy_stretch(struct copying *c, int from, int to, off_t at, off_t end)
{
    while (at < end) {
        size_t most = end - at < PIECE ? (size_t)(end - at) : PIECE;
        ssize_t n = pread(from, c->piece, most, at);
        if (n <= 0)
            return n ? errno : 0;
        for (ssize_t done = 0, put; done < n; done += put)
            if ((put = pwrite(to, c->piece + done, (size_t)(n - done), at + done)) <= 0)
                return put ? errno : EIO;
        at += n;
        c->bytes += (uint64_t)n;
        if (c->bytes > COPY_MAX)
            return EFBIG;
    }
    return 0;
}

static int copy_content(struct copying *c, int from, int to, off_t size)
{
    int code = 0;
    if (size == 0 || !ioctl(to, FICLONE, from))
        return 0;
    if (ftruncate(to, size))
        return errno;
    for (off_t at = 0, end; !code && at < size; at = end) {
        at = lseek(from, at, SEEK_DATA);
        end = at < 0 ? -1 : lseek(from, at, SEEK_HOLE);
        if (at < 0)
            return errno == ENXIO ? 0 : errno; /* nothing but a hole is left */
        if (end < 0)
            return errno;
        code = copy_stretch(c, from, to, at, end);
    }
    return code;
}

/* Owner, mode and times. What we may not set stays as it is: it is only ever ours then. */
static void copy_attributes(int to, const struct stat *st)
{
    const struct timespec times[] = {st->st_atim, st->st_mtim};
    (void)!fchown(to, st->st_uid, st->st_gid);
    (void)fchmod(to, st->st_mode & 07777);
    (void)futimens(to, times);
}

static int copy_file(struct copying *c, int from_dir, int to_dir, const char *name,
                     const struct stat *st)
{
    int from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int to = from < 0 ? -1 : openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int code = to < 0 ? errno : copy_content(c, from, to, st->st_size);
    if (to >= 0) {
        copy_attributes(to, st);
        sys_close(to);
    }
    if (from >= 0)
        sys_close(from);
    return code;
}

static int copy_link(int from_dir, int to_dir, const char *name, const struct stat *st)
{
    char target[4096];
    ssize_t n = readlinkat(from_dir, name, target, sizeof target - 1);
    if (n < 0)
        return errno;
    target[n] = 0;
    if (symlinkat(target, to_dir, name))
        return errno;
    (void)!fchownat(to_dir, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW);
    return 0;
}

/* Sockets, pipes: their names. */
static int copy_special(int to_dir, const char *name, const struct stat *st)
{
    if (mknodat(to_dir, name, st->st_mode, st->st_rdev))
        return errno;
    (void)!fchownat(to_dir, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW);
    return 0;
}

static int copy_tree(struct copying *c, int from_dir, const char *from, int to_dir, const char *to,
                     uint32_t depth);

static int copy_one(struct copying *c, int from, int to, const char *name, uint32_t depth)
{
    struct stat st;
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
        return errno;
    if (S_ISDIR(st.st_mode))
        return copy_tree(c, from, name, to, name, depth + 1);
    if (S_ISREG(st.st_mode))
        return copy_file(c, from, to, name, &st);
    if (S_ISLNK(st.st_mode))
        return copy_link(from, to, name, &st);
    return copy_special(to, name, &st);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A directory that may be read; NULL with errno. */
static DIR *dir_open(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !dir)
        sys_close(fd);
    return dir;
}

static int copy_tree(struct copying *c, int from_dir, const char *from, int to_dir, const char *to,
                     uint32_t depth)
{
    struct stat st;
    if (depth > DEEPEST)
        return ELOOP;
    DIR *dir = dir_open(from_dir, from);
    if (!dir)
        return errno;
    int code = 0, into = -1;
    if (fstat(dirfd(dir), &st) || mkdirat(to_dir, to, 0700) ||
        (into = openat(to_dir, to, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        code = errno;
    for (const struct dirent *e; !code && (e = readdir(dir));)
        if (!is_dots(e->d_name))
            code = copy_one(c, dirfd(dir), into, e->d_name, depth);
    if (into >= 0) {
        copy_attributes(into, &st);
        sys_close(into);
    }
    (void)closedir(dir);
    return code;
}

int disk_copy(const struct disk *d, const char *from, const char *to, struct err *e)
{
    struct copying c = {.piece = mem_alloc(PIECE)};
    int code = copy_tree(&c, d->home_fd, from, d->home_fd, to, 0);
    mem_free(c.piece);
    if (!code)
        return 0;
    disk_remove(d, to);
    if (code == ELOOP)
        return err_set(e, 0, 0,
                       "the disk has more than %d directories below each other: as it is now it "
                       "cannot be kept for a power cut",
                       DEEPEST);
    return code == EFBIG
               ? err_set(e, 0, 0,
                         "the disk holds more than 1 GiB: as it is now it cannot be "
                         "kept for a power cut; use less data")
               : err_set(e, 0, 0, "the disk as it is now cannot be kept: %s", strerror(code));
}

static void remove_tree(int at, const char *name, uint32_t depth)
{
    DIR *dir = depth > DEEPEST_REMOVED ? NULL : dir_open(at, name);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (!is_dots(e->d_name) && unlinkat(dirfd(dir), e->d_name, 0))
            remove_tree(dirfd(dir), e->d_name, depth + 1);
    if (dir)
        (void)closedir(dir);
    (void)unlinkat(at, name, AT_REMOVEDIR);
}

void disk_remove(const struct disk *d, const char *name)
{
    remove_tree(d->home_fd, name, 0);
}

int disk_open_root(struct disk *d)
{
    struct stat st;
    int fd = openat(d->home_fd, "now", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        return -1;
    if (d->root.fd >= 0)
        sys_close(d->root.fd);
    d->root.fd = fd;
    d->root.dev = st.st_dev;
    d->root.ino = st.st_ino;
    return 0;
}

/* The kernel learns that all names in the directory may be others now. */
static void drop_names(struct disk *d, const char *of)
{
    DIR *dir = dir_open(d->home_fd, of);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (!is_dots(e->d_name))
            disk_drop_name(d, e->d_name);
    if (dir)
        (void)closedir(dir);
}

/* `then` stays: the syncs that follow are lost too. */
int disk_go_back(struct disk *d, struct err *e)
{
    disk_remove(d, "lost");
    (void)pthread_rwlock_wrlock(&d->gate);
    int status = disk_copy(d, "then", "next", e);
    if (!status && (renameat(d->home_fd, "now", d->home_fd, "lost") ||
                    renameat(d->home_fd, "next", d->home_fd, "now") || disk_open_root(d)))
        status = err_set(e, 0, 0, "the disk cannot be put back: %s", strerror(errno));
    (void)pthread_rwlock_unlock(&d->gate);
    drop_names(d, "lost");
    disk_remove(d, "lost");
    return status;
}
