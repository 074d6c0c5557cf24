/* SPDX-License-Identifier: Apache-2.0
 *
 * wire/coding: compressed bodies are read, and no more of them than there is room for. */
#include "wire/coding.h"

#include <string.h>
#define ZLIB_CONST /* what is read is not changed */
#include <zlib.h>

#include "support/unit.h"

enum { ROOM = 1 << 20 };

/* Packs a body as a server would. window: of zlib. */
static slice pack(slice body, int window, char *out)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (const Bytef *)body.p;
    z.avail_in = (uInt)body.n;
    z.next_out = (Bytef *)out;
    z.avail_out = ROOM;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t n = ROOM - z.avail_out;
    deflateEnd(&z);
    return (slice){out, n};
}

static const struct {
    const char *name;
    int window;
} forms[] = {{"gzip", 31}, {"x-gzip", 31}, {"GZip", 31}, {"deflate", 15}, {"deflate", -15}};

static void test_read(void **state)
{
    static char packed[ROOM];
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (size_t n = 0; n < 100000; n = 3 * n + 1) {
            char *text = mem_zero(n + 1);
            for (size_t k = 0; k < n; k++)
                text[k] = (char)('a' + k * k % 26);
            struct buf out = BUF_INIT(n + 1);
            slice body = pack((slice){text, n}, forms[i].window, packed);
            assert_null(coding_decode(slice_of(forms[i].name), body, &out));
            assert_int_equal(out.n, n);
            assert_true(slice_eq(buf_slice(&out), (slice){text, n}));
            buf_deinit(&out);
            mem_free(text);
        }
    }
}

/* gzip may be several members; nothing else may follow, and nothing may lack. */
static void test_whole(void **state)
{
    static char packed[2 * ROOM];
    (void)state;
    slice one = pack(SLICE("one "), 31, packed);
    slice two = pack(SLICE("two"), 31, packed + one.n);
    slice both = {packed, one.n + two.n};
    struct buf out = BUF_INIT(100);
    assert_null(coding_decode(SLICE("gzip"), both, &out));
    assert_string_equal(buf_text(&out), "one two");
    for (size_t n = 0; n < both.n; n++) {
        struct buf part = BUF_INIT(100);
        const char *why = coding_decode(SLICE("gzip"), (slice){packed, n}, &part);
        if (n == one.n)
            assert_null(why);
        else
            assert_non_null(why);
        buf_deinit(&part);
    }
    packed[both.n] = 'x';
    assert_non_null(coding_decode(SLICE("gzip"), (slice){packed, both.n + 1}, &out));
    assert_non_null(coding_decode(SLICE("deflate"), both, &out));
    buf_deinit(&out);
}

/* A small body that becomes a large one. */
static void test_bomb(void **state)
{
    enum { LARGE = 50 << 20 };
    static char packed[ROOM];
    (void)state;
    char *zeros = mem_zero(LARGE);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        slice body = pack((slice){zeros, LARGE}, forms[i].window, packed);
        struct buf out = BUF_INIT(10000);
        assert_string_equal(coding_decode(slice_of(forms[i].name), body, &out),
                            "is too large once it is decompressed");
        assert_true(out.n <= 10000);
        buf_deinit(&out);
    }
    mem_free(zeros);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *value, *coding;
    } rows[] = {{"gzip", "gzip"}, {" br ", "br"}, {"identity", ""}, {"Identity", ""}, {"", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field field = {SLICE("Content-Encoding"), slice_of(rows[i].value)};
        assert_true(
            slice_is(coding_of(&(struct head){.fields = &field, .n_fields = 1}), rows[i].coding));
    }
    assert_int_equal(coding_of(&(struct head){0}).n, 0);
    struct buf out = BUF_INIT(10);
    static const char *const others[] = {"br", "zstd", "compress", "gzip, gzip"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_non_null(strstr(coding_decode(slice_of(others[i]), SLICE("x"), &out), "gzip"));
    buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
