/* SPDX-License-Identifier: Apache-2.0
 *
 * What a campaign makes of its runs: which failure is new, and what the findings are in the end. */
#include "campaign/tally.h"

#include <stdio.h>

#include "support/unit.h"

/* A tally with a search that has seen nothing: runs are made up. */
struct made {
    struct names names;
    struct faultloads fl;
    struct search *search;
    struct summary out;
    struct tally t;
};

static void start(struct made *m)
{
    static const mode modes[] = {(mode)MODE_STATUS << 24 | 503};
    *m = (struct made){0};
    names_init(&m->names);
    faultloads_init(&m->fl);
    m->search =
        search_new(&m->names, &m->fl, &(struct search_options){.modes = modes, .n_modes = 1});
    tally_init(&m->t, m->search, &m->fl, &m->out);
}

static void stop(struct made *m)
{
    tally_deinit(&m->t);
    summary_deinit(&m->out);
    search_free(m->search);
    faultloads_deinit(&m->fl);
    names_deinit(&m->names);
}

static faultload parse(struct made *m, const char *text)
{
    struct err e = {0};
    faultload f;
    if (faultload_parse(&m->names, &m->fl, slice_of(text), &f, &e))
        fail_msg("%s: %s", text, e.text);
    return f;
}

#define A  "t GET / > a GET / : 503"
#define A2 "t GET / > a GET / : reset"
#define B  "t GET / > b GET / : 503"
#define C  "t GET / > c GET / : 503"

/* One run for this purpose; true: it starts a finding. why NULL: it passes. */
static bool run(struct made *m, enum run_purpose purpose, const char *text, const char *why,
                uint64_t number)
{
    faultload f = parse(m, text);
    char copy[100]; /* the sentence is compared by text */
    struct verdict verdict = {.pass = !why, .status = OUTCOME(OUT_STATUS, 500), .why = ""};
    if (why) {
        snprintf(copy, sizeof copy, "%s", why);
        verdict.why = names_text(&m->names, names_sym(&m->names, slice_of(copy))).p;
    }
    verdict.detail = why ? "a detail" : NULL;
    const struct finding *finding = tally_run(&m->t,
                                              &(struct tally_run){.purpose = purpose,
                                                                  .faultload = f,
                                                                  .happened = f,
                                                                  .fired = true,
                                                                  .number = number,
                                                                  .kind = FINDING_CRASH},
                                              &verdict);
    if (finding) {
        assert_string_equal(finding->why, why);
        assert_int_equal(finding->kind, FINDING_CRASH);
        assert_true(faultload_eq(&m->fl, finding->faultload, f));
    }
    return finding;
}

static void test_new(void **state)
{
    struct made m;
    (void)state;
    start(&m);
    assert_false(run(&m, RUN_BASELINE, "none", NULL, 0));
    assert_false(run(&m, RUN_SEARCH, A, NULL, 1));
    assert_true(run(&m, RUN_SEARCH, B, "x", 2));
    assert_false(run(&m, RUN_SEARCH, B, "x", 3));         /* the same again */
    assert_false(run(&m, RUN_SEARCH, B " & " C, "x", 4)); /* it is within */
    assert_true(run(&m, RUN_SEARCH, C, "x", 5));          /* elsewhere */
    assert_true(run(&m, RUN_SEARCH, B, "y", 6));          /* another sentence */
    assert_true(run(&m, RUN_AUDIT, A " & " B, "z", 7));
    assert_false(run(&m, RUN_SEARCH, A2 " & " B, "z", 8)); /* other modes */
    assert_true(run(&m, RUN_SHRINK, A, "z", 9));           /* within one that is known */
    assert_false(run(&m, RUN_CONFIRM, C, "new", 10));
    assert_false(run(&m, RUN_REPLAY, C, "new", 11));
    assert_true(run(&m, RUN_CHECK, C, "stays broken", 12));
    tally_finish(&m.t);
    assert_int_equal(m.out.findings.n, 6); /* reset at a was not seen to fail alone */
    assert_int_equal(m.out.failed_runs, 7);
    assert_int_equal(m.out.runs_by_size.n, 3);
    assert_int_equal(m.out.runs_by_size.at[0], 1);
    assert_int_equal(m.out.runs_by_size.at[1], 5);
    assert_int_equal(m.out.runs_by_size.at[2], 2); /* without the audit */
    stop(&m);
}

/* In the end the smallest faultload stands for the finding, whatever came first. */
static void test_smallest(void **state)
{
    static const char *const runs[] = {A " & " B " & " C, A " & " B, A, A2};
    (void)state;
    for (int backwards = 0; backwards < 2; backwards++) {
        struct made m;
        start(&m);
        for (int i = 0; i < 4; i++)
            run(&m, RUN_SEARCH, runs[backwards ? 3 - i : i], "x", (uint64_t)i);
        tally_finish(&m.t);
        assert_int_equal(m.out.findings.n, 1);
        const struct finding *finding = &m.out.findings.at[0];
        assert_true(faultload_eq(&m.fl, finding->faultload, parse(&m, backwards ? A2 : A)));
        assert_int_equal(finding->n_alike, 1);
        assert_int_equal(finding->runs, 4);
        assert_int_equal(finding->number, backwards ? 0 : 2);
        assert_string_equal(finding->detail, "a detail");
        assert_int_equal(finding->state, FINDING_SEEN);
        stop(&m);
    }
}

static void test_marks(void **state)
{
    struct made m;
    (void)state;
    start(&m);
    run(&m, RUN_SEARCH, A " & " B, "x", 0);
    tally_mark(&m.t, parse(&m, B " & " A), "x", FINDING_FLAKY, false);
    run(&m, RUN_SEARCH, C, "x", 1);
    run(&m, RUN_SEARCH, C, "y", 2);
    tally_mark(&m.t, parse(&m, C), "x", FINDING_FLAKY, false);
    tally_mark(&m.t, parse(&m, C), "x", FINDING_CONFIRMED, true);
    tally_finish(&m.t);
    assert_int_equal(m.out.findings.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct finding *f = &m.out.findings.at[i];
        bool c = faultload_eq(&m.fl, f->faultload, parse(&m, C));
        bool x = strcmp(f->why, "x") == 0;
        assert_int_equal(f->state, c && x ? FINDING_CONFIRMED : x ? FINDING_FLAKY : FINDING_SEEN);
        assert_int_equal(f->shrunk, c && x);
    }
    stop(&m);
}

static void test_bound(void **state)
{
    struct made m;
    char why[20];
    (void)state;
    start(&m);
    for (uint64_t i = 0; i < FINDINGS_MAX + 5; i++) {
        snprintf(why, sizeof why, "%u", (unsigned)i);
        assert_int_equal(run(&m, RUN_SEARCH, A, why, i), i < FINDINGS_MAX);
    }
    tally_finish(&m.t);
    assert_int_equal(m.out.findings.n, FINDINGS_MAX);
    assert_int_equal(m.out.more_findings, 5);
    stop(&m);
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < FINDING_KINDS; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(finding_kind_names[i], finding_kind_names[k]);
    for (int i = 0; i < FINDING_STATES; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(finding_state_names[i], finding_state_names[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),   cmocka_unit_test(test_smallest), cmocka_unit_test(test_marks),
        cmocka_unit_test(test_bound), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
