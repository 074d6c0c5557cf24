/* SPDX-License-Identifier: Apache-2.0
 *
 * base/pack: what is packed comes back, what is not exactly that is refused, and nothing becomes
 * larger than there is room for. (Frames of other programs: test_coding.c.) */
#include "base/pack.h"

#include "base/random.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { MOST = 100000, ROOM = 1 << 20 };

/* The examples of RFC 4648, and bytes with the last two letters. */
static const struct {
    const char *plain, *text;
} samples[] = {{"", ""},
               {"f", "Zg=="},
               {"fo", "Zm8="},
               {"foo", "Zm9v"},
               {"foob", "Zm9vYg=="},
               {"fooba", "Zm9vYmE="},
               {"foobar", "Zm9vYmFy"},
               {"\xfb\xff\xbf", "+/+/"}};

static void test_base64(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(samples); i++) {
        struct buf text = BUF_INIT(100), plain = BUF_INIT(100);
        pack_base64(slice_of(samples[i].plain), &text);
        assert_string_equal(buf_text(&text), samples[i].text);
        assert_int_equal(pack_base64_decode(buf_slice(&text), &plain), 0);
        assert_string_equal(buf_text(&plain), samples[i].plain);
        buf_deinit(&text);
        buf_deinit(&plain);
    }
}

static void test_base64_refused(void **state)
{
    static const char *const rows[] = {
        "Z",    "Zg",     "Zg=",       "Zg==Zg==",  "=g==", "Z===",
        "====", "Zm9v\n", "Zm-v",      "Zm_v",      "Zm 9", "Zh==", /* bits behind the end */
        "Zm9=", "Zg=A",   "Zm9v=Zm9v", "Zm9vZg==A",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf plain = BUF_INIT(100);
        if (pack_base64_decode(slice_of(rows[i]), &plain) == 0)
            fail_msg("%s was taken", rows[i]);
        buf_deinit(&plain);
    }
    struct buf small = BUF_INIT(2);
    assert_int_equal(pack_base64_decode(SLICE("Zm9v"), &small), -1);
    buf_deinit(&small);
}

/* Bytes of few kinds, which become small, or of all kinds, which do not. */
static void fill(char *p, size_t n, uint32_t kinds)
{
    struct rng r = {n + kinds};
    for (size_t i = 0; i < n; i++)
        p[i] = (char)rng_below(&r, kinds);
}

static void test_round_trip(void **state)
{
    static char bytes[MOST];
    (void)state;
    for (size_t n = 0; n < sizeof bytes; n = 2 * n + 1)
        for (uint32_t kinds = 1; kinds <= 256; kinds *= 16) {
            struct buf packed = BUF_INIT(ROOM), text = BUF_INIT(ROOM), back = BUF_INIT(n);
            fill(bytes, n, kinds);
            pack_deflate((slice){bytes, n}, &packed);
            pack_base64(buf_slice(&packed), &text);
            buf_clear(&packed);
            assert_int_equal(pack_base64_decode(buf_slice(&text), &packed), 0);
            assert_int_equal(pack_inflate(buf_slice(&packed), PACK_ZLIB, &back), 0);
            assert_int_equal(back.n, n);
            assert_memory_equal(buf_text(&back), bytes, n);
            buf_deinit(&packed);
            buf_deinit(&text);
            buf_deinit(&back);
        }
}

/* Cut off anywhere, with more behind it, or larger than there is room for. */
static void test_refused(void **state)
{
    static char bytes[1000];
    struct buf packed = BUF_INIT(ROOM);
    (void)state;
    fill(bytes, sizeof bytes, 4);
    pack_deflate((slice){bytes, sizeof bytes}, &packed);
    for (size_t n = 0; n < packed.n; n++) {
        struct buf back = BUF_INIT(ROOM);
        assert_int_equal(pack_inflate((slice){packed.p, n}, PACK_ZLIB, &back), -1);
        buf_deinit(&back);
    }
    struct buf small = BUF_INIT(sizeof bytes - 1), back = BUF_INIT(ROOM);
    assert_int_equal(pack_inflate(buf_slice(&packed), PACK_ZLIB, &small), -1);
    assert_int_equal(pack_inflate(buf_slice(&packed), PACK_GZIP, &back), -1);
    buf_addc(&packed, 'x');
    buf_clear(&back);
    assert_int_equal(pack_inflate(buf_slice(&packed), PACK_ZLIB, &back), -1);
    buf_deinit(&packed);
    buf_deinit(&small);
    buf_deinit(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_base64_refused),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
