/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements and values of SQLite, and what its codes mean to people. */
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/hash.h"
#include "store/store_int.h"

static const int64_t SYNC_NS = SECONDS(1); /* commits reach the disk at least this often */

#define SUM_OF_NULL 0x6e756c6cu

static const char *const texts[STATEMENTS] = {
#define STATEMENT(id, text) [SQL_##id] = (text),
    STORE_STATEMENTS
#undef STATEMENT
};

/* ---- failures ---- */

/* By code, or by primary code (its low byte): the cause, and the remedy. */
static const struct {
    int code;
    const char *cause, *remedy;
} failures[] = {
    {SQLITE_FULL, "its disk is full",
     "free some space; only the run in flight is lost, `outfox run --resume` continues"},
    {SQLITE_IOERR, "it could not be read or written",
     "check the disk; `outfox run --resume` continues"},
    {SQLITE_CORRUPT, "it is damaged", "remove it, or restore a copy"},
    {SQLITE_NOTADB, "it is not a campaign of Outfox, or it is damaged",
     "name another with --store, remove it, or restore a copy"},
    {SQLITE_ERROR, "it is damaged or was edited", "remove it, or restore a copy"},
    {SQLITE_SCHEMA, "it is damaged or was edited", "remove it, or restore a copy"},
    {SQLITE_BUSY, "another program has been writing to it for seconds",
     "end that program (sqlite3, perhaps) and try again"},
    {SQLITE_LOCKED, "another program has been writing to it for seconds",
     "end that program (sqlite3, perhaps) and try again"},
    {SQLITE_PROTOCOL, "other programs keep it locked", "end them and try again"},
    {SQLITE_READONLY, "it cannot be written",
     "make the file and its directory writable, or name another with --store"},
    {SQLITE_CANTOPEN, "it cannot be opened",
     "make the file and its directory accessible, or name another with --store"},
    {SQLITE_PERM, "it cannot be opened",
     "make the file and its directory accessible, or name another with --store"},
    {SQLITE_TOOBIG, "something in it is larger than 4 MiB", "remove it, or restore a copy"},
    {SQLITE_CONSTRAINT_FOREIGNKEY, "there is no campaign with this number", "begin one"},
    {SQLITE_CONSTRAINT_PRIMARYKEY, "something with this number is already there", "name another"},
    {SQLITE_NOLFS, "it is too large for its file system", "name a place on another one"},
};

/* What the system said, or SQLite when the system said nothing. */
static const char *said(struct store *s, int code)
{
    int primary = code & 0xff;
    bool system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_PERM;
    int left = errno; /* where a statement runs, SQLite leaves it there and nowhere else */
    int number = s->db && system ? sqlite3_system_errno(s->db) : 0;
    if (!number && primary == SQLITE_IOERR)
        number = left;
    if (number)
        return strerror(number); /* one thread uses a store, and the text is used at once */
    return s->db && (sqlite3_errcode(s->db) & 0xff) == primary ? sqlite3_errmsg(s->db)
                                                               : sqlite3_errstr(code);
}

static void set_source(struct store *s, struct err *e)
{
    if (!e->text[0])
        snprintf(e->source, sizeof e->source, "%.250s", s->name);
}

int store_failed(struct store *s, int code, struct err *e)
{
    if ((code & 0xff) == SQLITE_NOMEM)
        mem_oom();
    set_source(s, e);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].code == code || failures[i].code == (code & 0xff))
            return err_set(e, 0, 0, "%s (%.160s); %s", failures[i].cause, said(s, code),
                           failures[i].remedy);
    return err_set(e, 0, 0,
                   "SQLite refused it (%.160s); name another with --store, or restore a copy",
                   said(s, code));
}

int store_damaged(struct store *s, struct err *e, const char *format, ...)
{
    char what[200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return store_refused(s, e, "it is damaged or was edited (%s); remove it, or restore a copy",
                         what);
}

int store_refused(struct store *s, struct err *e, const char *format, ...)
{
    char what[sizeof e->text];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    set_source(s, e);
    return err_set(e, 0, 0, "%s", what);
}

/* ---- transactions ---- */

static int run_plain(struct store *s, enum statement id, struct err *e)
{
    struct put p = put_into(s, id, 0);
    return put_done(&p, e);
}

int store_execute(struct store *s, const char *sql, struct err *e)
{
    int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : store_failed(s, code, e);
}

int store_begin_read(struct store *s, struct err *e)
{
    return run_plain(s, SQL_BEGIN, e);
}

int store_begin_write(struct store *s, struct err *e)
{
    if (s->access != STORE_WRITE)
        return store_refused(s, e, "it was opened for reading, so nothing can be added to it");
    int64_t now_ns = clock_ns();
    if (now_ns - s->synced_ns >= SYNC_NS) {
        if (store_execute(s, "PRAGMA synchronous = FULL", e))
            return -1;
        s->synced_ns = now_ns;
        s->syncing = true;
    }
    return run_plain(s, SQL_BEGIN_WRITE, e);
}

int store_end(struct store *s, int result, struct err *e)
{
    if (result == 0)
        result = run_plain(s, SQL_COMMIT, e);
    if (!sqlite3_get_autocommit(s->db)) { /* some failures have rolled back already */
        struct err ignored = {0};
        if (run_plain(s, SQL_ROLLBACK, &ignored))
            result = -1;
    }
    if (result) { /* what it added is not there */
        s->last_in = 0;
        map_deinit(&s->points);
        s->points = (struct map){0};
    }
    if (s->syncing) {
        struct err ignored = {0};
        s->syncing = store_execute(s, "PRAGMA synchronous = NORMAL", &ignored) != 0;
    }
    return result;
}

/* ---- values in ---- */

struct put put_into(struct store *s, enum statement id, uint64_t sum)
{
    struct put p = {.store = s, .sum = sum};
    if (!s->statements[id])
        p.code = sqlite3_prepare_v3(s->db, texts[id], -1, SQLITE_PREPARE_PERSISTENT,
                                    &s->statements[id], NULL);
    p.stmt = s->statements[id];
    return p;
}

static void keep_code(struct put *p, int code)
{
    if (p->code == SQLITE_OK)
        p->code = code;
}

void put_int(struct put *p, int64_t value)
{
    p->sum = hash_mix(p->sum, (uint64_t)value);
    keep_code(p, sqlite3_bind_int64(p->stmt, ++p->column, value));
}

void put_text(struct put *p, slice text)
{
    p->sum = hash_mix(p->sum, hash_slice(text));
    keep_code(p, sqlite3_bind_text64(p->stmt, ++p->column, text.p ? text.p : "", text.n,
                                     SQLITE_STATIC, SQLITE_UTF8));
}

void put_blob(struct put *p, slice bytes)
{
    p->sum = hash_mix(p->sum, hash_slice(bytes));
    keep_code(p, sqlite3_bind_blob64(p->stmt, ++p->column, bytes.p ? bytes.p : "", bytes.n,
                                     SQLITE_STATIC));
}

/* NULL that is not part of the sum. */
static void put_nothing(struct put *p)
{
    keep_code(p, sqlite3_bind_null(p->stmt, ++p->column));
}

void put_null(struct put *p)
{
    p->sum = hash_mix(p->sum, SUM_OF_NULL);
    put_nothing(p);
}

void put_later(struct put *p, uint32_t value)
{
    if (value)
        put_int(p, value);
    else
        put_nothing(p);
}

void put_blob_later(struct put *p, const slice *bytes)
{
    if (bytes)
        put_blob(p, *bytes);
    else
        put_nothing(p);
}

void put_text_or_null(struct put *p, const char *text)
{
    if (text)
        put_text(p, slice_of(text));
    else
        put_null(p);
}

void put_sum(struct put *p)
{
    put_int(p, (int64_t)p->sum);
}

int put_done(struct put *p, struct err *e)
{
    struct get none;
    int result = get_first(p, &none, e);
    if (result > 0)
        get_done(&none);
    return result < 0 ? -1 : 0;
}

/* ---- values out ---- */

int get_first(struct put *p, struct get *g, struct err *e)
{
    *g = (struct get){.store = p->store, .stmt = p->stmt};
    if (p->code == SQLITE_OK)
        return get_next(g, e);
    errno = 0;
    int failed = store_failed(p->store, p->code, e);
    get_done(g);
    return failed;
}

int get_next(struct get *g, struct err *e)
{
    errno = 0; /* where SQLite leaves the cause of a failure */
    int code = sqlite3_step(g->stmt);
    g->column = 0;
    if (code == SQLITE_ROW)
        return 1;
    int result = code == SQLITE_DONE ? 0 : store_failed(g->store, code, e);
    get_done(g);
    return result;
}

void get_done(struct get *g)
{
    sqlite3_reset(g->stmt);
}

void get_bad(struct get *g)
{
    if (!g->bad)
        g->bad = g->column > 0 ? sqlite3_column_name(g->stmt, g->column - 1) : "row";
}

int64_t get_int(struct get *g, int64_t least, int64_t most)
{
    int type = sqlite3_column_type(g->stmt, g->column);
    int64_t value = sqlite3_column_int64(g->stmt, g->column++);
    g->sum = hash_mix(g->sum, (uint64_t)value);
    if (type == SQLITE_INTEGER && value >= least && value <= most)
        return value;
    get_bad(g);
    return least;
}

bool get_null(struct get *g)
{
    if (sqlite3_column_type(g->stmt, g->column) != SQLITE_NULL)
        return false;
    g->column++;
    g->sum = hash_mix(g->sum, SUM_OF_NULL);
    return true;
}

uint32_t get_later(struct get *g)
{
    if (sqlite3_column_type(g->stmt, g->column) != SQLITE_NULL)
        return (uint32_t)get_int(g, 1, UINT32_MAX);
    g->column++;
    return 0;
}

static slice get_bytes(struct get *g, int type, size_t most)
{
    int found = sqlite3_column_type(g->stmt, g->column);
    const void *p = type == SQLITE_TEXT ? (const void *)sqlite3_column_text(g->stmt, g->column)
                                        : sqlite3_column_blob(g->stmt, g->column);
    slice bytes = {p, (size_t)sqlite3_column_bytes(g->stmt, g->column)};
    g->column++;
    if (!p) /* an empty blob, or a value that cannot be read */
        bytes = SLICE("");
    g->sum = hash_mix(g->sum, hash_slice(bytes));
    if (found == type && bytes.n <= most)
        return bytes;
    get_bad(g);
    return SLICE("");
}

slice get_text(struct get *g)
{
    return get_bytes(g, SQLITE_TEXT, STORE_TEXT_MAX);
}

slice get_blob(struct get *g, size_t most)
{
    return get_bytes(g, SQLITE_BLOB, most);
}

bool get_blob_later(struct get *g, size_t most, slice *out)
{
    bool there = sqlite3_column_type(g->stmt, g->column) != SQLITE_NULL;
    if (there)
        *out = get_blob(g, most);
    else
        g->column++;
    return there;
}

void get_sum(struct get *g)
{
    int64_t sum = (int64_t)g->sum;
    if (get_int(g, INT64_MIN, INT64_MAX) != sum)
        get_bad(g);
}
