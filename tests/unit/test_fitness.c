/* SPDX-License-Identifier: Apache-2.0
 *
 * The order `fitness`: what it keeps, and what it makes of results. */
#include "search/fitness.h"
#include "support/unit.h"

/* ---- the stock ---- */

static void test_shelves(void **state)
{
    static const uint32_t scores[] = {3, 1, 2, 1, 3, 0, 2, 1};
    static const faultload expected[] = {5, 1, 3, 7, 2, 6, 0, 4};
    struct stock st = {0};
    struct frontier_item item;
    (void)state;
    stock_clear(&st, 1);
    struct stock_place place = {.scenario = 1, .request = 4, .caller = 1, .callee = 2, .mode = 9};
    uint32_t shelf = stock_shelf(&st, &place);
    for (faultload f = 0; f < 8; f++)
        stock_put(&st, shelf, (struct frontier_item){f, 0}, 100 + f, scores[f]);
    place.mode = 8;
    uint32_t other = stock_shelf(&st, &place);
    assert_int_not_equal(shelf, other);
    stock_put(&st, other, (struct frontier_item){99, 0}, 99, 0);
    assert_int_equal(st.scenarios.at[1].queued, 9);
    assert_int_equal(shelf_spot(&st, shelf)->queued, 9);

    assert_false(stock_take(&st, other, 101, &item));
    assert_true(stock_take(&st, shelf, 101, &item));
    assert_int_equal(item.faultload, 1);
    for (uint32_t i = 0; i < 8; i++)
        if (expected[i] != 1)
            assert_int_equal(stock_pop(&st, shelf).faultload, expected[i]);
    assert_int_equal(shelf_request(&st, shelf)->queued, 1);
    stock_clear(&st, 1);
    assert_int_equal(st.scenarios.at[1].queued, 0);
    assert_int_equal(shelf_request(&st, shelf)->queued, 0);
    stock_deinit(&st);
}

/* ---- results ---- */

static void test_impact(void **state)
{
    static const struct {
        bool request, pass, backup;
        uint32_t impact;
    } cases[] = {
        {true, true, false, 10},   {true, true, true, 40},   {false, true, false, 20},
        {false, true, true, 20},   {true, false, false, 40}, {true, false, true, 40},
        {false, false, false, 50}, {false, false, true, 50},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fitness_result r = {
            .request_ok = cases[i].request, .pass = cases[i].pass, .backup = cases[i].backup};
        assert_int_equal(fitness_impact(&r), cases[i].impact);
    }
}

enum { SCENARIOS = 6, SITES = 40 };

/* The same sites in every scenario; a fault at the site `broken` is not handled. */
static struct stock_place place_number(uint32_t scenario, uint32_t site)
{
    return (struct stock_place){.scenario = scenario,
                                .request = scenario + 1,
                                .caller = 1 + site / 4,
                                .callee = 100 + site,
                                .interface = 7,
                                .mode = 503};
}

static struct fitness *town(uint64_t seed)
{
    struct fitness *fit = fitness_new(seed, REST_RANDOM);
    for (uint32_t i = 0; i < SCENARIOS; i++)
        fitness_clear(fit, i);
    for (uint32_t i = 0; i < SCENARIOS * SITES; i++) {
        struct stock_place place = place_number(i / SITES, i % SITES);
        fitness_put(fit, &place, (struct frontier_item){i + 1, 0}, i, 1);
    }
    return fit;
}

/* One run; returns its number. */
static uint32_t step(struct fitness *fit, const bool *ready, uint32_t broken)
{
    uint32_t scenario = fitness_choose(fit, ready);
    uint32_t i = fitness_pop(fit, scenario).faultload - 1;
    struct stock_place place = place_number(i / SITES, i % SITES);
    bool fails = i % SITES == broken;
    struct fitness_result r = {.request_ok = !fails,
                               .pass = !fails,
                               .passed_on = fails,
                               .failure = fails ? scenario + 1 : 0};
    assert_int_equal(i / SITES, scenario);
    fitness_learn(fit, &place, i + 1, &r);
    return i;
}

/* Each scenario is tried once before any is tried again, only those that are ready are chosen, and
 * nothing is left or given twice. */
static void test_all_of_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct fitness *fit = town(seed);
        bool ready[SCENARIOS] = {true, true, false, true, true, true};
        bool seen[SCENARIOS * SITES] = {false}, begun[SCENARIOS] = {false};
        for (uint32_t n = 0; n < (SCENARIOS - 1) * SITES; n++) {
            uint32_t i = step(fit, ready, 3);
            assert_false(seen[i]);
            seen[i] = true;
            assert_true(n >= SCENARIOS - 1 || !begun[i / SITES]);
            begun[i / SITES] = true;
        }
        assert_int_equal(fitness_choose(fit, ready), STOCK_NONE);
        assert_int_equal(fitness_queued(fit, 2), SITES);
        assert_int_equal(fitness_failures(fit, 0), 1);
        assert_int_equal(fitness_failures(fit, 2), 0);
        fitness_free(fit);
    }
}

/* What failed in one scenario is soon tried in the others: within as many runs as would find half of
 * them by chance, nearly all are found. */
static void test_learns(void **state)
{
    uint32_t found = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct fitness *fit = town(seed);
        bool ready[SCENARIOS] = {true, true, true, true, true, true};
        for (uint32_t n = 0; n < SCENARIOS * SITES / 2; n++)
            step(fit, ready, 3);
        for (uint32_t i = 0; i < SCENARIOS; i++)
            found += fitness_failures(fit, i);
        fitness_free(fit);
    }
    assert_true(found > 100 * SCENARIOS * 8 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shelves),
        cmocka_unit_test(test_impact),
        cmocka_unit_test(test_all_of_it),
        cmocka_unit_test(test_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
