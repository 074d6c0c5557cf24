/* SPDX-License-Identifier: Apache-2.0
 *
 * Regular expressions: the same as the C library's on random expressions and texts, what is
 * refused, and what would explode elsewhere. */
#include <regex.h>
#include <stdio.h>

#include "base/random.h"
#include "data/regex.h"
#include "support/unit.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))

static int found(const char *pattern, slice text)
{
    struct arena a = {0};
    struct err e = {0};
    const struct regex *r;
    int seen = regex_parse(slice_of(pattern), &a, &r, &e) ? -1 : regex_found(r, text);
    arena_deinit(&a);
    return seen;
}

static void test_found(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool is;
    } rows[] = {
        {"b", "abc", true},
        {"^b", "abc", false},
        {"^a.c$", "abc", true},
        {"^$", "", true},
        {"a|^x", "yx", false},
        {"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", "0123abcd-0000-1111-2222-0123456789ab",
         true},
        {"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", "0123abcd-0000-1111-2222-0123456789",
         false},
        {"^\\d{4}-\\d\\d$", "2024-07", true},
        {"^\\w+@[\\w.]+$", "a_1@b.c", true},
        {"\\S\\s\\D", "a b", true},
        {"^[^]a]$", "]", false},
        {"^[]a]+$", "a]", true},
        {"^[a-]+$", "-a", true},
        {"^[[:upper:][:digit:]]+$", "A1", true},
        {"^[[:upper:]]+$", "Ab", false},
        {"a{2,3}b", "ab", false},
        {"^a{2,3}$", "aaaa", false},
        {"^a{2,}$", "aaaa", true},
        {"^(a*)*$", "aaaa", true},
        {"^(a|b|)c$", "c", true},
        {"{a", "x{a", true},
        {"^\\$\\{\\.$", "${.", true},
        {"x.y", "x\ny", true},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (found(rows[i].pattern, slice_of(rows[i].text)) != rows[i].is)
            fail_msg("%s in %s", rows[i].pattern, rows[i].text);
    assert_int_equal(found("b", (slice){"a\0b", 3}), 1);
}

static void test_refused(void **state)
{
    static const char *const rows[] = {"(",
                                       ")",
                                       "a)",
                                       "[a",
                                       "[",
                                       "*a",
                                       "a|*",
                                       "(+)",
                                       "a{2",
                                       "a{3,2}",
                                       "a{256}",
                                       "a{1,256}",
                                       "\\",
                                       "(a)\\1",
                                       "\\q",
                                       "[z-a]",
                                       "",
                                       "((a{100}){100}){100}",
                                       "(((){255}){255}){255}"};
    char deep[400];
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (found(rows[i], SLICE("a")) != -1)
            fail_msg("accepted: %s", rows[i]);
    memset(deep, '(', 200);
    memset(deep + 200, ')', 199);
    deep[399] = 0;
    assert_int_equal(found(deep, SLICE("a")), -1);
}

/* ---- beside the C library ---- */

static void add_random(struct rng *rng, int depth, struct buf *out)
{
    static const char *const atoms[] = {"a", "b", ".", "[ab]", "[^a]", "[b-c]", "c"};
    static const char *const repeats[] = {"", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,1}"};
    uint32_t items = 1 + rng_below(rng, 3);
    for (uint32_t i = 0; i < items; i++) {
        if (depth && rng_below(rng, 3) == 0) {
            buf_addc(out, '(');
            add_random(rng, depth - 1, out);
            buf_addc(out, '|');
            add_random(rng, depth - 1, out);
            buf_addc(out, ')');
        } else {
            buf_adds(out, atoms[rng_below(rng, LENGTH(atoms))]);
        }
        buf_adds(out, repeats[rng_below(rng, LENGTH(repeats))]);
    }
}

static void test_as_the_library(void **state)
{
    struct rng rng = {7};
    uint32_t both[2] = {0};
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct buf pattern = BUF_INIT(450);
        regex_t library;
        if (rng_below(&rng, 2))
            buf_addc(&pattern, '^');
        add_random(&rng, 2, &pattern);
        if (rng_below(&rng, 2))
            buf_addc(&pattern, '$');
        assert_int_equal(regcomp(&library, buf_text(&pattern), REG_EXTENDED | REG_NOSUB), 0);
        for (int k = 0; k < 10; k++) {
            char text[9] = "";
            for (uint32_t n = rng_below(&rng, 9); n > 0; n--)
                text[n - 1] = (char)('a' + rng_below(&rng, 3));
            int wanted = regexec(&library, text, 0, NULL, 0) == 0;
            both[wanted]++;
            if (found(buf_text(&pattern), slice_of(text)) != wanted)
                fail_msg("%s in \"%s\": the library says %d", buf_text(&pattern), text, wanted);
        }
        regfree(&library);
        buf_deinit(&pattern);
    }
    assert_true(both[0] > 1000 && both[1] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_as_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
