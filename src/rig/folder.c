/* SPDX-License-Identifier: Apache-2.0
 *
 * All of it goes by descriptors of directories: a tree that changes meanwhile cannot lead elsewhere. */
#include "rig/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sys.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    (void)remove(path);
    return 0;
}

void folder_remove(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes files of their own of all in a directory. */
struct copy {
    uint32_t files, depth;
    char name[300]; /* of what could not be copied */
};

/* 0, or errno. */
static int copy_bytes(int from, int to)
{
    if (ioctl(to, FICLONE, from) == 0)
        return 0;
    ssize_t n;
    while ((n = copy_file_range(from, NULL, to, NULL, 1 << 24, 0)) > 0)
        ;
    if (n == 0)
        return 0;
    char part[32 * 1024];
    while ((n = read(from, part, sizeof part)) > 0)
        if (write(to, part, (size_t)n) != n)
            return errno ? errno : ENOSPC;
    return n < 0 ? errno : 0;
}

static int copy_file(int from_dir, int to_dir, const char *name, mode_t mode)
{
    int from = openat(from_dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (from < 0)
        return errno;
    int to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
    int number = to < 0 ? errno : copy_bytes(from, to);
    sys_close(from);
    if (to >= 0)
        sys_close(to);
    return number;
}

static int copy_link(int from_dir, int to_dir, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(from_dir, name, target, sizeof target - 1);
    if (n < 0)
        return errno;
    target[n] = 0;
    return symlinkat(target, to_dir, name) ? errno : 0;
}

static int copy_all(struct copy *c, int from, int to);

static int copy_directory(struct copy *c, int from_dir, int to_dir, const char *name)
{
    if (mkdirat(to_dir, name, 0700))
        return errno;
    int from = openat(from_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int to = openat(to_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int number = from < 0 || to < 0 ? errno : copy_all(c, from, to); /* which takes `from` */
    if (from >= 0 && to < 0)
        sys_close(from);
    if (to >= 0)
        sys_close(to);
    return number;
}

static int copy_one(struct copy *c, int from, int to, const char *name)
{
    struct stat st;
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
        return errno;
    if (++c->files > FOLDER_FILES_MAX || c->depth > FOLDER_DEPTH_MAX)
        return EFBIG;
    if (S_ISDIR(st.st_mode))
        return copy_directory(c, from, to, name);
    if (S_ISREG(st.st_mode))
        return copy_file(from, to, name, st.st_mode);
    return S_ISLNK(st.st_mode) ? copy_link(from, to, name) : 0;
}

static int copy_all(struct copy *c, int from, int to)
{
    struct dirent *one;
    int number = 0;
    DIR *dir = fdopendir(from);
    if (!dir) {
        number = errno;
        sys_close(from);
        return number;
    }
    c->depth++;
    while (!number && (one = readdir(dir))) {
        if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0)
            continue;
        number = copy_one(c, dirfd(dir), to, one->d_name);
        if (number && !c->name[0])
            (void)snprintf(c->name, sizeof c->name, "%s", one->d_name);
    }
    c->depth--;
    (void)closedir(dir);
    return number;
}

int folder_make(const char *from, const char *to, struct err *e)
{
    struct copy c = {0};
    if (mkdir(to, 0700))
        return err_set(e, 0, 0, "the directory %s cannot be made: %s", to, strerror(errno));
    if (!from)
        return 0;
    int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (in < 0)
        return err_set(e, 0, 0, "the directory %s, which is a node's data, cannot be read: %s",
                       from, strerror(errno));
    int out = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int number = out < 0 ? errno : copy_all(&c, in, out);
    if (out >= 0)
        sys_close(out);
    else
        sys_close(in);
    if (number)
        return err_set(e, 0, 0, "%s cannot be copied from %s to %s: %s", c.name, from, to,
                       number == EFBIG ? "there are too many files" : strerror(number));
    return 0;
}

void folder_keep(const char *from, const char *to)
{
    if (rename(from, to) == 0 || errno != EXDEV)
        return;
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (out >= 0)
        (void)copy_bytes(in, out);
    if (in >= 0)
        sys_close(in);
    if (out >= 0)
        sys_close(out);
}
