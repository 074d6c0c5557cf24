/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON to nodes: what is read, and what is refused. And what is written. */
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
        {"9007199254740993", "9007199254740993"},
        {"-123456789012345678901234567890", "-123456789012345678901234567890"},
        {"123456789012345", "123456789012345"},
        {"-1234567890123456", "-1234567890123456"},
        {"-0", "0"},
        {"123e20", "1.23e+22"},
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

/* ---- writing ---- */

static void write_all(struct json_out *j)
{
    struct arena a = {0};
    struct buf words = BUF_INIT(100);
    const struct node *node = NULL;
    slice json = SLICE("{\"x\":[1,{\"y\":0.1}],\"e\":[]}");
    assert_int_equal(node_parse_json(&a, json, &node), 0);
    buf_adds(&words, "taken");
    json_map(j, NULL);
    json_text(j, "text", "a\"\n\x1b");
    json_text(j, "no text", NULL);
    json_take(j, "buf", &words);
    json_list(j, "numbers");
    json_int(j, NULL, INT64_MIN);
    json_uint(j, NULL, UINT64_MAX);
    json_num(j, NULL, 3);
    json_num(j, NULL, -0.5);
    json_list_end(j);
    json_map(j, "empty");
    json_map_end(j);
    json_list(j, "lists");
    json_list(j, NULL);
    json_list_end(j);
    json_list_end(j);
    json_key(j, SLICE("a\tkey"));
    json_bool(j, NULL, true);
    json_nil(j, "nil");
    json_node(j, "node", node);
    json_node(j, "no node", NULL);
    json_map_end(j);
    assert_int_equal(words.n, 0);
    buf_deinit(&words);
    arena_deinit(&a);
}

static void test_styles(void **state)
{
    static const char *const rows[] = {
        [JSON_COMPACT] =
            "{\"text\":\"a\\\"\\u000a\\u001b\",\"no text\":null,\"buf\":\"taken\","
            "\"numbers\":[-9223372036854775808,18446744073709551615,3,-0.5],\"empty\":{},"
            "\"lists\":[[]],\"a\\u0009key\":true,\"nil\":null,"
            "\"node\":{\"x\":[1,{\"y\":0.1}],\"e\":[]},\"no node\":null}",
        [JSON_SPACED] =
            "{\"text\": \"a\\\"\\u000a\\u001b\", \"no text\": null, \"buf\": \"taken\", "
            "\"numbers\": [-9223372036854775808, 18446744073709551615, 3, -0.5], \"empty\": {}, "
            "\"lists\": [[]], \"a\\u0009key\": true, \"nil\": null, "
            "\"node\": {\"x\": [1, {\"y\": 0.1}], \"e\": []}, \"no node\": null}",
        [JSON_PRETTY] = "{\n"
                        "  \"text\": \"a\\\"\\n\\u001B\",\n"
                        "  \"no text\": null,\n"
                        "  \"buf\": \"taken\",\n"
                        "  \"numbers\": [\n"
                        "    -9223372036854775808,\n"
                        "    18446744073709551615,\n"
                        "    3,\n"
                        "    -0.5\n"
                        "  ],\n"
                        "  \"empty\": {},\n"
                        "  \"lists\": [\n"
                        "    []\n"
                        "  ],\n"
                        "  \"a\\tkey\": true,\n"
                        "  \"nil\": null,\n"
                        "  \"node\": {\n"
                        "    \"x\": [\n"
                        "      1,\n"
                        "      {\n"
                        "        \"y\": 0.1\n"
                        "      }\n"
                        "    ],\n"
                        "    \"e\": []\n"
                        "  },\n"
                        "  \"no node\": null\n"
                        "}",
    };
    (void)state;
    for (enum json_style style = JSON_COMPACT; style <= JSON_PRETTY; style++) {
        struct buf out = BUF_INIT(10000), again = BUF_INIT(10000);
        struct json_out j = json_out(&out, style);
        write_all(&j);
        assert_string_equal(buf_text(&out), rows[style]);
        assert_int_equal(print_again(buf_slice(&out), &again), 0);
        buf_deinit(&out);
        buf_deinit(&again);
    }
}

static void test_figures(void **state)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-7, "-7"},
        {9007199254740991.0, "9007199254740991"},
        {9007199254740992.0, "9.00719925474099e15"},
        {1e300, "1e300"},
        {1.5e-7, "1.5e-7"},
        {0.1, "0.1"},
        {1.0 / 3, "0.333333333333333"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(100);
        struct json_out j = json_out(&out, JSON_COMPACT);
        json_num(&j, NULL, rows[i].number);
        assert_string_equal(buf_text(&out), rows[i].text);
        buf_deinit(&out);
    }
}

/* What others wrote is valid and harmless, as a key too; control characters by their letters. */
static void test_strings_written(void **state)
{
    struct buf out = BUF_INIT(1000);
    struct json_out j = json_out(&out, JSON_PRETTY);
    (void)state;
    json_map(&j, NULL);
    json_key(&j, (slice){"a\0\xff", 3});
    json_str(&j, NULL, SLICE("\b\f\n\r\t\x01/\x7f##[error] \xe2\x80\xae"));
    json_map_end(&j);
    assert_string_equal(buf_text(&out),
                        "{\n  \"a\\u0000\xef\xbf\xbd\": "
                        "\"\\b\\f\\n\\r\\t\\u0001/\\u007f##\\u005berror] \\u202e\"\n}");
    buf_deinit(&out);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),          cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounds),          cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_styles),          cmocka_unit_test(test_figures),
        cmocka_unit_test(test_strings_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
