/* SPDX-License-Identifier: Apache-2.0
 *
 * track/context: every dialect read and written, what is malformed or foreign, lists and their
 * limits, and the property that what was written is read back, whatever else the request has. */
#include <string.h>

#include "base/random.h"
#include "support/unit.h"
#include "track/context.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { FIELDS_MOST = 24 };

static const struct trace_id ours = {0x0123456789abcdefu, 0xfedcba9876543210u};
static const uint64_t small_run = 0x2au; /* with leading zeros */

/* ---- help ---- */

static bool is_ours(void *ctx, uint64_t run)
{
    (void)ctx;
    return run == ours.low || run == small_run;
}

struct request {
    struct field fields[FIELDS_MOST];
    struct head head;
};

static void request_add(struct request *r, const char *name, const char *value)
{
    assert_true(r->head.n_fields < FIELDS_MOST);
    r->fields[r->head.n_fields++] = (struct field){slice_of(name), slice_of(value)};
    r->head.fields = r->fields;
}

static struct context read_all(const struct head *h, const slice *custom, uint32_t n)
{
    struct context c;
    context_read(h, custom, n, is_ours, NULL, &c);
    return c;
}

static struct context read_one(const char *name, const char *value)
{
    struct request r = {.head = {0}};
    request_add(&r, name, value);
    return read_all(&r.head, NULL, 0);
}

static struct head write_all(const struct head *from, uint32_t write, uint32_t call,
                             struct arena *a)
{
    struct head h = *from;
    context_write(from, write, NULL, 0, ours, call, a, &h.fields, &h.n_fields);
    return h;
}

static void assert_field(const struct head *h, uint32_t i, const char *name, const char *value)
{
    struct buf is = BUF_INIT(1 << 16), expected = BUF_INIT(1 << 16);
    assert_true(i < h->n_fields);
    buf_addf(&is, "%.*s: %.*s", SLICE_ARG(h->fields[i].name), SLICE_ARG(h->fields[i].value));
    buf_addf(&expected, "%s: %s", name, value);
    assert_string_equal(buf_text(&is), buf_text(&expected));
    buf_deinit(&is);
    buf_deinit(&expected);
}

/* ---- reading ---- */

#define T    "0123456789abcdeffedcba9876543210"
#define S    "fedcba9876543210"
#define ZERO "00000000000000000000000000000000"

static void every_dialect_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        enum dialect by;
        uint64_t run;
        uint32_t call;
    } rows[] = {
        {"tracestate", "outfox=" S "-0", DIALECT_TRACESTATE, 0, 0},
        {"Tracestate", "a=b , \toutfox=" S "-1f\t,c=d", DIALECT_TRACESTATE, 0, 0x1f},
        {"tracestate", "outfox=" S "-ffffffff", DIALECT_TRACESTATE, 0, UINT32_MAX},
        {"tracestate", ",,outfox=000000000000002a-7", DIALECT_TRACESTATE, 42, 7},
        {"baggage", "k=v;p=1,outfox = " S "-3 ; p", DIALECT_BAGGAGE, 0, 3},
        {"BAGGAGE", "outfox=" S "-3;p=x", DIALECT_BAGGAGE, 0, 3},
        {"traceparent", "00-" T "-00f067aa0ba902b7-01", DIALECT_TRACEPARENT, 0, UINT32_MAX},
        {"traceparent", "01-" T "-00f067aa0ba902b7-01", DIALECT_TRACEPARENT, 0, UINT32_MAX},
        {"traceparent", "cc-" T "-00f067aa0ba902b7-01-more", DIALECT_TRACEPARENT, 0, UINT32_MAX},
        {"b3", T "-00f067aa0ba902b7", DIALECT_B3, 0, UINT32_MAX},
        {"b3", T "-00f067aa0ba902b7-0", DIALECT_B3, 0, UINT32_MAX},
        {"b3", T "-00f067aa0ba902b7-1-05e3ac9a4f6e3b90", DIALECT_B3, 0, UINT32_MAX},
        {"B3", "FEDCBA9876543210-00F067AA0BA902B7-d", DIALECT_B3, 0, UINT32_MAX},
        {"x-b3-traceid", S, DIALECT_B3_MULTI, 0, UINT32_MAX},
        {"X-B3-TraceId", "0123456789ABCDEFFEDCBA9876543210", DIALECT_B3_MULTI, 0, UINT32_MAX},
        {"x-request-id", T, DIALECT_REQUEST_ID, 0, UINT32_MAX},
        {"X-Request-ID", "01234567-89ab-cdef-fedc-ba9876543210", DIALECT_REQUEST_ID, 0, UINT32_MAX},
        {"uber-trace-id", "123456789abcdeffedcba9876543210:1:0:1", DIALECT_JAEGER, 0, UINT32_MAX},
        {"uber-trace-id", S "%3A00f067aa0ba902b7%3a0%3A01", DIALECT_JAEGER, 0, UINT32_MAX},
        {"uber-trace-id", "2a:2a:2a:3", DIALECT_JAEGER, 42, UINT32_MAX},
        {"x-datadog-trace-id", "18364758544493064720", DIALECT_DATADOG, 0, UINT32_MAX},
        {"x-datadog-trace-id", "42", DIALECT_DATADOG, 42, UINT32_MAX},
        {"x-amzn-trace-id",
         "Root=1-01234567-89abcdeffedcba9876543210;Parent=00f067aa0ba902b7;"
         "Sampled=1",
         DIALECT_XRAY, 0, UINT32_MAX},
        {"X-Amzn-Trace-Id", "Self=1-1-2; Sampled=0; Root=1-01234567-89abcdeffedcba9876543210",
         DIALECT_XRAY, 0, UINT32_MAX},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct context c = read_one(rows[i].name, rows[i].value);
        if (c.by != rows[i].by || c.run != (rows[i].run ? rows[i].run : ours.low) ||
            c.call != rows[i].call || c.seen != 1u << rows[i].by)
            fail_msg("%s: %s: by %d run %lx call %x seen %x", rows[i].name, rows[i].value, c.by,
                     (unsigned long)c.run, c.call, c.seen);
    }
}

static void malformed_is_ignored(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
    } rows[] = {
        {"tracestate", ""},
        {"tracestate", ",, ,"},
        {"tracestate", "outfox"},
        {"tracestate", "outfox="},
        {"tracestate", "outfox=" S},
        {"tracestate", "outfox=" S "-"},
        {"tracestate", "outfox=" S "-123456789"},
        {"tracestate", "outfox=" S "-1g"},
        {"tracestate", "outfox=fedcba987654321-01"},
        {"tracestate", "outfox=" S "-1 -2"},
        {"traceparent", "00-" T "-00f067aa0ba902b7-01-more"},
        {"traceparent", "00-" T "-00f067aa0ba902b7-0"},
        {"traceparent", "00-" T "-00f067aa0ba902b7-0x"},
        {"traceparent", "ff-" T "-00f067aa0ba902b7-01"},
        {"traceparent", "0x-" T "-00f067aa0ba902b7-01"},
        {"traceparent", "01-" T "-00f067aa0ba902b7-01more"},
        {"traceparent", "00-" T "-0000000000000000-01"},
        {"traceparent", "00-" ZERO "-00f067aa0ba902b7-01"},
        {"traceparent", "00-0123456789ABCDEFFEDCBA9876543210-00f067aa0ba902b7-01"},
        {"traceparent", "00_" T "-00f067aa0ba902b7-01"},
        {"b3", "0"},
        {"b3", "1"},
        {"b3", "d"},
        {"b3", ""},
        {"b3", T},
        {"b3", T "-"},
        {"b3", T "-00f067aa0ba902b7-2"},
        {"b3", T "-00f067aa0ba902b7-"},
        {"b3", T "-00f067aa0ba902b7-1-05e3ac9a4f6e3b90-1"},
        {"b3", T "-00f067aa0ba902b7-1-0"},
        {"b3", "0" S "-00f067aa0ba902b7"},
        {"b3", ZERO "-00f067aa0ba902b7"},
        {"x-b3-traceid", "0" S},
        {"x-b3-traceid", "0000000000000000"},
        {"x-b3-spanid", S},
        {"x-b3-sampled", "1"},
        {"x-request-id", "hello"},
        {"x-request-id", S},
        {"x-request-id", "01234567-89ab-cdef-fedcb-a9876543210"},
        {"x-request-id", "01234567+89ab-cdef-fedc-ba9876543210"},
        {"x-request-id", ZERO},
        {"uber-trace-id", S ":1:0"},
        {"uber-trace-id", S ":1:0:1:1"},
        {"uber-trace-id", S ":0:0:1"},
        {"uber-trace-id", "0:1:0:1"},
        {"uber-trace-id", ":1:0:1"},
        {"uber-trace-id", S "%3B1%3A0%3A1"},
        {"uber-trace-id", S "%3"},
        {"uber-trace-id", "0" T ":1:0:1"},
        {"x-datadog-trace-id", "0"},
        {"x-datadog-trace-id", "-42"},
        {"x-datadog-trace-id", "18446744073709551616"},
        {"x-datadog-trace-id", "2a"},
        {"x-datadog-parent-id", "42"},
        {"x-amzn-trace-id", "Parent=00f067aa0ba902b7"},
        {"x-amzn-trace-id", "Root=2-01234567-89abcdeffedcba9876543210"},
        {"x-amzn-trace-id", "Root=1-01234567-89abcdeffedcba987654321"},
        {"x-amzn-trace-id", "Root=1-01234567089abcdeffedcba9876543210"},
        {"x-amzn-trace-id", "Root=1-00000000-000000000000000000000000"},
        {"x-amzn-trace-id", "root=1-01234567-89abcdeffedcba9876543210"},
        {"x-trace", T},
        {"", T},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct context c = read_one(rows[i].name, rows[i].value);
        if (c.by != DIALECTS || c.run || c.call != UINT32_MAX || c.seen)
            fail_msg("%s: %s: by %d seen %x", rows[i].name, rows[i].value, c.by, c.seen);
    }
}

static void foreign_ids_are_passed_over(void **state)
{
    (void)state;
    struct request r = {.head = {0}};
    request_add(&r, "x-datadog-trace-id", "42");
    request_add(&r, "traceparent", "00-00000000000000000000000000000001-0000000000000001-01");
    request_add(&r, "tracestate", "outfox=0000000000000001-5,outfox=0000000000000000-1");
    struct context c = read_all(&r.head, NULL, 0);
    assert_int_equal(c.by, DIALECT_DATADOG);
    assert_int_equal(c.run, 42);
    assert_int_equal(c.call, UINT32_MAX);
    assert_int_equal(c.seen,
                     1u << DIALECT_DATADOG | 1u << DIALECT_TRACEPARENT | 1u << DIALECT_TRACESTATE);
    /* an id whose lower half is 0 is a trace, but never a run */
    c = read_one("x-request-id", "00000000000000010000000000000000");
    assert_int_equal(c.by, DIALECTS);
    assert_int_equal(c.seen, 1u << DIALECT_REQUEST_ID);
}

static void the_most_telling_wins_in_any_order(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
    } all[] = {
        {"x-mine", T},
        {"x-amzn-trace-id", "Root=1-01234567-89abcdeffedcba9876543210"},
        {"b3", T "-00f067aa0ba902b7"},
        {"traceparent", "00-" T "-00f067aa0ba902b7-01"},
        {"baggage", "outfox=" S "-9"},
        {"tracestate", "x=y"},
        {"tracestate", "outfox=" S "-8,outfox=" S "-7"},
    };
    static const enum dialect by[] = {DIALECT_CUSTOM,      DIALECT_XRAY,    DIALECT_B3,
                                      DIALECT_TRACEPARENT, DIALECT_BAGGAGE, DIALECT_BAGGAGE,
                                      DIALECT_TRACESTATE};
    const slice custom[] = {SLICE("x-other"), SLICE("X-Mine")};
    for (size_t n = 1; n <= LENGTH(all); n++) {
        struct request up = {.head = {0}}, down = {.head = {0}};
        for (size_t i = 0; i < n; i++)
            request_add(&up, all[i].name, all[i].value);
        for (size_t i = n; i-- > 0;)
            request_add(&down, all[i].name, all[i].value);
        struct context a = read_all(&up.head, custom, 2), b = read_all(&down.head, custom, 2);
        assert_int_equal(a.by, by[n - 1]);
        assert_int_equal(a.by, b.by);
        assert_int_equal(a.seen, b.seen);
        assert_int_equal(a.run, ours.low);
        assert_int_equal(a.call, b.call);
    }
}

/* ---- writing ---- */

static void every_dialect_is_written_and_read_back(void **state)
{
    (void)state;
    const slice custom[] = {SLICE("x-mine"), SLICE("X-Request-Id")};
    struct head nothing = {0}, h = {0};
    struct arena a = {0};
    context_write(&nothing, (1u << DIALECTS) - 1, custom, 2, ours, 0x1234, &a, &h.fields,
                  &h.n_fields);
    static const char *const expected[][2] = {
        {"traceparent", "00-" T "-" S "-01"},
        {"b3", T "-" S "-1"},
        {"x-b3-traceid", T},
        {"x-b3-spanid", S},
        {"x-b3-sampled", "1"},
        {"x-request-id", T},
        {"uber-trace-id", T ":" S ":0:1"},
        {"x-datadog-trace-id", "18364758544493064720"},
        {"x-datadog-parent-id", "18364758544493064720"},
        {"x-amzn-trace-id", "Root=1-01234567-89abcdeffedcba9876543210;Parent=" S ";Sampled=1"},
        {"tracestate", "outfox=" S "-1234"},
        {"baggage", "outfox=" S "-1234"},
        {"x-mine", T},
    };
    assert_int_equal(h.n_fields, LENGTH(expected));
    for (uint32_t i = 0; i < h.n_fields; i++)
        assert_field(&h, i, expected[i][0], expected[i][1]);
    struct context c = read_all(&h, custom, 2);
    assert_int_equal(c.seen, (1u << DIALECTS) - 1);
    assert_int_equal(c.call, 0x1234);
    for (uint32_t i = 0; i < DIALECTS; i++) { /* each alone */
        context_write(&nothing, 1u << i, custom, 1, ours, 5, &a, &h.fields, &h.n_fields);
        c = read_all(&h, custom, 1);
        assert_int_equal(c.by, i);
        assert_int_equal(c.run, ours.low);
        assert_int_equal(c.call, i <= DIALECT_BAGGAGE ? 5u : UINT32_MAX);
    }
    arena_deinit(&a);
}

static void what_is_there_is_kept(void **state)
{
    (void)state;
    struct request r = {.head = {0}};
    struct arena a = {0};
    request_add(&r, "accept", "*/*");
    request_add(&r, "TraceState", "a=1,outfox=0000000000000001-5, b=2 ,");
    request_add(&r, "traceparent", "malformed");
    request_add(&r, "b3", "0");
    request_add(&r, "tracestate", "c=3");
    request_add(&r, "X-B3-Sampled", "0");
    request_add(&r, "user-agent", "x");
    struct head h = write_all(&r.head, (1u << DIALECT_REQUEST_ID) - 1, 255, &a);
    assert_int_equal(h.n_fields, 7);
    assert_field(&h, 0, "accept", "*/*");
    assert_field(&h, 1, "TraceState", "outfox=" S "-ff,a=1,b=2,c=3");
    assert_field(&h, 2, "traceparent", "malformed");
    assert_field(&h, 3, "b3", "0");
    assert_field(&h, 4, "X-B3-Sampled", "0");
    assert_field(&h, 5, "user-agent", "x");
    assert_field(&h, 6, "baggage", "outfox=" S "-ff");
    h = write_all(&r.head, 0, 1, &a); /* nothing is asked for: nothing changes */
    assert_int_equal(h.n_fields, r.head.n_fields);
    for (uint32_t i = 0; i < h.n_fields; i++)
        assert_memory_equal(&h.fields[i], &r.fields[i], sizeof h.fields[i]);
    /* a list that is not written loses our member, which would speak of an earlier call */
    h = write_all(&r.head, 1u << DIALECT_BAGGAGE, 1, &a);
    assert_int_equal(h.n_fields, 8);
    assert_field(&h, 1, "TraceState", "a=1,b=2");
    assert_field(&h, 4, "tracestate", "c=3");
    assert_field(&h, 7, "baggage", "outfox=" S "-1");
    struct request alone = {.head = {0}};
    request_add(&alone, "baggage", "outfox=" S "-3");
    request_add(&alone, "traceparent", "00-" T "-00f067aa0ba902b7-01");
    h = write_all(&alone.head, 1u << DIALECT_TRACESTATE, 1, &a);
    assert_int_equal(h.n_fields, 2);
    assert_field(&h, 0, "traceparent", "00-" T "-00f067aa0ba902b7-01");
    assert_field(&h, 1, "tracestate", "outfox=" S "-1");
    /* only a tracestate brings a traceparent along */
    struct head nothing = {0};
    h = write_all(&nothing, 1u << DIALECT_BAGGAGE, 1, &a);
    assert_int_equal(h.n_fields, 1);
    h = write_all(&nothing, 1u << DIALECT_TRACESTATE, 1, &a);
    assert_int_equal(h.n_fields, 2);
    arena_deinit(&a);
}

/* n members `kI=xxx`, each `bytes` long. */
static void add_members(struct buf *out, uint32_t n, size_t bytes)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_addc(out, ',');
        size_t start = out->n;
        buf_addf(out, "k%02u=", i);
        while (out->n - start < bytes)
            buf_addc(out, 'x');
    }
}

static uint32_t count_members(slice list)
{
    uint32_t n = 0;
    slice part;
    while (slice_cut(&list, ',', &part))
        n++;
    return n;
}

static void limits_hold(void **state)
{
    (void)state;
    static const struct {
        uint32_t bit, n;
        size_t each;   /* bytes of a member */
        uint32_t left; /* members, ours included */
    } rows[] = {
        {DIALECT_TRACESTATE, 31, 6, 32},  {DIALECT_TRACESTATE, 32, 6, 32},
        {DIALECT_TRACESTATE, 40, 6, 32},  {DIALECT_TRACESTATE, 12, 39, 13}, /* 505 bytes */
        {DIALECT_TRACESTATE, 12, 40, 12},                                   /* would be 517 */
        {DIALECT_TRACESTATE, 20, 40, 21}, /* was too long already */
        {DIALECT_BAGGAGE, 63, 10, 64},    {DIALECT_BAGGAGE, 64, 10, 64},
        {DIALECT_BAGGAGE, 63, 129, 63}, /* 8189 bytes before */
        {DIALECT_BAGGAGE, 10, 900, 11},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(1 << 16);
        struct request r = {.head = {0}};
        struct arena a = {0};
        const char *name = rows[i].bit == DIALECT_BAGGAGE ? "baggage" : "tracestate";
        add_members(&text, rows[i].n, rows[i].each);
        request_add(&r, name, buf_text(&text));
        struct head h = write_all(&r.head, 1u << rows[i].bit, 0, &a);
        slice value = h.fields[0].value;
        assert_int_equal(count_members(value), rows[i].left);
        assert_true(slice_starts(value, SLICE("outfox=" S "-0,k00=")));
        slice kept = slice_from(value, sizeof "outfox=" S "-0");
        assert_memory_equal(kept.p, text.p, kept.n); /* the beginning of what was there */
        buf_deinit(&text);
        arena_deinit(&a);
    }
}

static void large_members_of_tracestate_go_first(void **state)
{
    (void)state;
    char x[200];
    struct buf text = BUF_INIT(1000), expected = BUF_INIT(1000);
    struct request r = {.head = {0}};
    struct arena a = {0};
    memset(x, 'x', sizeof x);
    buf_addf(&text, "a=1,b=%.140s,c=%.140s,d=%.110s,e=%.100s", x, x, x, x);
    request_add(&r, "tracestate", buf_text(&text));
    struct head h = write_all(&r.head, 1u << DIALECT_TRACESTATE, 1, &a);
    buf_addf(&expected, "outfox=" S "-1,a=1,b=%.140s,d=%.110s,e=%.100s", x, x, x);
    assert_field(&h, 0, "tracestate", buf_text(&expected));
    arena_deinit(&a);
    buf_deinit(&text);
    buf_deinit(&expected);
}

/* ---- whatever else is there ---- */

static const char *const foreign[] = {
    "a=1", "vendor@x=  y", "outfoxx=1", "outfo=2", "k=v;prop=1", "novalue", "z==", "\"q\"", "o=%2C",
};

/* Foreign members of all fields of this name, in order, with a comma behind each. */
static void foreign_of(const struct head *h, slice name, struct buf *out)
{
    for (uint32_t i = 0; i < h->n_fields; i++) {
        slice rest = h->fields[i].value, part;
        if (!slice_eq_nocase(h->fields[i].name, name))
            continue;
        while (slice_cut(&rest, ',', &part)) {
            part = slice_trim(part);
            if (part.n == 0 || slice_starts(part, SLICE("outfox=")))
                continue;
            buf_add(out, part);
            buf_addc(out, ',');
        }
    }
}

static const char *random_list(struct rng *rng, struct arena *a)
{
    struct buf list = BUF_INIT(1000);
    uint32_t n = rng_below(rng, 6);
    for (uint32_t i = 0; i < n; i++) {
        const char *member = foreign[rng_below(rng, LENGTH(foreign))];
        if (rng_below(rng, 5) == 0)
            member = "outfox=00000000000000aa-4";
        buf_addf(&list, "%s%s%s", i ? "," : "", rng_below(rng, 2) ? " " : "", member);
    }
    const char *text = arena_copy(a, buf_text(&list), list.n);
    buf_deinit(&list);
    return text;
}

static void what_was_written_is_read_back(void **state)
{
    (void)state;
    static const char *const names[] = {"tracestate", "Baggage", "baggage",     "TraceState",
                                        "accept",     "b3",      "traceparent", "x-request-id"};
    struct rng rng = {4};
    struct arena a = {0};
    for (int round = 0; round < 20000; round++) {
        struct request r = {.head = {0}};
        uint32_t n = rng_below(&rng, 8), call = (uint32_t)rng_next(&rng) >> rng_below(&rng, 32);
        for (uint32_t i = 0; i < n; i++)
            request_add(&r, names[rng_below(&rng, LENGTH(names))], random_list(&rng, &a));
        uint32_t write = (uint32_t)rng_next(&rng) & ((1u << DIALECTS) - 1);
        write |= 1u << rng_below(&rng, 2);
        struct head h = write_all(&r.head, write, call, &a);
        struct context c = read_all(&h, NULL, 0);
        assert_int_equal(c.run, ours.low);
        assert_int_equal(c.call, call);
        assert_int_equal(c.by, write & 1 ? DIALECT_TRACESTATE : DIALECT_BAGGAGE);
        for (uint32_t k = 0; k < 2; k++) {
            struct buf before = BUF_INIT(1 << 16), after = BUF_INIT(1 << 16);
            foreign_of(&r.head, k ? SLICE("baggage") : SLICE("tracestate"), &before);
            foreign_of(&h, k ? SLICE("baggage") : SLICE("tracestate"), &after);
            assert_string_equal(buf_text(&before), buf_text(&after));
            buf_deinit(&before);
            buf_deinit(&after);
        }
        struct head again = write_all(&h, write, call, &a); /* nothing is added twice */
        assert_int_equal(again.n_fields, h.n_fields);
        for (uint32_t i = 0; i < h.n_fields; i++)
            assert_true(slice_eq(again.fields[i].value, h.fields[i].value));
        arena_reset(&a);
    }
    arena_deinit(&a);
}

static void texts_for_the_environment(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(200);
    context_traceparent(ours, &b);
    assert_string_equal(buf_text(&b), "00-" T "-" S "-01");
    assert_int_equal(read_one("traceparent", buf_text(&b)).run, ours.low);
    buf_clear(&b);
    context_member((struct trace_id){1, small_run}, 0xabcdef01, &b);
    assert_string_equal(buf_text(&b), "outfox=000000000000002a-abcdef01");
    struct context c = read_one("baggage", buf_text(&b));
    assert_int_equal(c.run, small_run);
    assert_int_equal(c.call, 0xabcdef01);
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dialect_is_read),
        cmocka_unit_test(malformed_is_ignored),
        cmocka_unit_test(foreign_ids_are_passed_over),
        cmocka_unit_test(the_most_telling_wins_in_any_order),
        cmocka_unit_test(every_dialect_is_written_and_read_back),
        cmocka_unit_test(what_is_there_is_kept),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(large_members_of_tracestate_go_first),
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(texts_for_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
