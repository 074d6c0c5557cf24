/* SPDX-License-Identifier: Apache-2.0
 *
 * lab/resolver: questions as they come from a stub resolver, and what is answered; rules; what is not
 * well formed. */
#include "lab/resolver.h"

#include "base/clock.h"
#include "support/unit.h"

#define NETWORK (198u << 24 | 18u << 16 | 77u << 8)

static const slice names[] = {{"web", 3}, {"db-1", 4}, {"Cache", 5}};

static struct resolver resolver(void)
{
    return (struct resolver){.names = names, .n = 3, .network = NETWORK};
}

struct packet {
    uint8_t at[600];
    size_t n;
};

static void add32(struct packet *p, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        p->at[p->n++] = (uint8_t)(v >> shift);
}

/* A question of port 4242 to the name server at .254: "web" or "a.b". */
static struct packet ask(const char *name, uint32_t type)
{
    struct packet p = {0};
    static const uint8_t ip[12] = {0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17};
    memcpy(p.at, ip, sizeof ip);
    p.n = 12;
    add32(&p, NETWORK | 1);
    add32(&p, NETWORK | 254);
    add32(&p, 4242u << 16 | RESOLVER_PORT);
    add32(&p, 0);
    add32(&p, 0xbeef0100);
    add32(&p, 1u << 16);
    add32(&p, 0);
    while (*name) {
        size_t n = strcspn(name, ".");
        p.at[p.n++] = (uint8_t)n;
        memcpy(p.at + p.n, name, n);
        p.n += n;
        name += n + (name[n] == '.');
    }
    p.at[p.n++] = 0;
    add32(&p, type << 16 | 1);
    p.at[2] = (uint8_t)(p.n >> 8);
    p.at[3] = (uint8_t)p.n;
    p.at[24] = (uint8_t)((p.n - 20) >> 8);
    p.at[25] = (uint8_t)(p.n - 20);
    return p;
}

/* What is answered: the address (its last number), minus the code of an error; -100: nothing. */
static int answered(struct resolver *r, uint32_t member, const struct packet *p, int64_t *late_ns)
{
    uint8_t a[RESOLVER_PACKET_MAX];
    assert_true(resolver_is_asked(p->at, p->n));
    size_t n = resolver_answer(r, member, p->at, p->n, a, late_ns);
    if (!n)
        return -100;
    assert_int_equal(a[2] << 8 | a[3], n);
    assert_memory_equal(a + 12, p->at + 16, 4); /* back to whoever asked */
    assert_memory_equal(a + 16, p->at + 12, 4);
    assert_memory_equal(a + 20, p->at + 22, 2);
    assert_memory_equal(a + 22, p->at + 20, 2);
    assert_memory_equal(a + 28, p->at + 28, 2); /* the id */
    assert_true(a[30] & 0x80);
    if (a[35] == 0)
        return -(a[31] & 15);
    assert_memory_equal(a + n - 4, p->at + 12, 3); /* in the same network */
    return a[n - 1];
}

static int look(struct resolver *r, uint32_t member, const char *name, uint32_t type)
{
    struct packet p = ask(name, type);
    int64_t late;
    return answered(r, member, &p, &late);
}

static void test_names(void **state)
{
    struct resolver r = resolver();
    (void)state;
    assert_int_equal(look(&r, 0, "web", 1), 1);
    assert_int_equal(look(&r, 0, "WEB.lan", 1), 1);
    assert_int_equal(look(&r, 2, "db-1", 1), 2);
    assert_int_equal(look(&r, 2, "cache", 1), 3);
    assert_int_equal(look(&r, 0, "web", 28), 0); /* it is there, and has no such address */
    assert_int_equal(look(&r, 0, "stock", 1), -3);
    assert_int_equal(look(&r, 0, "web.example.net", 1), -3);
    assert_int_equal(look(&r, 0, "", 1), -3);
    resolver_deinit(&r);
}

static void test_rules(void **state)
{
    struct resolver r = resolver();
    struct resolver_rule rule = {.names = SLICE("db*"), .answer = RESOLVER_NXDOMAIN};
    struct packet p = ask("web.lan", 1);
    int64_t late;
    (void)state;
    cable_set_add(&rule.members, 0);
    uint32_t gone = resolver_add(&r, &rule);
    assert_int_equal(look(&r, 0, "db-1", 1), -3);
    assert_int_equal(look(&r, 0, "db-1.lan", 28), -3);
    assert_int_equal(look(&r, 0, "web", 1), 1);
    assert_int_equal(look(&r, 1, "db-1", 1), 2);
    assert_int_equal(resolver_struck(&r, gone), 2);
    rule = (struct resolver_rule){.answer = RESOLVER_TRUE, .latency_ns = MS(300)};
    cable_set_add(&rule.members, 1);
    uint32_t slow = resolver_add(&r, &rule);
    assert_int_equal(answered(&r, 1, &p, &late), 1);
    assert_true(late == MS(300));
    resolver_remove(&r, slow);
    resolver_remove(&r, gone);
    assert_int_equal(look(&r, 0, "db-1", 1), 2);
    static const struct {
        enum resolver_answer how;
        int seen;
    } rows[] = {{RESOLVER_NONE, -100}, {RESOLVER_SERVFAIL, -2}, {RESOLVER_REFUSED, -5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rule = (struct resolver_rule){.answer = rows[i].how};
        cable_set_add(&rule.members, 0);
        uint32_t id = resolver_add(&r, &rule);
        assert_int_equal(look(&r, 0, "web", 1), rows[i].seen);
        resolver_remove(&r, id);
    }
    resolver_deinit(&r);
}

/* Each packet cut short, and with each byte changed: no answer, or one to the question. */
static void test_damaged(void **state)
{
    struct resolver r = resolver();
    struct packet p = ask("web", 1);
    uint8_t answer[RESOLVER_PACKET_MAX];
    int64_t late;
    (void)state;
    for (size_t n = 0; n < p.n; n++)
        assert_false(resolver_is_asked(p.at, n));
    for (size_t i = 0; i < p.n; i++)
        for (int v = 0; v < 256; v++) {
            struct packet q = p;
            q.at[i] = (uint8_t)v;
            assert_true(resolver_answer(&r, 0, q.at, q.n, answer, &late) <= RESOLVER_PACKET_MAX);
        }
    p.at[23] = 54; /* another port */
    assert_false(resolver_is_asked(p.at, p.n));
    p = ask("web", 1);
    p.at[30] |= 0x80; /* an answer itself */
    assert_int_equal(answered(&r, 0, &p, &late), -100);
    resolver_deinit(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_rules),
                                       cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
