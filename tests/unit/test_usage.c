/* SPDX-License-Identifier: Apache-2.0
 *
 * What services hold over a campaign: what counts as growing. */
#include "live/usage.h"
#include "support/unit.h"

/* Samples of so many runs, as a campaign takes them. */
static struct usage sampled(uint64_t runs, uint64_t (*value)(uint64_t run))
{
    struct usage u = {0};
    for (uint64_t run = 1; run <= runs; run++) {
        struct usage_sample s = {run, {value(run), value(run) << 20}};
        if (usage_due(&u, run))
            usage_add(&u, 7, &s);
    }
    return u;
}

static bool grows(uint64_t runs, uint64_t (*value)(uint64_t run))
{
    const struct usage_sample *from;
    struct usage u = sampled(runs, value);
    bool descriptors = usage_grows(&u, USAGE_DESCRIPTORS, 1, &from);
    return usage_grows(&u, USAGE_MEMORY, 1, &from) || descriptors;
}

static uint64_t leaking(uint64_t run)
{
    return 20 + run;
}

static uint64_t leaking_now_and_then(uint64_t run) /* with work that comes and goes */
{
    return 20 + run / 5 * 5 + run * 7919 % 4;
}

static uint64_t steady(uint64_t run)
{
    return 20 + run * 7919 % 9;
}

static uint64_t filling(uint64_t run) /* a pool, up to half of 48 runs */
{
    return 20 + (run < 24 ? run : 24);
}

static uint64_t slowing(uint64_t run) /* a cache that is hit more and more often */
{
    return 200 - 150 * 12 / (run + 12);
}

static uint64_t jumping(uint64_t run) /* once */
{
    return run < 30 ? 20 : 90;
}

static uint64_t breathing(uint64_t run) /* collected now and then */
{
    return 50 + run % 40;
}

static uint64_t creeping(uint64_t run)
{
    return 1000 + run / 4;
}

static void test_grows(void **state)
{
    (void)state;
    assert_true(grows(48, leaking));
    assert_true(grows(5000, leaking));
    assert_true(grows(48, leaking_now_and_then));
    assert_true(grows(1000, leaking_now_and_then));
}

/* From so many runs on: before that, what will stop growing has not stopped. */
static const struct {
    uint64_t (*value)(uint64_t run);
    uint64_t runs;
} calm[] = {{steady, 1},   {filling, 44},    {slowing, 70},
            {jumping, 50}, {breathing, 120}, {creeping, 1}};

static void test_does_not_grow(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof calm / sizeof *calm; i++)
        for (uint64_t runs = calm[i].runs; runs < 400; runs++)
            if (grows(runs, calm[i].value))
                fail_msg("calm[%zu], %llu runs", i, (unsigned long long)runs);
}

/* Of several runs at a time each has connections of its own, until all pools are filled. */
static void test_side_by_side(void **state)
{
    (void)state;
    const struct usage_sample *from;
    struct usage u = sampled(26, leaking);
    assert_true(usage_grows(&u, USAGE_DESCRIPTORS, 1, &from));
    assert_false(usage_grows(&u, USAGE_DESCRIPTORS, 2, &from)); /* too little */
    u = sampled(70, leaking);
    assert_true(usage_grows(&u, USAGE_DESCRIPTORS, 2, &from));
    assert_false(usage_grows(&u, USAGE_DESCRIPTORS, 4, &from)); /* too few runs */
    u = sampled(100, leaking);
    assert_true(usage_grows(&u, USAGE_DESCRIPTORS, 4, &from));
    assert_false(usage_grows(&u, USAGE_DESCRIPTORS, 64, &from));
}

/* A few runs tell nothing. */
static void test_few(void **state)
{
    (void)state;
    for (uint64_t runs = 0; runs < 10; runs++)
        assert_false(grows(runs, leaking));
}

/* However long it takes, samples cover all of it. */
static void test_thins_out(void **state)
{
    (void)state;
    struct usage u = sampled(100000, leaking);
    assert_true(u.n >= USAGE_SAMPLES / 2 && u.n <= USAGE_SAMPLES);
    assert_true(u.at[0].run < 2 * u.stride + 1);
    assert_true(u.at[u.n - 1].run > 100000 - u.stride);
    for (uint32_t i = 1; i < u.n; i++)
        assert_int_equal(u.at[i].run - u.at[i - 1].run, u.stride);
    assert_false(usage_due(&u, u.at[u.n - 1].run + u.stride - 1));
    assert_true(usage_due(&u, u.at[u.n - 1].run + u.stride));
}

static void test_another_process(void **state)
{
    (void)state;
    struct usage u = sampled(100, leaking);
    struct usage_sample s = {101, {20, 20 << 20}};
    usage_add(&u, 8, &s);
    assert_int_equal(u.n, 1);
    assert_int_equal(u.at[0].run, 101);
    assert_true(usage_due(&u, 102));
}

static uint64_t swelling(uint64_t run) /* until there are none left */
{
    return run < 3 ? 7 : 7 + 10 * (run - 2);
}

static void test_swells(void **state)
{
    (void)state;
    struct usage u = sampled(7, swelling);
    assert_true(usage_swells(&u));
    u = sampled(4, swelling);
    assert_false(usage_swells(&u)); /* not so much yet */
    u = sampled(32, jumping);
    u.at[31].value[USAGE_DESCRIPTORS] = 90;
    assert_true(usage_swells(&u)); /* just now */
    u = sampled(100, jumping);
    assert_false(usage_swells(&u)); /* long ago */
    u = (struct usage){0};
    assert_false(usage_swells(&u));
}

static void test_print(void **state)
{
    (void)state;
    struct usage_sample from = {12, {20, 30 << 20}}, to = {49, {57, (70 << 20) + 1}};
    struct buf text = BUF_INIT(200);
    usage_print(USAGE_DESCRIPTORS, &from, &to, &text);
    assert_string_equal(buf_text(&text), "20 open descriptors after run 12, 57 after run 49");
    buf_clear(&text);
    usage_print(USAGE_MEMORY, &from, &to, &text);
    assert_string_equal(buf_text(&text), "30 MiB of memory after run 12, 70 after run 49");
    buf_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),        cmocka_unit_test(test_does_not_grow),
        cmocka_unit_test(test_side_by_side), cmocka_unit_test(test_few),
        cmocka_unit_test(test_thins_out),    cmocka_unit_test(test_another_process),
        cmocka_unit_test(test_swells),       cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
