/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * Examples of what was not run: each of them was not, says why as explain does, and all kinds of
 * answers have their share. */
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

enum { MOST = 100 };

static bool same_kind(const struct explanation *a, const struct explanation *b)
{
    return a->kind == b->kind && a->policy == b->policy && a->reduction == b->reduction;
}

static void hold(struct lab *lab, struct search *s, uint32_t most)
{
    faultload list[MOST], again[MOST];
    struct explanation why[MOST], x;
    uint32_t rows = lab->fl.rows.n, n = search_sample(s, most, list, why);
    assert_in_range(n, 0, most);
    for (uint32_t i = 0; i < n; i++) {
        search_explain(s, list[i], &x);
        assert_int_not_equal(x.kind, EXPLAIN_RUN);
        assert_int_not_equal(x.kind, EXPLAIN_UNSEEN);
        assert_true(same_kind(&x, &why[i]));
        assert_int_equal(x.run, why[i].run);
        assert_int_equal(x.run_faultload, why[i].run_faultload);
        for (uint32_t k = 0; k < i; k++)
            assert_false(faultload_eq(&lab->fl, list[i], list[k]));
    }
    faultloads_cut(&lab->fl, rows);
    assert_int_equal(search_sample(s, most, again, why), n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(again[i], list[i]); /* the same, and the same rows */
    faultloads_cut(&lab->fl, rows);
}

static void test_corpus(void **state)
{
    (void)state;
    static const char *const files[] = {"corpus/netflix", "corpus/cinema-3", "corpus/audible",
                                        "shop/shop"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct lab lab;
        struct err e = {0};
        struct buf path = BUF_INIT(4096);
        const char *top = getenv("TOP");
        buf_addf(&path, "%s/examples/%s.yaml", top ? top : ".", files[i]);
        if (lab_init_file(&lab, buf_text(&path), &e))
            fail_msg("%s", e.text);
        struct search_options options = lab_options(&lab);
        struct search *s = lab_explore(&lab, &options, 0);
        hold(&lab, s, MOST);
        hold(&lab, s, 1);
        hold(&lab, s, 0);
        search_free(s);
        lab_deinit(&lab);
        buf_deinit(&path);
    }
}

/* How many of the sample are of this kind. */
static uint32_t count(const struct explanation *why, uint32_t n, enum explain_kind kind,
                      enum policy policy)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++)
        found += why[i].kind == kind && why[i].policy == policy;
    return found;
}

/* The shop has all reasons there are: none crowds the others out. */
static void test_shares(void **state)
{
    (void)state;
    struct lab lab;
    struct err e = {0};
    struct buf path = BUF_INIT(4096);
    const char *top = getenv("TOP");
    faultload list[MOST];
    struct explanation why[MOST];
    buf_addf(&path, "%s/examples/shop/shop.yaml", top ? top : ".");
    assert_int_equal(lab_init_file(&lab, buf_text(&path), &e), 0);
    struct search_options options = lab_options(&lab);
    struct search *s = lab_explore(&lab, &options, 0);
    uint32_t n = search_sample(s, MOST, list, why);
    assert_int_equal(n, MOST);
    assert_in_range(count(why, n, EXPLAIN_IMPOSSIBLE, POLICY_DOWNSTREAM), 15, 25);
    assert_in_range(count(why, n, EXPLAIN_IMPOSSIBLE, POLICY_EXCLUSION), 15, 25);
    assert_in_range(count(why, n, EXPLAIN_IMPOSSIBLE, POLICY_INCLUSION), 15, 25);
    assert_in_range(count(why, n, EXPLAIN_IMPOSSIBLE, POLICY_UNREACHABLE), 15, 25);
    assert_in_range(count(why, n, EXPLAIN_REDUNDANT, POLICY_ENCAPSULATION), 15, 25);
    search_free(s);
    buf_deinit(&path);
    lab_deinit(&lab);
}

/* Under reductions, within a budget, and before anything was run. */
static void test_random(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= volume(200); seed++) {
        struct arena arena = {0};
        struct lab lab;
        struct err e = {0};
        const struct node *system =
            seed % 2 ? random_system(seed, &arena) : random_timed_system(seed, &arena);
        if (lab_init(&lab, system, &e))
            fail_msg("%s", e.text);
        struct search_options options = lab_options(&lab);
        options.assume = seed % 3 == 0 ? 1u << REDUCE_MODES_ONCE : 0;
        struct search *none = search_new(&lab.names, &lab.fl, &options);
        hold(&lab, none, MOST);
        search_free(none);
        struct search *s = lab_explore(&lab, &options, seed % 5 ? 300 : 3);
        hold(&lab, s, MOST);
        search_free(s);
        lab_deinit(&lab);
        arena_deinit(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
