/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening and closing a file of campaigns.
 *
 * 1. Nothing is written to a file before it is known to be ours or empty.
 * 2. A file that is opened for writing is brought to the newest schema in one transaction.
 * 3. The file may be hostile: its triggers and views are off, its values are bounded, and what is
 *    read from it is checked where it is read. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "store/store_int.h"

enum { VALUE_MAX = 4 << 20 }; /* bytes of a value or a row */

/* What a file says of itself. */
struct header {
    int64_t application, version, tables;
    int64_t page; /* bytes */
};

/* ---- the path ---- */

static int path_failed(struct store *s, const char *what, const char *remedy, struct err *e)
{
    return store_refused(s, e, "%s (%s); %s", what, strerror(errno), remedy);
}

/* Where SQLite would see a special name (:memory:, file:...), it is made an ordinary one. */
static char *plain_path(const char *path)
{
    struct buf text = BUF_INIT(STORE_TEXT_MAX);
    buf_addf(&text, "%s%s", path[0] == '/' ? "" : "./", path);
    return text.p;
}

/* Is there something that can be a database? 0 also when there is nothing and we are to write. */
static int check_path(struct store *s, struct err *e)
{
    struct stat file;
    char real[PATH_MAX];
    /* where the path is a link, what it leads to: that is what SQLite names the log after, and two
     * writers must meet at one lock */
    if (lstat(s->path, &file) == 0 && S_ISLNK(file.st_mode)) {
        if (!realpath(s->path, real))
            return path_failed(s, "it is a dangling symbolic link",
                               "remove it, or name another with --store", e);
        mem_free(s->path);
        s->path = plain_path(real);
    }
    if (stat(s->path, &file)) {
        if (errno == ENOENT && s->access == STORE_WRITE)
            return 0;
        if (errno == ENOENT || (errno == ENOTDIR && s->access == STORE_READ))
            return store_refused(
                s, e,
                "there is no such file; `outfox run` creates one, or name another with --store");
        return path_failed(s, "it cannot be opened",
                           "make it and its directory accessible, or name another with --store", e);
    }
    if (S_ISDIR(file.st_mode))
        return store_refused(s, e, "it is a directory; name a file in it");
    if (!S_ISREG(file.st_mode))
        return store_refused(s, e, "it is not a regular file; name another with --store");
    return 0;
}

/* Nobody else may read it. SQLite makes the files next to it as it finds this one. One that is
 * there is not opened: to close it would drop the locks that a reader in this process has on it. */
static int close_to_others(struct store *s, struct err *e)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct buf name = BUF_INIT(STORE_TEXT_MAX);
        buf_addf(&name, "%s%s", s->path, ends[i]);
        file_narrow(buf_text(&name));
        buf_deinit(&name);
    }
    int fd = file_open_private(s->path, O_RDONLY | O_CLOEXEC | O_EXCL);
    if (fd < 0 && errno == EEXIST)
        return 0;
    if (fd < 0)
        return path_failed(s, "it cannot be opened",
                           "make it and its directory accessible, or name another with --store", e);
    close(fd);
    return 0;
}

/* ---- the writer's lock ---- */

/* A lock of the system (fcntl) on the file PATH.lock, which stays behind, empty.
 *
 * 1. The lock goes with the process, however it ends, and its children do not have it: a service
 *    that outlives a killed campaign does not keep the next one out.
 * 2. It can be asked who has it.
 * 3. Such a lock belongs to the process, not to a descriptor: a second descriptor would be let in,
 *    and closing it would drop the lock. So those that this process holds are listed, and a second
 *    is refused before it is taken. */
struct held {
    int lock;
    pid_t process; /* the list is inherited, the locks are not */
    dev_t device;
    ino_t file;
};

static VEC(struct held) all_held;
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;

static int refuse_second_writer(struct store *s, pid_t pid, struct err *e)
{
    char who[64] = "another process";
    if (pid > 0)
        snprintf(who, sizeof who, "process %ld", (long)pid);
    return store_refused(
        s, e,
        "%s is writing to it; wait until it has finished, stop it, or name another with --store",
        who);
}

static bool is_held(const struct stat *file)
{
    for (uint32_t i = 0; i < all_held.n; i++)
        if (all_held.at[i].process == getpid() && all_held.at[i].device == file->st_dev &&
            all_held.at[i].file == file->st_ino)
            return true;
    return false;
}

/* `name` is the file of the lock. */
static int take_lock(struct store *s, const char *name, struct err *e)
{
    static const char writable[] = "make its directory writable, or name another with --store";
    struct stat file;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (stat(name, &file) == 0 && is_held(&file)) /* before it is opened, see 3 */
        return refuse_second_writer(s, getpid(), e);
    int fd = file_open_private(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return path_failed(s, "it cannot be written", writable, e);
    if (fcntl(fd, F_SETLK, &lock) == 0 && fstat(fd, &file) == 0) {
        vec_push(&all_held, (struct held){fd, getpid(), file.st_dev, file.st_ino});
        s->lock = fd;
        return 0;
    }
    int result;
    if (errno == EACCES || errno == EAGAIN) {
        /* who keeps us out? */
        bool known = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
        result = refuse_second_writer(s, known ? lock.l_pid : 0, e);
    } else {
        result = path_failed(s, "it cannot be locked against other writers", writable, e);
    }
    close(fd);
    return result;
}

static int lock_take(struct store *s, struct err *e)
{
    struct buf name = BUF_INIT(STORE_TEXT_MAX);
    buf_addf(&name, "%s.lock", s->path);
    pthread_mutex_lock(&all_mutex);
    int result = take_lock(s, buf_text(&name), e);
    pthread_mutex_unlock(&all_mutex);
    buf_deinit(&name);
    return result;
}

static void lock_drop(struct store *s)
{
    if (s->lock < 0)
        return;
    pthread_mutex_lock(&all_mutex);
    for (uint32_t i = 0; i < all_held.n; i++)
        if (all_held.at[i].lock == s->lock)
            all_held.at[i--] = all_held.at[--all_held.n];
    if (all_held.n == 0)
        vec_deinit(&all_held);
    close(s->lock);
    s->lock = -1;
    pthread_mutex_unlock(&all_mutex);
}

/* ---- the connection ---- */

static int connect_to(struct store *s, const char *name, int flags, struct err *e)
{
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
    };
    sqlite3_close(s->db);
    s->db = NULL;
    int code =
        sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code != SQLITE_OK)
        return store_failed(s, code, e);
    code = sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
    for (size_t i = 0; i < sizeof options / sizeof *options && code == SQLITE_OK; i++)
        code = sqlite3_db_config(s->db, options[i].option, options[i].value, NULL);
    if (code != SQLITE_OK)
        return store_failed(s, code, e);
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
    sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
    return store_execute(s, "PRAGMA cell_size_check = ON", e);
}

/* The number that a statement gives; *code tells how it went. */
static int64_t ask(struct store *s, const char *sql, int *code)
{
    sqlite3_stmt *stmt = NULL;
    int64_t answer = 0;
    if (*code != SQLITE_OK)
        return 0;
    *code = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);
    if (*code == SQLITE_OK && (*code = sqlite3_step(stmt)) == SQLITE_ROW)
        answer = sqlite3_column_int64(stmt, 0);
    *code = *code == SQLITE_ROW || *code == SQLITE_DONE ? SQLITE_OK : *code;
    sqlite3_finalize(stmt);
    return answer;
}

static int read_header(struct store *s, struct header *out)
{
    int code = SQLITE_OK;
    out->application = ask(s, "PRAGMA application_id", &code);
    out->version = ask(s, "PRAGMA user_version", &code);
    out->tables = ask(s, "SELECT count(*) FROM sqlite_schema", &code);
    out->page = ask(s, "PRAGMA page_size", &code);
    return code;
}

/* Does the log of the database (PATH-wal) hold anything? */
static bool has_log(struct store *s)
{
    struct stat file;
    struct buf name = BUF_INIT(STORE_TEXT_MAX);
    buf_addf(&name, "%s-wal", s->path);
    bool has = stat(buf_text(&name), &file) == 0 && file.st_size > 0;
    buf_deinit(&name);
    return has;
}

static bool is_plain(char c)
{
    return c != '?' && c != '#' && c != '%';
}

/* Where nothing at all can be written next to the file, SQLite cannot coordinate with writers.
 * There can be none either, so it is told that the file does not change. */
static int connect_unchanging(struct store *s, struct err *e)
{
    if (has_log(s))
        return store_refused(
            s, e,
            "its last writer did not end cleanly, and its directory is not "
            "writable; copy all files %.100s* to another place and read them there",
            s->name);
    struct buf name = BUF_INIT(STORE_TEXT_MAX);
    buf_adds(&name, "file:");
    percent_encode(slice_of(s->path), is_plain, &name);
    buf_adds(&name, "?immutable=1");
    int result = connect_to(s, buf_text(&name), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, e);
    buf_deinit(&name);
    return result;
}

/* ---- the schema ---- */

static int check_header(struct store *s, const struct header *h, const struct schema *schema,
                        struct err *e)
{
    bool fresh = h->application == 0 && h->version == 0 && h->tables == 0;
    if (fresh && s->access == STORE_READ)
        return store_refused(s, e, "it holds no campaign yet; `outfox run` creates one");
    if (fresh)
        return 0;
    /* does it end within a page? SQLite would read zeros there, and miss rows in silence. Only a
     * log may make up for it */
    struct stat file;
    if (stat(s->path, &file) == 0 && h->page > 0 && file.st_size % h->page != 0 && !has_log(s))
        return store_damaged(s, e, "its end is missing");
    if (h->application != SCHEMA_APPLICATION)
        return store_refused(s, e,
                             "it is the database of another program, not a campaign of Outfox; "
                             "name another with --store");
    if (h->version > schema->version)
        return store_refused(s, e,
                             "it was written by a newer Outfox (schema %lld; this one knows %u); "
                             "use that one, or name another with --store",
                             (long long)h->version, (unsigned)schema->version);
    if (h->version < 1)
        return store_damaged(s, e, "schema %lld", (long long)h->version);
    if (h->version < schema->version && s->access == STORE_READ)
        return store_refused(s, e,
                             "it was written by an older Outfox (schema %lld; this one knows %u); "
                             "`outfox run --resume` brings it up to date",
                             (long long)h->version, (unsigned)schema->version);
    return 0;
}

static int upgrade(struct store *s, int64_t from, const struct schema *schema, struct err *e)
{
    char mark[96];
    int result = 0;
    if (store_begin_write(s, e))
        return -1;
    for (int64_t i = from; i < schema->version && result == 0; i++)
        result = store_execute(s, schema->steps[i], e);
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %u",
             SCHEMA_APPLICATION, (unsigned)schema->version);
    if (result == 0)
        result = store_execute(s, mark, e);
    return store_end(s, result, e);
}

/* Is the file sound? Large ones are not read for this; damage shows when it is met. */
static int check_sound(struct store *s, struct err *e)
{
    struct stat file;
    sqlite3_stmt *stmt = NULL;
    if (stat(s->path, &file) || file.st_size > STORE_CHECK_MAX)
        return 0;
    int code = sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &stmt, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    int result = 0;
    if (code != SQLITE_ROW) {
        result = store_failed(s, code, e);
    } else {
        const char *said = (const char *)sqlite3_column_text(stmt, 0);
        if (!said || strcmp(said, "ok") != 0)
            result = store_damaged(s, e, "%.150s", said ? said : "it cannot be checked");
    }
    sqlite3_finalize(stmt);
    return result;
}

/* ---- opening ---- */

/* A log is written ahead, so that readers and the writer do not wait for each other; a commit is
 * in the hands of the system, see store_begin_write for when it is on the disk. */
static const char writing[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                              "PRAGMA secure_delete = OFF; PRAGMA journal_size_limit = 16777216;"
                              "PRAGMA wal_autocheckpoint = 4000";

static int open_write(struct store *s, const struct schema *schema, struct err *e)
{
    struct header h;
    if (file_make_directories(s->path))
        return path_failed(s, "its directory cannot be created",
                           "create it, or name another with --store", e);
    if (check_path(s, e) || lock_take(s, e) || close_to_others(s, e) ||
        connect_to(s, s->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e))
        return -1;
    int code = read_header(s, &h);
    if (code != SQLITE_OK)
        return store_failed(s, code, e);
    if (check_header(s, &h, schema, e))
        return -1;
    if (sqlite3_db_readonly(s->db, "main") == 1)
        return store_failed(s, SQLITE_READONLY, e);
    if (h.tables > 0 && check_sound(s, e))
        return -1;
    if (store_execute(s, writing, e))
        return -1;
    return h.version < schema->version ? upgrade(s, h.version, schema, e) : 0;
}

static int open_read(struct store *s, const struct schema *schema, struct err *e)
{
    struct header h;
    if (check_path(s, e) || connect_to(s, s->path, SQLITE_OPEN_READONLY, e))
        return -1;
    int code = read_header(s, &h);
    if ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY) {
        if (connect_unchanging(s, e))
            return -1;
        code = read_header(s, &h);
    }
    return code == SQLITE_OK ? check_header(s, &h, schema, e) : store_failed(s, code, e);
}

int store_open_as(const char *path, enum store_access access, const struct schema *schema,
                  struct store **out, struct err *e)
{
    struct store *s = mem_zero(sizeof *s);
    *out = NULL;
    s->lock = -1;
    s->access = access;
    s->text = BUF_INIT(STORE_TEXT_MAX);
    names_init(&s->names);
    s->path = plain_path(path);
    s->name = arena_copy(&s->names.syms.arena, path, strlen(path));
    int result = path[0] == 0 ? store_refused(s, e, "the file name is empty; name a file")
                 : access == STORE_WRITE ? open_write(s, schema, e)
                                         : open_read(s, schema, e);
    if (result)
        store_close(s);
    else
        *out = s;
    return result;
}

int store_open(const char *path, enum store_access access, struct store **out, struct err *e)
{
    return store_open_as(path, access, &schema_newest, out, e);
}

bool store_writable(const struct store *s)
{
    return s->access == STORE_WRITE;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(s->statements[i]);
    sqlite3_close(s->db);
    lock_drop(s); /* after the database, which may be written until here */
    map_deinit(&s->points);
    map_deinit(&s->words);
    vec_deinit(&s->way);
    vec_deinit(&s->own);
    buf_deinit(&s->text);
    names_deinit(&s->names);
    mem_free(s->path);
    mem_free(s);
}
