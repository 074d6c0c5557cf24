/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans that are derived from a plan: which candidates there are, in which order, each once; and
 * plans that extend others. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "data/json.h"
#include "plan/derive.h"
#include "support/unit.h"

#define HEAD                                                                                       \
    "version: 1\nplan: p\nduration: 9s\nnodes:\n  a: { start: x }\n  b: { start: y }\n"            \
    "clients:\n  c: { command: z }\nexpect:\n  - alive: true\n"

static void load(struct plan *p, const char *text)
{
    struct err e = {0};
    if (plan_parse(p, slice_of(text), &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
}

/* "name@trigger" of each event, with + between. */
static void add_names(const struct candidate *c, struct buf *out)
{
    for (uint32_t i = 0; i < c->events->n; i++) {
        const struct node *event = c->events->list[i], *trigger = node_get(event, SLICE("trigger"));
        buf_addf(out, "%s%.*s@", i ? "+" : "", SLICE_ARG(node_get(event, SLICE("name"))->text));
        for (uint32_t k = 0; k < trigger->n; k++)
            buf_addf(out, "%s%.*s", k ? "," : "", SLICE_ARG(trigger->map[k].value->text));
    }
}

static void expect_next(struct derive *d, const char *wanted)
{
    struct buf all = BUF_INIT(10000);
    const struct candidate *c;
    while ((c = derive_next(d))) {
        buf_adds(&all, all.n ? " " : "");
        add_names(c, &all);
        buf_addc(&all, ';');
    }
    assert_string_equal(buf_text(&all), wanted);
    buf_deinit(&all);
}

static void test_slots(void **state)
{
    (void)state;
    struct plan p;
    load(&p,
         HEAD "explore:\n  slots: 2\n  faults:\n    - { fault: { type: freeze }, duration: 1s }\n"
              "    - fault: { type: cpu }\n    - { fault: { type: kill, target: b } }\n");
    struct derive *d = derive_new(&p);
    expect_next(d, "freeze-a@3000ms; freeze-b@3000ms; cpu@3000ms; kill@3000ms; "
                   "freeze-a@6000ms; freeze-b@6000ms; cpu@6000ms; kill@6000ms;");
    derive_free(d);
    plan_free(&p);
}

static void test_defaults(void **state)
{
    (void)state;
    struct plan p;
    load(&p, HEAD "network: 198.18.7.0/24\nexplore: { slots: 1 }\n");
    struct derive *d = derive_new(&p);
    expect_next(d, "kill-a@4500ms; kill-b@4500ms; freeze-a@4500ms; freeze-b@4500ms; "
                   "partition-a@4500ms; partition-b@4500ms;");
    derive_free(d);
    plan_free(&p);
}

static struct sight line_of(int32_t node, const char *text)
{
    return (struct sight){SIGHT_LINE, node, PLAN_NONE, slice_of(text), {0}, 0};
}

/* Each kind of line once, aimed at who printed it; events at the node that they name, or at all. */
static void test_sights(void **state)
{
    (void)state;
    struct plan p;
    load(&p, HEAD "explore:\n  slots: 0\n  faults: [ { fault: { type: kill } } ]\n");
    struct derive *d = derive_new(&p);
    struct sight seen[] = {
        line_of(1, "term 12: (elected)"),
        line_of(1, "term 13: (elected)"),
        line_of(0, "term 13: (elected)"),
        {SIGHT_EVENT, PLAN_NONE, 0, SLICE("phase"), SLICE("a"), 0},
        {SIGHT_EVENT, PLAN_NONE, 0, SLICE("phase"), SLICE("two"), 0},
        {SIGHT_EVENT, PLAN_NONE, 0, SLICE("phase"), SLICE("a"), 0},
    };
    static const bool news[] = {true, false, true, true, true, false};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        assert_int_equal(derive_see(d, NULL, &seen[i]), news[i]);
    expect_next(d,
                "kill-b@term [\\w.:-]+: \\(elected\\),b; kill-a@term [\\w.:-]+: \\(elected\\),a; "
                "kill-a@phase,a,c; kill-a@phase,two,c; kill-b@phase,two,c;");
    derive_free(d);
    plan_free(&p);
}

/* What is new while a fault is on triggers another one after it, as deep as max-faults says. */
static void test_feedback(void **state)
{
    (void)state;
    struct plan p;
    load(&p,
         HEAD "explore:\n  slots: 1\n  max-faults: 2\n  faults: [ { fault: { type: kill } } ]\n");
    struct derive *d = derive_new(&p);
    const struct candidate *first = derive_next(d);
    struct sight s = line_of(1, "promoted"), t = line_of(0, "demoted");
    assert_true(derive_see(d, first, &s));
    assert_false(derive_see(d, first, &s));
    expect_next(d, "kill-b@4500ms; kill-a@4500ms+kill-b-2@promoted,b;");
    const struct candidate deep = {first->events, 2, SLICE("")};
    assert_true(derive_see(d, &deep, &t)); /* it is new, but nothing comes of it */
    expect_next(d, "");
    derive_free(d);
    plan_free(&p);
}

static void test_pairs(void **state)
{
    (void)state;
    struct plan p;
    load(&p, HEAD "explore:\n  slots: 1\n  pairs: true\n  faults: [ { fault: { type: kill } } ]\n");
    struct derive *d = derive_new(&p);
    const struct candidate *a = derive_next(d), *b = derive_next(d);
    derive_held(d, a);
    expect_next(d, "");
    derive_held(d, b);
    expect_next(d, "kill-a@4500ms+kill-b-2@4500ms;");
    derive_held(d, b); /* once more: nothing new */
    expect_next(d, "");
    derive_free(d);
    plan_free(&p);
}

/* All that is derived from random lines is a plan that is accepted, and finds its line. */
static void test_random_lines(void **state)
{
    (void)state;
    struct plan p;
    struct rng rng = {7};
    load(&p, HEAD "explore:\n  slots: 0\n  faults: [ { fault: { type: kill } } ]\n");
    struct derive *d = derive_new(&p);
    for (uint32_t i = 0; i < volume(2000) && i < 1900; i++) {
        char text[300];
        size_t n = rng_below(&rng, sizeof text);
        for (size_t k = 0; k < n; k++)
            text[k] =
                (char)(rng_below(&rng, 3) ? 32 + (char)rng_below(&rng, 95) : (char)rng_next(&rng));
        struct sight s = {SIGHT_LINE, 0, PLAN_NONE, {text, n}, {0}, 0};
        (void)derive_see(d, NULL, &s);
        const struct candidate *c = derive_next(d);
        struct plan other;
        struct err e = {0};
        if (!c)
            continue; /* no regular expression tells it */
        int status = plan_with_events(&other, &p, c->events, &e);
        if (status)
            fail_msg("line %u: %s", i, e.text);
        assert_true(regex_found(other.events.at[0].trigger.regex, s.text));
        plan_free(&other);
    }
    derive_free(d);
    plan_free(&p);
}

static void test_commands(void **state)
{
    static const struct {
        const char *json, *says;
    } refused[] = {
        {"", "JSON list"},
        {"{}", "JSON list"},
        {"[{}]", "item 0"},
        {"[[]]", "item 0"},
        {"[[{}]]", "item 0"},
        {"[[{\"fault\": {\"type\": \"kill\", \"target\": \"d\"}, \"trigger\": {\"at\": \"1s\"}}]]",
         "there is no node \"d\""},
    };
    (void)state;
    struct plan p;
    struct err e = {0};
    load(&p, HEAD "explore: { slots: 0 }\n");
    struct derive *d = derive_new(&p);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        e = (struct err){0};
        assert_int_equal(derive_take(d, slice_of(refused[i].json), "x", &e), -1);
        if (!strstr(e.text, refused[i].says))
            fail_msg("case %zu: %s", i, e.text);
    }
    assert_int_equal(derive_take(d,
                                 SLICE("[[{\"name\": \"n\", \"fault\": {\"type\": \"kill\", "
                                       "\"target\": \"a\"}, \"trigger\": {\"at\": \"1s\"}}]]"),
                                 "x", &e),
                     0);
    expect_next(d, "n@1s;");
    derive_free(d);
    plan_free(&p);
}

/* ---- plans that extend others ---- */

static void put_file(const char *dir, const char *name, const char *text)
{
    char path[500];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_base(void **state)
{
    static const struct {
        const char *text, *source, *says;
        uint32_t line;
    } cases[] = {
        {"extends: one.yaml\nplan: q\nduration: 3s\n", NULL, NULL, 0},
        {"extends: sub/two.yaml\nplan: q\n", NULL, NULL, 0},
        {"extends: none.yaml\n", "none.yaml", "cannot be read", 0},
        {"extends: wrong.yaml\n", "wrong.yaml", "nods", 3},
        {"plan: q\nextends: case.yaml\n", "case.yaml", "more than", 2},
        {"extends: one.yaml\nplan: q\nnods: 1\n", "case.yaml", "nods", 3},
        {"version: 1\nplan: q\nextends: [one.yaml]\n", "case.yaml", "\"extends\"", 3},
    };
    (void)state;
    char dir[] = "base-XXXXXX", path[500];
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/sub", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    put_file(dir, "one.yaml", HEAD);
    put_file(dir, "wrong.yaml", "version: 1\nplan: p\nnods: 1\n");
    put_file(dir, "sub/two.yaml", "extends: ../one.yaml\nplan: r\nduration: 3s\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan p;
        struct err e = {0};
        put_file(dir, "case.yaml", cases[i].text);
        (void)snprintf(path, sizeof path, "%s/case.yaml", dir);
        int status = plan_load(&p, path, &e);
        if (cases[i].says) {
            if (!status || !strstr(e.text, cases[i].says) || !strstr(e.source, cases[i].source) ||
                e.line != cases[i].line)
                fail_msg("case %zu: %d, %s:%u: %s", i, status, e.source, e.line, e.text);
        } else {
            if (status)
                fail_msg("case %zu: %s:%u: %s", i, e.source, e.line, e.text);
            assert_true(p.nodes.n == 2 && slice_is(p.name, "q") && p.duration_ns == 3000000000);
            assert_non_null(strstr(p.dir.p, "/base-"));
            assert_null(strstr(p.dir.p, "/sub"));
        }
        plan_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),  cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_sights), cmocka_unit_test(test_feedback),
        cmocka_unit_test(test_pairs),  cmocka_unit_test(test_random_lines),
        cmocka_unit_test(test_base),   cmocka_unit_test(test_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
