/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging runs of plans: each kind of expectation where it holds and where it does not, the words
 * for it, and that chance alone seldom makes a slowdown. */
#include <stdio.h>

#include "base/clock.h"
#include "base/random.h"
#include "plan/result.h"
#include "support/unit.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))

/* ---- plans and runs by hand ---- */

static struct plan *plan_new(void)
{
    struct plan *p = mem_zero(sizeof *p);
    p->seed = 1;
    vec_push(&p->nodes, (struct plan_node){.name = SLICE("redis1")});
    vec_push(&p->nodes, (struct plan_node){.name = SLICE("redis2")});
    vec_push(&p->clients, (struct plan_client){.name = SLICE("writer")});
    vec_push(&p->clients, (struct plan_client){.name = SLICE("reader")});
    return p;
}

static void plan_done(struct plan *p)
{
    vec_deinit(&p->nodes);
    vec_deinit(&p->clients);
    vec_deinit(&p->expects);
    arena_deinit(&p->arena);
    mem_free(p);
}

/* Ten seconds of it. */
static struct plan_run *run_new(bool reference)
{
    struct plan_run *r = mem_zero(sizeof *r);
    r->reference = reference;
    r->to_ns = SECONDS(10);
    return r;
}

/* One word per operation, [client]ok|no@end[/took], in milliseconds: "ok@100/20 1no@250". An
 * operation without a client is of the first, and takes 10 ms. */
static void add_ops(struct plan_run *r, const char *text)
{
    slice rest = slice_of(text), word;
    while (slice_word(&rest, &word)) {
        struct plan_op op = {.took_ns = MS(10)};
        uint64_t number;
        slice end, took;
        if (is_digit(word.p[0])) {
            op.client = (uint32_t)(word.p[0] - '0');
            word = slice_from(word, 1);
        }
        op.ok = word.p[0] == 'o';
        took = slice_from(word, 3);
        assert_true(slice_cut(&took, '/', &end));
        assert_true(slice_to_u64(end, 1000000, &number));
        op.at_ns = MS((int64_t)number);
        if (took.p) {
            assert_true(slice_to_u64(took, 1000000, &number));
            op.took_ns = MS((int64_t)number);
        }
        vec_push(&r->ops, op);
    }
}

/* The answer to the plan's only expectation. */
static struct plan_answer only_answer(const struct plan *p, struct plan_run *r,
                                      struct plan_run *const *references, uint32_t n)
{
    plan_analyze(p, r, references, n);
    assert_int_equal(r->answers.n, 1);
    assert_int_equal(r->answers.at[0].expect, 0);
    return r->answers.at[0];
}

static bool is_as_told(const char *what, struct plan_answer answer, bool holds, const char *seen)
{
    if (answer.holds == holds && slice_is(answer.seen, seen))
        return true;
    print_message("%s: %s: %.*s\n", what, answer.holds ? "holds" : "does not hold",
                  SLICE_ARG(answer.seen));
    return false;
}

/* ---- operations ---- */

static const struct row {
    const char *what;
    struct plan_expect expect;
    const char *ops;
    struct {
        int64_t end_ms; /* of a fault; 0: there is none, -1: it lasts */
        bool failed;
    } spells[2];
    bool holds;
    const char *seen;
} rows[] = {
    {"availability",
     {.kind = EXPECT_AVAILABILITY, .number = 75, .client = PLAN_NONE},
     "ok@1 ok@2 no@3 ok@4",
     {{0}},
     true,
     "75 % of 4 operations, 1 failed"},
    {"availability, less",
     {.kind = EXPECT_AVAILABILITY, .number = 75.01, .client = PLAN_NONE},
     "ok@1 ok@2 no@3 ok@4",
     {{0}},
     false,
     "75 % of 4 operations, 1 failed"},
    {"availability, thirds",
     {.kind = EXPECT_AVAILABILITY, .number = 66, .client = PLAN_NONE},
     "ok@1 no@2 ok@3",
     {{0}},
     true,
     "66.66 % of 3 operations, 1 failed"},
    {"availability, one",
     {.kind = EXPECT_AVAILABILITY, .number = 100, .client = PLAN_NONE},
     "ok@1",
     {{0}},
     true,
     "100 % of 1 operation"},
    {"availability, all fail",
     {.kind = EXPECT_AVAILABILITY, .number = 1, .client = PLAN_NONE},
     "no@1 no@2",
     {{0}},
     false,
     "0 % of 2 operations, 2 failed"},
    {"availability, none",
     {.kind = EXPECT_AVAILABILITY, .number = 0, .client = PLAN_NONE},
     "",
     {{0}},
     false,
     "no operation ended"},
    {"availability, of a client",
     {.kind = EXPECT_AVAILABILITY, .number = 100, .client = 1},
     "0no@1 1ok@2 0no@3 1ok@4",
     {{0}},
     true,
     "100 % of 2 operations"},
    {"availability, of the other",
     {.kind = EXPECT_AVAILABILITY, .number = 1, .client = 0},
     "0no@1 1ok@2 0no@3 1ok@4",
     {{0}},
     false,
     "0 % of 2 operations, 2 failed"},
    {"availability, bounds",
     {.kind = EXPECT_AVAILABILITY, .number = 100, .client = PLAN_NONE},
     "ok@0 ok@9999 no@10000 no@10001",
     {{0}},
     true,
     "100 % of 2 operations"},

    {"lost",
     {.kind = EXPECT_LOST, .number = 1, .client = PLAN_NONE},
     "ok@1 no@2 ok@3",
     {{0}},
     true,
     "1 of 3 operations failed"},
    {"lost, more",
     {.kind = EXPECT_LOST, .number = 0, .client = PLAN_NONE},
     "no@2",
     {{0}},
     false,
     "1 of 1 operation failed"},
    {"lost, none",
     {.kind = EXPECT_LOST, .number = 5, .client = PLAN_NONE},
     "",
     {{0}},
     false,
     "no operation ended"},
    {"lost, only outside",
     {.kind = EXPECT_LOST, .number = 5, .client = PLAN_NONE},
     "ok@10000",
     {{0}},
     false,
     "no operation ended"},

    {"gap between",
     {.kind = EXPECT_GAP, .most_ns = MS(4000), .client = PLAN_NONE},
     "ok@3000 no@5000 ok@7000",
     {{0}},
     true,
     "longest time without a success: 4s, from 3s to 7s"},
    {"gap, longer",
     {.kind = EXPECT_GAP, .most_ns = MS(1199), .client = PLAN_NONE},
     "ok@500 ok@1500 ok@2500 ok@3100 no@4000 ok@4300 ok@5400 ok@6500 ok@7600 ok@8700 ok@9500",
     {{0}},
     false,
     "longest time without a success: 1.2s, from 3.1s to 4.3s"},
    {"gap, at first",
     {.kind = EXPECT_GAP, .most_ns = MS(6000), .client = PLAN_NONE},
     "ok@6000",
     {{0}},
     true,
     "longest time without a success: 6s, from 0s to 6s"},
    {"gap, at last",
     {.kind = EXPECT_GAP, .most_ns = MS(5999), .client = PLAN_NONE},
     "ok@4000",
     {{0}},
     false,
     "longest time without a success: 6s, from 4s to 10s"},
    {"gap, all fail",
     {.kind = EXPECT_GAP, .most_ns = MS(9999), .client = PLAN_NONE},
     "no@1000 no@9000",
     {{0}},
     false,
     "longest time without a success: 10s, from 0s to 10s"},
    {"gap, nothing",
     {.kind = EXPECT_GAP, .most_ns = MS(9999), .client = PLAN_NONE},
     "",
     {{0}},
     false,
     "longest time without a success: 10s, from 0s to 10s"},
    {"gap, of a client",
     {.kind = EXPECT_GAP, .most_ns = MS(5000), .client = 1},
     "0ok@1000 1ok@5000 0ok@9000",
     {{0}},
     true,
     "longest time without a success: 5s, from 0s to 5s"},

    {"recovery",
     {.kind = EXPECT_RECOVERY, .most_ns = MS(350), .client = PLAN_NONE},
     "ok@1000 no@4100 ok@4350",
     {{2000, false}, {4000, false}},
     true,
     "first success 350ms after the last fault, which ended at 4s"},
    {"recovery, the later end counts",
     {.kind = EXPECT_RECOVERY, .most_ns = MS(349), .client = PLAN_NONE},
     "ok@3000 no@4100 ok@4350",
     {{4000, false}, {2000, false}},
     false,
     "first success 350ms after the last fault, which ended at 4s"},
    {"recovery, begun before",
     {.kind = EXPECT_RECOVERY, .most_ns = MS(500), .client = PLAN_NONE},
     "ok@4100/200 ok@4400/400",
     {{4000, false}},
     true,
     "first success 400ms after the last fault, which ended at 4s"},
    {"recovery, never",
     {.kind = EXPECT_RECOVERY, .most_ns = MS(9000), .client = PLAN_NONE},
     "ok@1000 no@5000 ok@4100/200",
     {{4000, false}},
     false,
     "no success after the last fault, which ended at 4s"},
    {"recovery, fault to the end",
     {.kind = EXPECT_RECOVERY, .most_ns = MS(9000), .client = PLAN_NONE},
     "ok@5000",
     {{-1, false}},
     false,
     "the last fault lasted until the end of the run"},
    {"recovery, fault to just the end",
     {.kind = EXPECT_RECOVERY, .most_ns = MS(9000), .client = PLAN_NONE},
     "ok@5000",
     {{10000, false}},
     false,
     "the last fault lasted until the end of the run"},
    {"recovery, no fault",
     {.kind = EXPECT_RECOVERY, .most_ns = 0, .client = PLAN_NONE},
     "no@1",
     {{0}},
     true,
     "no fault"},
    {"recovery, none began",
     {.kind = EXPECT_RECOVERY, .most_ns = 0, .client = PLAN_NONE},
     "no@1",
     {{4000, true}},
     true,
     "no fault"},

    {"latency",
     {.kind = EXPECT_LATENCY, .percentile = 50, .most_ns = MS(20), .client = PLAN_NONE},
     "ok@1/10 ok@2/20 no@3/1 ok@4/900",
     {{0}},
     true,
     "p50 of 3 operations is 20ms"},
    {"latency, more",
     {.kind = EXPECT_LATENCY, .percentile = 99.9, .most_ns = MS(899), .client = PLAN_NONE},
     "ok@1/10 ok@2/20 no@3/1 ok@4/900",
     {{0}},
     false,
     "p99.9 of 3 operations is 900ms"},
    {"latency, one",
     {.kind = EXPECT_LATENCY, .percentile = 99, .most_ns = MS(10), .client = PLAN_NONE},
     "ok@1",
     {{0}},
     true,
     "p99 of 1 operation is 10ms"},
    {"latency, all fail",
     {.kind = EXPECT_LATENCY, .percentile = 50, .most_ns = MS(99), .client = PLAN_NONE},
     "no@1 no@2",
     {{0}},
     false,
     "no operation succeeded"},

    {"alive", {.kind = EXPECT_ALIVE}, "", {{0}}, true, "no node ended"},
    {"command, not run", {.kind = EXPECT_COMMAND}, "", {{0}}, false, "was not run"},
};

static void test_operations(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct plan *p = plan_new();
        struct plan_run *r = run_new(false);
        vec_push(&p->expects, rows[i].expect);
        add_ops(r, rows[i].ops);
        for (size_t k = 0; k < LENGTH(rows[i].spells) && rows[i].spells[k].end_ms; k++) {
            int64_t end = rows[i].spells[k].end_ms;
            struct plan_spell spell = {.end_ns = end < 0 ? INT64_MAX : MS(end)};
            spell.failed = rows[i].spells[k].failed ? SLICE("no such node") : SLICE("");
            vec_push(&spell.nodes, 0);
            vec_push(&r->spells, spell);
        }
        struct plan_answer answer = only_answer(p, r, NULL, 0);
        wrong += !is_as_told(rows[i].what, answer, rows[i].holds, rows[i].seen);
        plan_run_free(r);
        plan_done(p);
    }
    assert_int_equal(wrong, 0);
}

/* ---- nodes and commands ---- */

static void test_alive(void **state)
{
    static const struct {
        struct plan_death deaths[2];
        uint32_t n;
        const char *seen;
    } deaths[] = {
        {{{0, MS(3200), 1 << 8}}, 1, "redis1 ended with exit code 1 at 3.2s"},
        {{{1, MS(3), 11}, {0, MS(5), 0}}, 2, "redis2 was killed by signal 11 at 3ms, and 1 more"},
        {{{1, -MS(1500), 0}}, 1, "redis2 ended with exit code 0 at -1.5s"},
        {{{1, 0, 0}}, 1, "redis2 ended with exit code 0 at 0s"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(deaths); i++) {
        struct plan *p = plan_new();
        struct plan_run *r = run_new(false);
        vec_push(&p->expects, (struct plan_expect){.kind = EXPECT_ALIVE});
        for (uint32_t k = 0; k < deaths[i].n; k++)
            vec_push(&r->deaths, deaths[i].deaths[k]);
        assert_true(is_as_told("alive", only_answer(p, r, NULL, 0), false, deaths[i].seen));
        plan_run_free(r);
        plan_done(p);
    }
}

static void test_command(void **state)
{
    struct plan *p = plan_new();
    struct plan_run *r = run_new(false);
    (void)state;
    for (int i = 0; i < 4; i++)
        vec_push(&p->expects, (struct plan_expect){.kind = EXPECT_COMMAND});
    vec_push(&r->checks, (struct plan_check){2, false, SLICE("3 keys are missing")});
    vec_push(&r->checks, (struct plan_check){1, true, SLICE("")});
    vec_push(&r->checks, (struct plan_check){3, false, SLICE("")});
    plan_analyze(p, r, NULL, 0);
    assert_int_equal(r->answers.n, 4);
    assert_true(is_as_told("not run", r->answers.at[0], false, "was not run"));
    assert_true(is_as_told("silent", r->answers.at[1], true, "succeeded"));
    assert_true(is_as_told("says why", r->answers.at[2], false, "3 keys are missing"));
    assert_true(is_as_told("silent failure", r->answers.at[3], false, "failed"));
    plan_run_free(r);
    plan_done(p);
}

/* ---- lines ---- */

static void test_shapes(void **state)
{
    static const char *const shapes[][2] = {
        {"", ""},
        {"ready", "ready"},
        {"took 12 ms", "took # ms"},
        {"2024-01-02T03:04:05.678Z x", "#-#-#T#:#:#.#Z x"},
        {"at 0xdeadbeef", "at #x#"},
        {"a1b2", "a#b#"},
        {"DEADBEEF", "#"},
        {"deadbee", "deadbee"},
        {"deadbee1x", "#x"},
        {"feed face 7", "feed face #"},
        {"id 550e8400-e29b-41d4-a716-446655440000.", "id #."},
        {"12345678-abc", "#-abc"},
        {"# 5", "# #"},
        {"12345678901234567890", "#"},
        {"gr\xc3\xbc\xc3\x9f"
         "e 9",
         "gr\xc3\xbc\xc3\x9f"
         "e #"},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        slice shape = plan_line_shape(&a, slice_of(shapes[i][0]));
        assert_string_equal(shape.p, shapes[i][1]);
        assert_true(slice_eq(plan_line_shape(&a, shape), shape));
    }
    arena_deinit(&a);
}

static void add_lines(struct plan_run *r, const char *text)
{
    slice rest = slice_of(text), line;
    while (slice_cut(&rest, '\n', &line))
        vec_push(&r->lines, (struct plan_line){.text = line, .client = PLAN_NONE});
}

#define TENS "x---------x---------x---------x---------x---------x---------x---------"

static void test_new_lines(void **state)
{
    static const struct {
        const char *lines;
        double number;
        bool holds;
        const char *seen;
    } lines[] = {
        {"error 7 of 9\nall is well", 0, true, "no new line"},
        {"error: lost", 0, false, "1 new line: redis1: error: lost"},
        {"error: lost 1\nerror 9 of 8\nerror: lost 2\nno error", 2, true,
         "2 new lines, the first: redis1: error: lost 1"},
        {"error: lost 1\nno error", 1, false, "2 new lines, the first: redis1: error: lost 1"},
        {"error: the other reference", 0, true, "no new line"},
        {"error: broken", 0, false, "1 new line: redis1: error: broken"},
        {"error " TENS "1234", 0, false, "1 new line: redis1: error " TENS "1234"},
        {"error " TENS "12345", 0, false, "1 new line: redis1: error " TENS "1234..."},
        {"error " TENS "123\xc3\xbc"
         "5",
         0, false, "1 new line: redis1: error " TENS "123..."},
    };
    struct plan *p = plan_new();
    struct plan_run *references[] = {run_new(true), run_new(true), run_new(true)};
    struct err e = {0};
    int wrong = 0;
    (void)state;
    vec_push(&p->expects, (struct plan_expect){.kind = EXPECT_NEW_LINES, .client = PLAN_NONE});
    assert_int_equal(regex_parse(SLICE("error"), &p->arena, &p->expects.at[0].regex, &e), 0);
    add_lines(references[0], "error 1 of 2");
    add_lines(references[1], "error: the other reference\nerror 3 of 4");
    add_lines(references[2], "error: broken");
    references[2]->broken = SLICE("redis1 did not start");
    for (size_t i = 0; i < LENGTH(lines); i++) {
        struct plan_run *r = run_new(false);
        add_lines(r, lines[i].lines);
        p->expects.at[0].number = lines[i].number;
        struct plan_answer answer = only_answer(p, r, references, 3);
        wrong += !is_as_told(lines[i].lines, answer, lines[i].holds, lines[i].seen);
        plan_run_free(r);
    }
    assert_int_equal(wrong, 0);
    struct plan_answer own = only_answer(p, references[0], NULL, 0);
    assert_true(is_as_told("reference", own, true, "is a reference"));
    for (size_t i = 0; i < LENGTH(references); i++)
        plan_run_free(references[i]);
    plan_done(p);
}

/* ---- statistics ---- */

static void test_percentile(void **state)
{
    static const struct {
        uint32_t n;
        double percentile;
        int64_t is;
    } places[] = {
        {1, 0, 1},       {1, 50, 1},      {1, 100, 1},       {2, 50, 1},          {2, 50.1, 2},
        {4, 25, 1},      {4, 26, 2},      {10, 0, 1},        {10, 90, 9},         {10, 99, 10},
        {10, 100, 10},   {10, 150, 10},   {10, -5, 1},       {100, 99, 99},       {100, 99.5, 100},
        {1000, 50, 500}, {1000, 99, 990}, {1000, 99.9, 999}, {1000, 99.99, 1000},
    };
    int64_t sorted[1000];
    (void)state;
    for (int i = 0; i < 1000; i++)
        sorted[i] = i + 1;
    for (size_t i = 0; i < LENGTH(places); i++)
        assert_int_equal(plan_percentile(sorted, places[i].n, places[i].percentile), places[i].is);
}

/* Successes whose times are skewed to the right, as those of services are, times `factor`. */
static struct plan_run *sampled(bool reference, uint64_t seed, uint32_t n, double factor)
{
    struct plan_run *r = run_new(reference);
    struct rng rng = {seed};
    for (uint32_t i = 0; i < n; i++) {
        double x = 1 + rng_below(&rng, 1000) / 1000.0, y = 1 + rng_below(&rng, 1000) / 1000.0;
        int64_t took = (int64_t)(1e6 * factor * x * y * y * y);
        vec_push(&r->ops, (struct plan_op){.at_ns = i, .took_ns = took, .ok = true});
    }
    return r;
}

/* How many of 50 comparisons say that the run is slower. Two references make the other side. */
static uint32_t alarms(double percentile, uint32_t n, double factor, double number)
{
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct plan *p = plan_new();
        struct plan_run *references[] = {sampled(true, 3 * seed, n, 1),
                                         sampled(true, 3 * seed + 1, n, 1)};
        struct plan_run *r = sampled(false, 3 * seed + 2, n, factor);
        p->seed = seed;
        vec_push(&p->expects, (struct plan_expect){.kind = EXPECT_SLOWDOWN,
                                                   .percentile = percentile,
                                                   .number = number,
                                                   .client = PLAN_NONE});
        found += !only_answer(p, r, references, 2).holds;
        plan_run_free(r);
        plan_run_free(references[0]);
        plan_run_free(references[1]);
        plan_done(p);
    }
    return found;
}

static void test_chance(void **state)
{
    static const struct {
        double percentile;
        uint32_t n;
        double factor, number;
        uint32_t least, most; /* alarms of 50 */
    } samples[] = {
        {50, 200, 1, 1, 0, 5},        /* one distribution */
        {50, 5000, 1, 1, 0, 5},       /* thinned */
        {95, 200, 1, 1, 0, 5},        /* its tail */
        {50, 10, 1, 1, 0, 5},         /* the least that is compared */
        {50, 200, 1.5, 1, 50, 50},    /* slower */
        {50, 200, 1.5, 2, 0, 0},      /* but less than is allowed */
        {50, 5000, 1.3, 1.1, 50, 50}, /* thinned */
        {95, 500, 2, 1.5, 50, 50},

        {50, 200, 0.5, 1, 0, 0}, /* faster */
    };
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(samples); i++) {
        uint32_t found =
            alarms(samples[i].percentile, samples[i].n, samples[i].factor, samples[i].number);
        if (found >= samples[i].least && found <= samples[i].most)
            continue;
        print_message("p%g, %u operations, factor %g: %u alarms\n", samples[i].percentile,
                      samples[i].n, samples[i].factor, found);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void test_slowdown_words(void **state)
{
    static const struct {
        const char *what;
        uint32_t n, n_reference;
        int64_t took_ms, reference_ms;
        bool holds;
        const char *seen;
    } words[] = {
        {"few", 7, 20, 10, 10, false, "too few operations to compare (7; at least 10)"},
        {"few references", 20, 9, 10, 10, false,
         "too few operations to compare (9 in the references; at least 10)"},
        {"none", 0, 0, 10, 10, false, "too few operations to compare (0; at least 10)"},
        {"equal", 10, 10, 10, 10, true,
         "p50 is 1.00 times the reference (95 %: 1.00 to 1.00), effect size 0.00 (negligible)"},
        {"slower", 10, 10, 30, 10, false,
         "p50 is 3.00 times the reference (95 %: 3.00 to 3.00), effect size 1.00 (large)"},
        {"faster", 10, 10, 5, 10, true,
         "p50 is 0.50 times the reference (95 %: 0.50 to 0.50), effect size -1.00 (large)"},
        {"no time at all", 10, 10, 0, 0, true,
         "p50 is 1.00 times the reference (95 %: 1.00 to 1.00), effect size 0.00 (negligible)"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(words); i++) {
        struct plan *p = plan_new();
        struct plan_run *r = run_new(false), *reference = run_new(true);
        vec_push(&p->expects,
                 (struct plan_expect){
                     .kind = EXPECT_SLOWDOWN, .percentile = 50, .number = 2, .client = PLAN_NONE});
        for (uint32_t k = 0; k < words[i].n; k++)
            vec_push(&r->ops, (struct plan_op){k, MS(words[i].took_ms), 0, true});
        for (uint32_t k = 0; k < words[i].n_reference; k++)
            vec_push(&reference->ops, (struct plan_op){k, MS(words[i].reference_ms), 0, true});
        struct plan_answer answer = only_answer(p, r, &reference, 1);
        assert_true(is_as_told(words[i].what, answer, words[i].holds, words[i].seen));
        answer = only_answer(p, reference, NULL, 0);
        assert_true(is_as_told("reference", answer, true, "is a reference"));
        plan_run_free(r);
        plan_run_free(reference);
        plan_done(p);
    }
}

/* A reference that is broken, an operation that fails or is of another client: not compared. */
static void test_not_compared(void **state)
{
    struct plan *p = plan_new();
    struct plan_run *references[] = {sampled(true, 1, 100, 1), sampled(true, 2, 100, 50)};
    struct plan_run *r = sampled(false, 3, 100, 50);
    (void)state;
    vec_push(&p->expects, (struct plan_expect){
                              .kind = EXPECT_SLOWDOWN, .percentile = 90, .number = 2, .client = 0});
    assert_true(only_answer(p, r, references, 2).holds);
    references[1]->broken = SLICE("redis1 did not start");
    assert_false(only_answer(p, r, references, 2).holds);
    for (uint32_t i = 0; i < 100; i++) {
        r->ops.at[i].ok = i % 2;
        r->ops.at[i].client = i < 82;
    }
    assert_true(is_as_told("rest", only_answer(p, r, references, 2), false,
                           "too few operations to compare (9; at least 10)"));
    plan_run_free(r);
    plan_run_free(references[0]);
    plan_run_free(references[1]);
    plan_done(p);
}

/* ---- the whole ---- */

static void test_again(void **state)
{
    struct plan *p = plan_new();
    struct plan_run *reference = sampled(true, 1, 3000, 1);
    struct plan_run *a = sampled(false, 2, 3000, 1.3), *b = sampled(false, 2, 3000, 1.3);
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        vec_push(&p->expects, rows[i].expect);
    for (int i = 0; i < 3; i++)
        vec_push(&p->expects, (struct plan_expect){.kind = EXPECT_SLOWDOWN,
                                                   .percentile = 50 + 24.5 * i,
                                                   .number = 1,
                                                   .client = PLAN_NONE});
    plan_analyze(p, a, &reference, 1);
    plan_analyze(p, b, &reference, 1);
    plan_analyze(p, b, &reference, 1); /* in place of the answers before */
    assert_int_equal(a->answers.n, p->expects.n);
    assert_int_equal(b->answers.n, p->expects.n);
    for (uint32_t i = 0; i < a->answers.n; i++) {
        assert_int_equal(a->answers.at[i].holds, b->answers.at[i].holds);
        assert_true(slice_eq(a->answers.at[i].seen, b->answers.at[i].seen));
    }
    plan_run_free(a);
    plan_run_free(b);
    plan_run_free(reference);
    plan_done(p);
}

static void test_truncated(void **state)
{
    struct plan *p = plan_new();
    struct plan_run *r = run_new(false);
    (void)state;
    vec_push(&p->expects, (struct plan_expect){.kind = EXPECT_LOST, .client = PLAN_NONE});
    vec_push(&p->expects, (struct plan_expect){.kind = EXPECT_ALIVE});
    add_ops(r, "ok@1");
    r->truncated = true;
    plan_analyze(p, r, NULL, 0);
    assert_true(is_as_told("lost", r->answers.at[0], true,
                           "0 of 1 operation failed (of what was kept; there was more)"));
    assert_true(is_as_told("alive", r->answers.at[1], true, "no node ended"));
    plan_run_free(r);
    plan_done(p);
}

static void test_run_holds(void **state)
{
    struct plan_result result = {0};
    struct plan_run *r = run_new(false);
    (void)state;
    vec_push(&result.runs, r);
    vec_push(&result.runs, run_new(true));
    assert_true(plan_run_holds(r));
    vec_push(&r->answers, (struct plan_answer){.holds = true});
    vec_push(&r->answers, (struct plan_answer){.holds = true});
    vec_push(&r->spells, (struct plan_spell){.end_ns = 1});
    assert_true(plan_run_holds(r));
    r->answers.at[0].holds = false;
    assert_false(plan_run_holds(r));
    r->answers.at[0].holds = true;
    r->spells.at[0].failed = SLICE("no such node");
    assert_false(plan_run_holds(r));
    r->spells.at[0].failed = SLICE("");
    r->broken = SLICE("redis1 did not start");
    assert_false(plan_run_holds(r));
    plan_result_deinit(&result);
    assert_int_equal(result.runs.n, 0);
    plan_result_deinit(&result);
    plan_run_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),   cmocka_unit_test(test_alive),
        cmocka_unit_test(test_command),      cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_new_lines),    cmocka_unit_test(test_percentile),
        cmocka_unit_test(test_chance),       cmocka_unit_test(test_slowdown_words),
        cmocka_unit_test(test_not_compared), cmocka_unit_test(test_again),
        cmocka_unit_test(test_truncated),    cmocka_unit_test(test_run_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
