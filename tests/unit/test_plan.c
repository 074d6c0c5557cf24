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

#define ONE(fault) EVENTS("  - fault: { " fault " }\n    trigger: { at: 1s }\n")
#define NETWORK(address, fault)                                                                    \
    EVENTS("  - fault: { " fault " }\n    trigger: { at: 1s }\n") "network: \"" address "\"\n"

#define HOSTS(host, on)                                                                            \
    "version: 1\nplan: p\nhosts:\n  h: " host "\nnodes:\n  a: { start: x, on: " on " }\n"          \
    "clients:\n  c: { command: z, every: 1s }\n" TAIL
#define SSH "{ via: ssh, address: x }"

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
    {HOSTS("{ via: sssh }", "h"), 4, "did you mean \"ssh\""},
    {HOSTS("{ address: x }", "h"), 4, "via"},
    {HOSTS("{ via: ssh }", "h"), 4, "needs \"address\""},
    {HOSTS("{ via: ssh, address: x, pod: y }", "h"), 4, "ssh does not take \"pod\""},
    {HOSTS("{ via: agent, address: x, fingerprint: ab }", "h"), 4, "64 hex digits"},
    {HOSTS("{ via: agent, address: x, ca: y }", "h"), 4, "needs \"token-file\""},
    {HOSTS("{ via: agent, address: x, token-file: y }", "h"), 4, "needs one of ca fingerprint"},
    {HOSTS("{ via: agent, address: x, ca: y, user: z }", "h"), 4, "agent does not take \"user\""},
    {HOSTS("{ via: local, dir: /x }", "h"), 4, "local does not take \"dir\""},
    {HOSTS("{ via: ssh, address: -oProxyCommand=x }", "h"), 4, "does not begin with"},
    {HOSTS("{ via: podman, container: a b }", "h"), 4, "\"container\" has letters"},
    {HOSTS("{ via: ssh, address: x, dir: tmp }", "h"), 4, "absolute path"},
    {HOSTS(SSH, "hh"), 6, "there is no host \"hh\""},
    {HOSTS(SSH, "h") "network: 198.18.7.0/24\n", 6, "of this machine alone"},
    {HOSTS(SSH,
           "h") "events:\n  - fault: { type: kill, target: host:g }\n    trigger: { at: 1s }\n",
     12, "there is no host \"g\""},
    {HOSTS(SSH, "h") "events:\n  - fault: { type: exec, start: x, undo: y, target: a, on: h }\n"
                     "    trigger: { at: 1s }\n",
     12, "happens where the target is"},
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
    {EVENTS("  - fault: { type: kill, target: match_trigger }\n    trigger: { manual: true }\n"),
     11, "fires on a node"},
    {EVENTS("  - fault: { type: kill, target: a }\n    trigger: { manual: false }\n"), 12,
     "\"manual\" is true"},
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
    {EVENTS("  - fault: { type: partition, target: a }\n    trigger: { at: 1s }\n"), 11,
     "needs a network"},
    {ONE("type: clock, target: a"), 11, "needs one of offset"},
    {ONE("type: clock, target: a, offset: 2"), 11, "such as 2h or -30s"},
    {ONE("type: clock, target: a, offset: 0s"), 11, "such as 2h or -30s"},
    {ONE("type: clock, target: a, offset: --1s"), 11, "such as 2h or -30s"},
    {ONE("type: clock, target: a, offset: 438001h"), 11, "at most 50 years"},
    {ONE("type: clock, target: a, drift: 1"), 11, "but not 1"},
    {ONE("type: clock, target: a, drift: -1"), 11, "from 0 to 100"},
    {ONE("type: clock, target: a, drift: 101"), 11, "from 0 to 100"},
    {ONE("type: clock, target: a, drift: nan"), 11, "from 0 to 100"},
    {ONE("type: clock, target: a, drift: 5ppb"), 11, "such as 500ppm"},
    {ONE("type: clock, target: a, drift: ppm"), 11, "such as 500ppm"},
    {ONE("type: clock, offset: 1s"), 11, "needs \"target\""},
    {ONE("type: limit, target: a"), 11, "needs one of cpu memory processes"},
    {ONE("type: limit, target: a, cpu: 10"), 11, "10% or 200%"},
    {ONE("type: limit, target: a, cpu: 0%"), 11, "10% or 200%"},
    {ONE("type: limit, target: a, memory: 1Q"), 11, "a size such as"},
    {ONE("type: limit, target: a, processes: 0"), 11, "processes"},
    {ONE("type: exit, target: a, code: 256"), 11, "from 0 to 255"},
    {ONE("type: descriptors, target: a, code: 2"), 11, "does not take \"code\""},
    {ONE("type: signal, target: a"), 11, "needs \"signal\""},
    {ONE("type: signal, target: a, signal: SIGHUP"), 11, "HUP"},
    {ONE("type: signal, target: a, signal: KILL"), 11, "take kill"},
    {ONE("type: signal, target: a, signal: TERM"), 11, "take terminate"},
    {NETWORK("10.0.0.0/24", "type: link, target: a"), 11, "needs one of latency"},
    {NETWORK("10.0.0.0/24", "type: link, target: a, latency: 5"), 11, "duration"},
    {NETWORK("10.0.0.0/24", "type: link, target: a, loss: 2"), 11, "from 0 to 1"},
    {NETWORK("10.0.0.0/24", "type: link, target: a, bandwidth: 5Q"), 11, "a size such as"},
    {NETWORK("10.0.0.0/24", "type: partition, target: a, loss: 0.5"), 11, "does not take \"loss\""},
    {NETWORK("10.0.0.0/24", "type: partition, target: a, direction: up"), 11, "both"},
    {NETWORK("10.0.0.0/24", "type: partition, target: a, from: d"), 11, "no node and no client"},
    {NETWORK("10.0.0.0/24", "type: partition, target: a, from: tag:u"), 11, "tag:u"},
    {NETWORK("10.0.0.0/24", "type: partition, target: a, from: []"), 11, "empty"},
    {NETWORK("10.0.0.0/16", "type: partition, target: a"), 15, "198.18.77.0/24"},
    {NETWORK("10.0.0.1/24", "type: partition, target: a"), 15, "198.18.77.0/24"},
    {NETWORK("127.0.0.0/24", "type: partition, target: a"), 15, "198.18.77.0/24"},
    {NETWORK("10.0.0/24", "type: partition, target: a"), 15, "198.18.77.0/24"},
    {NETWORK("2001:db8:0:0:1::/24", "type: partition, target: a"), 15, "198.18.77.0/24"},
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

/* ---- a plan that extends another one ---- */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

#define CHILD "version: 1\nplan: q\nextends: base.yaml\n"

static void test_extended(void **state)
{
    (void)state;
    struct plan p;
    struct err e = {0};
    write_file(
        "base.yaml",
        EVENTS(
            "  - { fault: { type: kill, target: a }, trigger: { at: 1s } }\n") "about: x\nenv: { A: 1, B: 2 }\n");
    write_file("child.yaml", CHILD "env: { B: 3, C: 4 }\nclients: { d: { command: x } }\n"
                                   "expect: [ { lost: 1, name: few }, { gap: 1s } ]\n");
    if (plan_load(&p, "child.yaml", &e))
        fail_msg("%s:%u: %s", e.source, e.line, e.text);
    assert_true(slice_is(p.name, "q") && !p.about.n && p.duration_ns == SECONDS(10));
    assert_true(p.nodes.n == 2 && p.roles.n == 1 && p.events.n == 1 && p.expects.n == 2);
    assert_true(slice_is(plan_expect_called(&p.expects.at[0]), "few") &&
                slice_is(plan_expect_called(&p.expects.at[1]), "gap"));
    assert_true(p.clients.n == 2 && slice_is(p.clients.at[1].name, "d"));
    assert_true(p.env.n == 3 && slice_is(p.env.at[0].value, "1") &&
                slice_is(p.env.at[1].value, "3") && slice_is(p.env.at[2].value, "4"));
    plan_free(&p);
}

/* What is wrong has its place in the file that made it so. */
static void test_extended_wrongly(void **state)
{
    (void)state;
    static const struct {
        const char *base, *child, *source, *says;
        uint32_t line;
    } cases[] = {
        {HEAD TAIL, CHILD "events: [ { fault: { type: kil }, trigger: { at: 1s } } ]\n",
         "child.yaml", "kil", 4},
        {HEAD TAIL, CHILD "nodes: [ a ]\n", "child.yaml", "map", 4},
        {HEAD, CHILD TAIL, "base.yaml", "\"expect\" is missing", 1},
        {HEAD "nods: 1\n" TAIL, CHILD, "base.yaml", "nods", 10},
        {EVENTS("  - { fault: { type: kill, target: a }, trigger: { at: 9s } }\n"),
         CHILD "duration: 1s\n", "child.yaml", "after the end of a run", 3},
        {"extends: c\n" HEAD TAIL, CHILD, "c", "cannot be read", 0},
        {HEAD TAIL, "version: 1\nplan: q\nextends: nowhere.yaml\n", "nowhere.yaml",
         "cannot be read", 0},
        {HEAD TAIL, "version: 1\nplan: q\nextends: [ base.yaml ]\n", "child.yaml", "extends", 3},
        {HEAD TAIL, "version: 1\nplan: q\nextends:\n", "child.yaml", "extends", 3},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plan p;
        struct err e = {0};
        write_file("base.yaml", cases[i].base);
        write_file("child.yaml", cases[i].child);
        if (plan_load(&p, "child.yaml", &e) != -1 || e.line != cases[i].line ||
            !strstr(e.source, cases[i].source) || !strstr(e.text, cases[i].says))
            fail_msg("case %zu: %s:%u: %s", i, e.source, e.line, e.text);
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

/* ---- the other side of links ---- */

static void test_from(void **state)
{
    static const struct {
        const char *target, *from;
        const char *others; /* of node 0; members are the nodes 0 and 1 and the client 2 */
    } cases[] = {
        {"a", NULL, "12"},        {"[a, b]", NULL, "2"},      {"all", NULL, "12"},
        {"[a, b]", "nodes", "1"}, {"[a, b]", "all", "12"},    {"a", "clients", "2"},
        {"a", "any", "1"},        {"[a, b]", "any", ""},      {"a", "[b, b, tag:t]", "1"},
        {"a", "b", "1"},          {"[a, b]", "[b, c]", "12"}, {"a", "a", ""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plan p;
        struct schedule_nodes aim = {0}, others = {0};
        struct schedule_action a = {.trigger_node = PLAN_NONE};
        struct buf text = BUF_INIT(4000), got = BUF_INIT(100);
        buf_addf(&text,
                 HEAD "network: 10.0.0.0/24\nevents:\n  - fault: { type: partition, target: %s",
                 cases[i].target);
        if (cases[i].from)
            buf_addf(&text, ", from: %s", cases[i].from);
        buf_adds(&text, " }\n    trigger: { at: 1s }\n" TAIL);
        load(&p, buf_text(&text));
        struct schedule *s = schedule_new(&p, 3);
        schedule_aim(s, &a, PLAN_NONE, &aim);
        schedule_from(s, 0, &aim, 0, &others);
        for (uint32_t k = 0; k < others.n; k++)
            buf_addf(&got, "%u", others.at[k]);
        assert_string_equal(buf_text(&got), cases[i].others);
        schedule_free(s);
        mem_free(aim.at);
        mem_free(others.at);
        buf_deinit(&text);
        buf_deinit(&got);
        plan_free(&p);
    }
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
        injector_order(&e, 123, SLICE("web"), 0, &o);
        switch (injectors[i].kind) {
        case INJECT_PROCESS: assert_true((o.signal > 0) == !o.start.n && !o.undo.n); break;
        case INJECT_SCRIPT:
        case INJECT_DISK: assert_true(o.start.n && (o.undo.n || injectors[i].momentary)); break;
        case INJECT_HOLD: assert_true(o.start.n && !o.undo.n); break;
        case INJECT_DOOR:
        case INJECT_LINK:
        case INJECT_NAMES: assert_true(!o.start.n && !o.undo.n && !o.signal); break;
        }
        assert_ptr_equal(injector_find(slice_of(injectors[i].name)), &injectors[i]);
        inject_order_deinit(&o);
    }
}

/* What keys of processes say, to the commands that do it. */
static void test_process_orders(void **state)
{
#define HARM "\"$OUTFOX_BIN\" harm "
    static const struct {
        const char *fault, *start, *undo;
    } cases[] = {
        {"type: clock, target: a, offset: 2h", HARM "clock on 7 7200000000000 0",
         HARM "clock off 7"},
        {"type: clock, target: a, offset: -30s", HARM "clock on 7 -30000000000 0",
         HARM "clock off 7"},
        {"type: clock, target: a, offset: +5ms, drift: 1.5", HARM "clock on 7 5000000 500000000",
         HARM "clock off 7"},
        {"type: clock, target: a, drift: 0.5", HARM "clock on 7 0 -500000000", HARM "clock off 7"},
        {"type: clock, target: a, drift: 0", HARM "clock on 7 0 -1000000000", HARM "clock off 7"},
        {"type: clock, target: a, drift: -200.5ppm", HARM "clock on 7 0 -200500",
         HARM "clock off 7"},
        {"type: descriptors, target: a", HARM "descriptors on 7 0", HARM "descriptors off 7"},
        {"type: descriptors, target: a, more: 5", HARM "descriptors on 7 5",
         HARM "descriptors off 7"},
        {"type: limit, target: a, memory: 1M, cpu: 10%", HARM "limit on 7 cpu=10 memory=1048576",
         HARM "limit off 7"},
        {"type: limit, target: a, processes: 9", HARM "limit on 7 processes=9", HARM "limit off 7"},
        {"type: exit, target: a", HARM "exit 7 1", ""},
        {"type: exit, target: a, code: 0", HARM "exit 7 0", ""},
        {"type: signal, target: a, signal: HUP", "kill -s HUP 7", ""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct plan p;
        struct inject_order o;
        struct buf text = BUF_INIT(4000);
        buf_addf(&text, HEAD "events:\n  - fault: { %s }\n    trigger: { at: 1s }\n" TAIL,
                 cases[i].fault);
        load(&p, buf_text(&text));
        injector_order(&p.events.at[0], 7, SLICE("a"), 1, &o);
        assert_string_equal(buf_text(&o.start), cases[i].start);
        assert_string_equal(buf_text(&o.undo), cases[i].undo);
        inject_order_deinit(&o);
        buf_deinit(&text);
        plan_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_extended), cmocka_unit_test(test_extended_wrongly),
        cmocka_unit_test(test_course),   cmocka_unit_test(test_targets),
        cmocka_unit_test(test_dice),     cmocka_unit_test(test_orders),
        cmocka_unit_test(test_from),     cmocka_unit_test(test_process_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
