/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * t-way: how many runs it makes as calls become many, that each T-fold part is shown by one of them
 * (looked up in the runs, not asked of the search), and that it never makes more than the search
 * that it reduces. */
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

enum { SYSTEMS = 3500 };
enum { RUNS_MAX = 700 };

/* ---- many calls ---- */

static struct search_options tway_options(const struct lab *lab, uint32_t t)
{
    struct search_options options = lab_options(lab);
    options.assume |= 1u << REDUCE_T_WAY;
    options.t_way = t;
    options.baselines = 1;
    return options;
}

/* Which mode each call had in each run: what[run * n + call], 0: none. */
struct shown {
    uint32_t n, runs;
    VEC(uint32_t) what;
};

static void read_runs(struct lab *lab, const struct search *s, const struct search_options *options,
                      uint32_t n, struct shown *out)
{
    uint32_t count;
    const struct search_run *runs = search_runs(s, &count);
    *out = (struct shown){.n = n, .runs = count};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = out->what.n;
        for (uint32_t k = 0; k < n; k++)
            vec_push(&out->what, 0);
        for (faultload f = runs[i].happened; f != FAULTLOAD_EMPTY; f = lab->fl.rows.at[f].rest) {
            struct fault fault = lab->fl.rows.at[f].last;
            slice name = names_text(&lab->names, uid_element(&lab->names, fault.point)->service);
            uint64_t call;
            assert_true(slice_to_u64(slice_from(name, 1), n - 1, &call));
            for (uint32_t m = 0; m < options->n_modes; m++)
                if (options->modes[m] == fault.mode)
                    out->what.at[at + call] = m + 1;
        }
    }
}

static bool pair_shown(const struct shown *x, uint32_t a, uint32_t va, uint32_t b, uint32_t vb)
{
    for (uint32_t r = x->runs; r-- > 0;) /* the rows come last */
        if (x->what.at[r * x->n + a] == va && x->what.at[r * x->n + b] == vb)
            return true;
    return false;
}

/* The runs of a 2-way search; of any pair of calls some run shows any pair of modes. */
static uint64_t runs_of(uint32_t n, bool deep)
{
    struct lab lab;
    struct search_stats stats;
    struct shown shown;
    lab_init_many(&lab, n, "500, 503", deep);
    struct search_options options = tway_options(&lab, 2);
    struct search *s = lab_explore(&lab, &options, 0);
    search_stats(s, &stats);
    assert_true(stats.complete);
    read_runs(&lab, s, &options, n, &shown);
    struct rng rng = {n};
    for (uint32_t i = 0; i < 20000 && !deep; i++) {
        uint32_t a = rng_below(&rng, n), b = rng_below(&rng, n);
        uint32_t va = rng_below(&rng, 2) + 1, vb = rng_below(&rng, 2) + 1;
        if (a != b && !pair_shown(&shown, a, va, b, vb))
            fail_msg("%u calls: calls %u and %u did not fail together by modes %u and %u",
                     (unsigned)n, (unsigned)a, (unsigned)b, (unsigned)va, (unsigned)vb);
    }
    vec_deinit(&shown.what);
    search_free(s);
    lab_deinit(&lab);
    return stats.runs;
}

/* One run for each single fault, and as many more as grow with the logarithm. */
static void test_growth(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, rows;
    } rows[] = {{8, 10}, {64, 20}, {68, 20}, {80, 20}, {200, 30}, {500, 32}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t runs = runs_of(rows[i].n, false);
        if (getenv("SHOW"))
            print_message("%u calls: %llu runs\n", (unsigned)rows[i].n, (unsigned long long)runs);
        assert_in_range(runs, 1 + 2 * rows[i].n + 1, 1 + 2 * rows[i].n + rows[i].rows);
    }
}

/* A failure that comes from below and is absorbed further up is a value like any other. */
static void test_from_below(void **state)
{
    (void)state;
    assert_in_range(runs_of(80, true), 80 * 3, 80 * 4 + 60);
}

/* ---- against the search that it reduces ---- */

static uint64_t explore(struct lab *lab, const struct search_options *options, bool *complete)
{
    struct search_stats stats;
    struct search *s = lab_explore(lab, options, RUNS_MAX);
    search_stats(s, &stats);
    *complete = stats.complete;
    search_free(s);
    return stats.runs;
}

static bool makes_more(const struct node *system, void *ctx)
{
    const struct search_options *with = ctx;
    struct lab lab;
    struct err e = {0};
    bool complete, more = false;
    if (lab_init(&lab, system, &e) == 0) {
        struct search_options options = lab_options(&lab);
        options.baselines = 1;
        /* `modes` and `retries` find out what is alike, and what is a loop, on their way to a
         * combination, which rows do not go: they are left out of what it is compared with */
        options.assume =
            with->assume & ~(1u << REDUCE_T_WAY | 1u << REDUCE_MODES | 1u << REDUCE_RETRIES);
        options.max_faults = with->max_faults;
        uint64_t exact = explore(&lab, &options, &complete);
        options.assume = with->assume;
        options.t_way = with->t_way;
        if (complete)
            more = explore(&lab, &options, &complete) > exact;
    }
    lab_deinit(&lab);
    return more;
}

static void test_never_more(void **state)
{
    (void)state;
    static const struct search_options with[] = {
        {.t_way = 2},
        {.t_way = 3},
        {.t_way = 4},
        {.t_way = 2, .assume = 1u << REDUCE_MODES},
        {.t_way = 2, .assume = 1u << REDUCE_RETRIES},
        {.t_way = 2, .assume = 1u << REDUCE_STATELESS},
        {.t_way = 2, .assume = 1u << REDUCE_MAX_FAULTS, .max_faults = 2},
    };
    for (uint64_t seed = 0; seed < volume(SYSTEMS); seed++) {
        struct arena a = {0};
        const struct node *system = random_system(seed, &a);
        struct search_options options = with[seed % (sizeof with / sizeof *with)];
        options.assume |= 1u << REDUCE_T_WAY;
        if (makes_more(system, &options)) {
            struct buf text = BUF_INIT(1 << 20);
            node_print(shrink_system(system, &a, makes_more, &options), &text);
            fail_msg("seed %llu, %u-way, assume %x: more runs than without: %s",
                     (unsigned long long)seed, (unsigned)options.t_way, (unsigned)options.assume,
                     buf_text(&text));
        }
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_from_below),
        cmocka_unit_test(test_never_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
