/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * The search against brute force, over random systems: the claim of docs/search.md, tested. */

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

enum { BRUTE_MAX = 700 };

struct totals {
    uint64_t systems, skipped, points, runs, possible, facts, conditional;
};

/* What is claimed of one system; NULL when it holds, else what does not. */
typedef const char *claim(const struct node *system, struct totals *totals);

/* Are the facts of a those of b? */
static bool same_facts(const struct map *a, const struct map *b)
{
    if (a->items.n != b->items.n)
        return false;
    for (uint32_t i = 0; i < a->items.n; i++)
        if (!map_get(b, a->items.at[i].key))
            return false;
    return true;
}

static bool within_facts(const struct map *a, const struct map *b)
{
    for (uint32_t i = 0; i < a->items.n; i++)
        if (!map_get(b, a->items.at[i].key))
            return false;
    return true;
}

static bool repeated(const struct lab *lab)
{
    for (uint32_t i = 0; i < lab->faultloads.items.n; i++)
        if (lab->faultloads.items.at[i].value > 1)
            return true;
    return false;
}

/* Takes what the lab has seen so far away, so that a second exploration in it (with the same names)
 * starts anew. */
static struct map take_facts(struct lab *lab)
{
    struct map facts = lab->facts;
    lab->facts = (struct map){0};
    map_deinit(&lab->faultloads);
    return facts;
}

/* Explanations compared with what brute force saw. */
struct explaining {
    const struct search *search;
    const char *wrong;
    uint64_t possible;
};

static void check_explanation(void *ctx, faultload f, bool fired)
{
    struct explaining *x = ctx;
    struct explanation why;
    search_explain(x->search, f, &why);
    x->possible += fired;
    bool seen = why.kind == EXPLAIN_RUN || why.kind == EXPLAIN_REDUNDANT;
    if (fired && !seen)
        x->wrong = "explain: a possible faultload is not said to be run or redundant";
    if (!fired && why.kind != EXPLAIN_IMPOSSIBLE)
        x->wrong = "explain: an impossible faultload is not said to be impossible";
}

static const char *check_search(struct lab *explored, struct lab *brute, struct search *search,
                                struct totals *totals)
{
    struct search_stats stats;
    struct search_space space;
    uint32_t n;
    uint64_t suspects;
    search_stats(search, &stats);
    search_space(search, &space);
    search_suspects(search, &n, &suspects);
    /* the explanation's names are those of the explored lab, so brute force is run there once more
     */
    bool again = repeated(explored);
    struct map facts = take_facts(explored);
    struct explaining x = {.search = search};
    const char *wrong = NULL;
    if (!lab_brute_force(explored, BRUTE_MAX, check_explanation, &x))
        mem_oom(); /* it fitted before */
    if (!same_facts(&facts, &explored->facts))
        wrong = "the explored runs do not show all that brute force shows";
    else if (suspects)
        wrong = "something was suspect in a deterministic system";
    else if (again)
        wrong = "a run was repeated";
    else if (stats.transcripts != brute->facts.items.n)
        wrong = "the transcripts are counted wrongly";
    else if (!space.known ||
             (uint64_t)(space.saved[POLICY_ENCAPSULATION] + 0.5) + stats.runs != x.possible)
        wrong = "the possible faultloads are counted wrongly";
    else
        wrong = x.wrong;
    totals->points += stats.points;
    totals->conditional += stats.conditional;
    totals->runs += stats.runs;
    totals->possible += x.possible;
    totals->facts += stats.transcripts;
    map_deinit(&facts);
    return wrong;
}

/* How calls differ in what modes they take, and the modes (n_modes 0: the system's own). */
struct kinds {
    uint8_t (*flags)(const struct names *names, uid u);
    mode modes[4];
    uint32_t n_modes;
};

static void use_kinds(struct lab *lab, const struct kinds *kinds)
{
    lab->flags = kinds->flags;
    lab->modes = kinds->n_modes ? kinds->modes : NULL;
    lab->n_modes = kinds->n_modes;
}

static const char *check_exact(const struct node *system, struct totals *totals,
                               const struct kinds *kinds)
{
    struct lab explored, brute;
    struct err e = {0};
    const char *wrong = NULL;
    if (lab_init(&brute, system, &e)) {
        lab_deinit(&brute);
        return NULL; /* shrinking tries systems that do not load */
    }
    use_kinds(&brute, kinds);
    if (!lab_brute_force(&brute, BRUTE_MAX, NULL, NULL)) {
        totals->skipped++;
    } else if (lab_init(&explored, system, &e) == 0) {
        use_kinds(&explored, kinds);
        struct search_options options = lab_options(&explored);
        struct search *search = lab_explore(&explored, &options, 2 * BRUTE_MAX);
        wrong = check_search(&explored, &brute, search, totals);
        totals->systems++;
        search_free(search);
        lab_deinit(&explored);
    }
    lab_deinit(&brute);
    return wrong;
}

/* Exact search: complete, every fault fires, nothing twice, counted and explained rightly. */
static const char *claim_exact(const struct node *system, struct totals *totals)
{
    return check_exact(system, totals, &(struct kinds){0});
}

/* Kinds of calls, by name, so that they are the same in every lab. */
static uint8_t some_flags(const struct names *names, uid u)
{
    static const uint8_t kinds[] = {0,         CALL_HTTP, CALL_HTTP,
                                    CALL_GRPC, CALL_GRPC, CALL_EXEMPT | CALL_HTTP};
    struct buf text = BUF_INIT(1000);
    uid_print(names, u, &text);
    uint64_t hash = hash_slice(buf_slice(&text));
    buf_deinit(&text);
    return kinds[hash % (sizeof kinds / sizeof *kinds)];
}

/* The same where calls take different modes, or none. */
static const char *claim_kinds(const struct node *system, struct totals *totals)
{
    struct kinds kinds = {.flags = some_flags, .n_modes = 4};
    static const char *const modes[] = {"503", "reset", "rst-stream:7", "lost-reply:grpc:14"};
    struct err e = {0};
    for (uint32_t i = 0; i < kinds.n_modes; i++)
        if (mode_parse(slice_of(modes[i]), &kinds.modes[i], &e))
            fail_msg("%s", e.text);
    return check_exact(system, totals, &kinds);
}

/* Explores with these options and compares with the exact search. */
static const char *compare(const struct node *system, struct totals *totals,
                           struct search_options changes, bool complete)
{
    struct lab lab;
    struct err e = {0};
    const char *wrong = NULL;
    struct search_stats stats;
    if (lab_init(&lab, system, &e)) {
        lab_deinit(&lab);
        return NULL;
    }
    struct search_options options = lab_options(&lab);
    changes.modes = options.modes;
    changes.n_modes = options.n_modes;
    changes.baselines = 1;
    struct search *exact = lab_explore(&lab, &options, BRUTE_MAX), *other = NULL;
    struct map facts = take_facts(&lab);
    search_stats(exact, &stats);
    if (!stats.complete) {
        totals->skipped++;
    } else {
        uint32_t n;
        uint64_t suspects;
        other = lab_explore(&lab, &changes, 2 * BRUTE_MAX);
        search_stats(other, &stats);
        search_suspects(other, &n, &suspects);
        if (!stats.complete)
            wrong = "the search did not end";
        else if (suspects)
            wrong = "something was suspect in a deterministic system";
        else if (repeated(&lab))
            wrong = "a run was repeated";
        else if (complete && !same_facts(&facts, &lab.facts))
            wrong = "the orders do not show the same";
        else if (!complete && !within_facts(&lab.facts, &facts))
            wrong = "a reduced search showed what the exact one did not";
        totals->systems++;
        totals->runs += stats.runs;
    }
    search_free(exact);
    search_free(other);
    map_deinit(&facts);
    lab_deinit(&lab);
    return wrong;
}

static const char *claim_depth(const struct node *system, struct totals *totals)
{
    return compare(system, totals, (struct search_options){.order = 1}, true);
}

static const char *claim_random(const struct node *system, struct totals *totals)
{
    return compare(system, totals, (struct search_options){.order = 2, .seed = 7}, true);
}

static const char *claim_lineage(const struct node *system, struct totals *totals)
{
    return compare(system, totals, (struct search_options){.order = order_find(SLICE("lineage"))},
                   true);
}

static const char *claim_stateless(const struct node *system, struct totals *totals)
{
    return compare(system, totals, (struct search_options){.assume = 1u << REDUCE_STATELESS},
                   false);
}

static const char *claim_modes(const struct node *system, struct totals *totals)
{
    return compare(system, totals, (struct search_options){.assume = 1u << REDUCE_MODES}, false);
}

static const char *claim_modes_once(const struct node *system, struct totals *totals)
{
    return compare(system, totals, (struct search_options){.assume = 1u << REDUCE_MODES_ONCE},
                   false);
}

static const char *claim_max_faults(const struct node *system, struct totals *totals)
{
    return compare(system, totals,
                   (struct search_options){.assume = 1u << REDUCE_MAX_FAULTS, .max_faults = 2},
                   false);
}

static const char *claim_t_way(const struct node *system, struct totals *totals)
{
    return compare(system, totals,
                   (struct search_options){.assume = 1u << REDUCE_T_WAY, .t_way = 2}, false);
}

static const char *claim_retries(const struct node *system, struct totals *totals)
{
    return compare(system, totals, (struct search_options){.assume = 1u << REDUCE_RETRIES}, false);
}

/* A search that is given its past runs again goes on as if it had never stopped. */
static const char *claim_resume(const struct node *system, struct totals *totals)
{
    struct lab lab;
    struct err e = {0};
    const char *wrong = NULL;
    if (lab_init(&lab, system, &e)) {
        lab_deinit(&lab);
        return NULL;
    }
    struct search_options options = lab_options(&lab);
    struct search *whole = lab_explore(&lab, &options, 200);
    uint32_t n;
    const struct search_run *runs = search_runs(whole, &n);
    struct search *first = lab_explore(&lab, &options, n / 2);
    struct search *resumed = search_new(&lab.names, &lab.fl, &options);
    faultload f;
    uint32_t past;
    const struct search_run *past_runs = search_runs(first, &past);
    for (uint32_t i = 0; i < n && !wrong; i++) {
        if (!search_next(resumed, &f) || !faultload_eq(&lab.fl, f, runs[i].faultload) ||
            (i < past && !faultload_eq(&lab.fl, f, past_runs[i].faultload)))
            wrong = "the resumed search takes another way";
        lab_run(&lab, f);
        search_observe(resumed, f, &lab.trace, &lab.verdict);
    }
    totals->systems++;
    totals->runs += n;
    search_free(whole);
    search_free(first);
    search_free(resumed);
    lab_deinit(&lab);
    return wrong;
}

/* ---- the runner ---- */

struct shrinking {
    claim *claim;
};

static bool still_fails(const struct node *system, void *ctx)
{
    struct shrinking *s = ctx;
    struct totals ignored = {0};
    return s->claim(system, &ignored) != NULL;
}

static void for_systems(claim *check, uint32_t n, struct totals *totals)
{
    for (uint64_t seed = 0; totals->systems < n; seed++) {
        struct arena a = {0};
        const struct node *system = random_system(seed, &a);
        const char *wrong = check(system, totals);
        if (wrong) {
            struct shrinking s = {check};
            struct buf text = BUF_INIT(1 << 20);
            node_print(shrink_system(system, &a, still_fails, &s), &text);
            print_error("seed %llu: %s\nshrunken system: %s\n", (unsigned long long)seed, wrong,
                        buf_text(&text));
            fail();
        }
        arena_deinit(&a);
    }
}

static void test_exact(void **state)
{
    (void)state;
    struct totals t = {0};
    for_systems(claim_exact, volume(5000), &t);
    double n = (double)t.systems;
    print_message(
        "# %llu systems (%llu too large): mean %.1f points, %.1f conditional, %.1f runs of %.1f "
        "possible, %.1f transcripts\n",
        (unsigned long long)t.systems, (unsigned long long)t.skipped, (double)t.points / n,
        (double)t.conditional / n, (double)t.runs / n, (double)t.possible / n, (double)t.facts / n);
    /* the systems are worth testing */
    assert_true((double)t.points / n > 3.8);
    assert_true((double)t.conditional / n > 1);
    assert_true((double)t.runs / n > 30);
    assert_true((double)t.possible / n > 60);
}

#define TEST(name, n)                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        struct totals t = {0};                                                                     \
        (void)state;                                                                               \
        for_systems(claim_##name, volume(n), &t);                                                  \
        assert_true(t.runs > 5 * t.systems);                                                       \
    }

TEST(kinds, 2000)
TEST(depth, 500)
TEST(random, 500)
TEST(lineage, 2000)
TEST(stateless, 500)
TEST(modes, 500)
TEST(modes_once, 500)
TEST(max_faults, 500)
TEST(t_way, 500)
TEST(retries, 500)
TEST(resume, 300)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),      cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_depth),      cmocka_unit_test(test_random),
        cmocka_unit_test(test_stateless),  cmocka_unit_test(test_modes),
        cmocka_unit_test(test_modes_once), cmocka_unit_test(test_max_faults),
        cmocka_unit_test(test_t_way),      cmocka_unit_test(test_retries),
        cmocka_unit_test(test_resume),     cmocka_unit_test(test_lineage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
