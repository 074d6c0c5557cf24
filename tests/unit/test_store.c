/* SPDX-License-Identifier: Apache-2.0
 *
 * The store: what is read is what was written; and what it says when it cannot do what it is asked.
 * Each test works in a directory of its own. What happens to files and processes meanwhile:
 * test_store_harm.c. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/store_lab.h"

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

static int see_some(void *ctx, const struct run *run, struct err *e)
{
    struct walk *walk = ctx;
    (void)e;
    walk->differs |= !is_case(walk->world, run);
    walk->n = walk->n * 10 + run->number;
    return run->number == 7 ? 42 : 0;
}

/* From some number on: numbers as digits, and what was returned. */
static void test_from(void **state)
{
    static const struct {
        uint64_t from, seen;
        int result;
    } rows[] = {{0, 123567, 42}, {1, 123567, 42}, {2, 23567, 42}, {4, 567, 42},      {7, 7, 42},
                {8, 89, 0},      {9, 9, 0},       {10, 0, 0},     {UINT64_MAX, 0, 0}};
    (void)state;
    make_campaign(3);
    struct store *s = open_store(STORE_WRITE);
    for (uint64_t i = 5; i <= 9; i++)
        add(s, 1, i);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct store_world w;
        struct err e = {0};
        store_world_init(&w);
        struct walk walk = {.world = &w};
        assert_int_equal(
            store_runs_from(s, 1, rows[i].from, &w.names, &w.fl, &w.text, see_some, &walk, &e),
            rows[i].result);
        assert_int_equal(walk.n, rows[i].seen);
        assert_false(walk.differs);
        store_world_deinit(&w);
    }
    store_close(s);
    edit("DELETE FROM run WHERE number = 6");
    s = open_store(STORE_READ);
    struct store_world w;
    store_world_init(&w);
    struct walk walk = {.world = &w};
    BAD(store_runs_from(s, 1, 2, &w.names, &w.fl, &w.text, see_some, &walk, e),
        "what follows run 5 is missing");
    store_world_deinit(&w);
    store_close(s);
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
    BAD(store_open(PATH, STORE_READ, &s, e), "newer Outfox", "schema 7", "knows 4");
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
    const char *steps[] = {schema_newest.steps[0],
                           schema_newest.steps[1],
                           schema_newest.steps[2],
                           schema_newest.steps[3],
                           "ALTER TABLE run ADD COLUMN more INTEGER",
                           "UPDATE run SET more = number; CREATE TABLE extra(x)"};
    const char *broken[] = {schema_newest.steps[0], schema_newest.steps[1], schema_newest.steps[2],
                            schema_newest.steps[3], "CREATE TABLE kept(x)", "CREATE nonsense"};
    struct store *s;
    (void)state;
    make_campaign(5);
    struct schema six = {steps, 6}, failing = {broken, 6};
    BAD(store_open_as(PATH, STORE_READ, &six, &s, e), "older Outfox", "schema 4", "knows 6");
    BAD(store_open_as(PATH, STORE_WRITE, &failing, &s, e), "syntax");
    s = open_store(STORE_WRITE); /* nothing of what failed is left */
    expect_runs(s, SLICE("checkout"), 5);
    store_close(s);
    GOOD(store_open_as(PATH, STORE_WRITE, &six, &s, e));
    expect_runs(s, SLICE("checkout"), 5);
    store_close(s);
    GOOD(store_open_as(PATH, STORE_READ, &six, &s, e));
    store_close(s);
    edit("INSERT INTO extra SELECT more FROM run WHERE more = 5");
    BAD(store_open(PATH, STORE_WRITE, &s, e), "newer Outfox", "schema 6");
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
         "DROP TABLE journal; PRAGMA user_version = 1");
    BAD(store_open(PATH, STORE_READ, &s, e), "older Outfox", "schema 1", "knows 4");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),
        TEST(round_trip),
        TEST(reasons),
        TEST(names_made_anew),
        TEST(callbacks),
        TEST(from),
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
        TEST(documented_queries),
        TEST(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
