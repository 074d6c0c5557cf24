/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * The store: what is read is what was written, whatever happened in between; and what it says when
 * it cannot do what it is asked. Each test works in a directory of its own. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
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
#include "store/store_int.h"
#include "support/store_case.h"
#include "support/store_sums.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define PATH          "campaign.db"

enum { SKIPPED = 77 };

/* ---- a directory, and what several tests do ---- */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

static int enter(void **state)
{
    static char directory[64];
    snprintf(directory, sizeof directory, "store-XXXXXX");
    *state = mkdtemp(directory);
    return *state ? chdir(directory) : -1;
}

static int leave(void **state)
{
    return chdir("..") || nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define GOOD(call)                                                                                 \
    do {                                                                                           \
        struct err e_ = {0}, *e = &e_;                                                             \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s: %s", #call, e->source, e->text);                                     \
    } while (0)

/* The call fails, and says all the words. */
#define BAD(call, ...)                                                                             \
    do {                                                                                           \
        struct err e_ = {0}, *e = &e_;                                                             \
        const char *const words_[] = {__VA_ARGS__};                                                \
        assert_int_equal((call), -1);                                                              \
        for (size_t i_ = 0; i_ < LENGTH(words_); i_++)                                             \
            if (!strstr(e->text, words_[i_]))                                                      \
                fail_msg("\"%s\" is not in: %s: %s", words_[i_], e->source, e->text);              \
    } while (0)

static struct store *open_store(enum store_access access)
{
    struct store *s = NULL;
    GOOD(store_open(PATH, access, &s, e));
    return s;
}

static void add(struct store *s, uint64_t campaign, uint64_t number)
{
    struct store_world w;
    store_world_init(&w);
    struct run run = store_case_run(&w, number);
    GOOD(store_add(s, campaign, &w.names, &w.fl, &run, e));
    vec_deinit(&run.trace.calls);
    store_world_deinit(&w);
}

/* A file with one campaign of n runs. */
static void make_campaign(uint64_t n)
{
    uint64_t campaign;
    struct store *s = open_store(STORE_WRITE);
    GOOD(store_begin(s, SLICE("checkout"), &campaign, e));
    for (uint64_t i = 1; i <= n; i++)
        add(s, campaign, i);
    store_close(s);
}

/* Walks over the runs of a campaign, which must be those of store_case_run from 1 on. */
struct walk {
    struct store_world *world;
    uint64_t n;
    bool differs;
};

static bool is_case(const struct store_world *w, const struct run *run)
{
    struct store_world other;
    struct buf found = BUF_INIT(1 << 20), wanted = BUF_INIT(1 << 20);
    store_world_init(&other);
    struct run same = store_case_run(&other, run->number);
    store_case_print(&other, &same, &wanted);
    store_case_print(w, run, &found);
    bool equal = slice_eq(buf_slice(&found), buf_slice(&wanted));
    buf_deinit(&found);
    buf_deinit(&wanted);
    vec_deinit(&same.trace.calls);
    store_world_deinit(&other);
    return equal;
}

static int see_run(void *ctx, const struct run *run, struct err *e)
{
    struct walk *walk = ctx;
    (void)e;
    walk->n++;
    walk->differs |= run->number != walk->n || !is_case(walk->world, run);
    return 0;
}

static int walk_runs(struct store *s, uint64_t campaign, struct walk *walk, struct err *e)
{
    struct store_world w;
    store_world_init(&w);
    *walk = (struct walk){.world = &w};
    int result = store_each_run(s, campaign, &w.names, &w.fl, &w.text, see_run, walk, e);
    store_world_deinit(&w);
    walk->world = NULL;
    return result;
}

static void expect_runs(struct store *s, slice scenario, uint64_t n)
{
    struct walk walk;
    uint64_t campaign = 0;
    GOOD(store_find(s, scenario, &campaign, e));
    assert_true(campaign > 0);
    GOOD(walk_runs(s, campaign, &walk, e));
    assert_int_equal(walk.n, n);
    assert_false(walk.differs);
}

static void edit(const char *sql)
{
    sqlite3 *db = NULL;
    char *said = NULL;
    assert_int_equal(sqlite3_open(PATH, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &said) != SQLITE_OK)
        fail_msg("%s: %s", sql, said);
    sqlite3_close(db);
}

/* What a child process came to; its own exit code, or -1. */
static int wait_for(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- what was written is read ---- */

static void test_outcomes(void **state)
{
    outcome o;
    struct buf text = BUF_INIT(64);
    (void)state;
    for (uint32_t kind = 0; kind < OUT_KINDS; kind++)
        for (uint32_t code = 0; code < 1200; code += 1 + (code > 20) * 7) {
            bool coded = kind == OUT_STATUS || kind == OUT_GRPC;
            outcome wanted = OUTCOME(kind, coded ? code : 0);
            buf_clear(&text);
            outcome_print(wanted, &text);
            assert_true(outcome_read(buf_slice(&text), &o));
            assert_int_equal(o, wanted);
        }
    buf_deinit(&text);
    static const char *const none[] = {"",   "ok",       "grpc:", "grpc:x",
                                       "-1", "16777216", "503 ",  "res"};
    for (size_t i = 0; i < LENGTH(none); i++)
        assert_false(outcome_read(slice_of(none[i]), &o));
}

static void test_round_trip(void **state)
{
    enum { RUNS = 300 };
    (void)state;
    make_campaign(RUNS);
    for (int access = STORE_READ; access <= STORE_WRITE; access++) {
        struct store *s = open_store((enum store_access)access);
        expect_runs(s, SLICE("checkout"), RUNS);
        store_close(s);
    }
    struct store *s = open_store(STORE_READ);
    struct store_world w;
    struct err e = {0};
    store_world_init(&w);
    for (uint64_t i = RUNS + 2; i-- > 0;) {
        struct run run;
        int found = store_run(s, 1, i, &w.names, &w.fl, &w.text, &run, &e);
        assert_int_equal(found, i < 1 || i > RUNS ? STATUS_NONE : STATUS_OK);
        assert_true(found || (run.number == i && is_case(&w, &run)));
        vec_deinit(&run.trace.calls);
    }
    struct run run;
    assert_int_equal(store_run(s, 1, UINT64_MAX, &w.names, &w.fl, &w.text, &run, &e), STATUS_NONE);
    assert_int_equal(store_run(s, 2, 1, &w.names, &w.fl, &w.text, &run, &e), STATUS_NONE);
    store_world_deinit(&w);
    store_close(s);
}

static int keep_why(void *ctx, const struct run *run, struct err *e)
{
    const char **whys = ctx;
    (void)e;
    whys[run->number - 1] = run->verdict.why;
    return 0;
}

/* Reasons outlive the walk and are equal exactly when their addresses are. */
static void test_reasons(void **state)
{
    enum { RUNS = 40 };
    const char *whys[RUNS] = {0};
    struct store_world w;
    (void)state;
    make_campaign(RUNS);
    store_world_init(&w);
    struct store *s = open_store(STORE_READ);
    GOOD(store_each_run(s, 1, &w.names, &w.fl, &w.text, keep_why, whys, e));
    store_close(s);
    for (size_t i = 0; i < RUNS; i++)
        for (size_t k = 0; k < RUNS; k++)
            assert_int_equal(strcmp(whys[i], whys[k]) == 0, whys[i] == whys[k]);
    store_world_deinit(&w);
}

/* Numbers of names mean something else after the names were made anew at the same address. */
static void test_names_made_anew(void **state)
{
    (void)state;
    uint64_t campaign;
    struct store *s = open_store(STORE_WRITE);
    struct store_world w;
    GOOD(store_begin(s, SLICE("checkout"), &campaign, e));
    for (uint64_t i = 1; i <= 60; i++) {
        store_world_init(&w);
        for (uint64_t k = i; k < i + i % 5; k++) { /* other numbers for the same names */
            struct run other = store_case_run(&w, 1000 + k);
            vec_deinit(&other.trace.calls);
        }
        struct run run = store_case_run(&w, i);
        GOOD(store_add(s, campaign, &w.names, &w.fl, &run, e));
        vec_deinit(&run.trace.calls);
        store_world_deinit(&w);
    }
    expect_runs(s, SLICE("checkout"), 60);
    store_close(s);
}

/* Callbacks may use the store, and add to it. */
struct reentry {
    struct store *store;
    struct store_world world;
    uint64_t n;
};

static int use_store(void *ctx, const struct run *run, struct err *unused)
{
    struct reentry *r = ctx;
    struct run again;
    slice value;
    assert_int_equal(run->number, ++r->n);
    GOOD(store_run(r->store, 1, run->number, &r->world.names, &r->world.fl, &r->world.text, &again,
                   e));
    vec_deinit(&again.trace.calls);
    if (r->n <= 5)
        add(r->store, 1, r->n + 5);
    GOOD(store_set(r->store, 1, SLICE("at"), SLICE("here"), e));
    GOOD(store_get(r->store, 1, SLICE("at"), &r->world.text, &value, e));
    assert_true(slice_is(value, "here"));
    (void)unused;
    return r->n == 9 ? 42 : 0;
}

static void test_callbacks(void **state)
{
    (void)state;
    make_campaign(5);
    struct reentry r = {.store = open_store(STORE_WRITE)};
    struct err e = {0};
    store_world_init(&r.world);
    assert_int_equal(
        store_each_run(r.store, 1, &r.world.names, &r.world.fl, &r.world.text, use_store, &r, &e),
        42);
    assert_int_equal(r.n, 9);
    expect_runs(r.store, SLICE("checkout"), 10);
    store_world_deinit(&r.world);
    store_close(r.store);
}

/* A path as deep as a runaway recursion makes it. */
static void test_deep_path(void **state)
{
    enum { DEPTH = 20000 };
    struct store_world w;
    struct run run = {.number = 1, .verdict.why = ""}, back;
    uint64_t campaign;
    uid u = UID_NONE;
    (void)state;
    store_world_init(&w);
    struct element element = {.service = names_sym(&w.names, SLICE("again")),
                              .interface = names_sym(&w.names, SLICE("GET /"))};
    uint32_t name = names_element(&w.names, element);
    for (uint32_t i = 0; i < DEPTH; i++) {
        u = names_uid(&w.names, u, name);
        struct call c = {.uid = u, .parent = i ? i - 1 : CALL_NONE, .end_ns = 1};
        vec_push(&run.trace.calls, c);
    }
    struct store *s = open_store(STORE_WRITE);
    GOOD(store_begin(s, SLICE("deep"), &campaign, e));
    GOOD(store_add(s, campaign, &w.names, &w.fl, &run, e));
    store_close(s);
    s = open_store(STORE_READ);
    GOOD(store_run(s, campaign, 1, &w.names, &w.fl, &w.text, &back, e));
    assert_int_equal(back.trace.calls.n, DEPTH);
    assert_int_equal(back.trace.calls.at[DEPTH - 1].uid, u);
    store_close(s);
    vec_deinit(&run.trace.calls);
    vec_deinit(&back.trace.calls);
    store_world_deinit(&w);
}

/* ---- campaigns, facts, findings ---- */

/* The scenarios that have a campaign, in the order in which they began. */
static void expect_scenarios(struct store *s, const char *wanted)
{
    struct buf list = BUF_INIT(256);
    sqlite3_stmt *stmt;
    assert_int_equal(
        sqlite3_prepare_v2(s->db, "SELECT scenario FROM campaign ORDER BY id", -1, &stmt, NULL),
        SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        buf_add(&list, (slice){text, (size_t)sqlite3_column_bytes(stmt, 0)});
        buf_addc(&list, ';');
    }
    sqlite3_finalize(stmt);
    assert_string_equal(buf_text(&list), wanted);
    buf_deinit(&list);
}

static void expect_fact(struct store *s, uint64_t campaign, const char *name, slice wanted)
{
    struct arena a = {0};
    slice value;
    GOOD(store_get(s, campaign, slice_of(name), &a, &value, e));
    assert_int_equal(value.p == NULL, wanted.p == NULL);
    assert_true(slice_eq(value, wanted));
    arena_deinit(&a);
}

static void test_campaigns(void **state)
{
    uint64_t first, second, third, found;
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    expect_scenarios(s, "");
    GOOD(store_find(s, SLICE("größe"), &found, e));
    assert_int_equal(found, 0);
    GOOD(store_begin(s, SLICE("größe"), &first, e));
    GOOD(store_begin(s, SLICE("b\0c"), &second, e));
    for (uint64_t i = 1; i <= 20; i++) {
        add(s, first, i);
        add(s, second, i);
    }
    GOOD(store_set(s, first, SLICE("seed"), SLICE("1"), e));
    GOOD(store_set(s, second, SLICE("seed"), SLICE("2"), e));
    expect_runs(s, SLICE("größe"), 20);
    expect_runs(s, SLICE("b\0c"), 20);
    GOOD(store_begin(s, SLICE("größe"), &third, e)); /* one of two, then the only one */
    assert_true(third != first && third != second);
    expect_runs(s, SLICE("größe"), 0);
    expect_runs(s, SLICE("b\0c"), 20);
    expect_fact(s, first, "seed", (slice){0});
    expect_fact(s, third, "seed", (slice){0});
    expect_fact(s, second, "seed", SLICE("2"));
    add(s, third, 1);
    expect_runs(s, SLICE("größe"), 1);
    expect_scenarios(s, "b");
    store_close(s);
}

static void test_begin_again(void **state)
{
    uint64_t campaign;
    (void)state;
    make_campaign(50);
    struct store *s = open_store(STORE_WRITE);
    GOOD(store_set(s, 1, SLICE("seed"), SLICE("1"), e));
    GOOD(store_begin(s, SLICE("checkout"), &campaign, e));
    expect_runs(s, SLICE("checkout"), 0);
    expect_fact(s, 1, "seed", (slice){0});
    for (uint64_t i = 1; i <= 50; i++)
        add(s, campaign, i);
    expect_runs(s, SLICE("checkout"), 50);
    store_close(s);
}

static void test_facts(void **state)
{
    enum { MOST = 1 << 20 };
    uint64_t campaign;
    char *large = mem_zero(MOST + 1);
    (void)state;
    memset(large, 'x', MOST);
    struct store *s = open_store(STORE_WRITE);
    GOOD(store_begin(s, SLICE("checkout"), &campaign, e));
    GOOD(store_set(s, campaign, SLICE("config"), SLICE("a: 1\n\0größe \xff"), e));
    expect_fact(s, campaign, "config", SLICE("a: 1\n\0größe \xff"));
    GOOD(store_set(s, campaign, SLICE("config"), SLICE(""), e));
    expect_fact(s, campaign, "config", SLICE(""));
    GOOD(store_set(s, campaign, SLICE("config"), ((slice){large, MOST}), e));
    expect_fact(s, campaign, "config", (slice){large, MOST});
    BAD(store_set(s, campaign, SLICE("config"), ((slice){large, MOST + 1}), e), "1048577 bytes");
    BAD(store_set(s, 99, SLICE("config"), SLICE("x"), e), "no campaign");
    expect_fact(s, campaign, "config", (slice){large, MOST});
    expect_fact(s, campaign, "nothing", (slice){0});
    store_close(s);
    mem_free(large);
}

static void test_findings(void **state)
{
    struct store_world w;
    struct store_finding found;
    uint64_t campaign;
    struct err ignored = {0};
    (void)state;
    store_world_init(&w);
    struct run run = store_case_run(&w, 3);
    struct store *s = open_store(STORE_WRITE);
    GOOD(store_begin(s, SLICE("checkout"), &campaign, e));
    faultload down;
    GOOD(faultload_parse(&w.names, &w.fl, SLICE("payment down & a GET / > b GET / : 503"), &down,
                         e));
    struct store_finding findings[] = {
        {1, run.faultload, SLICE("the card is charged twice"), SLICE("confirmed")},
        {7, FAULTLOAD_EMPTY, SLICE(""), SLICE("flaky")},
        {9, down, SLICE("a fault that is not at a call"), SLICE("confirmed")}};
    GOOD(store_set_findings(s, campaign, &w.names, &w.fl, findings, LENGTH(findings), e));
    for (size_t i = 0; i < LENGTH(findings); i++) {
        GOOD(store_finding(s, campaign, findings[i].id, &w.names, &w.fl, &w.text, &found, e));
        assert_int_equal(found.id, findings[i].id);
        assert_true(faultload_eq(&w.fl, found.faultload, findings[i].faultload));
        assert_true(slice_eq(found.why, findings[i].why));
        assert_true(slice_eq(found.state, findings[i].state));
    }
    assert_int_equal(store_finding(s, campaign, 2, &w.names, &w.fl, &w.text, &found, &ignored),
                     STATUS_NONE);
    struct store_finding twice[] = {findings[1], findings[1]};
    BAD(store_set_findings(s, campaign, &w.names, &w.fl, twice, 2, e), "already");
    GOOD(store_finding(s, campaign, 1, &w.names, &w.fl, &w.text, &found, e));
    GOOD(store_set_findings(s, campaign, &w.names, &w.fl, findings + 1, 1, e));
    assert_int_equal(store_finding(s, campaign, 1, &w.names, &w.fl, &w.text, &found, &ignored),
                     STATUS_NONE);
    store_close(s);
    vec_deinit(&run.trace.calls);
    store_world_deinit(&w);
}

/* ---- what is refused ---- */

static void test_refused_runs(void **state)
{
    struct store_world w;
    (void)state;
    make_campaign(3);
    store_world_init(&w);
    struct store *s = open_store(STORE_WRITE);
    struct run run = store_case_run(&w, 4), other = run;
    char *large = mem_zero(RUN_BODY_MAX + 1);
    BAD(store_add(s, 0, &w.names, &w.fl, &run, e), "no campaign 0");
    BAD(store_add(s, 2, &w.names, &w.fl, &run, e), "no campaign");
    BAD(store_add(s, UINT64_MAX, &w.names, &w.fl, &run, e), "no campaign");
    other.number = 3;
    BAD(store_add(s, 1, &w.names, &w.fl, &other, e), "already");
    other.number = 0;
    BAD(store_add(s, 1, &w.names, &w.fl, &other, e), "run 0");
    other = run;
    other.body = (slice){large, RUN_BODY_MAX + 1};
    BAD(store_add(s, 1, &w.names, &w.fl, &other, e), "run 4", "body");
    other = (struct run){.number = 4, .verdict.why = ""};
    struct element element = {.service = names_sym(&w.names, SLICE("two words")),
                              .interface = names_sym(&w.names, SLICE("GET /"))};
    struct call call = {.uid = names_uid(&w.names, UID_NONE, names_element(&w.names, element)),
                        .parent = CALL_NONE,
                        .end_ns = 1};
    vec_push(&other.trace.calls, call);
    BAD(store_add(s, 1, &w.names, &w.fl, &other, e), "two words", "one word");
    other.trace.calls.at[0].parent = 0;
    BAD(store_add(s, 1, &w.names, &w.fl, &other, e), "call 0", "parent");
    expect_runs(s, SLICE("checkout"), 3);
    add(s, 1, 4);
    expect_runs(s, SLICE("checkout"), 4);
    store_close(s);
    s = open_store(STORE_READ);
    BAD(store_add(s, 1, &w.names, &w.fl, &run, e), "reading");
    store_close(s);
    mem_free(large);
    vec_deinit(&other.trace.calls);
    vec_deinit(&run.trace.calls);
    store_world_deinit(&w);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static void test_refused_files(void **state)
{
    struct store *s;
    (void)state;
    BAD(store_open("", STORE_WRITE, &s, e), "empty");
    BAD(store_open("none.db", STORE_READ, &s, e), "no such file", "`outfox run`");
    BAD(store_open("none/none.db", STORE_READ, &s, e), "no such file");
    assert_int_equal(mkdir("directory", 0777), 0);
    BAD(store_open("directory", STORE_READ, &s, e), "directory");
    BAD(store_open("directory", STORE_WRITE, &s, e), "directory");
    assert_int_equal(mkfifo("fifo", 0666), 0);
    BAD(store_open("fifo", STORE_READ, &s, e), "regular file");
    BAD(store_open("fifo", STORE_WRITE, &s, e), "regular file");
    BAD(store_open("/dev/null", STORE_READ, &s, e), "regular file");
    char text[5000];
    memset(text, 'x', sizeof text);
    write_file("text", text, sizeof text);
    BAD(store_open("text", STORE_READ, &s, e), "not a campaign", "remove it");
    BAD(store_open("text", STORE_WRITE, &s, e), "not a campaign", "remove it");
    BAD(store_open("text/below.db", STORE_WRITE, &s, e), "directory");
    write_file("empty", text, 0);
    BAD(store_open("empty", STORE_READ, &s, e), "no campaign yet");
    GOOD(store_open("empty", STORE_WRITE, &s, e));
    store_close(s);
    GOOD(store_open("empty", STORE_READ, &s, e));
    store_close(s);
}

static void test_foreign_files(void **state)
{
    struct store *s;
    (void)state;
    edit("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)");
    BAD(store_open(PATH, STORE_READ, &s, e), "another program");
    BAD(store_open(PATH, STORE_WRITE, &s, e), "another program");
    assert_int_equal(access(PATH "-wal", F_OK), -1);
    edit("DROP TABLE theirs; VACUUM");
    make_campaign(1);
    edit("PRAGMA user_version = 7");
    BAD(store_open(PATH, STORE_READ, &s, e), "newer Outfox", "schema 7", "knows 3");
    BAD(store_open(PATH, STORE_WRITE, &s, e), "newer Outfox");
    edit("PRAGMA user_version = 0");
    BAD(store_open(PATH, STORE_READ, &s, e), "damaged");
    edit("PRAGMA user_version = -1");
    BAD(store_open(PATH, STORE_WRITE, &s, e), "damaged");
}

/* Names that SQLite would take for something else; directories that are not there yet. */
static void test_names_of_files(void **state)
{
    static const char *const paths[] = {":memory:", "file:x?mode=memory", "a/b//c/d.db",
                                        "größe?#%.db", "./x.db"};
    (void)state;
    for (size_t i = 0; i < LENGTH(paths); i++) {
        struct store *s;
        uint64_t campaign;
        GOOD(store_open(paths[i], STORE_WRITE, &s, e));
        GOOD(store_begin(s, SLICE("checkout"), &campaign, e));
        store_close(s);
        assert_int_equal(access(paths[i], F_OK), 0);
        GOOD(store_open(paths[i], STORE_READ, &s, e));
        expect_scenarios(s, "checkout;");
        store_close(s);
    }
}

/* ---- migrations ---- */

static void test_migrations(void **state)
{
    const char *steps[] = {schema_newest.steps[0], schema_newest.steps[1], schema_newest.steps[2],
                           "ALTER TABLE run ADD COLUMN more INTEGER",
                           "UPDATE run SET more = number; CREATE TABLE extra(x)"};
    const char *broken[] = {schema_newest.steps[0], schema_newest.steps[1], schema_newest.steps[2],
                            "CREATE TABLE kept(x)", "CREATE nonsense"};
    struct store *s;
    (void)state;
    make_campaign(5);
    struct schema five = {steps, 5}, failing = {broken, 5};
    BAD(store_open_as(PATH, STORE_READ, &five, &s, e), "older Outfox", "schema 3", "knows 5");
    BAD(store_open_as(PATH, STORE_WRITE, &failing, &s, e), "syntax");
    s = open_store(STORE_WRITE); /* nothing of what failed is left */
    expect_runs(s, SLICE("checkout"), 5);
    store_close(s);
    GOOD(store_open_as(PATH, STORE_WRITE, &five, &s, e));
    expect_runs(s, SLICE("checkout"), 5);
    store_close(s);
    GOOD(store_open_as(PATH, STORE_READ, &five, &s, e));
    store_close(s);
    edit("INSERT INTO extra SELECT more FROM run WHERE more = 5");
    BAD(store_open(PATH, STORE_WRITE, &s, e), "newer Outfox", "schema 5");
}

/* How many calls are known to have asked for something: of the runs that were there, and after. */
struct walk_asked {
    uint64_t runs, early, late;
};

static int see_asked(void *ctx, const struct run *run, struct err *e)
{
    struct walk_asked *walk = ctx;
    (void)e;
    walk->runs++;
    for (uint32_t i = 0; i < run->trace.calls.n; i++)
        *(run->number <= 5 ? &walk->early : &walk->late) += run->trace.calls.at[i].request ||
                                                            run->trace.calls.at[i].key ||
                                                            run->trace.calls.at[i].answer;
    return 0;
}

/* A file of version 1: what it does not know of its calls is not known, and its sums hold. */
static void test_migration_from_1(void **state)
{
    struct store *s;
    uint64_t campaign;
    struct store_world w;
    struct walk_asked asked = {0};
    (void)state;
    s = open_store(STORE_WRITE);
    GOOD(store_begin(s, SLICE("checkout"), &campaign, e));
    store_world_init(&w);
    for (uint64_t number = 1; number <= 5; number++) {
        struct run run = store_case_run(&w, number);
        for (uint32_t i = 0; i < run.trace.calls.n; i++)
            run.trace.calls.at[i].request = run.trace.calls.at[i].key =
                run.trace.calls.at[i].answer = 0;
        GOOD(store_add(s, campaign, &w.names, &w.fl, &run, e));
        vec_deinit(&run.trace.calls);
    }
    store_close(s);
    edit("ALTER TABLE call DROP COLUMN request; ALTER TABLE call DROP COLUMN key;"
         "ALTER TABLE call DROP COLUMN answer;"
         "PRAGMA user_version = 1");
    BAD(store_open(PATH, STORE_READ, &s, e), "older Outfox", "schema 1", "knows 3");
    s = open_store(STORE_WRITE);
    add(s, campaign, 6);
    GOOD(store_each_run(s, campaign, &w.names, &w.fl, &w.text, see_asked, &asked, e));
    assert_int_equal(asked.runs, 6);
    assert_int_equal(asked.early, 0);
    assert_true(asked.late > 0);
    store_close(s);
    store_world_deinit(&w);
    edit("UPDATE call SET key = 5 WHERE run = 2 AND n = 0");
    s = open_store(STORE_READ);
    struct walk walk;
    BAD(walk_runs(s, campaign, &walk, e), "run 2");
    store_close(s);
}

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

static slice read_file(const char *path, struct arena *a)
{
    struct stat info;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    char *p = arena_alloc(a, (size_t)info.st_size);
    assert_int_equal(read(fd, p, (size_t)info.st_size), info.st_size);
    close(fd);
    return (slice){p, (size_t)info.st_size};
}

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

/* ---- documents ---- */

/* The queries of docs/store.md give rows. */
static void test_documented_queries(void **state)
{
    const char *top = getenv("TOP");
    char path[4096];
    struct arena a = {0};
    int queries = 0;
    (void)state;
    if (!top) {
        print_message("TOP does not say where the sources are\n");
        skip();
    }
    make_campaign(60);
    snprintf(path, sizeof path, "%s/docs/store.md", top);
    slice text = read_file(path, &a);
    for (const char *at = arena_copy(&a, text.p, text.n); (at = strstr(at, "```sql\n"));
         queries++) {
        sqlite3 *db = NULL;
        sqlite3_stmt *stmt = NULL;
        const char *end = strstr(at += 7, "```");
        assert_non_null(end);
        assert_int_equal(sqlite3_open_v2(PATH, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
        if (sqlite3_prepare_v2(db, at, (int)(end - at), &stmt, NULL) != SQLITE_OK ||
            sqlite3_step(stmt) != SQLITE_ROW)
            fail_msg("%.*s: %s", (int)(end - at), at, sqlite3_errmsg(db));
        sqlite3_finalize(stmt);
        sqlite3_close(db);
    }
    assert_int_equal(queries, 5);
    arena_deinit(&a);
}

/* ---- cost ---- */

static long resident_pages(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages;
}

/* Memory does not grow with the runs. */
static void test_memory(void **state)
{
#ifdef SANITIZED
    enum { RUNS = 600 }; /* what was freed is kept there, so only that it works */
#else
    enum { RUNS = 20000 };
#endif
    uint64_t campaign;
    long early = 0;
    struct store_world w;
    (void)state;
    store_world_init(&w);
    struct run run = store_case_run(&w, 3);
    run.body = SLICE("{}");
    struct store *s = open_store(STORE_WRITE);
    GOOD(store_begin(s, SLICE("checkout"), &campaign, e));
    for (run.number = 1; run.number <= RUNS; run.number++) {
        GOOD(store_add(s, campaign, &w.names, &w.fl, &run, e));
        if (run.number == RUNS / 4)
            early = resident_pages();
    }
    long grown = resident_pages() - early;
    if (RUNS > 1000 && grown > 256)
        fail_msg("%ld pages more after %d runs than after %d", grown, RUNS, RUNS / 4);
    store_close(s);
    vec_deinit(&run.trace.calls);
    store_world_deinit(&w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),
        TEST(round_trip),
        TEST(reasons),
        TEST(names_made_anew),
        TEST(callbacks),
        TEST(deep_path),
        TEST(campaigns),
        TEST(begin_again),
        TEST(facts),
        TEST(findings),
        TEST(refused_runs),
        TEST(refused_files),
        TEST(foreign_files),
        TEST(names_of_files),
        TEST(migrations),
        TEST(migration_from_1),
        TEST(one_writer),
        TEST(links),
        TEST(busy),
        TEST(orphan_of_writer),
        TEST(killed),
        TEST(read_while_written),
        TEST(full_disk),
        TEST(open_on_full_disk),
        TEST(file_too_large),
        TEST(read_only),
        TEST(read_only_log),
        TEST(flipped_bytes),
        TEST(truncated),
        TEST(edited),
        TEST(senseless),
        TEST(documented_queries),
        TEST(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
