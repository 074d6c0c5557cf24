/* SPDX-License-Identifier: Apache-2.0
 *
 * A small replicated key-value store: one leader, some followers, text over TCP. README.md has the
 * tour; this is what its files know of each other.
 *
 *   client --> serve --> writer --> table, journal --> disk
 *                                      |
 *                                   leader  ==records==>  follower --> table, journal --> disk
 *                                           <==acks=====
 *
 * 1. A write is a record with a number (lsn), one more than the last. Table, journal, snapshots and
 *    followers see records in this order, each once.
 * 2. A write is acknowledged when more than half of the nodes have it on disk: a slow disk of one
 *    node holds nobody up.
 * 3. Locks are taken in this order: table, journal; snapshots; link; queue. None is held while something
 *    blocks. */
#ifndef KV_H
#define KV_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "bugs.h"

enum {
    MAX_KEY = 64,
    MAX_VALUE = 256,
    MAX_PEERS = 8,
    MAX_CONNS = 64,
    BACKLOG =
        32, /* so many of the last records are in memory; followers further behind read disks */
    BEAT_MS = 20,
    SILENCE_MS = 400, /* who has not been heard of for so long is lost */
    COMMIT_MS = 300,  /* a client waits so long for the acknowledgement of a write */
};

/* ---- records (record.c): in the journal, in snapshots and on the wire ---- */

enum op {
    OP_SET = 1,
    OP_DEL,
    OP_SWEEP, /* DEL, if it has expired */
    OP_FULL,  /* wire: all records follow, as of `lsn` */
    OP_END,   /* wire, snapshot: these were all */
    OP_BEAT,  /* wire: the leader lives, its last record is `lsn`; expires: 1 you are in sync */
};

struct record {
    uint32_t sum; /* of all that follows */
    uint8_t op, klen;
    uint16_t vlen;
    uint64_t lsn;
    int64_t expires; /* ms since 1970; 0: never */
    char data[MAX_KEY + MAX_VALUE];
};
#define RECORD_HEAD offsetof(struct record, data)

void record_make(struct record *r, enum op op, const char *key, const char *value);
void record_seal(struct record *r); /* when all else is set */
size_t record_size(const struct record *r);
/* The first record of these bytes: its size, 0 if it is not whole, -1 if it is none. */
int record_read(const char *bytes, size_t n, struct record *out);

/* Bytes that grow. */
struct bytes {
    char *data;
    size_t n, room;
};
int bytes_add(struct bytes *b, const void *data, size_t n); /* 0, or -1: no memory */
int bytes_print(struct bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the table (table.c) ---- */

struct entry {
    struct entry *next;
    struct record record;
};

enum { BUCKETS = 512 };

struct table {
    pthread_rwlock_t lock;
    struct entry *bucket[BUCKETS];
    size_t count;
    struct entry *spare; /* memory for the next new key */
};
extern struct table table;

/* Whoever calls these holds the lock. */
int table_reserve(struct table *t); /* 0, and the next apply will succeed; or -1: no memory */
int table_apply(struct table *t, const struct record *r); /* 0, or -1: no memory */
int table_expired(const struct table *t);                 /* 1: some have */
const struct record *table_get(const struct table *t, const char *key);
int table_encode(const struct table *t, uint64_t lsn, struct bytes *out);
void table_clear(struct table *t);
void table_take(struct table *t, struct table *from); /* all that it has */

/* ---- the journal (journal.c): segments of records in the order of lsn, and who has how much of it ---- */

struct journal {
    pthread_mutex_t lock;
    pthread_cond_t work; /* for the journal's thread */
    pthread_cond_t news; /* last, durable, or a peer have changed */
    uint64_t last, durable, commit;
    uint64_t epoch; /* counts full syncs: what was taken before does not matter afterwards */
    struct bytes pending;
    uint64_t pending_first;
    uint64_t rotate;  /* a segment is to begin with this record; 0: none */
    size_t rotate_at; /* where that is in `pending` */
    uint64_t segment; /* first record of the segment that is written */
    int fd;           /* of the segment: of the journal's thread alone */
    int degraded;     /* the disk failed: no writes are taken */
    uint64_t bytes;   /* since the last snapshot */
    struct record backlog[BACKLOG];
};
extern struct journal journal;

int journal_open(uint64_t last);            /* after recovery */
int journal_append(const struct record *r); /* 0, or -1; the table's lock is held for writing */
uint64_t journal_rotate(void);              /* a segment begins after the last record: its lsn */
void journal_rotated(void);
void journal_reset(uint64_t lsn);
int journal_backlog(uint64_t lsn, struct record *out); /* 1, or 0: it is older; lock is held */
void *journal_thread(void *unused);
int segment_open(uint64_t lsn); /* the one that has this record, to be read from its start; or -1 */
void segments_drop(uint64_t lsn);
int segments_recover(uint64_t *lsn); /* applies what comes after it */

/* ---- snapshots (snapshot.c) ---- */

struct snapshots {
    pthread_mutex_t lock;
    pthread_mutex_t saving; /* held, before all others, by who makes the files */
    pthread_cond_t asked;
    enum {
        SNAPSHOT_IDLE,
        SNAPSHOT_WRITING,
        SNAPSHOT_SYNCING,
        SNAPSHOT_TRUNCATING,
        SNAPSHOT_FAILED
    } state;
    uint64_t requests; /* asked for so far */
    uint64_t answered; /* those that have an end, good or bad */
    uint64_t made, failed;
};
extern struct snapshots snapshots;

uint64_t snapshot_ask(void); /* the number that `answered` reaches when it is done */
int snapshot_save(const struct bytes *content);
int snapshot_recover(uint64_t *lsn);
void *snapshot_thread(void *unused);

/* ---- the leader's side of replication (leader.c): peers are under the lock of the journal ---- */

enum peer_state { PEER_ABSENT, PEER_ATTACHING, PEER_FULL, PEER_CATCHING_UP, PEER_LIVE };

struct peer {
    enum peer_state state;
    int id, fd;
    int awaiting; /* after a full sync, until it says that it has all */
    int insync;   /* its acknowledgements count */
    int suspect;  /* it was lost while catching up: not counted as in sync */
    int closing;
    uint64_t next; /* record to be sent */
    uint64_t acked;
    int64_t heard_ms;
    int segment;       /* descriptor of the one that is read while catching up, or -1 */
    struct bytes read; /* of it, not sent yet */
};
extern struct peer peers[MAX_PEERS];

int leader_attach(int fd, int id, uint64_t lsn); /* 0: fd belongs to its threads now; or -1 */
void leader_commit(void); /* what is on disk where has changed; lock is held */
int leader_insync(void);
int leader_gone(void); /* 1: no peer has threads */
void *watch_thread(void *unused);

/* ---- the follower's side (follower.c) ---- */

struct link {
    pthread_mutex_t lock;
    enum { LINK_DOWN, LINK_JOINING, LINK_FULL, LINK_CATCHING_UP, LINK_LIVE } state;
    int fd;
    int insync;       /* so says the leader */
    int full;         /* the next sync is to be a full one */
    int64_t lease_ms; /* until when reads may be answered */
    int64_t away_until_ms;
    int sending; /* an acknowledgement is under way: the descriptor stays */
    int skipped; /* records that could not be applied while catching up */
    int beat;    /* an acknowledgement is due; under the lock of the journal */
};
extern struct link link_;

void follower_detach(int ms, int full);
int follower_serves(void);
const char *follower_state(void);
void *receiver_thread(void *unused);
void *acker_thread(void *unused);

/* ---- clients (serve.c, command.c) and writes (writer.c) ---- */

enum waiting { WAIT_NOTHING, WAIT_LSN, WAIT_COMMIT, WAIT_SNAPSHOT, WAIT_CLOSE };

struct conn {
    int fd; /* -1: free */
    unsigned generation;
    enum waiting waiting;
    uint64_t waits_for; /* lsn, or number of a snapshot */
    uint64_t snapshots_failed;
    int64_t deadline_ms;
    char in[1024];
    size_t in_n;
    struct bytes out;
    size_t sent;
};

struct request {
    int conn; /* -1: nobody waits for it */
    unsigned generation;
    struct record record;
};

void loop_wake(void);
int serve_open(int port);
void serve_run(void);
void serve_wait(struct conn *c, enum waiting for_what, uint64_t number, int ms);
int conn_number(const struct conn *c);
void command_run(struct conn *c, char *line);
int sync_line(const char *line, int *id, unsigned long long *lsn);

struct done {
    int conn;
    unsigned generation;
    uint64_t lsn; /* 0: it failed */
};
int writer_push(const struct request *q); /* 0, or -1: too many */
int writer_done(struct done *out);        /* 1, or 0: no more */
void *writer_thread(void *unused);
void *sweeper_thread(void *unused);

/* ---- the rest (main.c, net.c, say.c) ---- */

struct node {
    enum { LEADER, FOLLOWER } role;
    int id, nodes, port, leader_port;
    const char *dir;
    atomic_int stopping;
};
extern struct node node;

enum level { INFO, WARN, ERROR };
void say(enum level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t now_ms(void);  /* that never goes back */
int64_t date_ms(void); /* since 1970 */
void pause_ms(int ms);
/* Waits for a condition, at most so long. */
void wait_ms(pthread_cond_t *c, pthread_mutex_t *m, int ms);

int net_listen(int port);
int net_connect(int port);
int send_all(int fd, const void *data, size_t n); /* 0, or -1 */
int recv_all(int fd, void *data, size_t n);       /* 0, or -1; 0 bytes: errno is 0 */
int write_all(int fd, const void *data, size_t n);

#include "trigger.h" /* last: it renames calls, not declarations */

#endif
