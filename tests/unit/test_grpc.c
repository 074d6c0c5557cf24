/* SPDX-License-Identifier: Apache-2.0
 *
 * What gRPC adds to HTTP/2. */
#include "wire/grpc.h"

#include "base/random.h"
#include "support/unit.h"

/* Does the stream end between messages? */
static bool grpc_whole(const struct grpc_framing *f)
{
    return f->have == 0 && f->left == 0;
}

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void test_is_call(void **state)
{
    static const struct {
        const char *type;
        bool call;
    } rows[] = {
        {"application/grpc", true},
        {"application/grpc+proto", true},
        {"application/grpc+json", true},
        {"application/grpc;charset=utf-8", true},
        {"application/grpc ; charset=utf-8", true},
        {"Application/GRPC", true},
        {"application/grpc-web", false},
        {"application/grpc-web+proto", false},
        {"application/grpcx", false},
        {"application/grp", false},
        {"application/json", false},
        {"xapplication/grpc", false},
        {"", false},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct field f[] = {{SLICE("te"), SLICE("trailers")},
                            {SLICE("Content-Type"), slice_of(rows[i].type)}};
        struct head h = {.method = SLICE("POST"), .fields = f, .n_fields = 2};
        if (grpc_is_call(&h) != rows[i].call)
            fail_msg("%s", rows[i].type);
        h.status = 200; /* a response is no call */
        assert_false(grpc_is_call(&h));
    }
    assert_false(grpc_is_call(&(struct head){.method = SLICE("POST")}));
    (void)state;
}

static void test_interface(void **state)
{
    static const char *const rows[][2] = {
        {"/pkg.Svc/Method", "pkg.Svc/Method"},
        {"pkg.Svc/Method", "pkg.Svc/Method"},
        {"/pkg.Svc/Method?x=/y", "pkg.Svc/Method"},
        {"//a", "/a"},
        {"/", ""},
        {"", ""},
        {"*", "*"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (!slice_is(grpc_interface(slice_of(rows[i][0])), rows[i][1]))
            fail_msg("%s", rows[i][0]);
    (void)state;
}

static void test_codes(void **state)
{
    static const uint32_t rows[][2] = {
        {400, 13}, {401, 16}, {403, 7}, {404, 12}, {429, 14}, {500, 2},
        {502, 13}, {503, 14}, {504, 4}, {200, 2},  {418, 2},  {599, 2},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_int_equal(grpc_of_status(rows[i][0]), rows[i][1]);
    (void)state;
}

static void test_status(void **state)
{
    static const struct {
        const char *text;
        int code;
    } rows[] = {{"0", 0},  {"14", 14}, {"16", 16}, {"17", -1}, {"-1", -1},
                {"", -1},  {"x", -1},  {" 1", -1}, {"1x", -1}, {"99999999999999999999", -1},
                {"00", 0}, {"007", 7}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct field f = {SLICE("Grpc-Status"), slice_of(rows[i].text)};
        if (grpc_status(&(struct head){.fields = &f, .n_fields = 1}) != rows[i].code)
            fail_msg("%s", rows[i].text);
    }
    assert_int_equal(grpc_status(&(struct head){0}), -1);
    (void)state;
}

static void test_message(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},           {"plain words", "plain words"},
        {"100%", "100%25"}, {"a\nb\r\x01\x7f", "a%0Ab%0D%01%7F"},
        {"~ !", "~ !"},     {"\xc3\xa9", "%C3%A9"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(100);
        grpc_message_encode(slice_of(rows[i][0]), &out);
        assert_string_equal(buf_text(&out), rows[i][1]);
        buf_deinit(&out);
    }
    struct buf out = BUF_INIT(100);
    grpc_message_encode((slice){"a\0b", 3}, &out);
    assert_string_equal(buf_text(&out), "a%00b");
    buf_deinit(&out);
    (void)state;
}

/* Messages of many sizes, fed in pieces of many sizes: where they end does not depend on the
 * pieces. */
static void test_framing(void **state)
{
    static const uint32_t sizes[] = {0, 1, 5, 0, 300, 65536, 2, 0};
    struct buf bytes = BUF_INIT(1 << 20);
    size_t ends[LENGTH(sizes)];
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        char prefix[GRPC_PREFIX];
        grpc_prefix(sizes[i], prefix);
        prefix[0] = (char)(i % 2); /* compressed: makes no difference */
        buf_add(&bytes, (slice){prefix, sizeof prefix});
        for (uint32_t k = 0; k < sizes[i]; k++)
            buf_addc(&bytes, (char)k);
        ends[i] = bytes.n;
    }
    struct rng rng = {1};
    for (uint32_t most = 1; most < 100000; most = most * 3 + 1) {
        struct grpc_framing f = {0};
        size_t at = 0;
        while (at < bytes.n) {
            size_t n = 1 + rng_below(&rng, most);
            if (n > bytes.n - at)
                n = bytes.n - at;
            uint64_t before = f.messages;
            size_t took = grpc_feed(&f, (slice){bytes.p + at, n});
            assert_true(took > 0 && took <= n);
            at += took;
            assert_true(f.messages == before || f.messages == before + 1);
            if (f.messages > before)
                assert_int_equal(at, ends[before]);
            else
                assert_int_equal(took, n);
            assert_int_equal(grpc_whole(&f), f.messages > before);
        }
        assert_int_equal(f.messages, LENGTH(sizes));
        assert_true(grpc_whole(&f));
        assert_int_equal(grpc_feed(&f, (slice){"", 0}), 0);
        assert_true(grpc_whole(&f));
    }
    buf_deinit(&bytes);
    (void)state;
}

static void test_prefix(void **state)
{
    char to[GRPC_PREFIX];
    grpc_prefix(0x01020304, to);
    assert_memory_equal(to, "\0\1\2\3\4", 5);
    grpc_prefix(UINT32_MAX, to);
    assert_memory_equal(to, "\0\xff\xff\xff\xff", 5);
    /* the largest length there is */
    struct grpc_framing f = {0};
    assert_int_equal(grpc_feed(&f, (slice){to, 5}), 5);
    assert_int_equal(f.left, UINT32_MAX);
    assert_false(grpc_whole(&f));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_call), cmocka_unit_test(test_interface),
        cmocka_unit_test(test_codes),   cmocka_unit_test(test_status),
        cmocka_unit_test(test_message), cmocka_unit_test(test_framing),
        cmocka_unit_test(test_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
