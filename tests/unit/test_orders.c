/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * All orders: they change what comes when and not what is seen in the end, alone and over suites of
 * random systems, also when a suite is stopped and goes on. And what those that learn are worth: the
 * figures of docs/search.md, which bench/orders.c prints. */
#include "support/suite_lab.h"
#include "support/ticket_lab.h"
#include "support/unit.h"

enum { SYSTEMS = 3, RUNS_MAX = 6000 };

static const char *const learning[] = {"lineage", "fitness", "auto"};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- the same in the end ---- */

/* What an exact search by size sees of each system. */
struct exact {
    struct map facts[SYSTEMS];
    bool all; /* else it is too large for this test */
};

/* Explores in this order, in a lab whose names are known to earlier explorations. */
static bool explore(struct suite_lab *l, const char *order, uint64_t seed)
{
    suite_lab_forget(l);
    suite_lab_open(l, order, seed);
    bool all = suite_lab_explore(l, RUNS_MAX);
    suite_lab_close(l);
    return all;
}

static void explore_exactly(struct suite_lab *l, struct exact *x)
{
    x->all = explore(l, "size", 0);
    for (uint32_t i = 0; i < l->seats.n; i++) {
        x->facts[i] = l->seats.at[i].facts;
        l->seats.at[i].facts = (struct map){0};
    }
}

/* What was seen since then, is it the same? */
static bool same_facts(const struct suite_lab *l, const struct exact *x)
{
    for (uint32_t i = 0; i < l->seats.n; i++) {
        const struct map *facts = &l->seats.at[i].facts;
        if (facts->items.n != x->facts[i].items.n)
            return false;
        for (uint32_t k = 0; k < facts->items.n; k++)
            if (!map_get(&x->facts[i], facts->items.at[k].key))
                return false;
    }
    return true;
}

static void exact_deinit(struct exact *x)
{
    for (uint32_t i = 0; i < SYSTEMS; i++)
        map_deinit(&x->facts[i]);
}

static void test_same_facts(void **state)
{
    uint32_t compared = 0;
    (void)state;
    for (uint64_t seed = 0; seed < volume(60); seed++)
        for (uint32_t n = 1; n <= SYSTEMS; n += SYSTEMS - 1) {
            struct suite_lab l;
            struct exact exact = {0};
            suite_lab_random(&l, seed, n);
            explore_exactly(&l, &exact);
            for (uint32_t i = 0; i < order_count && exact.all; i++) {
                if (!explore(&l, order_rows[i].name, seed))
                    continue;
                compared++;
                if (!same_facts(&l, &exact))
                    fail_msg("%s, seed %u, %u systems", order_rows[i].name, (unsigned)seed,
                             (unsigned)n);
            }
            exact_deinit(&exact);
            suite_lab_deinit(&l);
        }
    assert_true(compared >= volume(60) * order_count);
}

static uint64_t runs_of(uint64_t system, const char *order, uint64_t seed)
{
    struct suite_lab l;
    uint64_t hash = 0;
    suite_lab_random(&l, system, SYSTEMS);
    suite_lab_open(&l, order, seed);
    suite_lab_explore(&l, 300);
    for (uint32_t i = 0; i < l.runs.n; i++)
        hash = hash * 31 + l.runs.at[i].seat + lab_key(&l.lab, l.runs.at[i].faultload);
    suite_lab_close(&l);
    suite_lab_deinit(&l);
    return hash;
}

static void test_seeds(void **state)
{
    uint32_t differ = 0;
    (void)state;
    for (uint64_t system = 0; system < 20; system++) {
        for (uint32_t i = 0; i < order_count; i++)
            assert_int_equal(runs_of(system, order_rows[i].name, 1),
                             runs_of(system, order_rows[i].name, 1));
        differ += runs_of(system, "fitness", 1) != runs_of(system, "fitness", 2);
        differ += runs_of(system, "auto", 1) != runs_of(system, "auto", 2);
    }
    assert_true(differ >= 30);
}

/* No run after the first `stored` was made before. */
static void check_once(const struct suite_lab *l, uint32_t stored)
{
    struct map once = {0};
    for (uint32_t i = stored; i < l->runs.n; i++) {
        const struct suite_run *run = &l->runs.at[i];
        if (run->faultload != FAULTLOAD_EMPTY)
            assert_int_equal(
                map_count(&once, lab_key(&l->lab, run->faultload) * (2 * run->seat + 1)), 1);
    }
    map_deinit(&once);
}

/* A suite that is stopped anywhere and goes on from its runs sees what it would have seen, and makes
 * no run again. */
static void test_resumed(void **state)
{
    uint32_t compared = 0;
    (void)state;
    for (uint64_t seed = 0; seed < volume(40) * LENGTH(learning); seed++) {
        const char *order = learning[seed % LENGTH(learning)];
        struct suite_lab l;
        struct exact exact = {0};
        suite_lab_random(&l, seed, SYSTEMS);
        explore_exactly(&l, &exact);
        suite_lab_forget(&l);
        suite_lab_open(&l, order, seed);
        suite_lab_explore(&l, (uint32_t)(seed * 7 % 200));
        suite_lab_close(&l);
        suite_lab_open(&l, order, seed);
        uint32_t stored = l.runs.n;
        for (uint32_t i = 0; i < SYSTEMS; i++)
            map_deinit(&l.seats.at[i].facts);
        for (uint32_t i = 0; i < stored; i++)
            suite_lab_run(&l, l.runs.at[i].seat, l.runs.at[i].faultload);
        bool all = suite_lab_explore(&l, RUNS_MAX) && exact.all;
        check_once(&l, stored);
        if (all && !same_facts(&l, &exact))
            fail_msg("%s, seed %u", order, (unsigned)seed);
        compared += all;
        suite_lab_close(&l);
        exact_deinit(&exact);
        suite_lab_deinit(&l);
    }
    assert_true(compared >= volume(40) * LENGTH(learning) / 2);
}

/* Under a reduction results are observed in turn. With runs of others to make, nobody is asked for
 * another one while one of its own is under way: that would be a guess, and mostly a wrong one. */
static void test_no_guesses(void **state)
{
    (void)state;
    for (size_t i = 1; i < LENGTH(learning); i++) {
        struct suite_lab l;
        bool ready[SYSTEMS], asked[SYSTEMS] = {false};
        suite_lab_random(&l, 7, SYSTEMS);
        l.max_faults = 2;
        suite_lab_open(&l, learning[i], 0);
        suite_lab_explore(&l, 2 * SYSTEMS);
        memset(ready, true, sizeof ready);
        for (uint32_t n = 0; n < SYSTEMS; n++) {
            faultload f;
            uint32_t seat = suite_turn(l.suite, ready);
            assert_false(asked[seat]);
            asked[seat] = search_next(l.seats.at[seat].search, &f);
            assert_true(asked[seat]);
        }
        suite_lab_close(&l);
        suite_lab_deinit(&l);
    }
}

/* ---- what they are worth ---- */

enum { SEEDS = 20, BUDGETS = 5 };

/* Runs with faults. The page says what holds within the one of BUDGET. */
static const uint32_t budgets[BUDGETS] = {100, 150, 200, 300, 534};
enum { BUDGET = 1 };

/* Sums over all seeds, and the least number of paths. */
struct worth {
    uint32_t failures, paths, least_paths;
};

static void measure(struct ticket_lab *t, const char *order, struct worth out[BUDGETS])
{
    for (int i = 0; i < BUDGETS; i++)
        out[i] = (struct worth){.least_paths = UINT32_MAX};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ticket_lab_begin(t, order, seed);
        for (int i = 0; i < BUDGETS; i++) {
            ticket_lab_until(t, budgets[i]);
            out[i].failures += t->n_failures;
            out[i].paths += t->n_reached;
            if (t->n_reached < out[i].least_paths)
                out[i].least_paths = t->n_reached;
        }
        ticket_lab_end(t);
    }
}

static uint32_t lower(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void test_train_tickets(void **state)
{
    const char *top = getenv("TOP");
    struct worth random[BUDGETS], lineage[BUDGETS], fitness[BUDGETS], both[BUDGETS];
    struct ticket_lab t;
    struct err e = {0};
    (void)state;
    if (ticket_lab_init(&t, top ? top : ".", &e))
        fail_msg("%s", e.text);
    measure(&t, "random", random);
    measure(&t, "lineage", lineage);
    measure(&t, "fitness", fitness);
    measure(&t, "auto", both);
    ticket_lab_deinit(&t);
    assert_true(10 * fitness[BUDGET].failures >= 18 * random[BUDGET].failures);
    assert_int_equal(fitness[BUDGET].least_paths, TICKET_PATHS);
    assert_true(random[BUDGET].paths < fitness[BUDGET].paths);
    for (int i = 0; i < BUDGETS; i++) {
        assert_true(10 * both[i].failures >= 9 * lower(lineage[i].failures, fitness[i].failures));
        assert_true(10 * both[i].paths >= 9 * lower(lineage[i].paths, fitness[i].paths));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_facts),    cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_resumed),       cmocka_unit_test(test_no_guesses),
        cmocka_unit_test(test_train_tickets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
