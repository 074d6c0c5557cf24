/* SPDX-License-Identifier: Apache-2.0
 *
 * From failed runs to findings, and what is said about faultloads that were not run. */
#include <string.h>

#include "campaign/explore.h"
#include "report/words.h"
#include "support/lab.h"
#include "support/unit.h"

#define LEAF(name) "  " name ": { GET /: }\n"

/* Fails when both fail in the same way; larger faultloads fail too. */
static const char *const pairs =
    "system: pairs\nmodes: [500, 503]\nservices:\n"
    "  front:\n    GET /:\n"
    "      - call: x GET /\n        as: x\n"
    "      - call: y GET /\n        as: y\n"
    "      - call: z GET /\n        as: z\n"
    "      - if: x.failed and x.status == y.status\n"
    "        then: [ { if: z.ok, then: { reply: 500 }, else: { reply: 502 } } ]\n" LEAF("x")
        LEAF("y") LEAF("z") "scenarios:\n  s:\n    request: front GET /\n"
                            "    expect: [ { then: status == 200, say: both the same } ]\n";

/* Fails with x; with y a run is impossible. */
static const char *const endless =
    "system: endless\nmodes: [503]\ndata: { many: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }\nservices:\n"
    "  front:\n    GET /:\n"
    "      - call: x GET /\n        on: { failed: { reply: 500 } }\n"
    "      - call: y GET /\n"
    "        on:\n          failed:\n"
    "            - each: \"{data.many}\"\n              as: a\n              do:\n"
    "                - each: \"{data.many}\"\n                  as: b\n                  do:\n"
    "                    - each: \"{data.many}\"\n                      as: c\n                      do:\n"
    "                        - each: \"{data.many}\"\n                          as: d\n                          do:\n"
    "                            - call: z GET /\n" LEAF("x") LEAF("y")
        LEAF("z") "scenarios:\n  s:\n    request: front GET /\n"
                  "    expect: [ { then: status == 200, say: x is needed } ]\n";

static int run_lab(void *ctx, faultload f, uint64_t number, struct run *run, struct err *e)
{
    struct lab *lab = ctx;
    aim_set(&lab->aim, &lab->names, &lab->fl, f);
    return sim_run(lab->sim, 0, &lab->aim, number, &run->trace, &run->verdict, NULL, e);
}

static int explore_text(struct lab *lab, const char *yaml, struct search **search,
                        struct summary *out, struct err *e)
{
    *out = (struct summary){0};
    if (lab_init_text(lab, yaml, e))
        fail_msg("%u:%u: %s", e->line, e->col, e->text);
    struct search_options options = lab_options(lab);
    *search = search_new(&lab->names, &lab->fl, &options);
    struct exploration x = {
        .search = *search, .names = &lab->names, .faultloads = &lab->fl, .runner = {lab, run_lab}};
    return explore(&x, 1, NULL, &out, e);
}

static void assert_words(const struct summary *s, uint32_t finding, const char *expected)
{
    struct buf text = BUF_INIT(10000);
    words_finding(s, &s->findings.at[finding], NULL, NULL, &text);
    assert_string_equal(buf_text(&text), expected);
    buf_deinit(&text);
}

static void test_grouping(void **state)
{
    struct lab lab;
    struct search *search;
    struct summary s;
    struct err e = {0};
    (void)state;
    assert_int_equal(explore_text(&lab, pairs, &search, &s, &e), 0);
    assert_int_equal(s.findings.n, 1);
    assert_int_equal(faultload_size(&lab.fl, s.findings.at[0].faultload), 2);
    assert_int_equal(s.findings.at[0].n_alike, 1); /* 500 with 500, 503 with 503 */
    assert_int_equal(s.findings.at[0].runs, 6);    /* alone, and with each way of z to fail */
    assert_int_equal(s.findings.at[0].n_statuses, 2);
    assert_words(&s, 0,
                 "x GET / answers 500 and y GET / answers 500, or in 1 other combination of modes");
    summary_deinit(&s);
    search_free(search);
    lab_deinit(&lab);
}

static void test_impossible_run(void **state)
{
    struct lab lab;
    struct search *search;
    struct summary s;
    struct err e = {0};
    (void)state;
    assert_int_equal(explore_text(&lab, endless, &search, &s, &e), -1);
    assert_non_null(strstr(e.text, "too many calls"));
    assert_non_null(strstr(e.text, "y GET / : 503"));
    assert_string_equal(s.stopped, "error");
    assert_int_equal(s.findings.n, 1); /* what was found before is not lost */
    summary_deinit(&s);
    search_free(search);
    lab_deinit(&lab);
}

/* ---- explanations ---- */

static const char *const decisions =
    "system: decisions\nmodes: [503]\nservices:\n"
    "  front:\n    GET /:\n"
    "      - call: a GET /\n        as: a\n"
    "      - call: b GET /\n"
    "      - call: items GET /\n        as: i\n"
    "      - if: a.ok and i.status == 200\n        then: { call: c GET / }\n"
    "      - if: i.status == 203\n        then: { call: d GET / }\n"
    "  items:\n    GET /:\n      - call: db GET /\n        on: { failed: { reply: 203 } }\n" LEAF(
        "a") LEAF("b") LEAF("c") LEAF("d")
        LEAF("db") "scenarios: { s: { request: front GET / } }\n";

static const struct {
    const char *faultload, *expected;
} explanations[] = {
    /* b fails too, and last, but it is a that decides */
    {"front GET / > a GET / : 503 & front GET / > b GET / : 503 & front GET / > c GET / : 503",
     "cannot happen: front does not call c GET / any more when a GET / ends with 503"},
    /* no error at all decides: 203 */
    {"front GET / > items GET / > db GET / : 503 & front GET / > c GET / : 503",
     "cannot happen: front does not call c GET / any more when items GET / ends with 203"},
    {"front GET / > d GET / : 503",
     "cannot happen: front calls d GET / only after a failure that nothing "
     "here causes, for example when items GET / ends with 203"},
    {"front GET / > items GET / : 503 & front GET / > items GET / > db GET / : 503",
     "cannot happen: items > db GET / is only called by a service that is itself never reached"},
    {"front GET / > items GET / > db GET / : 503", "was run"},
    {"front GET / > a GET / : 503 & front GET / > items GET / > db GET / : 503", "was run"},
    {"front GET / > e GET / : 503",
     "cannot be judged: no run has shown a call front GET / > e GET /"},
};

static void test_explanations(void **state)
{
    struct lab lab;
    struct search *search;
    struct summary s;
    struct err e = {0};
    (void)state;
    assert_int_equal(explore_text(&lab, decisions, &search, &s, &e), 0);
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++) {
        struct buf text = BUF_INIT(10000);
        struct explanation x;
        faultload f;
        assert_int_equal(
            faultload_parse(&lab.names, &lab.fl, slice_of(explanations[i].faultload), &f, &e), 0);
        search_explain(search, f, &x);
        words_explanation(&lab.names, &lab.fl, &x, &text);
        if (!slice_starts(buf_slice(&text), slice_of(explanations[i].expected)))
            fail_msg("%s: %s", explanations[i].faultload, buf_text(&text));
        buf_deinit(&text);
    }
    summary_deinit(&s);
    search_free(search);
    lab_deinit(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grouping),
        cmocka_unit_test(test_impossible_run),
        cmocka_unit_test(test_explanations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
