/* SPDX-License-Identifier: Apache-2.0
 *
 * Failure plans: what is refused, with its place and a sentence; and the schedule, which says when
 * faults begin and end. */
#include <stdio.h>

#include "base/clock.h"
#include "plan/injector.h"
#include "plan/schedule.h"
#include "support/unit.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))

#define HEAD                                                                                        \
    "version: 1\nplan: p\nduration: 10s\nnodes:\n  a: { start: x, tags: [t] }\n  b: { start: y }\n" \
    "clients:\n  c: { command: z, every: 1s }\nroles: { boss: who }\n"
#define TAIL         "expect:\n  - alive: true\n"
#define EVENTS(text) HEAD "events:\n" text TAIL

/* ---- what is refused ---- */

static const struct {
    const char *text;
    uint32_t line;
    const char *says;
} refused[] = {
    {"version: 2\n", 1, "must be"},
    {"version: 1\nplan: p\n", 1, "clients"},
    {"[]\n", 1, "map"},
    {HEAD, 1, "expect"},
    {"version: 1\nplan: a b\nclients: { c: { command: x } }\nexpect: [ { alive: true } ]\n", 2,
     "the name of a plan"},
    {HEAD "nods: {}\n" TAIL, 10, "nods"},
    {EVENTS("  - fault: { type: kil, target: a }\n    trigger: { at: 1s }\n"), 11,
     "did you mean \"kill\""},
    {EVENTS("  - fault: { type: kill, target: d }\n    trigger: { at: 1s }\n"), 11,
     "there is no node \"d\""},
    {EVENTS("  - fault: { type: kill, target: [a, d] }\n    trigger: { at: 1s }\n"), 11,
     "there is no node \"d\""},
    {EVENTS("  - fault: { type: kill, target: tag:u }\n    trigger: { at: 1s }\n"), 11,
     "no node has the tag \"u\""},
    {EVENTS("  - fault: { type: kill, target: role:bos }\n    trigger: { at: 1s }\n"), 11,
     "did you mean \"boss\""},
    {EVENTS("  - fault: { type: kill }\n    trigger: { at: 1s }\n"), 11, "needs \"target\""},
    {EVENTS("  - fault: { type: kill, target: match_trigger }\n    trigger: { at: 1s }\n"), 11,
     "fires on a node"},
    {EVENTS("  - fault: { type: cpu, target: a }\n    trigger: { at: 1s }\n"), 11, "has no target"},
    {EVENTS("  - fault: { type: exec, start: x }\n    trigger: { at: 1s }\n"), 11,
     "needs \"undo\": the command that undoes it"},
    {EVENTS("  - fault: { type: kill, target: a, size: 5M }\n    trigger: { at: 1s }\n"), 11,
     "does not take \"size\""},
    {EVENTS("  - fault: { type: memory, size: 5T }\n    trigger: { at: 1s }\n"), 11,
     "a size such as"},
    {EVENTS("  - fault: { type: restart, target: a }\n    trigger: { at: 1s }\n    duration: 1s\n"),
     11, "is over at once"},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { at: 10s }\n"), 12,
     "after the end of a run"},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: {}\n"), 12, "exactly one of"},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { at: 1s, line: x }\n"), 12,
     "exactly one of"},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { line: '(' }\n"), 12, "line"},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { line: x, of: d }\n"), 12,
     "no node and no client \"d\""},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { at: 1s, chance: 2 }\n"), 12,
     "from 0 to 1"},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { began: kil }\n"), 12,
     "there is no event \"kil\""},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { began: kill }\n"), 12,
     "never happens"},
    {EVENTS("  - name: one\n    fault: { type: kill, target: a }\n    trigger: { ended: two }\n"
            "    duration: 1s\n  - name: two\n    fault: { type: freeze, target: b }\n"
            "    trigger: { ended: one }\n    duration: 1s\n"),
     13, "\"one\" never happens: it waits for \"two\""},
    {EVENTS("  - fault: { type: freeze, target: a }\n    trigger: { at: 1s }\n"
            "  - fault: { type: kill, target: b }\n    trigger: { ended: freeze }\n"),
     14, "does not end before the run does"},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { at: 1s }\n"
            "  - name: again\n    fault: { type: kill, target: a }\n    trigger: { at: 1s }\n"),
     13, "needs another trigger"},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { at: 1s }\n"
            "  - fault: { type: kill, target: a }\n    trigger: { at: 2s }\n"),
     13, "give this one a name"},
    {HEAD "expect:\n  - { lost: 1, gap: 2s }\n", 11, "says one thing"},
    {HEAD "expect:\n  - { percentile: 50 }\n", 11, "needs one of"},
    {HEAD "expect:\n  - { availability: 101 }\n", 11, "from 0 to 100"},
    {HEAD "expect:\n  - { alive: false }\n", 11, "can only be true"},
    {HEAD "expect:\n  - { lost: 1, of: a }\n", 11, "no client \"a\""},
    {"version: 1\nplan: p\nnodes: { a: { start: x } }\nclients: { a: { command: x } }\n" TAIL, 4,
     "is the name of a node too"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(refused); i++) {
        struct plan p;
        struct err e = {0};
        int status = plan_parse(&p, slice_of(refused[i].text), &e);
        if (status != -1 || e.line != refused[i].line || !strstr(e.text, refused[i].says) || !e.col)
            fail_msg("case %zu: %d, %u:%u: %s", i, status, e.line, e.col, e.text);
        plan_free(&p);
    }
}

static void test_too_many(void **state)
{
    (void)state;
    struct buf text = BUF_INIT(2 << 20);
    struct plan p;
    struct err e = {0};
    buf_adds(&text, HEAD "events:\n");
    for (int i = 0; i < 10000; i++)
        buf_addf(&text,
                 "  - { name: e%d, fault: { type: kill, target: a }, trigger: { at: %dms } }\n", i,
                 i % 9000);
    buf_adds(&text, TAIL);
    assert_int_equal(plan_parse(&p, buf_slice(&text), &e), -1);
    assert_non_null(strstr(e.text, "1000"));
    assert_true(e.line > 0 && e.col > 0);
    plan_free(&p);
    buf_deinit(&text);
}

/* ---- the schedule ---- */

static void load(struct plan *p, const char *text)
{
    struct err e = {0};
    if (plan_parse(p, slice_of(text), &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
}

/* All that is due now, carried out at once: "+name" begins, "-name" ends. */
static void go(struct schedule *s, const struct plan *p, int64_t now_ms, struct buf *out)
{
    struct schedule_action a;
    while (schedule_take(s, MS(now_ms), &a)) {
        bool begins = a.act == SCHEDULE_BEGIN;
        buf_addf(out, "%s%c%.*s", out->n ? " " : "", begins ? '+' : '-',
                 SLICE_ARG(p->events.at[a.event].name));
        if (begins)
            schedule_began(s, MS(now_ms), a.event);
        else
            schedule_ended(s, MS(now_ms), a.event);
    }
}

static void test_course(void **state)
{
    (void)state;
    struct plan p;
    struct buf out = BUF_INIT(1000);
    load(
        &p,
        EVENTS(
            "  - { name: late, fault: { type: freeze, target: a }, trigger: { at: 2s }, duration: 1s }\n"
            "  - { name: soon, fault: { type: freeze, target: b }, trigger: { at: 1s }, until: done }\n"
            "  - { name: then, fault: { type: restart, target: b }, trigger: { ended: late, delay: 500ms } }\n"
            "  - { name: third, fault: { type: cpu }, trigger: { line: 'to [0-9]+$', of: a, nth: 3 } }\n"
            "  - { name: told, fault: { type: kill, target: match_trigger }, trigger: { event: leader } }\n"));
    struct schedule *s = schedule_new(&p, 1);
    schedule_start(s);
    assert_int_equal(schedule_next_ns(s), SECONDS(1));
    go(s, &p, 999, &out);
    assert_string_equal(buf_text(&out), "");
    go(s, &p, 1000, &out);
    for (int i = 0; i < 4; i++) {
        schedule_line(s, MS(1100 + i), 1, PLAN_NONE, SLICE("b goes to 7")); /* another node */
        schedule_line(s, MS(1100 + i), 0, PLAN_NONE, SLICE("goes to x"));
        schedule_line(s, MS(1100 + i), 0, PLAN_NONE, SLICE("goes to 7"));
        go(s, &p, 1100 + i, &out);
    }
    schedule_event(s, MS(1500), 0, SLICE("done"), SLICE(""));
    go(s, &p, 1500, &out);
    go(s, &p, 2000, &out);
    go(s, &p, 3000, &out);
    assert_int_equal(schedule_next_ns(s), MS(3500));
    go(s, &p, 3500, &out);
    assert_string_equal(buf_text(&out), "+soon +third -soon +late -late +then -then");
    schedule_event(s, SECONDS(4), 0, SLICE("leader"), SLICE("b"));
    struct schedule_action a;
    struct schedule_nodes aim = {0};
    assert_true(schedule_take(s, SECONDS(4), &a));
    schedule_aim(s, &a, PLAN_NONE, &aim);
    assert_true(aim.n == 1 && aim.at[0] == 1); /* the node that the event names */
    mem_free(aim.at);
    schedule_free(s);
    plan_free(&p);
    buf_deinit(&out);
}

static void test_targets(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        int32_t on, role;
        const char *nodes;
    } cases[] = {
        {"all", PLAN_NONE, PLAN_NONE, "abc"},
        {"b", PLAN_NONE, PLAN_NONE, "b"},
        {"[c, a]", PLAN_NONE, PLAN_NONE, "ca"},
        {"tag:t", PLAN_NONE, PLAN_NONE, "ac"},
        {"[tag:t, b]", PLAN_NONE, PLAN_NONE, "acb"},
        {"match_trigger", 1, PLAN_NONE, "b"},
        {"not_trigger", 1, PLAN_NONE, "ac"},
        {"match_trigger", PLAN_NONE, PLAN_NONE, ""},
        {"role:boss", PLAN_NONE, 2, "c"},
        {"role:boss", PLAN_NONE, PLAN_NONE, ""},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct buf text = BUF_INIT(2000), got = BUF_INIT(100);
        struct schedule_nodes aim = {0};
        struct plan p;
        buf_addf(
            &text,
            "version: 1\nplan: p\nnodes: { a: { start: x, tags: [t] }, b: { start: x }, c: { start: "
            "x, tags: [t] } }\nroles: { boss: x }\nclients: { d: { command: x } }\nevents:\n"
            "  - { fault: { type: kill, target: %s }, trigger: { line: x } }\n" TAIL,
            cases[i].target);
        load(&p, buf_text(&text));
        struct schedule *s = schedule_new(&p, 1);
        schedule_aim(s, &(struct schedule_action){.trigger_node = cases[i].on}, cases[i].role,
                     &aim);
        for (uint32_t k = 0; k < aim.n; k++)
            buf_add(&got, p.nodes.at[aim.at[k]].name);
        assert_string_equal(buf_text(&got), cases[i].nodes);
        mem_free(aim.at);
        schedule_free(s);
        plan_free(&p);
        buf_deinit(&text);
        buf_deinit(&got);
    }
}

/* Chance and `any` are the seed's: the same again, and over many seeds as often as they should. */
static void test_dice(void **state)
{
    (void)state;
    struct plan p;
    uint32_t begun = 0, first = 0;
    load(&p,
         EVENTS("  - { fault: { type: kill, target: any }, trigger: { at: 1s, chance: 0.25 } }\n"));
    for (uint64_t seed = 0; seed < 4000; seed++) {
        bool begins[2];
        uint32_t node[2];
        for (int i = 0; i < 2; i++) {
            struct schedule *s = schedule_new(&p, seed);
            struct schedule_nodes aim = {0};
            struct schedule_action a = {.trigger_node = PLAN_NONE};
            schedule_start(s);
            begins[i] = schedule_take(s, SECONDS(1), &a);
            schedule_aim(s, &a, PLAN_NONE, &aim);
            assert_int_equal(aim.n, 1);
            node[i] = aim.at[0];
            mem_free(aim.at);
            schedule_free(s);
        }
        assert_true(begins[0] == begins[1] && node[0] == node[1]);
        begun += begins[0];
        first += node[0] == 0;
    }
    assert_in_range(begun, 850, 1150);
    assert_in_range(first, 1850, 2150);
    plan_free(&p);
}

/* ---- injectors ---- */

/* Every one that leaves something behind has an undo. */
static void test_orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_injectors; i++) {
        struct plan_event e = {.injector = &injectors[i],
                               .start = SLICE("do"),
                               .undo = SLICE("undo"),
                               .path = SLICE("/a b/c'd"),
                               .size = SLICE("5M"),
                               .count = 2};
        struct inject_order o;
        injector_order(&e, 123, &o);
        switch (injectors[i].kind) {
        case INJECT_PROCESS: assert_true(o.signal > 0 && !o.start.n && !o.undo.n); break;
        case INJECT_SCRIPT: assert_true(o.start.n && o.undo.n); break;
        case INJECT_HOLD: assert_true(o.start.n && !o.undo.n); break;
        }
        assert_ptr_equal(injector_find(slice_of(injectors[i].name)), &injectors[i]);
        inject_order_deinit(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_course),  cmocka_unit_test(test_targets),
        cmocka_unit_test(test_dice),    cmocka_unit_test(test_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
