/* SPDX-License-Identifier: Apache-2.0
 *
 * Dependencies as they are printed: columns that are merged, names that mean something to Graphviz,
 * and bounds. */
#include <stdlib.h>

#include "report/report.h"
#include "support/report_desk.h"
#include "support/unit.h"

static uid call_of(struct desk *d, const char *text)
{
    struct err e = {0};
    uid u = UID_NONE;
    assert_int_equal(uid_parse(&d->names, slice_of(text), &u, &e), 0);
    return u;
}

static label label_of(const char *text)
{
    struct err e = {0};
    mode m = MODE_NONE;
    assert_int_equal(mode_parse(slice_of(text), &m, &e), 0);
    return mode_label(m);
}

static struct dep *add_dep(struct desk *d, struct deps *deps, const char *call, enum dep_kind kind)
{
    vec_push(&deps->rows, (struct dep){.call = call_of(d, call), .kind = kind});
    return &vec_last(&deps->rows);
}

/* by: DEP_BYS when the request fails. */
static void add_way(struct dep *row, const char *way, enum dep_by by, uid at)
{
    bool fails = by == DEP_BYS;
    vec_push(&row->ways, (struct dep_way){.label = label_of(way),
                                          .lasting = true,
                                          .fails = fails,
                                          .status = OUTCOME(OUT_STATUS, fails ? 503 : 200),
                                          .by = fails ? DEP_BY_NOTHING : by,
                                          .at = fails ? UID_NONE : at,
                                          .number = 1});
    if (!fails && row->by == DEP_BY_NOTHING) {
        row->by = by;
        row->at = at;
    }
}

typedef void (*deps_printer)(const struct deps_report *list, uint32_t n, struct buf *out);

static void print_text(const struct deps_report *list, uint32_t n, struct buf *out)
{
    report_deps_text(list, n, &style_plain, out);
}

static const char *print(struct desk *d, const struct deps_report *list, uint32_t n,
                         deps_printer printer)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    printer(list, n, &out);
    const char *copy = arena_copy(&d->text, buf_text(&out), out.n);
    buf_deinit(&out);
    return copy;
}

static void test_columns(void **state)
{
    (void)state;
    static const char *const modes[] = {"500", "502", "503", "504", "delay:2s", "reset"};
    struct desk d;
    desk_init(&d);
    struct deps_report r = {.summary = &d.summary};
    struct dep *hard = add_dep(&d, &r.deps, "a GET / > b GET /b", DEP_CONDITIONAL);
    uid a = uid_parent(&d.names, hard->call);
    for (int i = 0; i < 6; i++) {
        vec_push(&r.deps.labels, label_of(modes[i]));
        add_way(hard, modes[i], i == 4 ? DEP_BY_NOTHING : i == 5 ? DEP_BY_VALUE : DEP_BYS, a);
    }
    hard->by = DEP_BY_VALUE;
    hard->at = a;
    add_dep(&d, &r.deps, "a GET / > c GET /c", DEP_UNKNOWN);
    assert_string_equal(
        print(&d, &r, 1, print_text),
        "shop / buy: 2 dependencies: 1 conditional, 1 unknown\n"
        "\n"
        "                             500+3  delay:2s  reset\n"
        "  conditional  a > b GET /b  X      =         v      the request fails with 500, 502, 503 and "
        "504; otherwise a continues without it\n"
        "  unknown      a > c GET /c  -      -         -      it never failed alone\n"
        "\n"
        "  X  the request fails\n"
        "  v  a default value, or nothing, takes its place\n"
        "  =  its caller saw no failure\n"
        "  -  not tried\n"
        "  500+3: 500, 502, 503, 504\n");
    deps_deinit(&r.deps);
    desk_deinit(&d);
}

static void test_titles(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    struct deps_report r = {.summary = &d.summary};
    assert_string_equal(print(&d, &r, 1, print_text), "shop / buy: 0 dependencies\n");
    d.summary.stopped = "runs";
    assert_string_equal(print(&d, &r, 1, print_text),
                        "shop / buy: 0 dependencies; incomplete: the run budget was used up\n");
    d.summary.broken = "it never works";
    assert_string_equal(print(&d, &r, 1, print_text),
                        "shop / buy: fails without any fault: it never works\n");
    assert_has(print(&d, &r, 1, report_deps_json), "\"broken\": \"it never works\",");
    desk_deinit(&d);
}

static void test_dot(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    struct deps_report r[2] = {{.summary = &d.summary}, {.summary = &d.summary}};
    d.summary.system = "a\"b\\c\nd";
    add_dep(&d, &r[0].deps, "a GET / > b\"x\\ GET /\"b\\", DEP_HARD);
    struct dep *soft = add_dep(&d, &r[0].deps, "a GET / > c GET /c", DEP_SOFT);
    soft->by = DEP_BY_OTHER;
    soft->instead = call_of(&d, "a GET / > d GET /d");
    soft->at = uid_parent(&d.names, soft->call);
    add_dep(&d, &r[0].deps, "a GET / > d GET /d", DEP_CONDITIONAL)->after_fault = true;
    add_dep(&d, &r[1].deps, "a GET / > c GET /c", DEP_UNKNOWN);
    assert_string_equal(
        print(&d, r, 2, report_deps_dot),
        "digraph \"a\\\"b\\\\c?d\" {\n"
        "  rankdir=LR;\n"
        "  node [shape=box];\n"
        "  subgraph cluster_0 {\n"
        "    label=\"buy\";\n"
        "    \"0/a\" [label=\"a\"];\n"
        "    \"0/b\\\"x\\\\\" [label=\"b\\\"x\\\\\"];\n"
        "    \"0/c\" [label=\"c\"];\n"
        "    \"0/d\" [label=\"d\"];\n"
        "    \"0/a\" -> \"0/b\\\"x\\\\\" [style=solid, color=red, label=\"GET /\\\"b\\\\\"];\n"
        "    \"0/a\" -> \"0/c\" [style=dashed, color=darkgreen, label=\"GET /c (instead: d)\"];\n"
        "    \"0/a\" -> \"0/d\" [style=dotted, color=orange, label=\"GET /d\"];\n"
        "  }\n"
        "  subgraph cluster_1 {\n"
        "    label=\"buy\";\n"
        "    \"1/a\" [label=\"a\"];\n"
        "    \"1/c\" [label=\"c\"];\n"
        "    \"1/a\" -> \"1/c\" [style=dotted, color=gray, label=\"GET /c\"];\n"
        "  }\n"
        "}\n");
    assert_string_equal(print(&d, NULL, 0, report_deps_dot),
                        "digraph \"\" {\n  rankdir=LR;\n  node [shape=box];\n}\n");
    deps_deinit(&r[0].deps);
    deps_deinit(&r[1].deps);
    desk_deinit(&d);
}

static void test_bounds(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    struct deps_report r = {.summary = &d.summary};
    uid b = call_of(&d, "a GET / > b GET /b"), c = call_of(&d, "a GET / > c GET /c");
    for (int i = 0; i < 25; i++) {
        vec_push(&r.deps.pairs, (struct dep_pair){b, c, OUTCOME(OUT_STATUS, 503),
                                                  desk_load(&d, "a GET / > b GET /b : 503"), 1});
        vec_push(&r.deps.redundant, (struct dep_twice){b, 3, i == 0});
    }
    const char *text = print(&d, &r, 1, print_text);
    assert_has(text, "\n  absorbed one at a time, but not together\n"
                     "    a > b GET /b and a > c GET /c: the client gets 503\n"
                     "      outfox replay 'a GET / > b GET /b : 503'\n");
    assert_has(text, "\n    ... and 5 more; --json lists them\n\n  made more than once");
    assert_has(text, "    a > b GET /b: 3 times, by one handler\n    a > b GET /b: 3 times\n");
    assert_has(text, "    a > b GET /b: 3 times\n    ... and 5 more; --json lists them\n");
    text = print(&d, &r, 1, report_deps_json);
    assert_has(text, "\"status\": \"503\",");
    assert_has(text, "\"one_handler\": true");
    uint32_t n = 0;
    for (; (text = strstr(text, "\"times\": 3")); text++)
        n++;
    assert_int_equal(n, 25);
    deps_deinit(&r.deps);
    desk_deinit(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
