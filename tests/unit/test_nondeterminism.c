/* SPDX-License-Identifier: Apache-2.0
 *
 * Systems that do not do the same twice: the search ends, says what was unstable and why, and
 * claims nothing that it did not see. */

#include <stdlib.h>

#include "core/suspect.h"
#include "support/lab.h"
#include "support/unit.h"

#define SCENARIO "scenarios: { main: { request: top GET / } }\n"
#define ABC      "  a: { GET /: }\n  b: { GET /: }\n  c: { GET /: }\n"

enum { RUNS_MAX = 5000 };

static const struct {
    const char *name, *system;
    bool stable;
    uint32_t kinds;           /* bits of the suspect kinds that must be there */
    enum suspect_cause cause; /* that one of them must have; CAUSE_UNKNOWN: any */
    enum reason_kind reason;  /* what explains all of it */
} cases[] = {
    {"random payload",
     "system: x\nidentify: { payload: on }\nservices:\n"
     "  top:\n    GET /:\n      - call: a POST /\n        payload: { id: \"{random}\" }\n"
     "        on: { failed: { call: b GET / } }\n      - call: c GET /\n"
     "  a: { POST /: }\n  b: { GET /: }\n  c: { GET /: }\n" SCENARIO,
     false, 1u << SUSPECT_NOT_FIRED | 1u << SUSPECT_MISSING, CAUSE_PAYLOAD, REASON_PAYLOAD},
    {"random payload that is not part of the name",
     "system: x\nservices:\n"
     "  top:\n    GET /:\n      - call: a POST /\n        payload: { id: \"{random}\" }\n"
     "        on: { failed: { call: b GET / } }\n      - call: c GET /\n"
     "  a: { POST /: }\n  b: { GET /: }\n  c: { GET /: }\n" SCENARIO,
     true, 0, CAUSE_UNKNOWN, REASON_KINDS},
    {"random path",
     "system: x\nservices:\n"
     "  top:\n    GET /:\n      - call: a GET /orders/{random}\n      - call: c GET /\n"
     "  a: { \"GET /orders/{id}\": }\n  c: { GET /: }\n" SCENARIO,
     false, 1u << SUSPECT_NOT_FIRED | 1u << SUSPECT_MISSING | 1u << SUSPECT_STEP, CAUSE_INTERFACE,
     REASON_PATH},
    {"random path with a rule",
     "system: x\nnormalise: [ \"/orders/[^/]+ -> /orders/[order]\" ]\nservices:\n"
     "  top:\n    GET /:\n      - call: a GET /orders/{random}\n      - call: c GET /\n"
     "  a: { \"GET /orders/{id}\": }\n  c: { GET /: }\n" SCENARIO,
     true, 0, CAUSE_UNKNOWN, REASON_KINDS},
    {"random path after a fault only",
     "system: x\nservices:\n"
     "  top:\n    GET /:\n      - call: a GET /\n        on: { failed: { call: \"b GET "
     "/new/{random}\" } }\n"
     "      - call: c GET /\n"
     "  a: { GET /: }\n  b: { \"GET /new/{id}\": }\n  c: { GET /: }\n" SCENARIO,
     false, 1u << SUSPECT_NOT_FIRED, CAUSE_INTERFACE, REASON_PATH},
    {"random choice",
     "system: x\nservices:\n"
     "  top:\n    GET /:\n      - choose:\n          - [ { call: a GET / } ]\n          - [ { "
     "call: b GET / } ]\n"
     "      - call: c GET /\n" ABC SCENARIO,
     false, 1u << SUSPECT_STEP, CAUSE_UNKNOWN, REASON_SOMETIMES},
    {"random order",
     "system: x\nservices:\n"
     "  top:\n    GET /:\n      - shuffle: [ { call: a GET / }, { call: b GET / }, { call: c GET / "
     "} ]\n" ABC SCENARIO,
     false, 1u << SUSPECT_STEP, CAUSE_UNKNOWN, REASON_ORDER},
    {"random reply",
     "system: x\nservices:\n"
     "  top:\n    GET /:\n      - call: a GET /\n      - choose: [ { reply: 200 }, { reply: 500 } "
     "]\n" ABC SCENARIO,
     false, 1u << SUSPECT_STEP, CAUSE_UNKNOWN, REASON_REPLY},
    {"circuit breaker that stays open",
     "system: x\nkeep-state: true\nservices:\n"
     "  top:\n    state: { failures: 0 }\n    GET /:\n"
     "      - if: state.failures < 3\n"
     "        then:\n          - call: a GET /\n            on: { failed: { add: { state.failures: "
     "1 } } }\n"
     "      - call: b GET /\n" ABC SCENARIO,
     false, 1u << SUSPECT_NOT_FIRED | 1u << SUSPECT_STEP, CAUSE_ABSENT, REASON_BREAKER},
    {"circuit breaker that is reset",
     "system: x\nservices:\n"
     "  top:\n    state: { failures: 0 }\n    GET /:\n"
     "      - if: state.failures < 3\n"
     "        then:\n          - call: a GET /\n            on: { failed: { add: { state.failures: "
     "1 } } }\n"
     "      - call: b GET /\n" ABC SCENARIO,
     true, 0, CAUSE_UNKNOWN, REASON_KINDS},
};

enum { CASES = sizeof cases / sizeof *cases };

/* Every run that counts as a result had all its faults fire, and what was counted adds up. */
static void check_claims(const struct search *s, const struct search_stats *stats)
{
    uint32_t n;
    const struct search_run *runs = search_runs(s, &n);
    assert_int_equal(n, stats->runs + stats->repeats + stats->audited);
    struct search_space space;
    search_space(s, &space);
    uint32_t n_suspects;
    uint64_t suspects;
    search_suspects(s, &n_suspects, &suspects);
    assert_true(suspects == 0 || !space.known);
    uint32_t unfired = 0;
    for (uint32_t i = 0; i < n; i++)
        unfired += !runs[i].fired;
    assert_true(unfired == 0 || suspects > 0);
}

/* One reason explains all that is suspect. */
static void check_reasons(const struct names *names, const struct suspect *list, uint32_t n,
                          enum reason_kind wanted)
{
    struct reasons reasons = {0};
    uint64_t times = 0;
    reasons_find(names, list, n, &reasons);
    for (uint32_t i = 0; i < reasons.n; i++) {
        if (reasons.at[i].kind != wanted)
            fail_msg("%s instead of %s", reason_names[reasons.at[i].kind], reason_names[wanted]);
        times += reasons.at[i].times;
    }
    assert_int_equal(times, n);
    assert_int_equal(reasons.n, n > 0);
    vec_deinit(&reasons);
}

static void test_case(void **state)
{
    uint32_t i = (uint32_t)(uintptr_t)*state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct lab lab;
        struct err e = {0};
        if (lab_init_text(&lab, cases[i].system, &e))
            fail_msg("%u:%u: %s", e.line, e.col, e.text);
        lab.seed = seed * 1000 + 7; /* chance must show itself in the few runs that there are */
        struct search_options options = lab_options(&lab);
        options.baselines = 3;
        struct search *s = lab_explore(&lab, &options, RUNS_MAX);
        struct search_stats stats;
        uint32_t n, kinds = 0;
        uint64_t total;
        bool caused = cases[i].cause == CAUSE_UNKNOWN;
        search_stats(s, &stats);
        assert_true(stats.complete); /* it ends */
        const struct suspect *suspects = search_suspects(s, &n, &total);
        for (uint32_t k = 0; k < n; k++) {
            kinds |= 1u << suspects[k].kind;
            caused |= suspects[k].cause == cases[i].cause;
        }
        assert_int_equal(total > 0, !cases[i].stable);
        assert_int_equal(kinds & cases[i].kinds, cases[i].kinds);
        assert_true(caused);
        check_reasons(&lab.names, suspects, n, cases[i].reason);
        check_claims(s, &stats);
        search_free(s);
        lab_deinit(&lab);
    }
}

/* Equal calls of which there are more in some fault-free runs than in others. */
static const struct {
    uint32_t first;    /* the number of the first of them, */
    uint32_t shown[3]; /* and which of three runs showed it and the next ones */
    enum reason_kind reason;
} counts[] = {
    {1, {6, 4}, REASON_GROWTH},      /* one more each time */
    {1, {4, 4}, REASON_POLLING},     /* two more, once */
    {1, {5, 4}, REASON_POLLING},     /* fewer in between */
    {90, {6, 4, 4}, REASON_POLLING}, /* by time, not by what is there */
};

static void test_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct names names;
        struct suspect list[3] = {0};
        uint32_t n = 0;
        names_init(&names);
        struct element top = {.service = names_sym(&names, SLICE("front")),
                              .interface = names_sym(&names, SLICE("GET /"))};
        uid root = names_uid(&names, UID_NONE, names_element(&names, top));
        for (; n < 3 && counts[i].shown[n]; n++) {
            struct element el = top;
            el.service = names_sym(&names, SLICE("back"));
            el.n = counts[i].first + n;
            uid call = names_uid(&names, root, names_element(&names, el));
            list[n] = (struct suspect){.kind = SUSPECT_MISSING,
                                       .point = call,
                                       .call = call,
                                       .shown = counts[i].shown[n],
                                       .of = 3};
        }
        check_reasons(&names, list, n, counts[i].reason);
        names_deinit(&names);
    }
}

/* A call whose name never comes back does not multiply the work in the rest of a large system. */
static void test_bounded(void **state)
{
    (void)state;
    struct lab lab;
    struct err e = {0};
    assert_int_equal(
        lab_init_text(&lab,
                      "system: x\nservices:\n"
                      "  top:\n    GET /:\n      - call: a GET /\n      - call: b GET /\n      - "
                      "call: c GET /\n"
                      "      - call: d GET /\n      - call: r GET /{random}\n"
                      "  a: { GET /: }\n  b: { GET /: }\n  c: { GET /: }\n  d: { GET /: }\n"
                      "  r: { \"GET /{id}\": }\n" SCENARIO,
                      &e),
        0);
    struct search_options options = lab_options(&lab);
    options.baselines = 3;
    struct search *s = lab_explore(&lab, &options, 100000);
    struct search_stats stats;
    search_stats(s, &stats);
    assert_true(stats.complete);
    assert_in_range(stats.runs, 625, 700); /* 5^4, and a few attempts at r */
    uint32_t n, blocked = 0;
    uint64_t total;
    const struct suspect *suspects = search_suspects(s, &n, &total);
    for (uint32_t i = 0; i < n; i++)
        blocked += suspects[i].kind == SUSPECT_BLOCKED;
    assert_int_equal(blocked, 1);
    search_free(s);
    lab_deinit(&lab);
}

int main(void)
{
    struct CMUnitTest tests[CASES + 2];
    for (uint32_t i = 0; i < CASES; i++)
        tests[i] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = test_case, .initial_state = (void *)(uintptr_t)i};
    tests[CASES] = (struct CMUnitTest)cmocka_unit_test(test_bounded);
    tests[CASES + 1] = (struct CMUnitTest)cmocka_unit_test(test_counts);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
