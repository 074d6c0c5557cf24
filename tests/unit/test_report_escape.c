/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of others in reports: whatever comes in, what goes out is harmless where it stands. */
#include "base/random.h"
#include "report/escape.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum format { LINE, XML, MARKDOWN, MESSAGE, PROPERTY, FORMATS };

static void escape(enum format format, slice text, struct buf *out)
{
    switch (format) {
    case LINE: escape_line(text, out); break;
    case XML: escape_xml(text, out); break;
    case MARKDOWN: escape_markdown(text, out); break;
    case MESSAGE: escape_github(text, false, out); break;
    case PROPERTY: escape_github(text, true, out); break;
    case FORMATS: break;
    }
}

static void test_cases(void **state)
{
    (void)state;
    const struct {
        enum format format;
        slice text;
        const char *wanted;
    } cases[] = {
        {LINE, SLICE("plain"), "plain"},
        {LINE, SLICE("a\nb\x1b[31m\x7f"), "a?b?[31m?"},
        {LINE, SLICE("nul\0nul"), "nul?nul"},
        {LINE, SLICE("\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x8a"),
         "\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x8a"},
        {LINE, SLICE("\xc3"), "\xef\xbf\xbd"},                                 /* broken off */
        {LINE, SLICE("\xc3("), "\xef\xbf\xbd("},                               /* no continuation */
        {LINE, SLICE("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd"},                 /* too long a form */
        {LINE, SLICE("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
        {LINE, SLICE("\xf4\x90\x80\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {LINE, SLICE("\xc2\x9b"), "?"},     /* a control character of two bytes: CSI */
        {LINE, SLICE("\xe2\x80\xa8"), "?"}, /* a line separator */
        {LINE, SLICE("a ##[error]b ##vso[c]"), "a ## [error]b ##vso [c]"},
        {LINE, SLICE("\xe2\x80\xae\xe2\x80\x8b\xef\xbb\xbf"), "???"}, /* backwards, no width */
        {XML, SLICE("a ##[error]b"), "a ##&#91;error]b"},
        {XML, SLICE("a ##\x01[error]\xe2\x80\x8b"), "a ##&#91;error]"},
        {MARKDOWN, SLICE("##[error]a"), "\\#\\#\\[error\\]a"},
        {MESSAGE, SLICE("a ##[error]b"), "a ## [error]b"},
        {XML, SLICE("a < b && \"c\" > 'd'"), "a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'"},
        {XML, SLICE("a\n\tb\r"), "a&#10;&#9;b&#13;"},
        {XML, SLICE("a\x01\x1b\0b"), "ab"},
        {XML, SLICE("]]>"), "]]&gt;"},
        {XML, SLICE("\xef\xbf\xbe\xef\xbf\xbf."), "."}, /* what XML has no way to write */
        {MARKDOWN, SLICE("a|b`c`<img src=x>&amp;"), "a\\|b\\`c\\`&lt;img src=x&gt;&amp;amp;"},
        {MARKDOWN, SLICE("*a* _b_ [c](d) #e\n# f"), "\\*a\\* \\_b\\_ \\[c\\](d) \\#e \\# f"},
        {MARKDOWN, SLICE("a\\|b"), "a\\\\\\|b"},
        {MESSAGE, SLICE("100%: a, b\r\n::error::x"), "100%25: a, b%0D%0A::error::x"},
        {PROPERTY, SLICE("100%: a, b\r\n::error::x"), "100%25%3A a%2C b%0D%0A%3A%3Aerror%3A%3Ax"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct buf out = BUF_INIT(1000);
        escape(cases[i].format, cases[i].text, &out);
        assert_string_equal(buf_text(&out), cases[i].wanted);
        assert_false(out.full);
        buf_deinit(&out);
    }
}

/* The same, by the rules of RFC 3629 alone. */
static bool is_utf8(slice s)
{
    for (size_t i = 0; i < s.n;) {
        uint8_t c = (uint8_t)s.p[i];
        size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : 4;
        if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || i + n > s.n)
            return false;
        uint8_t second = n > 1 ? (uint8_t)s.p[i + 1] : 0;
        if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second >= 0xa0) ||
            (c == 0xf0 && second < 0x90) || (c == 0xf4 && second >= 0x90))
            return false;
        for (size_t k = 1; k < n; k++)
            if (((uint8_t)s.p[i + k] & 0xc0) != 0x80)
                return false;
        i += n;
    }
    return true;
}

/* Nothing that means something there is left as it is. */
static bool is_harmless(enum format format, slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if ((uint8_t)c < 0x20 || c == 0x7f)
            return false;
        if ((format == XML || format == MARKDOWN) && (c == '<' || c == '>'))
            return false;
        if (format == XML && (c == '"' || (c == '&' && !memchr(s.p + i, ';', s.n - i))))
            return false;
        if (format == PROPERTY && (c == ':' || c == ','))
            return false;
        if (c == '\\' && format == MARKDOWN && ++i == s.n)
            return false; /* it would escape what follows */
        else if (format == MARKDOWN && c != '\\' && (c == '|' || c == '`'))
            return false;
    }
    return true;
}

static void test_hostile(void **state)
{
    (void)state;
    static const char special[] = "<>&\"'|`\\:,%\r\n\t\x1b\x7f\0*_[]#@";
    struct rng rng = {7};
    for (int round = 0; round < 20000; round++) {
        char text[64];
        size_t n = rng_below(&rng, sizeof text);
        for (size_t i = 0; i < n; i++)
            text[i] = rng_below(&rng, 2) ? special[rng_below(&rng, sizeof special)]
                                         : (char)rng_below(&rng, 256);
        for (enum format f = 0; f < FORMATS; f++) {
            struct buf out = BUF_INIT(1 + rng_below(&rng, 400)); /* often too small */
            escape(f, (slice){text, n}, &out);
            assert_true(out.n <= out.max);
            assert_true(is_utf8(buf_slice(&out)));
            assert_true(is_harmless(f, buf_slice(&out)));
            buf_deinit(&out);
        }
    }
}

static void test_code(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"a", "```sh\na\n```\n"},
        {"a\n", "```sh\na\n```\n"},
        {"a\n```\nb", "````sh\na\n```\nb\n````\n"},
        {"::error::x\n ##[y]", "```sh\n: :error::x\n ## [y]\n```\n"},
        {"`````", "``````sh\n`````\n``````\n"},
        {"a\x1b\xff", "```sh\na?\xef\xbf\xbd\n```\n"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000);
        escape_code(slice_of(rows[i].text), "sh", &out);
        assert_string_equal(buf_text(&out), rows[i].wanted);
        buf_deinit(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
