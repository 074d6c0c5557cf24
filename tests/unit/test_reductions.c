/* SPDX-License-Identifier: Apache-2.0
 *
 * Each reduction on a system where its assumption holds (nothing is lost, the audit agrees) and on
 * one where it does not (something is lost, the audit says so). */

#include <stdlib.h>

#include "base/hash.h"
#include "support/lab.h"
#include "support/unit.h"

/* A callee with calls of its own, called twice. */
static const char *const nested =
    "system: nested\nservices:\n"
    "  top:\n    GET /:\n      - call: b GET /\n        retry: { times: 1 }\n        on: { failed: "
    "{ reply: 503 } }\n"
    "  b:\n    GET /:\n      - call: c GET /\n        on: { failed: { reply: 503 } }\n"
    "  c: { GET /: }\n"
    "scenarios: { main: { request: top GET / } }\n";

#define SCENARIO   "scenarios: { main: { request: top GET / } }\n"
#define LEAF(name) "  " name ": { GET /: }\n"

/* Two replicas behind each other and a best-effort call: failures are told apart nowhere. */
static const char *const plain =
    "system: plain\nservices:\n"
    "  top:\n    GET /:\n"
    "      - call: a GET /\n        on: { failed: { call: b GET /, on: { failed: { reply: 503 } } "
    "} }\n"
    "      - call: c GET /\n"
    "      - call: d GET /\n        retry: { times: 2 }\n        on: { failed: { reply: 503 } "
    "}\n" LEAF("a") LEAF("b") LEAF("c") LEAF("d") SCENARIO;

/* b answers its second caller differently. */
static const char *const remembers =
    "system: remembers\nservices:\n"
    "  top:\n    GET /:\n      - call: b GET /\n      - call: b GET /\n"
    "  b:\n    state: { calls: 0 }\n    GET /:\n"
    "      - add: { state.calls: 1 }\n"
    "      - call: c GET /\n        as: c\n"
    "      - if: c.failed and state.calls == 2\n        then: { reply: 500 }\n" LEAF("c") SCENARIO;

/* 500 and 503 of a are alike until b fails too. */
static const char *const looks_back =
    "system: looks-back\nmodes: [500, 503]\nservices:\n"
    "  top:\n    GET /:\n      - call: a GET /\n        as: a\n      - call: b GET /\n        as: "
    "b\n"
    "      - if: a.status == 503 and b.failed\n        then: [ { call: c GET / } ]\n" LEAF("a")
        LEAF("b") LEAF("c") SCENARIO;

/* 500 and 503 of b are alike unless a failed before. */
static const char *const depends =
    "system: depends\nmodes: [500, 503]\nservices:\n"
    "  top:\n    GET /:\n      - call: a GET /\n        as: a\n      - call: b GET /\n        as: "
    "b\n"
    "      - if: a.failed and b.status == 503\n        then: [ { reply: 500 } ]\n" LEAF("a")
        LEAF("b") SCENARIO;

/* The third try is handled wrongly when it succeeds. */
static const char *const third_try =
    "system: third-try\nmodes: [503]\nservices:\n"
    "  top:\n    GET /:\n"
    "      - call: a GET /\n"
    "        on: { failed: { call: a GET /, on: { failed: { call: a GET /, on: { ok: { reply: 500 "
    "} } } } } }\n" LEAF("a") SCENARIO;

/* Two faults at once, or one of each of four kinds at once, are too many. */
static const char *const two_at_once =
    "system: two-at-once\nservices:\n"
    "  top:\n    GET /:\n      - call: a GET /\n        as: a\n      - call: b GET /\n        as: "
    "b\n"
    "      - if: a.failed and b.failed\n        then: { reply: 500 }\n" LEAF("a") LEAF("b")
        SCENARIO;

static const char *const four_at_once =
    "system: four-at-once\nservices:\n"
    "  top:\n    GET /:\n"
    "      - call: a GET /\n        as: a\n      - call: b GET /\n        as: b\n"
    "      - call: c GET /\n        as: c\n      - call: d GET /\n        as: d\n"
    "      - if: a.status == 500 and b.status == 504 and c.status == 500 and d.status == 503\n"
    "        then: { reply: 500 }\n" LEAF("a") LEAF("b") LEAF("c") LEAF("d") SCENARIO;

/* Two faults are too many, but only when the third call works. */
static const char *const masked =
    "system: masked\nmodes: [503]\nservices:\n"
    "  top:\n    GET /:\n"
    "      - call: a GET /\n        as: a\n      - call: b GET /\n        as: b\n      - call: c GET /\n        as: c\n"
    "      - if: a.failed and b.failed and c.ok\n        then: { reply: 500 }\n" LEAF("a") LEAF("b")
        LEAF("c") SCENARIO;

static const char *const independent =
    "system: independent\nservices:\n"
    "  top:\n    GET /:\n      - call: a GET /\n      - call: b GET /\n      - call: c GET /\n     "
    " - call: d GET /\n" LEAF("a") LEAF("b") LEAF("c") LEAF("d") SCENARIO;

static const struct {
    const char *name;
    enum reduction reduction;
    uint32_t number; /* max-faults, t-way */
    const char *system;
    bool holds;
} cases[] = {
    {"stateless holds", REDUCE_STATELESS, 0, nested, true},
    {"stateless does not hold", REDUCE_STATELESS, 0, remembers, false},
    {"modes holds", REDUCE_MODES, 0, plain, true},
    {"modes does not hold", REDUCE_MODES, 0, looks_back, false},
    {"modes-once holds", REDUCE_MODES_ONCE, 0, plain, true},
    {"modes-once does not hold", REDUCE_MODES_ONCE, 0, depends, false},
    {"retries holds", REDUCE_RETRIES, 0, plain, true},
    {"retries does not hold", REDUCE_RETRIES, 0, third_try, false},
    {"max-faults holds", REDUCE_MAX_FAULTS, 2, two_at_once, true},
    {"max-faults does not hold", REDUCE_MAX_FAULTS, 1, two_at_once, false},
    {"t-way holds", REDUCE_T_WAY, 2, independent, true},
    {"t-way does not hold", REDUCE_T_WAY, 2, four_at_once, false},
    {"t-way does not hold for what is absent", REDUCE_T_WAY, 2, masked, false},
};

enum { CASES = sizeof cases / sizeof *cases };

/* Which call it is, no matter from where and the how manieth. */
static uint64_t name_of(const struct lab *lab, uid u)
{
    const struct element *el = uid_element(&lab->names, u);
    return (uint64_t)el->service << 32 | el->interface;
}

/* The different things that were done and answered: calls, and (handler, reply). */
static struct map behaviour(struct lab *lab, const struct search_options *options,
                            struct search_stats *stats, uint64_t *suspects)
{
    struct map seen = {0};
    struct search *s = search_new(&lab->names, &lab->fl, options);
    faultload f;
    uint32_t n;
    while (search_next(s, &f)) {
        lab_run(lab, f);
        search_observe(s, f, &lab->trace, &lab->verdict);
        for (uint32_t i = 0; i < lab->trace.calls.n; i++) {
            const struct call *c = &lab->trace.calls.at[i];
            map_count(&seen, hash_mix(name_of(lab, c->uid), 1));
            if (c->handled)
                map_count(&seen, hash_mix(hash_mix(name_of(lab, c->uid), 2), c->reply));
        }
    }
    search_stats(s, stats);
    const struct suspect *found = search_suspects(s, &n, suspects);
    for (uint32_t i = 0; i < n; i++)
        assert_true(found[i].kind == SUSPECT_AUDIT ||
                    (found[i].kind == SUSPECT_STEP && options->assume == 1u << REDUCE_STATELESS));
    search_free(s);
    return seen;
}

static bool lost(const struct map *whole, const struct map *part)
{
    for (uint32_t i = 0; i < whole->items.n; i++)
        if (!map_get(part, whole->items.at[i].key))
            return true;
    return false;
}

static void test_case(void **state)
{
    uint32_t i = (uint32_t)(uintptr_t)*state;
    struct lab lab;
    struct err e = {0};
    if (lab_init_text(&lab, cases[i].system, &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
    struct search_options options = lab_options(&lab);
    struct search_stats exact_stats, stats, audit_stats;
    uint64_t exact_suspects, suspects, audit_suspects;
    struct map exact = behaviour(&lab, &options, &exact_stats, &exact_suspects);
    options.assume = 1u << cases[i].reduction;
    options.max_faults = options.t_way = cases[i].number;
    struct map reduced = behaviour(&lab, &options, &stats, &suspects);
    options.audit = 100;
    struct map audited = behaviour(&lab, &options, &audit_stats, &audit_suspects);

    assert_int_equal(exact_suspects, 0);
    assert_int_equal(suspects, 0);
    if (cases[i].number != 2 || cases[i].reduction == REDUCE_T_WAY)
        assert_true(stats.runs < exact_stats.runs);            /* it saves something, */
    assert_int_equal(lost(&exact, &reduced), !cases[i].holds); /* at a price or not, */
    assert_int_equal(audit_suspects > 0, !cases[i].holds);     /* and the audit knows */
    assert_false(lost(&exact, &audited));
    assert_int_equal(stats.runs, audit_stats.runs);
    if (stats.skipped[cases[i].reduction])
        assert_true(audit_stats.audited > 0);
    map_deinit(&exact);
    map_deinit(&reduced);
    map_deinit(&audited);
    lab_deinit(&lab);
}

/* With an audit of 0 nothing more is run; with a share, about that share. */
static void test_audit_share(void **state)
{
    (void)state;
    struct lab lab;
    struct err e = {0};
    assert_int_equal(lab_init_text(&lab, independent, &e), 0);
    struct search_options options = lab_options(&lab);
    options.assume = 1u << REDUCE_MAX_FAULTS;
    options.max_faults = 1;
    options.audit = 25;
    struct search *s = lab_explore(&lab, &options, 0);
    struct search_stats stats;
    search_stats(s, &stats);
    assert_int_equal(stats.skipped[REDUCE_MAX_FAULTS], 96); /* 6 pairs of 4 calls, 16 modes */
    assert_in_range(stats.audited, 12, 36);
    search_free(s);
    lab_deinit(&lab);
}

int main(void)
{
    struct CMUnitTest tests[CASES + 1];
    for (uint32_t i = 0; i < CASES; i++)
        tests[i] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = test_case, .initial_state = (void *)(uintptr_t)i};
    tests[CASES] = (struct CMUnitTest)cmocka_unit_test(test_audit_share);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
