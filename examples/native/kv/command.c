/* SPDX-License-Identifier: Apache-2.0
 *
 * What clients can say: a table of commands. Answers are lines; those of several lines end with END. */
#include "kv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 6 };

struct command {
    const char *name;
    int least, most; /* words after it */
    void (*run)(struct conn *c, char **word, int n);
    const char *usage;
};

static void answer(struct conn *c, const char *text)
{
    if (bytes_add(&c->out, text, strlen(text)) < 0)
        c->waiting = WAIT_CLOSE;
}

/* Queues a write; the answer comes when it is on enough disks. */
static void queue_write(struct conn *c, struct request *q)
{
    if (node.role != LEADER) {
        char text[60];
        snprintf(text, sizeof text, "MOVED %d\n", node.leader_port);
        answer(c, text);
        return;
    }
    pthread_mutex_lock(&journal.lock);
    int degraded = journal.degraded;
    pthread_mutex_unlock(&journal.lock);
    if (degraded) {
        answer(c, "ERR degraded: the journal cannot be written\n");
        return;
    }
    q->conn = conn_number(c);
    q->generation = c->generation;
    if (writer_push(q) < 0)
        answer(c, "ERR busy\n");
    else
        serve_wait(c, WAIT_LSN, 0, COMMIT_MS);
}

/* SET key value [milliseconds] */
static void run_set(struct conn *c, char **word, int n)
{
    struct request q;
    if (strlen(word[0]) > MAX_KEY || strlen(word[1]) > MAX_VALUE) {
        answer(c, "ERR too long\n");
        return;
    }
    record_make(&q.record, OP_SET, word[0], word[1]);
    if (n == 3)
        q.record.expires = date_ms() + strtol(word[2], NULL, 10);
    queue_write(c, &q);
}

static void run_del(struct conn *c, char **word, int n)
{
    (void)n;
    struct request q;
    record_make(&q.record, OP_DEL, word[0], "");
    queue_write(c, &q);
}

static void run_get(struct conn *c, char **word, int n)
{
    (void)n;
    if (node.role == FOLLOWER && !follower_serves()) {
        char text[60];
        snprintf(text, sizeof text, "MOVED %d\n", node.leader_port);
        answer(c, text);
        return;
    }
    pthread_rwlock_rdlock(&table.lock);
    const struct record *r = table_get(&table, word[0]);
    int failed = !r ? bytes_print(&c->out, "NONE\n") < 0
                    : bytes_print(&c->out, "VALUE %.*s\n", (int)r->vlen, r->data + r->klen) < 0;
    pthread_rwlock_unlock(&table.lock);
    if (failed)
        c->waiting = WAIT_CLOSE;
}

static void run_ping(struct conn *c, char **word, int n)
{
    (void)word, (void)n;
    answer(c, "PONG\n");
}

static void run_dump(struct conn *c, char **word, int n)
{
    (void)word, (void)n;
    int failed = 0;
    pthread_rwlock_rdlock(&table.lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct entry *e = table.bucket[i]; e; e = e->next)
            failed |= bytes_print(&c->out, "%.*s %.*s\n", e->record.klen, e->record.data,
                                  (int)e->record.vlen, e->record.data + e->record.klen) < 0;
    pthread_rwlock_unlock(&table.lock);
    if (failed || bytes_print(&c->out, "END\n") < 0)
        c->waiting = WAIT_CLOSE;
}

/* One line. healthy: the leader has all followers and a journal; a follower may answer reads. */
static void run_info(struct conn *c, char **word, int n)
{
    (void)word, (void)n;
    int insync = leader_insync();
    pthread_mutex_lock(&journal.lock);
    uint64_t last = journal.last, durable = journal.durable, commit = journal.commit;
    int degraded = journal.degraded;
    pthread_mutex_unlock(&journal.lock);
    pthread_mutex_lock(&snapshots.lock);
    uint64_t made = snapshots.made, failed = snapshots.failed;
    pthread_mutex_unlock(&snapshots.lock);
    int leads = node.role == LEADER;
    int healthy = !degraded && (leads ? insync == node.nodes - 1 : follower_serves());
    if (bytes_print(&c->out,
                    "INFO role=%s state=%s health=%s last=%llu durable=%llu commit=%llu insync=%d "
                    "snapshots=%llu failed=%llu dir=%s\n",
                    leads ? "leader" : "follower",
                    degraded ? "degraded"
                    : leads  ? "leading"
                             : follower_state(),
                    healthy ? "ok" : "no", (unsigned long long)last, (unsigned long long)durable,
                    (unsigned long long)commit, insync, (unsigned long long)made,
                    (unsigned long long)failed, node.dir) < 0)
        c->waiting = WAIT_CLOSE;
}

static void run_save(struct conn *c, char **word, int n)
{
    (void)word, (void)n;
    pthread_mutex_lock(&snapshots.lock);
    c->snapshots_failed = snapshots.failed;
    pthread_mutex_unlock(&snapshots.lock);
    serve_wait(c, WAIT_SNAPSHOT, snapshot_ask(), 10000);
}

/* DETACH milliseconds: the follower leaves its leader for so long. */
static void run_detach(struct conn *c, char **word, int n)
{
    (void)n;
    follower_detach((int)strtol(word[0], NULL, 10), 0);
    answer(c, "OK\n");
}

/* RESYNC: the follower asks its leader for everything anew. */
static void run_resync(struct conn *c, char **word, int n)
{
    (void)word, (void)n;
    follower_detach(1, 1);
    answer(c, "OK\n");
}

static const struct command commands[] = {
    {"SET", 2, 3, run_set, "KEY VALUE [MS]"},
    {"DEL", 1, 1, run_del, "KEY"},
    {"GET", 1, 1, run_get, "KEY"},
    {"PING", 0, 0, run_ping, ""},
    {"INFO", 0, 0, run_info, ""},
    {"DUMP", 0, 0, run_dump, ""},
    {"SAVE", 0, 0, run_save, ""},
    {"DETACH", 1, 1, run_detach, "MS"},
    {"RESYNC", 0, 0, run_resync, ""},
};

/* SYNC id lsn: not a client's. */
int sync_line(const char *line, int *id, unsigned long long *lsn)
{
    return sscanf(line, "SYNC %d %llu", id, lsn) == 2;
}

void command_run(struct conn *c, char *line)
{
    char *word[WORDS], *rest = line;
    int n = 0;
    for (char *w; n < WORDS && (w = strtok_r(rest, " ", &rest));)
        word[n++] = w;
    for (size_t i = 0; n && i < sizeof commands / sizeof *commands; i++) {
        const struct command *k = &commands[i];
        if (strcmp(word[0], k->name))
            continue;
        if (n - 1 < k->least || n - 1 > k->most) {
            bytes_print(&c->out, "ERR usage: %s %s\n", k->name, k->usage);
            return;
        }
        k->run(c, word + 1, n - 1);
        return;
    }
    answer(c, "ERR no such command\n");
}
