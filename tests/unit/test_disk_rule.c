/* SPDX-License-Identifier: Apache-2.0
 *
 * harm/disk_rule: how rules of a disk are read, and what they do to operations. */
#include "harm/disk_rule.h"

#include <errno.h>

#include "base/clock.h"
#include "support/unit.h"

static struct disk_rules rules;

static void arm(const char *name, const char *text)
{
    struct disk_rule r;
    struct err e = {0};
    assert_int_equal(disk_rule_parse(&r, slice_of(name), slice_of(text), &e), 0);
    vec_push(&rules.list, r);
}

static void calm(void)
{
    vec_deinit(&rules.list);
}

static struct disk_fate decide(unsigned does, const char *path, uint64_t bytes, uint64_t grows)
{
    struct disk_fate fate;
    struct disk_op op = {.does = does,
                         .changes = does & (DISK_WRITE | DISK_CHANGE),
                         .path = slice_of(path),
                         .bytes = bytes,
                         .grows = grows};
    disk_decide(&rules, &op, SECONDS(100), &fate);
    return fate;
}

static void test_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "burn",
                                        "slow\nlatency",
                                        "slow\nlatency=-1",
                                        "slow\nlatency=99999999999999999999",
                                        "slow\nlatency=1s",
                                        "error\nerror=0",
                                        "error\nerror=1000",
                                        "error\nerror=EIO",
                                        "error\noperations=",
                                        "error\noperations=read,think",
                                        "error\nfile=",
                                        "full\nspace=3",
                                        "error\n=3"};
    struct disk_rule r;
    char longer[DISK_FILE_MAX + 20];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err e = {0};
        assert_int_equal(disk_rule_parse(&r, SLICE("x"), slice_of(wrong[i]), &e), -1);
        assert_true(e.text[0]);
    }
    struct err e = {0};
    assert_int_equal(disk_rule_parse(&r, SLICE(""), SLICE("full"), &e), -1);
    memset(longer, 'x', sizeof longer);
    memcpy(longer, "error\nfile=", 11);
    assert_int_equal(disk_rule_parse(&r, SLICE("x"), (slice){longer, sizeof longer}, &e), -1);
    assert_int_equal(disk_rule_parse(&r, (slice){longer, DISK_NAME_MAX + 1}, SLICE("full"), &e),
                     -1);
}

static void test_read(void **state)
{
    struct disk_rule r;
    struct err e = {0};
    (void)state;
    assert_int_equal(disk_rule_parse(&r, SLICE("late disk"),
                                     SLICE("slow\nlatency=5\njitter=6\nbandwidth=7\n"
                                           "operations=read,sync\nfile=a b/*"),
                                     &e),
                     0);
    assert_string_equal(r.name, "late disk");
    assert_int_equal(r.deed, DISK_SLOW);
    assert_int_equal(r.does, DISK_READ | DISK_SYNC);
    assert_string_equal(r.file, "a b/*");
    assert_true(r.latency_ns == 5 && r.jitter_ns == 6 && r.bandwidth == 7);
    assert_int_equal(disk_rule_parse(&r, SLICE("x"), SLICE("error"), &e), 0);
    assert_true(r.error == EIO && r.does == DISK_ALL && r.times == UINT64_MAX && !r.file[0]);
}

static void test_error(void **state)
{
    (void)state;
    arm("e", "error\nerror=28\ntimes=2\noperations=write\nfile=wal/*");
    assert_true(disk_rules_name(&rules));
    assert_int_equal(decide(DISK_READ, "wal/1", 10, 0).error, 0);
    assert_int_equal(decide(DISK_WRITE, "base/1", 10, 0).error, 0);
    assert_int_equal(decide(DISK_WRITE, "wal/1", 10, 0).error, ENOSPC);
    assert_int_equal(decide(DISK_WRITE | DISK_OPEN, "wal/2", 0, 0).error, ENOSPC);
    assert_int_equal(decide(DISK_WRITE, "wal/1", 10, 0).error, 0);
    assert_int_equal(disk_rules_find(&rules, SLICE("e"))->struck, 2);
    assert_null(disk_rules_find(&rules, SLICE("f")));
    calm();
}

static void test_slow(void **state)
{
    (void)state;
    arm("s", "slow\nlatency=1000000\noperations=sync");
    assert_int_equal(decide(DISK_WRITE, "", 10, 10).until_ns, 0);
    assert_true(decide(DISK_SYNC, "", 0, 0).until_ns == SECONDS(100) + MS(1));
    arm("b", "slow\nbandwidth=1000"); /* what is moved waits for what was moved before */
    assert_true(decide(DISK_READ, "", 500, 0).until_ns == SECONDS(100) + MS(500));
    assert_true(decide(DISK_WRITE, "", 500, 0).until_ns == SECONDS(101));
    assert_true(decide(DISK_SYNC, "", 0, 0).until_ns == SECONDS(100) + MS(1));
    calm();
    arm("j", "slow\nlatency=1000\njitter=1000");
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t late = decide(DISK_OPEN, "", 0, 0).until_ns - SECONDS(100);
        least = late < least ? late : least;
        most = late > most ? late : most;
    }
    assert_true(least >= 1000 && least < 1100 && most > 1900 && most <= 2000);
    calm();
}

static void test_full(void **state)
{
    (void)state;
    arm("f", "full\nroom=1000");
    assert_int_equal(decide(DISK_WRITE, "", 5000, 0).error, 0); /* over what is there */
    struct disk_fate fate = decide(DISK_WRITE, "", 800, 800);
    assert_true(!fate.error && fate.room == 800);
    fate = decide(DISK_WRITE, "", 800, 700); /* the rest of the room, and what it writes over */
    assert_true(!fate.error && fate.room == 200);
    fate = decide(DISK_WRITE, "", 800, 700); /* only what it writes over */
    assert_true(!fate.error && fate.room == 0);
    assert_int_equal(decide(DISK_WRITE, "", 1, 1).error, ENOSPC);
    assert_int_equal(decide(DISK_CHANGE, "", 0, DISK_BLOCK).error, ENOSPC);
    assert_int_equal(decide(DISK_SYNC, "", 0, 0).error, 0);
    disk_freed(&rules, 10000);
    assert_int_equal(decide(DISK_WRITE, "", 0, 10001).error, ENOSPC); /* all or nothing */
    assert_int_equal(decide(DISK_WRITE, "", 0, 10000).error, 0);
    assert_int_equal(rules.list.at[0].struck, 5);
    calm();
}

static void test_others(void **state)
{
    (void)state;
    arm("r", "read-only");
    assert_int_equal(decide(DISK_WRITE, "", 1, 1).error, EROFS);
    assert_int_equal(decide(DISK_READ, "", 1, 0).error, 0);
    assert_int_equal(decide(DISK_SYNC, "", 1, 0).error, 0);
    calm();
    arm("l", "lost-sync");
    assert_true(decide(DISK_SYNC, "", 0, 0).lost);
    assert_false(decide(DISK_WRITE, "", 1, 1).lost);
    assert_false(decide(DISK_READ, "", 1, 0).lost);
    assert_int_equal(rules.list.at[0].struck, 2);
    assert_non_null(disk_rules_doing(&rules, DISK_LOST_SYNC));
    assert_null(disk_rules_doing(&rules, DISK_FULL));
    arm("e", "error\noperations=sync"); /* together */
    arm("s", "slow\nlatency=5");
    struct disk_fate fate = decide(DISK_SYNC, "", 0, 0);
    assert_true(fate.lost && fate.error == EIO && fate.until_ns == SECONDS(100) + 5);
    calm();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_read), cmocka_unit_test(test_error),
        cmocka_unit_test(test_slow),    cmocka_unit_test(test_full), cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
