/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum { OTHERS = 077 };

int file_open_private(const char *path, int flags)
{
    struct stat file;
    int fd = open(path, flags | O_CREAT, 0600);
    if (fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_mode & OTHERS &&
        file.st_uid == geteuid())
        (void)fchmod(fd, file.st_mode & 07777 & ~OTHERS);
    return fd;
}

void file_narrow(const char *path)
{
    struct stat file;
    if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_mode & OTHERS &&
        file.st_uid == geteuid())
        (void)chmod(path, file.st_mode & 07777 & ~OTHERS);
}

slice file_directory(struct arena *a, const char *path)
{
    char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *dir = !slash ? "." : arena_copy(a, path, (size_t)(slash - path) + 1);
    return realpath(dir, real) ? slice_copy(a, slice_of(real)) : slice_of(dir);
}

int file_make_directories(const char *path)
{
    struct stat there;
    int result = 0;
    for (const char *end = path; result == 0 && (end = strchr(end, '/')); end++) {
        struct buf part = BUF_INIT(1 << 20);
        buf_add(&part, (slice){path, (size_t)(end - path)});
        if (part.n && mkdir(buf_text(&part), 0700)) {
            int number = errno; /* EROFS and the like come before EEXIST */
            bool exists = stat(buf_text(&part), &there) == 0;
            errno = exists ? ENOTDIR : number;
            result = exists && S_ISDIR(there.st_mode) ? 0 : -1;
        }
        buf_deinit(&part);
    }
    return result;
}

int file_read(const char *path, struct buf *out)
{
    char part[16 * 1024];
    size_t n;
    FILE *f = path ? fopen(path, "rbe") : stdin;
    if (!f)
        return errno;
    while (!out->full && (n = fread(part, 1, sizeof part, f)) > 0)
        buf_add(out, (slice){part, n});
    int code = ferror(f) ? errno : 0;
    if (path)
        (void)fclose(f);
    return code;
}

int file_hash(const char *path, uint64_t most, uint64_t *hash, uint64_t *size)
{
    enum { PIECE = 64 * 1024 };
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code = fd < 0 ? errno : 0;
    if (fd < 0)
        return code;
    char *piece = mem_alloc(PIECE);
    *hash = *size = 0;
    if (fstat(fd, &file))
        code = errno;
    else if (!S_ISREG(file.st_mode)) /* a pipe has no end, a device no bound */
        code = EINVAL;
    for (bool more = true; more && !code;) {
        size_t n = 0; /* pieces are full but for the last, however much a read gives */
        ssize_t got = 0;
        while (n < PIECE && (got = read(fd, piece + n, PIECE - n)) > 0)
            n += (size_t)got;
        *hash = hash_mix(*hash, hash_slice((slice){piece, n}));
        *size += n;
        code = got < 0 ? errno : *size > most ? EFBIG : 0;
        more = n == PIECE;
    }
    mem_free(piece);
    close(fd);
    return code;
}

/* What a killed one has left is written over by the next. */
int file_replace(const char *path, slice bytes)
{
    struct buf name = BUF_INIT(PATH_MAX);
    buf_addf(&name, "%s.new", path);
    int code = name.full ? ENAMETOOLONG : 0;
    int fd =
        code ? -1 : file_open_private(buf_text(&name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (!code && fd < 0)
        code = errno;
    for (size_t at = 0; !code && at < bytes.n;) {
        ssize_t n = write(fd, bytes.p + at, bytes.n - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno != EINTR)
            code = errno;
    }
    if (!code && fsync(fd))
        code = errno;
    if (fd >= 0 && close(fd) && !code)
        code = errno;
    if (!code && rename(buf_text(&name), path))
        code = errno;
    if (code && fd >= 0)
        (void)unlink(buf_text(&name));
    buf_deinit(&name);
    return code;
}

void file_state_home(struct buf *out)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state == '/')
        buf_addf(out, "%s/outfox", state);
    else if (home && *home == '/')
        buf_addf(out, "%s/.local/state/outfox", home);
    else
        buf_addf(out, "/var/tmp/outfox-%u", (unsigned)geteuid());
}

const char *file_program(struct arena *a)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    return n > 0 ? arena_copy(a, path, (size_t)n) : "outfox";
}
