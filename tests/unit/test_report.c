/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of campaigns from a model that is made up: what they say, and how large they get. */
#include "report/report.h"

#include <stdlib.h>

#include "support/report_desk.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#define A "a GET /"
#define B A " > b GET /b"
#define C B " > c GET /c"

/* ---- text ---- */

static void print_text(const struct report_source *source, struct buf *out)
{
    report_text(source, &style_plain, out);
}

static const struct desk_call plain_rows[DESK_CALLS] = {
    {A, "200", 0}, {B, "200", 0}, {C, "200", 0}};
static const struct desk_call seen_rows[DESK_CALLS] = {
    {A, "200", 0}, {B, "500", 0}, {C, "503", "503"}, {B " #1", "200", 0}};

static void test_text(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    faultload f = desk_load(&d, C " : 503");
    desk_run(&d, FAULTLOAD_EMPTY, NULL, plain_rows);
    desk_run(&d, f, "paid twice", seen_rows);
    desk_finding(&d, f, "paid twice")->detail = "two payments";
    vec_push(&d.summary.notes, "b loses the trace context");
    vec_push(&d.summary.levels,
             (struct summary_level){.service = "a", .calls = 1, .level = "none"});
    const char *text = desk_print(&d, print_text);
    static const char *const wanted[] = {
        "shop / buy: 1 finding\n",
        "\nFINDING 1  paid twice\n",
        "  what    the expectation does not hold, confirmed by a second run\n",
        "  when    b > c GET /c answers 503, and the retry of b GET /b succeeds\n",
        "  then    the client gets 200 (seen in 1 run)\n          two payments\n",
        "    |- b GET /b                                                     500\n"
        "    |  `- c GET /c                                                  503  <- injected 503\n"
        "    `- b GET /b #1                                                  200\n",
        "  replay  outfox replay 1\n",
        "\nNOTES\n  - b loses the trace context\n",
        "    a                           1 call   none\n",
    };
    for (size_t i = 0; i < LENGTH(wanted); i++)
        assert_has(text, wanted[i]);
    d.source.n = 2;
    assert_has(desk_print(&d, print_text), "shop: 2 scenarios\n  buy                  1 finding\n");
    d.summary.findings.at[0].state = FINDING_FLAKY;
    d.summary.findings.at[0].status[0] = OUTCOME(OUT_EXIT, 4);
    text = desk_print(&d, print_text);
    assert_has(text, "flaky: not reproduced by a second run");
    assert_has(text, "the command ends with exit code 4");
    desk_deinit(&d);
}

/* ---- a replay ---- */

static void test_replay(void **state)
{
    (void)state;
    struct desk d;
    struct buf out = BUF_INIT(1 << 20);
    static const struct desk_call plain[DESK_CALLS] = {{A, "200", 0},
                                                       {A " > x GET /x", "200", 0},
                                                       {A " > x GET /x > y GET /y", "200", 0},
                                                       {B, "200", 0},
                                                       {C, "200", 0},
                                                       {A " > z GET /z", "200", 0}};
    static const struct desk_call seen[DESK_CALLS] = {{A, "502", 0},
                                                      {B, "500", 0},
                                                      {C, "503", "503"},
                                                      {B " #1", "200", 0},
                                                      {A " > z GET /z", "200", 0}};
    desk_init(&d);
    desk_run(&d, FAULTLOAD_EMPTY, NULL, plain);
    struct run *faulty = desk_run(&d, desk_load(&d, C " : 503"), "it fails", seen);
    faulty->verdict.status = OUTCOME(OUT_STATUS, 502);
    faulty->verdict.detail = "status 502";
    faulty->body = SLICE("first\n::error::x\x1b[1m\n");
    faulty->event = "b died (signal 11)";
    report_replay(&d.summary, &d.runs.at[0], faulty, &style_plain, &out);
    assert_string_equal(
        buf_text(&out),
        "~ a GET /                                                             502  (was 200)\n"
        "- |- x GET /x                                                         200\n"
        "- |  `- y GET /y                                                      200\n"
        "~ |- b GET /b                                                         500  (was 200)\n"
        "! |  `- c GET /c                                                      503"
        "  <- injected 503  (was 200)\n"
        "+ |- b GET /b #1                                                      200\n"
        "  `- z GET /z                                                         200\n"
        "\n"
        "calls: 1 injected (!), 1 only with faults (+), 2 only without faults (-), "
        "2 with a different outcome (~)\n"
        "the client got 502 after 2ms:\n"
        "  | first\n"
        "  | ::error::x?[1m\n"
        "b died (signal 11)\n"
        "NOT as expected: it fails (status 502)\n");
    buf_deinit(&out);
    desk_deinit(&d);
}

/* ---- bounds ---- */

/* Faultloads of one fault each, at `n` calls whose names are long. */
static void add_many(struct desk *d, uint32_t n, uint32_t length, bool findings)
{
    struct buf text = BUF_INIT(1 << 20);
    for (uint32_t i = 0; i < n; i++) {
        buf_clear(&text);
        buf_addf(&text, A " > b%u GET /", (unsigned)i);
        for (uint32_t k = 0; k < length; k++)
            buf_addc(&text, "|`<_"[k % 4]);
        buf_adds(&text, " : 503");
        faultload f = desk_load(d, buf_text(&text));
        if (findings)
            desk_finding(d, f, "it breaks");
        desk_run(d, f, findings ? "it breaks" : NULL, plain_rows);
    }
    buf_deinit(&text);
}

static void test_junit(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    desk_run(&d, FAULTLOAD_EMPTY, NULL, plain_rows);
    desk_run(&d, FAULTLOAD_EMPTY, NULL, plain_rows); /* the same case */
    desk_run(&d, desk_load(&d, C " : 503"), "it breaks", seen_rows);
    desk_run(&d, desk_load(&d, B " : 503 & " C " : 503"), "it breaks", NULL);
    desk_run(&d, desk_load(&d, C " : 503 & " B " : 503"), "it breaks", NULL); /* the same case */
    /* two calls with the same words for them */
    desk_run(&d,
             desk_load(&d, A " > x GET /x > "
                             "c GET /c > d GET /d : 503"),
             NULL, NULL);
    desk_run(&d,
             desk_load(&d, A " > y GET /y > "
                             "c GET /c > d GET /d : 503"),
             NULL, NULL);
    vec_last(&d.runs).purpose = RUN_SEARCH;
    desk_finding(&d, desk_load(&d, C " : 503"), "it breaks")->state = FINDING_FLAKY;
    desk_finding(&d, desk_load(&d, B " : 500"), "it stays broken")->kind =
        FINDING_BLAST; /* never stored */
    const char *text = desk_print(&d, report_junit);
    assert_has(text, "<testsuite name=\"buy\" tests=\"6\" failures=\"3\" errors=\"0\"");
    assert_has(text,
               "<testcase name=\"without faults\" classname=\"shop.buy\" time=\"0.002000\"/>");
    assert_has(text, "<failure type=\"flaky\" message=\"it breaks\">finding 1: ");
    assert_has(text, "<failure type=\"blast-radius\" message=\"it stays broken\">finding 2: ");
    assert_has(text, "<system-out>replay: outfox replay 2</system-out>");
    assert_has(text, "name=\"c &gt; d GET /d answers 503\"");
    assert_has(text, "name=\"a GET / &gt; y GET /y &gt; c GET /c &gt; d GET /d : 503\"");
    d.summary.broken = "it never works";
    d.summary.stopped = "error";
    d.source.error = "no <disk>";
    d.runs.at[0].verdict = (struct verdict){.pass = false, .why = "it never works"};
    text = desk_print(&d, report_junit);
    assert_has(text, "tests=\"7\" failures=\"3\" errors=\"2\"");
    assert_has(text, "<error type=\"broken\" message=\"it never works\">");
    assert_has(text, "<error type=\"environment\" message=\"no &lt;disk&gt;\"/>");
    desk_deinit(&d);
}

static void test_junit_bound(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    add_many(&d, 9999, 1, false);
    desk_run(&d, desk_load(&d, C " : 503"), "it breaks", seen_rows);
    assert_int_equal(text_count(desk_print(&d, report_junit), "<testcase"), 10000);
    desk_run(&d, desk_load(&d, B " : 503"), "it breaks", seen_rows);
    const char *text = desk_print(&d, report_junit);
    assert_int_equal(text_count(text, "<testcase"), 2);
    assert_has(text, "tests=\"2\" failures=\"2\"");
    assert_has(text, "<property name=\"cases_left_out\" value=\"9999\"/>");
    desk_deinit(&d);
}

static void test_markdown(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    faultload f = desk_load(&d, C " : 503");
    desk_run(&d, FAULTLOAD_EMPTY, NULL, plain_rows);
    desk_run(&d, f, "paid twice", seen_rows);
    desk_finding(&d, f, "a | b <i>`c`")->detail = "2 > 1";
    const char *text = desk_print(&d, report_markdown);
    assert_has(text, "| buy | :x: **1 finding** |");
    assert_has(text, "### Finding 1: a \\| b &lt;i&gt;\\`c\\`\n");
    assert_has(text,
               "- **when** b &gt; c GET /c answers 503, and the retry of b GET /b succeeds\n");
    assert_has(text, "- 2 &gt; 1\n\n```sh\noutfox replay 1\n```\n");
    assert_has(text, "503  <- injected 503\n");
    assert_has(text, "<details><summary>figures</summary>");
    desk_deinit(&d);
    for (uint32_t length = 100; length <= 10000; length *= 10) {
        desk_init(&d);
        add_many(&d, 200, length, true);
        text = desk_print(&d, report_markdown);
        assert_true(strlen(text) < 900 * 1000);
        assert_int_equal(text_count(text, "\n```sh"), text_count(text, "### Finding"));
        assert_int_equal(text_count(text, "<details>"), text_count(text, "</details>"));
        assert_has(text, "</sub>\n");
        if (text_count(text, "### Finding") < 200)
            assert_has(text, "more findings.\n");
        desk_deinit(&d);
    }
}

static void test_github(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    desk_finding(&d, desk_load(&d, B " : 503"), "50%: a, b")->detail = "x\ny";
    d.source.path = "ci/out,fox.yaml";
    assert_string_equal(
        desk_print(&d, report_github),
        "::error file=ci/out%2Cfox.yaml,line=7,title=shop / buy%3A 50%25%3A a%2C b::"
        "when b GET /b answers 503%0Athen the client gets 200%0Ax%0Ay%0A"
        "the expectation does not hold, confirmed by a second run%0A"
        "replay: outfox replay 1\n");
    d.summary.findings.at[0].state = FINDING_FLAKY;
    assert_has(desk_print(&d, report_github), "::warning file=");
    add_many(&d, 20, 5000, true);
    const char *text = desk_print(&d, report_github);
    assert_int_equal(text_count(text, "\n"), 12); /* a flaky one and ten others */
    assert_has(text, "\n::notice title=outfox::10 more findings have no annotation\n");
    desk_deinit(&d);
}

static void test_verdicts(void **state)
{
    (void)state;
    struct desk d;
    struct summary second;
    desk_init(&d);
    second = d.summary;
    d.scenarios[1] = &second;
    d.source.n = 2;
    assert_string_equal(report_worst(&d.source), "ok");
    second.stopped = "runs";
    assert_string_equal(report_worst(&d.source), "inconclusive");
    desk_finding(&d, FAULTLOAD_EMPTY, "it breaks");
    assert_string_equal(report_worst(&d.source), "findings");
    second.broken = "it never works";
    assert_string_equal(report_worst(&d.source), "broken");
    desk_deinit(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),     cmocka_unit_test(test_replay),
        cmocka_unit_test(test_junit),    cmocka_unit_test(test_junit_bound),
        cmocka_unit_test(test_markdown), cmocka_unit_test(test_github),
        cmocka_unit_test(test_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
