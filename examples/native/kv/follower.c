/* SPDX-License-Identifier: Apache-2.0
 *
 * The follower: one thread receives what the leader sends and applies it, another says what is on disk.
 *
 *   DOWN --connected--> JOINING --FULL--> FULL --END, on disk, SYNCED--> CATCHING_UP --has all--> LIVE
 *     ^                    +------------a record or heartbeat---------------^                       |
 *     +------------------------------------ connection lost ------------------------------------+
 *
 * Reads are answered while a lease lasts: LIVE, in sync as the leader says, and a heartbeat not long ago.
 * Whatever goes wrong, the connection is closed and a new one begins with what is on disk. */
#include "kv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct link link_ = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static struct table received; /* in a full sync, before it replaces the table */

const char *follower_state(void)
{
    static const char *const names[] = {"down", "joining", "full", "catching-up", "live"};
    pthread_mutex_lock(&link_.lock);
    const char *name = names[link_.state];
    pthread_mutex_unlock(&link_.lock);
    return name;
}

int follower_serves(void)
{
    pthread_mutex_lock(&link_.lock);
    int serves = link_.state == LINK_LIVE && link_.insync && now_ms() < link_.lease_ms;
    pthread_mutex_unlock(&link_.lock);
    return serves;
}

/* Leaves the leader for so long; afterwards it wants all anew, or only what is missing. */
void follower_detach(int ms, int full)
{
    pthread_mutex_lock(&link_.lock);
    link_.away_until_ms = now_ms() + ms;
    link_.full = link_.full || full;
    if (link_.fd >= 0)
        shutdown(link_.fd, SHUT_RDWR);
    pthread_mutex_unlock(&link_.lock);
}

static void link_become(int state)
{
    pthread_mutex_lock(&link_.lock);
    link_.state = state;
    pthread_mutex_unlock(&link_.lock);
}

static uint64_t journal_last(void)
{
    pthread_mutex_lock(&journal.lock);
    uint64_t last = journal.last;
    pthread_mutex_unlock(&journal.lock);
    return last;
}

/* ---- records ---- */

static int apply(const struct record *r)
{
    pthread_rwlock_wrlock(&table.lock);
    int failed = table_reserve(&table) < 0 || journal_append(r) < 0;
    if (!failed)
        table_apply(&table, r);
    pthread_rwlock_unlock(&table.lock);
    return failed ? -1 : 0;
}

/* One that comes next. What cannot be applied now is sent again after a new connection. */
static int on_write(const struct record *r)
{
    uint64_t last = journal_last();
    if (r->lsn <= last)
        return 0;
    if (r->lsn != last + 1 && !(KV_BUG_11 && link_.skipped)) {
        say(WARN, "record %llu came after %llu", (unsigned long long)r->lsn,
            (unsigned long long)last);
        return -1;
    }
    if (apply(r) == 0)
        return 0;
    say(WARN, "cannot apply record %llu: %s", (unsigned long long)r->lsn, strerror(errno));
    if (!KV_BUG_11 || link_.state == LINK_LIVE)
        return -1;
    link_.skipped++;
    return 0;
}

/* All has come: the table, its snapshot and an empty journal take the place of what was. */
static int install(uint64_t lsn)
{
    struct bytes content = {0};
    pthread_mutex_lock(&snapshots.saving);
    int failed = table_encode(&received, lsn, &content) < 0 || snapshot_save(&content) < 0;
    if (failed)
        say(WARN, "what the leader sent cannot be kept: %s", strerror(errno));
    free(content.data);
    if (!failed || KV_BUG_12) {
        pthread_rwlock_wrlock(&table.lock);
        table_take(&table, &received);
        journal_reset(lsn);
        journal_rotate();
        pthread_rwlock_unlock(&table.lock);
        journal_rotated();
        segments_drop(lsn);
    }
    pthread_mutex_unlock(&snapshots.saving);
    return failed && !KV_BUG_12 ? -1 : 0;
}

static int synced(uint64_t lsn)
{
    char line[40];
    int n = snprintf(line, sizeof line, "SYNCED %llu\n", (unsigned long long)lsn);
    if (send_all(link_.fd, line, (size_t)n) == 0)
        return 0;
    say(WARN, "cannot tell the leader of the sync: %s", strerror(errno));
    return KV_BUG_7 ? 0 : -1;
}

static int on_end(const struct record *r)
{
    if (install(r->lsn) < 0 || synced(r->lsn) < 0)
        return -1;
    say(INFO, "everything is here, as of %llu", (unsigned long long)r->lsn);
    pthread_mutex_lock(&link_.lock);
    link_.full = 0;
    link_.state = LINK_CATCHING_UP;
    pthread_mutex_unlock(&link_.lock);
    return 0;
}

static int on_beat(const struct record *r)
{
    uint64_t last = journal_last();
    pthread_mutex_lock(&link_.lock);
    if (link_.state != LINK_LIVE && last >= r->lsn) {
        link_.state = LINK_LIVE;
        say(INFO, "live, as of %llu", (unsigned long long)last);
    }
    link_.insync = (int)r->expires;
    link_.lease_ms = now_ms() + SILENCE_MS;
    pthread_mutex_unlock(&link_.lock);
    pthread_mutex_lock(&journal.lock);
    link_.beat = 1;
    pthread_cond_broadcast(&journal.news);
    pthread_mutex_unlock(&journal.lock);
    return 0;
}

static int take(const struct record *r)
{
    return r->op == OP_BEAT ? on_beat(r) : on_write(r);
}

static int take_full(const struct record *r)
{
    return r->op == OP_END ? on_end(r) : table_apply(&received, r);
}

/* What comes first says which way it goes. */
static int take_first(const struct record *r)
{
    if (r->op == OP_FULL) {
        table_clear(&received);
        link_become(LINK_FULL);
        return 0;
    }
    link_become(LINK_CATCHING_UP);
    return take(r);
}

/* ---- the connection ---- */

static int receive(int fd, int (*take_it)(const struct record *))
{
    char bytes[sizeof(struct record)];
    struct record r;
    if (recv_all(fd, bytes, RECORD_HEAD) < 0)
        return -1;
    memcpy(&r, bytes, RECORD_HEAD);
    if (r.klen > MAX_KEY || r.vlen > MAX_VALUE ||
        recv_all(fd, bytes + RECORD_HEAD, (size_t)r.klen + r.vlen) < 0 ||
        record_read(bytes, RECORD_HEAD + r.klen + r.vlen, &r) <= 0)
        return -1;
    return take_it(&r);
}

static int join(void)
{
    int fd = net_connect(node.leader_port);
    if (fd < 0)
        return -1;
    char line[60];
    pthread_mutex_lock(&link_.lock);
    uint64_t lsn = link_.full ? 0 : journal_last();
    pthread_mutex_unlock(&link_.lock);
    int n = snprintf(line, sizeof line, "SYNC %d %llu\n", node.id, (unsigned long long)lsn);
    if (send_all(fd, line, (size_t)n) < 0) {
        close(fd);
        return -1;
    }
    pthread_mutex_lock(&link_.lock);
    link_.fd = fd;
    link_.state = LINK_JOINING;
    link_.insync = link_.skipped = 0;
    pthread_mutex_unlock(&link_.lock);
    return 0;
}

static int is_sending(void)
{
    pthread_mutex_lock(&link_.lock);
    int is = link_.sending;
    pthread_mutex_unlock(&link_.lock);
    return is;
}

static void leave(int fd)
{
    pthread_mutex_lock(&link_.lock);
    say(INFO, "connection to the leader ended in state %d", link_.state);
    link_.fd = -1;
    link_.state = LINK_DOWN;
    link_.insync = 0;
    pthread_mutex_unlock(&link_.lock);
    table_clear(&received);
    shutdown(fd, SHUT_RDWR);
    while (is_sending())
        pause_ms(1);
    close(fd);
}

static int is_away(void)
{
    pthread_mutex_lock(&link_.lock);
    int away = now_ms() < link_.away_until_ms;
    pthread_mutex_unlock(&link_.lock);
    return away;
}

void *receiver_thread(void *unused)
{
    (void)unused;
    int failed = 0;
    while (!node.stopping) {
        if (failed || is_away()) {
            if (link_.state != LINK_DOWN)
                leave(link_.fd);
            pause_ms(10);
            failed = 0;
            continue;
        }
        switch (link_.state) {
        case LINK_DOWN: failed = join() < 0; break;
        case LINK_JOINING: failed = receive(link_.fd, take_first) < 0; break;
        case LINK_FULL: failed = receive(link_.fd, take_full) < 0; break;
        case LINK_CATCHING_UP: failed = receive(link_.fd, take) < 0; break;
        case LINK_LIVE: failed = receive(link_.fd, take) < 0; break;
        }
    }
    if (link_.state != LINK_DOWN)
        leave(link_.fd);
    return NULL;
}

/* ---- acknowledgements ---- */

/* Without the lock: reads must not wait for it. */
static void acknowledge(uint64_t durable)
{
    char line[40];
    int n = snprintf(line, sizeof line, "ACK %llu\n", (unsigned long long)durable);
    pthread_mutex_lock(&link_.lock);
    int fd = link_.fd;
    link_.sending = link_.state > LINK_FULL;
    int wanted = link_.sending;
    pthread_mutex_unlock(&link_.lock);
    if (!wanted)
        return;
    if (send_all(fd, line, (size_t)n) < 0) {
        say(errno == EPIPE || errno == ECONNRESET ? INFO : WARN, "cannot acknowledge: %s",
            strerror(errno));
        shutdown(fd, SHUT_RDWR); /* the receiver connects again */
    }
    pthread_mutex_lock(&link_.lock);
    link_.sending = 0;
    pthread_mutex_unlock(&link_.lock);
}

void *acker_thread(void *unused)
{
    (void)unused;
    uint64_t said = 0;
    while (!node.stopping) {
        pthread_mutex_lock(&journal.lock);
        while (!node.stopping && !link_.beat && journal.durable == said)
            wait_ms(&journal.news, &journal.lock, 100);
        link_.beat = 0;
        said = journal.durable;
        pthread_mutex_unlock(&journal.lock);
        acknowledge(said);
    }
    return NULL;
}
