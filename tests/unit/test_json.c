/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON to nodes: what is read, and what is refused. */
#include "data/json.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static int print_again(slice json, struct buf *out)
{
    struct arena a = {0};
    const struct node *node;
    int status = node_parse_json(&a, json, &node);
    if (status == 0)
        node_print(node, out);
    arena_deinit(&a);
    return status;
}

static void test_values(void **state)
{
    static const struct {
        const char *json, *printed;
    } rows[] = {
        {"null", "null"},
        {" true\n", "true"},
        {"\t false\r", "false"},
        {"0", "0"},
        {"-0.5", "-0.5"},
        {"12e3", "12000"},
        {"1E-2", "0.01"},
        {"9007199254740993", "9007199254740992"},
        {"\"\"", "\"\""},
        {"\"a\\\"b\\\\c\\/d\"", "\"a\\\"b\\\\c/d\""},
        {"\"\\b\\f\\n\\r\\t\"", "\"\\u0008\\u000c\\u000a\\u000d\\u0009\""},
        {"\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"[]", "[]"},
        {"[ ]", "[]"},
        {"[1, [2,[ 3 ]]]", "[1, [2, [3]]]"},
        {"{}", "{}"},
        {"{ \"a\" : {\"b\":[null,true]} , \"c\":\"\" }",
         "{\"a\": {\"b\": [null, true]}, \"c\": \"\"}"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000);
        if (print_again(slice_of(rows[i].json), &out))
            fail_msg("refused: %s", rows[i].json);
        assert_string_equal(buf_text(&out), rows[i].printed);
        buf_deinit(&out);
    }
}

static void test_refused(void **state)
{
    static const char *const rows[] = {
        "",
        " ",
        "nul",
        "nulll",
        "True",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "0x10",
        "1e999",
        "NaN",
        "Infinity",
        "\"",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\n\"",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xe2\x82\"",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{",
        "{1:2}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1,\"a\":2}",
        "1 2",
        "[]]",
        "// c\n1",
        "'a'",
        "}{ garbage ][",
        "Injected fault\n",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000);
        if (print_again(slice_of(rows[i]), &out) == 0)
            fail_msg("accepted: %s as %s", rows[i], buf_text(&out));
        buf_deinit(&out);
    }
    assert_int_equal(print_again((slice){"1\0", 2}, &BUF_INIT(10)), -1);
}

/* n times the beginning, then the end as often. */
static int nest(uint32_t n, const char *open, const char *middle, const char *close)
{
    struct buf text = BUF_INIT(1 << 24), out = BUF_INIT(1 << 24);
    for (uint32_t i = 0; i < n; i++)
        buf_adds(&text, open);
    buf_adds(&text, middle);
    for (uint32_t i = 0; i < n; i++)
        buf_adds(&text, close);
    int status = print_again(buf_slice(&text), &out);
    buf_deinit(&text);
    buf_deinit(&out);
    return status;
}

static void test_bounds(void **state)
{
    (void)state;
    assert_int_equal(nest(JSON_DEPTH_MAX - 1, "[", "1", "]"), 0);
    assert_int_equal(nest(JSON_DEPTH_MAX, "[", "1", "]"), -1);
    assert_int_equal(nest(1000000, "[", "", ""), -1);
    assert_int_equal(nest(100000, "{\"a\":", "", ""), -1);
    struct buf text = BUF_INIT(1 << 24), out = BUF_INIT(1 << 24);
    buf_adds(&text, "[0");
    for (uint32_t i = 2; i < JSON_NODES_MAX; i++)
        buf_adds(&text, ",0");
    buf_adds(&text, "]");
    assert_int_equal(print_again(buf_slice(&text), &out), 0);
    text.n--;
    buf_adds(&text, ",0]");
    assert_int_equal(print_again(buf_slice(&text), &out), -1);
    buf_deinit(&text);
    buf_deinit(&out);
}

/* Many keys are compared by hash. */
static void test_many_keys(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        struct buf text = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
        for (int i = 0; i < 1000; i++)
            buf_addf(&text, "%s\"k%d\": %d", i ? ", " : "{", twice && i == 999 ? 3 : i, i);
        buf_adds(&text, "}");
        assert_int_equal(print_again(buf_slice(&text), &out), twice ? -1 : 0);
        if (!twice)
            assert_string_equal(buf_text(&out), buf_text(&text));
        buf_deinit(&text);
        buf_deinit(&out);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_many_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
