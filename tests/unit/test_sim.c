/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulator against docs/simulated-systems.md: small systems, what they answer, what they call
 * and when. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/yaml.h"
#include "sim/sim_int.h"
#include "support/lab.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* What most tests call from the handler that they are about. */
static const char backends[] =
    "  b:\n"
    "    state: { n: 0 }\n"
    "    GET /ok: { reply: 200, body: { v: 1, list: [ { id: 7 }, { id: 8 } ] } }\n"
    "    GET /text: { reply: 200, body: hi }\n"
    "    GET /empty:\n"
    "    GET /status/{s}: { reply: '{s}', body: { s: '{s}' } }\n"
    "    GET /p/{x}: { reply: 200, body: '{x}' }\n"
    "    GET /url: { reply: 200, body: { url: '{url:b}/p/linked' } }\n"
    "    POST /echo: { reply: 200, body: '{payload}' }\n"
    "    POST /count: [ { add: { state.n: 1 } }, { reply: 200, body: '{state.n}' } ]\n"
    "    GET /count: { reply: 200, body: '{state.n}' }\n"
    "    GET /slow: [ { sleep: 5s }, { call: c GET / }, { reply: 200, body: late } ]\n"
    "  c:\n"
    "    GET /: { reply: 200, body: see }\n"
    "    rpc.C/Do: { reply: 'grpc:0', body: done }\n"
    "    rpc.C/Fail: { reply: 'grpc:5' }\n"
    "  ext: external\n"
    "  ext503: { external: 503, latency: 3s }\n";

/* A system whose handler `a GET /` has these steps; `top` are further keys of the file. */
static void write_system(struct buf *out, const char *top, const char *steps, const char *expect)
{
    *out = BUF_INIT(YAML_BYTES_MAX);
    buf_addf(out, "system: test\n%s\nservices:\n  a:\n    state: { n: 0, m: { x: 1, y: [ 5 ] } }\n",
             top);
    buf_adds(out, "    GET /: ");
    buf_adds(out, steps);
    buf_addf(out, "\n%sscenarios:\n  s:\n    request: a GET /\n    payload: { id: 42 }\n%s",
             backends, expect);
}

static void start(struct lab *lab, const char *top, const char *steps)
{
    struct buf text;
    struct err e = {0};
    write_system(&text, top, steps, "");
    if (lab_init_text(lab, buf_text(&text), &e))
        fail_msg("%s\n%u:%u: %s", steps, (unsigned)e.line, (unsigned)e.col, e.text);
    buf_deinit(&text);
}

/* Takes these faults into the aim: patterns, separated by ";". */
static void add_faults(struct lab *lab, const char *faults)
{
    slice rest = slice_of(faults ? faults : ""), fault;
    while (slice_cut(&rest, ';', &fault)) {
        struct err e = {0};
        if (fault.n && aim_add(&lab->aim, ANY_VOCABULARY(&lab->names), UID_NONE, fault, &e))
            fail_msg("%.*s: %s", SLICE_ARG(fault), e.text);
    }
}

/* One run: "STATUS BODY". */
static void run(struct lab *lab, uint64_t seed, struct buf *out)
{
    const struct node *body = NULL;
    struct err e = {0};
    if (sim_run(lab->sim, 0, &lab->aim, seed, &lab->trace, &lab->verdict, &body, &e))
        fail_msg("%s", e.text);
    outcome_print(lab->verdict.status, out);
    buf_addc(out, ' ');
    node_print(body, out);
}

/* All calls but the first: "ELEMENT [MODE] START-END SEEN; ", times in milliseconds.
 * An injected failure is there after a microsecond. */
static void print_calls(const struct lab *lab, struct buf *out)
{
    for (uint32_t i = 1; i < lab->trace.calls.n; i++) {
        const struct call *c = &lab->trace.calls.at[i];
        element_print(&lab->names, uid_element(&lab->names, c->uid), out);
        if (c->mode != MODE_NONE) {
            buf_adds(out, " [");
            mode_print(c->mode, out);
            buf_addc(out, ']');
        }
        buf_addf(out, " %.10g-%.10g ", (double)c->start_ns / 1e6, (double)c->end_ns / 1e6);
        outcome_print(c->seen, out);
        buf_adds(out, "; ");
    }
}

struct answer_case {
    const char *steps, *faults, *answer;
};

static void check_answers(const struct answer_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct lab lab;
        struct buf answer = BUF_INIT(1 << 16);
        start(&lab, "data: { three: 3, list: [ x, y, z ], map: { k: [ 1 ] }, nothing: null }",
              cases[i].steps);
        add_faults(&lab, cases[i].faults);
        run(&lab, 1, &answer);
        if (strcmp(buf_text(&answer), cases[i].answer) != 0)
            fail_msg("%s\nwith %s\nanswers %s\nnot     %s", cases[i].steps,
                     cases[i].faults ? cases[i].faults : "no fault", buf_text(&answer),
                     cases[i].answer);
        buf_deinit(&answer);
        lab_deinit(&lab);
    }
}

#define CHECK_ANSWERS(cases) check_answers(cases, LENGTH(cases))

struct calls_case {
    const char *steps, *faults, *calls;
};

static void check_calls(const char *top, const struct calls_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct lab lab;
        struct buf answer = BUF_INIT(1 << 16), calls = BUF_INIT(1 << 16);
        start(&lab, top, cases[i].steps);
        add_faults(&lab, cases[i].faults);
        run(&lab, 1, &answer);
        print_calls(&lab, &calls);
        if (strcmp(buf_text(&calls), cases[i].calls) != 0)
            fail_msg("%s\nwith %s\ncalls %s\nnot   %s", cases[i].steps,
                     cases[i].faults ? cases[i].faults : "no fault", buf_text(&calls),
                     cases[i].calls);
        buf_deinit(&answer);
        buf_deinit(&calls);
        lab_deinit(&lab);
    }
}

#define CHECK_CALLS(top, cases) check_calls(top, cases, LENGTH(cases))

/* ---- steps ---- */

static void test_reply(void **state)
{
    static const struct answer_case cases[] = {
        {"", NULL, "200 null"},
        {"[]", NULL, "200 null"},
        {"[{ sleep: 1s }]", NULL, "200 null"},
        {"{ reply: 404 }", NULL, "404 null"},
        {"[{ reply: 201, body: one }, { reply: 202, body: two }]", NULL, "201 \"one\""},
        {"{ reply: 'grpc:5' }", NULL, "grpc:5 null"},
        {"{ reply: 200, body: [1, 1.5, true, null, text, { k: [] }] }", NULL,
         "200 [1, 1.5, true, null, \"text\", {\"k\": []}]"},
        {"{ reply: 200, body: '503' }", NULL, "200 \"503\""},
        {"[{ call: b GET /status/418, as: x }, { reply: '{x.status}' }]", NULL, "418 null"},
        {"[{ call: b GET /ok, as: x }, { reply: '{x.status}' }]", "b * : 502", "502 null"},
        {"[{ call: b GET /ok, as: x }, { reply: '{x.status}' }]", "b * : reset", "500 null"},
        {"[{ call: b GET /ok, as: x }, { reply: '4{x.body/list/0/id}{x.body/v}' }]", NULL,
         "471 null"},
        {"{ reply: '{data.three}00' }", NULL, "300 null"},
        {"[{ set: { s: nonsense } }, { reply: '{s}' }]", NULL, "500 null"},
        {"[{ set: { s: 418 } }, { reply: '{s}' }]", NULL, "418 null"},
        {"[{ set: { s: 3 } }, { reply: 'grpc:{s}' }]", NULL, "grpc:3 null"},
    };
    (void)state;
    CHECK_ANSWERS(cases);
}

static void test_values(void **state)
{
    static const struct answer_case cases[] = {
        /* whole values and parts of text */
        {"{ reply: 200, body: '{data.map}' }", NULL, "200 {\"k\": [1]}"},
        {"{ reply: 200, body: 'x{data.map}y' }", NULL, "200 \"x{\\\"k\\\": [1]}y\""},
        {"{ reply: 200, body: '{data.three}' }", NULL, "200 3"},
        {"{ reply: 200, body: '{data.three} ' }", NULL, "200 \"3 \""},
        {"{ reply: 200, body: '{data.three}{data.three}' }", NULL, "200 \"33\""},
        {"{ reply: 200, body: '{data.map/k/0}' }", NULL, "200 1"},
        {"{ reply: 200, body: '{data.map/none/0}' }", NULL, "200 null"},
        {"{ reply: 200, body: '{data.nothing}' }", NULL, "200 null"},
        {"{ reply: 200, body: { '{data.three}': ['{data.three}', { k: '{data.list/1}' }] } }", NULL,
         "200 {\"{data.three}\": [3, {\"k\": \"y\"}]}"}, /* keys are as they are */
        {"{ reply: 200, body: '{url:c}/x' }", NULL, "200 \"http://c/x\""},
        {"{ reply: 200, body: '{payload}' }", NULL, "200 {\"id\": 42}"},
        {"{ reply: 200, body: '{payload/id}' }", NULL, "200 42"},
        {"{ reply: 200, body: '{state.m/y/0}' }", NULL, "200 5"},
        /* {{ */
        {"{ reply: 200, body: '{{' }", NULL, "200 \"{\""},
        {"{ reply: 200, body: 'a{{b' }", NULL, "200 \"a{b\""},
        {"{ reply: 200, body: '{{{data.three}' }", NULL, "200 \"{3\""},
        {"{ reply: 200, body: '{{{{' }", NULL, "200 \"{{\""},
        {"{ reply: 200, body: 'a}b' }", NULL, "200 \"a}b\""},
        {"{ reply: 200, body: ['{{data.three', x] }", NULL, "200 [\"{data.three\", \"x\"]"},
        /* answers */
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x.body}' }]", NULL,
         "200 {\"v\": 1, \"list\": [{\"id\": 7}, {\"id\": 8}]}"},
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x.body/list/1/id}' }]", NULL, "200 8"},
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x.body/list/2/id}' }]", NULL,
         "200 null"},
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: 'got {x.body/none}' }]", NULL,
         "200 \"got null\""},
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x.body}' }]", "b * : 503",
         "200 \"Injected fault\\u000a\""},
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x.body}' }]", "b * : reset",
         "200 null"},
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x.body}' }]", "b * : delay:1s",
         "200 {\"v\": 1, \"list\": [{\"id\": 7}, {\"id\": 8}]}"},
        {"[{ if: false, then: { call: b GET /ok, as: x } }, { reply: 200, body: ['{x.status}', "
         "'{x.body}', '{x.called}', '{x.ok}', '{x.failed}'] }]",
         NULL, "200 [0, null, false, false, false]"},
        {"[{ call: b GET /ok, as: x }, { call: b GET /text, as: x }, { reply: 200, body: '{x.body}' }]",
         NULL, "200 \"hi\""}, /* the later answer counts */
        /* payloads and parameters */
        {"[{ call: b POST /echo, as: x, payload: { a: ['{payload/id}', '{data.list}'] } }, "
         "{ reply: 200, body: '{x.body}' }]",
         NULL, "200 {\"a\": [42, [\"x\", \"y\", \"z\"]]}"},
        {"[{ call: b POST /echo, as: x }, { reply: 200, body: '{x.body}' }]", NULL, "200 null"},
        {"[{ call: 'b GET /p/{payload/id}', as: x }, { reply: 200, body: '{x.body}' }]", NULL,
         "200 \"42\""},
        {"[{ call: 'b GET /p/{data.nothing}', as: x }, { reply: 200, body: '{x.body}' }]", NULL,
         "200 \"null\""},
        {"[{ call: c rpc.C/Do, as: x }, { reply: 200, body: ['{x.body}', '{x.ok}', '{x.status}'] }]",
         NULL, "200 [\"done\", true, 0]"},
        {"[{ call: c rpc.C/Fail, as: x }, { reply: 200, body: ['{x.ok}', '{x.error}', '{x.status}'] }]",
         NULL, "200 [false, true, 5]"},
    };
    (void)state;
    CHECK_ANSWERS(cases);
}

static void test_assignments(void **state)
{
    static const struct answer_case cases[] = {
        {"[{ set: { v: 1 } }, { reply: 200, body: '{v}' }]", NULL, "200 1"},
        {"[{ set: { v: 1, w: '{v}' } }, { reply: 200, body: ['{v}', '{w}'] }]", NULL, "200 [1, 1]"},
        {"[{ reply: 200, body: '{v}' }, { set: { v: 1 } }]", NULL, "200 null"},
        {"[{ set: { v/a: 1 } }, { reply: 200, body: '{v}' }]", NULL, "200 {\"a\": 1}"},
        {"[{ set: { v/a/b: 1 } }, { set: { v/a/c: 2, v/d: 3 } }, { reply: 200, body: '{v}' }]",
         NULL, "200 {\"a\": {\"b\": 1, \"c\": 2}, \"d\": 3}"},
        {"[{ set: { v: { a: 1, b: 2 } } }, { set: { v/a: x } }, { reply: 200, body: '{v}' }]", NULL,
         "200 {\"a\": \"x\", \"b\": 2}"},
        {"[{ set: { v: 5 } }, { set: { v/a: 1 } }, { reply: 200, body: '{v}' }]", NULL,
         "200 {\"a\": 1}"},
        {"[{ set: { v: { a: 1 } } }, { set: { w: '{v}' } }, { set: { v/a: 2 } }, "
         "{ reply: 200, body: ['{v/a}', '{w/a}'] }]",
         NULL, "200 [2, 1]"}, /* values do not change under other names */
        {"[{ add: { v: 2 } }, { add: { v: 0.5 } }, { reply: 200, body: '{v}' }]", NULL, "200 2.5"},
        {"[{ add: { v/a: 2 } }, { add: { v/a: -3 } }, { reply: 200, body: '{v}' }]", NULL,
         "200 {\"a\": -1}"},
        {"[{ set: { v: 1 } }, { add: { v: '{payload/id}' } }, { reply: 200, body: '{v}' }]", NULL,
         "200 43"},
        {"[{ set: { v: text } }, { add: { v: 1 } }, { reply: 200, body: '{v}' }]", NULL, "200 1"},
        {"[{ add: { state.n: 1 } }, { add: { state.n: 1, state.m/x: 5 } }, "
         "{ reply: 200, body: ['{state.n}', '{state.m}'] }]",
         NULL, "200 [2, {\"x\": 6, \"y\": [5]}]"},
        {"[{ set: { state.m/y: null, state.m/z: 1 } }, { reply: 200, body: '{state.m}' }]", NULL,
         "200 {\"x\": 1, \"y\": null, \"z\": 1}"},
        {"[{ set: { state.n: '{state.m/y}' } }, { reply: 200, body: '{state.n/0}' }]", NULL,
         "200 5"},
        {"[{ append: { v: 1 } }, { append: { v: [2] } }, { reply: 200, body: '{v}' }]", NULL,
         "200 [1, [2]]"},
        {"[{ set: { v: text } }, { append: { v: '{payload/id}', w/a/b: x } }, "
         "{ reply: 200, body: ['{v}', '{w}'] }]",
         NULL, "200 [[42], {\"a\": {\"b\": [\"x\"]}}]"},
        {"[{ append: { state.m/y: 6 } }, { reply: 200, body: '{state.m}' }]", NULL,
         "200 {\"x\": 1, \"y\": [5, 6]}"},
        {"[{ set: { v: [1] } }, { set: { w: '{v}' } }, { append: { v: 2 } }, "
         "{ reply: 200, body: ['{v}', '{w}'] }]",
         NULL, "200 [[1, 2], [1]]"},
        /* state is the service's own */
        {"[{ add: { state.n: 7 } }, { call: b POST /count, as: x }, { call: b POST /count, as: x }, "
         "{ reply: 200, body: ['{state.n}', '{x.body}'] }]",
         NULL, "200 [7, 2]"},
    };
    (void)state;
    CHECK_ANSWERS(cases);
}

static void test_if_each(void **state)
{
    static const struct answer_case cases[] = {
        {"[{ if: true, then: { reply: 201 }, else: { reply: 202 } }]", NULL, "201 null"},
        {"[{ if: false, then: { reply: 201 }, else: { reply: 202 } }]", NULL, "202 null"},
        {"[{ if: false, then: { reply: 201 } }, { reply: 203 }]", NULL, "203 null"},
        {"[{ if: true, then: [{ set: { v: 1 } }] }, { reply: 203, body: '{v}' }]", NULL, "203 1"},
        {"[{ if: true, then: , else: { reply: 202 } }]", NULL, "200 null"},
        {"[{ if: true, then: { if: false, then: { reply: 201 }, else: { reply: 202 } } }]", NULL,
         "202 null"},
        {"[{ each: '{data.list}', as: i, do: { set: { v: '{v}{i}' } } }, { reply: 200, body: '{v}' }]",
         NULL, "200 \"nullxyz\""},
        {"[{ each: [1, 2, 3], as: i, do: { add: { v: '{i}' } } }, { reply: 200, body: '{v}' }]",
         NULL, "200 6"},
        {"[{ each: '{data.nothing}', as: i, do: { reply: 500 } }, { reply: 200 }]", NULL,
         "200 null"},
        {"[{ each: '{data.three}', as: i, do: { reply: 500 } }, { reply: 200 }]", NULL, "200 null"},
        {"[{ each: '{data.map}', as: i, do: { reply: 500 } }, { reply: 200 }]", NULL, "200 null"},
        {"[{ each: [], as: i, do: { reply: 500 } }, { reply: 200 }]", NULL, "200 null"},
        {"[{ each: [1, 2], as: i, do: }, { reply: 200, body: '{i}' }]", NULL, "200 2"},
        {"[{ each: [1, 2, 3], as: i, do: [{ if: i == 2, then: { reply: 201, body: '{i}' } }] }]",
         NULL, "201 2"}, /* a reply ends the handler */
        {"[{ each: [1, 2], as: i, do: { each: [10, 20], as: k, do: [{ add: { v: '{k}' } }, "
         "{ add: { v: '{i}' } }] } }, { reply: 200, body: '{v}' }]",
         NULL, "200 66"},
        {"[{ call: b GET /ok, as: x }, { each: '{x.body/list}', as: i, do: { add: { v: 1, w: '{i/id}' } } }, "
         "{ reply: 200, body: ['{v}', '{w}'] }]",
         NULL, "200 [2, 15]"},
        {"[{ each: [200, 404], as: s, do: { call: 'b GET /status/{s}', as: x, on: { 404: { reply: 418 } } } "
         "}]",
         NULL, "418 null"},
    };
    (void)state;
    CHECK_ANSWERS(cases);
}

/* ---- conditions ---- */

static void test_conditions(void **state)
{
    static const struct {
        const char *condition;
        bool holds;
    } rows[] = {
        /* constants */
        {"true", true},
        {"false", false},
        {"null", false},
        {"0", false},
        {"-0.0", false},
        {"1", true},
        {"''", true},
        {"[]", true},
        /* or binds less than and, and less than not, not less than a comparison */
        {"true or false and false", true},
        {"(true or false) and false", false},
        {"false and true or true", true},
        {"false and (true or true)", false},
        {"not true or true", true},
        {"not (true or true)", false},
        {"not false and false", false},
        {"not (false and false)", true},
        {"not one == 2", true},
        {"not one == 1", false},
        {"not not true", true},
        {"not not not true", false},
        {"one == 1 and two == 2 or one == 2", true},
        {"one == 2 or two == 2 and one == 1", true},
        {"one == 2 and one == 1 or two == 3", false},
        {"((((true))))", true},
        /* comparisons */
        {"one == 1", true},
        {"one == 1.0", true},
        {"one==1", true},
        {"one != 1", false},
        {"one != '1'", true},
        {"one == '1'", false},
        {"one < 2", true},
        {"one < 1", false},
        {"one <= 1", true},
        {"one > 1", false},
        {"one>0", true},
        {"one >= 1", true},
        {"two >= one", true},
        {"word == 'abc'", true},
        {"word == \"abc\"", true},
        {"word < 'abd'", true},
        {"word < 'ab'", false},
        {"word >= 'abc'", true},
        {"word == 'and or not'", false},
        {"two < 10", true}, /* as numbers, not as text */
        {"two < -1", false},
        {"two > -1.5e3", true},
        {"list == [1, 'b', null]", true},
        {"list == [1, 'b']", false},
        {"list/1 == 'b'", true},
        {"list/7 == null", true},
        {"map == other", true}, /* whatever the order of the keys */
        {"map/k == 1", true},
        {"true == 1", false},
        {"(one == 1) == true", true},
        {"(one == 1) == (two == 2)", true},
        /* null and what cannot be ordered */
        {"unset == null", true},
        {"unset != null", false},
        {"unset == false", false},
        {"unset == 0", false},
        {"unset == ''", false},
        {"unset < 1", false},
        {"unset >= 1", false},
        {"unset < null", false},
        {"unset <= null", false},
        {"not unset", true},
        {"unset", false},
        {"one < 'a'", false},
        {"one > 'a'", false},
        {"word > 1", false},
        {"list < list", false},
        {"true < false", false},
        /* in */
        {"one in [1, 2]", true},
        {"one in [2, 3]", false},
        {"one in ['1']", false},
        {"one in []", false},
        {"unset in [null]", true},
        {"word in ['x', 'abc']", true},
        {"word in ['x', word]", true},
        {"'b' in list", true},
        {"'c' in list", false},
        {"1 in map", false},
        {"'a' in 'abc'", false}, /* not a piece of text */
        {"not one in [1]", false},
        {"not one in [2] and true", true},
        {"one in [1] or false and false", true},
        {"[1] in [[1], 2]", true},
        {"one in [two, (one == 1), 1]", true},
        /* references */
        {"data.three == 3", true},
        {"payload/id == 42", true},
        {"payload/none == null", true},
        {"state.n == 0", true},
        {"state.m/y/0 == 5", true},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf steps = BUF_INIT(1 << 16), answer = BUF_INIT(1000);
        buf_adds(&steps,
                 "[{ set: { one: 1, two: 2, word: abc, list: [1, b, null], map: { k: 1, l: 2 }, "
                 "other: { l: 2, k: 1 } } }, { if: false, then: { set: { unset: 1 } } }, { if: ");
        buf_add_json_string(&steps, slice_of(rows[i].condition));
        buf_adds(&steps, ", then: { reply: 200 }, else: { reply: 400 } }]");
        start(&lab, "data: { three: 3 }", buf_text(&steps));
        run(&lab, 1, &answer);
        if (strcmp(buf_text(&answer), rows[i].holds ? "200 null" : "400 null") != 0)
            fail_msg("%s %s", rows[i].condition, rows[i].holds ? "does not hold" : "holds");
        buf_deinit(&steps);
        buf_deinit(&answer);
        lab_deinit(&lab);
    }
}

/* ---- outcomes ---- */

static const char *const all_modes[] = {"200",    "204",   "302",   "404",    "499",
                                        "500",    "503",   "599",   "grpc:0", "grpc:14",
                                        "refuse", "reset", "close", "hold"};

static const struct {
    const char *word, *modes; /* those that are in it */
} outcome_words[] = {
    {"ok", "200 204 grpc:0"},
    {"failed", "302 404 499 500 503 599 grpc:14 refuse reset close hold"},
    {"error", "500 503 599 grpc:14"},
    {"conn", "refuse reset close"},
    {"timeout", "hold"},
    {"404", "404"},
    {"2xx", "200 204"},
    {"3xx", "302"},
    {"4xx", "404 499"},
    {"5xx", "500 503 599"},
    {"grpc:14", "grpc:14"},
    {"grpc:0", "grpc:0"},
    {"any", "200 204 302 404 499 500 503 599 grpc:0 grpc:14 refuse reset close hold"},
    {"404, 5xx", "404 500 503 599"},
    {"conn,timeout ,grpc:14", "refuse reset close hold grpc:14"},
    {"1xx", ""},
};

static bool is_among(const char *words, const char *word)
{
    slice rest = slice_of(words), next;
    while (slice_word(&rest, &next))
        if (slice_is(next, word))
            return true;
    return false;
}

/* Every outcome word, in `on` and in `retry`, against every outcome. */
static void test_outcome_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(outcome_words); i++) {
        struct lab lab;
        struct buf steps = BUF_INIT(1000);
        buf_addf(
            &steps,
            "[{ call: b GET /ok, retry: { times: 1, on: '%s' }, on: { '%s': { reply: 299 } } }]",
            outcome_words[i].word, outcome_words[i].word);
        start(&lab, "", buf_text(&steps));
        for (size_t k = 0; k < LENGTH(all_modes); k++) {
            struct buf fault = BUF_INIT(100), answer = BUF_INIT(100);
            bool in = is_among(outcome_words[i].modes, all_modes[k]);
            aim_deinit(&lab.aim);
            lab.aim = (struct aim){0};
            buf_addf(&fault, "b GET /ok #* : %s", all_modes[k]);
            add_faults(&lab, buf_text(&fault));
            run(&lab, 1, &answer);
            if (strcmp(buf_text(&answer), in ? "299 null" : "200 null") != 0)
                fail_msg("on %s after %s: %s", outcome_words[i].word, all_modes[k],
                         buf_text(&answer));
            if (lab.trace.calls.n != (in ? 3 : 2))
                fail_msg("retry on %s after %s: %u calls", outcome_words[i].word, all_modes[k],
                         (unsigned)lab.trace.calls.n - 1);
            buf_deinit(&fault);
            buf_deinit(&answer);
        }
        buf_deinit(&steps);
        lab_deinit(&lab);
    }
}

/* What a handler can ask of an answer. */
static void test_answer_fields(void **state)
{
    static const struct {
        const char *mode;
        const char *fields; /* status ok failed error conn timeout json called */
    } rows[] = {
        {"", "200 [200, true, false, false, false, false, true, true]"},
        {"204", "200 [204, true, false, false, false, false, false, true]"},
        {"404", "200 [404, false, true, false, false, false, false, true]"},
        {"503", "200 [503, false, true, true, false, false, false, true]"},
        {"grpc:14", "200 [14, false, true, true, false, false, false, true]"},
        {"refuse", "200 [0, false, true, false, true, false, false, true]"},
        {"reset", "200 [0, false, true, false, true, false, false, true]"},
        {"close", "200 [0, false, true, false, true, false, false, true]"},
        {"hold", "200 [0, false, true, false, false, true, false, true]"},
        {"delay:1s", "200 [200, true, false, false, false, false, true, true]"},
        {"delay:1m", "200 [0, false, true, false, false, true, false, true]"},
        {"lost-reply:503", "200 [503, false, true, true, false, false, false, true]"},
    };
    static const char steps[] =
        "[{ call: b GET /ok, as: x, timeout: 10s }, { reply: 200, body: ['{x.status}', '{x.ok}', "
        "'{x.failed}', '{x.error}', '{x.conn}', '{x.timeout}', '{x.json}', '{x.called}'] }]";
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf fault = BUF_INIT(100);
        if (rows[i].mode[0])
            buf_addf(&fault, "b GET /ok : %s", rows[i].mode);
        check_answers(&(struct answer_case){steps, buf_text(&fault), rows[i].fields}, 1);
        buf_deinit(&fault);
    }
    static const struct answer_case json[] = {
        {"[{ call: b GET /text, as: x }, { reply: 200, body: '{x.json}' }]", NULL, "200 false"},
        {"[{ call: b GET /empty, as: x }, { reply: 200, body: '{x.json}' }]", NULL, "200 false"},
        {"[{ call: b GET /count, as: x }, { reply: 200, body: '{x.json}' }]", NULL, "200 true"},
        {"[{ call: b GET /status/503, as: x }, { reply: 200, body: '{x.json}' }]", NULL,
         "200 true"},
    };
    CHECK_ANSWERS(json);
}

static void test_on(void **state)
{
    static const struct answer_case cases[] = {
        {"[{ call: b GET /status/404, on: { 4xx: { reply: 201 }, 404: { reply: 202 } } }]", NULL,
         "201 null"}, /* the first key that matches */
        {"[{ call: b GET /status/404, on: { ok: { reply: 201 }, timeout: { reply: 202 } } }, { reply: 203 }]",
         NULL, "203 null"}, /* none: on it goes */
        {"[{ call: b GET /status/404, as: x, on: { 404: [{ set: { v: '{x.status}' } }] } }, "
         "{ reply: 200, body: '{v}' }]",
         NULL, "200 404"}, /* the answer has its name by then */
        {"[{ call: b GET /ok, on: { ok: { call: c GET /, on: { failed: { reply: 503 } } } } }]",
         "c GET / : 500", "503 null"},
        {"[{ call: b GET /ok, retry: { times: 2 }, on: { failed: { reply: 503 } } }]", "b * : 500",
         "200 null"}, /* the last outcome counts */
        {"[{ call: b GET /ok, retry: { times: 2 }, on: { failed: { reply: 503 } } }]",
         "b * #* : 500", "503 null"},
        {"[{ call: b GET /ok, on: { failed: } }, { reply: 201 }]", "b * : 500", "201 null"},
    };
    (void)state;
    CHECK_ANSWERS(cases);
}

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

/* ---- state from run to run ---- */

static void test_keep_state(void **state)
{
    static const char steps[] =
        "[{ add: { state.n: 1, state.m/x: 2 } }, { set: { state.m/y: ['{state.m/y}', '{state.n}'] } }, "
        "{ call: b POST /count, as: x }, { reply: 200, body: ['{state.n}', '{state.m/x}', '{x.body}', "
        "'{state.m/y/1}', '{state.m/y/0/1}'] }]";
    static const char *const kept[] = {"200 [1, 3, 1, 1, null]", "200 [2, 5, 2, 2, 1]",
                                       "200 [3, 7, 3, 3, 2]"};
    static const char *const tops[] = {"", "keep-state: false", "keep-state: true"};
    (void)state;
    for (size_t i = 0; i < LENGTH(tops); i++) {
        struct lab lab;
        start(&lab, tops[i], steps);
        for (size_t k = 0; k < 3; k++) {
            struct buf answer = BUF_INIT(1000);
            run(&lab, k, &answer);
            assert_string_equal(buf_text(&answer), kept[i == 2 ? k : 0]);
            buf_deinit(&answer);
        }
        lab_deinit(&lab);
    }
}

/* Many runs: values that were not touched for long are still there. */
static void test_keep_state_long(void **state)
{
    struct lab lab;
    struct buf answer = BUF_INIT(1 << 16);
    (void)state;
    start(
        &lab, "keep-state: true",
        "[{ if: state.n == 0, then: { set: { state.m: { deep: [ { text: 'number {state.n}' } ] } } } }, "
        "{ add: { state.n: 1 } }, { reply: 200, body: ['{state.n}', '{state.m}'] }]");
    for (uint64_t i = 0; i < 1000; i++) {
        buf_clear(&answer);
        run(&lab, i, &answer);
    }
    assert_string_equal(buf_text(&answer), "200 [1000, {\"deep\": [{\"text\": \"number 0\"}]}]");
    buf_deinit(&answer);
    lab_deinit(&lab);
}

/* ---- deliberate nondeterminism ---- */

static void test_seeds(void **state)
{
    static const struct {
        const char *steps;
        uint32_t least, most; /* different answers in 200 seeds */
    } rows[] = {
        {"{ reply: 200, body: '{random}' }", 200, 200},
        {"{ reply: 200, body: 'x{random}{random}' }", 200, 200},
        {"{ reply: 200, body: '{time}' }", 200, 200},
        {"[{ choose: [{ reply: 201 }, { reply: 202 }, { reply: 203 }] }]", 3, 3},
        {"[{ choose: [[{ set: { v: 1 } }, { add: { v: 1 } }], { set: { v: 5 } }] }, { reply: 200, body: '{v}' "
         "}]",
         2, 2},
        {"[{ choose: [{ set: { v: 5 } }] }, { reply: 200, body: '{v}' }]", 1, 1},
        {"[{ shuffle: [{ set: { v: '{v}a' } }, { set: { v: '{v}b' } }, { set: { v: '{v}c' } }] }, "
         "{ reply: 200, body: '{v}' }]",
         6, 6},
        {"[{ shuffle: [{ reply: 201 }, { reply: 202 }] }]", 2, 2},
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x.body}' }]", 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct map seen = {0};
        start(&lab, "", rows[i].steps);
        for (uint64_t seed = 0; seed < 200; seed++) {
            struct buf one = BUF_INIT(1000), again = BUF_INIT(1000);
            run(&lab, seed, &one);
            run(&lab, seed, &again);
            if (strcmp(buf_text(&one), buf_text(&again)) != 0)
                fail_msg("%s: seed %u: %s, %s", rows[i].steps, (unsigned)seed, buf_text(&one),
                         buf_text(&again));
            map_count(&seen, names_sym(&lab.names, buf_slice(&one)));
            buf_deinit(&one);
            buf_deinit(&again);
        }
        if (seen.items.n < rows[i].least || seen.items.n > rows[i].most)
            fail_msg("%s: %u different answers", rows[i].steps, (unsigned)seen.items.n);
        map_deinit(&seen);
        lab_deinit(&lab);
    }
}

/* All steps of a shuffle are done, each once. */
static void test_shuffle(void **state)
{
    struct lab lab;
    (void)state;
    start(
        &lab, "",
        "[{ shuffle: [{ call: b GET /ok }, { call: b GET /text }, [{ call: c GET / }, { sleep: 1s }]] }]");
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct buf answer = BUF_INIT(100), calls = BUF_INIT(1000);
        run(&lab, seed, &answer);
        print_calls(&lab, &calls);
        assert_int_equal(lab.trace.calls.n, 4);
        assert_non_null(strstr(buf_text(&calls), "b GET /ok "));
        assert_non_null(strstr(buf_text(&calls), "b GET /text "));
        assert_non_null(strstr(buf_text(&calls), "c GET / "));
        buf_deinit(&answer);
        buf_deinit(&calls);
    }
    lab_deinit(&lab);
}

/* ---- scenarios ---- */

static void test_expectations(void **state)
{
    static const struct {
        const char *expect, *faults, *why; /* "": it passes */
    } rows[] = {
        {"", NULL, ""},
        {"    expect: []\n", NULL, ""},
        {"    expect: [{ then: status == 200 }]\n", NULL, ""},
        {"    expect: [{ then: status == 201 }]\n", NULL, "expected status == 201"},
        {"    expect: [{ then: status == 201, say: wrong }]\n", NULL, "wrong"},
        {"    expect: [{ when: status == 201, then: false }]\n", NULL, ""},
        {"    expect: [{ when: status == 200, then: false }]\n", NULL,
         "expected false when status == 200"},
        {"    expect: [{ then: false, say: one }, { then: false, say: two }]\n", NULL, "one"},
        {"    expect: [{ then: true, say: one }, { then: false, say: two }]\n", NULL, "two"},
        {"    expect: [{ then: body/x == 'hi' and body/y/0 == 42 and body/none == null }]\n", NULL,
         ""},
        {"    expect: [{ then: faults == 0 }]\n", NULL, ""},
        {"    expect: [{ then: faults == 2 and faults.b == 1 and faults.c == 1 and faults.a == 0 }]\n",
         "b GET /text : 503;c * : reset", ""},
        {"    expect: [{ then: faults == 0 }]\n", "b GET /nowhere : 503", ""}, /* none that fired */
        {"    expect: [{ then: b.state.n == 1 and a.state.m/x == 1 }]\n", NULL, ""},
        {"    expect: [{ then: b.state.n == 1 }]\n", "b POST /count : 503",
         "expected b.state.n == 1"},
        {"    expect: [{ then: b.state.n == 1 }]\n", "b POST /count : lost-reply:503", ""},
        {"    expect: [{ then: data.three == 3 }]\n", NULL, ""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf text, answer = BUF_INIT(1000);
        struct err e = {0};
        write_system(&text, "data: { three: 3 }",
                     "[{ call: b GET /text, as: x }, { call: c GET / }, { call: b POST /count }, "
                     "{ reply: 200, body: { x: '{x.body}', y: ['{payload/id}'] } }]",
                     rows[i].expect);
        if (lab_init_text(&lab, buf_text(&text), &e))
            fail_msg("%s: %s", rows[i].expect, e.text);
        add_faults(&lab, rows[i].faults);
        run(&lab, 1, &answer);
        if (strcmp(lab.verdict.why, rows[i].why) != 0 || lab.verdict.pass != (rows[i].why[0] == 0))
            fail_msg("%s: \"%s\"", rows[i].expect, lab.verdict.why);
        assert_int_equal(lab.verdict.status, OUTCOME_OK);
        buf_deinit(&text);
        buf_deinit(&answer);
        lab_deinit(&lab);
    }
}

static void test_about(void **state)
{
    static const char system[] =
        "system: shop-1\nabout: a sentence\n"
        "services: { a: { GET /: , GET /x: { reply: 201 } }, b: , e: external }\n"
        "scenarios: { one: { request: a GET / }, two: { request: 'a GET /{data.p}' } }\n"
        "data: { p: x }\n";
    static const struct {
        const char *modes, *printed;
    } rows[] = {{"", "500 502 503 504 "},
                {"modes: [503]\n", "503 "},
                {"modes: standard\n", "503 reset lost-reply:503 hold "},
                {"modes: [errors, reset, 503]\n", "500 502 503 504 reset "},
                {"modes: [reset, 'grpc:14', delay:2s, lost-reply:503]\n",
                 "reset grpc:14 delay:2s lost-reply:503 "}};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct err e = {0};
        struct buf text = BUF_INIT(1 << 16), modes = BUF_INIT(1000);
        buf_addf(&text, "%s%s", system, rows[i].modes);
        if (lab_init_text(&lab, buf_text(&text), &e))
            fail_msg("%s", e.text);
        for (uint32_t k = 0; k < lab.sim->modes.n; k++) {
            mode_print(lab.sim->modes.at[k], &modes);
            buf_addc(&modes, ' ');
        }
        assert_string_equal(buf_text(&modes), rows[i].printed);
        assert_string_equal(lab.sim->name, "shop-1");
        assert_int_equal(lab.sim->n_scenarios, 2);
        assert_string_equal(lab.sim->scenario[1].name.p, "two");
        assert_int_equal(sim_scenario(lab.sim, NULL), 0);
        assert_int_equal(sim_scenario(lab.sim, "one"), 0);
        assert_int_equal(sim_scenario(lab.sim, "two"), 1);
        assert_int_equal(sim_scenario(lab.sim, "three"), UINT32_MAX);
        assert_int_equal(lab.sim->n_inside, 2);
        assert_int_equal(sim_run(lab.sim, 1, &lab.aim, 0, &lab.trace, &lab.verdict, NULL, &e), 0);
        assert_int_equal(lab.verdict.status, OUTCOME(OUT_STATUS, 201));
        buf_deinit(&text);
        buf_deinit(&modes);
        lab_deinit(&lab);
    }
}

/* A request to nobody is said when it is made. */
static void test_request_to_nobody(void **state)
{
    struct lab lab;
    struct err e = {0};
    (void)state;
    assert_int_equal(lab_init_text(&lab,
                                   "system: n\nservices: { a: { GET /: } }\n"
                                   "scenarios: { s: { request: GET http://nobody/ } }\n",
                                   &e),
                     0);
    assert_int_equal(sim_run(lab.sim, 0, &lab.aim, 0, &lab.trace, &lab.verdict, NULL, &e), -1);
    assert_true(e.text[0] && e.line == 3);
    lab_deinit(&lab);
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

/* ---- what is refused ---- */

static void check_refused(const char *text, const char *what, const char *word, uint32_t line)
{
    struct lab lab;
    struct err e = {0};
    if (lab_init_text(&lab, text, &e) == 0)
        fail_msg("%s is accepted", what);
    if (!e.text[0] || !strstr(e.text, word) || (line && e.line != line))
        fail_msg("%s: line %u: %s", what, (unsigned)e.line, e.text);
    lab_deinit(&lab);
}

static void test_refused_steps(void **state)
{
    static const struct {
        const char *steps, *word;
    } rows[] = {
        {"text", "step"},
        {"[[{ reply: 200 }]]", "step"},
        {"{ repyl: 200 }", "\"reply\""},
        {"{}", "not a step"},
        {"{ reply: 200, call: b GET /ok }", "two"},
        {"{ reply: 200, bodi: x }", "\"body\""},
        {"{ reply: 99 }", "100 to 599"},
        {"{ reply: 600 }", "100 to 599"},
        {"{ reply: 'grpc:17' }", "grpc"},
        {"{ reply: ok }", "status"},
        {"{ reply: [200] }", "status"},
        {"{ call: b }", "SERVICE METHOD /path"},
        {"{ call: [b] }", "SERVICE METHOD /path"},
        {"{ call: ex503 GET /ok }", "\"ext503\""},
        {"{ call: nobody GET /ok }", "unknown service"},
        {"{ call: b GET /okk }", "no endpoint"},
        {"{ call: b POST /ok }", "no endpoint"},
        {"{ call: b GET /ok/more }", "no endpoint"},
        {"{ call: 'b GET /okk/{payload/id}' }", "no endpoint"},
        {"{ call: a GET / }", "cycle"},
        {"{ call: b GET /ok, timeout: 10 }", "duration"},
        {"{ call: b GET /ok, idempotency-key: [a] }", "text"},
        {"{ call: b GET /ok, idempotency-key: '{nobody}' }", ""},
        {"{ call: b GET /ok, idempotencykey: a }", "\"idempotency-key\""},
        {"{ call: b GET /ok, timeout: [1s] }", "duration"},
        {"{ call: b GET /ok, timeout: 10000h }", "duration"},
        {"{ call: b GET /ok, retry: 2 }", "map"},
        {"{ call: b GET /ok, retry: { on: failed } }", "times"},
        {"{ call: b GET /ok, retry: { times: -1 } }", "times"},
        {"{ call: b GET /ok, retry: { times: 1001 } }", "times"},
        {"{ call: b GET /ok, retry: { times: 1.5 } }", "times"},
        {"{ call: b GET /ok, retry: { times: 1, on: failde } }", "\"failed\""},
        {"{ call: b GET /ok, retry: { times: 1, delay: 5 } }", "duration"},
        {"{ call: b GET /ok, retry: { times: 1, dely: 5s } }", "\"delay\""},
        {"{ call: b GET /ok, on: failed }", "map"},
        {"{ call: b GET /ok, on: { 6xx: { reply: 200 } } }", "unknown outcome"},
        {"{ call: b GET /ok, on: { '404,': { reply: 200 } } }", "unknown outcome"},
        {"{ call: b GET /ok, on: { 99: { reply: 200 } } }", "unknown outcome"},
        {"{ call: b GET /ok, on: { failed: 503 } }", "step"},
        {"{ call: b GET /ok, background: yes }", "true or false"},
        {"{ call: b GET /ok, background: true, as: x }", "background"},
        {"{ call: b GET /ok, background: true, retry: { times: 1 } }", "background"},
        {"{ call: b GET /ok, as: 'a b' }", "name"},
        {"{ call: b GET /ok, as: [x] }", "name"},
        {"{ call: b GET /ok, as: payload }", "reserved"},
        {"{ parallel: [] }", "at least 1 entry"},
        {"{ parallel: { call: b GET /ok } }", "list"},
        {"{ parallel: [{ reply: 200 }] }", "reply"},
        {"{ parallel: [{ call: b GET /ok, on: { failed: { reply: 503 } } }] }", "reply"},
        {"{ parallel: [{ if: true, then: { reply: 200 } }] }", "reply"},
        {"{ parallel: [{ sleep: 1s }], until: first }", "until"},
        {"{ if: true }", "then"},
        {"{ each: [1], as: i }", "do"},
        {"{ each: [1], do: { reply: 200 } }", "as"},
        {"{ set: v }", "map"},
        {"{ set: { state.none: 1 } }", "state"},
        {"{ set: { random: 1 } }", "reserved"},
        {"{ set: { 'a b': 1 } }", "name"},
        {"[{ set: { x: 1 } }, { call: b GET /ok, as: x }]", "answer in one place"},
        {"{ sleep: 5 }", "duration"},
        {"{ sleep: -5s }", "duration"},
        {"{ choose: [] }", "at least 1 entry"},
        {"{ shuffle: [] }", "at least 1 entry"},
        /* references */
        {"{ reply: 200, body: '{none}' }", "none"},
        {"{ reply: 200, body: '{}' }", "name"},
        {"{ reply: 200, body: '{x' }", "unclosed"},
        {"{ reply: 200, body: 'a {' }", "unclosed"},
        {"{ reply: 200, body: '{data.none}' }", "none"},
        {"{ reply: 200, body: '{state.none}' }", "none"},
        {"{ reply: 200, body: '{b.state.n}' }", "\"b\""}, /* another service's */
        {"{ reply: 200, body: '{url:none}' }", "none"},
        {"{ reply: 200, body: '{status}' }", "status"}, /* a scenario's */
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x}' }]", "answer"},
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x.statu}' }]", "\"status\""},
        {"[{ set: { x: 1 } }, { reply: 200, body: '{x.status}' }]", "value"},
        {"[{ set: { value: 1 } }, { reply: 200, body: '{valeu}' }]", "\"value\""},
        /* conditions */
        {"{ if: '', then: }", "too early"},
        {"{ if: [true], then: }", "condition"},
        {"{ if: 'true and', then: }", "too early"},
        {"{ if: 'true true', then: }", "end of the condition"},
        {"{ if: '(true', then: }", "\")\""},
        {"{ if: 'true)', then: }", "end of the condition"},
        {"{ if: '[1, 2', then: }", "\"]\""},
        {"{ if: '1 ==', then: }", "too early"},
        {"{ if: '== 1', then: }", "value"},
        {"{ if: '1 = 1', then: }", ""},
        {"{ if: '1 == 2 == 3', then: }", "end of the condition"},
        {"{ if: '1x == 1', then: }", "number"},
        {"{ if: '- == 1', then: }", "number"},
        {"{ if: \"'a == 1\", then: }", "quote"},
        {"{ if: 'nothing == 1', then: }", "nothing"},
        {"{ if: 'not', then: }", "too early"},
        {"{ if: 'a && b', then: }", ""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text;
        write_system(&text, "", rows[i].steps, "");
        check_refused(buf_text(&text), rows[i].steps, rows[i].word, 0);
        buf_deinit(&text);
    }
}

static void test_refused_files(void **state)
{
    static const char services[] = "services: { a: { GET /: } }\n";
    static const char scenarios[] = "scenarios: { s: { request: a GET / } }\n";
    static const struct {
        const char *name, *services, *scenarios, *more; /* NULL: as above */
        const char *word;
        uint32_t line;
    } rows[] = {
        {"", NULL, NULL, "", "\"system\" is missing", 0},
        {NULL, "", NULL, "", "\"services\" is missing", 0},
        {NULL, NULL, "", "", "\"scenarios\" is missing", 0},
        {"system: a b\n", NULL, NULL, "", "name of a system", 1},
        {NULL, NULL, NULL, "servces: {}\n", "\"services\"", 4},
        {NULL, NULL, NULL, "modes: { a: b }\n", "list", 4},
        {NULL, NULL, NULL, "modes: standart\n", "\"standard\"", 4},
        {NULL, NULL, NULL, "modes: []\n", "1 to 64", 4},
        {NULL, NULL, NULL, "modes: [503, 503]\n", "twice", 4},
        {NULL, NULL, NULL, "modes: [503, 'status:503']\n", "twice", 4},
        {NULL, NULL, NULL, "modes:\n  - 503\n  - rset\n", "\"reset\"", 6},
        {NULL, NULL, NULL, "modes: [[503]]\n", "mode", 4},
        {NULL, NULL, NULL, "data: 5\n", "map", 4},
        {NULL, NULL, NULL, "normalise: ['( -> x']\n", "regular expression", 4},
        {NULL, NULL, NULL, "normalise: [x]\n", "REGEX -> TEXT", 4},
        {NULL, NULL, NULL, "identify: { payloads: on }\n", "\"payload\"", 4},
        {NULL, NULL, NULL, "identify: { payload: maybe }\n", "true or false", 4},
        {NULL, NULL, NULL, "keep-state: maybe\n", "true or false", 4},
        {NULL, NULL, NULL, "about: 5\n", "text", 4},
        {NULL, NULL, NULL, "judge: 5\n", "map", 4},
        {NULL, NULL, "scenarios: { s: { request: a GET /, limit: 5 } }\n", "", "duration", 3},
        {NULL, "services: {}\n", NULL, "", "1 to 10000 entries", 2},
        {NULL, "services: [a]\n", NULL, "", "map", 2},
        {NULL, "services: { a: 5 }\n", NULL, "", "map", 2},
        {NULL, "services: { 'a b': }\n", NULL, "", "name of a service", 2},
        {NULL, "services: { a: { GET /: , latncy: 1s } }\n", NULL, "", "\"latency\"", 2},
        {NULL, "services: { a: { GET /: , latency: 1 } }\n", NULL, "", "duration", 2},
        {NULL, "services: { a: { GET /: , state: 1 } }\n", NULL, "", "map", 2},
        {NULL, "services: { a: { GET /: , external: true } }\n", NULL, "", "external", 2},
        {NULL, "services: { a: { GET /: }, b: { external: 99 } }\n", NULL, "", "external", 2},
        {NULL, "services: { a: { GET /: , 'GET / x': } }\n", NULL, "", "METHOD /path", 2},
        {NULL, "services: { a: { GET /: , 'GET x/y': } }\n", NULL, "", "METHOD /path", 2},
        {NULL, "services: { a: { GET /: , 'GET  /': } }\n", NULL, "", "already defined", 2},
        {NULL, "services: { a: { GET /: , 'GET /{x}': , 'GET /{y}': } }\n", NULL, "",
         "already defined", 2},
        {NULL, "services: { a: { GET /: , 'GET /{x}/{x}': } }\n", NULL, "", "twice", 2},
        {NULL, "services: { a: { GET /: , 'GET /a{x}': } }\n", NULL, "", "whole segment", 2},
        {NULL, "services: { a: { GET /: , 'GET /{x}a': } }\n", NULL, "", "whole segment", 2},
        {NULL, "services: { a: { GET /: , 'GET /{}': } }\n", NULL, "", "parameter", 2},
        {NULL, "services: { a: { GET /: , 'GET /{': } }\n", NULL, "", "whole segment", 2},
        {NULL, NULL, "scenarios: {}\n", "", "at least 1 entry", 3},
        {NULL, NULL, "scenarios: { s: }\n", "", "map", 3},
        {NULL, NULL, "scenarios: { s: {} }\n", "", "request", 3},
        {NULL, NULL, "scenarios: { 's s': { request: a GET / } }\n", "", "name of a scenario", 3},
        {NULL, NULL, "scenarios: { s: { request: a } }\n", "", "SERVICE METHOD /path", 3},
        {NULL, NULL, "scenarios: { s: { request: b GET / } }\n", "", "unknown service", 3},
        {NULL, NULL, "scenarios: { s: { request: a GET /x } }\n", "", "no endpoint", 3},
        {NULL, NULL, "scenarios: { s: { request: a GET /, expects: [] } }\n", "", "\"expect\"", 3},
        {NULL, NULL, "scenarios: { s: { request: a GET /, expect: { then: true } } }\n", "", "list",
         3},
        {NULL, NULL, "scenarios: { s: { request: a GET /, expect: [{ when: true }] } }\n", "",
         "then", 3},
        {NULL, NULL, "scenarios: { s: { request: a GET /, expect: [{ then: stats == 1 }] } }\n", "",
         "\"status\"", 3},
        {NULL, NULL, "scenarios: { s: { request: a GET /, expect: [{ then: faults.b == 1 }] } }\n",
         "", "unknown service", 3},
        {NULL, NULL, "scenarios: { s: { request: a GET /, expect: [{ then: a.state.x == 1 }] } }\n",
         "", "no state", 3},
        {NULL, NULL, "scenarios: { s: { request: a GET /, expect: [{ then: a.stat.x == 1 }] } }\n",
         "", "", 3},
        {NULL, NULL, "scenarios: { s: { request: a GET /, expect: [{ then: payload == 1 }] } }\n",
         "", "", 3},
        {NULL,
         "services: { a: { GET /: { call: b GET / } }, b: { GET /: { if: true, then: { call: a GET / } } } }\n",
         NULL, "", "cycle", 2},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(1 << 16);
        buf_addf(&text, "%s%s%s%s", rows[i].name ? rows[i].name : "system: s\n",
                 rows[i].services ? rows[i].services : services,
                 rows[i].scenarios ? rows[i].scenarios : scenarios, rows[i].more);
        check_refused(buf_text(&text), buf_text(&text), rows[i].word, rows[i].line);
        buf_deinit(&text);
    }
    check_refused("", "an empty file", "", 0);
    check_refused("[]", "a list", "map", 1);
    check_refused("text", "a text", "map", 1);
}

/* A wrong type is looked at before the value. (Under UBSan: nothing is read as a bool that is
 * none.) */
static void test_refused_keep_state(void **state)
{
    static const char *const rows[] = {"0.1", "[a]", "{ a: b }", "1", "''", "~"};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(1000);
        buf_addf(&text,
                 "system: s\nservices: { a: { GET /: } }\nscenarios: { s: { request: a GET / } }\n"
                 "keep-state: %s\n",
                 rows[i]);
        check_refused(buf_text(&text), rows[i], "true or false", 4);
        buf_deinit(&text);
    }
}

/* A dot where a slash belongs is an error of the file, not a value that is compared with something
 * else. */
static void test_refused_dots(void **state)
{
    static const char *const expects[] = {"body.text == 'hi'", "status.x == 200", "body.x",
                                          "status.code"};
    static const char *const steps[] = {
        "{ reply: 200, body: '{payload.id}' }", "{ if: payload.id == 42, then: }",
        "{ reply: 200, body: '{random.x}' }", "{ reply: 200, body: '{time.x}' }"};
    (void)state;
    for (size_t i = 0; i < LENGTH(expects); i++) {
        struct buf text, expect = BUF_INIT(1000);
        buf_addf(&expect, "    expect: [{ then: \"%s\" }]\n", expects[i]);
        write_system(&text, "", "{ reply: 200, body: { text: hi } }", buf_text(&expect));
        check_refused(buf_text(&text), expects[i], "", 0);
        buf_deinit(&text);
        buf_deinit(&expect);
    }
    for (size_t i = 0; i < LENGTH(steps); i++) {
        struct buf text;
        write_system(&text, "", steps[i], "");
        check_refused(buf_text(&text), steps[i], "", 0);
        buf_deinit(&text);
    }
}

/* A parameter with a name that means something already is refused, like a variable; or it is the
 * parameter. */
static void test_parameters_called_like_references(void **state)
{
    static const char *const names[] = {"payload", "random", "time", "state"};
    (void)state;
    for (size_t i = 0; i < LENGTH(names); i++) {
        struct lab lab;
        struct err e = {0};
        struct buf text = BUF_INIT(1000), answer = BUF_INIT(1000);
        buf_addf(&text,
                 "system: s\nservices: { a: { 'GET /{%s}': { reply: 200, body: '{%s}' } } }\n"
                 "scenarios: { s: { request: a GET /here } }\n",
                 names[i], names[i]);
        if (lab_init_text(&lab, buf_text(&text), &e) == 0) {
            run(&lab, 1, &answer);
            if (strcmp(buf_text(&answer), "200 \"here\"") != 0)
                fail_msg("/{%s} is %s", names[i], buf_text(&answer));
        }
        buf_deinit(&text);
        buf_deinit(&answer);
        lab_deinit(&lab);
    }
}

/* ---- limits ---- */

/* Runs the file in a process of its own: 'r' it ran, 'e' there was an error, else what became of
 * the process. */
static char outlive(const char *text)
{
    pid_t child = fork();
    if (child == 0) {
        struct lab lab;
        struct err e = {0};
        signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on with the tests */
        alarm(20);
        int failed = lab_init_text(&lab, text, &e) ||
                     sim_run(lab.sim, 0, &lab.aim, 1, &lab.trace, &lab.verdict, NULL, &e);
        lab_deinit(&lab);
        _exit(failed ? 'e' : 'r');
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? (char)WEXITSTATUS(status) : WTERMSIG(status) == SIGALRM ? 't' : 'c';
}

/* A chain of services, each calling the next. */
static void write_chain(struct buf *out, int n, bool by_url)
{
    *out = BUF_INIT(YAML_BYTES_MAX);
    buf_adds(out, "system: chain\nservices:\n");
    for (int i = 0; i < n; i++) {
        buf_addf(out, "  s%d: { GET /: ", i);
        if (i + 1 < n)
            buf_addf(out, by_url ? "{ call: 'GET {url:s%d}/' }" : "{ call: s%d GET / }", i + 1);
        buf_adds(out, " }\n");
    }
    buf_adds(out, "scenarios: { s: { request: s0 GET / } }\n");
}

static void test_deep_calls(void **state)
{
    static const struct {
        int n;
        bool by_url;
        char result;
    } rows[] = {{64, false, 'r'}, {65, false, 'e'}, {1000, false, 'e'},
                {64, true, 'r'},  {65, true, 'e'},  {1000, true, 'e'}};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text;
        write_chain(&text, rows[i].n, rows[i].by_url);
        char result = outlive(buf_text(&text));
        if (result != rows[i].result)
            fail_msg("%d services%s: %c", rows[i].n, rows[i].by_url ? " by URL" : "", result);
        buf_deinit(&text);
    }
    /* in a circle that only a run shows */
    assert_int_equal(outlive("system: s\nservices: { a: { GET /: { call: 'GET {url:a}/' } } }\n"
                             "scenarios: { s: { request: a GET / } }\n"),
                     'e');
    assert_int_equal(
        outlive("system: s\nservices: { a: { GET /: [{ call: 'GET {url:a}/' }, "
                "{ call: 'GET {url:a}/' }] } }\nscenarios: { s: { request: a GET / } }\n"),
        'e');
}

/* A system with a list of n items under data.many. */
static void write_many(struct buf *out, uint32_t n, const char *steps)
{
    struct buf top = BUF_INIT(YAML_BYTES_MAX);
    buf_adds(&top, "data: { many: [0");
    for (uint32_t i = 1; i < n; i++)
        buf_adds(&top, ",0");
    buf_adds(&top, "] }");
    write_system(out, buf_text(&top), steps, "");
    buf_deinit(&top);
}

/* Loops of more than SIM_STEPS_MAX steps are an error. */
static void test_many_steps(void **state)
{
    static const char *const loops[] = {
        "[{ each: '{data.many}', as: i, do: { each: '{data.many}', as: k, do: { add: { v: 1 } } } }]",
        "[{ each: '{data.many}', as: i, do: { each: '{data.many}', as: k, do: { sleep: 1ns } } }]",
        "[{ each: '{data.many}', as: i, do: { each: '{data.many}', as: k, do: { if: false, then: } } }]",
    };
    uint32_t side = 1;
    (void)state;
    while ((side + 1) * (side + 1) < SIM_STEPS_MAX)
        side++;
    for (size_t i = 0; i < LENGTH(loops); i++)
        for (uint32_t n = side / 2; n <= side + 2; n += side / 2 + 2) {
            struct buf text;
            write_many(&text, n, loops[i]);
            char result = outlive(buf_text(&text));
            if (result != (n < side ? 'r' : 'e'))
                fail_msg("%u items: %s: %c", (unsigned)n, loops[i], result);
            buf_deinit(&text);
        }
}

/* Doing nothing very often is also something: it ends with an error, and soon. */
static void test_empty_loops(void **state)
{
    struct buf text;
    (void)state;
    write_many(&text, 400000,
               "[{ each: '{data.many}', as: i, do: { each: '{data.many}', as: k, do: } }]");
    assert_int_equal(outlive(buf_text(&text)), 'e');
    buf_deinit(&text);
}

/* A system in which n times n calls are made, besides some. */
static void write_calls(struct buf *out, uint32_t n)
{
    *out = BUF_INIT(1000);
    buf_addf(out,
             "system: many\nservices:\n"
             "  a: { GET /: { call: b GET /, retry: { times: %u, on: any } } }\n"
             "  b: { GET /: { call: c GET /, retry: { times: %u, on: any } } }\n"
             "  c: { GET /: }\nscenarios: { s: { request: a GET / } }\n",
             (unsigned)n, (unsigned)n);
}

/* SIM_CALLS_MAX calls are the limit, whoever makes them; retries count. */
static void test_many_calls(void **state)
{
    uint32_t side = 1;
    (void)state;
    while ((side + 1) * (side + 1) < SIM_CALLS_MAX)
        side++;
    for (uint32_t n = side - 3; n <= side + 3; n += 6) {
        struct buf text;
        write_calls(&text, n);
        assert_int_equal(outlive(buf_text(&text)), n < side ? 'r' : 'e');
        buf_deinit(&text);
    }
}

/* All of them by one handler: named in a time that is not worth mentioning. */
static void test_many_siblings(void **state)
{
    struct buf text;
    (void)state;
    for (uint32_t n = SIM_CALLS_MAX - 1; n <= SIM_CALLS_MAX; n++) {
        write_many(&text, n, "[{ each: '{data.many}', as: i, do: { call: b GET /empty } }]");
        assert_int_equal(outlive(buf_text(&text)), n < SIM_CALLS_MAX ? 'r' : 'e');
        buf_deinit(&text);
    }
}

/* What a file may have at most. */
static void test_large_files(void **state)
{
    static const struct {
        const char *before, *item;
        uint32_t most;
    } rows[] = {
        {"system: s\nscenarios: { s: { request: a GET / } }\nservices:\n  a: { GET /: }\n",
         "  s%u:\n", SIM_SERVICES_MAX - 1},
        {"system: s\nscenarios: { s: { request: a GET / } }\nservices:\n  a:\n    GET /:\n",
         "    GET /%u:\n", SIM_ENDPOINTS_MAX - 1},
        {"system: s\nscenarios: { s: { request: a GET / } }\nservices:\n  a:\n    GET /:\n",
         "      - set: { v%u: 1 }\n", SIM_NAMES_MAX},
        {"system: s\nservices: { a: { GET /: } }\nscenarios: { s: { request: a GET / } }\nnormalise:\n",
         "  - a%u -> b\n", 100},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (uint32_t n = rows[i].most; n <= rows[i].most + 1; n++) {
            struct buf text = BUF_INIT(YAML_BYTES_MAX);
            buf_adds(&text, rows[i].before);
            for (uint32_t k = 0; k < n; k++) {
                slice rest = slice_of(rows[i].item), part;
                slice_cut(&rest, '%', &part);
                buf_add(&text, part);
                buf_addf(&text, "%u", (unsigned)k);
                buf_add(&text, slice_from(rest, 1));
            }
            char result = outlive(buf_text(&text));
            if (result != (n > rows[i].most ? 'e' : 'r'))
                fail_msg("%u times %s: %c", (unsigned)n, rows[i].item, result);
            buf_deinit(&text);
        }
}

/* A value that is nested deeper than any stack: whatever becomes of it, the process goes on. */
static void test_deep_values(void **state)
{
    static const char *const uses[] = {"{ reply: 200, body: 'text {v}' }",
                                       "{ if: v == w, then: { reply: 201 } }"};
    (void)state;
    for (size_t i = 0; i < LENGTH(uses); i++) {
        struct buf text, steps = BUF_INIT(1000);
        buf_addf(
            &steps,
            "[{ each: '{data.many}', as: i, do: { each: '{data.many}', as: k, do: { set: { v: ['{v}'], w: "
            "['{w}'] } } } }, %s]",
            uses[i]);
        write_many(&text, 300, buf_text(&steps));
        char result = outlive(buf_text(&text));
        if (result != 'e' && result != 'r')
            fail_msg("%s: %c", uses[i], result);
        buf_deinit(&text);
        buf_deinit(&steps);
    }
}

/* A value that is twice itself, again and again. */
static void test_wide_values(void **state)
{
    struct buf text;
    (void)state;
    write_many(&text, 60,
               "[{ each: '{data.many}', as: i, do: { set: { v: ['{v}', '{v}'] } } }, "
               "{ reply: 200, body: 'text {v}' }]");
    char result = outlive(buf_text(&text));
    buf_deinit(&text);
    if (result != 'e' && result != 'r')
        fail_msg("%c", result);
}

/* Conditions of any length and depth that a file can have. */
static void test_large_conditions(void **state)
{
    static const struct {
        const char *first, *part, *last, *close;
        size_t n;
        const char *results;
    } rows[] = {
        {"true", " and true", "", "", 60, "r"},
        {"true", " and true", "", "", 300000, "re"},
        {"false", " or false", "", "", 300000, "re"},
        {"", "not ", "true", "", 300000, "re"},
        {"", "(", "true", ")", 60, "r"},
        {"", "(", "true", ")", 300000, "e"},
        {"", "[", "true", "]", 300000, "e"},
        {"1 in [1", ", 1", "]", "", 300000, "re"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text, steps = BUF_INIT(YAML_BYTES_MAX);
        buf_addf(&steps, "[{ if: '%s", rows[i].first);
        for (size_t k = 0; k < rows[i].n; k++)
            buf_adds(&steps, rows[i].part);
        buf_adds(&steps, rows[i].last);
        for (size_t k = 0; k < rows[i].n; k++)
            buf_adds(&steps, rows[i].close);
        buf_adds(&steps, "', then: { reply: 200 } }]");
        write_system(&text, "", buf_text(&steps), "");
        char result = outlive(buf_text(&text));
        if (!strchr(rows[i].results, result))
            fail_msg("%u times \"%s\": %c", (unsigned)rows[i].n, rows[i].part, result);
        buf_deinit(&text);
        buf_deinit(&steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reply),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_assignments),
        cmocka_unit_test(test_if_each),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_outcome_words),
        cmocka_unit_test(test_answer_fields),
        cmocka_unit_test(test_on),
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
        cmocka_unit_test(test_keep_state),
        cmocka_unit_test(test_keep_state_long),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_about),
        cmocka_unit_test(test_request_to_nobody),
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_refused_steps),
        cmocka_unit_test(test_refused_files),
        cmocka_unit_test(test_refused_keep_state),
        cmocka_unit_test(test_refused_dots),
        cmocka_unit_test(test_parameters_called_like_references),
        cmocka_unit_test(test_deep_calls),
        cmocka_unit_test(test_many_steps),
        cmocka_unit_test(test_empty_loops),
        cmocka_unit_test(test_many_calls),
        cmocka_unit_test(test_many_siblings),
        cmocka_unit_test(test_large_files),
        cmocka_unit_test(test_deep_values),
        cmocka_unit_test(test_wide_values),
        cmocka_unit_test(test_large_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
