/* SPDX-License-Identifier: Apache-2.0
 *
 * harm/journal and harm/undoer: real runs (forked), which are killed, stopped, or end as they should.
 * Undo scripts leave a line each in a file, so that their order can be seen. Each test has a state
 * directory of its own. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "harm/undoer.h"
#include "support/unit.h"

enum { WAIT_MS = 20 * 1000, STEP_MS = 5, LIFE_S = 120 };

static char top[64], log_path[128], dir_path[128];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(top, sizeof top, "/tmp/outfox-undoer-XXXXXX");
    if (!mkdtemp(top) || setenv("XDG_STATE_HOME", top, 1))
        return -1;
    (void)snprintf(log_path, sizeof log_path, "%s/log", top);
    (void)snprintf(dir_path, sizeof dir_path, "%s/outfox/faults", top);
    undo_bound_ns = SECONDS(10);
    return 0;
}

/* Removes all that is in a directory, and it. */
static void clear(const char *path)
{
    DIR *d = opendir(path);
    for (const struct dirent *entry; d && (entry = readdir(d));) {
        char below[512];
        (void)snprintf(below, sizeof below, "%.200s/%.255s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && unlink(below))
            clear(below);
    }
    if (d)
        closedir(d);
    (void)rmdir(path);
}

static int teardown(void **state)
{
    (void)state;
    clear(top);
    return 0;
}

/* ---- what can be seen ---- */

/* Files in the directory of journals, hidden ones too; the last one's path. */
static uint32_t journals(char path[512])
{
    uint32_t n = 0;
    DIR *d = opendir(dir_path);
    for (const struct dirent *entry; d && (entry = readdir(d));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        (void)snprintf(path, 512, "%s/%.255s", dir_path, entry->d_name);
        n++;
    }
    if (d)
        closedir(d);
    return n;
}

static struct buf contents(const char *path)
{
    struct buf b = BUF_INIT(1 << 20);
    int code = file_read(path, &b);
    assert_true(code == 0 || code == ENOENT);
    return b;
}

static bool logged(const char *text)
{
    struct buf b = contents(log_path);
    bool same = strcmp(buf_text(&b), text) == 0;
    buf_deinit(&b);
    return same;
}

static void assert_log(const char *text)
{
    struct buf b = contents(log_path);
    assert_string_equal(buf_text(&b), text);
    buf_deinit(&b);
}

static bool no_journal(const char *unused)
{
    char path[512];
    (void)unused;
    return journals(path) == 0;
}

static void await(bool (*seen)(const char *arg), const char *arg)
{
    int64_t until_ns = clock_ns() + MS(WAIT_MS);
    while (!seen(arg)) {
        if (clock_ns() >= until_ns)
            fail_msg("did not come: %s", arg);
        (void)poll(NULL, 0, STEP_MS);
    }
}

/* A script that leaves a word; the text is static. */
static const char *leaves(const char *word)
{
    static char text[256];
    (void)snprintf(text, sizeof text, "echo %s >> '%s'", word, log_path);
    return text;
}

/* ---- runs ---- */

struct run {
    struct journal *j;
    struct undoer *u;
};

/* Outside of a test: errors end the process. */
static struct run run_new(void)
{
    struct err e = {.line = 0};
    struct run r = {0};
    if (journal_open(&r.j, "failover", &e) || undoer_new(&r.u, r.j, &e)) {
        print_error("%s\n", e.text);
        _exit(9);
    }
    return r;
}

static void run_begin(struct run *r, uint32_t id, const char *undo, int64_t lease_ns)
{
    struct err e = {.line = 0};
    char event[32];
    (void)snprintf(event, sizeof event, "event-%u", id);
    if (journal_begin(r->j, id, event, "stops redis1", undo, lease_ns, &e) ||
        undoer_begin(r->u, id, undo, lease_ns, &e)) {
        print_error("%s\n", e.text);
        _exit(9);
    }
}

static void run_end(struct run *r, uint32_t id)
{
    undoer_ended(r->u, id);
    journal_end(r->j, id);
}

static void run_free(struct run *r)
{
    undoer_free(r->u);
    journal_close(r->j);
}

/* A run in a process of its own that does `body`, and then nothing. */
struct child {
    pid_t pid, undoer;
};

static struct child child_start(void (*body)(struct run *r))
{
    int tell[2];
    struct child c = {0};
    assert_return_code(pipe2(tell, O_CLOEXEC), errno);
    c.pid = fork();
    assert_return_code(c.pid, errno);
    if (c.pid == 0) {
        alarm(LIFE_S);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(tell[0]);
        struct run r = run_new();
        body(&r);
        pid_t pid = undoer_pid(r.u);
        if (write(tell[1], &pid, sizeof pid) != sizeof pid)
            _exit(9);
        for (;;)
            pause();
    }
    close(tell[1]);
    struct pollfd p = {.fd = tell[0], .events = POLLIN};
    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
    assert_int_equal(read(tell[0], &c.undoer, sizeof c.undoer), sizeof c.undoer);
    close(tell[0]);
    return c;
}

static void child_kill(const struct child *c)
{
    assert_return_code(kill(c->pid, SIGKILL), errno);
    assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
}

static void three(struct run *r)
{
    run_begin(r, 1, leaves("one"), 0);
    run_begin(r, 2, leaves("two"), 0);
    run_begin(r, 3, leaves("three"), 0);
}

/* Both are killed: the undoer first, as the run may not. */
static void both_killed(void (*body)(struct run *r))
{
    struct child c = child_start(body);
    assert_return_code(kill(c.undoer, SIGKILL), errno);
    child_kill(&c);
}

static struct orphans found(struct arena *a)
{
    struct err e = {.line = 0};
    struct orphans o;
    if (journal_orphans(a, &o, &e))
        fail_msg("%s", e.text);
    return o;
}

/* Until the locks of those that were killed are free. */
static bool nothing_under_way(const char *unused)
{
    (void)unused;
    struct arena a = {0};
    bool none = found(&a).under_way == 0;
    arena_deinit(&a);
    return none;
}

/* ---- tests ---- */

static void test_killed_run(void **state)
{
    (void)state;
    struct child c = child_start(three);
    assert_log("");
    child_kill(&c);
    await(no_journal, "the end of the journal");
    assert_log("three\ntwo\none\n");
}

static void one_left(struct run *r)
{
    three(r);
    run_end(r, 1);
    run_end(r, 3);
}

static void test_ended_are_not_undone(void **state)
{
    (void)state;
    struct child c = child_start(one_left);
    child_kill(&c);
    await(no_journal, "the end of the journal");
    assert_log("two\n");
}

static void leased(struct run *r)
{
    run_begin(r, 1, leaves("one"), 0);
    run_begin(r, 2, leaves("leased"), MS(50));
}

static void test_lease(void **state)
{
    (void)state;
    char path[512];
    struct child c = child_start(leased);
    assert_return_code(kill(c.pid, SIGSTOP), errno);
    await(logged, "leased\n");
    assert_return_code(kill(c.undoer, 0), errno);
    assert_int_equal(journals(path), 1);
    child_kill(&c);
    await(no_journal, "the end of the journal");
    assert_log("leased\none\n");
}

static void test_lease_and_begin(void **state)
{
    /* While a script runs, other faults can begin. */
    (void)state;
    char waits[512], go[128];
    undo_bound_ns = SECONDS(60);
    struct run r = run_new();
    (void)snprintf(go, sizeof go, "%s/go", top);
    (void)snprintf(waits, sizeof waits,
                   "echo on >> '%s'; until [ -e '%s' ]; do sleep 0.05; done; echo off >> '%s'",
                   log_path, go, log_path);
    run_begin(&r, 1, waits, 1);
    await(logged, "on\n");
    run_begin(&r, 2, "true", 0);
    assert_log("on\n");
    assert_int_equal(mkdir(go, 0700), 0);
    await(logged, "on\noff\n");
    run_end(&r, 2);
    run_end(&r, 1);
    run_free(&r);
    assert_true(no_journal(NULL));
}

static void test_both_killed(void **state)
{
    (void)state;
    struct arena a = {0};
    char path[512];
    both_killed(three);
    await(nothing_under_way, "free locks");
    struct orphans o = found(&a);
    assert_int_equal(o.n, 3);
    assert_int_equal(o.unread, 0);
    assert_log("");
    for (uint32_t i = 0; i < o.n; i++) {
        struct err e = {.line = 0};
        struct buf said = BUF_INIT(1000);
        assert_int_equal(o.at[i].id, 3 - i);
        assert_string_equal(o.at[i].plan, "failover");
        assert_string_equal(o.at[i].what, "stops redis1");
        assert_true(clock_wall_ns() - o.at[i].began_ns < MINUTES(10));
        assert_int_equal(journals(path), 1);
        assert_int_equal(journal_undo(&o.at[i], &said, &e), 0);
        assert_int_equal(journal_undo(&o.at[i], &said, &e), 0); /* is done */
        buf_deinit(&said);
    }
    assert_string_equal(o.at[0].event, "event-3");
    assert_log("three\ntwo\none\n");
    assert_true(no_journal(NULL));
    arena_deinit(&a);
}

static void fails(struct run *r)
{
    run_begin(r, 1, leaves("one"), 0);
    run_begin(r, 2, "echo first; echo 'no such rule' >&2; exit 3", 0);
}

static void test_failed_undo(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err e = {.line = 0};
    struct buf said = BUF_INIT(1000);
    struct child c = child_start(fails);
    child_kill(&c);
    await(logged, "one\n");
    await(nothing_under_way, "a free lock");
    struct orphans o = found(&a);
    assert_int_equal(o.n, 1);
    assert_int_equal(o.at[0].id, 2);
    assert_int_equal(journal_undo(&o.at[0], &said, &e), -1);
    assert_string_equal(buf_text(&said), "no such rule");
    assert_string_equal(e.text, "the undo of event-2 failed with exit code 3: no such rule");
    assert_int_equal(found(&a).n, 1);
    buf_deinit(&said);
    arena_deinit(&a);
}

static void hangs(struct run *r)
{
    run_begin(r, 1, leaves("one"), 0);
    run_begin(r, 2, "trap '' TERM INT HUP; sleep 300 & echo waits; wait", 0);
}

static void test_hanging_undo(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err e = {.line = 0};
    struct buf said = BUF_INIT(1000);
    undo_bound_ns = MS(200);
    struct child c = child_start(hangs);
    child_kill(&c);
    await(logged, "one\n"); /* after the one that hangs */
    await(nothing_under_way, "a free lock");
    struct orphans o = found(&a);
    assert_int_equal(o.n, 1);
    int64_t began_ns = clock_ns();
    assert_int_equal(journal_undo(&o.at[0], &said, &e), -1);
    assert_true(clock_ns() - began_ns < SECONDS(10));
    assert_string_equal(buf_text(&said), "waits");
    assert_non_null(strstr(e.text, "did not end in time"));
    buf_deinit(&said);
    arena_deinit(&a);
}

static void test_torn_line(void **state)
{
    (void)state;
    struct arena a = {0};
    struct err e = {.line = 0};
    struct buf said = BUF_INIT(1000);
    char path[512];
    static const char torn[] =
        "no JSON\n\n[1]\n{\"begin\":7,\"event\":1}\n{\"begin\":9,\"event\":\"x";
    both_killed(three);
    await(nothing_under_way, "free locks");
    assert_int_equal(journals(path), 1);
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, torn, sizeof torn - 1), sizeof torn - 1);
    close(fd);
    struct orphans o = found(&a);
    assert_int_equal(o.n, 3);
    assert_int_equal(journal_undo(&o.at[0], &said, &e), 0); /* its line stands alone */
    assert_int_equal(found(&a).n, 2);
    assert_int_equal(journal_undo(&o.at[1], &said, &e), 0);
    assert_int_equal(journal_undo(&o.at[2], &said, &e), 0);
    assert_true(no_journal(NULL));
    buf_deinit(&said);
    arena_deinit(&a);
}

static void file_put(const char *name, const char *text, mode_t mode)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", dir_path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_return_code(fd, errno);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_return_code(fchmod(fd, mode), errno);
    close(fd);
}

static void test_others_are_left_alone(void **state)
{
    (void)state;
    struct arena a = {0};
    char path[512];
    struct run r = run_new();
    run_begin(&r, 1, leaves("one"), 0);
    file_put("1-a.jsonl", "{\"v\":2,\"plan\":\"x\"}\n", 0600);
    file_put("1-b.jsonl", "", 0600);
    file_put(
        "1-c.jsonl",
        "{\"v\":1,\"plan\":\"x\"}\n{\"begin\":1,\"event\":\"e\",\"what\":\"w\",\"undo\":\"u\"}\n",
        0666);
    file_put("note.txt", "mine", 0600);
    struct orphans o = found(&a);
    assert_int_equal(o.n, 0);
    assert_int_equal(o.under_way, 1);
    assert_int_equal(o.unread, 3);
    assert_int_equal(journals(path), 5);
    struct orphan held = {.path = journal_path(r.j), .event = "e", .undo = "true", .id = 1};
    struct err e = {.line = 0};
    struct buf said = BUF_INIT(1000);
    assert_int_equal(journal_undo(&held, &said, &e), -1);
    assert_non_null(strstr(e.text, "another outfox"));
    run_end(&r, 1);
    run_free(&r);
    assert_log("");
    assert_int_equal(journals(path), 4);
    file_put("1-d.jsonl", "{\"v\":1,\"plan\":\"x\"}\n", 0600); /* nothing to undo */
    assert_int_equal(found(&a).n, 0);
    assert_int_equal(journals(path), 4);
    buf_deinit(&said);
    arena_deinit(&a);
}

static void test_full_cycle(void **state)
{
    (void)state;
    struct arena a = {0};
    struct stat st;
    char path[512];
    assert_int_equal(found(&a).n, 0); /* no directory at all */
    struct run r = run_new();
    assert_int_equal(journals(path), 1);
    assert_return_code(stat(path, &st), errno);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_return_code(stat(dir_path, &st), errno);
    assert_int_equal(st.st_mode & 07777, 0700);
    for (uint32_t id = 1; id < 50; id++) {
        run_begin(&r, id, leaves("again"), MINUTES(5));
        run_end(&r, id);
    }
    run_free(&r);
    assert_log("");
    assert_true(no_journal(NULL));
    r = run_new(); /* what is left is undone when it ends */
    three(&r);
    run_free(&r);
    assert_log("three\ntwo\none\n");
    assert_true(no_journal(NULL));
    arena_deinit(&a);
}

static void test_refusals(void **state)
{
    (void)state;
    struct err e = {.line = 0}, again = e, third = e, fourth = e, fifth = e;
    struct run r = run_new();
    static char text[UNDO_TEXT_MAX + 2];
    memset(text, 'x', sizeof text - 1);
    assert_int_equal(journal_begin(r.j, 1, "e", "w", text, 0, &e), -1);
    assert_non_null(strstr(e.text, "longer than 65536 bytes"));
    assert_int_equal(undoer_begin(r.u, 1, text, 0, &again), -1);
    assert_int_equal(journal_begin(r.j, 1, "e", "w", "\xff", 0, &third), -1);
    assert_non_null(strstr(third.text, "UTF-8"));
    memset(text, '\n', sizeof text - 2); /* the longest: as long in the journal as can be */
    text[0] = ':';
    text[UNDO_TEXT_MAX] = 0;
    run_begin(&r, 1, text, 0);
    assert_int_equal(journal_begin(r.j, 1, "e", "w", "true", 0, &fourth), -1);
    run_end(&r, 1);
    assert_return_code(kill(undoer_pid(r.u), SIGKILL), errno);
    siginfo_t info;
    assert_return_code(waitid(P_PID, (id_t)undoer_pid(r.u), &info, WEXITED | WNOWAIT), errno);
    assert_int_equal(undoer_begin(r.u, 2, "true", 0, &fifth), -1);
    assert_non_null(strstr(fifth.text, "was killed"));
    run_free(&r);
    assert_true(no_journal(NULL));
}

static void test_foreign_directory(void **state)
{
    (void)state;
    struct err e = {.line = 0}, again = e;
    struct journal *j;
    struct orphans o;
    struct arena a = {0};
    char path[512];
    (void)snprintf(path, sizeof path, "%s/outfox", top);
    if (geteuid() == 0) {
        assert_return_code(mkdir(path, 0700), errno);
        assert_return_code(chown(path, 12345, 12345), errno);
    } else { /* a link to what is not ours */
        assert_return_code(symlink("/etc", path), errno);
    }
    assert_int_equal(journal_open(&j, "p", &e), -1);
    assert_int_equal(journal_orphans(&a, &o, &again), -1);
    if (geteuid() == 0)
        assert_non_null(strstr(e.text, "belongs to another user"));
    assert_non_null(strstr(again.text, "belongs to another user"));
    arena_deinit(&a);
}

/* The undoer takes no notice of a hangup or a polite request, and holds none of our descriptors. */
static void test_undoer_alone(void **state)
{
    (void)state;
    int ends[2];
    char c;
    assert_return_code(pipe2(ends, 0), errno);
    struct run r = run_new();
    three(&r);
    static const int polite[] = {SIGHUP, SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof polite / sizeof *polite; i++)
        assert_return_code(kill(undoer_pid(r.u), polite[i]), errno);
    run_begin(&r, 4, leaves("four"), 0);
    close(ends[1]);
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
    assert_int_equal(read(ends[0], &c, 1), 0);
    close(ends[0]);
    assert_int_equal(getsid(undoer_pid(r.u)), undoer_pid(r.u));
    run_free(&r);
    assert_log("four\nthree\ntwo\none\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_killed_run),
        TEST(test_ended_are_not_undone),
        TEST(test_lease),
        TEST(test_lease_and_begin),
        TEST(test_both_killed),
        TEST(test_failed_undo),
        TEST(test_hanging_undo),
        TEST(test_torn_line),
        TEST(test_others_are_left_alone),
        TEST(test_full_cycle),
        TEST(test_refusals),
        TEST(test_foreign_directory),
        TEST(test_undoer_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
