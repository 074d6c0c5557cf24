/* SPDX-License-Identifier: Apache-2.0
 *
 * Expectations: which answers meet them, and the sentences for those that do not. */
#include <stdio.h>

#include "data/json.h"
#include "data/node.h"
#include "data/yaml.h"
#include "findings/expect.h"
#include "support/unit.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))
#define SECOND_NS  1000000000LL

struct lab {
    struct intern keep;
    struct arena once;
    struct verdict v;
};

static void lab_init(struct lab *b)
{
    *b = (struct lab){.v = {0}};
}

static void lab_deinit(struct lab *b)
{
    intern_deinit(&b->keep);
    arena_deinit(&b->once);
}

static void judge_answer(struct lab *b, const struct expect_spec *spec,
                         const struct client_answer *a)
{
    b->v = (struct verdict){.why = NULL, .detail = "stale"};
    expect_answer(spec, a, &b->keep, &b->once, &b->v);
    assert_int_equal(b->v.status, a->seen);
}

static void judge_command(struct lab *b, const struct expect_spec *spec,
                          const struct command_result *r)
{
    b->v = (struct verdict){.why = NULL, .detail = "stale"};
    expect_command(spec, r, &b->keep, &b->once, &b->v);
}

static void expect_pass(const struct lab *b)
{
    if (!b->v.pass)
        fail_msg("%s", b->v.why);
    assert_string_equal(b->v.why, "");
    assert_null(b->v.detail);
}

static void expect_fail(const struct lab *b, const char *why, const char *detail)
{
    assert_false(b->v.pass);
    assert_string_equal(b->v.why, why);
    if (detail)
        assert_string_equal(b->v.detail, detail);
    assert_true(!b->v.detail || strlen(b->v.detail) <= EXPECT_DETAIL_MAX);
}

static struct client_answer answer_of(uint32_t status, const char *body)
{
    static const struct head head = {.status = 200};
    return (struct client_answer){.seen = OUTCOME(OUT_STATUS, status),
                                  .head = &head,
                                  .body = slice_of(body),
                                  .start_ns = 5 * SECOND_NS,
                                  .end_ns = 5 * SECOND_NS};
}

static const struct node *yaml(struct lab *b, const char *text)
{
    const struct node *node;
    struct err e = {0};
    if (yaml_parse(slice_of(text), &b->once, &node, &e))
        fail_msg("%s: %s", text, e.text);
    return node;
}

/* --- Statuses -------------------------------------------------------------------------------- */

static void test_status(void **state)
{
    (void)state;
    static const struct {
        struct expect_status status[3];
        uint32_t n;
        outcome seen;
        const char *why, *detail; /* NULL: it passes */
    } rows[] = {
        {{{0}}, 0, OUTCOME(OUT_STATUS, 200), NULL, NULL},
        {{{0}}, 0, OUTCOME(OUT_STATUS, 299), NULL, NULL},
        {{{0}}, 0, OUTCOME(OUT_GRPC, 0), NULL, NULL},
        {{{0}}, 0, OUTCOME(OUT_STATUS, 300), "the status is not 2xx", "status 300"},
        {{{0}}, 0, OUTCOME(OUT_STATUS, 199), "the status is not 2xx", "status 199"},
        {{{0}}, 0, OUTCOME(OUT_GRPC, 14), "the status is not gRPC 0", "status gRPC 14"},
        {{{false, 200, 200}}, 1, OUTCOME(OUT_STATUS, 200), NULL, NULL},
        {{{false, 200, 200}}, 1, OUTCOME(OUT_STATUS, 503), "the status is not 200", "status 503"},
        {{{false, 0, 0}}, 1, OUTCOME(OUT_GRPC, 0), "the status is not 0", "status gRPC 0"},
        {{{false, 200, 200}, {false, 201, 201}, {false, 404, 404}},
         3,
         OUTCOME(OUT_STATUS, 500),
         "the status is not 200, 201 or 404",
         "status 500"},
        {{{false, 200, 200}, {false, 201, 201}, {false, 404, 404}},
         3,
         OUTCOME(OUT_STATUS, 404),
         NULL,
         NULL},
        {{{false, 200, 299}, {true, 5, 5}}, 2, OUTCOME(OUT_GRPC, 5), NULL, NULL},
        {{{false, 200, 204}, {true, 5, 5}},
         2,
         OUTCOME(OUT_GRPC, 4),
         "the status is not 200 to 204 or gRPC 5",
         "status gRPC 4"},
    };
    struct lab b;
    lab_init(&b);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct expect_status status[3];
        memcpy(status, rows[i].status, sizeof status);
        struct expect_spec spec = {.given = true, .status = {status, rows[i].n, rows[i].n}};
        struct client_answer a = answer_of(0, "");
        a.seen = rows[i].seen;
        judge_answer(&b, &spec, &a);
        if (rows[i].why)
            expect_fail(&b, rows[i].why, rows[i].detail);
        else
            expect_pass(&b);
    }
    struct client_answer a = answer_of(500, "{\"error\": \"no\tstock\"}");
    judge_answer(&b, &(struct expect_spec){0}, &a);
    expect_fail(&b, "the status is not 2xx",
                "status 500: \"{\\\"error\\\": \\\"no\\u0009stock\\\"}\"");
    lab_deinit(&b);
}

static void test_no_answer(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    struct client_answer a = {.seen = OUTCOME(OUT_REFUSED, 0), .error = "x cannot be reached"};
    judge_answer(&b, &(struct expect_spec){.within_ns = 1, .contains = SLICE("y")}, &a);
    expect_fail(&b, "there is no answer", "x cannot be reached");
    a = (struct client_answer){.seen = OUTCOME(OUT_TIMEOUT, 0), .error = "no answer within 2s"};
    judge_answer(&b, &(struct expect_spec){0}, &a);
    expect_fail(&b, "there is no answer in time", "no answer within 2s");
    /* a head was there, but the rest did not come */
    a = answer_of(200, "half");
    a.seen = OUTCOME(OUT_CLOSED, 0);
    a.error = "closed";
    judge_answer(&b, &(struct expect_spec){.contains = SLICE("half")}, &a);
    expect_fail(&b, "there is no answer", "closed");
    lab_deinit(&b);
}

/* --- Headers, bodies, time -------------------------------------------------------------------- */

static void test_headers(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    struct field fields[] = {{SLICE("Content-Type"), SLICE("text/html")},
                             {SLICE("Set-Cookie"), SLICE("a=1")},
                             {SLICE("Set-Cookie"), SLICE("b=2")}};
    struct field late[] = {{SLICE("x-sum"), SLICE("17")}};
    struct head head = {
        .status = 200, .fields = fields, .n_fields = 3, .has_length = true, .length = 12};
    struct head trailers = {.fields = late, .n_fields = 1};
    struct client_answer a = answer_of(200, "");
    a.head = &head;
    a.trailers = &trailers;
    const struct {
        const char *name, *value, *why, *detail;
    } rows[] = {
        {"content-type", "text/html", NULL, NULL},
        {"set-cookie", "a=1", NULL, NULL},
        {"SET-COOKIE", "b=2", NULL, NULL},
        {"x-sum", "17", NULL, NULL},
        {"content-length", "12", NULL, NULL},
        {"content-length", "13", "the header content-length is not \"13\"", "\"12\""},
        {"x-sum", "18", "the header x-sum is not \"18\"", "\"17\""},
        {"Content-Type", "text", "the header Content-Type is not \"text\"", "\"text/html\""},
        {"etag", "1", "the header etag is not \"1\"", "there is no such header"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct text_pair pair = {slice_of(rows[i].name), slice_of(rows[i].value)};
        struct expect_spec spec = {.headers = {&pair, 1, 1}};
        judge_answer(&b, &spec, &a);
        if (rows[i].why)
            expect_fail(&b, rows[i].why, rows[i].detail);
        else
            expect_pass(&b);
    }
    lab_deinit(&b);
}

static void test_body(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    struct expect_spec whole = {.has_body = true, .body = SLICE("ok")};
    struct expect_spec empty = {.has_body = true};
    struct expect_spec part = {.contains = SLICE("Creed")};
    struct client_answer a = answer_of(200, "ok");
    judge_answer(&b, &whole, &a);
    expect_pass(&b);
    judge_answer(&b, &empty, &a);
    expect_fail(&b, "the answer is not \"\"", "\"ok\"");
    judge_answer(&b, &part, &a);
    expect_fail(&b, "the answer does not contain \"Creed\"", "\"ok\"");
    a.cut = true;
    judge_answer(&b, &whole, &a);
    expect_fail(&b, "the answer is not \"ok\"", "of which 2 bytes were kept: \"ok\"");
    a = answer_of(200, "");
    judge_answer(&b, &empty, &a);
    expect_pass(&b);
    judge_answer(&b, &part, &a);
    expect_fail(&b, "the answer does not contain \"Creed\"", "it is empty");
    a = answer_of(200, "CreeCreed");
    judge_answer(&b, &part, &a);
    expect_pass(&b);
    lab_deinit(&b);
}

static void test_time(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    struct expect_spec spec = {.within_ns = 2 * SECOND_NS};
    struct client_answer a = answer_of(200, "");
    a.end_ns = a.start_ns + 2 * SECOND_NS;
    judge_answer(&b, &spec, &a);
    expect_pass(&b);
    a.end_ns += SECOND_NS / 2;
    judge_answer(&b, &spec, &a);
    expect_fail(&b, "the answer took longer than 2s", "2.5s");
    lab_deinit(&b);
}

/* --- JSON ----------------------------------------------------------------------------------------
 */

static void test_pointers(void **state)
{
    (void)state;
    /* the example of RFC 6901, and what it rules out */
    static const char doc[] =
        "{\"foo\": [\"bar\", \"baz\"], \"\": 0, \"a/b\": 1, \"c%d\": 2, \"e^f\": 3, \"g|h\": 4,"
        " \"i\\\\j\": 5, \"k\\\"l\": 6, \" \": 7, \"m~n\": 8, \"o\": {\"\": {\"\": 9}}}";
    static const struct {
        const char *pointer, *value; /* NULL: nothing */
    } rows[] = {
        {"/foo", "[\"bar\", \"baz\"]"},
        {"/foo/0", "\"bar\""},
        {"/foo/1", "\"baz\""},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/g|h", "4"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/m~0n", "8"},
        {"/o//", "9"},
        {"/foo/2", NULL},
        {"/foo/-", NULL},
        {"/foo/00", NULL},
        {"/foo/01", NULL},
        {"/foo/+1", NULL},
        {"/foo/", NULL},
        {"/foo/0/x", NULL},
        {"/foo/99999999999999999999", NULL},
        {"/m~n", NULL},
        {"/m~2n", NULL},
        {"/m~", NULL},
        {"/nothing", NULL},
        {"foo", NULL},
        {"/a~01b", NULL},
    };
    struct arena a = {0};
    const struct node *json = NULL;
    assert_int_equal(node_parse_json(&a, slice_of(doc), &json), 0);
    assert_ptr_equal(pointer_at(json, (slice){0}), json);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct node *at = pointer_at(json, slice_of(rows[i].pointer));
        struct buf text = BUF_INIT(100);
        if (at)
            node_print(at, &text);
        if (at ? !rows[i].value || strcmp(buf_text(&text), rows[i].value) : rows[i].value != NULL)
            fail_msg("%s: %s", rows[i].pointer, at ? buf_text(&text) : "nothing");
        buf_deinit(&text);
    }
    arena_deinit(&a);
}

static void test_json_equality(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *json;
        bool same;
    } rows[] = {
        {"Creed", "\"Creed\"", true},
        {"Creed", "\"creed\"", false},
        {"Creed", "[\"Creed\"]", false},
        {"\"\"", "\"\"", true},
        {"5", "5", true},
        {"5", "5.0", true},
        {"5.5", "5.5", true},
        {"5", "\"5\"", false},
        {"\"5\"", "5", false},
        {"5", "6", false},
        {"-3", "-3", true},
        {"9007199254740993", "9007199254740993", true},
        {"9007199254740993", "9007199254740992", false},
        {"100000000000000000000", "100000000000000000000", true},
        {"1e20", "100000000000000000000", true},
        {".nan", "5", false},
        {"true", "true", true},
        {"true", "false", false},
        {"false", "null", false},
        {"null", "null", true},
        {"null", "0", false},
        {"[]", "[]", true},
        {"[]", "{}", false},
        {"{}", "{}", true},
        {"[1, 2]", "[1, 2]", true},
        {"[1, 2]", "[2, 1]", false},
        {"[1, 2]", "[1, 2, 3]", false},
        {"{a: 1, b: [x]}", "{\"b\": [\"x\"], \"a\": 1}", true},
        {"{a: 1}", "{\"a\": 1, \"b\": 2}", false},
        {"{a: 1, c: 2}", "{\"a\": 1, \"b\": 2}", false},
        {"{a: {b: {c: null}}}", "{\"a\": {\"b\": {\"c\": null}}}", true},
        {"{a: {b: {c: null}}}", "{\"a\": {\"b\": {}}}", false},
        {"\"a\"", "\"a\\u0000\"", false},
        {"\"\\u00fc\"", "\"\\u00fc\"", true},
    };
    struct lab b;
    lab_init(&b);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct expect_value value = {.value = yaml(&b, rows[i].yaml)};
        struct expect_spec spec = {.json = {&value, 1, 1}};
        struct client_answer a = answer_of(200, rows[i].json);
        judge_answer(&b, &spec, &a);
        if (b.v.pass != rows[i].same)
            fail_msg("%s, %s: %s", rows[i].yaml, rows[i].json, b.v.why);
    }
    lab_deinit(&b);
}

static void test_json_sentences(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    struct expect_value values[] = {{.pointer = SLICE("/0/title"), .value = yaml(&b, "Creed")},
                                    {.pointer = SLICE("/1"), .value = yaml(&b, "{a: [1, null]}")}};
    struct expect_spec spec = {.json = {values, 2, 2}};
    struct client_answer a = answer_of(200, "[{\"title\": \"Creed\"}, {\"a\": [1, null]}]");
    judge_answer(&b, &spec, &a);
    expect_pass(&b);
    a = answer_of(200, "[{\"title\": \"Blade\"}]");
    judge_answer(&b, &spec, &a);
    expect_fail(&b, "the answer at /0/title is not \"Creed\"", "\"Blade\"");
    const char *first = b.v.why;
    a = answer_of(200, "{}");
    judge_answer(&b, &spec, &a);
    expect_fail(&b, "the answer at /0/title is not \"Creed\"", "there is nothing");
    assert_ptr_equal(b.v.why, first); /* equal reasons, the same text */
    a = answer_of(200, "[{\"title\": \"Creed\"}, {\"a\": 1}]");
    judge_answer(&b, &spec, &a);
    expect_fail(&b, "the answer at /1 is not {\"a\": [1, null]}", "{\"a\": 1}");
    static const char *const none[] = {"<html>", "", "{\"a\":", "[1] x", "\xff"};
    for (size_t i = 0; i < LENGTH(none); i++) {
        a = answer_of(200, none[i]);
        judge_answer(&b, &spec, &a);
        expect_fail(&b, "the answer is not JSON", NULL);
    }
    a = answer_of(200, "[1");
    a.cut = true;
    judge_answer(&b, &spec, &a);
    expect_fail(&b, "the answer is too large to be read as JSON",
                "of which 2 bytes were kept: \"[1\"");
    a = answer_of(200, "<html>");
    judge_answer(&b, &spec, &a);
    assert_string_equal(b.v.detail, "\"<html>\"");
    values[0] = (struct expect_value){.value = yaml(&b, "[]")};
    a = answer_of(200, "7");
    judge_answer(&b, &spec, &a);
    expect_fail(&b, "the answer is not []", "7");
    lab_deinit(&b);
}

/* Whatever a service sends, the words stay short, on one line, and UTF-8. */
static void test_bounds(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    enum { N = 200 * 1024 };
    static char large[N + 1];
    struct expect_value value = {.pointer = SLICE("/a"), .value = yaml(&b, "x")};
    struct expect_spec specs[] = {
        {.json = {&value, 1, 1}},
        {.contains = SLICE("\xc3\xa4\xc3\xb6")},
        {.has_body = true},
        {.status = {&(struct expect_status){false, 201, 201}, 1, 1}},
    };
    static const char fill[] = {'x', '"', '\n', '\xc3', '\xff', '[', '\0', '\x7f'};
    for (size_t f = 0; f < LENGTH(fill); f++) {
        for (size_t i = 0; i < LENGTH(specs); i++) {
            memset(large, fill[f], N);
            struct client_answer a = answer_of(200, "");
            a.body = (slice){large, N};
            judge_answer(&b, &specs[i], &a);
            assert_false(b.v.pass);
            assert_true(strlen(b.v.detail) <= EXPECT_DETAIL_MAX);
            for (const char *p = b.v.detail; *p; p++)
                assert_in_range((unsigned char)*p, ' ', '~');
        }
    }
    /* a character is shown in full or not at all */
    struct buf out = BUF_INIT(100);
    expect_add_brief(&out, SLICE("a\xc3\xa4\xe2\x82\xac\xf0\x9f\xa6\x8a."), 9);
    assert_string_equal(buf_text(&out), "a\xc3\xa4\xe2\x82\xac...");
    buf_clear(&out);
    expect_add_brief(&out, SLICE("a\xc3\xa4\xe2\x82\xac\xf0\x9f\xa6\x8a"), 10);
    assert_string_equal(buf_text(&out), "a\xc3\xa4\xe2\x82\xac\xf0\x9f\xa6\x8a");
    buf_clear(&out);
    /* overlong forms, surrogates, half a character */
    expect_add_brief(&out, SLICE("\xc0\x80\xed\xa0\x80\xf5\x80\x80\x80\xe2\x82"), 90);
    assert_string_equal(buf_text(&out), "???????????");
    buf_deinit(&out);
    lab_deinit(&b);
}

/* --- Commands
 * -------------------------------------------------------------------------------------- */

static void test_command(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    struct expect_spec zero = {0}, three = {.exit = 3}, soon = {.within_ns = 120 * SECOND_NS};
    struct command_result r = {.started = true, .output = SLICE("1 passed\n")};
    judge_command(&b, &zero, &r);
    expect_pass(&b);
    judge_command(&b, &three, &r);
    expect_fail(&b, "the command does not exit with 3", "exit 0: \"1 passed\"");
    r.exit_code = 3;
    judge_command(&b, &three, &r);
    expect_pass(&b);
    judge_command(&b, &zero, &r);
    expect_fail(&b, "the command does not exit with 0", "exit 3: \"1 passed\"");
    r = (struct command_result){.started = true, .exit_code = -1, .signal = 11};
    judge_command(&b, &zero, &r);
    expect_fail(&b, "the command does not exit with 0", "ended by signal 11");
    r = (struct command_result){
        .started = true, .timed_out = true, .exit_code = -1, .signal = 9, .end_ns = 2 * SECOND_NS};
    judge_command(&b, &zero, &r);
    expect_fail(&b, "the command does not end in time", "killed after 2s");
    assert_int_equal(b.v.status, OUTCOME(OUT_TIMEOUT, 0));
    r = (struct command_result){.error = "there is no /bin/sh"};
    judge_command(&b, &zero, &r);
    expect_fail(&b, "the command cannot be started", "there is no /bin/sh");
    r = (struct command_result){.started = true, .end_ns = 121 * SECOND_NS};
    judge_command(&b, &soon, &r);
    expect_fail(&b, "the command took longer than 2m", NULL);
    struct expect_spec says = {.contains = SLICE("passed")};
    r = (struct command_result){.started = true, .output = SLICE("1 failed")};
    judge_command(&b, &says, &r);
    expect_fail(&b, "the output does not contain \"passed\"", "\"1 failed\"");
    /* of much output the end is shown */
    static char much[5000];
    memset(much, 'x', sizeof much);
    memcpy(much + sizeof much - 10, "AssertFail", 10);
    r = (struct command_result){.started = true, .exit_code = 1, .output = {much, sizeof much}};
    judge_command(&b, &zero, &r);
    assert_non_null(strstr(b.v.detail, "AssertFail"));
    expect_fail(&b, "the command does not exit with 0", NULL);
    lab_deinit(&b);
}

static void test_sentences(void **state)
{
    (void)state;
    struct intern s = {.text = {0}};
    const char *at[500];
    char text[40];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 500; i++) {
            snprintf(text, sizeof text, "sentence %d", i);
            const char *p = intern_keep(&s, slice_of(text));
            assert_string_equal(p, text);
            if (round)
                assert_ptr_equal(p, at[i]);
            at[i] = p;
        }
    }
    intern_deinit(&s);
}

/* ---- conditions and alternatives ---- */

/* An expectation as outfox.yaml says it; the configuration owns it. */
static const struct expect_spec *spec_of(const char *expect, struct campaign_config **c)
{
    struct buf text = BUF_INIT(4096);
    struct err e = {0};
    buf_addf(&text, "version: 1\nservices: { a: { run: x } }\nscenarios: { s: { %s } }\n", expect);
    if (campaign_config_parse(buf_slice(&text), "x.yaml", c, &e))
        fail_msg("%s: %s", expect, e.text);
    buf_deinit(&text);
    return &(*c)->scenarios.at[0].expect;
}

static const struct asked {
    const char *expect;
    uint32_t status;
    const char *body;
    const char *why, *detail; /* NULL: it holds */
} asked[] = {
    {"status: 400-404", 404, "", NULL, NULL},
    {"status: 400-404", 500, "", "the status is not 400 to 404", "status 500"},
    {"where: { /n: at least 10 }", 200, "{\"n\":10}", NULL, NULL},
    {"where: { /n: at least 10 }", 200, "{\"n\":9}", "the answer at /n is not at least 10", "9"},
    {"where: { /n: number }", 200, "{\"n\":\"9\"}", "the answer at /n is not a number", "\"9\""},
    {"where: { /id: present }", 200, "{}", "the answer at /id is missing", "there is nothing"},
    {"where: { /error: absent }", 200, "{\"error\":null}", "the answer at /error is there", "null"},
    {"where: { /l: [list, not empty] }", 200, "{\"l\":[]}",
     "the answer at /l is empty, null or missing", "[]"},
    {"where: { '': object }", 200, "[]", "the answer is not an object", "[]"},
    {"where: { /a: present }", 200, "no", "the answer is not JSON", "\"no\""},
    {"where: { body: 'matches ^[0-9]+$' }", 200, "12", NULL, NULL},
    {"where: { body: 'matches ^[0-9]+$' }", 200, "1 2", "the answer does not match ^[0-9]+$",
     "\"1 2\""},
    {"where: { header etag: present }", 200, "", NULL, NULL},
    {"where: { header Age: from 1 to 60 }", 200, "", NULL, NULL},
    {"where: { header age: less than 10 }", 200, "", "the header age is not less than 10", "30"},
    {"where: { header etag: number }", 200, "", "the header etag is not a number", "\"abc\""},
    {"where: { header x: present }", 200, "", "the header x is missing", "there is no such header"},
    {"any-of: [{ status: 200 }, { status: 503 }]", 503, "", NULL, NULL},
    {"any-of: [{ json: { /a: 1 } }, { status: 503 }]", 201, "{\"a\":1}", NULL, NULL},
    {"any-of: [{ json: { /a: 1 } }, { status: 503 }]", 201, "{\"a\":2}",
     "no alternative of any-of holds; number 1 is nearest: the answer at /a is not 1",
     "2; number 2: the status is not 503"},
    {"any-of: [{ json: { /a: 1 } }, { status: 503 }]", 500, "",
     "no alternative of any-of holds; number 1: the status is not 2xx",
     "status 500; number 2: the status is not 503"},
    {"any-of: [{ status: 200, json: { /a: 1 } }, { status: 503, json: { /a: 1, /b: 2 } }]", 503,
     "{\"a\":1}", "no alternative of any-of holds; number 2 is nearest: the answer at /b is not 2",
     "there is nothing; number 1: the status is not 200"},
    {"status: 503, any-of: [{ json: { /a: 1 } }, { json: { /a: 2 } }]", 503, "{\"a\":2}", NULL,
     NULL},
    {"status: 503, any-of: [{ json: { /a: 1 } }, { json: { /a: 2 } }]", 200, "{\"a\":2}",
     "the status is not 503", "status 200: \"{\\\"a\\\":2}\""},
};

static void test_asked(void **state)
{
    static struct field fields[] = {{.name = {"Etag", 4}, .value = {"abc", 3}},
                                    {.name = {"age", 3}, .value = {" 30", 3}}};
    static const struct head head = {.status = 200, .fields = fields, .n_fields = 2};
    (void)state;
    for (size_t i = 0; i < LENGTH(asked); i++) {
        struct lab b;
        struct campaign_config *c;
        struct buf text = BUF_INIT(1000);
        struct client_answer a = answer_of(asked[i].status, asked[i].body);
        a.head = &head;
        lab_init(&b);
        buf_addf(&text, "request: a GET /, expect: { %s }", asked[i].expect);
        judge_answer(&b, spec_of(buf_text(&text), &c), &a);
        if (asked[i].why)
            expect_fail(&b, asked[i].why, asked[i].detail);
        else
            expect_pass(&b);
        campaign_config_free(c);
        buf_deinit(&text);
        lab_deinit(&b);
    }
}

static void test_asked_of_command(void **state)
{
    static const char expect[] = "command: x, expect: { any-of: [{ exit: 0 }, { exit: 3, where: { "
                                 "output: matches ^sorry } }] }";
    struct lab b;
    struct campaign_config *c;
    struct command_result r = {.started = true, .exit_code = 3, .output = SLICE("sorry, no")};
    (void)state;
    lab_init(&b);
    const struct expect_spec *spec = spec_of(expect, &c);
    judge_command(&b, spec, &r);
    expect_pass(&b);
    r.output = SLICE("what?");
    judge_command(&b, spec, &r);
    expect_fail(&b,
                "no alternative of any-of holds; number 2 is nearest: the output does not match "
                "^sorry",
                "\"what?\"; number 1: the command does not exit with 0");
    r.exit_code = 0;
    judge_command(&b, spec, &r);
    expect_pass(&b);
    campaign_config_free(c);
    lab_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_body),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_json_equality),
        cmocka_unit_test(test_json_sentences),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_asked_of_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
