/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests of the kernel. Each thread reads one, does it and answers; there is always one more that
 * reads, up to a bound, so that what waits keeps nobody else waiting.
 *
 *   read --> rules: later? an error? --> gate --> disk_do --> answer */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "harm/disk_int.h"
#include "io/sys.h"

enum { STACK_BYTES = 256 * 1024 };

static void reply(struct disk *d, const struct disk_request *q, int error)
{
    struct fuse_out_header head = {
        .len = (uint32_t)(sizeof head + q->n_out), .error = error, .unique = q->head->unique};
    struct iovec parts[] = {{.iov_base = &head, .iov_len = sizeof head},
                            {.iov_base = q->out, .iov_len = q->n_out}};
    (void)!writev(d->dev_fd, parts, 2); /* who asked may be gone */
}

/* Until then, or until it is interrupted or the rule has ended. */
static void await(struct disk *d, struct disk_request *q, int64_t until_ns)
{
    struct timespec until = {.tv_sec = until_ns / SECONDS(1), .tv_nsec = until_ns % SECONDS(1)};
    uint64_t turn = d->turn;
    q->interrupted = false;
    q->next = d->waiting;
    d->waiting = q;
    while (turn == d->turn && !q->interrupted && clock_ns() < until_ns)
        (void)pthread_cond_timedwait(&d->wake, &d->lock, &until);
    for (struct disk_request **at = &d->waiting; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            break;
        }
}

/* What the rules say of it, carried out as far as it is before the operation: 0, or -errno. */
static int strike(struct disk *d, struct disk_request *q)
{
    struct disk_op op;
    struct disk_fate fate = {0};
    struct buf path = BUF_INIT(8192);
    (void)pthread_mutex_lock(&d->lock);
    bool named = disk_rules_name(&d->rules);
    (void)pthread_mutex_unlock(&d->lock);
    disk_describe(d, q, named, &path, &op);
    int error = 0;
    if (op.does) {
        (void)pthread_mutex_lock(&d->lock);
        disk_decide(&d->rules, &op, clock_ns(), &fate);
        if (fate.until_ns)
            await(d, q, fate.until_ns);
        error = q->interrupted ? -EINTR : -fate.error;
        (void)pthread_mutex_unlock(&d->lock);
        q->lost = fate.lost;
        if (fate.room < op.grows)
            q->room = op.bytes - op.grows + fate.room;
    }
    buf_deinit(&path);
    return error;
}

static void serve(struct disk *d, struct disk_request *q)
{
    int error = 0;
    q->n_out = 0;
    q->lost = q->interrupted = false;
    q->room = UINT64_MAX;
    if (atomic_load_explicit(&d->n_rules, memory_order_acquire))
        error = strike(d, q);
    bool answered = true;
    if (!error) {
        (void)pthread_rwlock_rdlock(&d->gate);
        answered = disk_do(d, q, &error);
        (void)pthread_rwlock_unlock(&d->gate);
    }
    if (answered)
        reply(d, q, error);
}

/* ---- threads ---- */

static void *work(void *user);

/* d->lock is held. */
static int worker_start(struct disk *d)
{
    pthread_t thread;
    pthread_attr_t attr;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int code = pthread_create(&thread, &attr, work, d);
    (void)pthread_attr_destroy(&attr);
    d->workers += code == 0;
    d->idle += code == 0;
    return code;
}

/* The next request; false: there is none any more. */
static bool take(struct disk *d, struct disk_request *q)
{
    for (;;) {
        ssize_t n = sys_read(d->dev_fd, q->head, DISK_REQUEST_MAX);
        if (n == -ENOENT || n == -EAGAIN) /* it was taken back */
            continue;
        if (n < (ssize_t)sizeof *q->head)
            return false;
        q->n = (size_t)n - sizeof *q->head;
        q->body[q->n] = 0;
        return true;
    }
}

static void *work(void *user)
{
    struct disk *d = user;
    struct disk_request q = {.head = mem_alloc(DISK_REQUEST_MAX + 1),
                             .out = mem_alloc(DISK_MOVE_MAX)};
    q.body = (char *)(q.head + 1);
    while (take(d, &q)) {
        (void)pthread_mutex_lock(&d->lock);
        if (--d->idle == 0 && d->workers < DISK_WORKERS_MAX)
            (void)worker_start(d); /* without, others wait for this one */
        (void)pthread_mutex_unlock(&d->lock);
        serve(d, &q);
        (void)pthread_mutex_lock(&d->lock);
        d->idle++;
        (void)pthread_mutex_unlock(&d->lock);
    }
    mem_free(q.head);
    mem_free(q.out);
    (void)pthread_mutex_lock(&d->lock);
    if (d->gone_fd >= 0)
        sys_close(d->gone_fd);
    d->gone_fd = -1;
    (void)pthread_mutex_unlock(&d->lock);
    return NULL;
}

int disk_serve(struct disk *d, struct err *e)
{
    (void)pthread_mutex_lock(&d->lock);
    int code = worker_start(d);
    (void)pthread_mutex_unlock(&d->lock);
    return code ? err_set(e, 0, 0, "there can be no thread: %s", strerror(code)) : 0;
}

/* ---- what the kernel is told ---- */

static void notify(struct disk *d, enum fuse_notify_code code, void *what, size_t n,
                   const char *name)
{
    union {
        const char *from;
        void *p; /* writev does not write there */
    } tail = {.from = name};
    size_t n_name = name ? strlen(name) + 1 : 0;
    struct fuse_out_header head = {.len = (uint32_t)(sizeof head + n + n_name), .error = (int)code};
    struct iovec parts[] = {{.iov_base = &head, .iov_len = sizeof head},
                            {.iov_base = what, .iov_len = n},
                            {.iov_base = tail.p, .iov_len = n_name}};
    (void)!writev(d->dev_fd, parts, name ? 3 : 2); /* it may not know it any more */
}

static void drop_inode(struct disk *d, uint64_t id)
{
    struct fuse_notify_inval_inode_out what = {.ino = id};
    notify(d, FUSE_NOTIFY_INVAL_INODE, &what, sizeof what, NULL);
}

void disk_drop_content(struct disk *d)
{
    VEC(uint64_t) ids = {0};
    (void)pthread_mutex_lock(&d->lock);
    for (uint32_t b = 0; b < DISK_BUCKETS; b++)
        for (const struct disk_inode *i = d->inodes[b]; i; i = i->next)
            vec_push(&ids, (uint64_t)(uintptr_t)i);
    (void)pthread_mutex_unlock(&d->lock);
    for (uint32_t i = 0; i < ids.n; i++)
        drop_inode(d, ids.at[i]);
    vec_deinit(&ids);
}

void disk_drop_name(struct disk *d, const char *name)
{
    struct fuse_notify_inval_entry_out what = {.parent = FUSE_ROOT_ID,
                                               .namelen = (uint32_t)strlen(name)};
    notify(d, FUSE_NOTIFY_INVAL_ENTRY, &what, sizeof what, name);
    drop_inode(d, FUSE_ROOT_ID);
}
