/* SPDX-License-Identifier: Apache-2.0
 *
 * The log: whole lines from all workers to one descriptor, which must never hold up traffic.
 *
 * 1. A regular file takes what it is given. Anything else (a pipe, a terminal) is written to when
 *    it is ready for it, never more than a pipe takes at once.
 * 2. What the reader has not taken waits in the queue, up to a bound. Beyond it whole lines are
 *    left out, and counted.
 * 3. At the end the reader is waited for, but not long, and not once somebody is in a hurry. */
#include "proxy/exchange_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { QUEUE_MAX = 1024 * 1024, END_MS = 2000, END_STEP_MS = 20 };

struct log {
    int fd;
    bool own;
    bool file;         /* regular: it does not block */
    int64_t wall_ns;   /* add to clock_ns for the time of day */
    _Atomic int error; /* errno of the first write that failed */
    _Atomic uint64_t left_out;
    pthread_mutex_t lock; /* of what follows */
    struct buf queue;     /* lines that wait; not for a file */
    size_t taken;         /* of its beginning */
};

int log_open(const char *path, struct log **out, struct err *e)
{
    bool own = strcmp(path, "-") != 0;
    int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int fd = own ? file_open_private(path, flags) : STDOUT_FILENO;
    if (fd < 0)
        return err_set(e, 0, 0, "the log %s cannot be opened: %s", path,
                       errno == ENXIO ? "no program reads from this pipe" : strerror(errno));
    struct stat st;
    struct log *log = mem_zero(sizeof *log);
    log->fd = fd;
    log->own = own;
    log->file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    log->wall_ns = clock_wall_ns() - clock_ns();
    log->queue = BUF_INIT(QUEUE_MAX);
    pthread_mutex_init(&log->lock, NULL);
    *out = log;
    return 0;
}

void log_close(struct log *log)
{
    if (!log)
        return;
    if (log->own)
        close(log->fd);
    buf_deinit(&log->queue);
    pthread_mutex_destroy(&log->lock);
    mem_free(log);
}

int64_t log_wall_ns(const struct log *log)
{
    return log->wall_ns;
}

bool log_failed(const struct log *log)
{
    return log && atomic_load(&log->error) != 0;
}

uint64_t log_left_out(const struct log *log)
{
    return log ? atomic_load(&log->left_out) : 0;
}

void log_leave_out(struct log *log, uint64_t lines)
{
    atomic_fetch_add(&log->left_out, lines);
}

/* Writes as long as it need not wait longer than so; returns what is left. */
static slice put(struct log *log, slice rest, int wait_ms)
{
    while (rest.n && !log_failed(log)) {
        struct pollfd ready = {log->fd, POLLOUT, 0};
        if (!log->file && poll(&ready, 1, wait_ms) <= 0)
            break;
        ssize_t n = write(log->fd, rest.p, log->file || rest.n < PIPE_BUF ? rest.n : PIPE_BUF);
        if (n >= 0)
            rest = slice_from(rest, (size_t)n);
        else if (errno != EINTR && errno != EAGAIN)
            atomic_store(&log->error, errno);
    }
    return rest;
}

/* Under the lock: from the queue to the descriptor. */
static void queue_put(struct log *log, int wait_ms)
{
    slice left = put(log, slice_from(buf_slice(&log->queue), log->taken), wait_ms);
    log->taken = log->queue.n - left.n;
    if (left.n == 0 || log->taken > QUEUE_MAX / 2) {
        if (left.n)
            memmove(log->queue.p, left.p, left.n);
        log->queue.n = left.n;
        log->taken = 0;
    }
}

/* Under the lock: those lines that fit. */
static void queue_add(struct log *log, slice lines)
{
    slice line;
    while (lines.n && slice_cut(&lines, '\n', &line)) {
        if (log->queue.n + line.n + 1 > QUEUE_MAX) {
            log_leave_out(log, 1);
            continue;
        }
        buf_add(&log->queue, line);
        buf_addc(&log->queue, '\n');
    }
}

bool log_flush(struct log *log, struct buf *lines)
{
    pthread_mutex_lock(&log->lock);
    if (log->file) {
        (void)put(log, buf_slice(lines), 0);
    } else if (!log_failed(log)) {
        queue_add(log, buf_slice(lines));
        queue_put(log, 0);
    }
    bool waiting = log->queue.n > 0 && !log_failed(log);
    pthread_mutex_unlock(&log->lock);
    lines->n = 0;
    return waiting;
}

void log_end(struct log *log, const _Atomic int *stop)
{
    pthread_mutex_lock(&log->lock);
    for (int ms = 0; log->queue.n && !log_failed(log); ms += END_STEP_MS) {
        if (ms >= END_MS || atomic_load(stop) == 2)
            break;
        queue_put(log, END_STEP_MS);
    }
    slice rest = slice_from(buf_slice(&log->queue), log->taken), line;
    while (rest.n && slice_cut(&rest, '\n', &line))
        log_leave_out(log, 1);
    log->queue.n = log->taken = 0;
    pthread_mutex_unlock(&log->lock);
}
