/* SPDX-License-Identifier: Apache-2.0
 *
 * The order `lineage`: hypotheses first, no matter what in the end, and what it is good for, counted in
 * runs on systems with redundancy. */
#include <stdio.h>

#include "search/search_int.h"
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void load_text(struct lab *lab, const char *text)
{
    struct err e = {0};
    if (lab_init_text(lab, text, &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
}

static void load_file(struct lab *lab, const char *name)
{
    const char *top = getenv("TOP");
    struct err e = {0};
    char path[500];
    snprintf(path, sizeof path, "%s/%s.yaml", top ? top : ".", name);
    if (lab_init_file(lab, path, &e))
        fail_msg("%s: %s", path, e.text);
}

static struct search *start(struct lab *lab, const char *order)
{
    struct search_options options = lab_options(lab);
    options.order = order_find(slice_of(order));
    assert_true(options.order < order_count);
    return search_new(&lab->names, &lab->fl, &options);
}

/* One run more; false: nothing is left. */
static bool step(struct lab *lab, struct search *s)
{
    faultload f;
    if (!search_next(s, &f))
        return false;
    lab_run(lab, f);
    search_observe(s, f, &lab->trace, &lab->verdict);
    return true;
}

/* "a.503 a#1.503\n": the faults of a faultload. */
static void print_faults(const struct lab *lab, faultload f, struct buf *out)
{
    struct fault faults[16];
    uint32_t n = 0;
    for (; f != FAULTLOAD_EMPTY; f = lab->fl.rows.at[f].rest)
        faults[n++] = lab->fl.rows.at[f].last;
    while (n-- > 0) {
        const struct element *el = uid_element(&lab->names, faults[n].point);
        buf_addf(out, "%.*s", SLICE_ARG(names_text(&lab->names, el->service)));
        if (el->n)
            buf_addf(out, "#%u", (unsigned)el->n);
        buf_addc(out, '.');
        mode_print(faults[n].mode, out);
        buf_addc(out, n ? ' ' : '\n');
    }
}

/* The runs of a system in this order must begin so. */
static void check_runs(const char *system, const char *expected)
{
    struct lab lab;
    struct buf text = BUF_INIT(1 << 20);
    uint32_t n;
    load_text(&lab, system);
    struct search *s = start(&lab, "lineage");
    while (step(&lab, s))
        ;
    const struct search_run *runs = search_runs(s, &n);
    for (uint32_t i = 1; i < n; i++)
        print_faults(&lab, runs[i].faultload, &text);
    const char *all = buf_text(&text);
    if (strncmp(all, expected, strlen(expected)) != 0)
        fail_msg("%s", all);
    search_free(s);
    lab_deinit(&lab);
    buf_deinit(&text);
}

/* ---- the sequence ---- */

/* a has a spare, c does not. One mode of each call, then the one hypothesis that is left: a with its
 * spare. Only then other modes; with c, which breaks everything alone, at last. */
static void test_sequence(void **state)
{
    (void)state;
    check_runs("system: s\nmodes: [500, 503]\n"
               "services:\n"
               "  front:\n"
               "    GET /:\n"
               "      - { call: x GET / }\n"
               "      - { call: a GET /, as: a, on: { failed: { call: b GET /, as: a } } }\n"
               "      - { call: c GET /, as: c }\n"
               "      - { if: a.ok and c.ok, then: { reply: 200 }, else: { reply: 500 } }\n"
               "  x: { GET /: }\n"
               "  a: { GET /: }\n"
               "  b: { GET /: }\n"
               "  c: { GET /: }\n"
               "scenarios: { main: { request: front GET /, expect: [{ then: status == 200 }] } }\n",
               "x.500\na.500\nc.500\n"      /* hypotheses: all calls, */
               "x.500 a.500\na.500 b.500\n" /* and pairs of what is not needed alone */
               "c.503\n"                    /* hits: another mode of c */
               "a.500 b.503\n"
               "x.503\na.503\na.503 b.500\n");
}

/* Rule 2: an error that is passed up is not tried again where it passed. */
static void test_passed_up(void **state)
{
    (void)state;
    check_runs("system: s\nmodes: [503]\n"
               "services:\n"
               "  front: { GET /: [ { call: a GET /, on: { failed: { reply: 503 } } } ] }\n"
               "  a: { GET /: [ { call: b GET /, on: { failed: { reply: 503 } } } ] }\n"
               "  b: { GET /: [ { call: c GET /, on: { failed: { reply: 503 } } } ] }\n"
               "  c: { GET /: }\n"
               "scenarios: { main: { request: front GET / } }\n",
               "c.503\n");
}

/* What is peeked at is what comes, when nothing is learned meanwhile; and all that is queued. */
static void test_peek(void **state)
{
    (void)state;
    uint64_t looked = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct arena a = {0};
        struct lab lab;
        struct err e = {0};
        struct frontier_item peeked[64], item;
        if (lab_init(&lab, random_system(seed, &a), &e))
            fail_msg("%s", e.text);
        struct search *s = start(&lab, "lineage");
        for (uint32_t n = 0; n < 10 && step(&lab, s); n++)
            ;
        uint32_t n = 0;
        while (n < 64 && frontier_peek(&s->frontier, n, &peeked[n]))
            n++;
        assert_true(n == 64 || n == s->frontier.n);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(frontier_pop(&s->frontier, &item));
            assert_int_equal(item.faultload, peeked[i].faultload);
            looked++;
        }
        search_free(s);
        lab_deinit(&lab);
        arena_deinit(&a);
    }
    assert_true(looked > 1000);
}

/* ---- what it is good for ---- */

/* How many runs until one is not as expected; `lost`: until the client does not get 200. */
static uint32_t runs_until(const char *name, const char *order, bool lost)
{
    struct lab lab;
    load_file(&lab, name);
    struct search *s = start(&lab, order);
    uint32_t n = 0;
    bool found = false;
    while (!found && n < 20000 && step(&lab, s)) {
        n++;
        found = lost ? lab.verdict.status != mode_outcome(mode_make(MODE_STATUS, 200))
                     : !lab.verdict.pass;
    }
    search_free(s);
    lab_deinit(&lab);
    return found ? n - 1 : 0; /* without the one without faults */
}

/* The figures of docs/search.md. At most half of what it takes by size; `auto` (both) has no more. */
static void test_first_violation(void **state)
{
    static const struct {
        const char *name;
        bool lost;
        uint32_t size, soon, lineage, both;
    } rows[] = {
        {"tests/lineage/copies", false, 205, 205, 10, 10},
        {"tests/lineage/regions", false, 32, 32, 4, 4},
        {"tests/lineage/quorum", false, 105, 105, 12, 12},
        {"tests/lineage/queue", false, 333, 125, 12, 12},
        {"tests/lineage/stages", false, 88, 88, 10, 10},
        {"tests/lineage/undo", false, 145, 81, 37, 7},
        {"examples/corpus/netflix", false, 21, 21, 6, 6},
        {"examples/patterns/fallback-service", true, 13, 13, 4, 4},
        {"examples/patterns/retry", true, 24, 24, 6, 6},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(runs_until(rows[i].name, "size", rows[i].lost), rows[i].size);
        assert_int_equal(runs_until(rows[i].name, "soon", rows[i].lost), rows[i].soon);
        assert_int_equal(runs_until(rows[i].name, "lineage", rows[i].lost), rows[i].lineage);
        assert_true(2 * rows[i].lineage <= rows[i].size);
        assert_int_equal(runs_until(rows[i].name, "auto", rows[i].lost), rows[i].both);
        assert_true(10 * rows[i].both <= 11 * rows[i].lineage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_passed_up),
        cmocka_unit_test(test_peek),
        cmocka_unit_test(test_first_violation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
