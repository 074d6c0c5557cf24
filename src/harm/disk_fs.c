/* SPDX-License-Identifier: Apache-2.0
 *
 * What the requests of the kernel do: a row each, with what rules have to know of them. All pass
 * through to the files below home/now.
 *
 * 1. The kernel knows a file by the address of its struct disk_inode. That lives until the kernel has
 *    forgotten it as often as it was told of it.
 * 2. Permissions are the kernel's business (default_permissions): it knows who asks. What is made
 *    belongs to whoever makes it.
 * 3. Locks are the kernel's too, since all who use the disk are on this machine. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "harm/disk_int.h"
#include "io/sys.h"

enum { VALID_S = 60 }; /* nobody but us changes the files: the kernel may keep what it knows */

#define BODY(type) const struct type *in = q->arg

/* ---- inodes ---- */

static struct disk_inode *inode_of(struct disk *d, uint64_t id)
{
    union {
        uintptr_t number;
        struct disk_inode *inode;
    } u = {.number = (uintptr_t)id};
    return id == FUSE_ROOT_ID ? &d->root : u.inode;
}

static uint64_t id_of(const struct disk_inode *i)
{
    return (uint64_t)(uintptr_t)i;
}

static struct disk_inode **bucket_of(struct disk *d, dev_t dev, ino_t ino)
{
    return &d->inodes[((uint64_t)ino * 0x9e3779b97f4a7c15u ^ dev) >> 7 & (DISK_BUCKETS - 1)];
}

/* The inode of a file, which `fd` is or becomes. */
static struct disk_inode *inode_take(struct disk *d, const struct stat *st, int fd)
{
    (void)pthread_mutex_lock(&d->lock);
    struct disk_inode **bucket = bucket_of(d, st->st_dev, st->st_ino), *i = *bucket;
    while (i && (i->dev != st->st_dev || i->ino != st->st_ino))
        i = i->next;
    if (i) {
        sys_close(fd);
    } else {
        i = mem_zero(sizeof *i);
        *i = (struct disk_inode){.next = *bucket, .dev = st->st_dev, .ino = st->st_ino, .fd = fd};
        *bucket = i;
    }
    i->known++;
    (void)pthread_mutex_unlock(&d->lock);
    return i;
}

static void inode_forget(struct disk *d, uint64_t id, uint64_t times)
{
    struct disk_inode *i = inode_of(d, id);
    if (id == FUSE_ROOT_ID || id == 0)
        return;
    (void)pthread_mutex_lock(&d->lock);
    i->known -= times < i->known ? times : i->known;
    bool gone = !i->known;
    for (struct disk_inode **at = bucket_of(d, i->dev, i->ino); gone && *at; at = &(*at)->next)
        if (*at == i) {
            *at = i->next;
            break;
        }
    (void)pthread_mutex_unlock(&d->lock);
    if (!gone)
        return;
    sys_close(i->fd);
    mem_free(i);
}

/* The file by a path that system calls follow. */
struct by_path {
    char text[40];
};

static struct by_path path_of(int fd)
{
    struct by_path p;
    (void)snprintf(p.text, sizeof p.text, "/proc/self/fd/%d", fd);
    return p;
}

/* ---- answers ---- */

static void *answer(struct disk_request *q, size_t n)
{
    q->n_out = n;
    memset(q->out, 0, n);
    return q->out;
}

static void put_attributes(struct fuse_attr *a, const struct stat *st)
{
    *a = (struct fuse_attr){.ino = st->st_ino,
                            .size = (uint64_t)st->st_size,
                            .blocks = (uint64_t)st->st_blocks,
                            .atime = (uint64_t)st->st_atim.tv_sec,
                            .mtime = (uint64_t)st->st_mtim.tv_sec,
                            .ctime = (uint64_t)st->st_ctim.tv_sec,
                            .atimensec = (uint32_t)st->st_atim.tv_nsec,
                            .mtimensec = (uint32_t)st->st_mtim.tv_nsec,
                            .ctimensec = (uint32_t)st->st_ctim.tv_nsec,
                            .mode = st->st_mode,
                            .nlink = (uint32_t)st->st_nlink,
                            .uid = st->st_uid,
                            .gid = st->st_gid,
                            .rdev = (uint32_t)st->st_rdev,
                            .blksize = (uint32_t)st->st_blksize};
}

static int put_entry(struct disk *d, int dir, const char *name, struct fuse_entry_out *out)
{
    struct stat st;
    int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st)) {
        sys_close(fd);
        return -EIO;
    }
    out->nodeid = id_of(inode_take(d, &st, fd));
    out->entry_valid = out->attr_valid = VALID_S;
    put_attributes(&out->attr, &st);
    return 0;
}

static int answer_entry(struct disk *d, struct disk_request *q, const char *name)
{
    return put_entry(d, inode_of(d, q->head->nodeid)->fd, name,
                     answer(q, sizeof(struct fuse_entry_out)));
}

static int answer_attributes(struct disk_request *q, int fd)
{
    struct stat st;
    struct fuse_attr_out *out = answer(q, sizeof *out);
    if (fstat(fd, &st))
        return -errno;
    out->attr_valid = VALID_S;
    put_attributes(&out->attr, &st);
    return 0;
}

/* ---- names ---- */

static int parent_of(struct disk *d, const struct disk_request *q)
{
    return inode_of(d, q->head->nodeid)->fd;
}

/* What was just made belongs to whoever made it. */
static int made(struct disk *d, struct disk_request *q, const char *name)
{
    struct stat parent;
    int dir = parent_of(d, q);
    bool own_group = fstat(dir, &parent) || !(parent.st_mode & S_ISGID);
    if (d->is_root && fchownat(dir, name, q->head->uid, own_group ? q->head->gid : (gid_t)-1,
                               AT_SYMLINK_NOFOLLOW))
        return -errno;
    return 0;
}

static int answer_made(struct disk *d, struct disk_request *q, const char *name, int status)
{
    if (status)
        return -errno;
    status = made(d, q, name);
    return status ? status : answer_entry(d, q, name);
}

static int do_lookup(struct disk *d, struct disk_request *q)
{
    return answer_entry(d, q, q->body);
}

static int do_mknod(struct disk *d, struct disk_request *q)
{
    BODY(fuse_mknod_in);
    const char *name = q->body + sizeof *in;
    return answer_made(d, q, name, mknodat(parent_of(d, q), name, in->mode, in->rdev));
}

static int do_mkdir(struct disk *d, struct disk_request *q)
{
    BODY(fuse_mkdir_in);
    const char *name = q->body + sizeof *in;
    return answer_made(d, q, name, mkdirat(parent_of(d, q), name, in->mode));
}

static int do_symlink(struct disk *d, struct disk_request *q)
{
    const char *name = q->body, *to = name + strlen(name) + 1;
    return answer_made(d, q, name, symlinkat(to, parent_of(d, q), name));
}

static int do_link(struct disk *d, struct disk_request *q)
{
    BODY(fuse_link_in);
    const char *name = q->body + sizeof *in;
    struct by_path from = path_of(inode_of(d, in->oldnodeid)->fd);
    if (linkat(AT_FDCWD, from.text, parent_of(d, q), name, AT_SYMLINK_FOLLOW))
        return -errno;
    return answer_entry(d, q, name);
}

/* What is removed makes room, where it was its last name. */
static void freed(struct disk *d, uint64_t bytes)
{
    if (!atomic_load_explicit(&d->n_rules, memory_order_relaxed))
        return;
    (void)pthread_mutex_lock(&d->lock);
    disk_freed(&d->rules, bytes);
    (void)pthread_mutex_unlock(&d->lock);
}

static int remove_name(struct disk *d, struct disk_request *q, int flags)
{
    struct stat st;
    int dir = parent_of(d, q);
    bool counts = !fstatat(dir, q->body, &st, AT_SYMLINK_NOFOLLOW) &&
                  (flags || (S_ISREG(st.st_mode) && st.st_nlink == 1));
    if (unlinkat(dir, q->body, flags))
        return -errno;
    if (counts)
        freed(d, (flags ? 0 : (uint64_t)st.st_size) + DISK_BLOCK);
    return 0;
}

static int do_unlink(struct disk *d, struct disk_request *q)
{
    return remove_name(d, q, 0);
}

static int do_rmdir(struct disk *d, struct disk_request *q)
{
    return remove_name(d, q, AT_REMOVEDIR);
}

static int rename_to(struct disk *d, struct disk_request *q, uint64_t to, const char *name,
                     unsigned flags)
{
    const char *new_name = name + strlen(name) + 1;
    return renameat2(parent_of(d, q), name, inode_of(d, to)->fd, new_name, flags) ? -errno : 0;
}

static int do_rename(struct disk *d, struct disk_request *q)
{
    BODY(fuse_rename_in);
    return rename_to(d, q, in->newdir, q->body + sizeof *in, 0);
}

static int do_rename2(struct disk *d, struct disk_request *q)
{
    BODY(fuse_rename2_in);
    return rename_to(d, q, in->newdir, q->body + sizeof *in, in->flags);
}

static int do_readlink(struct disk *d, struct disk_request *q)
{
    ssize_t n = readlinkat(inode_of(d, q->head->nodeid)->fd, "", q->out, 4096);
    q->n_out = n > 0 ? (size_t)n : 0;
    return n < 0 ? -errno : 0;
}

/* ---- attributes ---- */

static int do_getattr(struct disk *d, struct disk_request *q)
{
    BODY(fuse_getattr_in);
    bool open = in->getattr_flags & FUSE_GETATTR_FH;
    return answer_attributes(q, open ? (int)in->fh : inode_of(d, q->head->nodeid)->fd);
}

static struct timespec time_of(const struct fuse_setattr_in *in, unsigned set, unsigned now,
                               uint64_t s, uint32_t ns)
{
    struct timespec t = {.tv_nsec = UTIME_OMIT};
    if (in->valid & now)
        t.tv_nsec = UTIME_NOW;
    else if (in->valid & set)
        t = (struct timespec){(time_t)s, ns};
    return t;
}

static int set_size(struct disk *d, const struct fuse_setattr_in *in, int fd, const char *path)
{
    struct stat st;
    bool known = !fstat(fd, &st);
    if (in->valid & FATTR_FH ? ftruncate((int)in->fh, (off_t)in->size)
                             : truncate(path, (off_t)in->size))
        return -errno;
    if (known && (uint64_t)st.st_size > in->size)
        freed(d, (uint64_t)st.st_size - in->size);
    return 0;
}

static int do_setattr(struct disk *d, struct disk_request *q)
{
    BODY(fuse_setattr_in);
    int fd = inode_of(d, q->head->nodeid)->fd, status;
    struct by_path path = path_of(fd);
    if (in->valid & FATTR_MODE && chmod(path.text, in->mode & 07777))
        return -errno;
    if (in->valid & (FATTR_UID | FATTR_GID) &&
        fchownat(fd, "", in->valid & FATTR_UID ? in->uid : (uid_t)-1,
                 in->valid & FATTR_GID ? in->gid : (gid_t)-1, AT_EMPTY_PATH))
        return -errno;
    if (in->valid & FATTR_SIZE && (status = set_size(d, in, fd, path.text)))
        return status;
    if (in->valid & (FATTR_ATIME | FATTR_MTIME)) {
        const struct timespec times[] = {
            time_of(in, FATTR_ATIME, FATTR_ATIME_NOW, in->atime, in->atimensec),
            time_of(in, FATTR_MTIME, FATTR_MTIME_NOW, in->mtime, in->mtimensec)};
        if (utimensat(AT_FDCWD, path.text, times, 0))
            return -errno;
    }
    return answer_attributes(q, fd);
}

static int do_statfs(struct disk *d, struct disk_request *q)
{
    struct statvfs st;
    struct fuse_statfs_out *out = answer(q, sizeof *out);
    if (fstatvfs(d->root.fd, &st))
        return -errno;
    out->st = (struct fuse_kstatfs){.blocks = st.f_blocks,
                                    .bfree = st.f_bfree,
                                    .bavail = st.f_bavail,
                                    .files = st.f_files,
                                    .ffree = st.f_ffree,
                                    .bsize = (uint32_t)st.f_bsize,
                                    .namelen = (uint32_t)st.f_namemax,
                                    .frsize = (uint32_t)st.f_frsize};
    (void)pthread_mutex_lock(&d->lock);
    const struct disk_rule *full = disk_rules_doing(&d->rules, DISK_FULL);
    if (full && st.f_frsize && full->room / st.f_frsize < out->st.bavail)
        out->st.bfree = out->st.bavail = full->room / st.f_frsize;
    (void)pthread_mutex_unlock(&d->lock);
    return 0;
}

/* ---- files ---- */

/* The flags with which the file itself is opened: where to write is said by each write, and what is
 * special in how the kernel does it (O_DIRECT) is over when it reaches us. */
static int flags_of(uint32_t flags)
{
    return (int)(flags & (O_ACCMODE | O_TRUNC | O_SYNC | O_DSYNC | O_NOATIME)) | O_CLOEXEC;
}

static void put_open(struct fuse_open_out *out, int fd)
{
    out->fh = (uint64_t)fd;
    out->open_flags = FOPEN_KEEP_CACHE;
}

static int do_open(struct disk *d, struct disk_request *q)
{
    BODY(fuse_open_in);
    struct stat st;
    int at = inode_of(d, q->head->nodeid)->fd;
    struct by_path path = path_of(at);
    bool cut = (in->flags & O_TRUNC) && !fstat(at, &st);
    int fd = open(path.text, flags_of(in->flags));
    if (fd < 0)
        return -errno;
    if (cut)
        freed(d, (uint64_t)st.st_size);
    put_open(answer(q, sizeof(struct fuse_open_out)), fd);
    return 0;
}

static int do_create(struct disk *d, struct disk_request *q)
{
    BODY(fuse_create_in);
    const char *name = q->body + sizeof *in;
    struct {
        struct fuse_entry_out entry;
        struct fuse_open_out open;
    } *out = answer(q, sizeof *out);
    int dir = parent_of(d, q), flags = flags_of(in->flags) | O_NOFOLLOW;
    int fd = openat(dir, name, flags | O_CREAT | O_EXCL, in->mode);
    bool is_new = fd >= 0;
    if (!is_new && errno == EEXIST && !(in->flags & O_EXCL))
        fd = openat(dir, name, flags);
    if (fd < 0)
        return -errno;
    int status = is_new ? made(d, q, name) : 0;
    if (!status)
        status = put_entry(d, dir, name, &out->entry);
    if (status)
        sys_close(fd);
    else
        put_open(&out->open, fd);
    return status;
}

static int do_read(struct disk *d, struct disk_request *q)
{
    BODY(fuse_read_in);
    (void)d;
    size_t most = in->size < DISK_MOVE_MAX ? in->size : DISK_MOVE_MAX;
    ssize_t n = pread((int)in->fh, q->out, most, (off_t)in->offset);
    q->n_out = n > 0 ? (size_t)n : 0;
    return n < 0 ? -errno : 0;
}

static int do_write(struct disk *d, struct disk_request *q)
{
    BODY(fuse_write_in);
    (void)d;
    ssize_t n = pwrite((int)in->fh, q->body + sizeof *in, q->room < in->size ? q->room : in->size,
                       (off_t)in->offset);
    if (n < 0)
        return -errno;
    struct fuse_write_out *out = answer(q, sizeof *out);
    out->size = (uint32_t)n;
    return 0;
}

static int do_fsync(struct disk *d, struct disk_request *q)
{
    BODY(fuse_fsync_in);
    (void)d;
    if (q->lost)
        return 0;
    return (in->fsync_flags & FUSE_FSYNC_FDATASYNC ? fdatasync((int)in->fh) : fsync((int)in->fh))
               ? -errno
               : 0;
}

static int do_fallocate(struct disk *d, struct disk_request *q)
{
    BODY(fuse_fallocate_in);
    (void)d;
    return fallocate((int)in->fh, (int)in->mode, (off_t)in->offset, (off_t)in->length) ? -errno : 0;
}

static int do_release(struct disk *d, struct disk_request *q)
{
    BODY(fuse_release_in);
    (void)d;
    sys_close((int)in->fh);
    return 0;
}

/* ---- directories ---- */

static int do_opendir(struct disk *d, struct disk_request *q)
{
    union {
        uint64_t number;
        DIR *dir;
    } u = {0};
    int fd = openat(inode_of(d, q->head->nodeid)->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    u.dir = fd < 0 ? NULL : fdopendir(fd);
    if (!u.dir)
        return -errno;
    struct fuse_open_out *out = answer(q, sizeof *out);
    out->fh = u.number;
    return 0;
}

static DIR *dir_of(uint64_t number)
{
    union {
        uint64_t number;
        DIR *dir;
    } u = {number};
    return u.dir;
}

static int do_readdir(struct disk *d, struct disk_request *q)
{
    BODY(fuse_read_in);
    (void)d;
    DIR *dir = dir_of(in->fh);
    size_t most = in->size < DISK_MOVE_MAX ? in->size : DISK_MOVE_MAX;
    if (telldir(dir) != (long)in->offset)
        seekdir(dir, (long)in->offset);
    errno = 0;
    for (const struct dirent *e; (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        struct fuse_dirent head = {
            .ino = e->d_ino, .off = (uint64_t)e->d_off, .namelen = (uint32_t)n, .type = e->d_type};
        size_t all = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + n);
        if (q->n_out + all > most)
            return 0; /* it is read again, from where this answer ends */
        memset(q->out + q->n_out, 0, all);
        memcpy(q->out + q->n_out, &head, FUSE_NAME_OFFSET);
        memcpy(q->out + q->n_out + FUSE_NAME_OFFSET, e->d_name, n);
        q->n_out += all;
    }
    return errno && !q->n_out ? -errno : 0;
}

static int do_fsyncdir(struct disk *d, struct disk_request *q)
{
    BODY(fuse_fsync_in);
    (void)d;
    return !q->lost && fsync(dirfd(dir_of(in->fh))) ? -errno : 0;
}

static int do_releasedir(struct disk *d, struct disk_request *q)
{
    BODY(fuse_release_in);
    (void)d;
    (void)closedir(dir_of(in->fh));
    return 0;
}

/* ---- the session ---- */

static int do_init(struct disk *d, struct disk_request *q)
{
    BODY(fuse_init_in);
    (void)d;
    enum {
        WANTED = FUSE_ASYNC_READ | FUSE_ATOMIC_O_TRUNC | FUSE_BIG_WRITES | FUSE_PARALLEL_DIROPS |
                 FUSE_MAX_PAGES | FUSE_ASYNC_DIO
    };
    if (in->major != FUSE_KERNEL_VERSION)
        return -EPROTO;
    struct fuse_init_out *out = answer(q, sizeof *out);
    *out = (struct fuse_init_out){.major = FUSE_KERNEL_VERSION,
                                  .minor = FUSE_KERNEL_MINOR_VERSION,
                                  .max_readahead = in->max_readahead,
                                  .flags = in->flags & WANTED,
                                  .max_background = DISK_WORKERS_MAX,
                                  .congestion_threshold = DISK_WORKERS_MAX * 3 / 4,
                                  .max_write = DISK_MOVE_MAX,
                                  .time_gran = 1,
                                  .max_pages = DISK_MOVE_MAX / DISK_BLOCK};
    return 0;
}

static int do_forget(struct disk *d, struct disk_request *q)
{
    BODY(fuse_forget_in);
    inode_forget(d, q->head->nodeid, in->nlookup);
    return 0;
}

static int do_batch_forget(struct disk *d, struct disk_request *q)
{
    BODY(fuse_batch_forget_in);
    const struct fuse_forget_one *one = (const void *)(q->body + sizeof *in);
    for (uint32_t i = 0; i < in->count && sizeof *in + (i + 1) * sizeof *one <= q->n; i++)
        inode_forget(d, one[i].nodeid, one[i].nlookup);
    return 0;
}

/* The request that is to end early: it is found where requests wait. */
static int do_interrupt(struct disk *d, struct disk_request *q)
{
    BODY(fuse_interrupt_in);
    (void)pthread_mutex_lock(&d->lock);
    for (struct disk_request *w = d->waiting; w; w = w->next)
        w->interrupted = w->interrupted || w->head->unique == in->unique;
    (void)pthread_cond_broadcast(&d->wake);
    (void)pthread_mutex_unlock(&d->lock);
    return 0;
}

/* ---- the table ---- */

struct row {
    int (*act)(struct disk *d, struct disk_request *q);
    uint32_t needs; /* bytes of its body, at least */
    unsigned does;  /* for rules; OPEN, CREATE and SETATTR: also what their flags say */
    uint32_t name;  /* 1 + where in the body the name is that it is about; 0: the file itself */
    bool silent;    /* it is not answered */
};

#define NAME_BEHIND(type) (1 + (uint32_t)sizeof(struct type))

/* clang-format off */
static const struct row rows[] = {
    [FUSE_INIT] = {do_init, 16, 0, 0, false},
    [FUSE_LOOKUP] = {do_lookup, 1, 0, 0, false},
    [FUSE_FORGET] = {do_forget, sizeof(struct fuse_forget_in), 0, 0, true},
    [FUSE_BATCH_FORGET] = {do_batch_forget, sizeof(struct fuse_batch_forget_in), 0, 0, true},
    [FUSE_INTERRUPT] = {do_interrupt, sizeof(struct fuse_interrupt_in), 0, 0, true},
    [FUSE_GETATTR] = {do_getattr, sizeof(struct fuse_getattr_in), 0, 0, false},
    [FUSE_SETATTR] = {do_setattr, sizeof(struct fuse_setattr_in), DISK_CHANGE, 0, false},
    [FUSE_READLINK] = {do_readlink, 0, 0, 0, false},
    [FUSE_STATFS] = {do_statfs, 0, 0, 0, false},
    [FUSE_MKNOD] = {do_mknod, sizeof(struct fuse_mknod_in), DISK_CHANGE, NAME_BEHIND(fuse_mknod_in), false},
    [FUSE_MKDIR] = {do_mkdir, sizeof(struct fuse_mkdir_in), DISK_CHANGE, NAME_BEHIND(fuse_mkdir_in), false},
    [FUSE_SYMLINK] = {do_symlink, 2, DISK_CHANGE, 1, false},
    [FUSE_LINK] = {do_link, sizeof(struct fuse_link_in), DISK_CHANGE, NAME_BEHIND(fuse_link_in), false},
    [FUSE_UNLINK] = {do_unlink, 1, DISK_CHANGE, 1, false},
    [FUSE_RMDIR] = {do_rmdir, 1, DISK_CHANGE, 1, false},
    [FUSE_RENAME] = {do_rename, sizeof(struct fuse_rename_in), DISK_CHANGE, NAME_BEHIND(fuse_rename_in), false},
    [FUSE_RENAME2] = {do_rename2, sizeof(struct fuse_rename2_in), DISK_CHANGE, NAME_BEHIND(fuse_rename2_in), false},
    [FUSE_OPEN] = {do_open, sizeof(struct fuse_open_in), DISK_OPEN, 0, false},
    [FUSE_CREATE] = {do_create, sizeof(struct fuse_create_in), DISK_OPEN | DISK_CHANGE, NAME_BEHIND(fuse_create_in), false},
    [FUSE_READ] = {do_read, sizeof(struct fuse_read_in), DISK_READ, 0, false},
    [FUSE_WRITE] = {do_write, sizeof(struct fuse_write_in), DISK_WRITE, 0, false},
    [FUSE_FALLOCATE] = {do_fallocate, sizeof(struct fuse_fallocate_in), DISK_WRITE, 0, false},
    [FUSE_FSYNC] = {do_fsync, sizeof(struct fuse_fsync_in), DISK_SYNC, 0, false},
    [FUSE_RELEASE] = {do_release, sizeof(struct fuse_release_in), 0, 0, false},
    [FUSE_OPENDIR] = {do_opendir, sizeof(struct fuse_open_in), 0, 0, false},
    [FUSE_READDIR] = {do_readdir, sizeof(struct fuse_read_in), 0, 0, false},
    [FUSE_FSYNCDIR] = {do_fsyncdir, sizeof(struct fuse_fsync_in), DISK_SYNC, 0, false},
    [FUSE_RELEASEDIR] = {do_releasedir, sizeof(struct fuse_release_in), 0, 0, false},
};
/* clang-format on */

static const struct row *row_of(const struct disk_request *q)
{
    uint32_t code = q->head->opcode;
    return code < sizeof rows / sizeof *rows && rows[code].act ? &rows[code] : NULL;
}

/* What the kernel asks and we do not know (extended attributes, locks, ioctls ...) it does itself, or
 * tells its caller that a file system has no such thing. */
bool disk_do(struct disk *d, struct disk_request *q, int *error)
{
    const struct row *r = row_of(q);
    q->n_out = 0;
    *error = !r ? -ENOSYS : q->n < r->needs ? -EIO : r->act(d, q);
    if (*error)
        q->n_out = 0;
    return !r || !r->silent;
}

/* ---- what rules have to know ---- */

/* Where the file is below the root; or, of a name, where that would be. */
static void find_path(struct disk *d, const struct disk_request *q, const struct row *r,
                      struct buf *path)
{
    char root[4096], file[4096];
    struct by_path at_root = path_of(d->root.fd), at = path_of(inode_of(d, q->head->nodeid)->fd);
    ssize_t n_root = readlink(at_root.text, root, sizeof root);
    ssize_t n = readlink(at.text, file, sizeof file);
    slice whole = {file, n > 0 ? (size_t)n : 0}, before = {root, n_root > 0 ? (size_t)n_root : 0};
    if (slice_starts(whole, before) && whole.n > before.n)
        buf_add(path, slice_from(whole, before.n + 1));
    if (!r->name)
        return;
    if (path->n)
        buf_addc(path, '/');
    buf_adds(path, q->body + r->name - 1);
}

/* How far a write goes beyond the end of its file. */
static uint64_t beyond_end(int fd, uint64_t offset, uint64_t n)
{
    struct stat st;
    uint64_t size = fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
    uint64_t over = offset + n > size ? offset + n - size : 0;
    return over < n ? over : n;
}

static void describe_write(const struct disk_request *q, struct disk_op *op)
{
    BODY(fuse_write_in);
    op->bytes = in->size;
    op->grows = beyond_end((int)in->fh, in->offset, in->size);
}

static void describe_fallocate(const struct disk_request *q, struct disk_op *op)
{
    BODY(fuse_fallocate_in);
    if (!(in->mode & ~(uint32_t)FALLOC_FL_KEEP_SIZE))
        op->grows = beyond_end((int)in->fh, in->offset, in->length);
}

static void describe_open(const struct disk_request *q, struct disk_op *op)
{
    BODY(fuse_open_in); /* a fuse_create_in begins in the same way */
    op->changes = op->changes || (in->flags & (O_ACCMODE | O_TRUNC)) != O_RDONLY;
    if (in->flags & O_TRUNC)
        op->does |= DISK_WRITE;
}

static void describe_setattr(const struct disk_request *q, struct disk_op *op)
{
    BODY(fuse_setattr_in);
    op->does = (in->valid & FATTR_SIZE ? DISK_WRITE : 0U) |
               (in->valid & ~(uint32_t)(FATTR_SIZE | FATTR_FH) ? DISK_CHANGE : 0U);
}

void disk_describe(struct disk *d, const struct disk_request *q, bool named, struct buf *path,
                   struct disk_op *op)
{
    const struct row *r = row_of(q);
    *op = (struct disk_op){0};
    if (!r || !r->does || q->n < r->needs)
        return;
    op->does = r->does;
    op->changes = r->does & (DISK_WRITE | DISK_CHANGE);
    switch (q->head->opcode) {
    case FUSE_READ: op->bytes = ((const struct fuse_read_in *)q->arg)->size; break;
    case FUSE_WRITE: describe_write(q, op); break;
    case FUSE_FALLOCATE: describe_fallocate(q, op); break;
    case FUSE_CREATE:
        op->grows = DISK_BLOCK;
        describe_open(q, op);
        break;
    case FUSE_OPEN: describe_open(q, op); break;
    case FUSE_SETATTR: describe_setattr(q, op); break;
    case FUSE_MKNOD:
    case FUSE_MKDIR:
    case FUSE_SYMLINK: op->grows = DISK_BLOCK; break;
    default: break;
    }
    if (named)
        find_path(d, q, r, path);
    op->path = buf_slice(path);
}
