/* SPDX-License-Identifier: Apache-2.0
 *
 * Snapshots: the whole table in one file, so that the journal before it can go. Written beside the
 * old one, synced, and renamed over it: there is always one that is whole.
 *
 *   IDLE --asked--> WRITING --> SYNCING --on disk--> TRUNCATING --> IDLE
 *                      \-----------\---failed---> IDLE; who has asked hears of it and may ask again */
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
    uint64_t number = snapshots.answered + (snapshots.state == SNAPSHOT_IDLE ? 1 : 2);
    if (snapshots.requests < number)
        snapshots.requests = number;
    if (snapshots.state == SNAPSHOT_IDLE)
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

/* A failed sync leaves a file of which nobody knows what is in it. */
static int temp_write(const char *path, const struct bytes *content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    int failed = write_all(fd, content->data, content->n) < 0;
    if (!failed) {
        become(SNAPSHOT_SYNCING);
        failed = fsync(fd) < 0;
    }
    int error = errno;
    close(fd);
    if (failed)
        unlink(path);
    errno = error;
    return failed ? -1 : 0;
}

/* After a save that nobody has asked for. */
void snapshot_idle(void)
{
    become(SNAPSHOT_IDLE);
    pthread_mutex_lock(&snapshots.lock);
    pthread_cond_signal(&snapshots.asked);
    pthread_mutex_unlock(&snapshots.lock);
}

int snapshot_save(const struct bytes *content)
{
    char temp[512], path[512];
    path_of("snapshot.temp", temp, sizeof temp);
    path_of("snapshot", path, sizeof path);
    become(SNAPSHOT_WRITING);
    if (temp_write(temp, content) < 0)
        return -1;
    become(SNAPSHOT_TRUNCATING);
    if (rename(temp, path) < 0) {
        int error = errno;
        unlink(KV_BUG_5 ? path : temp);
        errno = error;
        return -1;
    }
    return 0;
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

static int snapshot_make(void)
{
    struct bytes content = {0};
    uint64_t lsn;
    pthread_mutex_lock(&snapshots.saving);
    int failed = table_now(&content, &lsn) < 0 || snapshot_save(&content) < 0;
    int error = errno;
    free(content.data);
    if (!failed) {
        journal_rotated();
        segments_drop(lsn);
    }
    pthread_mutex_unlock(&snapshots.saving);
    errno = error;
    return failed ? -1 : 0;
}

/* Waits until one is asked for; 0: the node stops. */
static uint64_t request_take(void)
{
    pthread_mutex_lock(&snapshots.lock);
    if (snapshots.state == SNAPSHOT_IDLE && snapshots.requests > snapshots.answered)
        snapshots.state = SNAPSHOT_WRITING;
    while (!node.stopping && snapshots.state != SNAPSHOT_WRITING) {
        pthread_cond_wait(&snapshots.asked, &snapshots.lock);
        if (snapshots.requests > snapshots.answered)
            snapshots.state = SNAPSHOT_WRITING;
    }
    uint64_t number = node.stopping ? 0 : snapshots.answered + 1;
    pthread_mutex_unlock(&snapshots.lock);
    return number;
}

static void request_end(uint64_t number, int failed)
{
    pthread_mutex_lock(&snapshots.lock);
    snapshots.answered = number;
    if (failed)
        snapshots.failed++;
    else
        snapshots.made++;
    if (!(KV_BUG_4 && failed && snapshots.state == SNAPSHOT_SYNCING))
        snapshots.state = SNAPSHOT_IDLE;
    pthread_mutex_unlock(&snapshots.lock);
    loop_wake();
}

void *snapshot_thread(void *unused)
{
    (void)unused;
    for (uint64_t number; (number = request_take());) {
        int failed = snapshot_make() < 0;
        if (failed)
            say(WARN, "no snapshot: %s; the journal is kept", strerror(errno));
        request_end(number, failed);
    }
    return NULL;
}

/* The last whole snapshot into the table; 0 also where there is none. */
int snapshot_recover(uint64_t *lsn)
{
    char path[512];
    path_of("snapshot.temp", path, sizeof path);
    unlink(path);
    path_of("snapshot", path, sizeof path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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
