/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of simulated systems: when they are made and how long they take, with faults and
 * without; side by side and in the background; where they go, how they are named and what they ask. */
#include "support/sim_lab.h"

/* ---- calls and time ---- */

static void test_time(void **state)
{
    static const struct calls_case cases[] = {
        {"", NULL, ""},
        {"[{ call: b GET /empty }, { call: b GET /ok }]", NULL,
         "b GET /empty 1-2 200; b GET /ok 2-3 200; "},
        {"[{ sleep: 20ms }, { call: b GET /ok }]", NULL, "b GET /ok 21-22 200; "},
        {"[{ call: b GET /ok }, { call: c GET / }]", "b * : 503",
         "b GET /ok [503] 1-1.001 503; c GET / 1.001-2.001 200; "},
        {"[{ call: b GET /slow }]", NULL, "b GET /slow 1-5003 200; c GET / 5002-5003 200; "},
        /* timeouts: the caller goes on, and so does what it called */
        {"[{ call: b GET /slow, timeout: 2s }, { call: b GET /ok }]", NULL,
         "b GET /slow 1-2001 timeout; c GET / 5002-5003 200; b GET /ok 2001-2002 200; "},
        {"[{ call: b GET /slow, timeout: 5002ms }]", NULL,
         "b GET /slow 1-5003 200; c GET / 5002-5003 200; "},
        {"[{ call: b GET /slow, timeout: 5001ms }]", NULL,
         "b GET /slow 1-5002 timeout; c GET / 5002-5003 200; "},
        /* hold */
        {"[{ call: b GET /ok }, { call: c GET / }]", "b * : hold",
         "b GET /ok [hold] 1-60001 timeout; c GET / 60001-60002 200; "},
        {"[{ call: b GET /ok, timeout: 2s }, { call: c GET / }]", "b * : hold",
         "b GET /ok [hold] 1-2001 timeout; c GET / 2001-2002 200; "},
        /* delay */
        {"[{ call: b GET /ok }]", "b * : delay:2s", "b GET /ok [delay:2s] 1-2002 200; "},
        {"[{ call: b GET /ok, timeout: 3s }]", "b * : delay:2s",
         "b GET /ok [delay:2s] 1-2002 200; "},
        {"[{ call: b GET /ok, timeout: 2001ms }]", "b * : delay:2s",
         "b GET /ok [delay:2s] 1-2002 200; "},
        {"[{ call: b GET /ok, timeout: 2s }]", "b * : delay:2s",
         "b GET /ok [delay:2s] 1-2001 timeout; "},
        {"[{ call: b GET /slow, timeout: 6s }]", "b * : delay:2s",
         "b GET /slow [delay:2s] 1-6001 timeout; c GET / 5002-5003 200; "},
        /* lost-reply: the service's work takes its time */
        {"[{ call: b GET /slow }]", "b * : lost-reply:503",
         "b GET /slow [lost-reply:503] 1-5003 503; c GET / 5002-5003 200; "},
        {"[{ call: b GET /slow }]", "b * : 503", "b GET /slow [503] 1-1.001 503; "},
        /* retries */
        {"[{ call: b GET /ok, retry: { times: 2, delay: 100ms } }]", "b * #* : 503",
         "b GET /ok [503] 1-1.001 503; b GET /ok #1 [503] 101.001-101.002 503; b GET /ok #2 [503] 201.002-201.003 503; "},
        {"[{ call: b GET /ok, retry: { times: 5 } }]", "b * : 503;b * #1 : reset",
         "b GET /ok [503] 1-1.001 503; b GET /ok #1 [reset] 1.001-1.002 reset; b GET /ok #2 1.002-2.002 200; "},
        {"[{ call: b GET /ok, timeout: 1s, retry: { times: 1 } }]", "b * #* : hold",
         "b GET /ok [hold] 1-1001 timeout; b GET /ok #1 [hold] 1001-2001 timeout; "},
        {"[{ call: b GET /ok, retry: { times: 0 } }]", "b * #* : 503",
         "b GET /ok [503] 1-1.001 503; "},
        {"[{ call: b GET /ok, retry: { times: 3, on: timeout } }]", "b * #* : 503",
         "b GET /ok [503] 1-1.001 503; "},
        /* names */
        {"[{ each: [1, 2, 30], as: i, do: { call: 'b GET /p/{i}' } }, { call: b GET /p/x }]", NULL,
         "b GET /p/[id] 1-2 200; b GET /p/[id] #1 2-3 200; b GET /p/[id] #2 3-4 200; b GET /p/x 4-5 200; "},
        {"[{ call: c rpc.C/Do }]", "c rpc.C/Do : grpc:14",
         "c rpc.C/Do [grpc:14] 1-1.001 grpc:14; "},
    };
    (void)state;
    CHECK_CALLS("", cases);
}

/* A caller that has more patience than 60s keeps it under `hold`: it waits until its own timeout.
 */
static void test_hold_long_timeout(void **state)
{
    static const struct calls_case cases[] = {
        {"[{ call: b GET /ok, timeout: 2m }]", "b * : hold", "b GET /ok [hold] 1-120001 timeout; "},
    };
    (void)state;
    CHECK_CALLS("", cases);
}

static void test_latency(void **state)
{
    static const struct {
        const char *latency, *fault;
        int64_t ns;
    } rows[] = {
        {"20ms", "", 20000000},
        {"0s", "", 1},
        {"1ns", "", 1},
        {"20ms", "b * : 503", SIM_FAULT_NS},
        {"0s", "b * : reset", SIM_FAULT_NS},
        {"20ms", "b * : delay:1s", 1020000000},
        {"20ms", "b * : lost-reply:503", 20000000},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf text = BUF_INIT(1000), answer = BUF_INIT(1000);
        struct err e = {0};
        buf_addf(
            &text,
            "system: l\nservices:\n  a:\n    GET /: [{ sleep: 1ns }, { call: b GET / }]\n  b:\n"
            "    latency: %s\n    GET /:\nscenarios: { s: { request: a GET / } }\n",
            rows[i].latency);
        assert_int_equal(lab_init_text(&lab, buf_text(&text), &e), 0);
        add_faults(&lab, rows[i].fault);
        run(&lab, 1, &answer);
        const struct call *c = &lab.trace.calls.at[1];
        assert_int_equal(c->start_ns, SIM_LATENCY_NS + 1);
        assert_int_equal(c->end_ns - c->start_ns, rows[i].ns);
        buf_deinit(&text);
        buf_deinit(&answer);
        lab_deinit(&lab);
    }
}

/* Did the service do its work, though its caller saw a failure? */
static void test_effects(void **state)
{
    static const struct {
        const char *mode, *answer;
    } rows[] = {
        {"503", "200 [0, 503]"},
        {"reset", "200 [0, 0]"},
        {"refuse", "200 [0, 0]"},
        {"close", "200 [0, 0]"},
        {"hold", "200 [0, 0]"},
        {"grpc:14", "200 [0, 14]"},
        {"200", "200 [0, 200]"},
        {"lost-reply:503", "200 [1, 503]"},
        {"lost-reply:reset", "200 [1, 0]"},
        {"lost-reply:hold", "200 [1, 0]"},
        {"delay:1s", "200 [1, 200]"},
        {"delay:1m", "200 [1, 0]"},
        {"rst-stream:8", "200 [0, 0]"},
        {"goaway", "200 [0, 0]"},
        {"reset:1", "200 [1, 200]"},
        {"truncate:0", "200 [1, 0]"},
        {"corrupt:empty", "200 [1, 200]"},
        {"delay-reply:1m", "200 [1, 0]"},
        {"slow:1", "200 [1, 200]"},
        {"duplicate", "200 [2, 200]"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf fault = BUF_INIT(100);
        buf_addf(&fault, "b POST /count : %s", rows[i].mode);
        check_answers(
            &(struct answer_case){"[{ call: b POST /count, as: x, timeout: 10s }, { call: b GET "
                                  "/count, as: y }, { reply: 200, body: ['{y.body}', "
                                  "'{x.status}'] }]",
                                  buf_text(&fault), rows[i].answer},
            1);
        buf_deinit(&fault);
    }
}

/* The record of a call: what was seen, whether the service got it, and what it answered. */
static void test_records(void **state)
{
    static const struct {
        const char *mode;
        outcome seen, reply;
        bool handled;
    } rows[] = {
        {"", OUTCOME_OK, OUTCOME_OK, true},
        {"503", OUTCOME(OUT_STATUS, 503), 0, false},
        {"lost-reply:503", OUTCOME(OUT_STATUS, 503), OUTCOME_OK, true},
        {"delay:1s", OUTCOME_OK, OUTCOME_OK, true},
        {"delay:1m", OUTCOME(OUT_TIMEOUT, 0), OUTCOME_OK, true},
        {"hold", OUTCOME(OUT_TIMEOUT, 0), 0, false},
        {"goaway", OUTCOME(OUT_CLOSED, 0), 0, false},
        {"reset:9", OUTCOME(OUT_RESET, 0), OUTCOME_OK, true},
        {"corrupt:remove=v", OUTCOME_OK, OUTCOME_OK, true},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf fault = BUF_INIT(100), answer = BUF_INIT(100);
        start(&lab, "", "[{ call: b GET /ok, timeout: 10s }, { reply: 418 }]");
        if (rows[i].mode[0])
            buf_addf(&fault, "b GET /ok : %s", rows[i].mode);
        add_faults(&lab, buf_text(&fault));
        run(&lab, 1, &answer);
        const struct call *root = &lab.trace.calls.at[0], *c = &lab.trace.calls.at[1];
        assert_int_equal(lab.trace.calls.n, 2);
        assert_int_equal(root->parent, CALL_NONE);
        assert_int_equal(root->seen, OUTCOME(OUT_STATUS, 418));
        assert_true(root->handled && root->reply == root->seen && root->start_ns == 0);
        assert_true(root->end_ns >= c->end_ns && c->end_ns > c->start_ns);
        assert_int_equal(c->parent, 0);
        assert_int_equal(c->seen, rows[i].seen);
        assert_int_equal(c->handled, rows[i].handled);
        if (c->handled)
            assert_int_equal(c->reply, rows[i].reply);
        assert_int_equal(c->mode == MODE_NONE, rows[i].mode[0] == 0);
        if (c->mode != MODE_NONE)
            assert_int_equal(c->fault_point, c->uid);
        buf_deinit(&fault);
        buf_deinit(&answer);
        lab_deinit(&lab);
    }
}

/* The client's own request is no fault point. */
static void test_request_is_not_failed(void **state)
{
    static const struct answer_case cases[] = {
        {"{ reply: 200 }", "a * #* : 503;* * #* : 503", "200 null"}};
    (void)state;
    CHECK_ANSWERS(cases);
}

/* ---- parallel and background ---- */

static void test_parallel_time(void **state)
{
    static const struct calls_case cases[] = {
        {"[{ parallel: [{ call: b GET /ok }, { call: b GET /text }] }, { call: c GET / }]", NULL,
         "b GET /ok 1-2 200; b GET /text 1-2 200; c GET / 2-3 200; "},
        {"[{ parallel: [{ sleep: 10ms }, { call: b GET /ok }] }, { call: c GET / }]", NULL,
         "b GET /ok 1-2 200; c GET / 11-12 200; "}, /* waits for all */
        {"[{ parallel: [[{ call: b GET /ok }, { call: b GET /ok }], { call: b GET /ok }] }]", NULL,
         "b GET /ok 1-2 200; b GET /ok #1 2-3 200; b GET /ok #2 1-2 200; "},
        {"[{ parallel: [{ sleep: 10ms }, { call: b GET /ok }] }, { call: c GET / }]", "b * : 503",
         "b GET /ok [503] 1-1.001 503; c GET / 11-12 200; "},
        {"[{ parallel: [{ sleep: 10ms }, { call: b GET /ok }], until: first-error }, { call: c GET / }]",
         "b * : 503", "b GET /ok [503] 1-1.001 503; c GET / 1.001-2.001 200; "},
        {"[{ parallel: [{ sleep: 10ms }, { call: b GET /ok }], until: first-error }, { call: c GET / }]",
         NULL, "b GET /ok 1-2 200; c GET / 11-12 200; "},
        {"[{ parallel: [{ call: b GET /ok }], until: all, on: { failed: { call: c GET / } } }]",
         "b * : 503", "b GET /ok [503] 1-1.001 503; c GET / 1.001-2.001 200; "},
        {"[{ parallel: [{ call: b GET /ok }], on: { failed: { call: c GET / } } }]", NULL,
         "b GET /ok 1-2 200; "},
        {"[{ parallel: [{ call: b GET /ok }, { call: b GET /text }], on: { 503: { call: c GET / } } }]",
         "b GET /text : 503",
         "b GET /ok 1-2 200; b GET /text [503] 1-1.001 503; c GET / 2-3 200; "},
        {"[{ parallel: [{ parallel: [{ call: b GET /ok }, { sleep: 5ms }] }, { call: b GET /text }] }, "
         "{ call: c GET / }]",
         NULL, "b GET /ok 1-2 200; b GET /text 1-2 200; c GET / 6-7 200; "},
        {"[{ parallel: [{ sleep: 1ms }] }, { call: c GET / }]", NULL, "c GET / 2-3 200; "},
    };
    (void)state;
    CHECK_CALLS("", cases);
}

static void test_parallel_names(void **state)
{
    static const struct answer_case cases[] = {
        /* a branch does not see what another one does */
        {"[{ parallel: [{ set: { v: 1 } }, { set: { w: '{v}' } }] }, { reply: 200, body: ['{v}', '{w}'] }]",
         NULL, "200 [1, null]"},
        {"[{ parallel: [{ call: b GET /ok, as: x }, { if: x.called, then: { set: { v: seen } } }] }, "
         "{ reply: 200, body: ['{x.called}', '{v}'] }]",
         NULL, "200 [true, null]"},
        {"[{ set: { v: 0 } }, { parallel: [{ add: { v: 1 } }, { add: { w: '{v}' } }] }, "
         "{ reply: 200, body: ['{v}', '{w}'] }]",
         NULL, "200 [1, 0]"},
        /* its own steps it does see */
        {"[{ parallel: [[{ set: { v: 1 } }, { set: { w: '{v}' } }]] }, { reply: 200, body: '{w}' }]",
         NULL, "200 1"},
        /* afterwards all names are there */
        {"[{ parallel: [{ call: b GET /ok, as: x }, { call: b GET /text, as: y }] }, "
         "{ reply: 200, body: ['{x.body/v}', '{y.body}'] }]",
         NULL, "200 [1, \"hi\"]"},
        {"[{ parallel: [{ call: b GET /ok, as: x }, { call: b GET /text, as: y }] }, "
         "{ reply: 200, body: ['{x.status}', '{y.status}'] }]",
         "b GET /text : 503", "200 [200, 503]"},
        {"[{ parallel: [{ set: { v: 1 } }, { set: { v: 2 } }] }, { reply: 200, body: '{v}' }]",
         NULL, "200 2"},
        /* the group has gone on by then: what the others did is not known */
        {"[{ parallel: [{ call: b GET /ok, as: x }, { call: b GET /text, as: y }], until: first-error }, "
         "{ reply: 200, body: ['{x.called}', '{y.status}'] }]",
         "b GET /text : 503", "200 [false, 503]"},
        {"[{ parallel: [{ call: b GET /ok, as: x }, { call: b GET /text, as: y }], until: first-error }, "
         "{ reply: 200, body: ['{x.called}', '{y.called}'] }]",
         NULL, "200 [true, true]"},
        {"[{ parallel: [{ call: b GET /ok, as: x }, { call: b GET /text }], until: first-error, "
         "on: { failed: { reply: 502 } } }]",
         "b GET /text : 503", "502 null"},
        /* state is shared */
        {"[{ parallel: [{ call: b POST /count }, { call: b POST /count }, { add: { state.n: 3 } }] }, "
         "{ call: b GET /count, as: x }, { reply: 200, body: ['{x.body}', '{state.n}'] }]",
         NULL, "200 [2, 3]"},
    };
    (void)state;
    CHECK_ANSWERS(cases);
}

/* A branch fails when its last call does, wherever in the branch that stands. */
static void test_parallel_last_call(void **state)
{
    static const struct answer_case cases[] = {
        {"[{ parallel: [[{ call: b GET /ok }, { call: c GET / }]], on: { failed: { reply: 503 } } }]",
         "b * : 503", "200 null"},
        {"[{ parallel: [[{ call: b GET /ok }, { call: c GET / }]], on: { failed: { reply: 503 } } }]",
         "c * : 503", "503 null"},
        {"[{ parallel: [[{ call: b GET /ok }, { if: true, then: { call: c GET / } }]], "
         "on: { failed: { reply: 503 } } }]",
         "c * : 503", "503 null"},
        {"[{ parallel: [{ each: [1], as: i, do: { call: c GET / } }], on: { failed: { reply: 503 } } }]",
         "c * : 503", "503 null"},
        {"[{ parallel: [{ call: b GET /ok, on: { failed: { call: c GET / } } }], "
         "on: { failed: { reply: 503 } } }]",
         "b * : 503", "200 null"},
    };
    (void)state;
    CHECK_ANSWERS(cases);
}

/* In a handler that names nothing. */
static void test_parallel_nameless(void **state)
{
    struct lab lab;
    struct err e = {0};
    struct buf answer = BUF_INIT(100);
    (void)state;
    assert_int_equal(
        lab_init_text(&lab,
                      "system: p\nservices: { a: { GET /: [{ parallel: [{ sleep: 1s }] }] } }\n"
                      "scenarios: { s: { request: a GET / } }\n",
                      &e),
        0);
    run(&lab, 1, &answer);
    assert_string_equal(buf_text(&answer), "200 null");
    buf_deinit(&answer);
    lab_deinit(&lab);
}

static void test_background(void **state)
{
    static const struct calls_case cases[] = {
        {"[{ call: b GET /slow, background: true }, { call: c GET / }]", NULL,
         "b GET /slow 1-5003 200; c GET / 5002-5003 200; c GET / 1-2 200; "},
        {"[{ call: b GET /ok, background: true }, { call: b GET /ok }]", "b * #* : 503",
         "b GET /ok [503] 1-1.001 503; b GET /ok #1 [503] 1-1.001 503; "},
        {"[{ call: b GET /ok, background: false }, { call: c GET / }]", NULL,
         "b GET /ok 1-2 200; c GET / 2-3 200; "},
    };
    static const struct answer_case effects[] = {
        {"[{ call: b POST /count, background: true }, { call: b GET /count, as: x }, "
         "{ reply: 200, body: '{x.body}' }]",
         NULL, "200 1"},
        {"[{ call: b POST /count, background: true }, { reply: 201 }]", "b * : hold", "201 null"},
    };
    (void)state;
    CHECK_CALLS("", cases);
    CHECK_ANSWERS(effects);
}

/* Nobody waits for a background call, so its outcome is nobody's. */
static void test_background_in_parallel(void **state)
{
    static const struct answer_case cases[] = {
        {"[{ parallel: [{ call: b GET /ok, background: true }, { call: c GET / }], "
         "on: { failed: { reply: 503 } } }]",
         "b * : 503", "200 null"},
        {"[{ parallel: [[{ call: c GET / }, { call: b GET /ok, background: true }]], "
         "on: { failed: { reply: 503 } } }]",
         "c * : 503", "503 null"},
    };
    (void)state;
    CHECK_ANSWERS(cases);
}

/* ---- where calls go ---- */

static void test_urls(void **state)
{
    static const struct answer_case answers[] = {
        {"[{ call: 'GET {url:b}/p/7', as: x }, { reply: 200, body: '{x.body}' }]", NULL,
         "200 \"7\""},
        {"[{ call: b GET /url, as: x }, { call: 'GET {x.body/url}', as: y }, "
         "{ reply: 200, body: '{y.body}' }]",
         NULL, "200 \"linked\""},
        {"[{ call: 'GET {url:b}/nowhere', as: x }, { reply: 200, body: ['{x.status}', '{x.body}'] }]",
         NULL, "200 [404, null]"},
        {"[{ call: 'POST {url:b}/ok', as: x }, { reply: 200, body: '{x.status}' }]", NULL,
         "200 404"},
        {"[{ call: 'GET {url:c}', as: x }, { reply: 200, body: '{x.body}' }]", NULL, "200 \"see\""},
        {"[{ set: { u: 'http://nobody/ok' } }, { call: 'GET {u}', as: x }, "
         "{ reply: 200, body: ['{x.status}', '{x.conn}', '{x.called}'] }]",
         NULL, "200 [0, true, true]"},
        {"[{ call: b GET /text, as: x }, { call: 'GET {x.body/url}', as: y }, "
         "{ reply: 200, body: '{y.conn}' }]",
         NULL, "200 true"}, /* null is no address */
        {"[{ call: 'GET {url:ext}/x', as: x }, { reply: 200, body: '{x.status}' }]", NULL,
         "200 200"},
        {"[{ set: { s: b } }, { call: '{s} GET /text', as: x }, { reply: 200, body: '{x.body}' }]",
         NULL, "200 \"hi\""},
        {"[{ set: { s: nobody } }, { call: '{s} GET /text', as: x }, { reply: 200, body: '{x.conn}' }]",
         NULL, "200 true"},
    };
    static const struct calls_case calls[] = {
        {"[{ call: 'GET {url:b}/p/7' }]", NULL, "b GET /p/[id] 1-2 200; "},
        {"[{ call: 'GET {url:b}/nowhere/42?x=1' }]", NULL, "b GET /nowhere/[id] 1-2 404; "},
        {"[{ call: 'GET {url:b}/nowhere' }]", "b * : reset",
         "b GET /nowhere [reset] 1-1.001 reset; "},
        {"[{ call: 'GET http://nobody/x' }, { call: c GET / }]", "* * #* : 503",
         "c GET / [503] 1-1.001 503; "},
    };
    (void)state;
    CHECK_ANSWERS(answers);
    CHECK_CALLS("", calls);
}

static void test_external(void **state)
{
    static const struct calls_case calls[] = {
        {"[{ call: ext GET /anything/42 }, { call: ext POST /x, payload: { a: 1 } }]",
         "* * #* : 503", ""},
        {"[{ call: ext503 GET /x }, { call: c GET / }]", NULL, "c GET / 3001-3002 200; "},
        {"[{ call: ext503 GET /x, retry: { times: 1 } }, { call: c GET / }]", NULL,
         "c GET / 6001-6002 200; "},
        {"[{ call: ext503 GET /x, background: true }, { call: c GET / }]", NULL,
         "c GET / 1-2 200; "},
    };
    static const struct answer_case answers[] = {
        {"[{ call: ext GET /x, as: x }, { reply: 200, body: ['{x.status}', '{x.body}', '{x.ok}'] }]",
         NULL, "200 [200, null, true]"},
        {"[{ call: ext503 GET /x, as: x }, { reply: 200, body: ['{x.status}', '{x.error}'] }]",
         NULL, "200 [503, true]"},
        {"[{ call: ext503 GET /x, on: { 503: { reply: 201 } } }]", NULL, "201 null"},
    };
    (void)state;
    CHECK_CALLS("", calls);
    CHECK_ANSWERS(answers);
}

/* A service outside of the system is waited for no longer than one inside. */
static void test_external_timeout(void **state)
{
    static const struct answer_case answers[] = {
        {"[{ call: ext503 GET /x, as: x, timeout: 1s }, { reply: 200, body: ['{x.status}', '{x.timeout}'] }]",
         NULL, "200 [0, true]"},
    };
    static const struct calls_case calls[] = {
        {"[{ call: ext503 GET /x, timeout: 1s }, { call: c GET / }]", NULL,
         "c GET / 1001-1002 200; "},
        {"[{ call: ext503 GET /x, timeout: 4s }, { call: c GET / }]", NULL,
         "c GET / 3001-3002 200; "},
    };
    (void)state;
    CHECK_ANSWERS(answers);
    CHECK_CALLS("", calls);
}

/* The query is no part of the path: not of the name, and not of the endpoint. */
static void test_query(void **state)
{
    static const struct calls_case calls[] = {
        {"[{ call: 'b GET /p/7?full=yes' }]", NULL, "b GET /p/[id] 1-2 200; "},
        {"[{ call: 'b GET /ok?limit=5' }]", NULL, "b GET /ok 1-2 200; "},
        {"[{ call: 'b GET /ok?id={payload/id}' }]", NULL, "b GET /ok 1-2 200; "},
        {"[{ call: 'b GET /ok?path=/a/b' }]", NULL, "b GET /ok 1-2 200; "},
    };
    (void)state;
    CHECK_CALLS("", calls);
}

/* A blank in a value that becomes part of a path stays in it: as %20 in the name, as it is in the
 * parameter. */
static void test_blank_in_path(void **state)
{
    static const struct calls_case calls[] = {
        {"[{ set: { v: 'Mary Jane' } }, { call: 'b GET /p/{v}' }]", NULL,
         "b GET /p/Mary%20Jane 1-2 200; "},
    };
    static const struct answer_case answers[] = {
        {"[{ set: { v: 'Mary Jane' } }, { call: 'b GET /p/{v}', as: x }, { reply: 200, body: '{x.body}' }]",
         NULL, "200 \"Mary Jane\""},
    };
    (void)state;
    CHECK_CALLS("", calls);
    CHECK_ANSWERS(answers);
}

/* The endpoint with the most literal segments answers, wherever in the file it stands. */
static void test_endpoints(void **state)
{
    static const char caller[] =
        "system: e\nservices:\n  a:\n"
        "    GET /{p}: { call: 'b GET /{p}', as: x, on: { any: { reply: 200, body: '{x.body}' } } }\n"
        "    GET /{p}/{q}: { call: 'b GET /{p}/{q}', as: x, on: { any: { reply: 200, body: '{x.body}' "
        "} } }\n"
        "  b:\n";
    static const char *const endpoints[] = {
        "    GET /{x}: { reply: 200, body: [one, '{x}'] }\n",
        "    GET /users: { reply: 200, body: users }\n",
        "    GET /{x}/{y}: { reply: 200, body: [two, '{x}', '{y}'] }\n",
        "    GET /users/{id}: { reply: 200, body: [user, '{id}'] }\n",
        "    GET /users/me: { reply: 200, body: me }\n",
        "    POST /users: { reply: 201 }\n",
    };
    static const char *const rows[][2] = {
        {"users", "200 \"users\""},
        {"other", "200 [\"one\", \"other\"]"},
        {"users/me", "200 \"me\""},
        {"users/7", "200 [\"user\", \"7\"]"},
        {"x/me", "200 [\"two\", \"x\", \"me\"]"},
        {"user", "200 [\"one\", \"user\"]"},
        {"usersx/me", "200 [\"two\", \"usersx\", \"me\"]"},
    };
    (void)state;
    for (size_t i = 0; i < 2 * LENGTH(rows); i++) {
        struct lab lab;
        struct err e = {0};
        struct buf text = BUF_INIT(1 << 16), answer = BUF_INIT(1000);
        const char *const *row = rows[i / 2];
        buf_adds(&text, caller);
        for (size_t k = 0; k < LENGTH(endpoints); k++)
            buf_adds(&text, endpoints[i % 2 ? LENGTH(endpoints) - 1 - k : k]);
        buf_addf(&text, "scenarios: { s: { request: a GET /%s } }\n", row[0]);
        if (lab_init_text(&lab, buf_text(&text), &e))
            fail_msg("%s", e.text);
        run(&lab, 1, &answer);
        assert_string_equal(buf_text(&answer), row[1]);
        buf_deinit(&text);
        buf_deinit(&answer);
        lab_deinit(&lab);
    }
}

/* ---- naming ---- */

static void test_identify(void **state)
{
    static const char payloads[] =
        "[{ call: b POST /echo, payload: { a: 1 } }, { call: b POST /echo, payload: { a: 1 } }, "
        "{ call: b POST /echo, payload: { a: 2 } }, { call: b POST /echo }]";
    static const char order[] =
        "[{ call: b GET /ok }, { call: b GET /text }, { call: b GET /text }, "
        "{ parallel: [{ call: c GET / }, { call: c GET / }] }]";
    const struct {
        const char *top, *steps;
        const char
            *same; /* by call: a letter for its payload, one for its predecessors, and its n */
    } rows[] = {
        {"", payloads, "--0 --1 --2 --3 "},
        {"identify: { payload: on }", payloads, "a-0 a-1 b-0 --0 "},
        {"identify: { payload: off, predecessors: false }", payloads, "--0 --1 --2 --3 "},
        {"identify: { predecessors: on }", order, "--0 -a0 -b1 -c0 -c1 "},
        {"identify: { payload: true, predecessors: true }", payloads, "a-0 aa1 bb0 -c0 "},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf answer = BUF_INIT(1000), same = BUF_INIT(1000);
        struct map payload = {0}, before = {0};
        start(&lab, rows[i].top, rows[i].steps);
        run(&lab, 1, &answer);
        for (uint32_t k = 1; k < lab.trace.calls.n; k++) {
            const struct element *el = uid_element(&lab.names, lab.trace.calls.at[k].uid);
            if (!map_get(&payload, el->payload))
                map_set(&payload, el->payload, el->payload ? payload.items.n : 0);
            if (!map_get(&before, el->before))
                map_set(&before, el->before, el->before ? before.items.n : 0);
            buf_addf(
                &same, "%c%c%u ", el->payload ? 'a' + (int)*map_get(&payload, el->payload) : '-',
                el->before ? 'a' + (int)*map_get(&before, el->before) - 1 : '-', (unsigned)el->n);
        }
        if (strcmp(buf_text(&same), rows[i].same) != 0)
            fail_msg("%s: %s", rows[i].top, buf_text(&same));
        map_deinit(&payload);
        map_deinit(&before);
        buf_deinit(&answer);
        buf_deinit(&same);
        lab_deinit(&lab);
    }
}

/* Names do not depend on what else was named before, nor on the order of a map's keys in memory. */
static void test_names_are_stable(void **state)
{
    static const char steps[] = "[{ call: b GET /ok }, { call: b POST /echo, payload: { a: 1 } }]";
    struct buf first = BUF_INIT(1000), again = BUF_INIT(1000), answer = BUF_INIT(1000);
    struct lab one, other;
    (void)state;
    start(&one, "identify: { payload: on, predecessors: on }", steps);
    start(&other, "identify: { payload: on, predecessors: on }", steps);
    for (uint32_t i = 0; i < 100; i++) {
        buf_addf(&answer, "%u", (unsigned)i);
        names_sym(&other.names, buf_slice(&answer));
    }
    run(&one, 1, &answer);
    run(&other, 2, &answer);
    print_calls(&one, &first);
    print_calls(&other, &again);
    assert_string_equal(buf_text(&first), buf_text(&again));
    assert_non_null(strstr(buf_text(&first), "b POST /echo {"));
    buf_deinit(&first);
    buf_deinit(&again);
    buf_deinit(&answer);
    lab_deinit(&one);
    lab_deinit(&other);
}

static void test_normalise(void **state)
{
    static const struct calls_case cases[] = {
        {"[{ call: b GET /p/order-1 }, { call: b GET /p/order-2 }, { call: b GET /p/7 }]", NULL,
         "b GET /p/[order] 1-2 200; b GET /p/[order] #1 2-3 200; b GET /p/[number] 3-4 200; "},
    };
    (void)state;
    CHECK_CALLS("normalise: ['order-[0-9]+ -> [order]', '\\[id\\] -> [number]']", cases);
}

/* ---- what was asked ---- */

/* Which of the calls asked the same, and which had the same key: a letter for each, `-` for none.
 */
static void test_asked(void **state)
{
    static const struct {
        const char *steps, *faults, *requests, *keys;
    } rows[] = {
        {"[{ call: b GET /ok }, { call: b GET /ok }, { call: b GET /text }]", "", "aab", "---"},
        {"[{ call: b GET /ok?x=1 }, { call: b GET /ok?x=2 }, { call: b GET /ok }]", "", "abc",
         "---"},
        {"[{ call: b GET /p/1 }, { call: b GET /p/2 }]", "", "ab", "--"},
        {"[{ call: b POST /echo, payload: { v: 1, w: [true, null] } },"
         " { call: b POST /echo, payload: { v: 1.0, w: [true, null] } },"
         " { call: b POST /echo, payload: { v: 1, w: [true, 0] } },"
         " { call: b POST /echo, payload: { v: 1, w: [[true, null]] } },"
         " { call: b POST /echo, payload: { v: '1', w: [true, null] } },"
         " { call: b POST /echo, payload: '{payload}' }, { call: b POST /echo }]",
         "", "aabcdef", "-------"},
        {"[{ call: b POST /echo, retry: { times: 1 }, idempotency-key: 'k{random}' },"
         " { call: b POST /echo, idempotency-key: 'k{random}' }]",
         "b POST /echo : lost-reply:503", "aaa", "aab"},
        {"[{ call: b POST /echo, idempotency-key: '{payload/id}' },"
         " { call: b POST /echo, idempotency-key: 42 },"
         " { call: b POST /echo, idempotency-key: '{payload/none}' },"
         " { call: b POST /echo, idempotency-key: '' }]",
         "", "aaaa", "aa--"},
        {"[{ call: b POST /echo, idempotency-key: x }]", "b POST /echo : duplicate", "aa", "aa"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf out = BUF_INIT(1000), requests = BUF_INIT(100), keys = BUF_INIT(100);
        uint32_t request[8], key[8], n_request = 0, n_key = 0;
        start(&lab, "", rows[i].steps);
        add_faults(&lab, rows[i].faults);
        run(&lab, 1, &out);
        for (uint32_t k = 1; k < lab.trace.calls.n; k++) {
            const struct call *c = &lab.trace.calls.at[k];
            uint32_t r = 0, q = 0;
            assert_int_not_equal(c->request, 0);
            while (r < n_request && request[r] != c->request)
                r++;
            while (q < n_key && key[q] != c->key)
                q++;
            assert_true(r < 8 && q < 8);
            if (r == n_request)
                request[n_request++] = c->request;
            if (c->key && q == n_key)
                key[n_key++] = c->key;
            buf_addc(&requests, (char)('a' + r));
            buf_addc(&keys, c->key ? (char)('a' + q) : '-');
        }
        assert_string_equal(buf_text(&requests), rows[i].requests);
        assert_string_equal(buf_text(&keys), rows[i].keys);
        lab_deinit(&lab);
        buf_deinit(&out);
        buf_deinit(&requests);
        buf_deinit(&keys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_hold_long_timeout),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_effects),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_request_is_not_failed),
        cmocka_unit_test(test_parallel_time),
        cmocka_unit_test(test_parallel_names),
        cmocka_unit_test(test_parallel_last_call),
        cmocka_unit_test(test_parallel_nameless),
        cmocka_unit_test(test_background),
        cmocka_unit_test(test_background_in_parallel),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_external),
        cmocka_unit_test(test_external_timeout),
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_blank_in_path),
        cmocka_unit_test(test_endpoints),
        cmocka_unit_test(test_identify),
        cmocka_unit_test(test_names_are_stable),
        cmocka_unit_test(test_normalise),
        cmocka_unit_test(test_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
