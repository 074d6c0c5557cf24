/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded search keeps what it ran and not what it left out: counted in edges and faultloads, the
 * two things that it would keep. The figures are exact all the same, and explain knows why. */
#include "support/lab.h"
#include "support/unit.h"

enum { MODES = 3 };

struct kept {
    uint64_t runs, calls, edges, faultloads, left_out;
};

static struct search *explore(struct lab *lab, struct search_options options, struct kept *out)
{
    struct search_stats stats;
    options.baselines = 1;
    uint32_t before = lab->fl.rows.n;
    struct search *s = lab_explore(lab, &options, 0);
    search_stats(s, &stats);
    assert_true(stats.complete);
    *out = (struct kept){.runs = stats.runs,
                         .calls = stats.runs * (lab->trace.calls.n - 1),
                         .edges = stats.edges,
                         .faultloads = lab->fl.rows.n - before};
    for (enum reduction r = 0; r < REDUCTIONS; r++)
        out->left_out += stats.skipped[r];
    return s;
}

/* At most an edge for each call of each run, and for each mode of the calls of the first. */
static void check_kept(const struct kept *kept, uint32_t n)
{
    assert_true(kept->edges <= kept->calls + (uint64_t)n * MODES);
    assert_true(kept->left_out > kept->calls);
}

static void test_max_faults(void **state)
{
    (void)state;
    for (uint32_t n = 50; n <= 200; n *= 2) {
        struct lab lab;
        struct kept kept;
        lab_init_many(&lab, n, "500, 503, reset", false);
        struct search_options options = lab_options(&lab);
        options.assume = 1u << REDUCE_MAX_FAULTS;
        options.max_faults = 1;
        search_free(explore(&lab, options, &kept));
        assert_int_equal(kept.runs, 1 + n * MODES);
        assert_int_equal(kept.faultloads, n * MODES);
        assert_int_equal(kept.left_out, (uint64_t)n * (n - 1) / 2 * MODES * MODES);
        check_kept(&kept, n);
        lab_deinit(&lab);
    }
}

/* Answers that no mode gives are left out in the same way. */
static void test_answers(void **state)
{
    (void)state;
    struct lab lab;
    struct kept kept;
    uint32_t n = 60;
    lab_init_many(&lab, n, "500, 503, reset", true);
    struct search_options options = lab_options(&lab);
    options.assume = 1u << REDUCE_MAX_FAULTS;
    options.max_faults = 1;
    search_free(explore(&lab, options, &kept));
    assert_int_equal(kept.runs, 1 + 2 * n * MODES);
    assert_int_equal(kept.faultloads, 2 * n * MODES);
    /* after each of 4 outcomes of a call, 4 others of each later one: 3 modes and the 404 */
    assert_int_equal(kept.left_out, (uint64_t)n * (n - 1) / 2 * 4 * 4);
    lab_deinit(&lab);
}

static void test_modes(void **state)
{
    (void)state;
    struct lab lab;
    struct kept kept;
    uint32_t n = 60;
    lab_init_many(&lab, n, "500, 503, reset", false);
    struct search_options options = lab_options(&lab);
    options.assume = 1u << REDUCE_MODES | 1u << REDUCE_MAX_FAULTS;
    options.max_faults = 1;
    search_free(explore(&lab, options, &kept));
    assert_int_equal(kept.faultloads, n * MODES);
    check_kept(&kept, n);
    lab_deinit(&lab);
}

static void test_t_way(void **state)
{
    (void)state;
    struct lab lab;
    struct kept kept;
    uint32_t n = 120;
    lab_init_many(&lab, n, "500, 503, reset", false);
    struct search_options options = lab_options(&lab);
    options.assume = 1u << REDUCE_T_WAY;
    options.t_way = 2;
    search_free(explore(&lab, options, &kept));
    check_kept(&kept, n);
    assert_true(kept.faultloads < n * MODES + 100 * n); /* single faults, and the rows' */
    lab_deinit(&lab);
}

/* Half of what is left out is run after all: it is made when it is drawn. */
static void test_audit(void **state)
{
    (void)state;
    struct lab lab;
    struct kept kept;
    struct search_stats stats;
    lab_init_many(&lab, 12, "500, 503, reset", false);
    struct search_options options = lab_options(&lab);
    options.assume = 1u << REDUCE_MAX_FAULTS;
    options.max_faults = 1;
    options.audit = 50;
    struct search *s = explore(&lab, options, &kept);
    search_stats(s, &stats);
    assert_int_equal(stats.skipped[REDUCE_MAX_FAULTS], 66 * MODES * MODES);
    assert_in_range(stats.audited, 200, 400);
    search_free(s);
    lab_deinit(&lab);
}

static faultload parse(struct lab *lab, const char *text)
{
    struct err e = {0};
    faultload f = FAULTLOAD_EMPTY;
    if (faultload_parse(&lab->names, &lab->fl, slice_of(text), &f, &e))
        fail_msg("%s", e.text);
    return f;
}

static void test_explain(void **state)
{
    (void)state;
    struct lab lab;
    struct kept kept;
    struct explanation why;
    lab_init_many(&lab, 20, "500, 503, reset", true);
    struct search_options options = lab_options(&lab);
    options.assume = 1u << REDUCE_MAX_FAULTS;
    options.max_faults = 1;
    struct search *s = explore(&lab, options, &kept);
    search_explain(s, parse(&lab, "top GET / > s3 GET / : 500 & top GET / > s7 GET / : 503"), &why);
    assert_int_equal(why.kind, EXPLAIN_REDUCED);
    assert_string_equal(why.reduction, "max-faults");
    search_explain(
        s,
        parse(&lab,
              "top GET / > s3 GET / > d3 GET / : 500 & top GET / > s7 GET / > d7 GET / : reset"),
        &why);
    assert_int_equal(why.kind, EXPLAIN_REDUCED);
    assert_string_equal(why.reduction, "max-faults");
    search_explain(
        s, parse(&lab, "top GET / > s3 GET / : 500 & top GET / > s3 GET / > d3 GET / : 500"), &why);
    assert_int_equal(why.kind, EXPLAIN_IMPOSSIBLE);
    search_free(s);
    lab_deinit(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_max_faults), cmocka_unit_test(test_answers),
        cmocka_unit_test(test_modes),      cmocka_unit_test(test_t_way),
        cmocka_unit_test(test_audit),      cmocka_unit_test(test_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
