/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML to nodes: types, positions, and everything that is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/yaml.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const struct node *parse(struct arena *a, slice yaml)
{
    const struct node *node = NULL;
    struct err e = {0};
    if (yaml_parse(yaml, a, &node, &e))
        fail_msg("%.*s: %u:%u: %s", (int)(yaml.n < 200 ? yaml.n : 200), yaml.p, (unsigned)e.line,
                 (unsigned)e.col, e.text);
    return node;
}

static void check_json(const char *yaml, const char *json)
{
    struct arena a = {0};
    struct buf printed = BUF_INIT(1 << 16);
    node_print(parse(&a, slice_of(yaml)), &printed);
    if (strcmp(buf_text(&printed), json) != 0)
        fail_msg("%s\nis %s\nnot %s", yaml, buf_text(&printed), json);
    buf_deinit(&printed);
    arena_deinit(&a);
}

static void test_scalars(void **state)
{
    static const struct {
        const char *yaml;
        enum node_type type;
        const char *text;
    } rows[] = {
        {"word", NODE_STR, "word"},
        {"two words", NODE_STR, "two words"},
        {"~", NODE_NULL, "~"},
        {"null", NODE_NULL, "null"},
        {"true", NODE_BOOL, "true"},
        {"false", NODE_BOOL, "false"},
        {"0", NODE_NUM, "0"},
        {"503", NODE_NUM, "503"},
        {"-1", NODE_NUM, "-1"},
        {"+1", NODE_NUM, "+1"},
        {"1.5", NODE_NUM, "1.5"},
        {"1e3", NODE_NUM, "1e3"},
        {"1.5E-3", NODE_NUM, "1.5E-3"},
        {"010", NODE_NUM, "010"},
        /* quotes make text of anything */
        {"'true'", NODE_STR, "true"},
        {"\"503\"", NODE_STR, "503"},
        {"'~'", NODE_STR, "~"},
        {"''", NODE_STR, ""},
        {"|\n  12\n", NODE_STR, "12\n"},
        {">-\n  12\n", NODE_STR, "12"},
        /* what only looks like something else */
        {"on", NODE_STR, "on"},
        {"off", NODE_STR, "off"},
        {"yes", NODE_STR, "yes"},
        {"no", NODE_STR, "no"},
        {"5xx", NODE_STR, "5xx"},
        {"10s", NODE_STR, "10s"},
        {"0x10", NODE_STR, "0x10"},
        {"1-2", NODE_STR, "1-2"},
        {"1.2.3", NODE_STR, "1.2.3"},
        {"1e", NODE_STR, "1e"},
        {"12e+", NODE_STR, "12e+"},
        {"-", NODE_LIST, NULL}, /* an item that is nothing */
        {"+", NODE_STR, "+"},
        {".inf", NODE_STR, ".inf"},
        {"-.inf", NODE_STR, "-.inf"},
        {".nan", NODE_STR, ".nan"},
        {"nan", NODE_STR, "nan"},
        {"infinity", NODE_STR, "infinity"},
        {"1e999", NODE_STR, "1e999"}, /* no number that can be computed with */
        {"truely", NODE_STR, "truely"},
        {"nullify", NODE_STR, "nullify"},
        {"2001-12-14", NODE_STR, "2001-12-14"},
        {"12:30:45", NODE_STR, "12:30:45"},
        {"grpc:14", NODE_STR, "grpc:14"},
        {"a#b", NODE_STR, "a#b"},
        {"a # b", NODE_STR, "a"},
        {"1,000", NODE_STR, "1,000"},
        {"\xc3\xa9", NODE_STR, "\xc3\xa9"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct arena a = {0};
        const struct node *node = parse(&a, slice_of(rows[i].yaml));
        if (node->type != rows[i].type || (rows[i].text && !slice_is(node->text, rows[i].text)))
            fail_msg("%s is %s, \"%.*s\"", rows[i].yaml, node_type_name(node->type),
                     SLICE_ARG(node->text));
        arena_deinit(&a);
    }
}

static void test_numbers(void **state)
{
    static const struct {
        const char *yaml;
        double num;
    } rows[] = {{"0", 0},      {"-1", -1},  {"+1", 1}, {"1.5", 1.5},
                {"1e3", 1000}, {"010", 10}, {"1.", 1}, {"1.5E-3", 0.0015}};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct arena a = {0};
        assert_memory_equal(&parse(&a, slice_of(rows[i].yaml))->num, &rows[i].num, sizeof(double));
        arena_deinit(&a);
    }
}

static void test_structure(void **state)
{
    static const struct {
        const char *yaml, *json;
    } rows[] = {
        {"", "null"},
        {"\n\n# a remark\n", "null"},
        {"---\n", "null"},
        {"---\n...\n", "null"},
        {"---\na: 1\n...\n", "{\"a\": 1}"},
        {"\xef\xbb\xbf"
         "a: 1\n",
         "{\"a\": 1}"}, /* a byte order mark */
        {"a: 1\r\nb: 2\r\n", "{\"a\": 1, \"b\": 2}"},
        {"a:\nb: ~\nc: ''\n", "{\"a\": null, \"b\": null, \"c\": \"\"}"},
        {"[]", "[]"},
        {"{}", "{}"},
        {"[[], {}, [[]]]", "[[], {}, [[]]]"},
        {"- 1\n- - 2\n  - 3\n- a: 4\n  b: 5\n", "[1, [2, 3], {\"a\": 4, \"b\": 5}]"},
        {"{ a, b: 1 }", "{\"a\": null, \"b\": 1}"},
        {"[a: 1, b]", "[{\"a\": 1}, \"b\"]"},
        /* keys are text, whatever they look like */
        {"404: a\ntrue: b\n~: c\n\"x y\": d\n",
         "{\"404\": \"a\", \"true\": \"b\", \"~\": \"c\", \"x y\": \"d\"}"},
        {"GET /a/{b}: c\n", "{\"GET /a/{b}\": \"c\"}"},
        {"a: 1\nA: 2\n'a ': 3\n", "{\"a\": 1, \"A\": 2, \"a \": 3}"},
        {"a: { x: 1 }\nb: { x: 1 }\n", "{\"a\": {\"x\": 1}, \"b\": {\"x\": 1}}"},
        /* text that starts like an anchor, an alias or a tag */
        {"['&a', '*a', '!a', a&b, a*b, a!b]",
         "[\"&a\", \"*a\", \"!a\", \"a&b\", \"a*b\", \"a!b\"]"},
        {"a: |\n  one\n  two\nb: >\n  one\n  two\n",
         "{\"a\": \"one\\u000atwo\\u000a\", \"b\": \"one two\\u000a\"}"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        check_json(rows[i].yaml, rows[i].json);
}

static void test_positions(void **state)
{
    static const char yaml[] = "# first line\n"
                               "a: 1\n"
                               "b:\n"
                               "  - x\n"
                               "  -   { c: 'y', d: [z] }\n"
                               "long key:   word\n"
                               "\xc3\xa9: after\n";
    static const struct {
        const char *path;
        uint32_t line, col;
    } rows[] = {{"", 2, 1},          {"a", 2, 4},       {"b", 4, 3},      {"b/0", 4, 5},
                {"b/1", 5, 7},       {"b/1/c", 5, 12},  {"b/1/d", 5, 20}, {"b/1/d/0", 5, 21},
                {"long key", 6, 13}, {"\xc3\xa9", 7, 4}};
    static const struct {
        uint32_t line, col;
    } keys[] = {{2, 1}, {3, 1}, {6, 1}, {7, 1}};
    struct arena a = {0};
    const struct node *root = parse(&a, slice_of(yaml));
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct node *node = node_at(root, slice_of(rows[i].path));
        if (node->line != rows[i].line || node->col != rows[i].col)
            fail_msg("\"%s\" is at %u:%u", rows[i].path, (unsigned)node->line, (unsigned)node->col);
    }
    assert_int_equal(root->n, LENGTH(keys));
    for (size_t i = 0; i < LENGTH(keys); i++) {
        assert_int_equal(root->map[i].line, keys[i].line);
        assert_int_equal(root->map[i].col, keys[i].col);
    }
    arena_deinit(&a);
}

#define ANY UINT32_MAX

static void check_refused(slice yaml, const char *word, uint32_t line, uint32_t col)
{
    struct arena a = {0};
    struct err e = {0};
    const struct node *node;
    if (yaml_parse(yaml, &a, &node, &e) == 0)
        fail_msg("%.*s\nis accepted", (int)(yaml.n < 200 ? yaml.n : 200), yaml.p);
    if (!strstr(e.text, word) || (line != ANY && (e.line != line || e.col != col)))
        fail_msg("%.*s\n%u:%u: %s", (int)(yaml.n < 200 ? yaml.n : 200), yaml.p, (unsigned)e.line,
                 (unsigned)e.col, e.text);
    arena_deinit(&a);
}

static void test_refused(void **state)
{
    static const struct {
        const char *yaml, *word;
        uint32_t line, col;
    } rows[] = {
        {"a: 1\nb: 2\na: 3\n", "key \"a\" is given twice", 3, 1},
        {"x: { k: 1, 'k': 2 }\n", "key \"k\" is given twice", 1, 12},
        {"1: a\n'1': b\n", "key \"1\" is given twice", 2, 1},
        {"a: &x 1\nb: 2\n", "anchors", 1, 4},
        {"a: &x [1]\n", "anchors", 1, 4},
        {"a: &x { b: 1 }\n", "anchors", 1, 4},
        {"a: 1\nb: *a\n", "anchors", 2, 4},
        {"[1, *a]\n", "anchors", 1, 5},
        {"a: &x 1\nb: *x\n", "anchors", 1, 4},
        {"<<: *x\n", "anchors", 1, 5},
        {"*x : 1\n", "key", 1, 1},
        {"a: !!str 1\n", "tags", 1, 4},
        {"a: !x [1]\n", "tags", 1, 4},
        {"a: !x { b: 1 }\n", "tags", 1, 4},
        {"a: ! 1\n", "tags", 1, 4},
        {"--- !x\na: 1\n", "tags", ANY, 0},
        {"a: 1\n---\nb: 2\n", "one document", 2, 1},
        {"a\n---\n", "one document", 2, 1},
        {"--- 1\n--- 2\n", "one document", 2, 1},
        {"? [a]\n: b\n", "key", 1, 3},
        {"{ [a]: b }\n", "key", ANY, 0},
        {"a: \"x\\0y\"\n", "NUL", 1, 4},
        {"\"x\\0y\": 1\n", "NUL", 1, 1},
        {"a: [1\n", "not valid YAML", ANY, 0},
        {"a: 'x\n", "not valid YAML", ANY, 0},
        {"a: b: c\n", "not valid YAML", 1, 5},
        {"a: 1\n b: 2\n", "not valid YAML", ANY, 0},
        {"a: 1\n\tb: 2\n", "not valid YAML", ANY, 0},
        {"a: @x\n", "not valid YAML", 1, 4},
        {"a: \"\\q\"\n", "not valid YAML", ANY, 0},
        {"}", "not valid YAML", ANY, 0},
        {"\xff\xfe", "not valid YAML", ANY, 0},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        check_refused(slice_of(rows[i].yaml), rows[i].word, rows[i].line, rows[i].col);
    check_refused((slice){"a: x\0y\n", 7}, "not valid YAML", ANY, 0);
    check_refused((slice){"\0", 1}, "not valid YAML", ANY, 0);
    check_refused((slice){"a: 1\0", 5}, "not valid YAML", ANY, 0);
}

/* A key is no place for them either. */
static void test_refused_in_keys(void **state)
{
    static const char *const rows[] = {"&x a: 1\n", "!!str a: 1\n", "{ &x a: 1 }\n", "! a: 1\n",
                                       "b: 1\n!x a: 1\n"};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        check_refused(slice_of(rows[i]), "", ANY, 0);
}

/* Bytes that are no text: the position is theirs, or none is given. */
static void test_position_of_bytes(void **state)
{
    static const char *const rows[] = {"a: 1\nb: 2\nc: \x01\nd: 4\n", "a: 1\nb: 2\nc: \xff\nd: 4\n",
                                       "a: 1\nb: 2\nc: \xc3(\nd: 4\n"};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct arena a = {0};
        struct err e = {0};
        const struct node *node;
        assert_int_equal(yaml_parse(slice_of(rows[i]), &a, &node, &e), -1);
        if (e.line != 0 && e.line != 3)
            fail_msg("row %d: %u:%u: %s", (int)i, (unsigned)e.line, (unsigned)e.col, e.text);
        arena_deinit(&a);
    }
}

static void add_nested(struct buf *text, int levels, const char *open, const char *in,
                       const char *close)
{
    for (int i = 0; i < levels; i++)
        buf_adds(text, open);
    buf_adds(text, in);
    for (int i = 0; i < levels; i++)
        buf_adds(text, close);
}

static void test_depth(void **state)
{
    static const struct {
        const char *open, *in, *close;
    } rows[] = {{"[", "1", "]"}, {"{a: ", "1", "}"}, {"[", "''", "]"}, {"- ", "x", ""}};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (int levels = YAML_DEPTH_MAX - 2; levels < YAML_DEPTH_MAX + 3; levels++) {
            struct buf text = BUF_INIT(1 << 16);
            struct arena a = {0};
            add_nested(&text, levels, rows[i].open, rows[i].in, rows[i].close);
            if (levels < YAML_DEPTH_MAX)
                parse(&a, buf_slice(&text));
            else
                check_refused(buf_slice(&text), "too deeply", ANY, 0);
            arena_deinit(&a);
            buf_deinit(&text);
        }
}

/* Far too deep, also where it never closes: refused at once. */
static void test_bombs(void **state)
{
    static const char *const parts[] = {"[", "{a: ", "- ", "? ", "[{a: "};
    (void)state;
    for (size_t i = 0; i < LENGTH(parts); i++) {
        struct buf text = BUF_INIT(YAML_BYTES_MAX);
        while (!text.full)
            buf_adds(&text, parts[i]);
        check_refused(buf_slice(&text), "", ANY, 0);
        buf_deinit(&text);
    }
}

static void test_size(void **state)
{
    struct buf text = BUF_INIT((size_t)YAML_BYTES_MAX + 1);
    struct arena a = {0};
    (void)state;
    buf_adds(&text, "a: 1\n");
    while (text.n < YAML_BYTES_MAX)
        buf_adds(&text, text.n % 64 ? "#" : "\n");
    assert_int_equal(text.n, YAML_BYTES_MAX);
    assert_int_equal(parse(&a, buf_slice(&text))->n, 1);
    buf_addc(&text, '\n');
    check_refused(buf_slice(&text), "larger than 4 MiB", 0, 0);
    buf_deinit(&text);
    arena_deinit(&a);
}

/* Many keys and items: linear, and all of them there. */
static void test_wide(void **state)
{
    struct buf text = BUF_INIT(YAML_BYTES_MAX);
    struct arena a = {0};
    enum { N = 50000 };
    (void)state;
    for (int i = 0; i < N; i++)
        buf_addf(&text, "key%d: [%d]\n", i, i);
    const struct node *root = parse(&a, buf_slice(&text));
    assert_int_equal(root->n, N);
    for (uint32_t i = 0; i < N; i++)
        assert_true((uint32_t)root->map[i].value->list[0]->num == i && root->map[i].line == i + 1);
    buf_adds(&text, "key17: again\n");
    check_refused(buf_slice(&text), "key \"key17\" is given twice", N + 1, 1);
    buf_deinit(&text);
    arena_deinit(&a);
}

/* ---- files ---- */

enum { NAME_MAX_BYTES = 200 };

static void write_file(char *path, slice text)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, NAME_MAX_BYTES, "%s/outfox-yaml-XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.p, text.n), text.n);
    close(fd);
}

static void test_load(void **state)
{
    char path[NAME_MAX_BYTES];
    struct arena a = {0};
    struct err e = {0};
    const struct node *node;
    (void)state;
    write_file(path, SLICE("a: [1, 2]\n"));
    assert_int_equal(yaml_load(path, &a, &node, &e), 0);
    assert_int_equal(node_at(node, SLICE("a"))->n, 2);
    assert_string_equal(e.source, path);
    unlink(path);
    e = (struct err){0};
    assert_int_equal(yaml_load(path, &a, &node, &e), -1);
    assert_non_null(strstr(e.text, "cannot be read"));
    assert_string_equal(e.source, path);
    e = (struct err){0};
    assert_int_equal(yaml_load("/", &a, &node, &e), -1);
    assert_non_null(strstr(e.text, "cannot be"));
    write_file(path, SLICE("a: 1\nb: [\n"));
    e = (struct err){0};
    assert_int_equal(yaml_load(path, &a, &node, &e), -1);
    assert_true(e.line >= 2);
    unlink(path);
    arena_deinit(&a);
}

static void test_load_large(void **state)
{
    char path[NAME_MAX_BYTES];
    struct arena a = {0};
    struct err e = {0};
    const struct node *node;
    struct buf text = BUF_INIT((size_t)YAML_BYTES_MAX + 10);
    (void)state;
    while (!text.full)
        buf_adds(&text, "# a remark\n");
    write_file(path, buf_slice(&text));
    assert_int_equal(yaml_load(path, &a, &node, &e), -1);
    assert_non_null(strstr(e.text, "larger"));
    unlink(path);
    buf_deinit(&text);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_in_keys),
        cmocka_unit_test(test_position_of_bytes),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_load_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
