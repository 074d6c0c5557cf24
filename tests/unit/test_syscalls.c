/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of system calls without any: the table, rules as text and held against calls, what a node's
 * file says, the filter (by a small machine that runs it), and what plans are refused. */
#include <errno.h>
#include <linux/audit.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "harm/calls_int.h"
#include "plan/plan.h"
#include "plan/wrap.h"
#include "support/unit.h"

/* ---- the table ---- */

static void test_table(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SYSCALLS; i++) {
        const struct syscall_row *row = &syscall_rows[i];
        slice rest = slice_of(row->errors), word, name, kind;
        struct syscall_set one = {0};
        assert_true(syscall_set_named(&one, slice_of(row->name)));
        assert_true(syscall_set_has(&one, i));
        assert_true(row->moves == MOVES_NONE || row->fd == 0);
        assert_true((row->path >= 0) == (row->paths > 0) &&
                    (row->fd < 0 || row->path < 0 || row->fd != row->path));
        assert_true(rest.n);
        while (slice_word(&rest, &word)) {
            (void)slice_cut(&word, ':', &name);
            int number = syscall_error(name);
            assert_true(number);
            assert_true(slice_is(name, syscall_error_name(number)));
            assert_true(syscall_fails(i, number));
            while (slice_cut(&word, ',', &kind))
                assert_true(slice_is(kind, "file") || slice_is(kind, "pipe") ||
                            slice_is(kind, "socket"));
        }
        for (uint32_t k = 0; k < i; k++)
            assert_true(strcmp(row->name, syscall_rows[k].name) != 0);
        if (calls_number(i) >= 0)
            assert_int_equal(calls_of_number(calls_number(i)), i);
    }
    assert_int_equal(syscall_fails(SYSCALL_write, ENOSPC), FD_FILE);
    assert_int_equal(syscall_fails(SYSCALL_write, EPIPE), FD_PIPE | FD_SOCKET);
    assert_int_equal(syscall_fails(SYSCALL_fsync, EIO), FD_ANY);
    assert_int_equal(syscall_fails(SYSCALL_fsync, ECONNREFUSED), 0);
    assert_int_equal(calls_of_number(-1), SYSCALLS);
}

static void test_paths(void **state)
{
    static const struct {
        const char *pattern, *path;
        bool meant;
    } cases[] = {
        {"/var/db", "/var/db", true},
        {"/var/db", "/var/db/x/y", true},
        {"/var/db/", "/var/db/x", true},
        {"/var/db", "/var/dbx", false},
        {"*.aof", "/x/a.aof", true},
        {"*.aof", "/x/a.aof.bak", false},
        {"data/*.log", "/srv/data/1.log", true},
        {"data/*.log", "/srv/mydata/1.log", false},
        {"file", "/a/file", true},
        {"file", "/a/file/b", true},
        {"file", "/a/profile", false},
        {"*", "socket:[12]", true},
        {"/", "socket:[12]", false},
        {"/*", "/x", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(syscall_path_meant(slice_of(cases[i].pattern), slice_of(cases[i].path)),
                         cases[i].meant);
}

/* ---- rules ---- */

static void rule_parse(struct syscall_rule *r, const char *text, struct arena *a)
{
    struct err e = {0};
    if (syscall_rule_parse(slice_of(text), a, r, &e))
        fail_msg("%s: %s", text, e.text);
}

static void test_rules(void **state)
{
    static const char *const refused[] = {
        "",
        "call=fsync",
        "error=EIO",
        "call=fsnyc error=EIO",
        "call=fsync error=EWHAT",
        "call=fsync error=EIO nth=0",
        "call=fsync error=EIO nth=-1",
        "call=write error=EIO part=5",
        "call=write part=1000000",
        "call=write latency=9999999999999",
        "call=write latency=5 fd=99999999999",
        "call=write latency=5 what=1",
        "call=write latency=5 chance=1000001",
        "call=write latency=5 path=%",
        "call=write latency=5 path=",
        "latency",
    };
    struct arena a = {0};
    struct syscall_rule r;
    struct buf text = BUF_INIT(4000), again = BUF_INIT(4000);
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct err e = {0};
        if (!syscall_rule_parse(slice_of(refused[i]), &a, &r, &e))
            fail_msg("%s", refused[i]);
    }
    rule_parse(
        &r,
        "call=fsync,write error=EIO latency=5000 fd=7 nth=3 times=2 chance=500000 seed=9 path=/a%20b%25%0A/*",
        &a);
    assert_true(slice_is(r.path, "/a b%\n/*") && r.fd == 7 && r.nth == 3 && r.times == 2);
    syscall_rule_print(&r, &text);
    assert_true(slice_find(buf_slice(&text), '\n') == text.n);
    rule_parse(&r, buf_text(&text), &a);
    syscall_rule_print(&r, &again);
    assert_string_equal(buf_text(&text), buf_text(&again));
    buf_deinit(&text);
    buf_deinit(&again);
    arena_deinit(&a);
}

/* ---- decisions ---- */

struct world {
    uint32_t kind;
    const char *path;
    uint32_t asked;
};

static uint32_t kind_of(void *user)
{
    struct world *w = user;
    w->asked++;
    return w->kind;
}

static bool meant(void *user, slice path)
{
    struct world *w = user;
    w->asked++;
    return syscall_path_meant(path, slice_of(w->path));
}

static void test_decisions(void **state)
{
    static struct calls_count counts[CALLS_SLOTS];
    struct calls_state s = {0};
    struct calls_verdict v;
    struct world w = {FD_FILE, "/d/x.aof", 0};
    struct calls_view call = {SYSCALL_write, 5, kind_of, meant, &w};
    (void)state;
    s.n = s.next = 3;
    s.at[1].slot = 1;
    s.at[2].slot = 2;
    rule_parse(&s.at[0].rule, "call=write error=ENOSPC nth=2 times=2 path=*.aof", &s.arena);
    rule_parse(&s.at[1].rule, "call=write latency=7 fd=5", &s.arena);
    rule_parse(&s.at[2].rule, "call=write,read latency=5 part=1000", &s.arena);
    static const int errors[] = {0, ENOSPC, ENOSPC, 0, 0};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        calls_decide(&s, counts, &call, &v);
        assert_int_equal(v.error, errors[i]);
        assert_int_equal(v.latency_ns, 12);
        assert_int_equal(v.part, errors[i] ? 0 : 1000);
        assert_int_equal(v.n, errors[i] ? 3 : 2);
    }
    assert_true(counts[0].met == 5 && counts[0].struck == 2 && counts[1].struck == 5);
    w.kind = FD_SOCKET; /* which has no room to run out of */
    calls_decide(&s, counts, &call, &v);
    assert_int_equal(counts[0].met, 5);
    w.asked = 0;
    call.id = SYSCALL_fsync; /* nobody's: nothing of it is looked at */
    calls_decide(&s, counts, &call, &v);
    assert_true(!v.n && !v.latency_ns && !w.asked);
    call = (struct calls_view){SYSCALL_read, 6, kind_of, meant, &w};
    calls_decide(&s, counts, &call, &v);
    assert_true(v.n == 1 && v.latency_ns == 5 && v.part == 1000);
    arena_deinit(&s.arena);
}

/* About so many as the chance says, and the same ones again by the same seed. */
static void test_chance(void **state)
{
    static struct calls_count counts[2][CALLS_SLOTS];
    struct calls_state s = {.n = 1, .next = 1};
    struct calls_verdict v;
    struct calls_view call = {.id = SYSCALL_fsync, .fd = 3};
    (void)state;
    rule_parse(&s.at[0].rule, "call=fsync error=EIO chance=250000 seed=3", &s.arena);
    for (int i = 0; i < 4000; i++) {
        calls_decide(&s, counts[0], &call, &v);
        int error = v.error;
        calls_decide(&s, counts[1], &call, &v);
        assert_int_equal(error, v.error);
    }
    assert_in_range(counts[0][0].struck, 850, 1150);
    arena_deinit(&s.arena);
}

/* ---- what is armed, as text ---- */

static void test_state(void **state)
{
    struct calls_state s = {.n = 2, .next = 9}, back;
    struct buf text = BUF_INIT(CALLS_STATE_MAX), again = BUF_INIT(CALLS_STATE_MAX);
    struct err e = {0};
    (void)state;
    s.at[0] = (struct calls_armed){.name = SLICE("a b\n%"), .slot = 8};
    s.at[1] = (struct calls_armed){.name = SLICE("other"), .slot = 0};
    rule_parse(&s.at[0].rule, "call=fsync error=EIO", &s.arena);
    rule_parse(&s.at[1].rule, "call=fsync error=EIO path=/%0Aend", &s.arena);
    calls_state_print(&s, &text);
    assert_int_equal(calls_state_parse(buf_slice(&text), &back, &e), 0);
    assert_true(back.n == 2 && back.next == 9 && slice_is(back.at[0].name, "a b\n%"));
    calls_state_print(&back, &again);
    assert_string_equal(buf_text(&text), buf_text(&again));
    calls_state_free(&back);
    for (size_t i = 0; i < text.n; i++) { /* a byte is another one, or the end is not there yet */
        struct buf wrong = BUF_INIT(CALLS_STATE_MAX);
        buf_add(&wrong, buf_slice(&text));
        wrong.p[i] ^= 1;
        assert_int_equal(calls_state_parse(buf_slice(&wrong), &back, &e), -1);
        assert_int_equal(back.n, 0);
        calls_state_free(&back);
        if (i)
            assert_int_equal(calls_state_parse((slice){text.p, i}, &back, &e), -1);
        calls_state_free(&back);
        buf_deinit(&wrong);
    }
    assert_int_equal(calls_state_parse(SLICE(""), &back, &e), 0);
    assert_int_equal(back.n, 0);
    calls_state_free(&back);
    s.at[0].slot = CALLS_SLOTS; /* written rightly, and wrong */
    buf_clear(&text);
    calls_state_print(&s, &text);
    assert_int_equal(calls_state_parse(buf_slice(&text), &back, &e), -1);
    calls_state_free(&back);
    calls_state_free(&s);
    buf_deinit(&text);
    buf_deinit(&again);
}

/* ---- the filter ---- */

/* Runs it for a call: of what it is made here, loads, jumps and returns, nothing else. */
static uint32_t filter_run(const struct sock_filter *code, uint32_t n, uint32_t arch, int nr)
{
    uint32_t a = 0;
    for (uint32_t at = 0; at < n; at++) {
        const struct sock_filter *i = &code[at];
        switch (i->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            a = i->k == offsetof(struct seccomp_data, arch) ? arch : (uint32_t)nr;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K: at += a == i->k ? i->jt : i->jf; break;
        case BPF_RET | BPF_K: return i->k;
        default: fail_msg("instruction %x", i->code);
        }
    }
    fail_msg("it has no end");
    return 0;
}

static void test_filter(void **state)
{
    struct sock_filter code[CALLS_FILTER_MAX];
    struct syscall_set all = {0}, some = {0};
    uint32_t arch = 0;
    (void)state;
    for (uint32_t i = 0; i < SYSCALLS; i++)
        syscall_set_add(&all, i);
    (void)syscall_set_named(&some, SLICE("syncs"));
    (void)syscall_set_named(&some, SLICE("write"));
    for (int set = 0; set < 2; set++) {
        const struct syscall_set *calls = set ? &all : &some;
        uint32_t n = calls_filter(calls, code);
        assert_in_range(n, 5, CALLS_FILTER_MAX);
        arch = code[1].k;
        for (int nr = 0; nr < 600; nr++) {
            uint32_t id = calls_of_number(nr);
            bool told = id < SYSCALLS && syscall_set_has(calls, id);
            assert_int_equal(filter_run(code, n, arch, nr),
                             told ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW);
            assert_int_equal(filter_run(code, n, arch + 1, nr), SECCOMP_RET_ALLOW);
            assert_int_equal(filter_run(code, n, arch, nr | 0x40000000), SECCOMP_RET_ALLOW);
        }
    }
}

/* ---- plans ---- */

#define PLAN(fault)                                                                                    \
    "version: 1\nplan: p\nnodes:\n  a: { start: exec a, tags: [t] }\n  b: { start: \"exec b 'c'\" }\n" \
    "roles: { leader: who }\nclients: { c: { command: x, every: 1s } }\nexpect:\n  - alive: true\n"    \
    "events:\n  - trigger: { at: 1s }\n    fault: { type: syscall, " fault " }\n"

static void test_plans(void **state)
{
    static const struct {
        const char *text, *said;
        uint32_t col;
    } cases[] = {
        {PLAN("target: a, call: fsync, error: ENOENT"),
         "fsync does not fail with \"ENOENT\"; it may with EIO, ENOSPC, EDQUOT", 60},
        {PLAN("target: a, call: [write, fsync], error: EPIPE"), "fsync does not fail with", 69},
        {PLAN("target: a, call: fsync, error: EWHAT"), "fsync does not fail with \"EWHAT\"", 60},
        {PLAN("target: a, call: fsnyc, error: EIO"), "did you mean \"fsync\"?", 46},
        {PLAN("target: a, call: [], error: EIO"), "is empty", 46},
        {PLAN("target: a, call: fsync"), "needs one of error latency short", 0},
        {PLAN("target: a, error: EIO"), "needs \"call\"", 0},
        {PLAN("call: fsync, error: EIO"), "needs \"target\"", 0},
        {PLAN("target: a, call: fsync, short: true"), "fsync cannot be short", 60},
        {PLAN("target: a, call: write, short: 1"), "between 0 and 1", 60},
        {PLAN("target: a, call: write, short: false"), "between 0 and 1", 60},
        {PLAN("target: a, call: write, short: 0.5, error: EIO"), "exclude each other", 60},
        {PLAN("target: a, call: write, error: EIO, descriptor: -1"), "descriptor", 0},
        {PLAN("target: a, call: write, error: EIO, nth: 0"), "nth", 0},
        {PLAN("target: a, call: write, error: EIO, start: x"), "does not take \"start\"", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan p;
        struct err e = {0};
        assert_int_equal(plan_parse(&p, slice_of(cases[i].text), &e), -1);
        if (!strstr(e.text, cases[i].said) ||
            (cases[i].col && (e.col != cases[i].col || e.line != 12)))
            fail_msg("%s: %u:%u %s", cases[i].text, e.line, e.col, e.text);
        plan_free(&p);
    }
}

/* Of a group only those calls that may have the error, and only nodes that may be meant, are watched. */
static void test_wrapped(void **state)
{
    static const struct {
        const char *text, *a, *b; /* calls that are watched; NULL: as it was written */
    } cases[] = {
        {PLAN("target: a, call: syncs, error: EDQUOT"), ".calls-a fsync fdatasync syncfs --", NULL},
        {PLAN("target: b, call: writes, short: true"), NULL,
         ".calls-b write pwrite64 writev pwritev -- /bin/sh -c 'exec b '\\''c'\\'''"},
        {PLAN("target: tag:t, call: connect, latency: 1s"), ".calls-a connect --", NULL},
        {PLAN("target: role:leader, call: connect, latency: 1s"), ".calls-a connect --",
         ".calls-b connect --"},
        {PLAN("target: any, call: connect, latency: 1s"), ".calls-a connect --",
         ".calls-b connect --"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan p;
        struct err e = {0};
        struct arena a = {0};
        if (plan_parse(&p, slice_of(cases[i].text), &e))
            fail_msg("%s: %s", cases[i].text, e.text);
        for (uint32_t node = 0; node < 2; node++) {
            const char *wanted = node ? cases[i].b : cases[i].a;
            struct buf got = BUF_INIT(4000);
            buf_add(&got, wrap_start(&p, node, &a));
            if (wanted ? !strstr(buf_text(&got), wanted)
                       : !slice_eq(buf_slice(&got), p.nodes.at[node].start))
                fail_msg("%s\n%s", cases[i].text, buf_text(&got));
            buf_deinit(&got);
        }
        arena_deinit(&a);
        plan_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_paths),
        cmocka_unit_test(test_rules),   cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_chance),  cmocka_unit_test(test_state),
        cmocka_unit_test(test_filter),  cmocka_unit_test(test_plans),
        cmocka_unit_test(test_wrapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
