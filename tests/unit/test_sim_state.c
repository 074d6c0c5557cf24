/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulated systems from run to run: state that stays or begins anew, and chance, which is the same
 * for the same seed. */
#include "support/sim_lab.h"

/* ---- state from run to run ---- */

static void test_keep_state(void **state)
{
    static const char steps[] =
        "[{ add: { state.n: 1, state.m/x: 2 } }, { set: { state.m/y: ['{state.m/y}', '{state.n}'] } }, "
        "{ call: b POST /count, as: x }, { reply: 200, body: ['{state.n}', '{state.m/x}', '{x.body}', "
        "'{state.m/y/1}', '{state.m/y/0/1}'] }]";
    static const char *const kept[] = {"200 [1, 3, 1, 1, null]", "200 [2, 5, 2, 2, 1]",
                                       "200 [3, 7, 3, 3, 2]"};
    static const char *const tops[] = {"", "keep-state: false", "keep-state: true"};
    (void)state;
    for (size_t i = 0; i < LENGTH(tops); i++) {
        struct lab lab;
        start(&lab, tops[i], steps);
        for (size_t k = 0; k < 3; k++) {
            struct buf answer = BUF_INIT(1000);
            run(&lab, k, &answer);
            assert_string_equal(buf_text(&answer), kept[i == 2 ? k : 0]);
            buf_deinit(&answer);
        }
        lab_deinit(&lab);
    }
}

/* Many runs: values that were not touched for long are still there. */
static void test_keep_state_long(void **state)
{
    struct lab lab;
    struct buf answer = BUF_INIT(1 << 16);
    (void)state;
    start(
        &lab, "keep-state: true",
        "[{ if: state.n == 0, then: { set: { state.m: { deep: [ { text: 'number {state.n}' } ] } } } }, "
        "{ add: { state.n: 1 } }, { reply: 200, body: ['{state.n}', '{state.m}'] }]");
    for (uint64_t i = 0; i < 1000; i++) {
        buf_clear(&answer);
        run(&lab, i, &answer);
    }
    assert_string_equal(buf_text(&answer), "200 [1000, {\"deep\": [{\"text\": \"number 0\"}]}]");
    buf_deinit(&answer);
    lab_deinit(&lab);
}

/* ---- deliberate nondeterminism ---- */

static void test_seeds(void **state)
{
    static const struct {
        const char *steps;
        uint32_t least, most; /* different answers in 200 seeds */
    } rows[] = {
        {"{ reply: 200, body: '{random}' }", 200, 200},
        {"{ reply: 200, body: 'x{random}{random}' }", 200, 200},
        {"{ reply: 200, body: '{time}' }", 200, 200},
        {"[{ choose: [{ reply: 201 }, { reply: 202 }, { reply: 203 }] }]", 3, 3},
        {"[{ choose: [[{ set: { v: 1 } }, { add: { v: 1 } }], { set: { v: 5 } }] }, { reply: 200, body: '{v}' "
         "}]",
         2, 2},
        {"[{ choose: [{ set: { v: 5 } }] }, { reply: 200, body: '{v}' }]", 1, 1},
        {"[{ shuffle: [{ set: { v: '{v}a' } }, { set: { v: '{v}b' } }, { set: { v: '{v}c' } }] }, "
         "{ reply: 200, body: '{v}' }]",
         6, 6},
        {"[{ shuffle: [{ reply: 201 }, { reply: 202 }] }]", 2, 2},
        {"[{ call: b GET /ok, as: x }, { reply: 200, body: '{x.body}' }]", 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct lab lab;
        struct map seen = {0};
        start(&lab, "", rows[i].steps);
        for (uint64_t seed = 0; seed < 200; seed++) {
            struct buf one = BUF_INIT(1000), again = BUF_INIT(1000);
            run(&lab, seed, &one);
            run(&lab, seed, &again);
            if (strcmp(buf_text(&one), buf_text(&again)) != 0)
                fail_msg("%s: seed %u: %s, %s", rows[i].steps, (unsigned)seed, buf_text(&one),
                         buf_text(&again));
            map_count(&seen, names_sym(&lab.names, buf_slice(&one)));
            buf_deinit(&one);
            buf_deinit(&again);
        }
        if (seen.items.n < rows[i].least || seen.items.n > rows[i].most)
            fail_msg("%s: %u different answers", rows[i].steps, (unsigned)seen.items.n);
        map_deinit(&seen);
        lab_deinit(&lab);
    }
}

/* All steps of a shuffle are done, each once. */
static void test_shuffle(void **state)
{
    struct lab lab;
    (void)state;
    start(
        &lab, "",
        "[{ shuffle: [{ call: b GET /ok }, { call: b GET /text }, [{ call: c GET / }, { sleep: 1s }]] }]");
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct buf answer = BUF_INIT(100), calls = BUF_INIT(1000);
        run(&lab, seed, &answer);
        print_calls(&lab, &calls);
        assert_int_equal(lab.trace.calls.n, 4);
        assert_non_null(strstr(buf_text(&calls), "b GET /ok "));
        assert_non_null(strstr(buf_text(&calls), "b GET /text "));
        assert_non_null(strstr(buf_text(&calls), "c GET / "));
        buf_deinit(&answer);
        buf_deinit(&calls);
    }
    lab_deinit(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keep_state),
        cmocka_unit_test(test_keep_state_long),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_shuffle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
