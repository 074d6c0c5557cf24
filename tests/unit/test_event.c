/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: their text, both ways, and the summary that they come to, held against the real one. */
#include "core/event.h"

#include <math.h>
#include <stdlib.h>

#include "campaign/explore.h"
#include "support/lab.h"
#include "support/unit.h"

/* ---- text ---- */

static const char *const lines[] = {
    ("{\"outfox\": \"event\", \"version\": 1, \"type\": \"campaign\", \"scenario\": \"a\\\"b\", "
     "\"at_ns\": 0, \"system\": \"shop\", \"file\": \"outfox.yaml\", \"modes\": \"503, reset\", "
     "\"order\": \"soon\", \"max_runs\": 0, \"max_time_ns\": 5, \"resumed\": false}"),
    ("{\"outfox\": \"event\", \"version\": 1, \"type\": \"run\", \"scenario\": \"s\", \"at_ns\": 12, "
     "\"number\": 7, \"purpose\": \"search\", \"faultload\": \"front GET / > a GET / : 503\", "
     "\"pass\": false, \"status\": \"500\", \"why\": \"no\", \"took_ns\": 99, \"calls\": 3, "
     "\"hung\": false, \"crashed\": true, \"repeated\": false, \"restored\": false, "
     "\"counted\": \"repeat\", \"fired\": true, \"size\": 1, \"hits\": 1, \"runs\": 5, "
     "\"queued\": 2, \"findings\": 1, \"failed_runs\": 4}"),
    ("{\"outfox\": \"event\", \"version\": 1, \"type\": \"finding\", \"scenario\": \"s\", "
     "\"at_ns\": 1, \"number\": 0, \"faultload\": \"none\", \"why\": \"w\", \"runs\": 2, "
     "\"stage\": \"told\", \"kind\": \"blast-radius\", \"state\": \"flaky\", "
     "\"key\": \"fedcba9876543210\"}"),
    ("{\"outfox\": \"event\", \"version\": 1, \"type\": \"died\", \"at_ns\": 0, \"text\": \"x\"}"),
    ("{\"outfox\": \"event\", \"version\": 1, \"type\": \"skip\", \"at_ns\": 0, \"name\": \"n\", "
     "\"combinations\": 244140624.5, \"text\": \"why\"}"),
};

static void test_text(void **state)
{
    struct names names;
    struct faultloads fl;
    (void)state;
    names_init(&names);
    faultloads_init(&fl);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct buf text = BUF_INIT(10000);
        struct arena a = {0};
        struct event event;
        struct err e = {0};
        if (event_parse(slice_of(lines[i]), &names, &fl, &a, &event, &e))
            fail_msg("%s: %s", lines[i], e.text);
        event_print(&event, &names, &fl, &text);
        assert_string_equal(buf_text(&text), lines[i]);
        arena_deinit(&a);
        buf_deinit(&text);
    }
    faultloads_deinit(&fl);
    names_deinit(&names);
}

#define EVENT "{\"outfox\": \"event\", \"version\": 1, \"type\": \"run\""

static const struct {
    const char *line, *says;
} wrong[] = {
    {"", "a JSON object"},
    {"[]", "a JSON object"},
    {"{}", "not an outfox event"},
    {"{\"outfox\": 1, \"version\": 1, \"type\": \"run\"}", "not an outfox event"},
    {"{\"outfox\": \"event\", \"version\": 2, \"type\": \"run\"}",
     "event version 2 is not supported"},
    {"{\"outfox\": \"event\", \"version\": 1, \"type\": \"walk\"}", "unknown event \"walk\""},
    {EVENT ", \"number\": \"7\"}", "\"number\""},
    {EVENT ", \"number\": -1}", "\"number\""},
    {EVENT ", \"number\": 1e300}", "\"number\""},
    {EVENT ", \"pass\": 1}", "\"pass\""},
    {EVENT ", \"purpose\": \"fun\"}", "\"purpose\""},
    {EVENT ", \"status\": \"fine\"}", "\"status\""},
    {EVENT ", \"faultload\": \"nonsense\"}", "\"faultload\""},
};

static void test_wrong_text(void **state)
{
    struct names names;
    struct faultloads fl;
    (void)state;
    names_init(&names);
    faultloads_init(&fl);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct arena a = {0};
        struct event event;
        struct err e = {0};
        assert_int_equal(event_parse(slice_of(wrong[i].line), &names, &fl, &a, &event, &e), -1);
        if (!strstr(e.text, wrong[i].says))
            fail_msg("%s: %s", wrong[i].line, e.text);
        arena_deinit(&a);
    }
    /* what a later outfox adds is passed over */
    struct arena a = {0};
    struct event event;
    struct err e = {0};
    slice more = SLICE(EVENT ", \"colour\": \"red\"}");
    assert_int_equal(event_parse(more, &names, &fl, &a, &event, &e), 0);
    arena_deinit(&a);
    faultloads_deinit(&fl);
    names_deinit(&names);
}

/* ---- what they come to ---- */

struct witness {
    struct lab lab;
    struct names names; /* of its own: it knows nothing but the text */
    struct faultloads fl;
    struct arena arena;
    struct summary summary;
};

static void take(void *ctx, const struct event *event)
{
    struct witness *w = ctx;
    struct buf line = BUF_INIT(1 << 22);
    struct event read;
    struct err e = {0};
    event_print(event, &w->lab.names, &w->lab.fl, &line);
    slice kept = slice_copy(&w->arena, buf_slice(&line));
    if (event_parse(kept, &w->names, &w->fl, &w->arena, &read, &e))
        fail_msg("%s: %s", buf_text(&line), e.text);
    summary_event(&w->summary, &read, &w->arena);
    buf_deinit(&line);
}

static int run_lab(void *ctx, faultload f, uint64_t number, struct run *run, struct err *e)
{
    struct witness *w = ctx;
    aim_set(&w->lab.aim, &w->lab.names, &w->lab.fl, f);
    return sim_run(w->lab.sim, 0, &w->lab.aim, run_seed(0, number), &run->trace, &run->verdict,
                   NULL, e);
}

static void assert_same_faults(const struct witness *w, faultload told, faultload real)
{
    struct buf a = BUF_INIT(1 << 20), b = BUF_INIT(1 << 20);
    faultload_print(&w->names, &w->fl, told, &a);
    faultload_print(&w->lab.names, &w->lab.fl, real, &b);
    assert_string_equal(buf_text(&a), buf_text(&b));
    buf_deinit(&a);
    buf_deinit(&b);
}

static void assert_same_text(const char *a, const char *b)
{
    assert_string_equal(a ? a : "(none)", b ? b : "(none)");
}

static void assert_same(const struct witness *w, const struct summary *real)
{
    const struct summary *told = &w->summary;
    assert_int_equal(told->runs, real->runs);
    assert_int_equal(told->repeats, real->repeats);
    assert_int_equal(told->audited, real->audited);
    assert_int_equal(told->failed_runs, real->failed_runs);
    assert_int_equal(told->points, real->points);
    assert_int_equal(told->conditional, real->conditional);
    assert_int_equal(told->transcripts, real->transcripts);
    assert_int_equal(told->queued, real->queued);
    assert_int_equal(told->all_suspects, real->all_suspects);
    assert_true(fabs(told->space - real->space) <= real->space * 1e-14);
    assert_same_text(told->stopped, real->stopped);
    assert_same_text(told->doubt, real->doubt);
    assert_same_text(told->broken, real->broken);
    assert_int_equal(summary_conclusion(told), summary_conclusion(real));
    assert_int_equal(told->runs_by_size.n, real->runs_by_size.n);
    for (uint32_t i = 0; i < real->runs_by_size.n; i++)
        assert_int_equal(told->runs_by_size.at[i], real->runs_by_size.at[i]);
    assert_int_equal(told->outcomes.n, real->outcomes.n);
    for (uint32_t i = 0; i < real->outcomes.n; i++) {
        assert_int_equal(told->outcomes.at[i].status, real->outcomes.at[i].status);
        assert_int_equal(told->outcomes.at[i].pass, real->outcomes.at[i].pass);
        assert_int_equal(told->outcomes.at[i].runs, real->outcomes.at[i].runs);
    }
    assert_int_equal(told->skipped.n, real->skipped.n);
    for (uint32_t i = 0; i < real->skipped.n; i++)
        assert_string_equal(told->skipped.at[i].name, real->skipped.at[i].name);
    assert_int_equal(told->findings.n, real->findings.n);
    for (uint32_t i = 0; i < real->findings.n; i++) {
        assert_string_equal(told->findings.at[i].why, real->findings.at[i].why);
        assert_int_equal(told->findings.at[i].runs, real->findings.at[i].runs);
        assert_int_equal(told->findings.at[i].kind, real->findings.at[i].kind);
        assert_int_equal(told->findings.at[i].state, real->findings.at[i].state);
        assert_same_faults(w, told->findings.at[i].faultload, real->findings.at[i].faultload);
    }
    assert_int_equal(told->remarks.n, real->remarks.n);
    for (uint32_t i = 0; i < real->remarks.n; i++) {
        assert_string_equal(told->remarks.at[i].oracle, real->remarks.at[i].oracle);
        assert_string_equal(told->remarks.at[i].why, real->remarks.at[i].why);
        assert_int_equal(told->remarks.at[i].severity, real->remarks.at[i].severity);
        assert_same_faults(w, told->remarks.at[i].faultload, real->remarks.at[i].faultload);
    }
}

static void hold_against(const char *file, void (*change)(struct search_options *options),
                         uint64_t max_runs)
{
    struct witness w = {0};
    struct err e = {0};
    const char *top = getenv("TOP");
    struct buf path = BUF_INIT(4096);
    buf_addf(&path, "%s/%s", top ? top : ".", file);
    if (lab_init_file(&w.lab, buf_text(&path), &e))
        fail_msg("%s: %s", file, e.text);
    buf_deinit(&path);
    names_init(&w.names);
    faultloads_init(&w.fl);
    struct search_options options = lab_options(&w.lab);
    if (change)
        change(&options);
    struct judge_settings settings;
    judge_settings_init(&settings);
    struct judge_options judging = {
        .names = &w.lab.names, .faultloads = &w.lab.fl, .settings = &settings};
    struct event_sink sink = {&w, take};
    struct exploration x = {.search = search_new(&w.lab.names, &w.lab.fl, &options),
                            .names = &w.lab.names,
                            .faultloads = &w.lab.fl,
                            .runner = {&w, run_lab},
                            .budget = {.max_runs = max_runs},
                            .sink = &sink,
                            .judge = judge_new(&judging)};
    struct summary real = {.scenario = "s"};
    assert_int_equal(explore(&x, 1, NULL, &(struct summary *){&real}, &e), 0);
    assert_same(&w, &real);
    summary_deinit(&real);
    summary_deinit(&w.summary);
    judge_free(x.judge);
    judge_settings_deinit(&settings);
    search_free(x.search);
    arena_deinit(&w.arena);
    faultloads_deinit(&w.fl);
    names_deinit(&w.names);
    lab_deinit(&w.lab);
}

static void reduce(struct search_options *o)
{
    o->assume = 1u << REDUCE_MODES | 1u << REDUCE_MAX_FAULTS;
    o->max_faults = 2;
    o->audit = 20;
}

static void test_summary(void **state)
{
    (void)state;
    hold_against("examples/corpus/cinema-3.yaml", NULL, 0);
    hold_against("examples/corpus/audible.yaml", NULL, 0);
    hold_against("examples/corpus/netflix-bugs.yaml", NULL, 400);
    hold_against("examples/shop/shop.yaml", NULL, 0);
    hold_against("examples/corpus/expedia.yaml", reduce, 0);
    hold_against("examples/corpus/mailchimp.yaml", reduce, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_wrong_text),
        cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
