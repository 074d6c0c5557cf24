/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulated systems that are refused: files that are wrong, with the line and a word that helps; and
 * those that are too large, too deep or never done, which end with an error and not the process. */
#include "support/sim_lab.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
        {NULL, NULL, "scenarios: {}\n", "", "must have 1 to 10000 entries", 3},
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
        alarm(120);
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
