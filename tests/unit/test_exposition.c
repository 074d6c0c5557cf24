/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers and calls as others send them: the text format of Prometheus, metric lines, and traces of
 * OpenTelemetry in JSON and in protobuf, good and bad. */
#include <stdio.h>

#include "data/exposition.h"
#include "data/otlp.h"
#include "support/unit.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))

static void test_reals(void **state)
{
    static const char *const good[] = {"0", "-1.5", "2e6", "+3", "1E-3", "1."}, *const bad[] = {
                                                                                    "",      "x",
                                                                                    "1 ",    "nan",
                                                                                    "inf",   "0x1",
                                                                                    "1e999", "1-2",
                                                                                    "--1",   "1e"};
    double value;
    (void)state;
    for (size_t i = 0; i < LENGTH(good); i++)
        if (!slice_to_real(slice_of(good[i]), &value))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < LENGTH(bad); i++)
        if (slice_to_real(slice_of(bad[i]), &value))
            fail_msg("%s is %g", bad[i], value);
}

/* "NAME=VALUE;" of each sample, and how many lines were passed over. */
static void told(const char *text, struct buf *out)
{
    struct exposition x = {.rest = slice_of(text)};
    struct exposition_sample s;
    while (exposition_next(&x, &s))
        buf_addf(out, "%.*s=%g;", SLICE_ARG(s.name), s.value);
    buf_addf(out, "%u", x.passed);
}

static void test_exposition(void **state)
{
    static const struct {
        const char *text, *told;
    } rows[] = {
        {"", "0"},
        {"# HELP up is it\n# TYPE up gauge\nup 1\n", "up=1;0"},
        {"up 1 1700000000000\r\nup2\t2\n", "up=1;up2=2;0"},
        {"up{a=\"x y\",b=\"}\\\"\"} 3\n", "up{a=\"x y\",b=\"}\\\"\"}=3;0"},
        {"up {a=\"x\"} 3 # {trace_id=\"1\"} 0.5\n# EOF", "up {a=\"x\"}=3;0"},
        {"up{} 3\nup{a=\"b\" 3\nup\nup x\n7\n", "up{}=3;4"},
        {"up NaN\nup +Inf\nup -2.5e3", "up=-2500;2"},
        {"upa=3\nup=3 4\n", "2"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000);
        told(rows[i].text, &out);
        assert_string_equal(buf_text(&out), rows[i].told);
        buf_deinit(&out);
    }
}

static void test_lines(void **state)
{
    struct exposition_sample s;
    char name[EXPOSITION_NAME_MAX + 20];
    (void)state;
    assert_true(exposition_line(SLICE("metric queue 12"), &s) && slice_is(s.name, "queue"));
    assert_true(s.value > 11.9 && s.value < 12.1);
    assert_true(exposition_line(SLICE(" metric heap.used -1e3 "), &s));
    assert_false(exposition_line(SLICE("metrics queue 12"), &s));
    assert_false(exposition_line(SLICE("metric queue twelve"), &s));
    assert_false(exposition_line(SLICE("metric queue"), &s));
    (void)snprintf(name, sizeof name, "metric %0*d 1", EXPOSITION_NAME_MAX, 7);
    assert_true(exposition_line(slice_of(name), &s));
    (void)snprintf(name, sizeof name, "metric %0*d 1", EXPOSITION_NAME_MAX + 1, 7);
    assert_false(exposition_line(slice_of(name), &s));
}

/* ---- traces ---- */

static void add_span(void *user, const struct otlp_span *s)
{
    buf_addf(user, "%.*s/%.*s %lld%s;", SLICE_ARG(s->service), SLICE_ARG(s->name),
             (long long)s->took_ns, s->failed ? " failed" : "");
}

#define SPANS(more)                                                                                \
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"x\",\"value\":{}},"             \
    "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}]},"                           \
    "\"scopeSpans\":[{\"spans\":[" more "]}]}]}"

static void test_json(void **state)
{
    static const struct {
        const char *body, *told; /* NULL: refused */
    } rows[] = {
        {"{}", ""},
        {SPANS("{\"name\":\"GET /\",\"startTimeUnixNano\":\"1700000000000000000\","
               "\"endTimeUnixNano\":\"1700000000000000025\"}"),
         "shop/GET / 25;"},
        {SPANS("{\"name\":\"a\",\"startTimeUnixNano\":5,\"endTimeUnixNano\":9,\"status\":{\"code\":"
               "2}},{\"name\":\"b\",\"status\":{\"code\":\"STATUS_CODE_ERROR\"}},{\"name\":\"c\","
               "\"startTimeUnixNano\":\"9\",\"endTimeUnixNano\":\"5\",\"status\":{\"code\":1}}"),
         "shop/a 4 failed;shop/b 0 failed;shop/c 0;"},
        {SPANS("1,null,{\"name\":[]}"), "shop/ 0;shop/ 0;shop/ 0;"},
        {"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":\"n\"}]}]},7]}", "/n 0;"},
        {"{\"resourceSpans\":7}", ""},
        {"[]", NULL},
        {"", NULL},
        {"{\"resourceSpans\":[", NULL},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000);
        struct err e = {0};
        int status = otlp_read_json(slice_of(rows[i].body), add_span, &out, &e);
        assert_int_equal(status, rows[i].told ? 0 : -1);
        if (rows[i].told)
            assert_string_equal(buf_text(&out), rows[i].told);
        else
            assert_non_null(strstr(e.text, "ExportTraceServiceRequest"));
        buf_deinit(&out);
    }
}

/* One span of 25 ns, that failed: each length is of what follows. */
#define RESOURCE "\x0a\x18\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04shop"
#define SPAN                                                                                       \
    "\x12\x21\x12\x1f\x2a\x05GET /\x30\x02\x39\x00\x01\x00\x00\x00\x00\x00\x00"                    \
    "\x41\x19\x01\x00\x00\x00\x00\x00\x00\x7a\x02\x18\x02"

#define BYTES(literal)                                                                             \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }

static void test_protobuf(void **state)
{
    static const struct {
        slice body;
        const char *told;
    } rows[] = {
        {BYTES(""), ""},
        {BYTES("\x0a\x3d" RESOURCE SPAN), "shop/GET / 25 failed;"},
        {BYTES("\x0a\x3d" SPAN RESOURCE), "shop/GET / 25 failed;"},
        {BYTES("\x0a\x23" SPAN "\x0a\x3d" RESOURCE SPAN), "/GET / 25 failed;shop/GET / 25 failed;"},
        {BYTES("\x10\x01\x1d\x01\x02\x03\x04"), ""}, /* fields that nobody knows */
        {BYTES("\x0a\x3d" RESOURCE), NULL},          /* cut short */
        {BYTES("\x0a\x23\x12\x21\x12\x1f\x2a"), NULL},
        {BYTES("\x0b"), NULL},     /* a group */
        {BYTES("\x00\x01"), NULL}, /* there is no field 0 */
        {BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), NULL},
        {BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), NULL},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000);
        struct err e = {0};
        int status = otlp_read_protobuf(rows[i].body, add_span, &out, &e);
        if (status != (rows[i].told ? 0 : -1))
            fail_msg("row %zu: %d %s", i, status, e.text);
        if (rows[i].told)
            assert_string_equal(buf_text(&out), rows[i].told);
        else
            assert_non_null(strstr(e.text, "cut short"));
        buf_deinit(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reals),    cmocka_unit_test(test_exposition),
        cmocka_unit_test(test_lines),    cmocka_unit_test(test_json),
        cmocka_unit_test(test_protobuf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
