/* SPDX-License-Identifier: Apache-2.0
 *
 * Snapshots: the whole table in one file, so that the journal before it can go. Written beside the
 * old one, synced, and renamed over it: there is always one that is whole.
 *
 *   IDLE --asked--> WRITING --> SYNCING --on disk--> TRUNCATING --> IDLE
 *    ^                 |           |
 *    +-----failed------+           +--failed--> FAILED --asked--> WRITING
 *
 * Who has asked hears of each end, and may ask again. */
#include "kv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct snapshots snapshots = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .saving = PTHREAD_MUTEX_INITIALIZER,
    .asked = PTHREAD_COND_INITIALIZER,
};

/* Several who ask while one is made share the next one. */
uint64_t snapshot_ask(void)
{
    pthread_mutex_lock(&snapshots.lock);
    int waits =
        snapshots.state == SNAPSHOT_IDLE || (!KV_BUG_4 && snapshots.state == SNAPSHOT_FAILED);
    uint64_t number = snapshots.answered + (waits ? 1 : 2);
    if (snapshots.requests < number)
        snapshots.requests = number;
    if (waits)
        pthread_cond_signal(
            &snapshots.asked); /* else the thread looks when it has ended that one */
    pthread_mutex_unlock(&snapshots.lock);
    return number;
}

static void become(int state)
{
    pthread_mutex_lock(&snapshots.lock);
    snapshots.state = state;
    pthread_mutex_unlock(&snapshots.lock);
}

static void path_of(const char *name, char *out, size_t n)
{
    snprintf(out, n, "%s/%s", node.dir, name);
}

/* Where the file of a save is: it is removed when that fails. */
static char temp[512], path[512];

/* A file beside the old one with all of it, not synced; or -1. */
static int temp_write(const struct bytes *content)
{
    path_of("snapshot.temp", temp, sizeof temp);
    path_of("snapshot", path, sizeof path);
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || write_all(fd, content->data, content->n) == 0)
        return fd;
    int error = errno;
    close(fd);
    unlink(temp);
    errno = error;
    return -1;
}

/* A failed sync leaves a file of which nobody knows what is in it. */
static int temp_sync(int fd)
{
    int failed = fsync(fd) < 0, error = errno;
    close(fd);
    if (failed)
        unlink(temp);
    errno = error;
    return failed ? -1 : 0;
}

static int temp_rename(void)
{
    if (rename(temp, path) == 0)
        return 0;
    int error = errno;
    unlink(KV_BUG_5 ? path : temp);
    errno = error;
    return -1;
}

/* All at once, for a full sync. */
int snapshot_save(const struct bytes *content)
{
    int fd = temp_write(content);
    return fd < 0 || temp_sync(fd) < 0 || temp_rename() < 0 ? -1 : 0;
}

/* The table as of one moment, and the record that it is as of; a segment begins after that. */
static int table_now(struct bytes *out, uint64_t *lsn)
{
    pthread_rwlock_rdlock(&table.lock);
    *lsn = journal_rotate();
    int failed = table_encode(&table, *lsn, out) < 0;
    pthread_rwlock_unlock(&table.lock);
    return failed ? -1 : 0;
}

/* What the thread is at. */
static struct {
    int fd;
    uint64_t lsn;
} made;

static int make_file(void)
{
    struct bytes content = {0};
    made.fd = table_now(&content, &made.lsn) < 0 ? -1 : temp_write(&content);
    int error = errno;
    free(content.data);
    errno = error;
    return made.fd < 0 ? -1 : 0;
}

static int truncate_journal(void)
{
    if (temp_rename() < 0)
        return -1;
    journal_rotated();
    segments_drop(made.lsn);
    return 0;
}

/* Waits until a snapshot is asked for, and begins it. */
static void request_wait(void)
{
    pthread_mutex_lock(&snapshots.lock);
    while (!node.stopping && snapshots.requests == snapshots.answered)
        pthread_cond_wait(&snapshots.asked, &snapshots.lock);
    int begins = !node.stopping;
    if (begins)
        snapshots.state = SNAPSHOT_WRITING;
    pthread_mutex_unlock(&snapshots.lock);
    if (begins)
        pthread_mutex_lock(&snapshots.saving);
}

static void request_end(int failed)
{
    if (failed)
        say(WARN, "no snapshot: %s; the journal is kept", strerror(errno));
    pthread_mutex_unlock(&snapshots.saving);
    pthread_mutex_lock(&snapshots.lock);
    snapshots.answered++;
    if (failed)
        snapshots.failed++;
    else
        snapshots.made++;
    /* a disk that could not sync is left alone until somebody asks again */
    snapshots.state = snapshots.state == SNAPSHOT_SYNCING ? SNAPSHOT_FAILED : SNAPSHOT_IDLE;
    pthread_mutex_unlock(&snapshots.lock);
    loop_wake();
}

void *snapshot_thread(void *unused)
{
    (void)unused;
    while (!node.stopping) {
        int failed = 0;
        switch (snapshots.state) {
        case SNAPSHOT_IDLE:
        case SNAPSHOT_FAILED: request_wait(); break;
        case SNAPSHOT_WRITING:
            if ((failed = make_file() < 0) == 0)
                become(SNAPSHOT_SYNCING);
            break;
        case SNAPSHOT_SYNCING:
            if ((failed = temp_sync(made.fd) < 0) == 0)
                become(SNAPSHOT_TRUNCATING);
            break;
        case SNAPSHOT_TRUNCATING:
            failed = truncate_journal() < 0;
            if (!failed)
                request_end(0);
            break;
        }
        if (failed)
            request_end(1);
    }
    return NULL;
}

/* The last whole snapshot into the table; 0 also where there is none. */
int snapshot_recover(uint64_t *lsn)
{
    char file[512];
    path_of("snapshot.temp", file, sizeof file);
    unlink(file);
    path_of("snapshot", file, sizeof file);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    char buffer[8192];
    struct bytes b = {0};
    ssize_t got;
    int failed = 0, whole = 0;
    while ((got = read(fd, buffer, sizeof buffer)) > 0 && !failed)
        failed = bytes_add(&b, buffer, (size_t)got) < 0;
    close(fd);
    struct record r;
    int size;
    for (size_t at = 0; !failed && (size = record_read(b.data + at, b.n - at, &r)) > 0;
         at += (size_t)size) {
        if (r.op == OP_SET)
            failed = table_apply(&table, &r) < 0;
        whole = r.op == OP_END;
        *lsn = r.op == OP_END ? r.lsn : *lsn;
    }
    free(b.data);
    return failed || got < 0 || !whole ? -1 : 0;
}
