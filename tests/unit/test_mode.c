/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * Modes beyond their text (test_mode_text.c has that): the fields that they name, what each does to a
 * simulated call, and that the search copes with them. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/yaml.h"
#include "sim/sim_int.h"
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static mode parse_mode(const char *text)
{
    struct err e = {0};
    mode m = MODE_NONE;
    if (mode_parse(slice_of(text), &m, &e))
        fail_msg("%s: %s", text, e.text);
    return m;
}

/* Numbers are stored: a row keeps its place for ever. */
static void test_kinds_stay(void **state)
{
    static const char *const names[] = {
        "none",      "status",     "grpc",        "refuse", "reset",    "close",
        "hold",      "delay",      "delay-reply", "slow",   "truncate", "corrupt",
        "duplicate", "rst-stream", "goaway",      "event",
    };
    (void)state;
    assert_true(MODE_KINDS >= LENGTH(names) && MODE_KINDS <= 32);
    for (size_t i = 0; i < LENGTH(names); i++)
        assert_string_equal(mode_rows[i].name, names[i]);
    assert_int_equal(OUT_TIMEOUT, 6);
    assert_int_equal(OUT_CANCELLED, 7);
}

/* ---- fields ---- */

static void test_corrupt(void **state)
{
    static const struct {
        const char *text;
        enum mode_corrupt what;
        const char *field;
    } rows[] = {
        {"corrupt:empty", CORRUPT_EMPTY, ""},
        {"corrupt:garbage", CORRUPT_GARBAGE, ""},
        {"corrupt:remove=a", CORRUPT_REMOVE, "a"},
        {"corrupt:null=a", CORRUPT_NULL, "a"},
        {"corrupt:remove=a/b/0", CORRUPT_REMOVE, "a/b/0"},
        {"corrupt:null=\xc3\xa9=\"x\":,&#>{}", CORRUPT_NULL, "\xc3\xa9=\"x\":,&#>{}"},
    };
    mode all[LENGTH(rows)];
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        all[i] = parse_mode(rows[i].text);
        assert_int_equal(mode_kind(all[i]), MODE_CORRUPT);
        assert_int_equal(mode_corrupt(all[i]), rows[i].what);
        assert_true(slice_is(mode_field(all[i]), rows[i].field));
        assert_int_equal(parse_mode(rows[i].text), all[i]);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(all[i], all[k]);
    }
    assert_int_equal(mode_field(parse_mode("reset:300")).n, 0);
    assert_int_equal(mode_field(mode_make(MODE_CORRUPT, MODE_ARGUMENT_MAX)).n, 0);
}

static void test_event(void **state)
{
    (void)state;
    mode a = parse_mode("event:kill-stock"), b = parse_mode("event:kill.price_2");
    assert_int_equal(mode_kind(a), MODE_EVENT);
    assert_true(slice_is(mode_event(a), "kill-stock") && slice_is(mode_event(b), "kill.price_2"));
    assert_int_not_equal(a, b);
    assert_int_equal(mode_event(parse_mode("corrupt:remove=kill-stock")).n, 0);
    assert_int_equal(mode_field(a).n, 0);
    assert_true(mode_reached(a) && mode_label(a) == (LABEL_MODE | a));
    static const char *const wrong[] = {"event", "event:", "event:a b", "event:-a/b", "event:a:b"};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        struct err e = {0};
        mode m;
        assert_int_equal(mode_parse(slice_of(wrong[i]), &m, &e), -1);
        assert_non_null(strstr(e.text, "the name of an event of the plan"));
    }
}

/* The longest field is accepted and read back, one byte more is not. */
static void test_long_field(void **state)
{
    struct buf text = BUF_INIT(1000), again = BUF_INIT(MODE_TEXT_MAX);
    struct err e = {0};
    mode m;
    (void)state;
    buf_adds(&text, "corrupt:remove=");
    for (int i = 0; i < MODE_FIELD_MAX; i++)
        buf_addc(&text, i % 2 ? '/' : 'x');
    text.p[text.n - 1] = 'x';
    m = parse_mode(buf_text(&text));
    mode_print(m, &again);
    assert_false(again.full);
    assert_string_equal(buf_text(&text), buf_text(&again));
    assert_int_equal(mode_field(m).n, MODE_FIELD_MAX);
    buf_addc(&text, 'x');
    assert_int_equal(mode_parse(buf_slice(&text), &m, &e), -1);
    assert_non_null(strstr(e.text, "1 to 200 bytes"));
    buf_deinit(&text);
    buf_deinit(&again);
}

enum { THREADS = 4, ROUNDS = 20, FIELDS = 50 };

struct parser {
    pthread_t thread;
    unsigned first;
    mode got[FIELDS];
    bool wrong;
};

/* Parses fields that the other threads parse too, each thread from another one on. */
static void *parse_fields(void *ctx)
{
    struct parser *p = ctx;
    for (int round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < FIELDS; i++) {
            char text[64];
            struct err e = {0};
            mode m = MODE_NONE;
            unsigned k = (p->first + i) % FIELDS;
            int n = snprintf(text, sizeof text, "corrupt:null=shared/%u", k);
            p->wrong |= mode_parse(slice_of(text), &m, &e) != 0;
            p->wrong |= !slice_is(mode_field(m), text + sizeof "corrupt:null=" - 1) || n < 1;
            p->wrong |= round && p->got[k] != m;
            p->got[k] = m;
        }
    return NULL;
}

/* Threads that parse at the same time agree on the numbers of modes. */
static void test_fields_threads(void **state)
{
    struct parser parsers[THREADS] = {0};
    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        parsers[i].first = i * (FIELDS / THREADS);
        assert_int_equal(pthread_create(&parsers[i].thread, NULL, parse_fields, &parsers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(parsers[i].thread, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_false(parsers[i].wrong);
        assert_memory_equal(parsers[i].got, parsers[0].got, sizeof parsers[0].got);
    }
    for (unsigned i = 0; i < FIELDS; i++)
        for (unsigned k = 0; k < i; k++)
            assert_int_not_equal(parsers[0].got[i], parsers[0].got[k]);
}

/* In a process of its own, because what is full stays full. */
static int fill_fields(void)
{
    char text[64];
    mode m, first = parse_mode("corrupt:remove=first");
    for (int i = 0; i < 2 * MODE_FIELDS_MAX; i++) {
        struct err e = {0};
        snprintf(text, sizeof text, "corrupt:remove=f%d", i);
        if (mode_parse(slice_of(text), &m, &e) == 0 && i < MODE_FIELDS_MAX)
            continue;
        if (!strstr(e.text, "more than 4096 different fields"))
            return 1; /* refused for another reason, or never */
        if (parse_mode("corrupt:remove=first") != first || !slice_is(mode_field(first), "first"))
            return 2; /* what is there is found still */
        return parse_mode("corrupt:null=f0") == MODE_NONE ? 3 : 0;
    }
    return 4;
}

static void test_fields_full(void **state)
{
    int status = -1;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(fill_fields());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- on simulated calls ---- */

/* The body of `b GET /doc` has 61 bytes as JSON. */
static const char system_text[] =
    "system: modes\n"
    "modes: [503]\n"
    "services:\n"
    "  a:\n"
    "    GET /:\n"
    "      - { call: b GET /doc, as: x, timeout: 10s }\n"
    "      - { reply: 200, body: ['{x.status}', '{x.conn}', '{x.json}', '{x.body}'] }\n"
    "    GET /rpc:\n"
    "      - { call: b rpc.B/Do, as: x }\n"
    "      - { reply: 200, body: ['{x.ok}', '{x.conn}', '{x.body}'] }\n"
    "    GET /empty:\n"
    "      - { call: b GET /empty, as: x, timeout: 10s }\n"
    "      - { reply: 200, body: ['{x.status}', '{x.conn}', '{x.body}'] }\n"
    "  b:\n"
    "    GET /doc: { reply: 201, body: { id: 7, tags: [ x, yy, { z: 1 } ], sub: { key: v } } }\n"
    "    rpc.B/Do: { reply: 'grpc:0', body: { id: 7 } }\n"
    "    GET /empty: { reply: 204 }\n"
    "scenarios:\n"
    "  doc: { request: a GET / }\n"
    "  rpc: { request: a GET /rpc }\n"
    "  empty: { request: a GET /empty }\n";

static void start(struct lab *lab, const char *text)
{
    struct err e = {0};
    if (lab_init_text(lab, text, &e))
        fail_msg("%u:%u: %s", (unsigned)e.line, (unsigned)e.col, e.text);
}

static void add_fault(struct lab *lab, const char *pattern)
{
    struct err e = {0};
    if (aim_add(&lab->aim, ANY_VOCABULARY(&lab->names), UID_NONE, slice_of(pattern), &e))
        fail_msg("%s: %s", pattern, e.text);
}

/* The body that the client receives. */
static void run(struct lab *lab, const char *scenario, struct buf *out)
{
    const struct node *body = NULL;
    struct err e = {0};
    if (sim_run(lab->sim, sim_scenario(lab->sim, scenario), &lab->aim, 1, &lab->trace,
                &lab->verdict, &body, &e))
        fail_msg("%s", e.text);
    node_print(body, out);
}

#define DOC "{\"id\": 7, \"tags\": [\"x\", \"yy\", {\"z\": 1}], \"sub\": {\"key\": \"v\"}}"

static void test_acts(void **state)
{
    static const struct {
        const char *scenario, *mode, *body;
        int64_t ns; /* that the call takes; an answer is there after 1ms */
        bool handled;
    } rows[] = {
        {"doc", "delay-reply:3s", "[201, false, true, " DOC "]", 3001000000, true},
        {"doc", "delay-reply:10s", "[0, false, false, null]", 10000000000, true},
        {"doc", "slow:1000", "[201, false, true, " DOC "]", 62000000, true},
        {"doc", "slow:7", "[201, false, true, " DOC "]", 8715285714, true},
        {"doc", "slow:1", "[0, false, false, null]", 10000000000, true},
        {"doc", "slow:16777215", "[201, false, true, " DOC "]", 1003635, true},
        {"doc", "truncate:0", "[0, true, false, null]", 1000000, true},
        {"doc", "truncate:60", "[0, true, false, null]", 1000000, true},
        {"doc", "truncate:61", "[201, false, true, " DOC "]", 1000000, true},
        {"doc", "reset:1", "[0, true, false, null]", 1000000, true},
        {"doc", "reset:60", "[0, true, false, null]", 1000000, true},
        {"doc", "reset:61", "[201, false, true, " DOC "]", 1000000, true},
        {"doc", "close:60", "[0, true, false, null]", 1000000, true},
        {"doc", "close:16777215", "[201, false, true, " DOC "]", 1000000, true},
        {"doc", "corrupt:empty", "[201, false, false, null]", 1000000, true},
        {"doc", "corrupt:garbage", "[201, false, false, \"}{ garbage ][\"]", 1000000, true},
        {"doc", "corrupt:remove=id",
         "[201, false, true, {\"tags\": [\"x\", \"yy\", {\"z\": 1}], \"sub\": {\"key\": \"v\"}}]",
         1000000, true},
        {"doc", "corrupt:remove=tags/0",
         "[201, false, true, {\"id\": 7, \"tags\": [\"yy\", {\"z\": 1}], \"sub\": {\"key\": "
         "\"v\"}}]",
         1000000, true},
        {"doc", "corrupt:remove=tags/2/z",
         "[201, false, true, {\"id\": 7, \"tags\": [\"x\", \"yy\", {}], \"sub\": {\"key\": "
         "\"v\"}}]",
         1000000, true},
        {"doc", "corrupt:remove=sub",
         "[201, false, true, {\"id\": 7, \"tags\": [\"x\", \"yy\", {\"z\": 1}]}]", 1000000, true},
        {"doc", "corrupt:null=tags",
         "[201, false, true, {\"id\": 7, \"tags\": null, \"sub\": {\"key\": \"v\"}}]", 1000000,
         true},
        {"doc", "corrupt:null=tags/1",
         "[201, false, true, {\"id\": 7, \"tags\": [\"x\", null, {\"z\": 1}], \"sub\": {\"key\": "
         "\"v\"}}]",
         1000000, true},
        {"doc", "corrupt:null=sub/key",
         "[201, false, true, {\"id\": 7, \"tags\": [\"x\", \"yy\", {\"z\": 1}], \"sub\": "
         "{\"key\": null}}]",
         1000000, true},
        {"doc", "corrupt:null=sub/other", "[201, false, true, " DOC "]", 1000000, true},
        {"doc", "corrupt:remove=tags/3", "[201, false, true, " DOC "]", 1000000, true},
        {"doc", "corrupt:remove=tags/x", "[201, false, true, " DOC "]", 1000000, true},
        {"doc", "corrupt:remove=id/x", "[201, false, true, " DOC "]", 1000000, true},
        {"doc", "rst-stream:7", "[0, true, false, null]", 1000, false},
        {"doc", "goaway", "[0, true, false, null]", 1000, false},
        {"doc", "lost-reply:rst-stream:7", "[0, true, false, null]", 1000000, true},
        {"doc", "lost-reply:goaway", "[0, true, false, null]", 1000000, true},
        {"rpc", "corrupt:empty", "[true, false, null]", 1000000, true},
        {"rpc", "corrupt:garbage", "[true, false, \"}{ garbage ][\"]", 1000000, true},
        {"rpc", "corrupt:remove=id", "[true, false, {\"id\": 7}]", 1000000, true},
        {"rpc", "corrupt:null=id", "[true, false, {\"id\": 7}]", 1000000, true},
        {"rpc", "truncate:8", "[false, true, null]", 1000000, true},
        {"empty", "truncate:0", "[204, false, null]", 1000000, true},
        {"empty", "reset:1", "[204, false, null]", 1000000, true},
        {"empty", "slow:1", "[204, false, null]", 1000000, true},
        {"empty", "corrupt:garbage", "[204, false, null]", 1000000, true},
        {"empty", "corrupt:remove=a", "[204, false, null]", 1000000, true},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf pattern = BUF_INIT(100), body = BUF_INIT(1000);
        start(&lab, system_text);
        buf_addf(&pattern, "b * : %s", rows[i].mode);
        add_fault(&lab, buf_text(&pattern));
        run(&lab, rows[i].scenario, &body);
        const struct call *c = &lab.trace.calls.at[1];
        if (strcmp(buf_text(&body), rows[i].body) != 0)
            fail_msg("%s: %s", rows[i].mode, buf_text(&body));
        if (c->end_ns - c->start_ns != rows[i].ns)
            fail_msg("%s: %lld ns", rows[i].mode, (long long)(c->end_ns - c->start_ns));
        assert_int_equal(c->handled, rows[i].handled);
        assert_int_equal(c->mode, parse_mode(rows[i].mode));
        assert_int_equal(lab.trace.calls.n, 2);
        buf_deinit(&pattern);
        buf_deinit(&body);
        lab_deinit(&lab);
    }
}

/* What the caller sees of a body that breaks off. */
static void test_cut_outcomes(void **state)
{
    static const struct {
        const char *fault;
        enum outcome_kind seen;
    } rows[] = {
        {"b * : reset:3", OUT_RESET},     {"b * : close:3", OUT_CLOSED},
        {"b * : truncate:3", OUT_CLOSED}, {"b * : rst-stream:3", OUT_RESET},
        {"b * : goaway", OUT_CLOSED},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf body = BUF_INIT(1000);
        start(&lab, system_text);
        add_fault(&lab, rows[i].fault);
        run(&lab, "doc", &body);
        assert_int_equal(lab.trace.calls.at[1].seen, OUTCOME(rows[i].seen, 0));
        buf_deinit(&body);
        lab_deinit(&lab);
    }
}

/* A body that was changed still weighs what it holds: values that double with every call end the
 * run and do not fill the memory. */
static void test_corrupt_bounds(void **state)
{
    struct lab lab;
    struct buf text = BUF_INIT(4000);
    struct err e = {0};
    (void)state;
    buf_adds(&text,
             "system: grows\nservices:\n  a:\n    GET /:\n      - set: { v: 1 }\n"
             "      - each: '{data.list}'\n        as: i\n        do:\n"
             "          - { call: b POST /, payload: '{v}', as: x }\n"
             "          - set: { v: '{x.body}' }\n"
             "  b: { POST /: { reply: 200, body: { l: ['{payload}', '{payload}'], k: 1 } } }\n"
             "scenarios: { s: { request: a GET / } }\ndata: { list: [ 0");
    for (int i = 1; i < 50; i++)
        buf_addf(&text, ", %d", i);
    buf_adds(&text, " ] }\n");
    start(&lab, buf_text(&text));
    add_fault(&lab, "b * #* : corrupt:null=k");
    assert_int_equal(sim_run(lab.sim, 0, &lab.aim, 1, &lab.trace, &lab.verdict, NULL, &e), -1);
    assert_non_null(strstr(e.text, "too many parts"));
    assert_true(lab.trace.calls.n < 20);
    buf_deinit(&text);
    lab_deinit(&lab);
}

/* ---- duplicate ---- */

static const char duplicate_text[] =
    "system: twice\n"
    "services:\n"
    "  a:\n"
    "    GET /:\n"
    "      - { call: b POST /, as: x, timeout: 5s, retry: { times: 1 } }\n"
    "      - { reply: 200, body: ['{x.status}', '{x.timeout}', '{x.body}'] }\n"
    "    GET /again:\n"
    "      - { call: b POST /, as: x }\n"
    "      - { call: b POST /, as: x }\n"
    "      - { reply: 200, body: '{x.body}' }\n"
    "    GET /background: { call: b POST /, background: true }\n"
    "  b:\n"
    "    state: { n: 0 }\n"
    "    POST /:\n"
    "      - add: { state.n: 1 }\n"
    "      - { call: c GET /, on: { failed: { reply: 502, body: '{state.n}' } } }\n"
    "      - { call: c GET /, on: { failed: { reply: 502, body: '{state.n}' } } }\n"
    "      - { reply: 201, body: '{state.n}' }\n"
    "  c:\n"
    "    GET /:\n"
    "scenarios:\n"
    "  s: { request: a GET / }\n"
    "  again: { request: a GET /again }\n"
    "  background: { request: a GET /background }\n";

/* All calls but the first: "LAST TWO ELEMENTS SEEN; ". */
static void print_calls(const struct lab *lab, struct buf *out)
{
    for (uint32_t i = 1; i < lab->trace.calls.n; i++) {
        const struct call *c = &lab->trace.calls.at[i];
        uid parent = uid_parent(&lab->names, c->uid);
        if (uid_parent(&lab->names, parent) != UID_NONE) {
            element_print(&lab->names, uid_element(&lab->names, parent), out);
            buf_adds(out, " > ");
        }
        element_print(&lab->names, uid_element(&lab->names, c->uid), out);
        buf_addc(out, ' ');
        outcome_print(c->seen, out);
        buf_adds(out, "; ");
    }
}

/* The calls of one execution that succeeds, by the n of the request. */
#define EXECUTION(n)                                                                               \
    "b POST /" n " 201; b POST /" n " > c GET / 200; b POST /" n " > c GET / #1 200; "

static void test_duplicate(void **state)
{
    static const struct {
        const char *scenario, *faults[3], *body, *calls;
    } rows[] = {
        {"s", {0}, "[201, false, 1]", EXECUTION("")},
        {"s", {"b * : duplicate"}, "[201, false, 2]", EXECUTION("") EXECUTION(" #1")},
        /* not again and again */
        {"s", {"b * #* : duplicate"}, "[201, false, 2]", EXECUTION("") EXECUTION(" #1")},
        /* the second answer counts, whatever the first was */
        {"s",
         {"b POST / > c GET / : 503", "b * : duplicate"},
         "[201, false, 2]",
         "b POST / 502; b POST / > c GET / 503; " EXECUTION(" #1")},
        {"s",
         {"b POST / #1 > c GET / #1 : 503", "b * : duplicate"},
         "[201, false, 3]",
         EXECUTION("") "b POST / #1 502; b POST / #1 > c GET / 200; b POST / #1 > c GET / #1 503; "
                       "b POST / #2 201; b POST / #2 > c GET / 200; b POST / #2 > c GET / #1 "
                       "200; "},
        /* the copy may fail on its way; the caller then tries again */
        {"s",
         {"b * : duplicate", "b * #1 : reset"},
         "[201, false, 2]",
         EXECUTION("") "b POST / #1 reset; " EXECUTION(" #2")},
        /* names go on behind the copy */
        {"again", {"b * : duplicate"}, "3", EXECUTION("") EXECUTION(" #1") EXECUTION(" #2")},
        {"background", {"b * : duplicate"}, "null", EXECUTION("") EXECUTION(" #1")},
        /* one timeout for both: it ends in the second ... */
        {"s",
         {"b * : duplicate", "b POST / #1 > c * : delay:6s"},
         "[201, false, 3]",
         EXECUTION("") "b POST / #1 timeout; b POST / #1 > c GET / 200; b POST / #1 > c GET / #1 "
                       "200; " EXECUTION(" #2")},
        /* ... or in the first: who has gone is sent no copy for */
        {"s",
         {"b * : duplicate", "b POST / > c * : delay:6s"},
         "[201, false, 2]",
         "b POST / timeout; b POST / > c GET / 200; b POST / > c GET / #1 200; " EXECUTION(" #1")},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf body = BUF_INIT(1000), calls = BUF_INIT(4000);
        start(&lab, duplicate_text);
        for (int k = 0; k < 3 && rows[i].faults[k]; k++)
            add_fault(&lab, rows[i].faults[k]);
        run(&lab, rows[i].scenario, &body);
        print_calls(&lab, &calls);
        if (strcmp(buf_text(&body), rows[i].body) != 0 ||
            strcmp(buf_text(&calls), rows[i].calls) != 0)
            fail_msg("row %d: %s\n%s", (int)i, buf_text(&body), buf_text(&calls));
        buf_deinit(&body);
        buf_deinit(&calls);
        lab_deinit(&lab);
    }
}

/* The service gets the copy when it has answered the first, and both share the caller's patience.
 * To the caller they are one call, so they start together. */
static void test_duplicate_time(void **state)
{
    static const struct {
        const char *timeout, *fault;
        int64_t ends_ns; /* for the caller, after it sent the request */
        enum outcome_kind seen;
    } rows[] = {
        {"1h", "", 40000002, OUT_STATUS},
        {"40000002ns", "", 40000002, OUT_STATUS},
        {"40000001ns", "", 40000001, OUT_TIMEOUT},
        {"20000001ns", "", 20000001, OUT_TIMEOUT},
        {"1h", "b * #1 : reset", 20001001, OUT_RESET},
        {"1h", "b * #1 : hold", 3600000000000, OUT_TIMEOUT},
        {"1h", "b * #1 : delay:1s", 1040000002, OUT_STATUS},
        {"1s", "b * #1 : delay:1s", 1000000000, OUT_TIMEOUT},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct buf text = BUF_INIT(1000), body = BUF_INIT(100);
        buf_addf(&text,
                 "system: t\nservices:\n  a: { GET /: { call: b GET /, timeout: %s } }\n"
                 "  b: { latency: 20ms, GET /: { call: c GET / } }\n"
                 "  c: { latency: 0s, GET /: }\nscenarios: { s: { request: a GET / } }\n",
                 rows[i].timeout);
        start(&lab, buf_text(&text));
        add_fault(&lab, "b * : duplicate");
        if (rows[i].fault[0])
            add_fault(&lab, rows[i].fault);
        run(&lab, "s", &body);
        const struct call *first = &lab.trace.calls.at[1], *second = &lab.trace.calls.at[3];
        assert_int_equal(first->seen, OUTCOME_OK);
        assert_int_equal(first->end_ns - first->start_ns, 20000001); /* c takes 1ns */
        assert_int_equal(second->start_ns, first->start_ns);
        assert_int_equal(second->end_ns - second->start_ns, rows[i].ends_ns);
        assert_int_equal(outcome_kind(second->seen), rows[i].seen);
        assert_int_equal(second->handled, lab.trace.calls.n == 5);
        if (second->handled) /* its handler calls c 20ms after the first answer */
            assert_int_equal(lab.trace.calls.at[4].start_ns, first->end_ns + 20000000);
        assert_int_equal(lab.trace.calls.at[0].end_ns, second->end_ns);
        buf_deinit(&text);
        buf_deinit(&body);
        lab_deinit(&lab);
    }
}

/* ---- in the search ---- */

static const char *const all_modes[] = {
    "503",           "grpc:14",         "refuse",           "reset",
    "reset:3",       "close",           "close:3",          "hold",
    "delay:2s",      "delay-reply:2s",  "slow:10",          "truncate:3",
    "corrupt:empty", "corrupt:garbage", "corrupt:remove=v", "corrupt:null=v",
    "duplicate",     "rst-stream:8",    "goaway",           "lost-reply:goaway",
};

static const char searched[] = "services:\n"
                               "  a:\n"
                               "    GET /:\n"
                               "      - call: b GET /\n"
                               "        as: x\n"
                               "        timeout: 1s\n"
                               "        retry: { times: 1, on: 'conn' }\n"
                               "        on: { failed: { call: d GET / } }\n"
                               "      - if: x.body/v == 1\n"
                               "        then: { call: e GET / }\n"
                               "        else: { call: d GET /else }\n"
                               "      - reply: 200\n"
                               "  b:\n"
                               "    GET /:\n"
                               "      - { call: c GET /, on: { failed: { reply: 500 } } }\n"
                               "      - { reply: 200, body: { v: 1 } }\n"
                               "  c: { GET /: }\n"
                               "  d: { GET /: , GET /else: }\n"
                               "  e: { GET /: }\n"
                               "scenarios: { s: { request: a GET / } }\n";

/* Explores with these modes, up to so many faults at a time: nothing is suspect, which includes
 * that every fault fired and that handlers went on in the same way after the same labels. Returns
 * the number of runs. */
static uint64_t explore(const char *const *modes, size_t n, uint32_t max_faults)
{
    struct lab lab;
    struct buf text = BUF_INIT(4000);
    buf_adds(&text, "system: searched\nmodes: [");
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%s'%s'", i ? ", " : "", modes[i]);
    buf_addf(&text, "]\n%s", searched);
    start(&lab, buf_text(&text));
    struct search_options options = lab_options(&lab);
    options.assume = 1u << REDUCE_MAX_FAULTS;
    options.max_faults = max_faults;
    struct search *search = lab_explore(&lab, &options, 100000);
    struct search_stats stats;
    uint32_t shown;
    uint64_t suspects;
    search_stats(search, &stats);
    search_suspects(search, &shown, &suspects);
    if (suspects || !stats.complete)
        fail_msg("%s: %llu suspects, %llu runs", modes[0], (unsigned long long)suspects,
                 (unsigned long long)stats.runs);
    search_free(search);
    lab_deinit(&lab);
    buf_deinit(&text);
    return stats.runs;
}

static void test_explore(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(all_modes); i++)
        assert_true(explore(&all_modes[i], 1, 100) > 4);
    assert_true(explore(all_modes, LENGTH(all_modes), 2) > 400);
    /* callers of HTTP/2 tell them apart */
    static const char *const resets[] = {"reset", "rst-stream:7"};
    assert_true(explore(resets, 2, 100) > explore(resets, 1, 100));
    static const char *const closes[] = {"close", "goaway"};
    assert_true(explore(closes, 2, 100) > explore(closes, 1, 100));
    static const char *const cuts[] = {"reset", "reset:1"};
    assert_true(explore(cuts, 2, 100) > explore(cuts, 1, 100));
}

/* A copy of the system with other modes. */
static const struct node *with_modes(struct arena *arena, const struct node *system,
                                     const char *const *modes, uint32_t n)
{
    struct node *copy = node_map(arena, system->n), *list = node_list(arena, n);
    memcpy(copy->map, system->map, system->n * sizeof *copy->map);
    for (uint32_t i = 0; i < n; i++)
        list->list[i] = node_str(arena, slice_of(modes[i]));
    for (uint32_t i = 0; i < copy->n; i++)
        if (slice_is(copy->map[i].key, "modes"))
            copy->map[i].value = list;
    return copy;
}

/* Are the facts of a among those of b? */
static bool facts_within(const struct map *a, const struct map *b)
{
    for (uint32_t i = 0; i < a->items.n; i++)
        if (!map_get(b, a->items.at[i].key))
            return false;
    return true;
}

enum { SYSTEMS = 400, BRUTE_MAX = 500 };

/* Over random systems: nothing is suspect, and with `duplicate` alone the search shows all that
 * brute force shows. (With others it need not: `duplicate` at a copy leaves the answer to the
 * service, like `delay`, and the search does not fail the calls below a call that it fails.) */
static void check_random(const char *const *modes, uint32_t n_modes, bool complete)
{
    int compared = 0;
    for (uint64_t seed = 1; seed <= volume(SYSTEMS); seed++) {
        struct arena arena = {0};
        struct lab lab;
        struct err e = {0};
        const struct node *system = with_modes(&arena, random_system(seed, &arena), modes, n_modes);
        assert_int_equal(lab_init(&lab, system, &e), 0);
        struct search_options options = lab_options(&lab);
        struct search *search = lab_explore(&lab, &options, BRUTE_MAX);
        struct search_stats stats;
        uint32_t shown;
        uint64_t suspects;
        search_stats(search, &stats);
        search_suspects(search, &shown, &suspects);
        if (suspects)
            fail_msg("system %d: something is suspect", (int)seed);
        struct map facts = lab.facts;
        lab.facts = (struct map){0};
        if (stats.complete && lab_brute_force(&lab, BRUTE_MAX, NULL, NULL)) {
            compared++;
            if (!facts_within(&facts, &lab.facts))
                fail_msg("system %d: more than there is", (int)seed);
            if (complete && !facts_within(&lab.facts, &facts))
                fail_msg("system %d: not all there is", (int)seed);
        }
        map_deinit(&facts);
        search_free(search);
        lab_deinit(&lab);
        arena_deinit(&arena);
    }
    if (compared < (int)volume(SYSTEMS) / 4)
        fail_msg("only %d systems were compared", compared);
}

static void test_duplicate_brute_force(void **state)
{
    static const char *const modes[] = {"duplicate", "503"};
    (void)state;
    check_random(modes, 1, true);
    check_random(modes, 2, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_stay),
        cmocka_unit_test(test_corrupt),
        cmocka_unit_test(test_event),
        cmocka_unit_test(test_long_field),
        cmocka_unit_test(test_fields_threads),
        cmocka_unit_test(test_fields_full),
        cmocka_unit_test(test_acts),
        cmocka_unit_test(test_cut_outcomes),
        cmocka_unit_test(test_corrupt_bounds),
        cmocka_unit_test(test_duplicate),
        cmocka_unit_test(test_duplicate_time),
        cmocka_unit_test(test_explore),
        cmocka_unit_test(test_duplicate_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
