/* SPDX-License-Identifier: Apache-2.0
 *
 * The language of simulated systems, against docs/simulated-systems.md: steps, values, conditions
 * and words for outcomes, by what small systems answer; and what a scenario expects of that. */
#include "support/sim_lab.h"

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
        cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_about),
        cmocka_unit_test(test_request_to_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
