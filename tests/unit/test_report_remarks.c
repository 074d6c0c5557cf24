/* SPDX-License-Identifier: Apache-2.0
 *
 * What oracles say, in every form of report: the words, the numbers, and the bounds. */
#include <stdlib.h>

#include "report/card.h"
#include "report/report.h"
#include "report/words.h"
#include "support/report_desk.h"
#include "support/unit.h"

#define A   "a GET /"
#define PAY A " > pay POST /charge"

static void assert_has_not(const char *text, const char *words)
{
    if (strstr(text, words))
        fail_msg("\"%s\" is in:\n%.4000s", words, text);
}

static void print_text(const struct report_source *source, struct buf *out)
{
    report_text(source, &style_plain, out);
}

/* As `sim explore` prints it. */
static void print_sim(const struct report_source *source, struct buf *out)
{
    struct summary s = *source->scenarios[0];
    s.ids = s.replay = NULL;
    const struct summary *one = &s;
    struct report_source of_sim = {.n = 1, .scenarios = &one};
    report_text(&of_sim, &style_plain, out);
}

static void add_twice(struct desk *d, enum severity severity)
{
    desk_remark(d, "duplicate-effect", severity, "paid twice", PAY, PAY " #1");
}

static void test_text(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    desk_finding(&d, desk_load(&d, PAY " : 500"), "it breaks");
    add_twice(&d, SEVERITY_FINDING);
    desk_remark(&d, "wrong-status", SEVERITY_WARNING, "a says 503", PAY, PAY " #1");
    const char *text = desk_print(&d, print_text);
    assert_has(text, "shop / buy: 2 findings, 1 warning\n");
    assert_has(text,
               "\nFINDING 2  duplicate-effect: paid twice\n"
               "  when    pay POST /charge answers 503 after the work is done\n"
               "  shows   the reply is lost: pay POST /charge  503  <- injected lost-reply:503\n"
               "          the retry: pay POST /charge #1  200\n"
               "  replay  outfox replay 'a GET / > pay POST /charge : lost-reply:503'\n"
               "\nWARNING 1  wrong-status: a says 503\n");
    assert_has(desk_print(&d, print_sim),
               "  replay  outfox sim run outfox.yaml --scenario buy "
               "--fault 'a GET / > pay POST /charge : lost-reply:503'\n");
    assert_true(strstr(text, "FINDING 1  it breaks") < strstr(text, "FINDING 2"));
    d.summary.ids = "buy/"; /* one of several scenarios */
    text = desk_print(&d, print_text);
    assert_has(text, "\nFINDING buy/1  it breaks\n");
    assert_has(text, "\nFINDING buy/2  duplicate-effect: paid twice\n");
    assert_has(text, "\nWARNING 1  wrong-status: a says 503\n");
    desk_deinit(&d);
}

static void test_verdict(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    assert_has(desk_print(&d, print_text), "shop / buy: no finding\n");
    for (int i = 0; i < 3; i++)
        add_twice(&d, SEVERITY_WARNING);
    assert_has(desk_print(&d, print_text), "shop / buy: no finding, 3 warnings\n");
    assert_has(desk_print(&d, report_markdown), ":white_check_mark: no finding, 3 warnings |");
    assert_string_equal(report_verdict(&d.summary), "ok");
    d.summary.stopped = "runs";
    assert_has(desk_print(&d, print_text),
               "no finding, 3 warnings, but inconclusive: the run budget was used up\n");
    d.summary.remarks.at[0].severity = SEVERITY_FINDING;
    assert_has(desk_print(&d, print_text), "shop / buy: 1 finding, 2 warnings\n");
    assert_has(desk_print(&d, report_markdown), ":x: **1 finding**, 2 warnings |");
    assert_string_equal(report_verdict(&d.summary), "findings");
    desk_deinit(&d);
}

/* The same dice are thrown when the run is made again. */
static void test_seed(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    d.summary.random = true;
    d.summary.seed = 5;
    add_twice(&d, SEVERITY_WARNING);
    assert_has(desk_print(&d, print_sim), " --seed 5000016 "); /* run 2 is the one from 1 */
    desk_deinit(&d);
}

static void test_times(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    add_twice(&d, SEVERITY_WARNING);
    struct evidence *x = d.summary.remarks.at[0].evidence;
    assert_has_not(desk_print(&d, print_text), "(from");
    x[1].start_ns = 2502000000;
    x[1].end_ns = 2503000000;
    const char *text = desk_print(&d, print_text);
    assert_has(text, "injected lost-reply:503  (from 1ms to 2ms)\n");
    assert_has(text, "#1  200  (from 2.5s to 2.5s)\n");
    x[0].start_ns = x[0].end_ns = 0; /* not known */
    x[0].seen = OUT_NONE;
    assert_has(desk_print(&d, print_text),
               "the reply is lost: pay POST /charge  <- injected lost-reply:503\n");
    desk_deinit(&d);
}

/* 12 of one oracle, 1 of another and 2 of a third. */
static void add_three(struct desk *d)
{
    for (int i = 0; i < 12; i++)
        desk_remark(d, "wrong-status", SEVERITY_WARNING, "one", PAY, PAY " #1");
    desk_remark(d, "leak", SEVERITY_WARNING, "two", PAY, PAY " #1");
    desk_remark(d, "no-timeout", SEVERITY_WARNING, "three", PAY, PAY " #1");
    desk_remark(d, "no-timeout", SEVERITY_WARNING, "three", PAY, PAY " #1");
}

static void test_choice(void **state)
{
    (void)state;
    struct desk d;
    struct remarks_shown shown;
    static const uint32_t four[] = {0, 1, 12, 13};
    desk_init(&d);
    add_three(&d);
    remarks_choose(&d.summary, SEVERITY_WARNING, 4, &shown);
    assert_int_equal(shown.n, 4);
    assert_memory_equal(shown.at, four, sizeof four);
    assert_int_equal(shown.number[3], 14);
    assert_int_equal(shown.left_out, 11);
    remarks_choose(&d.summary, SEVERITY_WARNING, 15, &shown);
    assert_int_equal(shown.n, 15);
    assert_int_equal(shown.left_out, 0);
    remarks_choose(&d.summary, SEVERITY_WARNING, 0, &shown);
    assert_int_equal(shown.n, 0);
    assert_int_equal(shown.left_out, 15);
    remarks_choose(&d.summary, SEVERITY_FINDING, 5, &shown);
    assert_int_equal(shown.n + shown.left_out, 0);
    desk_deinit(&d);
}

static void test_bound(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    add_three(&d);
    const char *text = desk_print(&d, print_text);
    assert_int_equal(text_count(text, "\nWARNING "), 10);
    assert_has(text, "\nWARNING 7  wrong-status: one\n");
    assert_has(text, "\nWARNING 15  no-timeout: three\n");
    assert_has(text, "\n  ... and 5 more warnings; --json lists up to 300.\n");
    d.summary.more_remarks = 7;
    assert_has(desk_print(&d, print_text), "no finding, 22 warnings\n");
    assert_has(desk_print(&d, print_text), "... and 12 more warnings;");
    for (int i = 0; i < 200; i++)
        desk_remark(&d, "leak", SEVERITY_FINDING, "four", PAY, PAY " #1");
    assert_int_equal(text_count(desk_print(&d, print_text), "\nFINDING "), 20);
    assert_has(desk_print(&d, print_text), "... and 180 more oracle findings;");
    assert_int_equal(text_count(desk_print(&d, report_junit), "<failure "), 200);
    text = desk_print(&d, report_github);
    assert_int_equal(text_count(text, "::error "), 10);
    assert_int_equal(text_count(text, "::warning "), 10);
    assert_has(text, "::notice title=outfox::190 more findings have no annotation\n");
    assert_has(text, "::notice title=outfox::12 more warnings have no annotation\n");
    text = desk_print(&d, report_markdown);
    assert_int_equal(text_count(text, "### Finding"), 200);
    assert_int_equal(text_count(text, "<details>"), 15 + 1);
    desk_deinit(&d);
}

static void test_json(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    add_twice(&d, SEVERITY_FINDING);
    d.summary.more_remarks = 2;
    const char *text = desk_print(&d, report_campaign_json);
    assert_has(text, "\"remarks_total\": 3,");
    assert_has(text, "\"oracle\": \"duplicate-effect\",");
    assert_has(text, "\"severity\": \"finding\",");
    assert_has(text, "\"why\": \"paid twice\",");
    assert_has(text, "\"about\": \"outfox oracles duplicate-effect\"");
    assert_has(text, "\"role\": \"the retry\",");
    assert_has(text, "\"injected\": \"lost-reply:503\",");
    assert_has(text, "\"verdict\": \"findings\"");
    desk_deinit(&d);
}

static void test_junit(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    add_twice(&d, SEVERITY_FINDING);
    add_twice(&d, SEVERITY_FINDING);
    desk_remark(&d, "wrong-status", SEVERITY_WARNING, "a says <503>", PAY, PAY " #1");
    const char *text = desk_print(&d, report_junit);
    assert_has(text, "<testsuite name=\"buy\" tests=\"2\" failures=\"2\" errors=\"0\"");
    assert_has(text, "<property name=\"warnings\" value=\"1\"/>");
    assert_has(text, "<testcase name=\"duplicate-effect: paid twice\" classname=\"shop.buy\"");
    assert_has(text, "<testcase name=\"duplicate-effect: paid twice (2)\" classname=\"shop.buy\"");
    assert_has(text, "<failure type=\"duplicate-effect\" message=\"paid twice\">when pay");
    assert_has(text, "<system-out>replay: outfox replay 'a GET / &gt; pay POST /charge : ");
    assert_has(text, "    <system-out>warning: wrong-status: a says &lt;503&gt;\nwhen pay");
    desk_deinit(&d);
}

static void test_markdown(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    add_twice(&d, SEVERITY_FINDING);
    desk_remark(&d, "wrong-status", SEVERITY_WARNING, "a_b <i>\n\nsays", PAY, PAY " #1");
    const char *text = desk_print(&d, report_markdown);
    assert_has(text, "### Finding 1: duplicate-effect: paid twice\n\n- **when** pay POST");
    assert_has(text, "- the retry: pay POST /charge \\#1  200\n");
    assert_has(text, "- about: outfox oracles duplicate-effect\n\n```sh\noutfox replay 'a GET");
    assert_has(text, "### Warnings\n\n<details><summary>wrong-status: a_b &lt;i&gt;??says"
                     "</summary>\n\n- **when** pay POST");
    assert_int_equal(text_count(text, "<details>"), text_count(text, "</details>"));
    desk_deinit(&d);
}

static void test_github(void **state)
{
    (void)state;
    struct desk d;
    desk_init(&d);
    add_twice(&d, SEVERITY_FINDING);
    add_twice(&d, SEVERITY_WARNING);
    d.summary.remarks.at[1].why = "50%";
    const char *rest = "when pay POST /charge answers 503 after the work is done%0A"
                       "the reply is lost: pay POST /charge  503  <- injected lost-reply:503%0A"
                       "the retry: pay POST /charge #1  200%0A"
                       "replay: outfox replay 'a GET / > pay POST /charge : lost-reply:503'%0A"
                       "about: outfox oracles duplicate-effect\n";
    struct buf wanted = BUF_INIT(4096);
    const char *where = " file=outfox.yaml,line=7,title=shop / buy%3A duplicate-effect%3A ";
    buf_addf(&wanted, "::error%spaid twice::%s::warning%s50%%25::%s", where, rest, where, rest);
    assert_string_equal(desk_print(&d, report_github), buf_text(&wanted));
    buf_deinit(&wanted);
    desk_deinit(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),     cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_seed),     cmocka_unit_test(test_times),
        cmocka_unit_test(test_choice),   cmocka_unit_test(test_bound),
        cmocka_unit_test(test_json),     cmocka_unit_test(test_junit),
        cmocka_unit_test(test_markdown), cmocka_unit_test(test_github),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
