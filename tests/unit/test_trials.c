/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of trials: what is refused, with its place and a sentence; what is understood; variables. */
#include <stdio.h>

#include "base/clock.h"
#include "support/unit.h"
#include "trial/trial.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))

#define HEAD                                                                                       \
    "version: 1\ntrials: kv\nnodes:\n  a: { start: \"kv {port:c}\", ports: c }\n"                  \
    "  b: { start: \"kv {port:c} {port:a.c}\", ports: [c, r] }\n"
#define TAIL            "workload:\n  - { phase: w, each: { redis: c, operations: \"SET {key} {value}\" } }\n"
#define FILE_WITH(more) HEAD TAIL more "\n"
#define NODE(text)                                                                                 \
    "version: 1\ntrials: kv\nnodes:\n  a: { " text " }\nworkload:\n  - { phase: w, each: { "       \
    "command: x } }\n"
#define PHASE(text) HEAD "workload:\n  - { phase: w, " text " }\n"

static const struct {
    const char *text;
    uint32_t line;
    const char *says;
} refused[] = {
    {"[]\n", 1, "map"},
    {"version: 2\n", 1, "must be"},
    {"version: 1\ntrials: kv\n", 1, "nodes"},
    {HEAD, 1, "workload"},
    {"version: 1\ntrials: k v\nnodes: { a: { start: x } }\nworkload: [ { phase: w, each: { "
     "command: x } } ]\n",
     2, "the name of trials"},
    {FILE_WITH("nods: 1"), 8, "nods"},
    {NODE("ready: x"), 4, "start: COMMAND"},
    {NODE("start: x, strat: y"), 4, "did you mean \"start\""},
    {NODE("start: \"x {port:c}\""), 4, "has no port \"c\""},
    {NODE("start: \"x {port:z.c}\""), 4, "there is no node \"z\""},
    {NODE("start: x, ready: \"y {dir:z}\""), 4, "there is no node \"z\""},
    {NODE("start: x, env: { A: \"{port:c}\" }"), 4, "has no port \"c\""},
    {NODE("start: x, ports: [c, c]"), 4, "named twice"},
    {NODE("start: x, ports: \"a b\""), 4, "the name of a port"},
    {NODE("start: x, alive: { redis: c }"), 4, "has no port \"c\""},
    {NODE("start: x, alive: { within: 1s }"), 4, "needs one of command"},
    {NODE("start: x, ports: c, alive: { redis: c, memcached: c }"), 4, "only one of"},
    {NODE("start: x, ports: c, alive: { redis: c, command: y }"), 4, "only one of"},
    {PHASE("always: true"), 7, "a phase needs clients"},
    {PHASE("clients: { x: { command: y } }"), 7, "there is no node \"x\""},
    {PHASE("clients: { x: { node: a } }"), 7, "needs one of command"},
    {PHASE("clients: { x: { node: a, redis: c } }"), 7, "needs operations"},
    {PHASE("clients: { x: { node: a, redis: r, operations: [GET] } }"), 7, "has no port \"r\""},
    {PHASE("clients: { x: { node: a, command: y, operations: [GET] } }"), 7, "of redis and"},
    {PHASE("clients: { x: { node: a, command: \"y {port:q}\" } }"), 7, "has no port \"q\""},
    {PHASE("each: { command: y, node: a }"), 7, "leave out \"node\""},
    {PHASE("each: { command: y }, clients: { a: { command: z } }"), 7, "are called \"a\""},
    {PHASE("each: { command: y } }\n  - { phase: w, each: { command: y }"), 8, "two phases"},
    {PHASE("each: { redis: c, operations: [GET], count: 0 }"), 7, "from 1 to"},
    {FILE_WITH("policies: bsr"), 8, "did you mean \"bsrr\""},
    {FILE_WITH("policies: [point]"), 8, "for outfox replay"},
    {FILE_WITH("experiments: { error: false }"), 8, "needs one of error"},
    {FILE_WITH("experiments: { delay: 0s }"), 8, "greater than 0"},
    {FILE_WITH("epsilon: 2"), 8, "\"epsilon\" must be a number"},
    {FILE_WITH("budget: 0"), 8, "budget"},
    {FILE_WITH("harm: [z]"), 8, "there is no node \"z\""},
    {FILE_WITH("only: fsync"), 8, "FILE:FUNCTION:CALLEE"},
    {FILE_WITH("except: [\"a:b:c:d\"]"), 8, "FILE:FUNCTION:CALLEE"},
    {FILE_WITH("registrars: [ { function: x } ]"), 8, "argument"},
    {FILE_WITH("checkers: { clean: [126] }"), 8, "from 0 to 125"},
    {FILE_WITH("checkers: { patterns: \"(\" }"), 8, "patterns"},
    {FILE_WITH("checkers: { invariants: [ { name: x } ] }"), 8, "command"},
    {FILE_WITH("checkers: { invariants: [ { command: \"x {port:z}\" } ] }"), 8, "has no port"},
    {FILE_WITH("before: \"x {dir:z}\""), 8, "there is no node"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(refused); i++) {
        struct trials t;
        struct err e = {0};
        int status = trials_parse(&t, slice_of(refused[i].text), &e);
        if (status != -1 || e.line != refused[i].line || !strstr(e.text, refused[i].says))
            fail_msg("%s: %d, %u:%u %s", refused[i].text, status, e.line, e.col, e.text);
        trials_free(&t);
    }
}

static void load(struct trials *t, const char *text)
{
    struct err e = {0};
    if (trials_parse(t, slice_of(text), &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
}

static void test_defaults(void **state)
{
    struct trials t;
    (void)state;
    load(&t, FILE_WITH(""));
    assert_int_equal(t.nodes.n, 2);
    assert_int_equal(t.ports.n, 3);
    assert_int_equal(t.phases.at[0].clients.n, 2);
    assert_int_equal(t.phases.at[0].clients.at[1].node, 1);
    assert_int_equal(t.phases.at[0].clients.at[1].at_port, 1);
    assert_true(t.phases.at[0].clients.at[0].talk == TALKS_REDIS);
    assert_int_equal(t.acts, OUTFOX_ERROR);
    assert_true(t.policy_names.n == 1 && slice_is(t.policy_names.at[0], "bsrr"));
    assert_true(t.budget == 5 && t.epsilon < 0.011 && t.references == 3 && t.parallel == 1);
    assert_true(t.nodes.at[0].harmed && t.nodes.at[1].harmed);
    assert_true(t.checkers.crash && t.checkers.client && t.checkers.log && t.checkers.restart);
    assert_true(regex_found(t.checkers.log_patterns.at[0].regex, SLICE("# Warning: x")));
    assert_true(regex_found(t.checkers.log_patterns.at[0].regex, SLICE("MISCONF Errors")));
    assert_false(regex_found(t.checkers.log_patterns.at[0].regex, SLICE("merry and terse")));
    trials_free(&t);
}

static void test_all(void **state)
{
    struct trials t;
    (void)state;
    load(&t, FILE_WITH("experiments: { error: true, delay: 3s, short: true }\n"
                       "policies: [bsrr, random]\nharm: b\nessential: SET\n"
                       "only: [\"*aof.c:*:*\", \"*:*:fsync\"]\nexcept: \"*:main:*\"\n"
                       "registrars: [ { function: aeCreate*, argument: 2 } ]\ncontrol: 4\n"
                       "checkers: { crash: off, clean: 3, log: off,"
                       " invariants: [ { command: \"x {port:a.c}\" } ] }"));
    assert_int_equal(t.acts, OUTFOX_ERROR | OUTFOX_DELAY | OUTFOX_SHORT);
    assert_true(t.delay_ns == SECONDS(3) && t.policy_names.n == 2 && t.control == 4);
    assert_true(!t.nodes.at[0].harmed && t.nodes.at[1].harmed);
    assert_true(!t.checkers.crash && !t.checkers.log && t.checkers.client);
    assert_true(slice_is(t.checkers.invariants.at[0].name, "x {port:a.c}"));
    assert_true(slice_is(t.registrars.at[0].kind, "callback"));
    assert_true(trials_site_wanted(&t, SLICE("src/aof.c"), SLICE("flush"), SLICE("write")));
    assert_true(trials_site_wanted(&t, SLICE("x.c"), SLICE("f"), SLICE("fsync")));
    assert_false(trials_site_wanted(&t, SLICE("x.c"), SLICE("f"), SLICE("write")));
    assert_false(trials_site_wanted(&t, SLICE("x.c"), SLICE("main"), SLICE("fsync")));
    trials_free(&t);
}

/* ---- variables ---- */

static const struct {
    uint32_t node;
    const char *text, *is;
} expanded[] = {
    {0, "kv {port:c}", "kv 7000"},
    {1, "kv {port:c} {port:a.c} {port:r}", "kv 7001 7000 7002"},
    {1, "{node} in {dir}, not {dir:a}", "b in /t/b, not /t/a"},
    {0, "a() { echo ${X}; }; {port:", "a() { echo ${X}; }; {port:"},
    {0, "{{node}}", "{a}"},
    {0, "", ""},
};

static void add_env(void *user, slice name, slice value)
{
    struct buf *out = user;
    buf_addf(out, "%.*s=%.*s\n", SLICE_ARG(name), SLICE_ARG(value));
}

static void test_variables(void **state)
{
    const uint16_t ports[] = {7000, 7001, 7002};
    const slice dirs[] = {SLICE("/t/a"), SLICE("/t/b")};
    const struct trials_seats seats = {ports, dirs};
    struct buf out = BUF_INIT(4000);
    struct trials t;
    (void)state;
    load(&t, FILE_WITH(""));
    for (size_t i = 0; i < LENGTH(expanded); i++) {
        buf_clear(&out);
        trials_expand(&t, &seats, expanded[i].node, slice_of(expanded[i].text), &out);
        assert_string_equal(buf_text(&out), expanded[i].is);
    }
    buf_clear(&out);
    trials_env(&t, &seats, 1, add_env, &out);
    assert_string_equal(buf_text(&out),
                        "OUTFOX_NAME=b\nOUTFOX_DIR=/t/b\nOUTFOX_DIR_A=/t/a\nOUTFOX_DIR_B=/t/b\n"
                        "OUTFOX_PORT_A_C=7000\nOUTFOX_PORT_B_C=7001\nOUTFOX_PORT_C=7001\n"
                        "OUTFOX_PORT_B_R=7002\nOUTFOX_PORT_R=7002\n");
    buf_deinit(&out);
    trials_free(&t);
}

static void test_operations(void **state)
{
    struct buf out = BUF_INIT(4000);
    struct trials t;
    (void)state;
    load(&t, PHASE("clients: { a: { redis: c, keys: 2, value: 4,"
                   " operations: [\"SET {key} {value}\", \"GET {key} {n} {x}\"] } }"));
    for (uint32_t i = 0; i < 5; i++) {
        trials_operation(&t.phases.at[0].clients.at[0], i, &out);
        buf_addc(&out, '\n');
    }
    assert_string_equal(buf_text(&out), "SET key0 0bcd\nGET key0 1 {x}\nSET key1 2bcd\n"
                                        "GET key1 3 {x}\nSET key0 4bcd\n");
    buf_deinit(&out);
    trials_free(&t);
}

static void test_print(void **state)
{
    struct buf out = BUF_INIT(1 << 16), schema = BUF_INIT(1 << 18);
    struct trials t;
    (void)state;
    load(&t, FILE_WITH("harm: b\ncontrol: 4"));
    trials_print(&t, &out);
    assert_non_null(strstr(buf_text(&out), "kv {port:c} {port:a.c}"));
    assert_non_null(strstr(buf_text(&out), "SET {key} {value}"));
    trials_schema(&schema);
    assert_non_null(strstr(buf_text(&schema), "\"workload\""));
    buf_deinit(&out);
    buf_deinit(&schema);
    trials_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all),        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_operations), cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
