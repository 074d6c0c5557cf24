/* SPDX-License-Identifier: Apache-2.0
 *
 * A disk of a node's own: a file system that passes all through to a plain directory, and whose
 * faults are rules (disk_rule.h). Its parts:
 *
 *   disk_mount.c    mounted and unmounted, by us or by fusermount3
 *   disk_serve.c    requests of the kernel: read by threads, delayed, answered
 *   disk_fs.c       what each of them does: a row each
 *   disk_past.c     the disk as it was: copied, and put back
 *   disk_control.c  the process: what it is told over a socket; and those who tell it
 *
 * A disk that is mounted at DIR/data has its files in DIR/data.disk: `now`, what is there; `then`,
 * what would be there after a power cut, while syncs are lost; `control`, the socket.
 *
 * 1. We speak the kernel's own protocol on /dev/fuse. Its requests are trusted.
 * 2. There is no writeback cache: what is written reaches us before write(2) returns. What was read
 *    is kept by the kernel, and dropped when a fault of reads begins.
 * 3. An operation holds `gate` for reading while it is done. Who holds it for writing sees no
 *    operation half done. Nobody tells the kernel anything while he holds it: the kernel may wait for
 *    an operation then.
 * 4. `lock` is held for moments, and nothing is asked of a disk or of the kernel meanwhile: paths
 *    are found out before. */
#ifndef OUTFOX_HARM_DISK_INT_H
#define OUTFOX_HARM_DISK_INT_H

#include <linux/fuse.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "harm/disk_rule.h"

enum {
    DISK_MOVE_MAX = 256 * 1024, /* bytes of one read or write */
    DISK_REQUEST_MAX = DISK_MOVE_MAX + 4096,
    DISK_WORKERS_MAX = 64,
    DISK_BUCKETS = 1 << 14,
};

/* A file that the kernel knows, by its address; held open by O_PATH, so that it is the same whatever
 * its names are. */
struct disk_inode {
    struct disk_inode *next;
    dev_t dev;
    ino_t ino;
    int fd;
    uint64_t known; /* how often the kernel was told of it */
};

/* A request under way; a thread has one. */
struct disk_request {
    struct disk_request *next; /* of those that wait */
    struct fuse_in_header *head;
    union {
        char *body; /* what follows the head; there is a NUL behind it */
        void *arg;
    };
    size_t n;
    char *out; /* room for an answer, and how much of it is said */
    size_t n_out;
    bool interrupted;
    uint64_t room; /* of a write: how many bytes of new room it gets */
    bool lost;     /* of a sync: it is not made */
};

struct disk {
    const char *mount;
    int dev_fd;             /* /dev/fuse */
    int home_fd;            /* DIR/data.disk */
    struct disk_inode root; /* home/now */
    bool is_root;           /* we are: what is made belongs to whoever makes it */
    pthread_rwlock_t gate;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake;  /* rules have changed, or a request was interrupted */
    struct disk_rules rules;
    _Atomic uint32_t n_rules;
    struct disk_inode *inodes[DISK_BUCKETS];
    struct disk_request *waiting;
    uint64_t turn; /* changes when a rule ends: nobody waits for it any more */
    uint32_t workers, idle;
    int gone_fd; /* closed when the kernel has nothing more to say */
};

/* ---- mount ---- */

/* Mounts it: the descriptor of /dev/fuse, or -1 with *e. What was left mounted there is unmounted
 * before. */
int disk_mount(const char *mount, struct err *e) MUST_USE;

/* Until nothing of ours is mounted there; what uses it loses it. 0, or -1 with *e. */
int disk_unmount(const char *mount, struct err *e) MUST_USE;

/* ---- requests ---- */

/* Starts to answer. 0, or -1 with *e. */
int disk_serve(struct disk *d, struct err *e) MUST_USE;

/* The kernel forgets what it has read of all files. Not while the gate is held. */
void disk_drop_content(struct disk *d);

/* The kernel forgets this name in the root, and all below it. */
void disk_drop_name(struct disk *d, const char *name);

/* What a request does, for rules; the path is found out where `named`, and written to `path`. */
void disk_describe(struct disk *d, const struct disk_request *q, bool named, struct buf *path,
                   struct disk_op *op);

/* Does it: 0, or -errno. false: it is not answered. */
bool disk_do(struct disk *d, struct disk_request *q, int *error);

/* ---- the past ---- */

/* All in `from` is copied to `to` (of home), which must not be there. 0, or -1 with *e. */
int disk_copy(const struct disk *d, const char *from, const char *to, struct err *e) MUST_USE;
void disk_remove(const struct disk *d, const char *name);

/* The disk is as it was: `then` becomes `now`. */
int disk_go_back(struct disk *d, struct err *e) MUST_USE;

/* Opens home/now as the root. 0, or -1 with errno. */
int disk_open_root(struct disk *d) MUST_USE;

#endif
