/* SPDX-License-Identifier: Apache-2.0
 *
 * Metrics of plans: series and their bounds, values in lines, what is expected of samples, triggers
 * that wait for a bound or a call, and collectors that are refused. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "plan/derive.h"
#include "plan/result.h"
#include "plan/schedule.h"
#include "support/unit.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))

#define NONE (double)NAN

#define HEAD                                                                                       \
    "version: 1\nplan: p\nduration: 10s\nnodes:\n  a: { start: x }\n  b: { start: y }\n"           \
    "clients:\n  c: { command: z, every: 1s }\n"
#define ALIVE         "expect: [ { alive: true } ]\n"
#define COLLECT(item) HEAD ALIVE "collect:\n  - { name: n, " item " }\n"
#define EXPECT(item)  HEAD "expect:\n  - { " item " }\n"
#define TRIGGER(item)                                                                              \
    HEAD ALIVE "events:\n  - fault: { type: kill, target: a }\n    trigger: { " item " }\n"
#define OTLP "collect: [ { name: t, otlp: 127.0.0.1:4318 } ]\n"

static struct plan load(const char *text)
{
    struct plan p;
    struct err e = {0};
    if (plan_parse(&p, slice_of(text), &e))
        fail_msg("%u: %s\n%s", e.line, e.text, text);
    return p;
}

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        uint32_t line;
        const char *says;
    } rows[] = {
        {HEAD ALIVE "collect:\n  - { command: x }\n", 11, "name"},
        {COLLECT("every: 1s"), 11, "needs one of command"},
        {COLLECT("command: x, otlp: y"), 11, "has one of"},
        {COLLECT("command: x, line: 'a {value}'"), 11, "stands alone"},
        {COLLECT("file: x"), 11, "needs \"line\""},
        {COLLECT("line: a"), 11, "{value}"},
        {COLLECT("line: '{value} {value}'"), 11, "once"},
        {COLLECT("line: '{value} ('"), 11, "line"},
        {COLLECT("line: '{value}', keep: x"), 11, "\"keep\" is of"},
        {COLLECT("prometheus: https://x/"), 11, "http://127.0.0.1:9100/metrics"},
        {COLLECT("prometheus: 'http:///x'"), 11, "http://127.0.0.1:9100/metrics"},
        {COLLECT("prometheus: http://x/, keep: '('"), 11, "keep"},
        {COLLECT("command: x, of: d"), 11, "no node and no client \"d\""},
        {COLLECT("otlp: 127.0.0.1:0, of: a"), 11, "leave it out"},
        {COLLECT("command: x, every: 10ms"), 11, "every"},
        {COLLECT("otlp: 127.0.0.1:1") "network: 198.18.7.0/24\n", 11, "does not reach"},
        {COLLECT("command: x") "  - { name: n, command: y }\n", 12, "another name"},
        {EXPECT("metric: x"), 10, "needs one of most"},
        {EXPECT("metric: x, most: 1, least: 0"), 10, "has one of most"},
        {EXPECT("metric: x, most: many"), 10, "64M"},
        {EXPECT("metric: x, ratio: 0"), 10, "ratio"},
        {EXPECT("lost: 1, most: 1"), 10, "belong to metric"},
        {EXPECT("metric: x, most: 1, of: d"), 10, "no collector \"d\""},
        {TRIGGER("metric: x"), 12, "above or below"},
        {TRIGGER("metric: x, above: 1, below: 1"), 12, "above or below"},
        {TRIGGER("at: 1s, above: 1"), 12, "above or below"},
        {TRIGGER("metric: x, at: 1s, above: 1"), 12, "exactly one of"},
        {TRIGGER("metric: x, above: 1, of: d"), 12, "no collector \"d\""},
        {TRIGGER("span: x"), 12, "needs traces"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct plan p;
        struct err e = {0};
        int status = plan_parse(&p, slice_of(rows[i].text), &e);
        if (status != -1 || e.line != rows[i].line || !strstr(e.text, rows[i].says) || !e.col)
            fail_msg("case %zu: %d, %u:%u: %s", i, status, e.line, e.col, e.text);
        plan_free(&p);
    }
}

static void test_lines(void **state)
{
    static const struct {
        const char *pattern, *line;
        double value; /* NONE: there is none */
    } rows[] = {
        {"took {value} ms", "12 calls, took 3.5 ms", 3.5},
        {"took {value}ms", "took -7ms", -7},
        {"^{value}$", "42", 42},
        {"^{value}$", "42 43", NONE},
        {"\"n\":{value},", "{\"m\":1,\"n\":2,\"o\":3}", 2},
        {"id \\d+ n {value}", "id 1 n 2", 2},
        {"took {value} ms", "took long", NONE},
        {"took {value} ms", "", NONE},
        {"x{value}", "1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 x3", NONE}, /* too many numbers */
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[1000];
        double value = NONE;
        (void)snprintf(text, sizeof text, HEAD ALIVE "collect: [ { name: n, line: '%s' } ]\n",
                       rows[i].pattern);
        struct plan p = load(text);
        bool found = plan_collect_line(&p.collects.at[0], slice_of(rows[i].line), &value);
        if (found == (bool)isnan(rows[i].value) || (found && fabs(value - rows[i].value) > 1e-9))
            fail_msg("row %zu: %d %g", i, found, value);
        plan_free(&p);
    }
}

static void test_keep(void **state)
{
    struct plan p = load(COLLECT("prometheus: http://h:1/m, keep: [^go_, x$]"));
    (void)state;
    assert_true(slice_is(p.collects.at[0].authority, "h:1") &&
                slice_is(p.collects.at[0].target, "/m"));
    assert_true(plan_collect_keeps(&p.collects.at[0], SLICE("go_gc")));
    assert_true(plan_collect_keeps(&p.collects.at[0], SLICE("ax")));
    assert_false(plan_collect_keeps(&p.collects.at[0], SLICE("xa")));
    plan_free(&p);
    p = load(COLLECT("prometheus: http://h"));
    assert_true(slice_is(p.collects.at[0].authority, "h:80") &&
                slice_is(p.collects.at[0].target, "/metrics"));
    assert_true(plan_collect_keeps(&p.collects.at[0], SLICE("xa")));
    plan_free(&p);
}

/* ---- series ---- */

static void test_bounds(void **state)
{
    struct plan_measures m = {0};
    double before = 0;
    char name[20], wide[PLAN_METRIC_BYTES + 10];
    (void)state;
    for (uint32_t i = 0; i < PLAN_SAMPLES_MAX + 7; i++)
        assert_non_null(plan_measure(&m, SLICE("x"), SLICE("a"), i, i, &before));
    assert_int_equal(m.list.at[0].samples.n, PLAN_SAMPLES_MAX);
    assert_int_equal(m.list.at[0].left_out, 7);
    assert_true(before > PLAN_SAMPLES_MAX + 4);
    assert_non_null(plan_measure(&m, SLICE("x"), SLICE("b"), 1, 1, &before));
    assert_true(isnan(before));
    memset(wide, 'w', sizeof wide);
    assert_non_null(plan_measure(&m, (slice){wide, sizeof wide}, SLICE(""), 1, 1, &before));
    assert_int_equal(m.list.at[2].name.n, PLAN_METRIC_BYTES);
    for (uint32_t i = 3; i < PLAN_SERIES_MAX + 5; i++) {
        (void)snprintf(name, sizeof name, "m%u", i);
        bool room = plan_measure(&m, slice_of(name), SLICE("a"), 1, 1, &before);
        assert_int_equal(room, i < PLAN_SERIES_MAX);
    }
    assert_int_equal(m.left_out, 5);
    plan_measures_deinit(&m);
}

/* Extremes stay where they were; what is outside of the run is left out. */
static void test_thin(void **state)
{
    struct plan_measures m = {0};
    struct plan_samples out = {0};
    double before;
    (void)state;
    for (int i = -50; i < 1050; i++)
        (void)plan_measure(&m, SLICE("x"), SLICE("a"), i,
                           i == 333   ? 99
                           : i == 334 ? -99
                                      : i % 7,
                           &before);
    plan_series_thin(&m.list.at[0], 0, 1000, 10, &out);
    assert_int_equal(out.n, 20);
    bool high = false, low = false;
    for (uint32_t i = 0; i < out.n; i++) {
        assert_true(out.at[i].at_ns >= 0 && out.at[i].at_ns < 1000);
        assert_true(i == 0 || out.at[i].at_ns > out.at[i - 1].at_ns);
        high = high || (out.at[i].at_ns == 333 && out.at[i].value > 98);
        low = low || (out.at[i].at_ns == 334 && out.at[i].value < -98);
    }
    assert_true(high && low);
    plan_series_thin(&m.list.at[0], 0, 1000, 500, &out);
    assert_int_equal(out.n, 1000); /* all of them */
    plan_series_thin(&m.list.at[0], 2000, 3000, 10, &out);
    assert_int_equal(out.n, 0);
    vec_deinit(&out);
    plan_measures_deinit(&m);
}

/* ---- what is expected ---- */

/* One sample a second, from 0 on; "7 8 9". A name of two letters is whose it is. */
static void add(struct plan_run *r, const char *of, const char *values)
{
    slice rest = slice_of(values), word;
    double value, before;
    for (int64_t i = 0; slice_word(&rest, &word); i++) {
        assert_true(slice_to_real(word, &value));
        assert_non_null(
            plan_measure(&r->measures, SLICE("x"), slice_of(of), SECONDS(i), value, &before));
    }
}

static struct plan_run *run_new(bool reference)
{
    struct plan_run *r = mem_zero(sizeof *r);
    r->reference = reference;
    r->to_ns = SECONDS(10);
    return r;
}

static void test_expected(void **state)
{
    static const struct {
        const char *expect, *a, *b;
        bool holds;
        const char *seen;
    } rows[] = {
        {"most: 3", "1 2 3", "", true, "a: 1 to 3"},
        {"most: 3", "1 2 3 4 5", "", false, "a: 1 to 5, above 3 first at 3s"},
        {"most: 3", "1 2", "4", false, "b: 4 to 4, above 3 first at 0s"},
        {"most: 3, of: a", "1 2", "4", true, "1 to 2"},
        {"most: 3", "1 2", "2 3", true, "a: 1 to 2; b: 2 to 3"},
        {"most: 3", "1 2 3 3 3 3 3 3 3 3 9", "", true, "a: 1 to 3"}, /* after the end */
        {"most: 3", "", "", false, "no sample"},
        {"most: 3, of: b", "1", "", false, "no sample"},
        {"least: 2", "3 2", "", true, "a: 2 to 3"},
        {"least: 2", "3 1", "", false, "a: 1 to 3, below 2 first at 1s"},
        {"equals: 0", "0 0", "", true, "a: 0 to 0"},
        {"equals: 0", "0 1", "", false, "a: 0 to 1, not 0 first at 1s"},
        {"growth: 1.5", "10 10 12 15", "", true,
         "a: at the end 15, at the beginning 10: 1.50 times"},
        {"growth: 1.4", "10 10 12 15", "", false,
         "a: at the end 15, at the beginning 10: 1.50 times"},
        {"growth: 1.4", "10 10 12", "", false, "a: too few samples (3; at least 4)"},
        {"growth: 2", "0 0 0 0", "", true, "a: at the end 0, at the beginning 0"},
        {"growth: 2", "0 0 0 1", "", false, "a: at the end 1, at the beginning 0"},
        {"ratio: 2", "1 2 3", "", false, "a: too few samples to compare (3; at least 10)"},
        {"ratio: 2", "1 1 1 1 1 1 1 1 1 1", "", true,
         "a: p50 is 0.25 times the reference (95 %: 0.25 to 0.25), effect size -1.00 (large)"},
        {"ratio: 2", "9 9 9 9 9 9 9 9 9 9", "", false,
         "a: p50 is 2.25 times the reference (95 %: 2.25 to 2.25), effect size 1.00 (large)"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[1000];
        (void)snprintf(text, sizeof text, HEAD "expect: [ { metric: x, %s } ]\n", rows[i].expect);
        struct plan p = load(text);
        struct plan_run *r = run_new(false), *reference = run_new(true);
        add(r, "a", rows[i].a);
        add(r, "b", rows[i].b);
        add(reference, "a", "4 4 4 4 4 4 4 4 4 4");
        plan_analyze(&p, r, &reference, 1);
        if (r->answers.at[0].holds != rows[i].holds ||
            !slice_is(r->answers.at[0].seen, rows[i].seen))
            fail_msg("row %zu: %d %.*s", i, r->answers.at[0].holds,
                     SLICE_ARG(r->answers.at[0].seen));
        plan_run_free(r);
        plan_run_free(reference);
        plan_free(&p);
    }
}

static void test_values(void **state)
{
    static const struct {
        const char *name;
        double value;
        const char *text;
    } rows[] = {{"memory", 12.5 * 1048576, "12.5M"},
                {"memory", 100, "100"},
                {"memory", 1024, "1.0K"},
                {"cpu", 0.123456, "0.1235"},
                {"x", 1048576, "1.049e+06"}};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(100);
        plan_add_value(&out, slice_of(rows[i].name), rows[i].value);
        assert_string_equal(buf_text(&out), rows[i].text);
        buf_deinit(&out);
    }
    struct plan p = load(EXPECT("metric: memory, most: 64M"));
    assert_true(p.expects.at[0].number > 67108863 && p.expects.at[0].number < 67108865);
    plan_free(&p);
}

/* ---- triggers ---- */

/* How often the bound was crossed before the fault is due; 0: it never is. */
static uint32_t fires_at(const char *trigger, const char *of, const char *values)
{
    char text[1000];
    (void)snprintf(text, sizeof text, TRIGGER("%s"), trigger);
    struct plan p = load(text);
    struct schedule *s = schedule_new(&p, 1);
    struct schedule_action a;
    slice rest = slice_of(values), word;
    double value, before = NONE;
    uint32_t found = 0;
    schedule_start(s);
    for (uint32_t i = 1; slice_word(&rest, &word) && !found; i++, before = value) {
        assert_true(slice_to_real(word, &value));
        schedule_metric(s, i, plan_node(&p, slice_of(of)), SLICE("x"), slice_of(of), value, before);
        if (schedule_take(s, i, &a)) {
            found = i;
            assert_int_equal(a.trigger_node, plan_node(&p, slice_of(of)));
        }
    }
    schedule_free(s);
    plan_free(&p);
    return found;
}

static void test_metric_trigger(void **state)
{
    (void)state;
    assert_int_equal(fires_at("metric: x, above: 5", "a", "1 5 6 7"), 3);
    assert_int_equal(fires_at("metric: x, above: 5", "a", "6"), 1);
    assert_int_equal(fires_at("metric: x, above: 5, nth: 2", "a", "6 7 8 4 9"), 5);
    assert_int_equal(fires_at("metric: x, below: 5", "a", "9 5 4"), 3);
    assert_int_equal(fires_at("metric: x, above: 5, of: b", "a", "9 9"), 0);
    assert_int_equal(fires_at("metric: x, above: 5, of: b", "b", "9 9"), 1);
    assert_int_equal(fires_at("metric: y, above: 5", "a", "9 9"), 0);
}

static void test_span_trigger(void **state)
{
    static const struct {
        const char *span;
        bool fires;
    } rows[] = {{"shop GET /pay", true}, {"shop GET *", true}, {"*", true}, {"GET /pay", false}};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[1000];
        struct schedule_action a;
        (void)snprintf(text, sizeof text, TRIGGER("span: '%s'") OTLP, rows[i].span);
        struct plan p = load(text);
        struct schedule *s = schedule_new(&p, 1);
        schedule_start(s);
        schedule_span(s, 1, plan_node(&p, SLICE("b")), SLICE("shop GET /pay"));
        assert_int_equal(schedule_take(s, 1, &a), rows[i].fires);
        assert_true(!rows[i].fires || a.trigger_node == 1);
        schedule_free(s);
        plan_free(&p);
    }
}

/* A call of a trace becomes a trigger, once. */
static void test_derived(void **state)
{
    struct plan p =
        load(HEAD ALIVE OTLP "explore: { slots: 0, faults: [ { fault: { type: kill } } ] }\n");
    struct derive *d = derive_new(&p);
    const struct sight s = {SIGHT_SPAN, PLAN_NONE, PLAN_NONE, SLICE("shop GET /pay"), {0}, 0};
    const struct sight own = {SIGHT_SPAN, 1, PLAN_NONE, SLICE("b GET /pay"), {0}, 0};
    const struct candidate *c;
    uint32_t n = 0;
    (void)state;
    assert_true(derive_see(d, NULL, &s));
    assert_false(derive_see(d, NULL, &s));
    while ((c = derive_next(d))) {
        struct plan q;
        struct err e = {0};
        assert_int_equal(plan_with_events(&q, &p, c->events, &e), 0);
        assert_int_equal(q.events.at[0].trigger.kind, TRIGGER_SPAN);
        assert_true(slice_is(c->why, "a service tells of \"shop GET /pay\""));
        plan_free(&q);
        n++;
    }
    assert_int_equal(n, 2); /* of each node */
    assert_true(derive_see(d, NULL, &own));
    assert_non_null(c = derive_next(d));
    assert_true(slice_is(c->why, "a service tells of \"b GET /pay\""));
    assert_null(derive_next(d)); /* of the node that it is */
    derive_free(d);
    plan_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_lines),
        cmocka_unit_test(test_keep),         cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_thin),         cmocka_unit_test(test_expected),
        cmocka_unit_test(test_values),       cmocka_unit_test(test_metric_trigger),
        cmocka_unit_test(test_span_trigger), cmocka_unit_test(test_derived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
