/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of a runner as scenarios: the key `suite`, lists of tests as lines and as JUnit XML, the names
 * that scenarios get, what is chosen, and what is refused. */
#include <stdio.h>

#include "config/suite.h"
#include "data/junit.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define SERVICES      "version: 1\nservices: { a: { run: x, env: { PORT: '{port}' } } }\n"
#define SUITE         SERVICES "suite:\n  list: ./list\n  each: { command: './run {test}' }\n"

static struct campaign_config *parsed(const char *text)
{
    struct campaign_config *c;
    struct err e = {0};
    if (campaign_config_parse(slice_of(text), "outfox.yaml", &c, &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
    return c;
}

/* ---- the key ---- */

static void test_keys(void **state)
{
    (void)state;
    struct campaign_config *c = parsed(
        "version: 1\nenv: { ALL: 1, PORT: '{port}' }\nservices: { a: { run: x } }\n"
        "suite:\n  list: ./list\n  list-within: 5s\n  junit: reports/*.xml\n"
        "  only: ['*::*']\n  skip: [a, b]\n"
        "  each:\n    command: ./run -k {test} '{x}' {{test}} \\\"\n    before: ./clear {test}\n"
        "    env: { WEB: '{url:a}' }\n    timeout: 7s\n    expect: { exit: 3 }\n");
    const struct suite_spec *s = &c->suite;
    assert_true(s->given);
    assert_int_equal(c->scenarios.n, 0);
    assert_string_equal(s->list.p, "./list");
    assert_string_equal(s->junit.p, "reports/*.xml");
    assert_int_equal(s->list_ns, INT64_C(5000000000));
    assert_int_equal(s->only.n, 1);
    assert_int_equal(s->skip.n, 2);
    assert_string_equal(s->each.command.p,
                        "./run -k \"$OUTFOX_TEST\" '{x}' {\"$OUTFOX_TEST\"} \\\"");
    assert_string_equal(s->each.before.p, "./clear \"$OUTFOX_TEST\"");
    assert_int_equal(s->each.env.n, 2); /* WEB, ALL: it listens nowhere */
    assert_int_equal(s->each.timeout_ns, INT64_C(7000000000));
    assert_int_equal(s->each.expect.exit, 3);
    assert_true(s->each.is_command);
    assert_true(config_has_many(c));
    campaign_config_free(c);
    c = parsed(SUITE);
    assert_int_equal(c->suite.list_ns, INT64_C(120000000000));
    assert_int_equal(c->suite.each.timeout_ns, INT64_C(120000000000));
    campaign_config_free(c);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"suite: 3\n", "\"suite\" must be a map"},
        {"suite: { list: x }\n", "\"each\" is missing"},
        {"suite: { each: { command: 'x {test}' } }\n", "needs \"list\""},
        {"suite: { junit: -, each: { command: 'x {test}' } }\n", "needs \"list\""},
        {"suite: { list: x, each: { command: x } }\n", "does not say which test to run"},
        {"suite: { list: x, each: { before: x } }\n", "needs \"request\" or \"command\""},
        {"suite: { list: x, each: { request: a GET / } }\n", "cannot have \"request\""},
        {"suite: { list: x, each: { command: 'x {test}', contract: c } }\n",
         "cannot have \"contract\""},
        {"suite: { list: x, each: { command: 'x \"{test}\"' } }\n", "without quotes round it"},
        {"suite: { list: x, each: { command: \"x '^{test}$'\" } }\n", "without quotes round it"},
        {"suite: { list: x, each: { command: 'x {test}', body: b } }\n", "\"body\" applies to"},
        {"suite: { list: x, each: { command: 'x {test} {url:b}' } }\n", "unknown service \"b\""},
        {"suite: { list: 'x {url:b}', each: { command: 'x {test}' } }\n", "unknown service \"b\""},
        {"suite: { list: x, lists: y, each: { command: 'x {test}' } }\n", "unknown key \"lists\""},
        {"suite: { list: x, list-within: 0s, each: { command: 'x {test}' } }\n", "list-within"},
        {"", "\"scenarios\" is missing (or \"suite\")"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[1000];
        struct campaign_config *c;
        struct err e = {0};
        (void)snprintf(text, sizeof text, SERVICES "%s", rows[i].text);
        if (campaign_config_parse(slice_of(text), "outfox.yaml", &c, &e) == 0)
            fail_msg("accepted: %s", rows[i].text);
        if (!strstr(e.text, rows[i].why))
            fail_msg("%s: %s", rows[i].text, e.text);
        assert_true(e.line > 0);
    }
}

/* ---- names ---- */

static void add(struct campaign_config *c, const char *const *tests, size_t n, const char *refused)
{
    struct texts list = {0};
    struct err e = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(&list, slice_of(tests[i]));
    int status = suite_add(c, &list, &e);
    vec_deinit(&list);
    if (refused && !strstr(e.text, refused))
        fail_msg("not \"%s\": \"%s\"", refused, e.text);
    if (status != (refused ? -1 : 0))
        fail_msg("%s", e.text);
}

static void check_name(const struct campaign_config *c, uint32_t i, const char *wanted)
{
    assert_true(i < c->scenarios.n);
    assert_string_equal(c->scenarios.at[i].name.p, wanted);
}

static void test_names(void **state)
{
    static const struct {
        const char *test, *name;
    } rows[] = {
        {"tests/test_a.py::test_one", "test_one"},
        {"tests/test_a.py::TestX::test_two[a::b-1]", "test_two-a-b-1"},
        {"com.example.TicketTest#buys", "buys"},
        {"web/a.test.ts > cart > adds 3 items", "adds-3-items"},
        {"a ticket is paid once", "a-ticket-is-paid-once"},
        {"issue #3 is fixed, for good!", "issue-3-is-fixed-for-good"},
        {"TestBook", "TestBook"},
        {"$(touch pwned) `x` \"y\" 'z'", "touch-pwned-x-y-z"},
        {"--version", "version"},
        {"../../etc/passwd", "etc-passwd"},
        {"a.py::", "a-py"},
        {"::", NULL},
        {"\xe6\xb5\x8b\xe8\xaf\x95", NULL},
        {"new\nline\tand\x1b[31m more", "new-line-and-31m-more"},
    };
    (void)state;
    struct campaign_config *c = parsed(SUITE);
    const char *tests[LENGTH(rows)];
    for (size_t i = 0; i < LENGTH(rows); i++)
        tests[i] = rows[i].test;
    add(c, tests, LENGTH(rows), NULL);
    assert_int_equal(c->scenarios.n, LENGTH(rows));
    for (uint32_t i = 0; i < LENGTH(rows); i++) {
        if (rows[i].name)
            check_name(c, i, rows[i].name);
        else
            assert_true(slice_starts(c->scenarios.at[i].name, SLICE("test-")));
        assert_string_equal(c->scenarios.at[i].test.p, rows[i].test);
        assert_true(name_valid(c->scenarios.at[i].name, false));
        assert_ptr_equal(c->scenarios.at[i].command.p, c->suite.each.command.p);
    }
    campaign_config_free(c);
}

static void test_equal_names(void **state)
{
    static const char *const tests[] = {"a.py::test",     "b.py::test", "c.py::same one",
                                        "c.py::same-one", "a.py::test", "a.py::s"};
    char longest[3000];
    (void)state;
    struct campaign_config *c = parsed(SUITE "scenarios: { s: { request: a GET / } }\n");
    add(c, tests, LENGTH(tests), NULL);
    assert_int_equal(c->scenarios.n, 6); /* that of the file; a test that is listed twice is one */
    check_name(c, 1, "a-py-test");
    check_name(c, 2, "b-py-test");
    assert_true(slice_starts(c->scenarios.at[3].name, SLICE("same-one-")));
    assert_true(slice_starts(c->scenarios.at[4].name, SLICE("same-one-")));
    assert_false(slice_eq(c->scenarios.at[3].name, c->scenarios.at[4].name));
    check_name(c, 5, "a-py-s"); /* the file has an s */
    campaign_config_free(c);

    /* names do not depend on the order */
    c = parsed(SUITE "scenarios: { s: { request: a GET / } }\n");
    const char *const turned[] = {"c.py::same-one", "b.py::test", "c.py::same one", "a.py::test"};
    add(c, turned, LENGTH(turned), NULL);
    check_name(c, 2, "b-py-test");
    check_name(c, 4, "a-py-test");
    campaign_config_free(c);

    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    const char *const longs[] = {longest, longest + 1};
    c = parsed(SUITE);
    add(c, longs, 2, NULL);
    assert_true(name_valid(c->scenarios.at[0].name, false));
    assert_false(slice_eq(c->scenarios.at[0].name, c->scenarios.at[1].name));
    campaign_config_free(c);
}

/* ---- what is chosen ---- */

static void test_chosen(void **state)
{
    static const char *const tests[] = {"x.py::one", "x.py::two", "slow.py::one", "4 tests in 1s"};
    (void)state;
    struct campaign_config *c = parsed(SUITE "  only: ['*::*']\n  skip: ['slow*', '*::none']\n");
    add(c, tests, LENGTH(tests), NULL);
    assert_int_equal(c->scenarios.n, 2);
    check_name(c, 0, "x-py-one"); /* another test is called so, chosen or not */
    check_name(c, 1, "two");
    campaign_config_free(c);
    c = parsed(SUITE "  only: [no]\n");
    add(c, tests, LENGTH(tests), "none of the 4 tests that are listed is chosen");
    add(c, tests, 0, "no test is listed");
    campaign_config_free(c);
}

static void test_bounds(void **state)
{
    static char texts[SCENARIOS_MAX + 1][8], longest[TEST_BYTES_MAX + 2];
    const char *tests[SCENARIOS_MAX + 1];
    (void)state;
    for (int i = 0; i <= SCENARIOS_MAX; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "t%d", i);
        tests[i] = texts[i];
    }
    struct campaign_config *c = parsed(SUITE);
    add(c, tests, SCENARIOS_MAX + 1, "more than 1000 tests");
    campaign_config_free(c);
    c = parsed(SUITE "  skip: [t7]\n");
    add(c, tests, SCENARIOS_MAX + 1, NULL);
    assert_int_equal(c->scenarios.n, SCENARIOS_MAX);
    campaign_config_free(c);

    memset(longest, 'x', sizeof longest - 1);
    const char *const one[] = {longest, "short"};
    c = parsed(SUITE);
    add(c, one, 2, "more than 4096");
    campaign_config_free(c);
    c = parsed(SUITE "  skip: ['xxx*']\n");
    add(c, one, 2, NULL);
    campaign_config_free(c);

    struct texts list = {0};
    struct err e = {0};
    suite_lines((slice){"a\0b\n", 4}, &list);
    c = parsed(SUITE);
    assert_int_equal(suite_add(c, &list, &e), -1);
    assert_non_null(strstr(e.text, "NUL byte"));
    vec_deinit(&list);
    campaign_config_free(c);
}

static void test_stored(void **state)
{
    (void)state;
    struct campaign_config *c = parsed(SUITE "scenarios: { s: { request: a GET / } }\n");
    assert_int_equal(suite_add_named(c, SLICE("name"), SLICE("a.py::test")), 0);
    assert_int_equal(suite_add_named(c, SLICE("name"), SLICE("a.py::test")), -1);
    assert_int_equal(suite_add_named(c, SLICE("s"), SLICE("t")), -1);
    assert_int_equal(suite_add_named(c, SLICE("a/b"), SLICE("t")), -1);
    assert_int_equal(suite_add_named(c, SLICE("empty"), SLICE("")), -1);
    assert_int_equal(c->scenarios.n, 2);
    check_name(c, 1, "name");
    campaign_config_free(c);
}

/* ---- lists ---- */

static void test_lines(void **state)
{
    struct texts list = {0};
    (void)state;
    suite_lines(SLICE("one\r\n\n  two words \n\t\nthree"), &list);
    assert_int_equal(list.n, 3);
    assert_true(slice_is(list.at[0], "one"));
    assert_true(slice_is(list.at[1], "two words"));
    assert_true(slice_is(list.at[2], "three"));
    vec_deinit(&list);
}

static void check_report(const char *xml, const char *wanted, const char *refused)
{
    struct arena a = {0};
    struct texts list = {0};
    struct err e = {0};
    struct buf got = BUF_INIT(1000);
    int status = junit_read(slice_of(xml), 3, &a, &list, &e);
    for (uint32_t i = 0; i < list.n; i++)
        buf_addf(&got, "%.*s|", SLICE_ARG(list.at[i]));
    if (status != (refused ? -1 : 0) || (refused && !strstr(e.text, refused)))
        fail_msg("%s: %s", xml, e.text);
    if (wanted)
        assert_string_equal(buf_text(&got), wanted);
    buf_deinit(&got);
    vec_deinit(&list);
    arena_deinit(&a);
}

static void test_junit(void **state)
{
    (void)state;
    check_report("<testsuite><testcase classname='a.B' name='c'/></testsuite>", "a.B#c|", NULL);
    check_report(
        "<?xml version='1.0'?><testsuites><!-- x --><testcase name='&lt;&quot;$(x)&#10;y'>"
        "<failure><![CDATA[<testcase name='no'/>]]></failure></testcase>"
        "<testsuite><testcase name='' classname='k'/><testcase name='d'/></testsuite></testsuites>",
        "<\"$(x)\ny|d|", NULL);
    check_report("<testsuite><testcase name='1'/><testcase name='2'/><testcase name='3'/>"
                 "<testcase name='4'/></testsuite>",
                 "1|2|3|", NULL);
    check_report("<testsuites/>", "", NULL);
    check_report("", NULL, "not JUnit XML");
    check_report("4 tests collected", NULL, "not JUnit XML");
    check_report("<testsuite><testcase name='a'/>", NULL, "not JUnit XML");
    check_report("<html><testcase name='a'/></html>", NULL, "no <testsuite>");
    check_report("<!DOCTYPE t [<!ENTITY a 'b'>]><testsuite/>", NULL, "document type");
    struct buf deep = BUF_INIT(5000);
    for (int i = 0; i <= JUNIT_DEPTH_MAX; i++)
        buf_adds(&deep, "<testsuite>");
    check_report(buf_text(&deep), NULL, "nested too deep");
    buf_deinit(&deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_names),  cmocka_unit_test(test_equal_names),
        cmocka_unit_test(test_chosen), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_stored), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_junit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
