/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets in texts of all kinds: what is hidden, and what is left. */
#include <stdio.h>

#include "data/secret.h"
#include "support/unit.h"

static const struct {
    const char *text, *masked; /* NULL: nothing is hidden */
} cases[] = {
    /* JSON, at any depth */
    {"{\"password\": \"hunter2\", \"name\": \"fox\"}",
     "{\"password\": \"[secret]\", \"name\": \"fox\"}"},
    {"{\"user\":{\"accessToken\":\"a\\\"b\\\\\",\"n\":1},\"x\":[{\"api_key\":17}]}",
     "{\"user\":{\"accessToken\":\"[secret]\",\"n\":1},\"x\":[{\"api_key\":\"[secret]\"}]}"},
    {"{\"secret\": {\"a\": [1, \"}\"]}, \"b\": 2}", "{\"secret\": \"[secret]\", \"b\": 2}"},
    {"{\"credentials\": [\"a\", \"b\"]}", "{\"credentials\": \"[secret]\"}"},
    {"{\"token\": null, \"password\": \"\", \"secret\": true, \"jwt\": {}}", NULL},
    {"{\"token\"\n :\n \"abc\"}", NULL}, /* nobody writes the colon there */
    {"{\"token\":\n \"abc\"}", "{\"token\":\n \"[secret]\"}"},
    {"{\"token\": \"cut of", "{\"token\": \"[secret]"},
    {"\"{\\\"token\\\": \\\"abc\\\", \\\"n\\\": 1}\"",
     "\"{\\\"token\\\": \\\"[secret]\\\", \\\"n\\\": 1}\""},
    {"\"{\\\"token\\\": 17}\"", "\"{\\\"token\\\": [secret]}\""},
    /* forms and queries */
    {"{\"a\": \"token:'x\", \"b\": \"it's\"}", "{\"a\": \"token:'[secret]\", \"b\": \"it's\"}"},
    {"{\"token\\\\\": 15, \"secret\": {\"a\": \"}\"}}",
     "{\"token\\\\\": \"[secret]\", \"secret\": \"[secret]\"}"},
    {"\"token='x\\\\\"", "\"token='[secret]\""},
    {"user=fox&password=hunter2&next=/", "user=fox&password=[secret]&next=/"},
    {"GET /login?token=abc&x=1 HTTP/1.1", "GET /login?token=[secret]&x=1 HTTP/1.1"},
    {"https://fox:hunter2@den.example/x", "https://fox:[secret]@den.example/x"},
    {"postgres://fox@den/x amqp://a:b@c", "postgres://fox@den/x amqp://a:[secret]@c"},
    /* headers, variables, log lines */
    {"Authorization: Bearer abc.def\r\nHost: x\r\n", "Authorization: [secret]\r\nHost: x\r\n"},
    {"Set-Cookie: a=b; Path=/\nX-Api-Key: k", "Set-Cookie: [secret]\nX-Api-Key: [secret]"},
    {"{\"line\": \"Cookie: a=b\", \"n\": 1}", "{\"line\": \"Cookie: [secret]\", \"n\": 1}"},
    {"DB_PASSWORD=hunter2 STRIPE_SECRET_KEY='sk' PATH=/bin",
     "DB_PASSWORD=[secret] STRIPE_SECRET_KEY='[secret]' PATH=/bin"},
    {"level=info token=abc took=3ms", "level=info token=[secret] took=3ms"},
    {"password: hunter2", "password: [secret]"},
    {"{\"log\": \"a\\ntoken: abc\\u000apassword=x\"}",
     "{\"log\": \"a\\ntoken: [secret]\\u000apassword=[secret]\"}"},
    {"{\"the token: \": \"h\", \"token\": \"a\"}",
     "{\"the token: \": \"h\", \"token\": \"[secret]\"}"},
    {"password: \"hunter 2\" 5\" disk token: \"abc\"",
     "password: \"[secret]\" 5\" disk token: \"[secret]\""},
    {"[\"token: [a\", 1]", "[\"token: [secret]\", 1]"},
    /* what only looks like it */
    {"{\"key\": \"a\", \"tokens\": 7, \"tokenizer\": \"x\", \"author\": \"y\"}", NULL},
    {"the token has expired; password required", NULL},
    {"Idempotency-Key: 17", NULL},
    {"12:30:05 GET http://den:8080/a:b@c", NULL},
    {"", NULL},
};

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *wanted = cases[i].masked ? cases[i].masked : cases[i].text;
        struct buf once = BUF_INIT(1000), twice = BUF_INIT(1000);
        secret_mask(slice_of(cases[i].text), &once);
        secret_mask(buf_slice(&once), &twice);
        if (strcmp(buf_text(&once), wanted) != 0)
            fail_msg("%s\n  became %s\n  not    %s", cases[i].text, buf_text(&once), wanted);
        assert_string_equal(buf_text(&twice), buf_text(&once));
        buf_deinit(&once);
        buf_deinit(&twice);
    }
}

static void test_names(void **state)
{
    (void)state;
    static const char *const secret[] = {
        "token",      "X-Auth-Token", "refresh_token",      "apiKey",
        "X-API-KEY",  "PASSWORD",     "userPassword",       "Cookie",
        "Set-Cookie", "clientSecret", "proxy-authorization"};
    static const char *const open[] = {"key", "tokens", "secretary", "pass", "", "x", "id"};
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        if (!secret_name(slice_of(secret[i])))
            fail_msg("%s is a secret", secret[i]);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (secret_name(slice_of(open[i])))
            fail_msg("%s is no secret", open[i]);
    assert_true(secret_pointer(SLICE("/user/password")));
    assert_true(secret_pointer(SLICE("/tokens/0/token/x")));
    assert_false(secret_pointer(SLICE("/user/name")));
}

/* What users add and take away. */
static void test_set(void **state)
{
    (void)state;
    secret_hide(SLICE("Card_Number"));
    assert_true(secret_name(SLICE("cardNumber")));
    secret_show(SLICE("token-type"));
    assert_false(secret_name(SLICE("token_type")));
    assert_true(secret_name(SLICE("token")));
    secret_show(SLICE("token"));
    assert_false(secret_name(SLICE("token")));
    secret_hide(SLICE("token"));
    assert_true(secret_name(SLICE("token")));
    for (int i = 0; i < 1000; i++) {
        char name[20];
        snprintf(name, sizeof name, "n%d", i);
        secret_hide(slice_of(name));
    }
    assert_true(secret_name(SLICE("token")));
}

/* The time is in proportion to the text: 4 MB of what is hardest take no minute. */
static void test_long(void **state)
{
    static const char *const parts[] = {
        "://a:", "token\\\"", "{\"token\":", "\"token\": [", "a.", "token=\""};
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct buf text = BUF_INIT(4 << 20), out = BUF_INIT(16 << 20);
        while (!text.full)
            buf_adds(&text, parts[i]);
        secret_mask(buf_slice(&text), &out);
        assert_true(out.n > 0);
        buf_deinit(&text);
        buf_deinit(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
