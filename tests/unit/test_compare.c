/* SPDX-License-Identifier: Apache-2.0
 *
 * report/compare: what differs between two documents, what is only not known, how it is printed, and
 * which files are no report. */
#include "report/compare.h"

#include <stdio.h>

#include "base/pack.h"
#include "report/report.h"
#include "support/report_desk.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- documents ---- */

struct pair {
    struct arena arena;
    const struct node *before, *after;
    struct comparison c;
};

static const struct node *read(struct arena *a, const char *text)
{
    struct err e = {0};
    const struct node *out = NULL;
    if (compare_read(a, "FILE", slice_of(text), &out, &e))
        fail_msg("%s: %s", e.text, text);
    return out;
}

/* A document with one scenario, of which these are the fields. */
static const struct node *document(struct arena *a, const char *fields)
{
    return read(a, arena_printf(a,
                                "{\"schema_version\": 1, \"version\": \"1.0\", \"system\": \"s\", "
                                "\"verdict\": \"ok\", \"scenarios\": [{\"scenario\": \"a\", "
                                "\"verdict\": \"ok\"%s%s%s}]}",
                                strstr(fields, "\"findings\"") ? "" : ", \"findings\": []",
                                fields[0] ? ", " : "", fields));
}

static void pair_init(struct pair *p, const char *before, const char *after)
{
    *p = (struct pair){0};
    p->before = document(&p->arena, before);
    p->after = document(&p->arena, after);
    compare_make(&p->c, "old.json", p->before, p->after);
}

static void pair_deinit(struct pair *p)
{
    compare_deinit(&p->c);
    arena_deinit(&p->arena);
}

/* "findings: fixed, changed(when)": all that differs in the scenario. */
static const char *told(struct pair *p)
{
    struct buf out = BUF_INIT(1 << 16);
    const struct compared_scenario *s = &p->c.scenarios.at[0];
    for (int k = 0; k < SUBJECTS; k++)
        for (uint32_t i = 0; i < s->lists[k].n; i++) {
            const struct changed *c = &s->lists[k].at[i];
            if (i == 0)
                buf_addf(&out, "%s%s: ", out.n ? "; " : "", subject_fields[k]);
            buf_addf(&out, "%s%s", i ? ", " : "", change_names[c->change]);
            for (uint32_t d = 0; d < c->n; d++)
                buf_addf(&out, "%s%s%s", d ? " " : "(", c->differences[d].field,
                         d + 1 == c->n ? ")" : "");
        }
    return buf_keep(&out, &p->arena).p;
}

/* ---- what differs ---- */

#define FINDING(why, faultload, more)                                                              \
    "{\"why\": \"" why "\", \"faultload\": \"" faultload "\"" more "}"
#define FINDINGS(list) "\"findings\": [" list "]"
#define REMARK(oracle, severity, why, faultload)                                                   \
    "{\"oracle\": \"" oracle "\", \"severity\": \"" severity "\", \"why\": \"" why                 \
    "\", \"faultload\": \"" faultload "\"}"
#define REMARKS(list)   "\"remarks\": [" list "]"
#define WHEN(text)      ", \"when\": \"" text "\""
#define CALL(name)      "{\"call\": \"" name "\", \"conditional\": false}"
#define CALLS(list)     "\"calls\": [" list "]"
#define DEP(name, more) "{\"call\": \"" name "\"" more "}"
#define DEPS(list)      "\"dependencies\": [" list "], \"pairs\": []"
#define KIND(text)      ", \"kind\": \"" text "\""
#define PAIRS(list)     "\"dependencies\": [], \"pairs\": [" list "]"
#define PAIR(x, y)      "{\"calls\": [\"" x "\", \"" y "\"]}"
#define LATE(took, runs)                                                                           \
    "\"calls\": [{\"call\": \"a /\", \"took_ns\": " took ", \"runs\": " runs "}]"

static const struct {
    const char *name, *before, *after, *told;
} rows[] = {
    {"nothing", "", "", ""},
    /* findings */
    {"new", "", FINDINGS(FINDING("w", "a / > b / : 500", "")), "findings: new"},
    {"fixed", FINDINGS(FINDING("w", "a / > b / : 500", "")), "", "findings: fixed"},
    {"same", FINDINGS(FINDING("w", "a / > b / : 500", WHEN("x"))),
     FINDINGS(FINDING("w", "a / > b / : 500", WHEN("x"))), ""},
    {"numbers and order",
     FINDINGS(FINDING("v", "a / > b / : 500",
                      ", \"id\": \"1\"") ", " FINDING("w", "a / > b / : 500", ", \"id\": \"2\"")),
     FINDINGS(FINDING("w", "a / > b / : 500",
                      ", \"id\": \"1\"") ", " FINDING("v", "a / > b / : 500", ", \"id\": \"2\"")),
     ""},
    {"another mode", FINDINGS(FINDING("w", "a / > b / : 500", WHEN("x"))),
     FINDINGS(FINDING("w", "a / > b / : 503", WHEN("y"))), "findings: changed(when faultload)"},
    {"another try", FINDINGS(FINDING("w", "a / > b / : 500", "")),
     FINDINGS(FINDING("w", "a / > b / : 500 & a / > b / #1 : 500", "")),
     "findings: changed(faultload)"},
    {"one more call", FINDINGS(FINDING("w", "a / > b / : 500", "")),
     FINDINGS(FINDING("w", "a / > b / : 500 & a / > c / : 500", "")),
     "findings: changed(faultload)"},
    {"another call", FINDINGS(FINDING("w", "a / > b / : 500", "")),
     FINDINGS(FINDING("w", "a / > c / : 500", "")), "findings: new, fixed"},
    {"another sentence", FINDINGS(FINDING("w", "a / > b / : 500", "")),
     FINDINGS(FINDING("v", "a / > b / : 500", "")), "findings: new, fixed"},
    {"the nearest first",
     FINDINGS(FINDING("w", "a / > b / : 500 & a / > c / : 500",
                      "") ", " FINDING("w", "a / > b / : 500", "")),
     FINDINGS(FINDING("w", "a / > b / : 500", "")), "findings: fixed"},
    {"a service that is down", FINDINGS(FINDING("w", "b down", "")),
     FINDINGS(FINDING("w", "b down", "")), ""},
    {"kind and state",
     FINDINGS(FINDING("w", "a / > b / : 500", ", \"kind\": \"hang\", \"state\": \"seen\"")),
     FINDINGS(FINDING("w", "a / > b / : 500", ", \"kind\": \"crash\", \"state\": \"flaky\"")),
     "findings: changed(kind state)"},
    {"statuses in another order",
     FINDINGS(FINDING("w", "a / > b / : 500", ", \"statuses\": [\"200\", \"503\"]")),
     FINDINGS(FINDING("w", "a / > b / : 500", ", \"statuses\": [\"503\", \"200\"]")), ""},
    {"statuses", FINDINGS(FINDING("w", "a / > b / : 500", ", \"statuses\": [\"200\"]")),
     FINDINGS(FINDING("w", "a / > b / : 500", ", \"statuses\": [\"503\"]")),
     "findings: changed(statuses)"},
    /* oracles */
    {"new warning", "", REMARKS(REMARK("o", "warning", "w", "a / > b / : 500")), "warnings: new"},
    {"it counts now", REMARKS(REMARK("o", "warning", "w", "a / > b / : 500")),
     REMARKS(REMARK("o", "finding", "w", "a / > b / : 500")), "findings: changed(severity)"},
    {"a mode in the sentence", REMARKS(REMARK("o", "warning", "after 500", "a / > b / : 500")),
     REMARKS(REMARK("o", "warning", "after 503", "a / > b / : 503")),
     "warnings: changed(why faultload)"},
    {"another oracle", REMARKS(REMARK("o", "warning", "w", "a / > b / : 500")),
     REMARKS(REMARK("p", "warning", "w", "a / > b / : 500")), "warnings: new, fixed"},
    {"an oracle is no expectation", FINDINGS(FINDING("w", "a / > b / : 500", "")),
     REMARKS(REMARK("o", "finding", "w", "a / > b / : 500")), "findings: new, fixed"},
    {"a leak, in a report from the store",
     REMARKS(REMARK("leak", "warning", "w", "none") ", " REMARK("leak", "warning", "v", "none")),
     "\"took_ns\": 0", "warnings: not-seen, not-seen"},
    {"a leak, in a campaign", REMARKS(REMARK("leak", "warning", "w", "none")), "\"took_ns\": 9",
     "warnings: fixed"},
    /* what proves nothing */
    {"it ended early", FINDINGS(FINDING("w", "a / > b / : 500", "")),
     "\"inconclusive\": \"it was interrupted\"", "findings: not-seen"},
    {"it is broken", FINDINGS(FINDING("w", "a / > b / : 500", "")), "\"broken\": \"status 500\"",
     "findings: not-seen"},
    {"fewer modes",
     "\"modes\": [\"500\", \"reset\"], " FINDINGS(FINDING("w", "a / > b / : 500", "")),
     "\"modes\": [\"500\"]", "findings: not-seen"},
    {"more modes", "\"modes\": [\"500\"], " FINDINGS(FINDING("w", "a / > b / : 500", "")),
     "\"modes\": [\"500\", \"reset\"]", "findings: fixed"},
    {"more assumed", FINDINGS(FINDING("w", "a / > b / : 500", "")),
     "\"assumptions\": [\"modes: they act alike\"]", "findings: not-seen"},
    {"not all are listed", FINDINGS(FINDING("w", "a / > b / : 500", "")), "\"more_findings\": 3",
     "findings: not-seen"},
    /* calls */
    {"calls", CALLS(CALL("a /") ", " CALL("a / > b /")), CALLS(CALL("a / > c /") ", " CALL("a /")),
     "calls: new, gone"},
    {"call after a fault", CALLS("{\"call\": \"a /\", \"conditional\": true}"), CALLS(CALL("a /")),
     "calls: changed(conditional)"},
    {"conditional call, of a short campaign",
     CALLS("{\"call\": \"b /\", \"conditional\": true}, " CALL("c /")),
     "\"inconclusive\": \"x\", " CALLS(""), "calls: not-seen, gone"},
    {"calls are not listed", "", CALLS(CALL("a /")), ""},
    /* dependencies */
    {"kind", DEPS(DEP("a / > b /", KIND("soft"))), DEPS(DEP("a / > b /", KIND("hard"))),
     "dependencies: changed(kind)"},
    {"absorbed", DEPS(DEP("a / > b /", KIND("soft") ", \"absorbed_by\": \"value\"")),
     DEPS(DEP("a / > b /", KIND("soft") ", \"absorbed_by\": \"retry\", \"retried\": true")),
     "dependencies: changed(absorbed_by retried)"},
    {"unknown", DEPS(DEP("a / > b /", KIND("unknown"))), DEPS(DEP("a / > b /", KIND("hard"))), ""},
    {"dependencies", DEPS(DEP("a / > b /", KIND("soft"))), DEPS(DEP("a / > c /", KIND("soft"))),
     "dependencies: new, gone"},
    {"pairs", PAIRS(PAIR("a /", "b /")), PAIRS(PAIR("a /", "c /")), "pairs: new, gone"},
    {"pairs in another order", PAIRS(PAIR("a /", "b /")), PAIRS(PAIR("b /", "a /")), ""},
    /* latency */
    {"slower", LATE("20000000", "3"), LATE("30000001", "3"), "latency: changed"},
    {"faster", LATE("30000001", "3"), LATE("20000000", "3"), "latency: changed"},
    {"a little slower", LATE("20000000", "3"), LATE("30000000", "3"), ""},
    {"much slower, but hardly anything", LATE("100000", "3"), LATE("5100000", "3"), ""},
    {"too few runs", LATE("4000000", "2"), LATE("90000000", "9"), ""},
    {"never without faults", LATE("null", "0"), LATE("90000000", "9"), ""},
};

static void test_differences(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct pair p;
        pair_init(&p, rows[i].before, rows[i].after);
        if (strcmp(told(&p), rows[i].told) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", rows[i].name, told(&p), rows[i].told);
        assert_true(compare_same(&p.c) == !rows[i].told[0]);
        pair_deinit(&p);
    }
}

/* What a document does not have, or cannot prove, is said. */
static void test_notes(void **state)
{
    static const struct {
        const char *before, *after, *note;
    } notes[] = {
        {"", CALLS(""), "calls and their latency were not compared: old.json does not list them"},
        {CALLS(""), "", "calls and their latency were not compared: this campaign does not"},
        {"", DEPS(""), "dependencies were not compared: old.json does not list them"},
        {FINDINGS(FINDING("w", "a / > b / : 500", "")), "\"inconclusive\": \"it was interrupted\"",
         "what this campaign has not seen may still be there: it was interrupted"},
        {"\"modes\": [\"500\", \"delay:2s\", \"reset\"], " CALLS(
             "{\"call\": \"b /\", \"conditional\": true}"),
         "\"modes\": [\"500\"], " CALLS(""), "may still be there: it did not try delay:2s, reset"},
        {"\"modes\": [\"500\"], \"inconclusive\": \"x\", \"assumptions\": [\"modes: y\"]",
         "\"modes\": [\"500\", \"503\"], " FINDINGS(FINDING("w", "a / > b / : 500", "")),
         "because of the earlier campaign: x; it did not try 503; it assumed modes"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(notes); i++) {
        struct pair p;
        struct buf text = BUF_INIT(1 << 16);
        pair_init(&p, notes[i].before, notes[i].after);
        compare_text(&p.c, &style_plain, &text);
        assert_has(buf_text(&text), notes[i].note);
        buf_deinit(&text);
        pair_deinit(&p);
    }
    struct pair p; /* where nothing is new or missing, it does not matter who looked where */
    pair_init(&p, "\"inconclusive\": \"x\", " CALLS("") ", " DEPS(""),
              "\"inconclusive\": \"y\", " CALLS("") ", " DEPS(""));
    assert_int_equal(p.c.scenarios.at[0].notes.n, 0);
    pair_deinit(&p);
}

static const struct node *two_scenarios(struct arena *a, const char *system, const char *second)
{
    return read(a, arena_printf(a,
                                "{\"schema_version\": 1, \"version\": \"1.0\", \"system\": \"%s\", "
                                "\"verdict\": \"ok\", \"scenarios\": [{\"scenario\": \"a\", "
                                "\"verdict\": \"ok\", \"findings\": [], " CALLS("") ", " DEPS(
                                    "") "}, {\"scenario\": \"%s\", \"verdict\": \"ok\", "
                                        "\"findings\": []}]}",
                                system, second));
}

static void test_scenarios(void **state)
{
    struct arena arena = {0};
    struct comparison c;
    struct buf text = BUF_INIT(1 << 16);
    (void)state;
    compare_make(&c, "old.json", two_scenarios(&arena, "s", "b"), two_scenarios(&arena, "t", "c"));
    compare_text(&c, &style_plain, &text);
    assert_string_equal(buf_text(&text), "COMPARED WITH  old.json (outfox 1.0)\n"
                                         "  - old.json is of the system \"s\", not of \"t\"\n"
                                         "  a: ok, no difference\n"
                                         "  c: new scenario, ok\n"
                                         "  b: not in this campaign, was ok\n");
    assert_false(compare_same(&c));
    buf_deinit(&text);
    compare_deinit(&c);
    arena_deinit(&arena);
}

/* ---- printing ---- */

/* All kinds of changes, with text in them that means something to somebody. */
static const char before_all[] =
    FINDINGS(FINDING("gone", "a / > b / : 500", WHEN("b </script> fails"))) ", " REMARKS(REMARK("o", "warning", "**it** <b>", "a / > b / : 500")) ", " CALLS(
        "{\"call\": \"a / > b /\", \"caller\": \"a\", \"took_ns\": 1000000, \"runs\": 5}") ", " DEPS(DEP("a / > b /",
                                                                                                         ", \"caller\": \"a\"" KIND(
                                                                                                             "soft")));
static const char after_all[] =
    FINDINGS(FINDING("new", "a / > c / : 500", WHEN("c fails") ", \"replay\": \"outfox replay 1\"")) ", " REMARKS(REMARK("o", "finding", "**it** <b>", "a / > b / : 500")) ", " CALLS(
        "{\"call\": \"a / > b /\", \"caller\": \"a\", \"took_ns\": 9000000, \"runs\": 5}, " CALL(
            "d /")) ", " DEPS(DEP("a / > b /", ", \"caller\": \"a\"" KIND("hard")));

static void test_text(void **state)
{
    struct pair p;
    struct buf text = BUF_INIT(1 << 16);
    (void)state;
    pair_init(&p, before_all, after_all);
    compare_text(&p.c, &style_plain, &text);
    assert_string_equal(buf_text(&text), "COMPARED WITH  old.json (outfox 1.0)\n"
                                         "  a: ok, as before\n"
                                         "    changed finding  o: **it** <b>\n"
                                         "      severity: was warning, is finding\n"
                                         "    new finding  new\n"
                                         "      when c fails\n"
                                         "      outfox replay 1\n"
                                         "    fixed finding  gone\n"
                                         "      when b </script> fails\n"
                                         "    new call  d /\n"
                                         "    changed dependency  a > b /\n"
                                         "      kind: was soft, is hard\n"
                                         "    slower  a > b /: was 1ms, is 9ms\n");
    buf_clear(&text);
    compare_markdown(&p.c, &text);
    assert_has(buf_text(&text), "- **changed finding** o: \\*\\*it\\*\\* &lt;b&gt;\n"
                                "  - severity: was warning, is finding\n");
    assert_has(buf_text(&text), "  - when b &lt;/script&gt; fails\n");
    buf_deinit(&text);
    pair_deinit(&p);
}

static void put_json(const struct comparison *c, struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    compare_put(c, &j, NULL);
}

static void test_json(void **state)
{
    struct pair p;
    struct buf text = BUF_INIT(1 << 16);
    const struct node *j = NULL;
    (void)state;
    pair_init(&p, before_all, after_all);
    put_json(&p.c, &text);
    assert_int_equal(node_parse_json(&p.arena, buf_slice(&text), &j), 0);
    static const struct {
        const char *path, *value;
    } values[] = {
        {"same", "false"},
        {"before/file", "\"old.json\""},
        {"after/file", "null"},
        {"scenarios/0/verdict_before", "\"ok\""},
        {"scenarios/0/findings/0/change", "\"changed\""},
        {"scenarios/0/findings/0/differences",
         "[{\"field\": \"severity\", \"before\": \"warning\", \"after\": \"finding\"}]"},
        {"scenarios/0/findings/1/replay", "\"outfox replay 1\""},
        {"scenarios/0/findings/2/change", "\"fixed\""},
        {"scenarios/0/findings/2/replay", "null"},
        {"scenarios/0/calls/0/call", "\"d /\""},
        {"scenarios/0/dependencies/0/kind", "\"hard\""},
        {"scenarios/0/latency/0/before_ns", "1000000"},
        {"scenarios/0/latency/0/after_ns", "9000000"},
    };
    for (size_t i = 0; i < LENGTH(values); i++) {
        struct buf value = BUF_INIT(4096);
        node_print(node_at(j, slice_of(values[i].path)), &value);
        assert_string_equal(buf_text(&value), values[i].value);
        buf_deinit(&value);
    }
    buf_deinit(&text);
    pair_deinit(&p);
}

/* However much differs, what is printed for people is short. */
static void test_bounds(void **state)
{
    struct buf many = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
    struct pair p;
    (void)state;
    for (int i = 0; i < 3000; i++)
        buf_addf(&many, "%s{\"call\": \"a / > b%d /\"}", i ? ", " : "\"calls\": [", i);
    buf_adds(&many, "]");
    pair_init(&p, CALLS(""), buf_text(&many));
    assert_int_equal(p.c.scenarios.at[0].lists[SUBJECT_CALL].n, 3000);
    compare_text(&p.c, &style_plain, &text);
    assert_has(buf_text(&text), "    ... and 2980 more of calls; --json lists all\n");
    assert_int_equal(text_count(buf_text(&text), "new call"), 20);
    buf_clear(&text);
    compare_markdown(&p.c, &text);
    assert_int_equal(text_count(buf_text(&text), "new call"), 20);
    buf_deinit(&many);
    buf_deinit(&text);
    pair_deinit(&p);
}

/* ---- reading ---- */

#define GOOD "{\"schema_version\": 1, \"verdict\": \"ok\", \"scenarios\": []}"

static void test_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } files[] = {
        {"", "is no report: it is neither JSON nor HTML"},
        {"nonsense", "is no report: it is neither JSON nor HTML"},
        {"{\"schema_version\":1,\"scenarios\":[", "HTML of outfox, or it is cut short; make one"},
        {GOOD GOOD, "is no report: it is neither JSON nor HTML"},
        {"<html></html>", "is no report: it is neither JSON nor HTML"},
        {"<script id=\"outfox:report\">!</script>", "is an HTML report that is damaged"},
        {"<script id=\"outfox:report\">Zm9v</script>", "is an HTML report that is damaged"},
        {"<script id=\"outfox:report\">", "is an HTML report that is damaged"},
        {"SQLite format 3", "outfox report --store FILE --json FILE"},
        {"[]", "is no report of a campaign; make one with outfox report --json FILE"},
        {"{}", "is no report of a campaign"},
        {"{\"schema_version\": 1, \"scenarios\": []}", "is no report of a campaign"},
        {"{\"schema_version\": 1, \"verdict\": \"ok\", \"scenarios\": [{}]}",
         "is no report of a campaign"},
        {"{\"schema_version\": 1, \"verdict\": \"ok\", \"scenarios\": [1]}",
         "is no report of a campaign"},
        {"{\"verdict\": \"ok\", \"scenarios\": []}", "is no report of a campaign"},
        {"{\"schema_version\": 2, \"scenarios\": 0}",
         "has schema_version 2, but this outfox reads 1"},
        {"{\"schema_version\": \"1\", \"verdict\": \"ok\", \"scenarios\": []}",
         "is no report of a campaign"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(files); i++) {
        struct arena a = {0};
        struct err e = {0};
        const struct node *out = NULL;
        assert_int_equal(compare_read(&a, "FILE", slice_of(files[i].text), &out, &e), -1);
        assert_has(e.text, files[i].message);
        assert_has(e.text, "FILE ");
        arena_deinit(&a);
    }
}

/* The document of a page, whatever else is in it; and one that ends within it. */
static void test_html(void **state)
{
    struct buf packed = BUF_INIT(4096), page = BUF_INIT(4096);
    struct arena a = {0};
    struct err e = {0};
    const struct node *out = NULL;
    (void)state;
    pack_deflate(SLICE(GOOD), &packed);
    buf_adds(&page, "<!doctype html>\n<script>{}</script><script id=\"outfox:report\">");
    pack_base64(buf_slice(&packed), &page);
    size_t end = page.n;
    buf_adds(&page, "</script><script id=\"outfox:modes\">x</script>");
    assert_int_equal(compare_read(&a, "FILE", buf_slice(&page), &out, &e), 0);
    assert_int_equal(node_get(out, SLICE("schema_version"))->num, 1);
    assert_int_equal(compare_read(&a, "FILE", (slice){page.p, end - 4}, &out, &e), -1);
    buf_deinit(&packed);
    buf_deinit(&page);
    arena_deinit(&a);
}

/* Calls of runs may be deeper than any reader of JSON goes: they are not read. */
static void test_without_traces(void **state)
{
    enum { DEEP = 5000 };
    struct buf text = BUF_INIT(1 << 20);
    struct arena a = {0};
    (void)state;
    buf_adds(&text, "\"without_faults\" : {\"call\": \"}\\\"{\"}, \"findings\": [{\"trace\": ");
    for (int i = 0; i < DEEP; i++)
        buf_adds(&text, "{\"call\": \"{\", \"calls\": [");
    for (int i = 0; i < DEEP; i++)
        buf_adds(&text, "]}");
    buf_adds(&text, ", \"why\": \"trace\", \"when\": \"\\\"trace\\\": {\"}]");
    const struct node *d = document(&a, buf_text(&text));
    const struct node *finding = node_at(d, SLICE("scenarios/0/findings/0"));
    assert_int_equal(node_get(finding, SLICE("trace"))->type, NODE_NULL);
    assert_true(slice_is(node_get(finding, SLICE("why"))->text, "trace"));
    assert_true(slice_is(node_get(finding, SLICE("when"))->text, "\"trace\": {"));
    assert_int_equal(node_at(d, SLICE("scenarios/0/without_faults"))->type, NODE_NULL);
    buf_deinit(&text);
    arena_deinit(&a);
}

/* A document with a value where another one is expected. */
static const struct node *odd(struct arena *a, const char *field, const char *inner,
                              const char *value)
{
    const char *list = strcmp(field, "findings") == 0 ? "remarks" : field;
    return read(a, arena_printf(a,
                                "{\"schema_version\": 1, \"verdict\": 1, \"scenarios\": ["
                                "{\"findings\": %s}, {\"findings\": 0, \"%s\": [{\"%s\": %s}]}]}",
                                value, list, inner, value));
}

/* A document of others may have anything anywhere. */
static void test_hostile(void **state)
{
    static const char *const values[] = {
        "null", "1",    "-1",   "1e300",        "\"x\"",         "[]", "{}", "[1]",
        "[[]]", "true", "[{}]", "[null, null]", "[\"a\", \"b\"]"};
    static const char *const fields[] = {"findings", "remarks", "calls",      "dependencies",
                                         "pairs",    "modes",   "assumptions"};
    static const char *const inner[] = {"why",   "faultload", "statuses", "oracle", "call",
                                        "calls", "took_ns",   "runs",     "kind",   "severity"};
    (void)state;
    for (size_t f = 0; f < LENGTH(fields); f++)
        for (size_t i = 0; i < LENGTH(inner); i++)
            for (size_t v = 0; v < LENGTH(values); v++) {
                struct arena a = {0};
                struct comparison c;
                struct buf text = BUF_INIT(1 << 20);
                const struct node *d = odd(&a, fields[f], inner[i], values[v]);
                compare_make(&c, "x", d, d);
                compare_text(&c, &style_plain, &text);
                compare_markdown(&c, &text);
                put_json(&c, &text);
                compare_deinit(&c);
                compare_make(&c, "x", document(&a, before_all), d);
                put_json(&c, &text);
                compare_deinit(&c);
                buf_deinit(&text);
                arena_deinit(&a);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences),    cmocka_unit_test(test_notes),
        cmocka_unit_test(test_scenarios),      cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),           cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_html),
        cmocka_unit_test(test_without_traces), cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
