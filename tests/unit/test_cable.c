/* SPDX-License-Identifier: Apache-2.0
 *
 * lab/cable: which packets rules strike, and what becomes of them; resets, held against checksums
 * that are worked out here in another way. */
#include "lab/cable.h"

#include "base/clock.h"
#include "support/unit.h"

static struct cable_rule rule(uint32_t member, uint32_t other, enum cable_deed deed)
{
    struct cable_rule r = {.member = member, .out = true, .in = true, .deed = deed};
    cable_set_add(&r.others, other);
    return r;
}

static enum cable_fate decide(struct cable *w, uint32_t from, uint32_t to)
{
    int64_t at;
    return cable_decide(w, from, to, 100, SECONDS(1), &at);
}

static void test_partition(void **state)
{
    struct cable w;
    (void)state;
    cable_init(&w, 4, 1);
    assert_int_equal(decide(&w, 0, 1), CABLE_SENT);
    struct cable_rule r = rule(0, 1, CABLE_DROP);
    uint32_t both = cable_add(&w, &r);
    assert_int_equal(decide(&w, 0, 1), CABLE_LOST);
    assert_int_equal(decide(&w, 1, 0), CABLE_LOST);
    assert_int_equal(decide(&w, 0, 2), CABLE_SENT);
    assert_int_equal(decide(&w, 1, 2), CABLE_SENT);
    assert_int_equal(cable_struck(&w, both), 2);
    r = rule(2, 3, CABLE_DROP); /* one way */
    r.in = false;
    uint32_t simplex = cable_add(&w, &r);
    assert_int_equal(decide(&w, 2, 3), CABLE_LOST);
    assert_int_equal(decide(&w, 3, 2), CABLE_SENT);
    cable_remove(&w, both);
    assert_int_equal(decide(&w, 0, 1), CABLE_SENT);
    assert_int_equal(decide(&w, 2, 3), CABLE_LOST);
    cable_remove(&w, simplex);
    cable_remove(&w, simplex);
    assert_int_equal(decide(&w, 2, 3), CABLE_SENT);
    assert_int_equal(cable_struck(&w, simplex), 0);
    cable_deinit(&w);
}

/* Two targets of one fault that are each other's other side: the packet suffers once. */
static void test_groups(void **state)
{
    struct cable w;
    int64_t at;
    (void)state;
    cable_init(&w, 3, 1);
    struct cable_rule a = rule(0, 1, CABLE_WORSEN), b = rule(1, 0, CABLE_WORSEN);
    a.latency_ns = b.latency_ns = MS(10);
    cable_add(&w, &a);
    cable_add(&w, &b);
    assert_int_equal(cable_decide(&w, 0, 1, 100, SECONDS(1), &at), CABLE_SENT);
    assert_int_equal(at, SECONDS(1) + MS(10));
    b.group = 1; /* another fault: both */
    cable_add(&w, &b);
    assert_int_equal(cable_decide(&w, 0, 1, 100, SECONDS(2), &at), CABLE_SENT);
    assert_int_equal(at, SECONDS(2) + MS(20));
    cable_deinit(&w);
}

static void test_order(void **state)
{
    struct cable w;
    int64_t at, last = 0, least = INT64_MAX, most = 0;
    (void)state;
    cable_init(&w, 2, 7);
    struct cable_rule r = rule(0, 1, CABLE_WORSEN);
    r.latency_ns = MS(5);
    r.jitter_ns = MS(20);
    uint32_t id = cable_add(&w, &r);
    for (int64_t now = 0; now < SECONDS(10); now += MS(30)) {
        assert_int_equal(cable_decide(&w, 0, 1, 100, now, &at), CABLE_SENT);
        assert_true(at >= last && at - now >= MS(5) && at - now < MS(25));
        least = at - now < least ? at - now : least;
        most = at - now > most ? at - now : most;
        last = at;
    }
    assert_true(least < MS(6) && most > MS(24));
    for (int64_t i = 0; i < 100; i++) { /* close together: nobody overtakes */
        assert_int_equal(cable_decide(&w, 0, 1, 100, SECONDS(11) + i, &at), CABLE_SENT);
        assert_true(at >= last);
        last = at;
    }
    cable_remove(&w, id); /* nor when the fault has ended */
    assert_int_equal(cable_decide(&w, 0, 1, 100, SECONDS(11) + 200, &at), CABLE_SENT);
    assert_true(at == last && at > SECONDS(11) + 200);
    cable_deinit(&w);
}

static void test_loss(void **state)
{
    (void)state;
    uint32_t lost[2] = {0};
    for (int round = 0; round < 2; round++) {
        struct cable w;
        cable_init(&w, 2, 42);
        struct cable_rule r = rule(0, 1, CABLE_WORSEN);
        r.loss = 0.3;
        cable_add(&w, &r);
        for (int i = 0; i < 10000; i++)
            lost[round] += decide(&w, 0, 1) == CABLE_LOST;
        cable_deinit(&w);
    }
    assert_int_equal(lost[0], lost[1]);
    assert_in_range(lost[0], 2850, 3150);
}

static void test_bandwidth(void **state)
{
    struct cable w;
    int64_t at, last = 0;
    uint32_t sent = 0, back = 0;
    (void)state;
    cable_init(&w, 2, 1);
    struct cable_rule r = rule(0, 1, CABLE_WORSEN);
    r.bandwidth = 100000;
    cable_add(&w, &r);
    for (int i = 0; i < 1000; i++) { /* a megabyte at once: what the queue holds gets through */
        if (cable_decide(&w, 0, 1, 1000, 0, &at) != CABLE_SENT)
            continue;
        assert_int_equal(at - last, MS(10));
        last = at;
        sent++;
    }
    assert_in_range(sent, 50, 52);
    for (int i = 0; i < 1000; i++) /* the other way has room of its own */
        back += cable_decide(&w, 1, 0, 1000, 0, &at) == CABLE_SENT;
    assert_int_equal(back, sent);
    cable_deinit(&w);
}

/* ---- packets ---- */

/* A SYN of 10.77.0.1:4660 to 10.77.0.2:80, sequence number 0x01020304, without options. */
static const uint8_t syn[40] = {0x45, 0, 0,  40, 0,    1, 0x40, 0,    64, 6,  0, 0, 10, 77,
                                0,    1, 10, 77, 0,    2, 0x12, 0x34, 0,  80, 1, 2, 3,  4,
                                0,    0, 0,  0,  0x50, 2, 0xff, 0xff, 0,  0,  0, 0};

/* The one's complement sum of everything that a receiver adds up is 0xffff. */
static uint32_t receiver_sum(const uint8_t *p, size_t n, uint32_t s)
{
    for (size_t i = 0; i < n; i++)
        s += i % 2 ? p[i] : (uint32_t)p[i] << 8;
    while (s > 0xffff)
        s = s % 0x10000 + s / 0x10000;
    return s;
}

static void check_reset(const uint8_t *p, uint8_t from, uint8_t to, uint32_t seq, uint32_t ack,
                        uint8_t flags)
{
    const uint8_t *tcp = p + 20;
    assert_int_equal(receiver_sum(p, 20, 0), 0xffff);
    assert_int_equal(receiver_sum(tcp, 20, receiver_sum(p + 12, 8, 6 + 20)), 0xffff);
    assert_int_equal(p[15], from);
    assert_int_equal(p[19], to);
    assert_int_equal(tcp[from == 1 ? 1 : 3], 0x34); /* the port of .1 */
    assert_int_equal((uint32_t)tcp[4] << 24 | tcp[5] << 16 | tcp[6] << 8 | tcp[7], seq);
    assert_int_equal((uint32_t)tcp[8] << 24 | tcp[9] << 16 | tcp[10] << 8 | tcp[11], ack);
    assert_int_equal(tcp[13], flags);
}

static void test_resets(void **state)
{
    uint8_t p[60] = {0}, back[CABLE_RESET_BYTES], on[CABLE_RESET_BYTES];
    (void)state;
    memcpy(p, syn, sizeof syn);
    assert_int_equal(cable_destination(p, 40), 0x0a4d0002);
    assert_true(cable_resets(p, 40, back, on));
    check_reset(back, 2, 1, 0, 0x01020305, 4 | 16); /* as a closed port answers */
    check_reset(on, 1, 2, 0x01020304, 0, 4);
    p[33] = 16; /* data of an open connection, which acknowledges 0x0a0b0c0d */
    memcpy(p + 28, (const uint8_t[]){0x0a, 0x0b, 0x0c, 0x0d}, 4);
    p[3] = 50;
    assert_true(cable_resets(p, 50, back, on));
    check_reset(back, 2, 1, 0x0a0b0c0d, 0, 4);
    check_reset(on, 1, 2, 0x01020304, 0x0a0b0c0d, 4 | 16);
}

static void test_no_resets(void **state)
{
    static const struct {
        uint8_t at, is;
        size_t n;
    } odd[] = {{33, 4, 40},   {9, 17, 40}, {7, 1, 40},  {0, 0x65, 40},  {0, 0x44, 40},
               {0, 0x4f, 40}, {3, 39, 40}, {3, 41, 40}, {32, 0x40, 40}, {32, 0xf0, 40},
               {33, 2, 39},   {33, 2, 19}, {33, 2, 0}};
    uint8_t back[CABLE_RESET_BYTES], on[CABLE_RESET_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        uint8_t p[40];
        memcpy(p, syn, sizeof p);
        p[odd[i].at] = odd[i].is;
        assert_false(cable_resets(p, odd[i].n, back, on));
    }
    assert_int_equal(cable_destination((const uint8_t *)"\x60", 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partition), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_loss),
        cmocka_unit_test(test_bandwidth), cmocka_unit_test(test_resets),
        cmocka_unit_test(test_no_resets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
