/* SPDX-License-Identifier: Apache-2.0
 *
 * What of answers is compared: learned from those of runs without faults. */
#include "judge/mask.h"

#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const int64_t now_ns = INT64_C(1794800000000000000); /* November 2026 */

static void learn(struct mask *m, const char *const *bodies)
{
    for (; *bodies; bodies++)
        mask_learn(m, slice_of(*bodies), now_ns);
}

static void compares(void **state)
{
    static const struct {
        const char *usual[4]; /* of runs without faults */
        const char *now;
        enum alike want;
    } cases[] = {
        /* a generated id is hidden; that it is there is not */
        {{"{\"id\":\"a1\",\"n\":1}", "{\"id\":\"b2\",\"n\":1}"},
         "{\"id\":\"c3\",\"n\":1}",
         ALIKE_SAME},
        {{"{\"id\":\"a1\",\"n\":1}", "{\"id\":\"b2\",\"n\":1}"},
         "{\"id\":\"c3\",\"n\":2}",
         ALIKE_OTHER},
        {{"{\"id\":\"a1\",\"n\":1}", "{\"id\":\"b2\",\"n\":1}"},
         "{\"id\":null,\"n\":1}",
         ALIKE_OTHER},
        {{"{\"id\":\"a1\",\"n\":1}", "{\"id\":\"b2\",\"n\":1}"}, "{\"n\":1}", ALIKE_OTHER},
        {{"{\"id\":\"a1\",\"l\":[1]}", "{\"id\":\"b2\",\"l\":[1]}"},
         "{\"id\":\"c\",\"l\":[]}",
         ALIKE_OTHER},
        {{"{\"id\":1,\"t\":5}", "{\"id\":2,\"t\":5}"}, "{\"id\":3,\"t\":null}", ALIKE_OTHER},
        /* a key that is there at times, a value that is null at times */
        {{"{\"a\":1}", "{\"a\":1,\"b\":2}"}, "{\"a\":1}", ALIKE_SAME},
        {{"{\"a\":1}", "{\"a\":1,\"b\":2}"}, "{\"a\":1,\"b\":7}", ALIKE_SAME},
        {{"{\"a\":1}", "{\"a\":null}"}, "{\"a\":null}", ALIKE_SAME},
        {{"{\"a\":1}", "{\"a\":null}"}, "{\"a\":3}", ALIKE_SAME},
        {{"{\"a\":1}", "{\"a\":null}"}, "{\"a\":3,\"b\":1}", ALIKE_OTHER},
        /* elements of lists share their places, and may come in any order */
        {{"[{\"i\":1,\"p\":5},{\"i\":2,\"p\":6}]", "[{\"i\":3,\"p\":5},{\"i\":4,\"p\":6}]"},
         "[{\"i\":9,\"p\":5},{\"i\":8,\"p\":6}]",
         ALIKE_SAME},
        {{"[{\"i\":1,\"p\":5},{\"i\":2,\"p\":6}]", "[{\"i\":3,\"p\":5},{\"i\":4,\"p\":6}]"},
         "[{\"i\":9,\"p\":5},{\"i\":8,\"p\":7}]",
         ALIKE_OTHER},
        {{"[{\"i\":1},{\"i\":2}]", "[{\"i\":3},{\"i\":4}]"}, "[{\"i\":9}]", ALIKE_OTHER},
        {{"[1,2,3]", "[3,1,2]"}, "[2,3,1]", ALIKE_SAME},
        {{"[1,2,3]", "[3,1,2]"}, "[2,3,4]", ALIKE_OTHER},
        {{"[1,2,3]", "[1,2,3]"}, "[2,3,1]", ALIKE_OTHER},
        {{"{\"l\":[1,2]}", "{\"l\":[1,2,3]}"}, "{\"l\":[4]}", ALIKE_SAME},
        {{"{\"l\":[1,2]}", "{\"l\":[1,2,3]}"}, "{\"l\":[]}", ALIKE_OTHER},
        /* generated keys */
        {{"{\"m\":{\"00112233445566aa\":1}}", "{\"m\":{\"00112233445566bb\":1}}"},
         "{\"m\":{\"00112233445566cc\":2}}",
         ALIKE_SAME},
        /* a moment needs no second look, a number of pieces does */
        {{"{\"at\":1794800001,\"n\":3}"}, "{\"at\":1794800009,\"n\":3}", ALIKE_SAME},
        {{"{\"at\":\"2026-11-16T06:00:00Z\"}"}, "{\"at\":\"2026-11-16T06:00:09Z\"}", ALIKE_SAME},
        {{"{\"at\":\"2026-11-16T06:00:00Z\"}"}, "{\"at\":null}", ALIKE_OTHER},
        {{"{\"born\":\"1999-11-16T06:00:00Z\"}"},
         "{\"born\":\"1999-11-17T06:00:09Z\"}",
         ALIKE_OTHER},
        {{"{\"stock\":1794}"}, "{\"stock\":1795}", ALIKE_OTHER},
        {{"{\"tookMs\":3}", "{\"tookMs\":3}"}, "{\"tookMs\":14}", ALIKE_SAME},
        {{"{\"took\":\"all of it\"}"}, "{\"took\":\"none of it\"}", ALIKE_OTHER},
        /* what looks generated and is always the same is a value as any */
        {{"{\"id\":\"00112233445566aa\"}"}, "{\"id\":\"00112233445566ab\"}", ALIKE_SAME},
        {{"{\"id\":\"00112233445566aa\"}", "{\"id\":\"00112233445566aa\"}"},
         "{\"id\":\"00112233445566ab\"}",
         ALIKE_OTHER},
        /* words of a text, also within JSON */
        {{"order a1 is sent", "order b2 is sent"}, "order c3 is sent", ALIKE_SAME},
        {{"order a1 is sent", "order b2 is sent"}, "order c3 is lost", ALIKE_OTHER},
        {{"order a1 is sent", "order b2 is sent"}, "order c3 is not sent", ALIKE_OTHER},
        {{"{\"m\":\"order a1 is sent\"}", "{\"m\":\"order b2 is sent\"}"},
         "{\"m\":\"order c3 is lost\"}",
         ALIKE_OTHER},
        {{"at 12:00:01, all is well"}, "at 12:00:09, all is well", ALIKE_SAME},
        {{"<p token=\"x1\">Hi</p>", "<p token=\"x2\">Hi</p>"},
         "<p token=\"x3\">Ho</p>",
         ALIKE_OTHER},
        /* nothing can be said of what is never the same */
        {{"a1", "b2"}, "c3", ALIKE_UNKNOWN},
        {{"a1", "b2"}, "", ALIKE_OTHER},
        {{"a b", "a b c"}, "a", ALIKE_UNKNOWN},
        {{"{}", "a"}, "{}", ALIKE_UNKNOWN},
        {{"{\"a\":1}", "[1]"}, "{\"a\":1}", ALIKE_UNKNOWN},
        {{""}, "", ALIKE_SAME},
        {{""}, "x", ALIKE_OTHER},
        {{"{\"a\":1}"}, "{\"a\":1", ALIKE_OTHER},
        {{"{\"a\":1}"}, "{ \"a\": 1.0 }", ALIKE_SAME},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct mask m = {0};
        learn(&m, cases[i].usual);
        if (mask_compare(&m, slice_of(cases[i].now)) != cases[i].want)
            fail_msg("%s after %s", cases[i].now, cases[i].usual[0]);
        mask_deinit(&m);
    }
}

/* What a later run without faults shows is learned as well. */
static void grows(void **state)
{
    struct mask m = {0};
    (void)state;
    learn(&m, (const char *[]){"{\"n\":1,\"r\":4}", "{\"n\":1,\"r\":4}", NULL});
    assert_int_equal(mask_compare(&m, SLICE("{\"n\":1,\"r\":5}")), ALIKE_OTHER);
    learn(&m, (const char *[]){"{\"n\":1,\"r\":9}", NULL});
    assert_int_equal(mask_compare(&m, SLICE("{\"n\":1,\"r\":5}")), ALIKE_SAME);
    assert_int_equal(m.names.n, 1);
    assert_string_equal(m.names.at[0].p, "/r");
    mask_deinit(&m);
}

static void is_named(void **state)
{
    struct mask m = {0};
    (void)state;
    learn(&m,
          (const char *[]){"{\"a/b\":1,\"l\":[{\"id\":1}],\"o\":[1,2],\"t\":\"hi you 1\"}",
                           "{\"a/b\":2,\"l\":[{\"id\":2}],\"o\":[2,1],\"t\":\"hi you 2\"}", NULL});
    assert_int_equal(m.names.n, 4);
    assert_string_equal(m.names.at[0].p, "/a~1b");
    assert_string_equal(m.names.at[1].p, "/l/*/id");
    assert_string_equal(m.names.at[2].p, "the order of /o");
    assert_string_equal(m.names.at[3].p, "words of /t");
    mask_deinit(&m);
}

/* What users say goes before what is learned. */
static void is_set(void **state)
{
    struct judge_settings set;
    struct mask m = {.set = &set};
    (void)state;
    judge_settings_init(&set);
    vec_push(&set.volatile_, SLICE("/l/*/id"));
    vec_push(&set.volatile_, SLICE("/meta"));
    vec_push(&set.stable, SLICE("/day"));
    learn(&m, (const char *[]){"{\"l\":[{\"id\":1,\"p\":2}],\"meta\":{\"x\":1},\"day\":1794800001}",
                               NULL});
    assert_int_equal(mask_compare(&m, SLICE("{\"l\":[{\"id\":7,\"p\":2}],\"day\":1794800001}")),
                     ALIKE_SAME);
    assert_int_equal(mask_compare(&m, SLICE("{\"l\":[{\"id\":7,\"p\":3}],\"day\":1794800001}")),
                     ALIKE_OTHER);
    assert_int_equal(mask_compare(&m, SLICE("{\"l\":[{\"id\":7,\"p\":2}],\"day\":1794800009}")),
                     ALIKE_OTHER);
    mask_deinit(&m);
    judge_settings_deinit(&set);
}

/* At a place within the answer, as rules of contracts need it. */
static void applies_at_a_pointer(void **state)
{
    struct mask m = {0};
    struct arena a = {0};
    struct node *now = node_map(&a, 1);
    (void)state;
    learn(&m, (const char *[]){"{\"l\":[{\"id\":1}]}", "{\"l\":[{\"id\":2}]}", NULL});
    now->map[0] = (struct node_pair){.key = SLICE("id"), .value = node_num(&a, 7)};
    const struct node *out = mask_apply(&m, &a, SLICE("/l/0"), now);
    assert_true(node_get(out, SLICE("id"))->num < 2);
    assert_true(mask_hides(&m, SLICE("/l/5/id")));
    assert_false(mask_hides(&m, SLICE("/l/5")));
    assert_false(mask_hides(&m, SLICE("")));
    arena_deinit(&a);
    mask_deinit(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares),
        cmocka_unit_test(grows),
        cmocka_unit_test(is_named),
        cmocka_unit_test(is_set),
        cmocka_unit_test(applies_at_a_pointer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
