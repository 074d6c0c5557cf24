/* SPDX-License-Identifier: Apache-2.0
 *
 * rig/talk: requests and replies of the built-in clients. */
#include "rig/talk.h"

#include "support/unit.h"

static struct talk_reply reply(const char *name, const char *bytes)
{
    struct talk_reply r;
    talk_find(slice_of(name))->reply(slice_of(bytes), &r);
    return r;
}

static const struct reply_row {
    const char *talk, *bytes;
    enum talk_kind kind;
    const char *text;
    bool nothing;
} rows[] = {
    {"redis", "+OK\r\n", TALK_OK, "OK", false},
    {"redis", ":12\r\n", TALK_OK, "12", false},
    {"redis", "$5\r\nhello\r\n", TALK_OK, "hello", false},
    {"redis", "$0\r\n\r\n", TALK_OK, "", false},
    {"redis", "$-1\r\n", TALK_OK, "", true},
    {"redis", "*-1\r\n", TALK_OK, "", true},
    {"redis", "*0\r\n", TALK_OK, "", true},
    {"redis", "*2\r\n*1\r\n:7\r\n+x\r\n", TALK_OK, "7", false},
    {"redis", "-MISCONF Errors\r\n", TALK_ERROR, "MISCONF Errors", false},
    {"redis", "*1\r\n-ERR in it\r\n", TALK_OK, "ERR in it", false},
    {"redis", "", TALK_MORE, "", false},
    {"redis", "+OK\r", TALK_MORE, "", false},
    {"redis", "$5\r\nhel", TALK_MORE, "", false},
    {"redis", "*3\r\n:1\r\n:2\r\n", TALK_MORE, "", false},
    {"redis", "+OK\n", TALK_BROKEN, "", false},
    {"redis", "\r\n", TALK_BROKEN, "", false},
    {"redis", "$99999999999\r\n", TALK_BROKEN, "", false},
    {"redis", "$-2\r\n", TALK_BROKEN, "", false},
    {"redis", "$2\r\nabc\r\n", TALK_BROKEN, "", false},
    {"redis", "HTTP/1.1 400\r\n", TALK_BROKEN, "", false},
    {"redis", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", TALK_BROKEN, "",
     false},
    {"memcached", "STORED\r\n", TALK_OK, "STORED", false},
    {"memcached", "NOT_FOUND\r\n", TALK_OK, "NOT_FOUND", true},
    {"memcached", "VALUE k 0 3\r\nabc\r\nEND\r\n", TALK_OK, "abc", false},
    {"memcached", "END\r\n", TALK_OK, "", true},
    {"memcached", "42\r\n", TALK_OK, "42", false},
    {"memcached", "STAT pid 1\r\nSTAT up 2\r\nEND\r\n", TALK_OK, "", false},
    {"memcached", "VERSION 1.6\r\n", TALK_OK, "VERSION 1.6", false},
    {"memcached", "SERVER_ERROR out of memory\r\n", TALK_ERROR, "SERVER_ERROR out of memory",
     false},
    {"memcached", "VALUE k 0 3\r\nab", TALK_MORE, "", false},
    {"memcached", "VALUE k 0 x\r\n", TALK_BROKEN, "", false},
    {"memcached", "VALUE k 0 99999999\r\n", TALK_BROKEN, "", false},
    {"memcached", "hello\r\n", TALK_BROKEN, "", false},
    {"memcached", " \r\n", TALK_BROKEN, "", false},
};

static void test_replies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct talk_reply r = reply(rows[i].talk, rows[i].bytes);
        assert_int_equal(r.kind, rows[i].kind);
        if (r.kind != TALK_OK && r.kind != TALK_ERROR) {
            assert_int_equal(r.used, 0);
            continue;
        }
        assert_int_equal(r.used, strlen(rows[i].bytes));
        assert_true(slice_is(r.text, rows[i].text));
        assert_int_equal(r.nothing, rows[i].nothing);
    }
}

/* A reply that is cut anywhere is one that has not come as a whole. */
static void test_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].kind != TALK_OK && rows[i].kind != TALK_ERROR)
            continue;
        for (size_t n = 0; n < strlen(rows[i].bytes); n++) {
            struct talk_reply r;
            talk_find(slice_of(rows[i].talk))->reply((slice){rows[i].bytes, n}, &r);
            assert_int_equal(r.kind, TALK_MORE);
        }
    }
}

static void request(const char *talk, slice operation, const char *expected)
{
    struct buf out = BUF_INIT(1000);
    slice words[TALK_WORDS_MAX];
    uint32_t n = 0;
    while (slice_word(&operation, &words[n]))
        n++;
    talk_find(slice_of(talk))->request(words, n, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_deinit(&out);
}

static void test_requests(void **state)
{
    (void)state;
    request("redis", SLICE("SET key1 abc"), "*3\r\n$3\r\nSET\r\n$4\r\nkey1\r\n$3\r\nabc\r\n");
    request("redis", SLICE("PING"), "*1\r\n$4\r\nPING\r\n");
    request("memcached", SLICE("set key1 abc"), "set key1 0 0 3\r\nabc\r\n");
    request("memcached", SLICE("get key1"), "get key1\r\n");
    request("memcached", SLICE("version"), "version\r\n");
    assert_null(talk_find(SLICE("http")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replies),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
