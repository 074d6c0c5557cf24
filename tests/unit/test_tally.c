/* SPDX-License-Identifier: Apache-2.0
 *
 * findings/tally: failed runs become findings. The runs are those of a simulated system, explored
 * in memory; verdicts are what a test says they are. */
#include "findings/tally.h"

#include <string.h>

#include "support/lab.h"
#include "support/unit.h"

/* a calls b, c and d, whatever comes of it. */
static const char fan[] = "system: fan\n"
                          "modes: [500, 503]\n"
                          "services:\n"
                          "  a:\n"
                          "    GET /:\n"
                          "      - call: b GET /\n"
                          "      - call: c GET /\n"
                          "      - call: d GET /\n"
                          "  b: { GET /: [] }\n"
                          "  c: { GET /: [] }\n"
                          "  d: { GET /: [] }\n"
                          "scenarios:\n"
                          "  ask: { request: a GET / }\n";

typedef const char *(*judge)(uint32_t faults, const char *text);

/* Explores the system; `why` says of each run whether it failed. */
static void explore(struct lab *lab, struct summary *out, struct tally **tally,
                    struct search **search, judge why, uint32_t flags)
{
    struct err e = {0};
    if (lab_init_text(lab, fan, &e))
        fail_msg("%s", e.text);
    struct search_options options = lab_options(lab);
    faultload f;
    *search = search_new(&lab->names, &lab->fl, &options);
    *out = (struct summary){.names = &lab->names, .faultloads = &lab->fl};
    *tally = tally_new(*search, &lab->names, &lab->fl, out);
    while (search_next(*search, &f)) {
        struct buf text = BUF_INIT(10000);
        lab_run(lab, f);
        faultload_print(&lab->names, &lab->fl, f, &text);
        const char *reason = why(faultload_size(&lab->fl, f), buf_text(&text));
        struct run run = {.faultload = f, .flags = reason ? flags : 0, .trace = lab->trace};
        run.verdict = lab->verdict;
        run.verdict.pass = reason == NULL;
        run.verdict.why = reason ? reason : "";
        run.verdict.detail = reason ? "as it was" : NULL;
        search_observe(*search, f, &lab->trace, &run.verdict);
        tally_run(*tally, &run);
        buf_deinit(&text);
    }
    tally_finish(*tally);
}

static void close_all(struct lab *lab, struct summary *out, struct tally *tally,
                      struct search *search)
{
    tally_free(tally);
    search_free(search);
    summary_deinit(out);
    lab_deinit(lab);
}

static const char *never(uint32_t faults, const char *text)
{
    (void)faults;
    (void)text;
    return NULL;
}

static void test_none(void **state)
{
    (void)state;
    struct lab lab;
    struct summary out;
    struct tally *t;
    struct search *s;
    explore(&lab, &out, &t, &s, never, 0);
    assert_int_equal(out.findings.n, 0);
    assert_int_equal(out.failed_runs, 0);
    assert_int_equal(tally_findings(t), 0);
    assert_int_equal(out.runs, 27); /* three points, two modes and none */
    assert_int_equal(out.runs_by_size.n, 4);
    assert_int_equal(out.runs_by_size.at[0], 1); /* fault-free runs count once */
    assert_int_equal(out.runs_by_size.at[1], 6);
    assert_int_equal(out.runs_by_size.at[3], 8);
    assert_int_equal(out.points, 3);
    assert_int_equal((int)out.space, 27);
    assert_null(out.stopped);
    close_all(&lab, &out, t, s);
}

static const char *when_b(uint32_t faults, const char *text)
{
    (void)faults;
    return strstr(text, "b GET") ? "b matters" : NULL;
}

/* One fault is enough: everything larger that has it is the same finding. */
static void test_single(void **state)
{
    (void)state;
    struct lab lab;
    struct summary out;
    struct tally *t;
    struct search *s;
    explore(&lab, &out, &t, &s, when_b, 0);
    assert_int_equal(out.failed_runs, 18);
    assert_int_equal(out.findings.n, 1);
    const struct finding *f = &out.findings.at[0];
    assert_int_equal(faultload_size(&lab.fl, f->faultload), 1);
    assert_int_equal(f->n_alike, 1); /* the other mode */
    assert_int_equal(f->runs, 18);
    assert_int_equal(f->kind, FINDING_EXPECTATION);
    assert_string_equal(f->why, "b matters");
    assert_string_equal(f->detail, "as it was");
    close_all(&lab, &out, t, s);
}

static const char *when_two(uint32_t faults, const char *text)
{
    (void)text;
    return faults >= 2 ? "two are too many" : NULL;
}

static void test_pairs(void **state)
{
    (void)state;
    struct lab lab;
    struct summary out;
    struct tally *t;
    struct search *s;
    explore(&lab, &out, &t, &s, when_two, RUN_CRASHED);
    assert_int_equal(out.failed_runs, 20);
    assert_int_equal(out.findings.n, 3); /* of three points, any two; all three are no news */
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(faultload_size(&lab.fl, out.findings.at[i].faultload), 2);
        assert_int_equal(out.findings.at[i].n_alike, 3);
        assert_int_equal(out.findings.at[i].kind, FINDING_CRASH);
    }
    close_all(&lab, &out, t, s);
}

/* Which of several modes stands for a finding does not depend on which came first. */
static void test_order(void **state)
{
    (void)state;
    struct lab lab;
    struct summary out;
    struct tally *t;
    struct search *s;
    explore(&lab, &out, &t, &s, when_two, 0);
    const struct search_run *runs;
    uint32_t n;
    struct summary back = {.names = &lab.names, .faultloads = &lab.fl};
    runs = search_runs(s, &n);
    struct search_options options = lab_options(&lab);
    struct search *other = search_new(&lab.names, &lab.fl, &options);
    struct tally *reversed = tally_new(other, &lab.names, &lab.fl, &back);
    for (uint32_t i = n; i-- > 0;) {
        lab_run(&lab, runs[i].faultload);
        struct run run = {.faultload = runs[i].faultload, .trace = lab.trace};
        run.verdict.pass = faultload_size(&lab.fl, runs[i].faultload) < 2;
        run.verdict.why = run.verdict.pass ? "" : "two are too many";
        search_observe(other, run.faultload, &lab.trace, &run.verdict);
        tally_run(reversed, &run);
    }
    tally_finish(reversed);
    assert_int_equal(back.findings.n, out.findings.n);
    for (uint32_t i = 0; i < out.findings.n; i++) {
        uint32_t found = 0;
        for (uint32_t k = 0; k < back.findings.n; k++)
            found +=
                faultload_eq(&lab.fl, back.findings.at[k].faultload, out.findings.at[i].faultload);
        assert_int_equal(found, 1);
        assert_int_equal(back.findings.at[i].n_alike, 3);
    }
    tally_free(reversed);
    search_free(other);
    summary_deinit(&back);
    close_all(&lab, &out, t, s);
}

static const char *by_size(uint32_t faults, const char *text)
{
    static const char *const reasons[] = {NULL, NULL, "two", "three"};
    (void)text;
    return reasons[faults];
}

/* Another reason is another finding, also where a smaller one is within it. */
static void test_reasons(void **state)
{
    (void)state;
    struct lab lab;
    struct summary out;
    struct tally *t;
    struct search *s;
    explore(&lab, &out, &t, &s, by_size, RUN_HUNG);
    assert_int_equal(out.findings.n, 4);
    assert_string_equal(out.findings.at[3].why, "three");
    assert_int_equal(out.findings.at[3].n_alike, 7);
    assert_int_equal(out.findings.at[3].kind, FINDING_HANG);
    close_all(&lab, &out, t, s);
}

static const char *always(uint32_t faults, const char *text)
{
    (void)faults;
    (void)text;
    return "broken";
}

/* A run without any fault that fails is no finding: there is nothing to blame. */
static void test_always(void **state)
{
    (void)state;
    struct lab lab;
    struct summary out;
    struct tally *t;
    struct search *s;
    explore(&lab, &out, &t, &s, always, 0);
    assert_int_equal(out.findings.n, 3);
    for (uint32_t i = 0; i < out.findings.n; i++)
        assert_int_equal(faultload_size(&lab.fl, out.findings.at[i].faultload), 1);
    close_all(&lab, &out, t, s);
}

/* Would this one be news? */
static void test_news(void **state)
{
    (void)state;
    struct lab lab;
    struct summary out;
    struct tally *t;
    struct search *s;
    explore(&lab, &out, &t, &s, when_b, 0);
    const struct search_run *runs;
    uint32_t n, known = 0;
    runs = search_runs(s, &n);
    for (uint32_t i = 0; i < n; i++) {
        lab_run(&lab, runs[i].faultload);
        struct run run = {.faultload = runs[i].faultload, .trace = lab.trace};
        run.verdict.why = "b matters";
        known += !tally_is_new(t, &run);
        run.verdict.why = "something else";
        assert_true(tally_is_new(t, &run));
    }
    assert_int_equal(known, 18);
    assert_int_equal(tally_findings(t), 1);
    close_all(&lab, &out, t, s);
}

/* A run that fails although none of its faults fired is no finding, and no proof either. */
static void test_by_itself(void **state)
{
    (void)state;
    struct lab lab;
    struct summary out;
    struct tally *t;
    struct search *s;
    struct err e = {0};
    faultload f;
    if (lab_init_text(&lab, fan, &e))
        fail_msg("%s", e.text);
    struct search_options options = lab_options(&lab);
    s = search_new(&lab.names, &lab.fl, &options);
    out = (struct summary){.names = &lab.names, .faultloads = &lab.fl};
    t = tally_new(s, &lab.names, &lab.fl, &out);
    for (uint32_t i = 0; search_next(s, &f); i++) {
        bool hiccup = i == 7;
        lab_run(&lab, hiccup ? FAULTLOAD_EMPTY : f);
        struct run run = {.faultload = f, .trace = lab.trace, .verdict = lab.verdict};
        run.verdict.pass = !hiccup;
        run.verdict.why = hiccup ? "it happens" : "";
        search_observe(s, f, &lab.trace, &run.verdict);
        tally_run(t, &run);
    }
    assert_false(tally_exhaustive(t));
    tally_finish(t);
    assert_int_equal(out.findings.n, 0);
    assert_non_null(out.doubt);
    close_all(&lab, &out, t, s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),   cmocka_unit_test(test_single),
        cmocka_unit_test(test_pairs),  cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_always), cmocka_unit_test(test_news),
        cmocka_unit_test(test_order),  cmocka_unit_test(test_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
