/* SPDX-License-Identifier: Apache-2.0
 *
 * The causal order of a trace. */
#include "core/trace.h"

#include "base/random.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* A call in few words. */
struct row {
    uint32_t parent;
    char service;
    uint32_t n;
    int64_t start_ns, end_ns;
};

static void add_call(struct trace *trace, struct names *names, const struct row *row)
{
    struct element el = {.service = names_sym(names, (slice){&row->service, 1}),
                         .interface = names_sym(names, SLICE("GET /")),
                         .n = row->n};
    uid above = row->parent == CALL_NONE ? UID_NONE : trace->calls.at[row->parent].uid;
    struct call call = {.uid = names_uid(names, above, names_element(names, el)),
                        .parent = row->parent,
                        .start_ns = row->start_ns,
                        .end_ns = row->end_ns};
    vec_push(&trace->calls, call);
}

/* "0: 1 2; 2: 3;" for calls that have children */
static void print_order(const struct trace *trace, const struct trace_order *order, struct buf *out)
{
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        if (order->first.at[i] == order->first.at[i + 1])
            continue;
        buf_addf(out, "%u:", (unsigned)i);
        for (uint32_t k = order->first.at[i]; k < order->first.at[i + 1]; k++)
            buf_addf(out, " %u", (unsigned)order->child.at[k]);
        buf_adds(out, "; ");
    }
}

#define TOP CALL_NONE

static const struct {
    const char *what;
    struct row rows[8];
    const char *order;
} cases[] = {
    {"nothing", {{0}}, ""},
    {"the request alone", {{TOP, 'a', 0, 0, 9}}, ""},
    {"by start",
     {{TOP, 'a', 0, 0, 9}, {0, 'd', 0, 1, 2}, {0, 'c', 0, 2, 3}, {0, 'b', 0, 3, 4}},
     "0: 1 2 3; "},
    {"by start, recorded late",
     {{TOP, 'a', 0, 0, 9}, {0, 'b', 0, 5, 6}, {0, 'c', 0, 3, 4}, {0, 'd', 0, 1, 2}},
     "0: 3 2 1; "},
    {"together: by element",
     {{TOP, 'a', 0, 0, 9}, {0, 'd', 0, 1, 2}, {0, 'b', 0, 1, 9}, {0, 'c', 0, 1, 5}},
     "0: 2 3 1; "},
    {"together: n is part of the element",
     {{TOP, 'a', 0, 0, 9}, {0, 'b', 2, 1, 2}, {0, 'b', 0, 1, 9}, {0, 'b', 1, 1, 5}},
     "0: 2 3 1; "},
    {"the end does not matter",
     {{TOP, 'a', 0, 0, 9}, {0, 'b', 0, 1, 8}, {0, 'c', 0, 1, 2}, {0, 'd', 0, 2, 3}},
     "0: 1 2 3; "},
    {"a start before that of the request",
     {{TOP, 'a', 0, 5, 9}, {0, 'b', 0, 0, 1}, {0, 'c', 0, -3, 1}},
     "0: 2 1; "},
    {"nested",
     {{TOP, 'a', 0, 0, 9},
      {0, 'b', 0, 1, 5},
      {1, 'x', 0, 2, 3},
      {1, 'w', 0, 2, 4},
      {0, 'c', 0, 6, 8},
      {4, 'z', 0, 7, 8},
      {2, 'y', 0, 2, 3}},
     "0: 1 4; 1: 3 2; 2: 6; 4: 5; "},
    {"children apart from each other",
     {{TOP, 'a', 0, 0, 9},
      {0, 'b', 0, 1, 9},
      {0, 'c', 0, 1, 9},
      {2, 'x', 0, 4, 5},
      {1, 'y', 0, 3, 4},
      {2, 'y', 0, 3, 4},
      {1, 'x', 0, 4, 5},
      {0, 'd', 0, 0, 1}},
     "0: 7 1 2; 1: 4 6; 2: 5 3; "},
};

/* Each case with an order of its own, and all of them one after the other with the same. */
static void test_cases(void **state)
{
    struct trace_order kept = {0};
    (void)state;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < LENGTH(cases); i++) {
            struct names names;
            struct trace trace = {0};
            struct trace_order fresh = {0};
            struct buf one = BUF_INIT(1000), other = BUF_INIT(1000);
            size_t at = round ? LENGTH(cases) - 1 - i : i;
            names_init(&names);
            for (size_t k = 0; k < LENGTH(cases[at].rows) && cases[at].rows[k].service; k++)
                add_call(&trace, &names, &cases[at].rows[k]);
            trace_order(&trace, &names, &fresh);
            trace_order(&trace, &names, &kept);
            print_order(&trace, &fresh, &one);
            print_order(&trace, &kept, &other);
            if (strcmp(buf_text(&one), cases[at].order) != 0 ||
                strcmp(buf_text(&other), cases[at].order) != 0)
                fail_msg("%s: %s, %s", cases[at].what, buf_text(&one), buf_text(&other));
            assert_int_equal(fresh.first.at[0], 0);
            buf_deinit(&one);
            buf_deinit(&other);
            trace_order_deinit(&fresh);
            vec_deinit(&trace.calls);
            names_deinit(&names);
        }
    trace_order_deinit(&kept);
}

static void test_empty(void **state)
{
    struct names names;
    struct trace trace = {0};
    struct trace_order order = {0};
    (void)state;
    names_init(&names);
    trace_order(&trace, &names, &order);
    assert_int_equal(order.first.at[0], 0);
    trace_order_deinit(&order);
    trace_order_deinit(&order);
    names_deinit(&names);
}

/* Calls that nothing tells apart stay in the order in which they were recorded. */
static void test_stable(void **state)
{
    struct names names;
    struct trace trace = {0};
    struct trace_order order = {0};
    struct rng rng = {1};
    (void)state;
    names_init(&names);
    add_call(&trace, &names, &(struct row){TOP, 'a', 0, 0, 99});
    for (int i = 0; i < 1000; i++)
        add_call(&trace, &names,
                 &(struct row){0, (char)('b' + rng_below(&rng, 3)), 0, rng_below(&rng, 5), 99});
    trace_order(&trace, &names, &order);
    assert_int_equal(order.first.at[1] - order.first.at[0], 1000);
    for (uint32_t k = 1; k < 1000; k++) {
        const struct call *x = &trace.calls.at[order.child.at[k - 1]];
        const struct call *y = &trace.calls.at[order.child.at[k]];
        int c = uid_cmp(&names, x->uid, y->uid);
        assert_true(x->start_ns <= y->start_ns);
        assert_true(x->start_ns < y->start_ns || c <= 0);
        assert_true(x->start_ns < y->start_ns || c < 0 || x < y);
    }
    trace_order_deinit(&order);
    vec_deinit(&trace.calls);
    names_deinit(&names);
}

/* Random trees: every call but the first is the child of its parent, once, and in order. */
static void test_random(void **state)
{
    struct rng rng = {2};
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct names names;
        struct trace trace = {0};
        struct trace_order order = {0};
        uint32_t n = 1 + rng_below(&rng, 60), seen = 0;
        names_init(&names);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t parent = i ? rng_below(&rng, i) : TOP;
            add_call(
                &trace, &names,
                &(struct row){parent, (char)('a' + rng_below(&rng, 5)), i, rng_below(&rng, 9), 99});
        }
        trace_order(&trace, &names, &order);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = order.first.at[i]; k < order.first.at[i + 1]; k++, seen++) {
                const struct call *c = &trace.calls.at[order.child.at[k]];
                assert_int_equal(c->parent, i);
                if (k == order.first.at[i])
                    continue;
                const struct call *before = &trace.calls.at[order.child.at[k - 1]];
                assert_true(
                    before->start_ns < c->start_ns ||
                    (before->start_ns == c->start_ns && uid_cmp(&names, before->uid, c->uid) < 0));
            }
        assert_int_equal(seen, n - 1);
        trace_order_deinit(&order);
        vec_deinit(&trace.calls);
        names_deinit(&names);
    }
}

/* ---- calls at the same time ---- */

struct bench {
    struct names names;
    struct trace trace;
    struct trace_order order;
    struct overlaps o;
};

static void bench_deinit(struct bench *b)
{
    vec_deinit(&b->trace.calls);
    trace_order_deinit(&b->order);
    overlaps_deinit(&b->o);
    names_deinit(&b->names);
}

/* Fills the trace with a request and these calls of its handler. */
static void fill(struct bench *b, const struct row *rows, size_t n)
{
    b->trace.calls.n = 0;
    add_call(&b->trace, &b->names, &(struct row){TOP, 'x', 0, 0, 1000000});
    for (size_t i = 0; i < n; i++)
        add_call(&b->trace, &b->names, &rows[i]);
}

/* The services of the handler's calls in causal order, "abc"; after alignment. */
static void read_order(struct bench *b, char *out)
{
    trace_align(&b->trace, &b->o, &b->names);
    trace_order(&b->trace, &b->names, &b->order);
    for (uint32_t k = b->order.first.at[0]; k < b->order.first.at[1]; k++) {
        const struct call *c = &b->trace.calls.at[b->order.child.at[k]];
        *out++ = names_text(&b->names, uid_element(&b->names, c->uid)->service).p[0];
    }
    *out = 0;
}

/* A group reads the same in every order of arrival, and when a member fails at once. */
static void test_group(void **state)
{
    static const char *const arrivals[] = {"bcd", "bdc", "cbd", "cdb", "dbc", "dcb"};
    struct bench b = {0};
    char text[10];
    (void)state;
    names_init(&b.names);
    fill(&b, (struct row[]){{0, 'd', 0, 10, 50}, {0, 'b', 0, 11, 40}, {0, 'c', 0, 12, 20}}, 3);
    read_order(&b, text);
    assert_string_equal(text, "dbc"); /* nothing is known yet */
    overlaps_learn(&b.o, &b.names, &b.trace);
    for (size_t i = 0; i < LENGTH(arrivals); i++)
        for (int failed = 0; failed < 4; failed++) {
            struct row rows[6] = {{0, 'z', 0, 1, 5}}; /* before the group, and after it */
            for (int k = 0; k < 3; k++)
                rows[k + 1] = (struct row){0, arrivals[i][k], 0, 10 + 3 * k,
                                           failed == k ? 11 + 3 * k : 60 - k};
            rows[4] = (struct row){0, 'a', 0, 70, 80};
            rows[5] = (struct row){0, 'b', 1, 90, 95};
            fill(&b, rows, 6);
            overlaps_learn(&b.o, &b.names, &b.trace);
            read_order(&b, text);
            assert_string_equal(text, "zbcdab");
            assert_int_equal(b.trace.calls.at[2].start_ns, 10);
            assert_int_equal(b.trace.calls.at[4].start_ns, 10);
            assert_int_equal(b.trace.calls.at[1].start_ns, 1);
            assert_int_equal(b.trace.calls.at[5].start_ns, 70);
            read_order(&b, text); /* once more changes nothing */
            assert_string_equal(text, "zbcdab");
        }
    bench_deinit(&b);
}

/* What must not be grouped. */
static void test_apart(void **state)
{
    struct bench b = {0};
    char text[10];
    (void)state;
    names_init(&b.names);
    /* one after the other, the next at the very end of the one before */
    struct row chain[] = {{0, 'd', 0, 10, 20}, {0, 'c', 0, 20, 30}, {0, 'b', 0, 30, 31}};
    fill(&b, chain, 3);
    overlaps_learn(&b.o, &b.names, &b.trace);
    assert_int_equal(b.o.pairs.items.n, 0);
    read_order(&b, text);
    assert_string_equal(text, "dcb");
    /* c is made when d has failed, while e is under way: c may not come before d */
    struct row fallback[] = {{0, 'd', 0, 10, 12}, {0, 'e', 0, 11, 90}, {0, 'c', 0, 20, 30}};
    fill(&b, fallback, 3);
    overlaps_learn(&b.o, &b.names, &b.trace);
    read_order(&b, text);
    assert_string_equal(text, "dec");
    struct row other[] = {{0, 'e', 0, 10, 90}, {0, 'd', 0, 11, 12}, {0, 'c', 0, 20, 30}};
    fill(&b, other, 3);
    read_order(&b, text);
    assert_string_equal(text, "dec");
    /* the same names in another handler are others */
    fill(&b, (struct row[]){{0, 'e', 0, 1, 900}}, 1);
    add_call(&b.trace, &b.names, &(struct row){1, 'e', 0, 10, 20});
    add_call(&b.trace, &b.names, &(struct row){1, 'd', 0, 20, 30});
    trace_align(&b.trace, &b.o, &b.names);
    assert_int_equal(b.trace.calls.at[3].start_ns, 20);
    bench_deinit(&b);
}

/* A caller that waited no longer went on because of that; the close of the old call may be seen
 * after the new one. */
static void test_given_up(void **state)
{
    static const struct {
        outcome seen;
        uint8_t flags;
        bool learned;
    } rows[] = {
        {OUTCOME(OUT_TIMEOUT, 0), 0, false}, {OUTCOME(OUT_CANCELLED, 0), 0, false},
        {OUTCOME_OK, CALL_OPEN, false},      {OUTCOME_OK, 0, true},
        {OUTCOME(OUT_RESET, 0), 0, true},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bench b = {0};
        names_init(&b.names);
        fill(&b, (struct row[]){{0, 'd', 0, 10, 31}, {0, 'c', 0, 30, 40}}, 2);
        b.trace.calls.at[1].seen = rows[i].seen;
        b.trace.calls.at[1].flags = rows[i].flags;
        overlaps_learn(&b.o, &b.names, &b.trace);
        assert_int_equal(b.o.pairs.items.n > 0, rows[i].learned);
        bench_deinit(&b);
    }
}

/* Chains of calls next to each other, with times of chance: each chain stays in order in every
 * trace; and when enough was learned, all traces read the same. */
static void test_chains(void **state)
{
    enum { CHAINS = 3, LINKS = 3, LEARN = 3000, CHECK = 300 };
    struct rng rng = {9};
    struct bench b = {0};
    char first[20] = "", text[20];
    (void)state;
    names_init(&b.names);
    for (int round = 0; round < LEARN + CHECK; round++) {
        struct row rows[CHAINS * LINKS];
        for (uint32_t c = 0; c < CHAINS; c++) {
            int64_t now = 10 + rng_below(&rng, 3);
            for (uint32_t i = 0; i < LINKS; i++) {
                int64_t took = 1 + rng_below(&rng, rng_below(&rng, 2) ? 100 : 2);
                /* names that do not follow the order of the chain */
                char service = (char)('a' + (c * 2 + i * 7) % 9);
                rows[c * LINKS + i] = (struct row){0, service, i * 10 + c, now, now + took};
                now += took + rng_below(&rng, 2);
            }
        }
        fill(&b, rows, CHAINS * LINKS);
        overlaps_learn(&b.o, &b.names, &b.trace);
        trace_align(&b.trace, &b.o, &b.names);
        for (uint32_t c = 0; c < CHAINS; c++)
            for (uint32_t i = 1; i < LINKS; i++)
                assert_true(b.trace.calls.at[c * LINKS + i].start_ns <
                            b.trace.calls.at[c * LINKS + i + 1].start_ns);
        if (round < LEARN)
            continue;
        read_order(&b, text);
        if (!first[0])
            memcpy(first, text, sizeof first);
        assert_string_equal(text, first);
    }
    bench_deinit(&b);
}

/* A handler with more calls than are looked at. */
static void test_many_calls(void **state)
{
    struct bench b = {0};
    (void)state;
    names_init(&b.names);
    for (int extra = 0; extra < 2; extra++) {
        fill(&b, NULL, 0);
        for (uint32_t i = 0; i < ALIGN_MAX + (uint32_t)extra; i++)
            add_call(&b.trace, &b.names, &(struct row){0, 'b', i, i, 5000});
        overlaps_learn(&b.o, &b.names, &b.trace);
        trace_align(&b.trace, &b.o, &b.names);
        for (uint32_t i = 0; i < ALIGN_MAX + (uint32_t)extra; i++)
            assert_int_equal(b.trace.calls.at[i + 1].start_ns, extra ? i : 0);
    }
    bench_deinit(&b);
}

/* ---- which modes a call takes ---- */

static void test_takes(void **state)
{
    enum { NONE = 1, HTTP = 2, GRPC = 4, HTTP2 = 8, ALL = 15 };
    static const struct {
        const char *mode;
        int kinds; /* that take it */
    } rows[] = {
        {"503", NONE | HTTP | HTTP2},
        {"200", NONE | HTTP | HTTP2},
        {"lost-reply:503", NONE | HTTP | HTTP2},
        {"grpc:14", NONE | GRPC},
        {"grpc:0", NONE | GRPC},
        {"lost-reply:grpc:14", NONE | GRPC},
        {"rst-stream:7", NONE | GRPC | HTTP2},
        {"lost-reply:rst-stream:8", NONE | GRPC | HTTP2},
        {"goaway", NONE | GRPC | HTTP2},
        {"refuse", ALL},
        {"reset", ALL},
        {"reset:100", ALL},
        {"lost-reply:reset", ALL},
        {"close", ALL},
        {"hold", ALL},
        {"delay:1s", ALL},
        {"delay-reply:1s", ALL},
        {"slow:10", ALL},
        {"truncate:1", ALL},
        {"duplicate", ALL},
        {"corrupt:empty", ALL},
        {"corrupt:garbage", ALL},
        {"corrupt:remove=a/b", NONE | HTTP | HTTP2},
        {"corrupt:null=a", NONE | HTTP | HTTP2},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mode m;
        struct err e = {0};
        assert_int_equal(mode_parse(slice_of(rows[i].mode), &m, &e), 0);
        for (uint8_t other = 0; other < 32; other += 8) { /* flags that do not matter */
            bool none = call_takes(&(struct call){.flags = other}, m);
            bool http = call_takes(&(struct call){.flags = CALL_HTTP | other}, m);
            bool grpc = call_takes(&(struct call){.flags = CALL_GRPC | other}, m);
            bool http2 = call_takes(&(struct call){.flags = CALL_HTTP | CALL_HTTP2 | other}, m);
            if ((none ? NONE : 0) + (http ? HTTP : 0) + (grpc ? GRPC : 0) + (http2 ? HTTP2 : 0) !=
                rows[i].kinds)
                fail_msg("%s", rows[i].mode);
            for (uint8_t kind = 0; kind < 8; kind += 2)
                assert_false(call_takes(&(struct call){.flags = CALL_EXEMPT | kind | other}, m));
            assert_true(call_takes(&(struct call){.flags = CALL_HTTP | CALL_GRPC}, m));
        }
    }
}

/* Calls with one name but for their number, and what is noticed of them. */
static void test_equal(void **state)
{
    enum { MS = 1000000 };
    static const struct {
        const char *what;
        struct row rows[3];
        uint32_t request[3];
        uint8_t flags;
        uint32_t n, most;
        bool differ, together;
    } rows[] = {
        {.what = "others overlap", .rows = {{0, 'b', 0, 1, 9}, {0, 'c', 0, 2, 9}}},
        {.what = "one after the other", .rows = {{0, 'b', 0, 1, 5}, {0, 'b', 1, 5, 9}}},
        {.what = "the same request",
         .rows = {{0, 'b', 0, 1, 9}, {0, 'b', 1, 2, 9}},
         .request = {7, 7},
         .n = 1,
         .most = 2,
         .together = true},
        {.what = "another request",
         .rows = {{0, 'b', 0, 1, 9}, {0, 'b', 1, 2, 9}},
         .request = {7, 8},
         .n = 1,
         .most = 2,
         .differ = true,
         .together = true},
        {.what = "a request that is not known",
         .rows = {{0, 'b', 0, 1, 9}, {0, 'b', 1, 2, 9}},
         .request = {7},
         .n = 1,
         .most = 2,
         .together = true},
        {.what = "three at a time",
         .rows = {{0, 'b', 0, 1, 9}, {0, 'b', 1, 2, 9}, {0, 'b', 2, 3, 9}},
         .request = {7, 7, 8},
         .n = 1,
         .most = 3,
         .differ = true,
         .together = true},
        {.what = "three, two at a time",
         .rows = {{0, 'b', 0, 1, 9}, {0, 'b', 1, 2, 20}, {0, 'b', 2, 10, 20}},
         .n = 1,
         .most = 2,
         .together = true},
        {.what = "a second try while the first is waited for",
         .rows = {{0, 'b', 0, 1, 90 * MS}, {0, 'b', 1, 50 * MS, 90 * MS}},
         .n = 1,
         .most = 2},
        {.what = "in a block",
         .rows = {{0, 'b', 0, 1, 9}, {0, 'b', 1, 2, 9}},
         .flags = CALL_HUSHED},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bench b = {0};
        names_init(&b.names);
        for (int times = 0; times < 2; times++) { /* each group once, whatever the runs */
            uint32_t n = rows[i].rows[2].service ? 3 : 2;
            fill(&b, rows[i].rows, n);
            for (uint32_t k = 0; k < n; k++) {
                b.trace.calls.at[k + 1].request = rows[i].request[k];
                b.trace.calls.at[k + 1].flags = rows[i].flags;
            }
            overlaps_learn(&b.o, &b.names, &b.trace);
        }
        if (b.o.equal.n != rows[i].n)
            fail_msg("%s: %u groups", rows[i].what, (unsigned)b.o.equal.n);
        for (uint32_t k = 0; k < b.o.equal.n; k++) {
            const struct overlap_equal *e = &b.o.equal.at[k];
            assert_int_equal(e->handler, b.trace.calls.at[0].uid);
            if (e->most != rows[i].most || e->differ != rows[i].differ ||
                e->together != rows[i].together)
                fail_msg("%s: %u %d %d", rows[i].what, (unsigned)e->most, e->differ, e->together);
        }
        bench_deinit(&b);
    }
}

/* Hushed calls are left out with all below them, and the others find their parents again. */
static void test_tested(void **state)
{
    (void)state;
    static const struct row rows[] = {{TOP, 'a', 0, 0, 9}, {0, 'b', 0, 1, 3}, {1, 'c', 0, 2, 3},
                                      {0, 'b', 1, 4, 8},   {3, 'c', 0, 5, 6}, {4, 'd', 0, 5, 6},
                                      {1, 'd', 0, 7, 8}};
    static const uint32_t parents[] = {TOP, 0, 1, 2}, from[] = {0, 3, 4, 5};
    struct names names;
    struct trace trace = {0}, tested = {0}, none = {0};
    names_init(&names);
    for (uint32_t i = 0; i < LENGTH(rows); i++)
        add_call(&trace, &names, &rows[i]);
    trace_copy_tested(&trace, &tested);
    assert_int_equal(tested.calls.n, LENGTH(rows));
    trace.calls.at[1].flags = trace.calls.at[2].flags = trace.calls.at[6].flags =
        CALL_HTTP | CALL_EXEMPT | CALL_HUSHED;
    trace_copy_tested(&trace, &tested);
    assert_int_equal(tested.calls.n, LENGTH(parents));
    for (uint32_t i = 0; i < LENGTH(parents); i++) {
        assert_int_equal(tested.calls.at[i].parent, parents[i]);
        assert_int_equal(tested.calls.at[i].uid, trace.calls.at[from[i]].uid);
    }
    trace_copy_tested(&none, &tested);
    assert_int_equal(tested.calls.n, 0);
    vec_deinit(&trace.calls);
    vec_deinit(&tested.calls);
    names_deinit(&names);
}

/* ---- how long handlers work without calling anybody ---- */

static const struct {
    const char *what;
    struct row rows[4];
    struct {
        uint32_t call;
        mode mode;
        uint8_t flags;
    } is;
    int64_t pause_ns;
} pauses[] = {
    {"nothing", {{0}}, {0}, 0},
    {"the request alone", {{TOP, 'a', 0, 5, 9}}, {0}, 4},
    {"before the first call", {{TOP, 'a', 0, 0, 9}, {0, 'b', 0, 7, 8}}, {0}, 7},
    {"between calls", {{TOP, 'a', 0, 0, 9}, {0, 'b', 0, 1, 2}, {0, 'b', 1, 7, 8}}, {0}, 5},
    {"after the last", {{TOP, 'a', 0, 0, 9}, {0, 'b', 0, 1, 2}, {0, 'b', 1, 3, 4}}, {0}, 5},
    {"not while one is open",
     {{TOP, 'a', 0, 0, 9}, {0, 'b', 0, 1, 8}, {1, 'c', 0, 2, 3}, {1, 'd', 0, 5, 7}},
     {0},
     2},
    {"after the answer", {{TOP, 'a', 0, 0, 3}, {0, 'b', 0, 1, 2}, {0, 'b', 1, 8, 9}}, {0}, 6},
    {"not what a fault takes", {{TOP, 'a', 0, 0, 9}, {0, 'b', 0, 1, 8}}, {1, 2, 0}, 1},
    {"not what has no end", {{TOP, 'a', 0, 0, 9}, {0, 'b', 0, 1, 8}}, {1, 0, CALL_OPEN}, 1},
    {"not between calls of the client",
     {{TOP, 'a', 0, 0, 90}, {0, 'b', 0, 40, 45}, {0, 'b', 1, 80, 83}},
     {1, 0, CALL_EXEMPT},
     5},
};

static void test_pause(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(pauses); i++) {
        struct names names;
        struct trace trace = {0};
        names_init(&names);
        for (size_t k = 0; k < LENGTH(pauses[i].rows) && pauses[i].rows[k].service; k++) {
            add_call(&trace, &names, &pauses[i].rows[k]);
            vec_last(&trace.calls).handled = true;
        }
        if (pauses[i].is.call) {
            trace.calls.at[pauses[i].is.call].mode = pauses[i].is.mode;
            trace.calls.at[pauses[i].is.call].flags = pauses[i].is.flags;
        }
        if (trace_pause(&trace) != pauses[i].pause_ns)
            fail_msg("%s: %lld", pauses[i].what, (long long)trace_pause(&trace));
        vec_deinit(&trace.calls);
        names_deinit(&names);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),      cmocka_unit_test(test_empty),
        cmocka_unit_test(test_stable),     cmocka_unit_test(test_random),
        cmocka_unit_test(test_group),      cmocka_unit_test(test_apart),
        cmocka_unit_test(test_given_up),   cmocka_unit_test(test_chains),
        cmocka_unit_test(test_many_calls), cmocka_unit_test(test_takes),
        cmocka_unit_test(test_equal),      cmocka_unit_test(test_tested),
        cmocka_unit_test(test_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
