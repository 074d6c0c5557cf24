/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * Minimal hitting sets: by hand where it is special, and against a SAT solver over random formulas,
 * after every support. */
#include <ccadical.h>

#include "base/hash.h"
#include "base/index.h"
#include "base/random.h"
#include "search/hitting.h"
#include "support/unit.h"

enum { FORMULAS = 20000, POINTS_MAX = 12, SUPPORTS_MAX = 10, PLENTY = 1 << 16 };

#define ADD(h, ...) hitting_add(h, (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

/* Is a set of exactly these points listed? */
static bool listed(const struct hitting *h, const uint32_t *points, uint32_t n)
{
    for (uint32_t i = 0; i < h->sets.n; i++) {
        const struct hitting_set *set = &h->sets.at[i];
        uint32_t same = 0;
        for (uint32_t k = 0; k < set->n; k++)
            for (uint32_t j = 0; j < n; j++)
                same += h->points.at[set->first + k] == points[j];
        if (set->n == n && same == n)
            return true;
    }
    return false;
}

#define LISTED(h, ...) listed(h, (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)

static enum hitting_answer ask(const struct hitting *h, const struct hitting_set *set)
{
    return hitting_ask(h, &h->points.at[set->first], set->n);
}

/* ---- by hand ---- */

static void test_steps(void **state)
{
    struct hitting h;
    (void)state;
    hitting_init(&h, PLENTY);
    assert_int_equal(h.sets.n, 1); /* the empty one */
    assert_int_equal(h.sets.at[0].n, 0);
    assert_int_equal(hitting_ask(&h, NULL, 0), HITS_MINIMALLY);

    assert_true(ADD(&h, 0, 1, 2)); /* api, rating, list */
    assert_int_equal(h.sets.n, 3);
    assert_true(LISTED(&h, 0) && LISTED(&h, 1) && LISTED(&h, 2));

    assert_true(ADD(&h, 0, 3, 2)); /* with the cache in place of rating */
    assert_int_equal(h.sets.n, 3);
    assert_true(LISTED(&h, 0) && LISTED(&h, 2) && LISTED(&h, 1, 3));
    assert_int_equal(h.sets.at[0].n, 1); /* smallest first */
    assert_int_equal(h.sets.at[0].born, 1);
    assert_int_equal(h.sets.at[2].n, 2);
    assert_int_equal(h.sets.at[2].born, 2);

    assert_int_equal(hitting_ask(&h, (uint32_t[]){1, 3}, 2), HITS_MINIMALLY);
    assert_int_equal(hitting_ask(&h, (uint32_t[]){1, 2}, 2), HITS_ALL);
    assert_int_equal(hitting_ask(&h, (uint32_t[]){1}, 1), HITS_NOT_ALL);
    assert_int_equal(hitting_ask(&h, (uint32_t[]){1, 77}, 2), HITS_NOT_ALL); /* nobody knows it */
    assert_int_equal(hitting_ask(&h, (uint32_t[]){0, 77}, 2), HITS_ALL);
    assert_int_equal(hitting_ask(&h, NULL, 0), HITS_NOT_ALL);
    assert_true(h.complete);
    hitting_deinit(&h);
}

/* What is said once more, or is implied, changes nothing; a part of what was said does. */
static void test_repeated(void **state)
{
    struct hitting h;
    (void)state;
    hitting_init(&h, PLENTY);
    assert_true(ADD(&h, 4, 5, 5, 4));
    assert_false(ADD(&h, 5, 4));
    assert_false(ADD(&h, 5, 4, 6));
    assert_int_equal(h.sets.n, 2);
    assert_true(ADD(&h, 5));
    assert_int_equal(h.sets.n, 1);
    assert_true(LISTED(&h, 5));
    assert_int_equal(h.used.at[0], 1); /* the larger one is gone */
    assert_int_equal(h.steps, 2);
    hitting_deinit(&h);
}

static void test_empty_support(void **state)
{
    struct hitting h;
    (void)state;
    hitting_init(&h, PLENTY);
    assert_true(ADD(&h, 1, 2));
    assert_true(hitting_add(&h, NULL, 0));
    assert_int_equal(h.sets.n, 0); /* nothing hits it */
    assert_true(h.complete);
    assert_int_equal(hitting_ask(&h, (uint32_t[]){1, 2}, 2), HITS_NOT_ALL);
    assert_false(ADD(&h, 1));
    assert_int_equal(h.sets.n, 0);
    hitting_deinit(&h);
}

/* More than 64 points and more than 64 supports: pairs, each to be hit. */
static void test_many(void **state)
{
    struct hitting h;
    uint32_t set[100];
    (void)state;
    hitting_init(&h, PLENTY);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t hub = 200;
        assert_true(hitting_add(&h, (uint32_t[]){hub, i}, 2));
        set[i] = i;
        assert_int_equal(h.sets.n, 2);
        assert_true(listed(&h, &hub, 1) && listed(&h, set, i + 1));
    }
    assert_true(h.complete);
    assert_int_equal(hitting_ask(&h, set, 100), HITS_ALL); /* minimally, but that are too many */
    assert_int_equal(hitting_ask(&h, set, 99), HITS_NOT_ALL);
    hitting_deinit(&h);
}

/* 2 ^ n sets: the bound holds, all that is listed is right, and the smallest are there. */
static void test_bound(void **state)
{
    struct hitting h;
    (void)state;
    hitting_init(&h, 100);
    for (uint32_t i = 0; i < 6; i++)
        assert_true(hitting_add(&h, (uint32_t[]){2 * i, 2 * i + 1}, 2));
    assert_true(h.complete);
    assert_int_equal(h.sets.n, 64);
    assert_true(ADD(&h, 12, 13));
    assert_false(h.complete);
    assert_int_equal(h.sets.n, 100);
    assert_true(ADD(&h, 0, 2, 14)); /* hits many of them, not all */
    assert_true(h.sets.n <= 100);
    for (uint32_t i = 0; i < h.sets.n; i++) {
        assert_int_equal(ask(&h, &h.sets.at[i]), HITS_MINIMALLY);
        assert_true(i == 0 || h.sets.at[i].n >= h.sets.at[i - 1].n);
    }
    hitting_deinit(&h);

    hitting_init(&h, 1);
    assert_true(ADD(&h, 0, 1));
    assert_false(h.complete);
    assert_int_equal(h.sets.n, 1);
    assert_true(LISTED(&h, 0));
    assert_true(ADD(&h, 0, 2)); /* {0} hits it; {1}, which is not listed, does not */
    assert_int_equal(h.sets.n, 1);
    assert_int_equal(hitting_ask(&h, (uint32_t[]){1}, 1), HITS_NOT_ALL);
    assert_int_equal(hitting_ask(&h, (uint32_t[]){1, 2}, 2), HITS_MINIMALLY);
    assert_false(ADD(&h, 0, 2, 3));
    hitting_deinit(&h);
}

/* So many supports that columns run out. */
static void test_too_many_supports(void **state)
{
    struct hitting h;
    (void)state;
    hitting_init(&h, 10);
    for (uint32_t i = 0; i < HITTING_SUPPORTS_MAX; i++)
        assert_true(hitting_add(&h, (uint32_t[]){0, i + 1}, 2));
    assert_true(h.complete);
    assert_false(ADD(&h, 0, HITTING_SUPPORTS_MAX + 5));
    assert_false(h.complete);
    assert_true(LISTED(&h, 0));
    assert_true(ADD(&h, 0)); /* takes the place of all of them */
    assert_int_equal(h.sets.n, 1);
    hitting_deinit(&h);
}

/* A point that stands for others: a service for its calls. */
static void test_join(void **state)
{
    struct hitting h;
    (void)state;
    hitting_init(&h, PLENTY);
    hitting_join(&h, 8, (uint32_t[]){1, 2}, 2);
    assert_true(h.complete); /* there is no support yet */
    ADD(&h, 1, 3);
    ADD(&h, 2, 3);
    hitting_join(&h, 9, (uint32_t[]){1, 2, 700}, 3);
    assert_false(h.complete);
    assert_int_equal(hitting_ask(&h, (uint32_t[]){9}, 1), HITS_MINIMALLY);
    assert_int_equal(hitting_ask(&h, (uint32_t[]){9, 1}, 2), HITS_ALL);
    ADD(&h, 4, 9);
    for (uint32_t i = 0; i < h.sets.n; i++)
        assert_int_equal(ask(&h, &h.sets.at[i]), HITS_MINIMALLY);
    hitting_deinit(&h);
}

/* ---- against a solver ---- */

/* A formula: supports as sets of bits. */
struct formula {
    uint32_t n_points, n;
    uint32_t supports[SUPPORTS_MAX];
};

static struct formula random_formula(struct rng *rng)
{
    struct formula f = {.n_points = 1 + rng_below(rng, POINTS_MAX),
                        .n = 1 + rng_below(rng, SUPPORTS_MAX)};
    uint32_t density = 1 + rng_below(rng, 7); /* eighths of the points that are in a support */
    for (uint32_t i = 0; i < f.n; i++) {
        for (uint32_t p = 0; p < f.n_points; p++)
            f.supports[i] |= (uint32_t)(rng_below(rng, 8) < density) << p;
        if (f.supports[i] == 0 && rng_below(rng, 50) != 0) /* empty ones are rare */
            f.supports[i] = 1u << rng_below(rng, f.n_points);
    }
    return f;
}

static bool hits_all(const struct formula *f, uint32_t n, uint32_t set)
{
    for (uint32_t i = 0; i < n; i++)
        if (!(f->supports[i] & set))
            return false;
    return true;
}

/* All minimal models of the first n supports as clauses: a model of the solver is made smaller as
 * long as it is one, then all that contain it are ruled out. */
static void solve(const struct formula *f, uint32_t n, struct map *out)
{
    CCaDiCaL *solver = ccadical_init();
    ccadical_set_option(solver, "quiet", 1);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t p = 0; p < f->n_points; p++)
            if (f->supports[i] >> p & 1)
                ccadical_add(solver, (int)p + 1);
        ccadical_add(solver, 0);
    }
    while (ccadical_solve(solver) == 10) { /* satisfiable */
        uint32_t set = 0;
        for (uint32_t p = 0; p < f->n_points; p++)
            set |= (uint32_t)(ccadical_val(solver, (int)p + 1) > 0) << p;
        for (uint32_t p = 0; p < f->n_points; p++)
            if (hits_all(f, n, set & ~(1u << p)))
                set &= ~(1u << p);
        map_set(out, set, 1);
        for (uint32_t p = 0; p < f->n_points; p++)
            if (set >> p & 1)
                ccadical_add(solver, -(int)p - 1);
        ccadical_add(solver, 0);
    }
    ccadical_release(solver);
}

static void check_formula(const struct formula *f)
{
    struct hitting h;
    hitting_init(&h, PLENTY);
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t points[POINTS_MAX], n = 0;
        struct map expected = {0};
        for (uint32_t p = 0; p < f->n_points; p++)
            if (f->supports[i] >> p & 1)
                points[n++] = p;
        hitting_add(&h, points, n);
        if (i + 1 < f->n && i % 4 != 0) /* the solver is the slow one */
            continue;
        solve(f, i + 1, &expected);
        assert_int_equal(h.sets.n, expected.items.n);
        for (uint32_t k = 0; k < h.sets.n; k++) {
            const struct hitting_set *set = &h.sets.at[k];
            uint32_t bits = 0;
            for (uint32_t j = 0; j < set->n; j++)
                bits |= 1u << h.points.at[set->first + j];
            assert_non_null(map_get(&expected, bits));
            assert_int_equal(ask(&h, set), HITS_MINIMALLY);
            map_set(&expected, bits, 2); /* not twice */
        }
        for (uint32_t k = 0; k < expected.items.n; k++)
            assert_int_equal(expected.items.at[k].value, 2);
        map_deinit(&expected);
    }
    assert_true(h.complete);
    hitting_deinit(&h);
}

static void test_solver(void **state)
{
    struct rng rng = {1};
    (void)state;
    for (uint32_t i = 0; i < volume(FORMULAS); i++) {
        struct formula f = random_formula(&rng);
        check_formula(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),         cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_empty_support), cmocka_unit_test(test_many),
        cmocka_unit_test(test_bound),         cmocka_unit_test(test_too_many_supports),
        cmocka_unit_test(test_join),          cmocka_unit_test(test_solver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
