/* SPDX-License-Identifier: Apache-2.0
 *
 * Conditions: what they hold of, what is said where they do not, what is refused. */
#include <stdio.h>

#include "data/condition.h"
#include "data/json.h"
#include "support/unit.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))

/* ---- holding ---- */

static const struct held {
    const char *condition, *json; /* NULL: there is no value */
    bool holds;
} held[] = {
    {"present", "0", true},
    {"present", "null", true},
    {"present", NULL, false},
    {"absent", NULL, true},
    {"absent", "null", false},
    {"null", "null", true},
    {"null", "0", false},
    {"null", NULL, false},
    {"not null", "0", true},
    {"not null", "\"\"", true},
    {"not null", "null", false},
    {"not null", NULL, false},
    {"not paid", "\"paid\"", false},
    {"not paid", "\"open\"", true},
    {"not 1", "1.0", false},
    {"not 1", "\"1\"", true},
    {"not [1, 2]", "[1,2]", false},
    {"number", "-1.5e3", true},
    {"number", "\"1\"", false},
    {"text", "\"\"", true},
    {"text", "1", false},
    {"boolean", "false", true},
    {"boolean", "null", false},
    {"list", "[]", true},
    {"list", "{}", false},
    {"object", "{}", true},
    {"object", NULL, false},
    {"empty", "[]", true},
    {"empty", "\"\"", true},
    {"empty", "{\"a\":1}", false},
    {"empty", "0", false},
    {"empty", NULL, false},
    {"not empty", "[0]", true},
    {"not empty", "0", true},
    {"not empty", "null", false},
    {"not empty", "\"\"", false},
    {"not empty", NULL, false},
    {"at least 10", "10", true},
    {"at least 10", "9.99", false},
    {"at least 10", "\"10\"", false},
    {"at least 10", NULL, false},
    {"at most -1.5", "-1.5", true},
    {"at most 1e2", "101", false},
    {"more than 0", "0", false},
    {"more than 0", "0.1", true},
    {"less than 3", "3", false},
    {"  less than   3  ", "2", true},
    {"from 1 to 10", "1", true},
    {"from 1 to 10", "10", true},
    {"from 1 to 10", "10.5", false},
    {"from 1 to 10", "null", false},
    {"matches ^[0-9]{3}$", "\"123\"", true},
    {"matches ^[0-9]{3}$", "123", true},
    {"matches ^[0-9]{3}$", "\"1234\"", false},
    {"matches b", "\"abc\"", true},
    {"matches tru", "true", true},
    {"matches .", "null", false},
    {"matches .", "[\"a\"]", false},
    {"matches .", NULL, false},
    {"contains b c", "\"a b c\"", true},
    {"contains d", "\"a b c\"", false},
    {"contains b", "[\"a\",\"b\"]", true},
    {"contains 2", "[1,2]", true},
    {"contains b", "[\"abc\"]", false},
    {"contains b", NULL, false},
};

static void test_holds(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(held); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct condition c;
        const struct node *value = NULL;
        if (condition_parse(slice_of(held[i].condition), &a, &c, &e))
            fail_msg("%s: %s", held[i].condition, e.text);
        if (held[i].json)
            assert_int_equal(node_parse_json(&a, slice_of(held[i].json), &value), 0);
        if (condition_holds(&c, value) != held[i].holds) {
            print_message("%s of %s\n", held[i].condition, held[i].json ? held[i].json : "nothing");
            wrong++;
        }
        arena_deinit(&a);
    }
    assert_int_equal(wrong, 0);
}

/* ---- words ---- */

static void test_refusal(void **state)
{
    static const char *const rows[][2] = {
        {"present", "is missing"},
        {"absent", "is there"},
        {"number", "is not a number"},
        {"at least 10", "is not at least 10"},
        {"from 1 to 2", "is not a number from 1 to 2"},
        {"matches ^a", "does not match ^a"},
        {"not null", "is missing, or is null"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct condition c;
        struct buf words = BUF_INIT(1000);
        assert_int_equal(condition_parse(slice_of(rows[i][0]), &a, &c, &e), 0);
        condition_refusal(&c, &words);
        assert_string_equal(buf_text(&words), rows[i][1]);
        buf_deinit(&words);
        arena_deinit(&a);
    }
}

/* ---- what is refused ---- */

static void test_refused(void **state)
{
    static const char *const rows[][2] = {
        {"", "is not a condition; write present, absent,"},
        {"atleast 5", "did you mean \"at least\"?"},
        {"presnt", "did you mean \"present\"?"},
        {"present 1", "is not a condition"},
        {"not", "is not a condition"},
        {"at least", "is not a condition"},
        {"at least ten", "\"at least\" is followed by a number"},
        {"at least 1x", "followed by a number"},
        {"at least 0x10", "followed by a number"},
        {"at least inf", "followed by a number"},
        {"from 5", "from N to M"},
        {"from 5 to 1", "from N to M"},
        {"matches (", "invalid regular expression: a ( is not closed by )"},
        {"matches (a)\\1", "back-references"},
        {"matches ((a{100}){100}){100}", "its repetitions multiply"},
    };
    char large[700] = "matches ";
    struct arena a = {0};
    struct condition c;
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        if (condition_parse(slice_of(rows[i][0]), &a, &c, &e) == 0 || !strstr(e.text, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], e.text);
    }
    memset(large + 8, 'a', sizeof large - 9);
    struct err e = {0};
    assert_int_equal(condition_parse(slice_of(large), &a, &c, &e), -1);
    assert_non_null(strstr(e.text, "1 to 500 bytes"));
    arena_deinit(&a);
}

/* Expressions that make an automaton explode, on a text that drives it: bounded by the text. */
static void test_bounded(void **state)
{
    enum { BYTES = 1 << 20 };
    char *text = mem_alloc(BYTES);
    struct arena a = {0};
    struct err e = {0};
    struct condition c;
    uint32_t noise = 1;
    (void)state;
    for (size_t i = 0; i < BYTES; i++) {
        noise = noise * 1664525 + 1013904223;
        text[i] = noise >> 31 ? 'a' : 'b';
    }
    assert_int_equal(condition_parse(SLICE("matches (a|b)*a(a|b){200}x"), &a, &c, &e), 0);
    assert_false(condition_holds(&c, node_str(&a, (slice){text, BYTES})));
    arena_deinit(&a);
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
