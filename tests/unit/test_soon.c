/* SPDX-License-Identifier: Apache-2.0
 *
 * The order `soon`: a call with all its tries is one thing, and who waits comes later. */
#include <stdio.h>
#include <string.h>

#include "search/frontier.h"
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

static uint32_t order_named(const char *name)
{
    uint32_t i = 0;
    while (strcmp(order_rows[i].name, name) != 0)
        i++;
    return i;
}

/* "a.503 a#1.503": the faults of the runs in their order, one run a line. */
static void print_runs(struct lab *lab, const struct search *s, struct buf *out)
{
    uint32_t n;
    const struct search_run *runs = search_runs(s, &n);
    for (uint32_t i = 1; i < n; i++) {
        struct fault faults[8];
        uint32_t size = 0;
        for (faultload f = runs[i].faultload; f != FAULTLOAD_EMPTY; f = lab->fl.rows.at[f].rest)
            faults[size++] = lab->fl.rows.at[f].last;
        while (size-- > 0) {
            const struct element *el = uid_element(&lab->names, faults[size].point);
            buf_addf(out, "%.*s", SLICE_ARG(names_text(&lab->names, el->service)));
            if (el->n)
                buf_addf(out, "#%u", (unsigned)el->n);
            buf_addc(out, '.');
            mode_print(faults[size].mode, out);
            buf_addc(out, size ? ' ' : '\n');
        }
    }
}

/* b is called in any case, and once more in any case: that is no try. */
static void test_sequence(void **state)
{
    static const char system[] =
        "system: s\nmodes: [503, hold]\n"
        "services:\n"
        "  front:\n"
        "    GET /:\n"
        "      - { call: a GET /, timeout: 1s, retry: { times: 2, on: failed } }\n"
        "      - { call: b GET /, timeout: 1s }\n"
        "      - { call: b GET /, timeout: 1s }\n"
        "  a: { GET /: }\n"
        "  b: { GET /: }\n"
        "scenarios: { main: { request: front GET / } }\n";
    static const char expected[] =
        "a.503\nb.503\nb#1.503\na.503 a#1.503\na.503 a#1.503 a#2.503\n" /* one thing */
        "a.503 b.503\na.503 b#1.503\nb.503 b#1.503\n"                   /* two */
        "a.503 a#1.503 b.503\na.503 a#1.503 b#1.503\n"
        "a.503 a#1.503 a#2.503 b.503\na.503 a#1.503 a#2.503 b#1.503\n"
        "a.hold\nb.hold\nb#1.hold\na.hold a#1.hold\na.hold a#1.hold a#2.hold\n" /* one, slow */
        "a.503 b.503 b#1.503\n";                                                /* three */
    struct lab lab;
    struct err e = {0};
    struct buf text = BUF_INIT(1 << 16);
    (void)state;
    if (lab_init_text(&lab, system, &e))
        fail_msg("%s", e.text);
    struct search_options options = lab_options(&lab);
    options.order = order_named("soon");
    struct search *s = lab_explore(&lab, &options, 0);
    print_runs(&lab, s, &text);
    const char *all = buf_text(&text);
    if (strncmp(all, expected, strlen(expected)) != 0)
        fail_msg("%s", all);
    search_free(s);
    lab_deinit(&lab);
    buf_deinit(&text);
}

/* The order decides what comes when, not what is seen. */
static void test_same_facts(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        uint64_t seen[2];
        const char *const orders[] = {"size", "soon"};
        for (int k = 0; k < 2; k++) {
            struct arena a = {0};
            struct lab lab;
            struct err e = {0};
            struct search_stats stats;
            if (lab_init(&lab, random_system(seed, &a), &e))
                fail_msg("%s", e.text);
            struct search_options options = lab_options(&lab);
            options.order = order_named(orders[k]);
            struct search *s = lab_explore(&lab, &options, 3000);
            search_stats(s, &stats);
            seen[k] = stats.complete ? stats.transcripts : 0;
            search_free(s);
            lab_deinit(&lab);
            arena_deinit(&a);
        }
        if (seen[0] && seen[1])
            assert_int_equal(seen[0], seen[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_same_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
