/* SPDX-License-Identifier: Apache-2.0
 *
 * Followers as the leader sees them. Each that has attached has two threads: one sends records,
 * one hears what the follower has on disk.
 *
 *   ABSENT --SYNC--> ATTACHING --too far behind--> FULL --all sent--+
 *      ^                 |                                          v
 *      |                 +----it has some of the journal----> CATCHING_UP --in memory--> LIVE
 *      +------------------------- connection lost -------------------+--------------------+
 *
 * In sync is another matter: a follower whose acknowledgements count, because it is LIVE, has all, and
 * was heard of lately. The watch decides that, and followers hear it with each heartbeat. */
#include "kv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct peer peers[MAX_PEERS];

/* The highest lsn that more than half of the nodes have on disk. */
void leader_commit(void)
{
    uint64_t have[MAX_PEERS + 1] = {journal.durable};
    int n = 1;
    for (int i = 0; i < MAX_PEERS; i++)
        if (peers[i].insync)
            have[n++] = peers[i].acked;
    uint64_t best = 0;
    for (int i = 0; i < n; i++) {
        int at_least = 0;
        for (int j = 0; j < n; j++)
            at_least += have[j] >= have[i];
        if (at_least > node.nodes / 2 && have[i] > best)
            best = have[i];
    }
    if (best > journal.commit)
        journal.commit = best;
}

int leader_insync(void)
{
    int n = 0;
    pthread_mutex_lock(&journal.lock);
    for (int i = 0; i < MAX_PEERS; i++)
        n += peers[i].insync;
    pthread_mutex_unlock(&journal.lock);
    return n;
}

int leader_gone(void)
{
    int n = 0;
    pthread_mutex_lock(&journal.lock);
    for (int i = 0; i < MAX_PEERS; i++) {
        n += peers[i].state > PEER_ATTACHING;
        if (peers[i].state > PEER_ATTACHING)
            shutdown(peers[i].fd, SHUT_RDWR);
    }
    pthread_cond_broadcast(&journal.news);
    pthread_mutex_unlock(&journal.lock);
    return n == 0;
}

/* ---- the place of a follower ---- */

static void peer_become(struct peer *p, enum peer_state state)
{
    pthread_mutex_lock(&journal.lock);
    p->state = state;
    pthread_mutex_unlock(&journal.lock);
}

static int peer_closing(struct peer *p)
{
    pthread_mutex_lock(&journal.lock);
    int closing = p->closing || node.stopping;
    pthread_mutex_unlock(&journal.lock);
    return closing;
}

/* NULL: an earlier connection of it is not over yet; it is told to end. */
static struct peer *peer_claim(int fd, int id, uint64_t lsn)
{
    struct peer *p = &peers[id];
    pthread_mutex_lock(&journal.lock);
    int busy = p->state != PEER_ABSENT;
    if (!busy) {
        p->state = PEER_ATTACHING;
        p->id = id;
        p->fd = fd;
        p->closing = p->insync = p->awaiting = 0;
        if (!KV_BUG_6)
            p->suspect = 0;
        p->next = lsn + 1;
        p->acked = 0;
        p->heard_ms = now_ms();
        p->segment = -1;
        p->read.n = 0;
    } else if (p->state > PEER_ATTACHING) {
        p->closing = 1;
        shutdown(p->fd, SHUT_RDWR);
        pthread_cond_broadcast(&journal.news);
    }
    pthread_mutex_unlock(&journal.lock);
    return busy ? NULL : p;
}

static void peer_release(struct peer *p)
{
    pthread_mutex_lock(&journal.lock);
    p->state = PEER_ABSENT;
    p->insync = 0;
    pthread_mutex_unlock(&journal.lock);
}

/* ---- what a follower says ---- */

static void peer_heard(struct peer *p, const char *line)
{
    unsigned long long lsn;
    pthread_mutex_lock(&journal.lock);
    p->heard_ms = now_ms();
    if (sscanf(line, "ACK %llu", &lsn) == 1) {
        p->acked = lsn;
    } else if (sscanf(line, "SYNCED %llu", &lsn) == 1) {
        p->acked = lsn;
        p->awaiting = 0;
    }
    uint64_t before = journal.commit;
    leader_commit();
    int news = journal.commit != before;
    pthread_mutex_unlock(&journal.lock);
    if (news)
        loop_wake();
}

static void *acks_thread(void *arg)
{
    struct peer *p = arg;
    char buffer[512];
    size_t n = 0;
    for (;;) {
        ssize_t got = recv(p->fd, buffer + n, sizeof buffer - 1 - n, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN) && !peer_closing(p))
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
        buffer[n] = 0;
        for (char *end; (end = strchr(buffer, '\n'));) {
            *end = 0;
            peer_heard(p, buffer);
            n -= (size_t)(end + 1 - buffer);
            memmove(buffer, end + 1, n + 1);
        }
        if (n == sizeof buffer - 1)
            break;
    }
    pthread_mutex_lock(&journal.lock);
    p->closing = 1;
    pthread_cond_broadcast(&journal.news);
    pthread_mutex_unlock(&journal.lock);
    return NULL;
}

/* ---- what it is sent ---- */

/* A new or lost follower: everything. */
static int send_full(struct peer *p)
{
    struct bytes all = {0};
    pthread_rwlock_rdlock(&table.lock);
    pthread_mutex_lock(&journal.lock);
    uint64_t lsn = journal.last;
    p->awaiting = 1;
    p->suspect = 0;
    pthread_mutex_unlock(&journal.lock);
    int failed = table_encode(&table, lsn, &all) < 0;
    if (!KV_BUG_3)
        pthread_rwlock_unlock(&table.lock);
    for (size_t at = 0, n; at < all.n && !failed; at += n) {
        n = all.n - at < 16384 ? all.n - at : 16384;
        failed = send_all(p->fd, all.data + at, n) < 0;
    }
    if (KV_BUG_3)
        pthread_rwlock_unlock(&table.lock);
    free(all.data);
    p->next = lsn + 1;
    say(INFO, "follower %d: everything sent, as of %llu", p->id, (unsigned long long)lsn);
    peer_become(p, PEER_LIVE);
    return failed ? -1 : 0;
}

/* Takes whole records from what was read of a segment, and sends those that it does not have. */
static int send_read(struct peer *p)
{
    struct record r;
    size_t at = 0;
    int size, failed = 0;
    while (!failed && (size = record_read(p->read.data + at, p->read.n - at, &r)) > 0) {
        if (r.lsn == p->next) {
            failed = send_all(p->fd, &r, record_size(&r)) < 0;
            p->next++;
        }
        at += (size_t)size;
    }
    memmove(p->read.data, p->read.data + at, p->read.n - at);
    p->read.n -= at;
    return failed ? -1 : 0;
}

static void segment_close(struct peer *p)
{
    if (p->segment >= 0)
        close(p->segment);
    p->segment = -1;
    p->read.n = 0;
}

/* The segment with the next record. 1: open; 0: there is none any more; -1. */
static int segment_find(struct peer *p)
{
    uint64_t lsn = p->next;
    while ((p->segment = segment_open(lsn)) < 0) {
        if (lsn && errno == ENOENT)
            return 0;
        if (lsn)
            say(WARN, "follower %d: cannot read the journal: %s", p->id, strerror(errno));
        if (!KV_BUG_10)
            return -1;
        lsn = 0; /* from the beginning, then */
    }
    return 1;
}

/* A follower that is further behind than memory reaches: from the segments on disk. */
static int send_older(struct peer *p)
{
    struct record r;
    char buffer[4096];
    pthread_mutex_lock(&journal.lock);
    int in_memory = p->next > journal.last || journal_backlog(p->next, &r);
    pthread_mutex_unlock(&journal.lock);
    if (in_memory) {
        segment_close(p);
        peer_become(p, PEER_LIVE);
        return 0;
    }
    if (p->segment < 0) {
        int found = segment_find(p);
        if (found == 0)
            peer_become(p, PEER_FULL);
        if (found <= 0)
            return found;
    }
    ssize_t got = read(p->segment, buffer, sizeof buffer);
    if (got <= 0) {
        segment_close(p);
        pause_ms(2);
        return got < 0 ? -1 : 0;
    }
    return bytes_add(&p->read, buffer, (size_t)got) < 0 ? -1 : send_read(p);
}

static int send_beat(struct peer *p, uint64_t last, int insync)
{
    struct record beat;
    record_make(&beat, OP_BEAT, "", "");
    beat.lsn = last;
    beat.expires = insync;
    record_seal(&beat);
    return send_all(p->fd, &beat, record_size(&beat));
}

/* The usual case: what is new, or else a heartbeat. */
static int send_newer(struct peer *p)
{
    struct record some[8];
    int n = 0;
    pthread_mutex_lock(&journal.lock);
    if (journal.last < p->next && !p->closing)
        wait_ms(&journal.news, &journal.lock, BEAT_MS);
    while (n < 8 && p->next + (unsigned)n <= journal.last &&
           journal_backlog(p->next + (unsigned)n, &some[n]))
        n++;
    uint64_t last = journal.last;
    int behind = !n && p->next <= last, insync = p->insync;
    pthread_mutex_unlock(&journal.lock);
    if (behind) {
        peer_become(p, PEER_CATCHING_UP);
        return 0;
    }
    struct bytes out = {0};
    int failed = 0;
    for (int i = 0; i < n && !failed; i++)
        failed = bytes_add(&out, &some[i], record_size(&some[i])) < 0;
    failed = failed || (n && send_all(p->fd, out.data, out.n) < 0);
    free(out.data);
    p->next += (unsigned)n;
    return failed ? -1 : n ? 0 : send_beat(p, last, insync);
}

static void peer_lost(struct peer *p)
{
    segment_close(p);
    shutdown(p->fd, SHUT_RDWR);
    pthread_mutex_lock(&journal.lock);
    if (p->state == PEER_CATCHING_UP)
        p->suspect = 1; /* it came not even so far */
    pthread_mutex_unlock(&journal.lock);
}

static void *sender_thread(void *arg)
{
    struct peer *p = arg;
    pthread_t acks;
    int failed = pthread_create(&acks, NULL, acks_thread, p), heard = !failed;
    if (failed)
        say(WARN, "follower %d: no thread for it", p->id);
    while (!failed && !peer_closing(p)) {
        switch (p->state) {
        case PEER_FULL: failed = send_full(p) < 0; break;
        case PEER_CATCHING_UP: failed = send_older(p) < 0; break;
        case PEER_LIVE: failed = send_newer(p) < 0; break;
        default: failed = 1;
        }
    }
    say(INFO, "follower %d is gone", p->id);
    peer_lost(p);
    if (heard)
        pthread_join(acks, NULL);
    int fd = p->fd;
    free(p->read.data);
    p->read = (struct bytes){0};
    peer_release(p); /* before the descriptor can be another's */
    close(fd);
    return NULL;
}

/* Its socket was one of the loop's: from here on it blocks, but not forever. */
static int peer_start(struct peer *p)
{
    struct timeval limit = {.tv_usec = SILENCE_MS * 1000};
    int flags = fcntl(p->fd, F_GETFL);
    if (flags < 0 || fcntl(p->fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ||
        setsockopt(p->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0)
        return -1;
    pthread_mutex_lock(&journal.lock);
    p->state = p->next == 1 || p->next > journal.last + 1 ? PEER_FULL : PEER_CATCHING_UP;
    pthread_mutex_unlock(&journal.lock);
    pthread_t thread;
    if ((errno = pthread_create(&thread, NULL, sender_thread, p)))
        return -1;
    pthread_detach(thread);
    return 0;
}

int leader_attach(int fd, int id, uint64_t lsn)
{
    struct peer *p = peer_claim(fd, id, lsn);
    if (!p)
        return -1;
    if (peer_start(p) < 0) {
        say(WARN, "follower %d cannot be served: %s", id, strerror(errno));
        pthread_mutex_lock(&journal.lock);
        p->fd = -1; /* who calls closes it */
        pthread_mutex_unlock(&journal.lock);
        if (!KV_BUG_9)
            peer_release(p);
        return -1;
    }
    say(INFO, "follower %d is here, it has %llu", id, (unsigned long long)lsn);
    return 0;
}

/* ---- who is in sync ---- */

static void watch_peer(struct peer *p)
{
    int fresh = now_ms() - p->heard_ms < SILENCE_MS;
    int has_all = p->acked + BACKLOG > journal.last && !p->awaiting;
    if (p->insync && (!fresh || p->state == PEER_ABSENT)) {
        p->insync = 0;
        say(WARN, "follower %d is not heard of: no longer in sync", p->id);
    } else if (!p->insync && fresh && has_all && p->state == PEER_LIVE && !p->suspect) {
        p->insync = 1;
        say(INFO, "follower %d is in sync", p->id);
    }
}

void *watch_thread(void *unused)
{
    (void)unused;
    while (!node.stopping) {
        pause_ms(10);
        pthread_mutex_lock(&journal.lock);
        for (int i = 0; i < MAX_PEERS; i++)
            watch_peer(&peers[i]);
        leader_commit();
        pthread_mutex_unlock(&journal.lock);
    }
    return NULL;
}
