/* SPDX-License-Identifier: Apache-2.0
 *
 * Covering arrays: what they promise, checked combination by combination. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "search/search_int.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { FACTORS = 2000 };

struct array {
    const uint32_t *n_values;
    uint32_t n;
    VEC(uint32_t) values; /* row by row */
    uint32_t rows;
};

static void add_row(struct array *a, const uint32_t *values)
{
    for (uint32_t i = 0; i < a->n; i++)
        vec_push(&a->values, values[i]);
    a->rows++;
}

static void take_row(void *ctx, const uint32_t *values)
{
    struct array *a = ctx;
    uint32_t others = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        assert_true(values[i] < a->n_values[i]);
        others += values[i] > 0;
    }
    assert_true(others > 1); /* the rest is given */
    add_row(a, values);
}

static bool has(const struct array *a, const uint32_t *factor, const uint32_t *value, uint32_t t)
{
    for (uint32_t r = 0; r < a->rows; r++) {
        uint32_t i = 0;
        while (i < t && a->values.at[r * a->n + factor[i]] == value[i])
            i++;
        if (i == t)
            return true;
    }
    return false;
}

/* Next combination of values of these factors; false after the last. */
static bool next_values(const struct array *a, const uint32_t *factor, uint32_t *value, uint32_t t)
{
    for (uint32_t i = t; i-- > 0;) {
        if (++value[i] < a->n_values[factor[i]])
            return true;
        value[i] = 0;
    }
    return false;
}

static bool next_factors(uint32_t *factor, uint32_t n, uint32_t t)
{
    for (uint32_t i = t; i-- > 0;)
        if (++factor[i] <= n - t + i) {
            for (uint32_t k = i + 1; k < t; k++)
                factor[k] = factor[k - 1] + 1;
            return true;
        }
    return false;
}

/* At most one value is not 0: such a row is given. */
static bool is_given(const uint32_t *value, uint32_t t)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < t; i++)
        others += value[i] > 0;
    return others < 2;
}

static void check_covered(const struct array *a, uint32_t t)
{
    uint32_t factor[4], value[4] = {0};
    for (uint32_t i = 0; i < t; i++)
        factor[i] = i;
    do
        do
            if (!is_given(value, t) && !has(a, factor, value, t))
                fail_msg("%u factors, %u-way: factors %u, %u .. do not take values %u, %u ..",
                         (unsigned)a->n, (unsigned)t, (unsigned)factor[0], (unsigned)factor[1],
                         (unsigned)value[0], (unsigned)value[1]);
        while (next_values(a, factor, value, t));
    while (next_factors(factor, a->n, t));
}

static const struct {
    uint32_t n, t, most; /* rows that a good array does not exceed */
    uint32_t n_values[40];
} cases[] = {
    {2, 2, 1, {2, 2}},
    {2, 2, 16, {5, 5}},
    {2, 2, 128, {65, 3}},
    {3, 2, 4, {2, 2, 2}},
    {3, 2, 20, {3, 4, 5}},
    {3, 3, 4, {2, 2, 2}},
    {3, 3, 60, {3, 4, 5}},
    {4, 2, 4, {2, 2, 2, 2}},
    {4, 3, 12, {2, 2, 2, 2}},
    {4, 4, 11, {2, 2, 2, 2}},
    {4, 4, 243, {4, 4, 4, 4}},
    {5, 2, 25, {5, 1, 5, 1, 3}}, /* a factor with one value has nothing to combine */
    {5, 3, 100, {1, 2, 3, 4, 5}},
    {6, 2, 45, {5, 5, 5, 5, 5, 5}},
    {7, 4, 130, {2, 3, 2, 3, 2, 3, 2}},
    {8, 3, 40, {2, 2, 2, 2, 2, 2, 2, 2}},
    {10, 2, 60, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}},
    {10, 3, 330, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}},
    {12, 2, 80, {2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6, 7}},
    {3, 2, 4400, {65, 65, 65}},
    {4, 2, 0, {1, 1, 1, 1}},
    {4, 2, 0, {9, 1, 1, 1}},
    {40, 2, 24, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
                 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}},
};

static void test_covered(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct array a = {.n_values = cases[i].n_values, .n = cases[i].n};
        assert_true(covering_array(a.n_values, a.n, cases[i].t, take_row, &a));
        if (a.rows > cases[i].most)
            fail_msg("case %u has %u rows", (unsigned)i, (unsigned)a.rows);
        check_covered(&a, cases[i].t);
        vec_deinit(&a.values);
    }
}

static void test_repeatable(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct array a = {.n_values = cases[i].n_values, .n = cases[i].n}, b = a;
        assert_true(covering_array(a.n_values, a.n, cases[i].t, take_row, &a));
        assert_true(covering_array(b.n_values, b.n, cases[i].t, take_row, &b));
        assert_int_equal(a.rows, b.rows);
        if (a.rows)
            assert_memory_equal(a.values.at, b.values.at, a.values.n * sizeof *a.values.at);
        vec_deinit(&a.values);
        vec_deinit(&b.values);
    }
}

/* Fewer factors than t: there is nothing to cover. */
static void test_few(void **state)
{
    static const uint32_t n_values[] = {3, 3};
    (void)state;
    for (uint32_t n = 0; n <= 2; n++) {
        struct array a = {.n_values = n_values, .n = n};
        assert_true(covering_array(n_values, n, 3, take_row, &a));
        assert_int_equal(a.rows, 0);
        vec_deinit(&a.values);
    }
}

static void count_row(void *ctx, const uint32_t *values)
{
    uint32_t *rows = ctx;
    (void)values;
    ++*rows;
}

/* Many factors: their rows grow with the logarithm of their number, without a step. */
static const struct {
    uint32_t n, t, values, most;
    bool check; /* every combination */
} large[] = {
    {64, 2, 2, 1, true},      {2000, 2, 2, 2, true},     {8, 2, 3, 8, true},
    {64, 2, 3, 18, true},     {68, 2, 3, 18, true},      {80, 2, 3, 19, true},
    {200, 2, 3, 24, true},    {500, 2, 3, 28, true},     {2000, 2, 3, 36, true},
    {64, 2, 5, 60, true},     {200, 2, 5, 90, true},     {500, 2, 5, 90, true},
    {2000, 2, 5, 110, false}, {60, 3, 2, 40, true},      {150, 3, 2, 90, true},
    {40, 3, 4, 520, true},    {2000, 3, 5, 2500, false}, {24, 4, 2, 260, true},
    {16, 4, 3, 900, true},    {8, 4, 17, 90000, false},  {300, 2, 65, 16000, false},
};

static void test_large(void **state)
{
    (void)state;
    static uint32_t n_values[FACTORS];
    for (size_t i = 0; i < LENGTH(large); i++) {
        struct array a = {.n_values = n_values, .n = large[i].n};
        for (uint32_t k = 0; k < a.n; k++) /* a few have fewer values than the others */
            n_values[k] = large[i].values - (k % 7 == 3 && large[i].values > 2);
        assert_true(covering_array(n_values, a.n, large[i].t, take_row, &a));
        if (getenv("SHOW"))
            print_message("%u-way of %u factors with %u values: %u rows\n", (unsigned)large[i].t,
                          (unsigned)a.n, (unsigned)large[i].values, (unsigned)a.rows);
        if (a.rows > large[i].most)
            fail_msg("%u-way of %u factors with %u values: %u rows", (unsigned)large[i].t,
                     (unsigned)a.n, (unsigned)large[i].values, (unsigned)a.rows);
        if (large[i].check)
            check_covered(&a, large[i].t);
        vec_deinit(&a.values);
    }
}

/* In a process of its own: what is not refused as too large would not fit into memory either. */
static void test_too_large(void **state)
{
    static const struct {
        uint32_t n, t, values;
    } rows[] = {{300, 4, 65},  {1000, 3, 200},   {2, 2, 65536},     {3, 3, 1 << 21},
                {4, 4, 65536}, {4, 4, 1u << 31}, {2, 2, UINT32_MAX}};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        pid_t child = fork();
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on with the tests */
            uint32_t *n_values = mem_alloc(rows[i].n * sizeof *n_values);
            for (uint32_t k = 0; k < rows[i].n; k++)
                n_values[k] = rows[i].values;
            uint32_t emitted = 0;
            bool fits = covering_array(n_values, rows[i].n, rows[i].t, count_row, &emitted);
            mem_free(n_values);
            _exit(fits || emitted > 0);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0)
            fail_msg("%u-way of %u factors with %u values each: status %x", (unsigned)rows[i].t,
                     (unsigned)rows[i].n, (unsigned)rows[i].values, (unsigned)status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_covered),   cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_few),       cmocka_unit_test(test_large),
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
