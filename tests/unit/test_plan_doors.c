/* SPDX-License-Identifier: Apache-2.0
 *
 * Doors of plans as values: which calls and connections fire which triggers, on which node; which
 * candidates each call that was seen gives. What is wrong with doors is in tests/plan/doors. */
#include "base/clock.h"
#include "plan/derive.h"
#include "plan/schedule.h"
#include "support/unit.h"

#define HEAD                                                                                        \
    "version: 1\nplan: p\nduration: 9s\nnodes:\n  a: { start: x }\n  b: { start: y }\n"             \
    "doors:\n  web: { to: 'h:1', protocol: http, node: b }\n  pay: { to: 'h:2', protocol: http }\n" \
    "  db: { to: 'h:3', node: a }\n"                                                                \
    "clients:\n  c: { command: z }\nexpect:\n  - alive: true\n"
#define CALL "fault: { type: http, door: web, mode: 503 }"

enum { WEB, PAY, DB };

static void load(struct plan *p, const char *text)
{
    struct err e = {0};
    if (plan_parse(p, slice_of(text), &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
}

/* What is due now begins; "name@node" of each. */
static void go(struct schedule *s, const struct plan *p, struct buf *out)
{
    struct schedule_action a;
    while (schedule_take(s, MS(1), &a)) {
        buf_addf(out, "%s%.*s", out->n ? " " : "", SLICE_ARG(p->events.at[a.event].name));
        if (a.trigger_node != PLAN_NONE)
            buf_addf(out, "@%.*s", SLICE_ARG(p->nodes.at[a.trigger_node].name));
        schedule_began(s, MS(1), a.event);
    }
}

static void test_triggers(void **state)
{
    (void)state;
    struct plan p;
    struct buf out = BUF_INIT(1000);
    load(
        &p, HEAD
        "events:\n"
        "  - { name: any, " CALL ", trigger: { call: POST /charge } }\n"
        "  - { name: pays, " CALL ", trigger: { call: POST /charge, door: pay, nth: 2 } }\n"
        "  - { name: item, " CALL ", trigger: { call: GET /items/7 } }\n"
        "  - { name: below, " CALL ", trigger: { call: /items/* } }\n"
        "  - { name: grpc, " CALL ", trigger: { call: shop.Cart/Add } }\n"
        "  - { name: dial, fault: { type: tcp-hold, door: db }, trigger: { connection: db, nth: 2 } }\n"
        "  - { name: then, fault: { type: kill, target: match_trigger }, trigger: { began: dial } }\n");
    struct schedule *s = schedule_new(&p, 1);
    schedule_start(s);
    schedule_call(s, MS(1), WEB, SLICE("GET /charge"));
    schedule_call(s, MS(1), WEB, SLICE("POST /charges"));
    go(s, &p, &out);
    assert_string_equal(buf_text(&out), "");
    schedule_call(s, MS(1), PAY, SLICE("POST /charge"));
    schedule_call(s, MS(1), WEB, SLICE("POST /charge"));
    go(s, &p, &out);
    assert_string_equal(buf_text(&out), "any");
    schedule_call(s, MS(1), PAY, SLICE("POST /charge"));
    schedule_call(s, MS(1), WEB, SLICE("GET /items/[id]"));
    schedule_call(s, MS(1), WEB, SLICE("shop.Cart/Add"));
    schedule_connection(s, MS(1), DB);
    go(s, &p, &out);
    assert_string_equal(buf_text(&out), "any pays item@b below@b grpc@b");
    schedule_connection(s, MS(1), DB);
    go(s, &p, &out);
    assert_string_equal(buf_text(&out), "any pays item@b below@b grpc@b dial@a then@a");
    schedule_free(s);
    plan_free(&p);
    buf_deinit(&out);
}

/* "name@trigger>calls#nth" of each candidate. */
static void expect_next(struct derive *d, const char *wanted)
{
    struct buf all = BUF_INIT(10000);
    const struct candidate *c;
    while ((c = derive_next(d))) {
        const struct node *event = c->events->list[0], *fault = node_get(event, SLICE("fault"));
        const struct node *trigger = node_get(event, SLICE("trigger"));
        const struct node *calls = node_get(fault, SLICE("calls"));
        buf_addf(&all, "%s%.*s@", all.n ? " " : "",
                 SLICE_ARG(node_get(event, SLICE("name"))->text));
        for (uint32_t k = 0; k < trigger->n; k++)
            buf_addf(&all, "%s%.*s", k ? "," : "", SLICE_ARG(trigger->map[k].value->text));
        if (calls)
            buf_addf(&all, ">%.*s", SLICE_ARG(calls->text));
        struct plan other;
        struct err e = {0};
        struct plan p;
        load(&p, HEAD);
        if (plan_with_events(&other, &p, c->events, &e)) /* each is a plan */
            fail_msg("%s: %s", buf_text(&all), e.text);
        plan_free(&other);
        plan_free(&p);
    }
    assert_string_equal(buf_text(&all), wanted);
    buf_deinit(&all);
}

static struct sight call_of(uint32_t door, const char *interface, uint32_t nth)
{
    static const char *const doors[] = {"web", "pay"};
    return (struct sight){SIGHT_CALL,          door == WEB ? 1 : PLAN_NONE, PLAN_NONE,
                          slice_of(interface), slice_of(doors[door]),       nth};
}

/* A fault of calls is meant for the call that was seen, others for its node, or for each. */
static void test_derived(void **state)
{
    (void)state;
    struct plan p;
    load(&p,
         HEAD "explore:\n  slots: 0\n  door-calls: 2\n  faults:\n"
              "    - { fault: { type: http, mode: delay:1s } }\n    - { fault: { type: freeze } }\n"
              "    - { fault: { type: tcp-hold } }\n");
    struct derive *d = derive_new(&p);
    struct sight seen[] = {call_of(WEB, "GET /a", 1), call_of(WEB, "GET /a", 2),
                           call_of(WEB, "GET /a", 3), call_of(WEB, "GET /a", 1),
                           call_of(PAY, "GET /a", 1), call_of(PAY, "GET /a", 0)};
    static const bool news[] = {true, true, false, false, true, false};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        assert_int_equal(derive_see(d, NULL, &seen[i]), news[i]);
    expect_next(d, "http-web@GET /a,web>GET /a freeze-b@GET /a,web tcp-hold-db@GET /a,web "
                   "http-web@GET /a,web,2>GET /a freeze-b@GET /a,web,2 tcp-hold-db@GET /a,web,2 "
                   "http-pay@GET /a,pay>GET /a freeze-a@GET /a,pay freeze-b@GET /a,pay "
                   "tcp-hold-db@GET /a,pay");
    derive_free(d);
    plan_free(&p);
}

/* Where nothing is said: faults that fit the doors, at each that they fit. */
static void test_defaults(void **state)
{
    (void)state;
    struct plan p;
    load(&p, HEAD "explore: { slots: 1 }\n");
    struct derive *d = derive_new(&p);
    expect_next(d, "kill-a@4500ms kill-b@4500ms freeze-a@4500ms freeze-b@4500ms http-web@4500ms "
                   "http-pay@4500ms tcp-hold-db@4500ms");
    derive_free(d);
    plan_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triggers),
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
