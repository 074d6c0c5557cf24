/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * The store among others: several processes, processes that are killed, disks that are full and
 * files that are damaged. What is read is what was written all the same, or an error says why not. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "support/store_lab.h"
#include "support/store_sums.h"

/* ---- one writer ---- */

/* A child that opens the file, says so, and waits to be killed. */
static pid_t start_holder(enum store_access access)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct store *s;
        struct err e = {0};
        alarm(60);
        if (store_open(PATH, access, &s, &e) || write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return child;
}

static void test_one_writer(void **state)
{
    struct store *s;
    char pid[32];
    (void)state;
    make_campaign(3);
    pid_t child = start_holder(STORE_WRITE);
    snprintf(pid, sizeof pid, "process %ld ", (long)child);
    BAD(store_open(PATH, STORE_WRITE, &s, e), pid, "wait");
    s = open_store(STORE_READ);
    expect_runs(s, SLICE("checkout"), 3);
    store_close(s);
    kill(child, SIGKILL);
    assert_int_equal(wait_for(child), -1);
    s = open_store(STORE_WRITE); /* the lock went with it */
    struct store *second;
    snprintf(pid, sizeof pid, "process %ld ", (long)getpid());
    BAD(store_open(PATH, STORE_WRITE, &second, e), pid);
    BAD(store_open(PATH, STORE_WRITE, &second, e), pid); /* asking did not drop it */
    child = fork();
    if (child == 0) { /* nor does a child have it, or drop it */
        struct err e = {0};
        _exit(store_open(PATH, STORE_WRITE, &second, &e) == -1 && strstr(e.text, pid) ? 0 : 1);
    }
    assert_int_equal(wait_for(child), 0);
    child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(wait_for(child), 0);
    child = fork();
    if (child == 0) {
        struct err e = {0};
        _exit(store_open(PATH, STORE_WRITE, &second, &e) == -1 ? 0 : 1);
    }
    assert_int_equal(wait_for(child), 0);
    store_close(s);
    s = open_store(STORE_WRITE);
    store_close(s);
}

/* Two names of one file are one lock. */
static void test_links(void **state)
{
    struct store *first, *second;
    (void)state;
    make_campaign(3);
    assert_int_equal(symlink(PATH, "link.db"), 0);
    assert_int_equal(symlink("nothing", "nowhere.db"), 0);
    GOOD(store_open("link.db", STORE_WRITE, &first, e));
    BAD(store_open(PATH, STORE_WRITE, &second, e), "process");
    expect_runs(first, SLICE("checkout"), 3);
    store_close(first);
    BAD(store_open("nowhere.db", STORE_WRITE, &second, e), "link");
    BAD(store_open("nowhere.db", STORE_READ, &second, e), "link");
}

/* Somebody else's transaction is waited for, but not for ever. */
static void test_busy(void **state)
{
    sqlite3 *db = NULL;
    (void)state;
    make_campaign(3);
    struct store *s = open_store(STORE_WRITE);
    assert_int_equal(sqlite3_open(PATH, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    int64_t start_ns = clock_ns();
    BAD(store_set(s, 1, SLICE("seed"), SLICE("1"), e), "another program", "try again");
    assert_in_range((clock_ns() - start_ns) / 1000000, STORE_BUSY_MS / 2, STORE_BUSY_MS * 6);
    expect_runs(s, SLICE("checkout"), 3);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    add(s, 1, 4);
    store_close(s);
}

/* A child of the writer that outlives it does not keep the next writer out. */
static void test_orphan_of_writer(void **state)
{
    int ends[2];
    pid_t orphan;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t writer = fork();
    if (writer == 0) {
        struct store *s;
        struct err e = {0};
        alarm(60);
        if (store_open(PATH, STORE_WRITE, &s, &e))
            _exit(1);
        orphan = fork();
        if (orphan != 0 && write(ends[1], &orphan, sizeof orphan) != sizeof orphan)
            _exit(1);
        for (alarm(60);;)
            pause();
    }
    assert_int_equal(read(ends[0], &orphan, sizeof orphan), sizeof orphan);
    kill(writer, SIGKILL);
    assert_int_equal(wait_for(writer), -1);
    assert_int_equal(kill(orphan, 0), 0);
    struct store *s = open_store(STORE_WRITE);
    store_close(s);
    kill(orphan, SIGKILL);
    close(ends[0]);
    close(ends[1]);
}

/* ---- what happens to processes ---- */

/* Adds runs from `next` on until it is killed, and tells of each that is stored. */
_Noreturn static void write_runs(int report)
{
    struct store *s;
    struct err e = {0};
    struct walk walk = {0};
    uint64_t campaign;
    alarm(60);
    if (store_open(PATH, STORE_WRITE, &s, &e) || store_find(s, SLICE("checkout"), &campaign, &e) ||
        (campaign == 0 && store_begin(s, SLICE("checkout"), &campaign, &e)) ||
        walk_runs(s, campaign, &walk, &e) || walk.differs)
        _exit(1);
    for (uint64_t i = walk.n + 1;; i++) {
        add(s, campaign, i);
        if (write(report, &i, sizeof i) != sizeof i)
            _exit(1);
        if (i % 97 == 0) { /* closing is a moment too */
            store_close(s);
            if (store_open(PATH, STORE_WRITE, &s, &e))
                _exit(1);
        }
    }
}

static void test_killed(void **state)
{
    struct rng r = {(uint64_t)clock_wall_ns()};
    uint64_t told = 0, number = 0, all = 0;
    (void)state;
    for (int round = 0; round < (int)volume(30); round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            write_runs(ends[1]);
        }
        close(ends[1]);
        bool early = round % 5 == 0; /* else not before the first run of this round */
        if (!early)
            assert_int_equal(read(ends[0], &number, sizeof number), sizeof number);
        usleep(rng_below(&r, 40000));
        kill(child, SIGKILL);
        assert_int_equal(wait_for(child), -1);
        told = early ? told : number;
        while (read(ends[0], &number, sizeof number) == sizeof number)
            told = number;
        close(ends[0]);
        if (access(PATH, F_OK))
            continue; /* killed before it had begun */
        struct store *s;
        struct walk walk = {0};
        uint64_t campaign;
        GOOD(store_open(PATH, STORE_WRITE, &s, e));
        GOOD(store_find(s, SLICE("checkout"), &campaign, e));
        GOOD(walk_runs(s, campaign, &walk, e));
        store_close(s);
        if (walk.n < told || walk.n > told + 1 || walk.differs)
            fail_msg("round %d: %llu runs were told, %llu are there%s", round,
                     (unsigned long long)told, (unsigned long long)walk.n,
                     walk.differs ? " and differ" : "");
        all += walk.n;
        if (walk.n > 200 && unlink(PATH) == 0) /* making the file is a moment too */
            told = 0;
    }
    assert_true(all > volume(30));
}

/* A reader sees whole runs while they are written; also after the writer was killed. */
static void test_read_while_written(void **state)
{
    int ends[2];
    uint64_t number, last = 0;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_runs(ends[1]);
    }
    close(ends[1]);
    for (int round = 0; round < 12; round++) {
        assert_int_equal(read(ends[0], &number, sizeof number), sizeof number);
        if (round == 10) {
            kill(child, SIGKILL);
            assert_int_equal(wait_for(child), -1);
        }
        struct store *s = open_store(STORE_READ);
        struct walk walk = {0};
        GOOD(walk_runs(s, 1, &walk, e));
        assert_true(walk.n >= number && walk.n >= last && !walk.differs);
        last = walk.n;
        store_close(s);
    }
    close(ends[0]);
}

/* ---- what happens to disks ---- */

/* In a child with a small file system of its own at "disk"; 77 where that is not allowed. */
static int mount_disk(const char *options)
{
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mkdir("disk", 0777) || mount("none", "disk", "tmpfs", 0, options) || chdir("disk"))
        return SKIPPED;
    return 0;
}

static void run_on_disk(int (*body)(void), const char *options)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(120);
        _exit(mount_disk(options) ? SKIPPED : body());
    }
    int result = wait_for(child);
    if (result == SKIPPED) {
        print_message("a file system cannot be mounted here\n");
        skip();
    }
    assert_int_equal(result, 0);
}

/* What a child checks; its exit code is the line. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, e.text);                   \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static int add_quietly(struct store *s, uint64_t campaign, uint64_t number, struct err *e)
{
    struct store_world w;
    store_world_init(&w);
    struct run run = store_case_run(&w, number);
    int result = store_add(s, campaign, &w.names, &w.fl, &run, e);
    vec_deinit(&run.trace.calls);
    store_world_deinit(&w);
    return result;
}

/* Fills up, fails with a sentence, goes on when there is room, and has lost nothing. */
static int fill_disk(void)
{
    enum { BALLAST = 256 * 1024, ENOUGH = 100000 };
    struct err e = {0};
    struct store *s;
    struct walk walk;
    uint64_t campaign, n = 0;
    char *zeros = mem_zero(BALLAST);
    write_file("ballast", zeros, BALLAST);
    mem_free(zeros);
    CHECK(store_open(PATH, STORE_WRITE, &s, &e) == 0);
    CHECK(store_begin(s, SLICE("checkout"), &campaign, &e) == 0);
    while (n < ENOUGH && add_quietly(s, campaign, n + 1, &e) == 0)
        n++;
    CHECK(n > 10 && n < ENOUGH);
    CHECK(strstr(e.text, "disk is full") && strstr(e.text, "free some space"));
    e = (struct err){0};
    CHECK(walk_runs(s, campaign, &walk, &e) == 0 && walk.n == n && !walk.differs);
    CHECK(add_quietly(s, campaign, n + 1, &e) == -1 && strstr(e.text, "full"));
    CHECK(unlink("ballast") == 0);
    e = (struct err){0};
    for (int i = 0; i < 5; i++, n++)
        CHECK(add_quietly(s, campaign, n + 1, &e) == 0);
    store_close(s);
    CHECK(store_open(PATH, STORE_READ, &s, &e) == 0);
    CHECK(walk_runs(s, campaign, &walk, &e) == 0 && walk.n == n && !walk.differs);
    store_close(s);
    return 0;
}

static void test_full_disk(void **state)
{
    (void)state;
    run_on_disk(fill_disk, "size=4m");
}

/* Not even the first byte fits. */
static int open_on_full_disk(void)
{
    struct err e = {0};
    struct store *s;
    char *zeros = mem_zero(1 << 20);
    FILE *file = fopen("ballast", "wb");
    CHECK(file != NULL);
    setvbuf(file, NULL, _IONBF, 0);
    while (fwrite(zeros, 1, 4096, file) == 4096)
        ;
    fclose(file);
    mem_free(zeros);
    CHECK(store_open(PATH, STORE_WRITE, &s, &e) == -1);
    CHECK(strstr(e.text, "full") || strstr(e.text, "No space left"));
    CHECK(unlink("ballast") == 0);
    e = (struct err){0};
    CHECK(store_open(PATH, STORE_WRITE, &s, &e) == 0);
    store_close(s);
    return 0;
}

static void test_open_on_full_disk(void **state)
{
    (void)state;
    run_on_disk(open_on_full_disk, "size=1m");
}

/* A file may grow no further (quota, limit): the same, by another code. */
static void test_file_too_large(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct err e = {0};
        struct store *s;
        uint64_t campaign, n = 0;
        struct rlimit limit = {400 * 1024, 400 * 1024};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) || store_open(PATH, STORE_WRITE, &s, &e) ||
            store_begin(s, SLICE("checkout"), &campaign, &e))
            _exit(1);
        while (add_quietly(s, campaign, n + 1, &e) == 0)
            n++;
        _exit(strstr(e.text, "File too large") && strstr(e.text, "--resume") && n > 3 ? 0 : 2);
    }
    assert_int_equal(wait_for(child), 0);
    struct store *s = open_store(STORE_WRITE);
    struct walk walk;
    GOOD(walk_runs(s, 1, &walk, e));
    assert_true(walk.n > 3 && !walk.differs);
    add(s, 1, walk.n + 1);
    store_close(s);
}

static int remount_read_only(void)
{
    return chdir("..") || mount(NULL, "disk", NULL, MS_REMOUNT | MS_RDONLY, NULL) || chdir("disk");
}

static int use_read_only(void)
{
    struct err e = {0};
    struct store *s;
    struct walk walk;
    make_campaign(5);
    CHECK(remount_read_only() == 0);
    CHECK(store_open(PATH, STORE_WRITE, &s, &e) == -1);
    CHECK(strstr(e.text, "Read-only") && strstr(e.text, "--store"));
    e = (struct err){0};
    CHECK(store_open("new/" PATH, STORE_WRITE, &s, &e) == -1);
    CHECK(strstr(e.text, "Read-only") && strstr(e.text, "--store"));
    e = (struct err){0};
    CHECK(store_open(PATH, STORE_READ, &s, &e) == 0);
    CHECK(walk_runs(s, 1, &walk, &e) == 0 && walk.n == 5 && !walk.differs);
    store_close(s);
    return 0;
}

static void test_read_only(void **state)
{
    (void)state;
    run_on_disk(use_read_only, "size=8m");
}

/* The writer was killed, then the disk became read-only: what is in the log cannot be read there.
 */
static int use_read_only_log(void)
{
    struct err e = {0};
    struct store *s;
    struct walk walk;
    make_campaign(5);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (store_open(PATH, STORE_WRITE, &s, &e) || add_quietly(s, 1, 6, &e))
            _exit(1);
        _exit(0); /* without closing */
    }
    CHECK(wait_for(child) == 0);
    CHECK(unlink(PATH "-shm") == 0);
    CHECK(remount_read_only() == 0);
    if (store_open(PATH, STORE_READ, &s, &e)) {
        CHECK(strstr(e.text, "copy all files"));
        return 0;
    }
    CHECK(walk_runs(s, 1, &walk, &e) == 0 && walk.n == 6 && !walk.differs);
    store_close(s);
    return 0;
}

static void test_read_only_log(void **state)
{
    (void)state;
    run_on_disk(use_read_only_log, "size=8m");
}

/* ---- damage ---- */

/* Reads all that is in a file that may be damaged: 0 when it was what was written, 1 when something
 * said so. */
static int read_damaged(enum store_access access, uint64_t runs)
{
    struct err e = {0};
    struct store *s;
    struct walk walk = {0};
    struct store_world w;
    struct store_finding finding;
    slice fact;
    uint64_t campaign = 0;
    if (store_open(PATH, access, &s, &e)) {
        assert_true(e.text[0]);
        return 1;
    }
    store_world_init(&w);
    int result = store_find(s, SLICE("checkout"), &campaign, &e);
    if (result == 0 && campaign)
        result = walk_runs(s, campaign, &walk, &e);
    if (result == 0 && campaign)
        result = store_get(s, campaign, SLICE("seed"), &w.text, &fact, &e);
    if (result == 0 && campaign)
        result = store_finding(s, campaign, 1, &w.names, &w.fl, &w.text, &finding, &e);
    if (result == 0 && campaign) { /* nobody saw anything: then there is nothing to see */
        assert_int_equal(walk.n, runs);
        assert_false(walk.differs);
        assert_true(fact.p == NULL || slice_is(fact, "4711"));
        assert_true(slice_is(finding.why, "charged twice"));
    }
    assert_true(result >= 0 || e.text[0]);
    if (access == STORE_WRITE && result == 0 && campaign) /* it may fail, it must not crash */
        result = add_quietly(s, campaign, runs + 1, &e);
    store_close(s);
    store_world_deinit(&w);
    return result != 0 || campaign == 0;
}

static void make_complete(uint64_t runs)
{
    struct store_world w;
    store_world_init(&w);
    make_campaign(runs);
    struct store *s = open_store(STORE_WRITE);
    struct store_finding finding = {1, FAULTLOAD_EMPTY, SLICE("charged twice"), SLICE("flaky")};
    GOOD(store_set(s, 1, SLICE("seed"), SLICE("4711"), e));
    GOOD(store_set_findings(s, 1, &w.names, &w.fl, &finding, 1, e));
    store_close(s);
    store_world_deinit(&w);
}

static void test_flipped_bytes(void **state)
{
    enum { RUNS = 25 };
    struct rng r = {4};
    struct arena a = {0};
    int noticed = 0;
    (void)state;
    make_complete(RUNS);
    slice whole = read_file(PATH, &a);
    for (int i = 0; i < (int)volume(150); i++) {
        char *copy = arena_copy(&a, whole.p, whole.n);
        uint32_t flips = 1 + rng_below(&r, i % 2 ? 1 : 50), page = rng_below(&r, 4);
        for (uint32_t k = 0; k < flips; k++) {
            size_t at = page == 0 ? rng_below(&r, 4096) : rng_below(&r, (uint32_t)whole.n);
            copy[at] = (char)(copy[at] ^ (1 << rng_below(&r, 8)));
        }
        for (int access = STORE_READ; access <= STORE_WRITE; access++) {
            unlink(PATH "-wal");
            unlink(PATH "-shm");
            write_file(PATH, copy, whole.n);
            noticed += read_damaged((enum store_access)access, RUNS);
        }
    }
    assert_true(noticed > (int)volume(150) / 2);
    arena_deinit(&a);
}

static void test_truncated(void **state)
{
    enum { RUNS = 25 };
    struct arena a = {0};
    (void)state;
    make_complete(RUNS);
    slice whole = read_file(PATH, &a);
    for (size_t n = 1; n < whole.n; n += n < 200 ? 13 : 1999) {
        write_file(PATH, whole.p, n);
        assert_int_equal(read_damaged(STORE_READ, RUNS), 1);
        write_file(PATH, whole.p, n);
        assert_int_equal(read_damaged(STORE_WRITE, RUNS), 1);
    }
    arena_deinit(&a);
}

/* Values that nobody wrote, each where it would do harm. */
static void test_edited(void **state)
{
    static const struct {
        const char *sql, *says;
    } edits[] = {
        {"UPDATE run SET purpose = 'fun' WHERE number = 3", "run 3: purpose"},
        {"UPDATE run SET flags = 'hung maybe' WHERE number = 3", "run 3: flags"},
        {"UPDATE run SET faultload = 'x' WHERE number = 3", "run 3: faultload"},
        {"UPDATE run SET faultload = x'00' WHERE number = 3", "run 3: faultload"},
        {"UPDATE run SET pass = 2 WHERE number = 3", "run 3: pass"},
        {"UPDATE run SET pass = 1 - pass WHERE number = 3", "run 3: sum"},
        {"UPDATE run SET status = 'fine' WHERE number = 3", "run 3: status"},
        {"UPDATE run SET why = 'other' WHERE number = 3", "run 3: sum"},
        {"UPDATE run SET body = zeroblob(70000) WHERE number = 3", "run 3: body"},
        {"UPDATE run SET body = zeroblob(5000000) WHERE number = 3", "larger than"},
        {"UPDATE run SET took_ns = 'long' WHERE number = 3", "run 3: took_ns"},
        {"UPDATE run SET calls = calls + 1 WHERE number = 3", "run 3 has"},
        {"UPDATE run SET sum = 0 WHERE number = 3", "run 3: sum"},
        {"UPDATE run SET number = 33 WHERE number = 3", "follows run 2"},
        {"UPDATE run SET number = 9223372036854775807 WHERE number = 5", "number"},
        {"DELETE FROM run WHERE number = 1", "follows run 0"},
        {"DELETE FROM run WHERE number = 3", "follows run 2"},
        {"UPDATE run SET previous = 1 WHERE number = 3", "run 3: sum"},
        {"UPDATE run SET previous = 3 WHERE number = 3", "run 3: previous"},
        {"DELETE FROM call WHERE run = 3 AND n = 0", "run 3, call 0: n"},
        {"DELETE FROM call WHERE run = 3", "run 3 has 0 calls"},
        {"UPDATE call SET parent = n WHERE run = 3", "run 3, call"},
        {"UPDATE call SET parent = -1 WHERE run = 3 AND n = 1", "run 3, call 1: parent"},
        {"UPDATE call SET parent = 0 WHERE run = 3 AND n = 0", "run 3, call 0: "},
        {"UPDATE call SET mode = 'none' WHERE run = 3 AND n = 1", "run 3, call 1: mode"},
        {"UPDATE call SET seen = 'grpc' WHERE run = 3 AND n = 1", "run 3, call 1: seen"},
        {"UPDATE call SET flags = '512' WHERE run = 3 AND n = 1", "run 3, call 1: flags"},
        {"UPDATE call SET start_ns = start_ns + 1 WHERE run = 3 AND n = 1", "run 3: sum"},
        {"UPDATE call SET point = 12345 WHERE run = 3 AND n = 1", "point 12345 is missing"},
        {"UPDATE call SET point = 1e300 WHERE run = 3 AND n = 1", "run 3, call 1: point"},
        {"UPDATE point SET parent = id", "parent"},
        {"UPDATE point SET parent = 99999 + id", "parent"},
        {"UPDATE point SET element = 'x' || id", "element"},
        {"UPDATE point SET element = element || ' : 503'", "element"},
        {"UPDATE point SET element = 'other' || element", "sum"},
        {"UPDATE point SET campaign = 7", "missing"},
        {"DROP TABLE call", "no such table"},
        {"ALTER TABLE run RENAME COLUMN why TO because", "no such column"},
        {"DROP TABLE call; CREATE VIEW call AS SELECT * FROM run", "damaged or was edited"},
    };
    struct arena a = {0};
    (void)state;
    make_campaign(5);
    slice whole = read_file(PATH, &a);
    for (size_t i = 0; i < LENGTH(edits); i++) {
        struct store *s;
        struct walk walk = {0};
        edit(edits[i].sql);
        GOOD(store_open(PATH, STORE_READ, &s, e));
        BAD(walk_runs(s, 1, &walk, e), edits[i].says);
        store_close(s);
        unlink(PATH "-wal");
        unlink(PATH "-shm");
        write_file(PATH, whole.p, whole.n);
    }
    arena_deinit(&a);
}

/* Values that make no sense, in rows whose sums are right. */
static void test_senseless(void **state)
{
    static const struct {
        const char *sql, *says;
    } edits[] = {
        {"UPDATE call SET parent = NULL WHERE run = 3 AND n = 1", "run 3, call 1: parent"},
        {"UPDATE call SET parent = n WHERE run = 3 AND n = 1", "run 3, call 1: parent"},
        {"UPDATE call SET parent = 2 WHERE run = 3 AND n = 1", "run 3, call 1: parent"},
        {"UPDATE call SET parent = 0 WHERE run = 3 AND n = 0", "run 3, call 0: parent"},
        {"UPDATE call SET point = NULL WHERE run = 3 AND n = 1", "run 3, call 1: point"},
        {"UPDATE call SET point = (SELECT point FROM call WHERE run = 3 AND n = 0) "
         "WHERE run = 3 AND n = 1",
         "run 3, call 1: point"},
        {"UPDATE point SET element = 'x GET / #*' "
         "WHERE id = (SELECT point FROM call WHERE run = 3 AND n = 0)",
         "run 3, call 0: point"},
        {"UPDATE call SET mode = '503', fault_point = NULL WHERE run = 3 AND n = 1",
         "run 3, call 1: fault_point"},
        {"UPDATE call SET mode = '503', fault_point = (SELECT point FROM call WHERE run = 3 AND "
         "n = 0) WHERE run = 3 AND n = 1",
         "run 3, call 1: fault_point"},
        {"UPDATE call SET flags = '128' WHERE run = 3 AND n = 1", "run 3, call 1: flags"},
        {"UPDATE call SET flags = CASE WHEN n THEN '' ELSE 'hushed' END WHERE run = 3",
         "run 3, call 0: flags"},
        {"UPDATE call SET flags = 'hushed', parent = 0 WHERE run = 3 AND n = 1;"
         "UPDATE call SET flags = '', parent = 1, point = NULL WHERE run = 3 AND n = 2",
         "run 3, call"},
        {"UPDATE call SET start_ns = -9223372036854775807 - 1 WHERE run = 3 AND n = 1",
         "run 3, call 1: start_ns"},
        {"UPDATE call SET end_ns = 9223372036854775807 WHERE run = 3 AND n = 1",
         "run 3, call 1: end_ns"},
        {"UPDATE call SET end_ns = start_ns WHERE run = 3 AND n = 1", "run 3, call 1: end_ns"},
        {"UPDATE run SET flags = '1048576' WHERE number = 3", "run 3: flags"},
        {"UPDATE run SET wall_ns = -1 WHERE number = 3", "run 3: wall_ns"},
        {"UPDATE run SET took_ns = -1 WHERE number = 3", "run 3: took_ns"},
        {"UPDATE run SET took_ns = 9223372036854775807 WHERE number = 3", "run 3: took_ns"},
        {"UPDATE run SET calls = 0 WHERE number = 3; DELETE FROM call WHERE run = 3",
         "run 3: calls"},
    };
    struct arena a = {0};
    (void)state;
    make_campaign(5);
    slice whole = read_file(PATH, &a);
    for (size_t i = 0; i < LENGTH(edits); i++) {
        struct store *s;
        struct walk walk = {0};
        sqlite3 *db = NULL;
        edit(edits[i].sql);
        assert_int_equal(sqlite3_open(PATH, &db), SQLITE_OK);
        store_sums(db);
        sqlite3_close(db);
        GOOD(store_open(PATH, STORE_READ, &s, e));
        BAD(walk_runs(s, 1, &walk, e), edits[i].says, "remove it");
        store_close(s);
        unlink(PATH "-wal");
        unlink(PATH "-shm");
        write_file(PATH, whole.p, whole.n);
    }
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_writer),     TEST(links),
        TEST(busy),           TEST(orphan_of_writer),
        TEST(killed),         TEST(read_while_written),
        TEST(full_disk),      TEST(open_on_full_disk),
        TEST(file_too_large), TEST(read_only),
        TEST(read_only_log),  TEST(flipped_bytes),
        TEST(truncated),      TEST(edited),
        TEST(senseless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
