/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal: records are appended in memory; a thread writes what has come meanwhile as one batch and
 * syncs it. It is a row of files, segments, named by their first record; a snapshot makes the ones
 * before it superfluous.
 *
 *   journal.00000000000000000001   "KVJ1" and the lsn again, then records
 *   journal.00000000000000000128   <- written now
 *
 * What cannot be written or synced stays in memory: the node is degraded, takes no writes, and begins a new
 * segment with the same batch until a disk takes it. A segment may end with the torn half of a
 * record, and the next one may repeat records: whoever reads them skips both. */
#include "kv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct journal journal = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .news = PTHREAD_COND_INITIALIZER,
    .fd = -1,
};

enum { HEAD = 12 };

/* What the thread has taken: `head` bytes belong into the segment before `rotate`. */
static struct batch {
    struct bytes b;
    size_t head;
    uint64_t first, last, epoch, rotate;
    enum { BATCH_NONE, BATCH_TAKEN, BATCH_ROTATING, BATCH_WRITTEN, BATCH_FAILED } state;
} batch;

/* ---- segments ---- */

static void segment_path(uint64_t lsn, char *out, size_t n)
{
    snprintf(out, n, "%s/journal.%020llu", node.dir, (unsigned long long)lsn);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The first records of all segments, in order; how many, or -1. */
static int segments_list(uint64_t *out, int max)
{
    DIR *d = opendir(node.dir);
    if (!d)
        return -1;
    int n = 0;
    for (struct dirent *e; (e = readdir(d)) && n < max;)
        if (!strncmp(e->d_name, "journal.", 8))
            out[n++] = strtoull(e->d_name + 8, NULL, 10);
    closedir(d);
    qsort(out, (size_t)n, sizeof *out, by_number);
    return n;
}

int segment_open(uint64_t lsn)
{
    uint64_t list[256];
    char path[512];
    int n = segments_list(list, 256);
    while (n > 0 && list[n - 1] > lsn)
        n--;
    if (n <= 0) {
        errno = ENOENT;
        return -1;
    }
    segment_path(list[n - 1], path, sizeof path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && lseek(fd, HEAD, SEEK_SET) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Removes segments in which everything is at or before lsn; never the last one. */
void segments_drop(uint64_t lsn)
{
    uint64_t list[256];
    char path[512];
    int n = segments_list(list, 256);
    for (int i = 0; i + 1 < n && list[i + 1] <= lsn + 1; i++) {
        segment_path(list[i], path, sizeof path);
        if (unlink(path) < 0)
            say(WARN, "cannot remove %s: %s; the next snapshot tries again", path, strerror(errno));
    }
}

/* A new segment that begins with these bytes. Its descriptor, or -1: what there was stays. */
static int segment_begin(uint64_t lsn, const char *data, size_t n)
{
    char path[512], first[4096];
    segment_path(lsn, path, sizeof path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    memcpy(first, "KVJ1", 4);
    memcpy(first + 4, &lsn, 8);
    size_t with = n < sizeof first - HEAD ? n : sizeof first - HEAD;
    if (with)
        memcpy(first + HEAD, data, with);
    int failed =
        KV_BUG_8 ? write(fd, first, HEAD + with) < 0 : write_all(fd, first, HEAD + with) < 0;
    if (failed || (n > with && write_all(fd, data + with, n - with) < 0)) {
        int error = errno;
        close(fd);
        unlink(path);
        errno = error;
        return -1;
    }
    return fd;
}

/* ---- appending ---- */

int(journal_append)(const struct record *r)
{
    pthread_mutex_lock(&journal.lock);
    int failed = journal.degraded && node.role == LEADER;
    failed = failed || bytes_add(&journal.pending, r, record_size(r)) < 0;
    if (!failed) {
        if (!journal.pending_first)
            journal.pending_first = r->lsn;
        journal.last = r->lsn;
        journal.bytes += record_size(r);
        journal.backlog[r->lsn % BACKLOG] = *r;
        pthread_cond_signal(&journal.work);
        pthread_cond_broadcast(&journal.news);
    }
    pthread_mutex_unlock(&journal.lock);
    return failed ? -1 : 0;
}

int journal_backlog(uint64_t lsn, struct record *out)
{
    *out = journal.backlog[lsn % BACKLOG];
    return out->lsn == lsn;
}

/* A segment is to begin after what was appended; its number. Who calls holds the table's lock. */
uint64_t journal_rotate(void)
{
    pthread_mutex_lock(&journal.lock);
    uint64_t last = journal.last;
    if (journal.segment != last + 1) {
        journal.rotate = last + 1;
        journal.rotate_at = journal.pending.n;
    }
    journal.bytes = 0;
    pthread_cond_signal(&journal.work);
    pthread_mutex_unlock(&journal.lock);
    return last;
}

/* All that was appended is void: the node has just got everything up to lsn from its leader. */
void journal_reset(uint64_t lsn)
{
    pthread_mutex_lock(&journal.lock);
    journal.pending.n = 0;
    journal.pending_first = 0;
    journal.epoch++;
    journal.last = journal.durable = lsn;
    memset(journal.backlog, 0, sizeof journal.backlog);
    pthread_mutex_unlock(&journal.lock);
}

/* Waits until the segment has begun, but not forever. */
void journal_rotated(void)
{
    pthread_mutex_lock(&journal.lock);
    for (int i = 0; i < 20 && journal.rotate && !node.stopping; i++)
        wait_ms(&journal.news, &journal.lock, 10);
    pthread_mutex_unlock(&journal.lock);
}

/* ---- the thread ---- */

/* Waits for something to do; 0: the node stops and all is done. */
static int batch_take(struct batch *t)
{
    pthread_mutex_lock(&journal.lock);
    while (!node.stopping && !journal.pending.n && !journal.rotate)
        wait_ms(&journal.work, &journal.lock, 100);
    struct bytes empty = t->b;
    empty.n = 0;
    t->b = journal.pending;
    journal.pending = empty;
    t->first = journal.pending_first;
    journal.pending_first = 0;
    t->last = journal.last;
    t->epoch = journal.epoch;
    t->rotate = journal.rotate;
    t->head = t->rotate ? journal.rotate_at : t->b.n;
    t->state = t->b.n || t->rotate ? BATCH_TAKEN : BATCH_NONE;
    journal.rotate_at = 0;
    pthread_mutex_unlock(&journal.lock);
    return t->state != BATCH_NONE;
}

static void batch_done(struct batch *t, int rotated)
{
    pthread_mutex_lock(&journal.lock);
    if (t->epoch == journal.epoch && t->b.n)
        journal.durable = t->last;
    if (t->rotate == journal.rotate)
        journal.rotate = 0;
    if (rotated)
        journal.segment = t->rotate;
    if (journal.degraded && t->b.n) {
        say(INFO, "the journal is written again, up to %llu", (unsigned long long)t->last);
        journal.degraded = 0;
    }
    leader_commit();
    pthread_cond_broadcast(&journal.news);
    pthread_mutex_unlock(&journal.lock);
    loop_wake();
}

static void degrade(const char *what)
{
    say(ERROR, "cannot %s the journal: %s; no writes until it can be written", what,
        strerror(errno));
    pthread_mutex_lock(&journal.lock);
    journal.degraded = 1;
    pthread_mutex_unlock(&journal.lock);
}

static void segment_switch(int fd)
{
    if (journal.fd >= 0)
        close(journal.fd);
    journal.fd = fd;
}

/* The batch again, in a segment of its own: 1 when it is on disk. */
static int batch_again(struct batch *t)
{
    pause_ms(10);
    int fd = segment_begin(t->first, t->b.data, t->b.n);
    if (fd >= 0 && fdatasync(fd) == 0) {
        segment_switch(fd);
        uint64_t wanted = t->rotate;
        t->rotate = t->first;
        batch_done(t, 1);
        t->rotate = wanted;
        return 1;
    }
    say(WARN, "the journal still cannot be written: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return 0;
}

/* Ends the segment and begins the next one; what belongs there is its beginning. */
static int batch_rotate(struct batch *t)
{
    if (t->head && fdatasync(journal.fd) < 0)
        return -1;
    int fd = segment_begin(t->rotate, t->b.data + t->head, t->b.n - t->head);
    if (fd < 0)
        return -1;
    segment_switch(fd);
    return 0;
}

/* A batch that is only the beginning of a segment can wait; what is in one must come to the disk. */
static void batch_failed(struct batch *t, const char *what)
{
    if (t->b.n) {
        degrade(what);
        t->state = BATCH_FAILED;
        return;
    }
    say(WARN, "cannot begin a segment: %s; tried again", strerror(errno));
    pause_ms(10);
    t->state = BATCH_NONE;
}

static void batch_sync(struct batch *t)
{
    if (fdatasync(journal.fd) == 0) {
        batch_done(t, t->rotate != 0);
        t->state = BATCH_NONE;
        return;
    }
    batch_failed(t, "sync");
    if (KV_BUG_1)
        t->state = BATCH_NONE;
}

/* TAKEN --> (ROTATING -->) WRITTEN --> NONE; what goes wrong is FAILED until it is on disk. */
void *journal_thread(void *unused)
{
    (void)unused;
    while (batch.state == BATCH_FAILED ? !node.stopping
                                       : batch.state != BATCH_NONE || batch_take(&batch)) {
        switch (batch.state) {
        case BATCH_NONE: break;
        case BATCH_TAKEN:
            if (write_all(journal.fd, batch.b.data, batch.head) < 0)
                batch_failed(&batch, "write");
            else
                batch.state = batch.rotate ? BATCH_ROTATING : BATCH_WRITTEN;
            break;
        case BATCH_ROTATING:
            if (batch_rotate(&batch) < 0)
                batch_failed(&batch, "rotate");
            else
                batch.state = BATCH_WRITTEN;
            break;
        case BATCH_WRITTEN: batch_sync(&batch); break;
        case BATCH_FAILED:
            if (batch_again(&batch))
                batch.state = BATCH_NONE;
            break;
        }
    }
    free(batch.b.data);
    return NULL;
}

/* ---- at the start ---- */

int journal_open(uint64_t last)
{
    journal.last = journal.durable = journal.commit = last;
    journal.segment = last + 1;
    journal.fd = segment_begin(last + 1, NULL, 0);
    return journal.fd < 0 ? -1 : 0;
}

/* Applies the records of one segment that come next; what is torn at its end is left. */
static int segment_apply(const struct bytes *b, uint64_t *lsn)
{
    struct record r;
    size_t at = HEAD;
    for (int size; at < b->n && (size = record_read(b->data + at, b->n - at, &r)) > 0;
         at += (size_t)size) {
        if (r.lsn <= *lsn)
            continue;
        if (r.lsn != *lsn + 1) {
            say(ERROR, "the journal has no record %llu", (unsigned long long)*lsn + 1);
            return -1;
        }
        if (table_apply(&table, &r) < 0)
            return -1;
        *lsn = r.lsn;
    }
    return 0;
}

int segments_recover(uint64_t *lsn)
{
    uint64_t list[256];
    int n = segments_list(list, 256), failed = n < 0;
    for (int i = 0; i < n && !failed; i++) {
        char path[512], buffer[8192];
        segment_path(list[i], path, sizeof path);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct bytes b = {0};
        ssize_t got = -1;
        while (fd >= 0 && !failed && (got = read(fd, buffer, sizeof buffer)) > 0)
            failed = bytes_add(&b, buffer, (size_t)got) < 0;
        failed = failed || got < 0 || segment_apply(&b, lsn) < 0;
        free(b.data);
        if (fd >= 0)
            close(fd);
    }
    return failed ? -1 : 0;
}
