/* SPDX-License-Identifier: Apache-2.0
 *
 * The guts of this room: the open file, its statements, and how values go in and come out.
 *
 * 1. A statement is prepared once, when it is first needed, and is reset before anybody else's code
 *    runs: no function of this room leaves one half read, so callbacks may use the store.
 * 2. Values go in through `struct put` and come out through `struct get`, column by column; both
 *    add them to a sum, which is how a row is known to be what was written. */
#ifndef OUTFOX_STORE_STORE_INT_H
#define OUTFOX_STORE_STORE_INT_H

#include <sqlite3.h>
#include <sys/types.h>

#include "base/index.h"
#include "store/store.h"

enum {
    STORE_TEXT_MAX = 1 << 20,   /* bytes of any text but a body */
    STORE_BUSY_MS = 5000,       /* how long a foreign transaction is waited for */
    STORE_CHECK_MAX = 16 << 20, /* files up to this size are checked when they are opened */
};

/* ---- schema.c ---- */

/* PRAGMA application_id: "OFOX". Tells our files from those of other programs. */
enum { SCHEMA_APPLICATION = 0x4f464f58 };

/* The steps that lead from an empty file to the newest version. Step i leads from version i to
 * i + 1 (PRAGMA user_version). A step that was released does not change any more: append. */
struct schema {
    const char *const *steps;
    uint32_t version; /* how many there are */
};

extern const struct schema schema_newest;

/* Every statement: STATEMENT(id, text). */
#define STORE_STATEMENTS                                                                           \
    STATEMENT(BEGIN, "BEGIN")                                                                      \
    STATEMENT(BEGIN_WRITE, "BEGIN IMMEDIATE")                                                      \
    STATEMENT(COMMIT, "COMMIT")                                                                    \
    STATEMENT(ROLLBACK, "ROLLBACK")                                                                \
    STATEMENT(CAMPAIGN_FIND, "SELECT id FROM campaign WHERE scenario = ?")                         \
    STATEMENT(CAMPAIGN_NEXT, "SELECT id, scenario FROM campaign WHERE id > ? ORDER BY id LIMIT 1") \
    STATEMENT(CAMPAIGN_OTHER, "SELECT id FROM campaign WHERE id <> ? LIMIT 1")                     \
    STATEMENT(CAMPAIGN_ADD, "INSERT INTO campaign(scenario, began_ns) VALUES(?, ?)")               \
    STATEMENT(FACT_SET, "REPLACE INTO fact(campaign, name, value, sum) VALUES(?, ?, ?, ?)")        \
    STATEMENT(FACT_GET, "SELECT campaign, name, value, sum FROM fact "                             \
                        "WHERE campaign = ? AND name = ?")                                         \
    STATEMENT(POINT_FIND, "SELECT id FROM point "                                                  \
                          "WHERE campaign = ? AND parent = ? AND element = ?")                     \
    STATEMENT(POINT_ADD, "INSERT INTO point(campaign, parent, element, sum) VALUES(?, ?, ?, ?)")   \
    STATEMENT(POINT_GET, "SELECT campaign, parent, element, sum FROM point "                       \
                         "WHERE id = ? AND campaign = ?")                                          \
    STATEMENT(RUN_ADD,                                                                             \
              "INSERT INTO run(campaign, number, previous, purpose, flags, faultload, pass, "      \
              "status, why, detail, event, body, wall_ns, took_ns, calls, sum) "                   \
              "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                            \
    STATEMENT(RUN_GET,                                                                             \
              "SELECT campaign, number, previous, purpose, flags, faultload, pass, status, why, "  \
              "detail, event, body, wall_ns, took_ns, calls, sum FROM run "                        \
              "WHERE campaign = ? AND number >= ? ORDER BY number LIMIT 1")                        \
    STATEMENT(RUN_LAST, "SELECT number FROM run WHERE campaign = ? ORDER BY number DESC LIMIT 1")  \
    STATEMENT(CALL_ADD, "INSERT INTO call(campaign, run, n, parent, point, mode, fault_point, "    \
                        "seen, handled, reply, flags, start_ns, end_ns, request, key, answer) "    \
                        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                  \
    STATEMENT(CALL_GET, "SELECT campaign, run, n, parent, point, mode, fault_point, seen, "        \
                        "handled, reply, flags, start_ns, end_ns, request, key, answer FROM call " \
                        "WHERE campaign = ? AND run = ? ORDER BY n")                               \
    STATEMENT(FINDINGS_REMOVE, "DELETE FROM finding WHERE campaign = ?")                           \
    STATEMENT(FINDING_ADD, "INSERT INTO finding(campaign, id, state, why, faultload, sum) "        \
                           "VALUES(?, ?, ?, ?, ?, ?)")                                             \
    STATEMENT(FINDING_GET, "SELECT campaign, id, state, why, faultload, sum FROM finding "         \
                           "WHERE campaign = ? AND id = ?")                                        \
    STATEMENT(JOURNAL_LAST, "SELECT n FROM journal WHERE campaign = ? ORDER BY n DESC LIMIT 1")    \
    STATEMENT(JOURNAL_ADD, "INSERT INTO journal(campaign, n, last, bytes, sum) "                   \
                           "VALUES(?, ?, ?, ?, ?)")                                                \
    STATEMENT(JOURNAL_GET, "SELECT campaign, n, last, bytes, sum FROM journal "                    \
                           "WHERE campaign = ? AND n = ?")

enum statement {
#define STATEMENT(id, text) SQL_##id,
    STORE_STATEMENTS
#undef STATEMENT
        STATEMENTS
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    const char *name; /* the path as it was given */
    char *path;       /* the same, no link, and never a special name to SQLite */
    enum store_access access;
    int lock;          /* descriptor that holds the writer's lock, or -1 */
    int64_t synced_ns; /* when a commit last waited for the disk */
    bool syncing;      /* the transaction under way will */

    uint64_t last_in; /* the campaign to which a run was added last; 0: not known */
    uint64_t last;    /* that run */

    /* Names of points that were added in this process, and the ids of their rows: campaign << 32 |
     * uid in `names`. The numbers of a caller's names may mean something else tomorrow; those of
     * our own do not. */
    struct names names;
    struct map points;
    struct map words; /* symbols in `names` of texts of modes, outcomes and flags */
    VEC(uid) way;     /* the part of a path that is not known yet */
    VEC(uid) own;     /* uid in `names` of each call of the run being added */
    struct buf text;  /* of a faultload or an element */
};

/* ---- store.c ---- */

/* store_open with another schema than the newest, for tests of migrations. */
int store_open_as(const char *path, enum store_access access, const struct schema *schema,
                  struct store **out, struct err *e) MUST_USE;

/* ---- sql.c ---- */

/* *e from a code of SQLite, with the cause and the remedy; returns -1. */
int store_failed(struct store *s, int code, struct err *e);

/* *e: this part of the file is not what was written; returns -1. */
int store_damaged(struct store *s, struct err *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* *e: a sentence about the file; returns -1. */
int store_refused(struct store *s, struct err *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Executes statements that give no rows and need no values. */
int store_execute(struct store *s, const char *sql, struct err *e) MUST_USE;

/* One transaction: begin, then end with what came of it (0: commit; else roll back). */
int store_begin_read(struct store *s, struct err *e) MUST_USE;
int store_begin_write(struct store *s, struct err *e) MUST_USE;
int store_end(struct store *s, int result, struct err *e) MUST_USE;

struct put {
    struct store *store;
    sqlite3_stmt *stmt; /* NULL when it could not be prepared */
    int column;         /* the last that was given a value */
    int code;           /* the first failure */
    uint64_t sum;       /* of the values so far */
};

/* Starts to give values to a statement, from the first parameter on. Text must live until put_done.
 */
struct put put_into(struct store *s, enum statement id, uint64_t sum);
void put_int(struct put *p, int64_t value);
void put_text(struct put *p, slice text);
void put_text_or_null(struct put *p, const char *text);
void put_blob(struct put *p, slice bytes);
void put_null(struct put *p);
void put_later(struct put *p, uint32_t value); /* of a column that older files do not have: 0 is
                                                  NULL, which is not part of the sum */
void put_blob_later(struct put *p, const slice *bytes); /* likewise; NULL: none */
void put_sum(struct put *p);                            /* the sum of what was put so far */

/* Runs the statement, which gives no rows. */
int put_done(struct put *p, struct err *e) MUST_USE;

struct get {
    struct store *store;
    sqlite3_stmt *stmt;
    int column;      /* the next to be taken */
    const char *bad; /* the first column that is not as it was written; NULL: none */
    uint64_t sum;
};

/* Runs what was put into and stands at its first row: 1, or 0 when there is none, or -1. get_next
 * stands at the one after. When 0 or -1 was returned, nothing is left to be done. */
int get_first(struct put *p, struct get *g, struct err *e) MUST_USE;
int get_next(struct get *g, struct err *e) MUST_USE;
void get_done(struct get *g);

/* The values of a row, in order. What is read lives until get_next or get_done. Where something
 * else stands there, g->bad is set and the result is 0 or "". */
int64_t get_int(struct get *g, int64_t least, int64_t most);
uint32_t get_later(struct get *g);
bool get_null(struct get *g); /* steps over a NULL; otherwise stays */
slice get_text(struct get *g);
slice get_blob(struct get *g, size_t most);
bool get_blob_later(struct get *g, size_t most, slice *out); /* false: NULL */
void get_sum(struct get *g); /* the sum stands here; it must be that of what was taken before */
void get_bad(struct get *g); /* the value just taken means nothing */

/* ---- runs.c ---- */

/* The text of a faultload in s->text. */
int faultload_text(struct store *s, const struct names *names, const struct faultloads *fl,
                   faultload f, slice *out, struct err *e) MUST_USE;

#endif
