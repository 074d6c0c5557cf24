/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes: clients' handlers queue them, one thread gives them their numbers and applies them, so that
 * a write that has to wait makes nobody wait who reads. And the sweeper, which removes what has expired. */
#include "kv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE = 2 * MAX_CONNS };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct request request[QUEUE];
    unsigned first, n;
    struct done done[QUEUE];
    unsigned first_done, n_done;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};

int(writer_push)(const struct request *q)
{
    pthread_mutex_lock(&queue.lock);
    int full = queue.n == QUEUE;
    if (!full) {
        queue.request[(queue.first + queue.n++) % QUEUE] = *q;
        pthread_cond_signal(&queue.filled);
    }
    pthread_mutex_unlock(&queue.lock);
    return full ? -1 : 0;
}

int writer_done(struct done *out)
{
    pthread_mutex_lock(&queue.lock);
    int any = queue.n_done > 0;
    if (any) {
        *out = queue.done[queue.first_done];
        queue.first_done = (queue.first_done + 1) % QUEUE;
        queue.n_done--;
    }
    pthread_mutex_unlock(&queue.lock);
    return any;
}

/* Waits for the next write; 0: the node stops. */
static int pop(struct request *out)
{
    pthread_mutex_lock(&queue.lock);
    while (!node.stopping && !queue.n)
        wait_ms(&queue.filled, &queue.lock, BEAT_MS);
    int any = !node.stopping;
    if (any) {
        *out = queue.request[queue.first];
        queue.first = (queue.first + 1) % QUEUE;
        queue.n--;
    }
    pthread_mutex_unlock(&queue.lock);
    return any;
}

static void answer(const struct request *q, uint64_t lsn)
{
    if (q->conn < 0)
        return;
    pthread_mutex_lock(&queue.lock);
    if (queue.n_done < QUEUE)
        queue.done[(queue.first_done + queue.n_done++) % QUEUE] =
            (struct done){.conn = q->conn, .generation = q->generation, .lsn = lsn};
    pthread_mutex_unlock(&queue.lock);
    loop_wake();
}

static int expired(const struct record *r)
{
    return r && r->expires && r->expires <= date_ms();
}

/* Its number, or 0: it was not done. First the journal: what it refuses is not in the table. */
static uint64_t apply(struct record *r)
{
    uint64_t lsn = 0;
    pthread_rwlock_wrlock(&table.lock);
    char key[MAX_KEY + 1] = "";
    memcpy(key, r->data, r->klen);
    if (r->op != OP_SWEEP || expired(table_get(&table, key))) {
        if (r->op == OP_SWEEP)
            r->op = OP_DEL;
        pthread_mutex_lock(&journal.lock);
        r->lsn = journal.last + 1;
        pthread_mutex_unlock(&journal.lock);
        record_seal(r);
        if (table_reserve(&table) == 0 && journal_append(r) == 0) {
            lsn = r->lsn;
            table_apply(&table, r);
        }
    }
    pthread_rwlock_unlock(&table.lock);
    return lsn;
}

void *writer_thread(void *unused)
{
    (void)unused;
    struct request q;
    while (pop(&q))
        answer(&q, apply(&q.record));
    return NULL;
}

/* ---- what has expired ---- */

enum { SWEEP = 16, SNAPSHOT_AT = 1 << 20 };

/* Queues the removal of some; how many, or -1. */
static int sweep(void)
{
    struct request *q = malloc(SWEEP * sizeof *q);
    if (!q)
        return -1;
    int n = 0, failed = 0;
    pthread_rwlock_rdlock(&table.lock);
    for (size_t i = 0; i < BUCKETS && n < SWEEP; i++)
        for (const struct entry *e = table.bucket[i]; e && n < SWEEP; e = e->next)
            if (expired(&e->record)) {
                q[n] = (struct request){.conn = -1, .record = e->record};
                q[n].record.op = OP_SWEEP;
                q[n].record.expires = 0;
                n++;
            }
    pthread_rwlock_unlock(&table.lock);
    for (int i = 0; i < n && !failed; i++)
        failed = writer_push(&q[i]) < 0;
    free(q);
    return failed ? -1 : n;
}

static int journal_is_long(void)
{
    pthread_mutex_lock(&journal.lock);
    int is = journal.bytes > SNAPSHOT_AT;
    if (is)
        journal.bytes = 0;
    pthread_mutex_unlock(&journal.lock);
    return is;
}

/* Keys expire at the leader, followers hear of it as of any other removal. */
void *sweeper_thread(void *unused)
{
    (void)unused;
    while (!node.stopping) {
        pause_ms(BEAT_MS);
        if (journal_is_long())
            snapshot_ask();
        pthread_rwlock_rdlock(&table.lock);
        int any = node.role == LEADER && table_expired(&table);
        pthread_rwlock_unlock(&table.lock);
        if (any && sweep() < 0) {
            say(WARN, "cannot remove what has expired: %s", strerror(errno));
            if (KV_BUG_2)
                break;
        }
    }
    return NULL;
}
