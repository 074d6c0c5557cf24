/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of others on its way to a screen, to a log of CI, or into JSON. */
#include "base/outlet.h"
#include "base/printable.h"
#include "base/random.h"
#include "data/json.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void test_hidden(void **state)
{
    (void)state;
    static const uint32_t hidden[] = {0,      0x07,   0x1b,   0x7f,   0x80,    0x9b,
                                      0x9f,   0xad,   0x61c,  0x200b, 0x200d,  0x200e,
                                      0x200f, 0x2028, 0x2029, 0x202a, 0x202e,  0x2060,
                                      0x2066, 0x2069, 0xfeff, 0xfffe, 0x1fffe, 0xe0041};
    static const uint32_t seen[] = {' ',    'a',    '~',    0xa0,   0xe9,   0x2003,
                                    0x2010, 0x2030, 0x4e2d, 0xfe0f, 0xfffd, 0x1f98a};
    for (size_t i = 0; i < LENGTH(hidden); i++)
        if (!glyph_hidden(hidden[i]))
            fail_msg("U+%04X is hidden", (unsigned)hidden[i]);
    for (size_t i = 0; i < LENGTH(seen); i++)
        if (glyph_hidden(seen[i]))
            fail_msg("U+%04X is seen", (unsigned)seen[i]);
}

static void test_utf8(void **state)
{
    (void)state;
    assert_true(text_is_utf8(SLICE("a\xc3\xa9\xef\xbf\xbd")));
    assert_true(text_is_utf8(SLICE("")));
    assert_false(text_is_utf8(SLICE("a\xc3")));
    assert_false(text_is_utf8(SLICE("\xff\xfe")));
}

static void print(struct printable *p, slice text, struct buf *out)
{
    buf_clear(out);
    printable_add(p, text, out);
}

static void test_lines(void **state)
{
    (void)state;
    const struct {
        slice text;
        const char *wanted;
    } rows[] = {
        {SLICE("plain: a::b #1 [x] #[y]\n\ttab\n"), "plain: a::b #1 [x] #[y]\n\ttab\n"},
        {SLICE("::error::x"), ": :error::x"},
        {SLICE("a\n  ::x\n\t::y\n\xc2\xa0::z"), "a\n  : :x\n\t: :y\n\xc2\xa0: :z"},
        {SLICE("a ::x"), "a ::x"},
        {SLICE("\r::x"), "?::x"}, /* it begins no line any more */
        {SLICE(": :x :"), ": :x :"},
        {SLICE("a ##[error]b"), "a ## [error]b"},
        {SLICE("a ###[error]##[b]"), "a ### [error]## [b]"},
        {SLICE("##vso[a]##teamcity[b]##x.y-z_0[c]"), "##vso [a]##teamcity [b]##x.y-z_0 [c]"},
        {SLICE("## [a] ##a b[c] # #[d]"), "## [a] ##a b[c] # #[d]"},
        {SLICE("##\xe2\x80\x8b[a]"), "##?[a]"},
        {SLICE("section_start:1:x\r\033[0Ka"), "section_start:1:x??[0Ka"},
        {SLICE("\033[31m\033]0;t\007"), "?[31m?]0;t?"},
        {SLICE("\xff\xc2\x9b\0"), "\xef\xbf\xbd??"},
    };
    struct buf out = BUF_INIT(1000);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct printable p = {0};
        print(&p, rows[i].text, &out);
        assert_string_equal(buf_text(&out), rows[i].wanted);
    }
    buf_deinit(&out);
}

static void test_colours(void **state)
{
    (void)state;
    struct printable p = {.colours = true};
    struct buf out = BUF_INIT(1000);
    print(&p, SLICE("\033[1mbold\033[0m \033[31mred\033[0m"), &out);
    assert_string_equal(buf_text(&out), "\033[1mbold\033[0m \033[31mred\033[0m");
    print(&p, SLICE("\033[2J\033[K\033[8mx"), &out); /* nothing else */
    assert_string_equal(buf_text(&out), "?[2J?[K?[8mx");
    buf_deinit(&out);
}

/* However a text is cut into pieces, what is printed is the same; what has been made harmless stays
 * as it is. */
static void test_pieces(void **state)
{
    (void)state;
    static const char special[] =
        ":##[vso] \n\r\t\033[0m\033[31m\xc3\xa9\xe2\x80\xae\xf0\x9f\xa6\x8a";
    struct rng rng = {11};
    for (int round = 0; round < 20000; round++) {
        char text[48];
        size_t n = rng_below(&rng, sizeof text), cut = n ? rng_below(&rng, (uint32_t)n) : 0;
        for (size_t i = 0; i < n; i++)
            text[i] = rng_below(&rng, 8) ? special[rng_below(&rng, sizeof special)]
                                         : (char)rng_below(&rng, 256);
        bool colours = rng_below(&rng, 2);
        struct printable once = {.colours = colours}, twice = once, again = once;
        struct buf whole = BUF_INIT(1000), pieces = BUF_INIT(1000), same = BUF_INIT(1000);
        printable_add(&once, (slice){text, n}, &whole);
        printable_add(&twice, (slice){text, cut}, &pieces);
        printable_add(&twice, (slice){text + cut, n - cut}, &pieces);
        assert_string_equal(buf_text(&whole), buf_text(&pieces));
        printable_add(&again, buf_slice(&whole), &same);
        assert_string_equal(buf_text(&whole), buf_text(&same));
        buf_deinit(&whole);
        buf_deinit(&pieces);
        buf_deinit(&same);
    }
}

/* A string of JSON is the same value, whatever it takes to write it; bytes that are no text become
 * U+FFFD. */
static void test_json(void **state)
{
    (void)state;
    const struct {
        slice text;
        const char *wanted;
    } rows[] = {
        {SLICE("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\""},
        {SLICE("::error::"), "\"::error::\""}, /* it begins no line */
        {SLICE("a ##[b] ##vso[c]"), "\"a ##\\u005bb] ##vso\\u005bc]\""},
        {SLICE("\x7f\xc2\x9b\xe2\x80\xae"), "\"\\u007f\\u009b\\u202e\""},
        {SLICE("\xf3\xa0\x81\x81\xc3\xa9"), "\"\\udb40\\udc41\xc3\xa9\""},
        {SLICE("\xff"), "\"\xef\xbf\xbd\""},
    };
    struct arena a = {0};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000);
        const struct node *back;
        buf_add_json_string(&out, rows[i].text);
        assert_string_equal(buf_text(&out), rows[i].wanted);
        assert_int_equal(node_parse_json(&a, buf_slice(&out), &back), 0);
        assert_true(slice_eq(back->text, rows[i].text) || rows[i].text.p[0] == '\xff');
        buf_deinit(&out);
    }
    arena_deinit(&a);
}

/* A report file takes the same way, and a pipe that nobody reads is not waited for. */
static void test_file(void **state)
{
    (void)state;
    char text[64] = "";
    FILE *out = outlet_open("printable.txt", OUTLET_TEXT);
    assert_non_null(out);
    fputs("##[a]\n", out);
    assert_int_equal(fclose(out), 0);
    out = outlet_open("printable.txt", OUTLET_APPEND);
    assert_non_null(out);
    fputs("::b\n", out);
    assert_int_equal(fclose(out), 0);
    FILE *in = fopen("printable.txt", "r");
    assert_non_null(in);
    assert_int_equal(fread(text, 1, sizeof text - 1, in), strlen("## [a]\n: :b\n"));
    fclose(in);
    assert_string_equal(text, "## [a]\n: :b\n");
    assert_int_equal(remove("printable.txt"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8),    cmocka_unit_test(test_hidden), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_colours), cmocka_unit_test(test_pieces), cmocka_unit_test(test_json),
        cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
