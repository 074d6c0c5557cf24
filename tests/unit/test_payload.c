/* SPDX-License-Identifier: Apache-2.0
 *
 * track/payload: bodies into fields, what looks volatile, and what is learned from fault-free runs.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "support/unit.h"
#include "track/payload.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#define JSON "application/json"
#define FORM "application/x-www-form-urlencoded"
#define GRPC "application/grpc"

static const int64_t now = INT64_C(1700000000) * 1000000000; /* 2023-11-14T22:13:20Z */

/* ---- help ---- */

static struct payload read_slice(const char *type, slice body)
{
    struct payload p = {.fields = {0}};
    payload_read(slice_of(type), body, now, &p);
    for (uint32_t i = 1; i < p.fields.n; i++)
        assert_true(p.fields.at[i - 1].path <= p.fields.at[i].path);
    return p;
}

static struct payload read_body(const char *type, const char *body)
{
    return read_slice(type, slice_of(body));
}

static bool same(const struct payload *a, const struct payload *b)
{
    if (a->fields.n != b->fields.n)
        return false;
    for (uint32_t i = 0; i < a->fields.n; i++)
        if (a->fields.at[i].path != b->fields.at[i].path ||
            a->fields.at[i].value != b->fields.at[i].value ||
            a->fields.at[i].volatile_ != b->fields.at[i].volatile_)
            return false;
    return true;
}

static bool same_bodies(const char *type, const char *a, const char *b)
{
    struct payload x = read_body(type, a), y = read_body(type, b);
    bool equal = same(&x, &y);
    assert_int_equal(equal, payload_hash_all(&x) == payload_hash_all(&y));
    payload_deinit(&x);
    payload_deinit(&y);
    return equal;
}

static uint32_t count(const char *type, slice body)
{
    struct payload p = read_slice(type, body);
    uint32_t n = p.fields.n;
    payload_deinit(&p);
    return n;
}

static uint32_t count_volatile(const char *type, const char *body)
{
    struct payload p = read_body(type, body);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p.fields.n; i++)
        n += p.fields.at[i].volatile_;
    payload_deinit(&p);
    return n;
}

/* ---- bodies ---- */

static void json_has_a_field_per_leaf(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t fields;
    } rows[] = {
        {"{}", 1},
        {"[]", 1},
        {"{\"a\":1,\"b\":[1,2,{\"c\":null}],\"d\":{},\"e\":[],\"f\":true,\"g\":\"x\"}", 8},
        {" 17 ", 1},
        {"\"text\"", 1},
        {"{\"a\":\"\\u0000\"}", 1},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_int_equal(count(JSON, slice_of(rows[i].body)), rows[i].fields);
    assert_int_equal(count(JSON, SLICE("")), 0);
    static const char *const types[] = {"application/json;charset=utf-8", "Application/JSON ; x=y",
                                        "application/vnd.api+json", "text/json", ""};
    for (size_t i = 0; i < LENGTH(types); i++)
        assert_int_equal(count(types[i], SLICE(" {\"a\":1,\"b\":2}")), 2);
    static const char *const others[] = {"text/plain", "application/jsonlines", "application/xml"};
    for (size_t i = 0; i < LENGTH(others); i++)
        assert_int_equal(count(others[i], SLICE("{\"a\":1,\"b\":2}")), 1);
}

static void equal_and_different(void **state)
{
    (void)state;
    static const struct {
        const char *type, *a, *b;
        bool same;
    } rows[] = {
        {JSON, "{\"a\":1,\"b\":2}", " { \"b\" : 2 , \"a\" : 1 } ", true},
        {JSON, "{\"a\":1}", "{\"a\":1.0}", true},
        {JSON, "{\"a\":1}", "{\"a\":1e0}", true},
        {JSON, "{\"a\":100}", "{\"a\":1E2}", true},
        {JSON, "{\"a\":0}", "{\"a\":-0.0}", true},
        {JSON, "{\"a\":0.5}", "{\"a\":5e-1}", true},
        {JSON, "{\"a\":1000000000000000000}", "{\"a\":1e18}", true},
        {JSON, "{\"a\":\"\\u0041\"}", "{\"a\":\"A\"}", true},
        {JSON, "{\"a\":1}", "{\"a\":2}", false},
        {JSON, "{\"a\":1}", "{\"b\":1}", false},
        {JSON, "{\"a\":1}", "{\"a\":\"1\"}", false},
        {JSON, "{\"a\":1}", "{\"a\":true}", false},
        {JSON, "{\"a\":0}", "{\"a\":null}", false},
        {JSON, "{\"a\":false}", "{\"a\":null}", false},
        {JSON, "{\"a\":{}}", "{\"a\":[]}", false},
        {JSON, "{\"a\":[1,2]}", "{\"a\":[2,1]}", false},
        {JSON, "{\"a\":{\"b\":1}}", "{\"a\":1,\"b\":1}", false},
        {JSON, "{\"a\":[1]}", "{\"a\":{\"0\":1}}", false},
        {JSON, "{\"a\":9007199254740993}", "{\"a\":9007199254740992}", false},
        {JSON, "{\"a\":0.1}", "{\"a\":0.10000000000000002}", false},
        {FORM, "a=1&b=2", "b=2&a=1", true},
        {FORM, "a=%41+b&&", "a=A%20b", true},
        {FORM, "a=1&a=2", "a=2&a=1", false},
        {FORM, "a=1", "a=2", false},
        {FORM, "a", "a=", false},
        {FORM, "&&", "&", false}, /* no pair at all */
        {FORM, "a=%4", "a=%44", false},
        {FORM, "a=%zz", "a=%25zz", true},
        {"text/plain", "x", "y", false},
        {"text/plain", "x", "x", true},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (same_bodies(rows[i].type, rows[i].a, rows[i].b) != rows[i].same)
            fail_msg("%s / %s", rows[i].a, rows[i].b);
}

static void what_it_is_not_is_one_field(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{\"a\":1,\"a\":2}",                       /* twice the same key */
        "{\"a\":1,\"b\":99999999999999999999999}", /* fits no integer */
        "{\"a\":1,\"b\":1e999}",                   /* nor any real */
        "{\"a\":1,\"b\":\"\xff\"}",                /* not UTF-8 */
        "{\"a\":1,\"b\":2} x",
        "{\"a\":1,\"b\":2",
        "{\"a\":1,\"b\\u0000\":2}",
        "not json",
    };
    for (size_t i = 0; i < LENGTH(bodies); i++)
        assert_int_equal(count(JSON, slice_of(bodies[i])), 1);
    struct buf deep = BUF_INIT(1 << 20);
    for (int depth = 60; depth < 100000; depth = depth < 70 ? depth + 1 : depth * 10) {
        buf_clear(&deep);
        for (int i = 0; i < depth; i++)
            buf_adds(&deep, "[1,");
        buf_adds(&deep, "1");
        for (int i = 0; i < depth; i++)
            buf_addc(&deep, ']');
        uint32_t fields = count(JSON, buf_slice(&deep));
        assert_int_equal(fields, depth < 64 ? depth + 1 : 1);
    }
    buf_deinit(&deep);
}

/* n leaves in an order that depends on `seed`; a moment among them; one value differs. */
static void many_leaves(struct buf *out, uint32_t n, uint32_t step, uint32_t odd, int64_t moment)
{
    buf_clear(out);
    buf_addf(out, "{\"moment\":%lld", (long long)moment);
    for (uint32_t i = 0, k = 0; i < n; i++, k = (k + step) % n)
        buf_addf(out, ",\"k%u\":%u", k, k == odd ? 12345u : k);
    buf_addc(out, '}');
}

static void the_rest_is_one_field(void **state)
{
    (void)state;
    struct buf text = BUF_INIT(1 << 20);
    many_leaves(&text, PAYLOAD_FIELDS_MAX - 1, 1, UINT32_MAX, 1);
    assert_int_equal(count(JSON, buf_slice(&text)), PAYLOAD_FIELDS_MAX);
    many_leaves(&text, 2003, 1, UINT32_MAX, 1700000000);
    struct payload p = read_slice(JSON, buf_slice(&text));
    assert_int_equal(p.fields.n, PAYLOAD_FIELDS_MAX);
    many_leaves(&text, 2003, 7, UINT32_MAX, 1700000001);
    struct payload q = read_slice(JSON, buf_slice(&text));
    assert_int_equal(payload_hash_all(&p), payload_hash_all(&q)); /* in any order */
    for (uint32_t odd = 0; odd < 2003; odd += 100) {
        many_leaves(&text, 2003, 7, odd, 1700000001);
        payload_read(SLICE(JSON), buf_slice(&text), now, &q); /* the memory is used again */
        assert_int_not_equal(payload_hash_all(&p), payload_hash_all(&q));
    }
    payload_deinit(&p);
    payload_deinit(&q);
    for (size_t i = 0; !text.full; i++) /* more than is looked into */
        buf_adds(&text, "[1,");
    assert_int_equal(count(JSON, buf_slice(&text)), 1);
    buf_deinit(&text);
}

/* ---- protobuf ---- */

#define BYTES(literal) ((slice){literal, sizeof(literal) - 1})

/* 1: 150, 2: "testing", 3: { 1: 150, 2: "x" }, 4: fixed32 1, 5: fixed64 2, 6: bytes 00 ff, 7: { }
 */
#define MESSAGE                                                                                    \
    "\x08\x96\x01\x12\x07testing\x1a\x06\x08\x96\x01\x12\x01x\x25\x01\x00\x00\x00"                 \
    "\x29\x02\x00\x00\x00\x00\x00\x00\x00\x32\x02\x00\xff\x3a\x00"
#define MESSAGE_LENGTH "\x28"

static void protobuf_has_fields(void **state)
{
    (void)state;
    assert_int_equal(sizeof MESSAGE - 1, 40);
    struct payload bare = read_slice(GRPC, BYTES(MESSAGE));
    assert_int_equal(bare.fields.n, 8);
    struct payload framed =
        read_slice("application/grpc+proto", BYTES("\0\0\0\0" MESSAGE_LENGTH MESSAGE));
    assert_true(same(&bare, &framed));
    payload_deinit(&bare);
    payload_deinit(&framed);
    assert_int_equal(count(GRPC, BYTES("\0\0\0\0\x02\x08\x01\0\0\0\0\x00\0\0\0\0\x02\x08\x01")), 3);
    /* repeated: a list */
    assert_int_equal(count("application/x-protobuf", BYTES("\x08\x01\x08\x02\x08\x03")), 3);
    struct payload a = read_slice(GRPC, BYTES("\x08\x01\x08\x02")),
                   b = read_slice(GRPC, BYTES("\x08\x02\x08\x01")),
                   c = read_slice(GRPC, BYTES("\x12\x01x\x08\x01")),
                   d = read_slice(GRPC, BYTES("\x08\x01\x12\x01x"));
    assert_false(same(&a, &b));
    assert_true(same(&c, &d));
    payload_deinit(&a);
    payload_deinit(&b);
    payload_deinit(&c);
    payload_deinit(&d);
}

static void no_protobuf_is_one_field(void **state)
{
    (void)state;
    static const slice bodies[] = {
        {"\x08", 1},                                                  /* no value */
        {"\x08\x01\x12\x05xx", 6},                                    /* longer than there is */
        {"\x08\x01\x0b\x0c", 4},                                      /* a group */
        {"\x08\x01\x02\x00", 4},                                      /* field 0 */
        {"\x08\x01\x0d\x00\x00", 5},                                  /* 4 bytes of 2 */
        {"\x08\x01\x09\x00\x00", 5},                                  /* 8 bytes of 2 */
        {"\x08\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 13}, /* beyond 64 bits */
        {"\x08\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14},
        {"\x08\x01\x80\x80\x80\x80\x10\x01", 8}, /* a number beyond 2^29 */
        {"\x08\x01\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13},
        {"\0\0\0\0\x04\x08\x01\x08\x02\0", 10}, /* half a prefix */
        {"\0\0\0\0\x05\x08\x01\x08\x02", 9},    /* half a message */
        {"\1\0\0\0\x04\x08\x01\x08\x02", 9},    /* compressed */
        {"\0", 1},
        {"\xff", 1},
    };
    for (size_t i = 0; i < LENGTH(bodies); i++)
        if (count(GRPC, bodies[i]) != 1)
            fail_msg("row %zu", i);
    struct buf deep = BUF_INIT(1 << 16), next = BUF_INIT(1 << 16);
    buf_add(&deep, BYTES("\x08\x01\x08\x02")); /* the innermost of too many is just bytes */
    for (int i = 0; i < 40; i++) {
        buf_clear(&next);
        buf_addc(&next, 0x1a);
        if (deep.n >= 128)
            buf_addc(&next, (char)((deep.n & 0x7f) | 0x80));
        buf_addc(&next, (char)(deep.n >= 128 ? deep.n >> 7 : deep.n));
        buf_add(&next, buf_slice(&deep));
        struct buf swap = deep;
        deep = next;
        next = swap;
        assert_int_equal(count(GRPC, buf_slice(&deep)), i < 31 ? 2 : 1);
    }
    buf_deinit(&deep);
    buf_deinit(&next);
}

/* ---- looks ---- */

static void moments_and_ids(void **state)
{
    (void)state;
    static const char *const volatiles[] = {
        "1700000000",
        "1700000000.123",
        "1.7e9",
        "1699990000000",
        "1700000000123.5",
        "1700000000123456",
        "1700000000123456789",
        "1702592000", /* in a month */
        "\"1700000000\"",
        "\"1700000000.25\"",
        "\"2023-11-14T22:13:20Z\"",
        "\"2023-11-14T22:13:20.123456+01:00\"",
        "\"2023-11-14 22:13\"",
        "\"2023-11-30t08:00:00\"",
        "\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\"",
        "\"3F2504E0-4F89-41D3-9A0C-0305E82C3301\"",
        "\"01HF7YAT00TSV4RRFFQ69G5FAV\"", /* of this very second */
        "\"0123456789abcdef\"",
        "\"507f1f77bcf86cd799439011\"",
        "\"DA39A3EE5E6B4B0D3255BFEF95601890AFD80709\"",
    };
    for (size_t i = 0; i < LENGTH(volatiles); i++)
        if (count_volatile(JSON, volatiles[i]) != 1)
            fail_msg("does not look volatile: %s", volatiles[i]);
    static const char *const stable[] = {
        "0",
        "-1700000000",
        "42",
        "1600000000", /* years ago */
        "1800000000",
        "170000000",
        "17000000000",
        "1e300",
        "0.25",
        "true",
        "null",
        "\"\"",
        "\"creed\"",
        "\"2023-11-14\"",
        "\"20151201\"",
        "\"2015-12-01T10:00:00Z\"",
        "\"2023-11-14X22:13\"",
        "\"2023-1-14T22:13\"",
        "\"1700000000x\"",
        "\"1700000000.2x\"",
        "\"1700000000.2.3\"",
        "\"4111111111111111\"",     /* digits only */
        "\"deadbeef\"",             /* short */
        "\"deadbeefdeadbeefdead\"", /* letters only */
        "\"0123456789abcDEF\"",     /* no hex is written like that */
        "\"0123456789abcdeg\"",
        "\"3f2504e0-4f89-41d3-9a0c-0305e82c330\"",
        "\"3f2504e04-f89-41d3-9a0c-0305e82c3301\"",
        "\"3f2504e0-4f89-41d3-9a0c-0305e82c330z\"",
        "\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"", /* an old one */
        "\"ABCDEFGHIJKLMNOPQRSTUVWXYZ\"",
        "\"99999999999999999999\"",
        "\"9999-99-99T99:99\"",
    };
    for (size_t i = 0; i < LENGTH(stable); i++)
        if (count_volatile(JSON, stable[i]) != 0)
            fail_msg("looks volatile: %s", stable[i]);
    assert_int_equal(count_volatile(FORM, "t=1700000000&u=1&id=3f2504e0-4f89-41d3-9a0c-"
                                          "0305e82c3301&d=2023-11-14T22%3A13%3A20Z"),
                     3);
    assert_int_equal(count_volatile("text/plain", "3f2504e0-4f89-41d3-9a0c-0305e82c3301\n"), 1);
    assert_int_equal(count_volatile(GRPC, "\x08\x80\xe2\xcf\xaa\x06"), 1); /* 1: 1700000000 */
    double seconds = 1700000000.5;
    char body[9] = "\x09";
    memcpy(body + 1, &seconds, sizeof seconds);
    struct payload p = read_slice(GRPC, (slice){body, sizeof body});
    assert_int_equal(p.fields.n, 1);
    assert_true(p.fields.at[0].volatile_);
    payload_deinit(&p);
}

/* ---- learning ---- */

enum { SHOP = 7, PARENT = 1 };

/* Told as the n-th call of this interface below this place. */
static void learn(struct payload_rules *r, uint32_t run, uint64_t interface, uint64_t place,
                  uint32_t n, const char *body)
{
    struct payload p = read_body(JSON, body);
    payload_learn(r, run, interface, place, n, &p, false);
    payload_deinit(&p);
}

static uint32_t hash(const struct payload_rules *r, uint64_t interface, const char *body)
{
    struct payload p = read_body(JSON, body);
    uint32_t h = payload_hash_of(r, interface, &p);
    payload_deinit(&p);
    return h;
}

/* Siblings of one parent, run by run; a NULL ends a run. */
static struct payload_rules *learned(const char *const runs[][4], uint32_t n)
{
    struct payload_rules *r = payload_rules_new();
    for (uint32_t run = 0; run < n; run++)
        for (uint32_t i = 0; i < 4 && runs[run][i]; i++)
            learn(r, run, SHOP, PARENT, i, runs[run][i]);
    payload_decide(r);
    return r;
}

static void siblings_are_told_apart(void **state)
{
    (void)state;
    static const char *const runs[][4] = {{"{\"item\":\"a\"}", "{\"item\":\"b\"}"},
                                          {"{\"item\":\"a\"}", "{\"item\":\"b\"}"},
                                          {"{\"item\":\"b\"}", "{\"item\":\"a\"}"}};
    struct payload_rules *r = learned(runs, 3);
    assert_true(payload_used(r, SHOP));
    assert_false(payload_used(r, SHOP + 1));
    uint32_t a = hash(r, SHOP, "{\"item\":\"a\"}"), b = hash(r, SHOP, "{\"item\":\"b\"}");
    assert_true(a && b && a != b);
    assert_int_equal(a, hash(r, SHOP, " {\"item\": \"\\u0061\"} "));
    assert_int_equal(a, hash(r, SHOP, "{\"item\":\"a\",\"never\":\"seen\"}"));
    assert_true(hash(r, SHOP, "{\"item\":\"c\"}") != a && hash(r, SHOP, "{}") != 0);
    assert_int_equal(hash(r, SHOP, ""), 0);
    assert_int_equal(hash(r, SHOP + 1, "{\"item\":\"a\"}"), 0);
    payload_rules_free(r);
}

static void what_is_and_is_not_used(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        uint32_t n;
        bool used;
        const char *runs[3][4];
    } rows[] = {
        {"siblings are identical",
         2,
         false,
         {{"{\"x\":1}", "{\"x\":1}"}, {"{\"x\":1}", "{\"x\":1}"}}},
        {"there are no siblings", 2, false, {{"{\"x\":1}"}, {"{\"x\":1}"}}},
        {"what differs is not stable",
         2,
         false,
         {{"{\"x\":1}", "{\"x\":2}"}, {"{\"x\":3}", "{\"x\":4}"}}},
        {"what differs is stable, the rest is not",
         2,
         true,
         {{"{\"x\":1,\"y\":5}", "{\"x\":2,\"y\":6}"}, {"{\"x\":1,\"y\":7}", "{\"x\":2,\"y\":8}"}}},
        {"what differs looks like moments, in runs within a second",
         2,
         false,
         {{"{\"t\":1700000000}", "{\"t\":1700000001}"},
          {"{\"t\":1700000000}", "{\"t\":1700000001}"}}},
        {"what differs looks like generated ids",
         2,
         false,
         {{"\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\"", "\"3f2504e0-4f89-41d3-9a0c-0305e82c3302\""},
          {"\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\"",
           "\"3f2504e0-4f89-41d3-9a0c-0305e82c3302\""}}},
        {"some siblings are equal, one is not", 2, true, {{"1", "1", "2"}, {"2", "1", "1"}}},
        {"one of them is not there in one run", 2, true, {{"1", "2"}, {"2"}}},
        {"one of them is not there in the first run", 3, true, {{"2"}, {"1", "2"}, {"1", "2"}}},
        {"one is not there, another is new", 2, false, {{"1", "2"}, {"3"}}},
        {"twice what was there once", 2, false, {{"1", "2"}, {"1", "1"}}},
        {"all of them are missing in one run", 3, true, {{"1", "2"}, {NULL}, {"1", "2"}}},
        {"only one run of three has them", 3, false, {{NULL}, {"1", "2"}, {NULL}}},
        {"there is one run only", 1, true, {{"1", "2"}}},
        {"fields that are there at times",
         2,
         false,
         {{"{\"x\":1,\"y\":1}", "{\"x\":1}"}, {"{\"x\":1,\"z\":1}", "{\"x\":1}"}}},
        {"fields that only one of them has",
         2,
         true,
         {{"{\"x\":1,\"y\":1}", "{\"x\":1}"}, {"{\"x\":1}", "{\"x\":1,\"y\":1}"}}},
        {"each field is stable, all together are not",
         2,
         false,
         {{"{\"x\":1,\"y\":1}", "{\"x\":2,\"y\":2}"}, {"{\"x\":1,\"y\":2}", "{\"x\":2,\"y\":1}"}}},
        {"a body and none", 2, true, {{"{\"x\":1}", ""}, {"", "{\"x\":1}"}}},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct payload_rules *r = payload_rules_new();
        /* other calls happen in every run */
        for (uint32_t run = 0; run < rows[i].n; run++) {
            learn(r, run, SHOP + 1, PARENT, 0, "{}");
            for (uint32_t k = 0; k < 4 && rows[i].runs[run][k]; k++)
                learn(r, run, SHOP, PARENT, k, rows[i].runs[run][k]);
        }
        payload_decide(r);
        if (payload_used(r, SHOP) != rows[i].used)
            fail_msg("%s: %sused", rows[i].why, rows[i].used ? "not " : "");
        assert_false(payload_used(r, SHOP + 1));
        payload_rules_free(r);
    }
}

/* Netflix sends telemetry with nothing but the time, and rates the films by id. */
static void telemetry_is_not_part_of_the_name(void **state)
{
    (void)state;
    struct payload_rules *r = payload_rules_new();
    int64_t wall = clock_wall_ns();
    for (uint32_t run = 0; run < 3; run++)
        for (uint32_t n = 0; n < 3; n++) {
            struct buf body = BUF_INIT(200);
            struct payload p = {.fields = {0}};
            buf_addf(&body, "{\"time\": %.7f}", (double)wall / 1e9); /* all within no time */
            payload_read(SLICE(JSON), buf_slice(&body), wall, &p);
            assert_true(p.fields.n == 1 && p.fields.at[0].volatile_);
            payload_learn(r, run, SHOP, PARENT, n, &p, false);
            buf_clear(&body);
            buf_addf(&body, "{\"film\": %u, \"time\": %.7f}", n, (double)wall / 1e9 + n);
            payload_read(SLICE(JSON), buf_slice(&body), wall, &p);
            payload_learn(r, run, SHOP + 1, PARENT, n, &p, false);
            payload_deinit(&p);
            buf_deinit(&body);
        }
    payload_decide(r);
    assert_false(payload_used(r, SHOP));
    assert_true(payload_used(r, SHOP + 1));
    assert_int_equal(hash(r, SHOP + 1, "{\"film\":1,\"time\":1}"),
                     hash(r, SHOP + 1, "{\"film\":1,\"time\":2}"));
    assert_int_not_equal(hash(r, SHOP + 1, "{\"film\":1,\"time\":1}"),
                         hash(r, SHOP + 1, "{\"film\":2,\"time\":1}"));
    payload_rules_free(r);
}

/* What is unstable at one place is unstable; places are compared each with itself. */
static void places_are_kept_apart(void **state)
{
    (void)state;
    struct payload_rules *r = payload_rules_new();
    for (uint32_t run = 0; run < 2; run++) {
        char body[64];
        learn(r, run, SHOP, 1, 0, "{\"item\":1}");
        learn(r, run, SHOP, 1, 1, "{\"item\":2}");
        learn(r, run, SHOP, 2, 0, "{\"item\":3}");
        learn(r, run, SHOP + 1, 1, 0, "{\"item\":1}");
        learn(r, run, SHOP + 1, 1, 1, "{\"item\":2}");
        snprintf(body, sizeof body, "{\"item\":%u}", run);
        learn(r, run, SHOP + 1, 2, 0, body);
        learn(r, run, SHOP + 2, 1, 0, "{\"item\":1}"); /* siblings of different parents are none */
        learn(r, run, SHOP + 2, 2, 0, "{\"item\":2}");
    }
    payload_decide(r);
    assert_true(payload_used(r, SHOP));
    assert_false(payload_used(r, SHOP + 1));
    assert_false(payload_used(r, SHOP + 2));
    learn(r, 2, SHOP, 1, 0, "{\"item\":8}"); /* it may be learned on */
    learn(r, 2, SHOP, 1, 1, "{\"item\":9}");
    payload_decide(r);
    assert_false(payload_used(r, SHOP));
    payload_rules_free(r);
}

static void too_much_is_not_used(void **state)
{
    (void)state;
    struct payload_rules *r = payload_rules_new();
    struct buf text = BUF_INIT(1 << 16);
    many_leaves(&text, 500, 1, UINT32_MAX, 1);
    struct payload large = read_slice(JSON, buf_slice(&text));
    for (uint32_t run = 0; run < 2; run++) {
        learn(r, run, SHOP, PARENT, 0, "1");
        learn(r, run, SHOP, PARENT, 1, "2");
    }
    for (uint32_t i = 0; i < 3000; i++)
        payload_learn(r, i % 2, SHOP + 1, PARENT, i, &large, false);
    learn(r, 0, SHOP + 2, PARENT, 0, "1");
    payload_decide(r);
    assert_true(payload_used(r, SHOP));
    assert_false(payload_used(r, SHOP + 1));
    payload_rules_free(r);
    r = payload_rules_new();
    for (uint32_t run = 0; run < 2; run++)
        for (uint32_t i = 0; i < 10; i++) { /* other keys in every call */
            buf_clear(&text);
            buf_adds(&text, "{\"a\":1");
            for (uint32_t k = 0; k < 200; k++)
                buf_addf(&text, ",\"%u-%u\":%u", i, k, i);
            buf_addc(&text, '}');
            learn(r, run, SHOP, PARENT, i, buf_text(&text));
        }
    payload_decide(r);
    assert_false(payload_used(r, SHOP));
    payload_rules_free(r);
    payload_deinit(&large);
    buf_deinit(&text);
}

/* ---- text ---- */

static void to_text_and_back(void **state)
{
    (void)state;
    struct payload_rules *r = payload_rules_new(), *again = payload_rules_new();
    for (uint32_t run = 0; run < 2; run++)
        for (uint64_t interface = 1; interface < 20; interface++)
            for (uint32_t n = 0; n < 3; n++) {
                char body[64];
                snprintf(body, sizeof body, "{\"a\":%u,\"b\":%u,\"c\":%u}", n,
                         interface % 2 ? n : run, run);
                learn(r, run, interface * 0x9e3779b97f4a7c15u, PARENT, n,
                      interface % 3 ? body : "1");
            }
    payload_decide(r);
    struct buf text = BUF_INIT(1 << 16), second = BUF_INIT(1 << 16);
    payload_rules_print(r, &text);
    assert_int_equal(payload_rules_parse(again, buf_slice(&text)), 0);
    payload_rules_print(again, &second);
    assert_string_equal(buf_text(&text), buf_text(&second));
    for (uint64_t interface = 1; interface < 20; interface++) {
        uint64_t key = interface * 0x9e3779b97f4a7c15u;
        assert_int_equal(payload_used(r, key), interface % 3 != 0);
        assert_int_equal(payload_used(again, key), payload_used(r, key));
        assert_int_equal(hash(again, key, "{\"a\":1,\"b\":2,\"c\":3}"),
                         hash(r, key, "{\"a\":1,\"b\":2,\"c\":3}"));
    }
    static const char *const malformed[] = {
        "0000000000000001",
        "0000000000000001\n",
        "0000000000000001 0000000000000002",
        "\n",
        "0000000000000001 \n",
        "0000000000000001  0000000000000002\n",
        "000000000000001 0000000000000002\n",
        "0000000000000001 000000000000000x\n",
        "0000000000000001 0000000000000002 0000000000000002\n",
        "0000000000000001 0000000000000002\n0000000000000001 0000000000000003\n",
        "0000000000000001 0000000000000002\n\n",
    };
    for (size_t i = 0; i < LENGTH(malformed); i++) {
        assert_int_equal(payload_rules_parse(again, slice_of(malformed[i])), -1);
        buf_clear(&second);
        payload_rules_print(again, &second);
        assert_string_equal(buf_text(&text), buf_text(&second)); /* nothing has changed */
    }
    assert_int_equal(payload_rules_parse(again, SLICE("")), 0);
    assert_false(payload_used(again, 0x9e3779b97f4a7c15u));
    payload_rules_free(r);
    payload_rules_free(again);
    payload_rules_free(NULL);
    buf_deinit(&text);
    buf_deinit(&second);
}

/* Whatever order calls come in, and whatever noise they carry: the same is decided and hashed. */
static void order_does_not_matter(void **state)
{
    (void)state;
    struct rng rng = {11};
    for (int round = 0; round < 200; round++) {
        uint32_t n = 2 + rng_below(&rng, 6);
        struct payload_rules *r = payload_rules_new();
        for (uint32_t run = 0; run < 3; run++) {
            uint32_t start = rng_below(&rng, n), missing = rng_below(&rng, 3 * n);
            for (uint32_t i = 0; i < n; i++) {
                char body[128];
                uint32_t item = (start + i) % n, noise = (uint32_t)rng_next(&rng);
                if (item == missing && run > 0)
                    continue;
                snprintf(body, sizeof body, "{\"noise\":%u,\"item\":%u,\"kind\":\"k%u\"}", noise,
                         item, item / 2);
                learn(r, run, SHOP, PARENT, i, body);
            }
        }
        payload_decide(r);
        assert_true(payload_used(r, SHOP));
        assert_int_equal(hash(r, SHOP, "{\"noise\":1,\"item\":1,\"kind\":\"k0\"}"),
                         hash(r, SHOP, "{\"kind\":\"k0\",\"item\":1,\"noise\":2}"));
        assert_int_not_equal(hash(r, SHOP, "{\"noise\":1,\"item\":1,\"kind\":\"k0\"}"),
                             hash(r, SHOP, "{\"noise\":1,\"item\":0,\"kind\":\"k0\"}"));
        payload_rules_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_a_field_per_leaf),
        cmocka_unit_test(equal_and_different),
        cmocka_unit_test(what_it_is_not_is_one_field),
        cmocka_unit_test(the_rest_is_one_field),
        cmocka_unit_test(protobuf_has_fields),
        cmocka_unit_test(no_protobuf_is_one_field),
        cmocka_unit_test(moments_and_ids),
        cmocka_unit_test(siblings_are_told_apart),
        cmocka_unit_test(what_is_and_is_not_used),
        cmocka_unit_test(telemetry_is_not_part_of_the_name),
        cmocka_unit_test(places_are_kept_apart),
        cmocka_unit_test(too_much_is_not_used),
        cmocka_unit_test(to_text_and_back),
        cmocka_unit_test(order_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
