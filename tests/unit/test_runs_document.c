/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of all runs, and the calls of a page of them: what is printed says what the runs say. And
 * the calls that a report lists, with how long they take. */
#include "page/ledger_int.h"
#include "support/ledger_lab.h"
#include "support/report_desk.h"
#include "support/unit.h"

static void explore(struct ledger_lab *l, const char *file)
{
    ledger_lab_init_file(l, file);
    struct search_options options = lab_options(&l->lab);
    ledger_lab_explore(l, &options, 0);
}

/* The text at a place in a list of the document. */
static slice text_at(const struct node *document, const char *list, int64_t place)
{
    const struct node *texts = value_at(document, list);
    assert_in_range(place, 0, texts->n - 1);
    return texts->list[place]->text;
}

static int64_t column(const struct node *document, const char *name, uint32_t row)
{
    struct buf path = BUF_INIT(100);
    buf_addf(&path, "runs/%s/%u", name, (unsigned)row);
    int64_t value = number_at(document, buf_text(&path));
    buf_deinit(&path);
    return value;
}

/* A row of the index is the run. */
static void hold_row(struct ledger_lab *l, const struct node *document, uint32_t row,
                     const struct run *run)
{
    struct buf text = BUF_INIT(1 << 16), wanted = BUF_INIT(1 << 16);
    const struct node *faults = value_at(document, "runs/faults")->list[row];
    assert_int_equal(column(document, "number", row), run->number);
    assert_int_equal(column(document, "pass", row), run->verdict.pass);
    assert_int_equal(column(document, "took_us", row), run->took_ns / 1000);
    assert_int_equal(column(document, "calls", row), run->trace.calls.n);
    assert_true(slice_is(text_at(document, "purposes", column(document, "purpose", row)),
                         run_purpose_names[run->purpose]));
    outcome_print(run->verdict.status, &text);
    assert_true(
        slice_eq(text_at(document, "statuses", column(document, "status", row)), buf_slice(&text)));
    if (run->verdict.pass)
        assert_int_equal(column(document, "why", row), -1);
    else
        assert_true(slice_is(text_at(document, "sentences", column(document, "why", row)),
                             run->verdict.why));
    buf_clear(&text);
    for (uint32_t i = 0; i + 1 < faults->n; i += 2) {
        buf_adds(&text, i ? " & " : "");
        buf_add(&text, text_at(document, "calls", (int64_t)faults->list[i]->num));
        buf_adds(&text, " : ");
        buf_add(&text, text_at(document, "modes", (int64_t)faults->list[i + 1]->num));
    }
    faultload_print(&l->lab.names, &l->lab.fl, run->faultload, &wanted);
    assert_string_equal(faults->n ? buf_text(&text) : "none", buf_text(&wanted));
    buf_deinit(&text);
    buf_deinit(&wanted);
}

static void test_index(void **state)
{
    (void)state;
    struct ledger_lab l;
    explore(&l, "examples/corpus/mailchimp.yaml");
    ledger_lab_run(&l, FAULTLOAD_EMPTY, RUN_CHECK);
    const struct node *all = ledger_lab_read(&l, "runs/0", 0);
    assert_int_equal(number_at(all, "total"), l.runs.n);
    assert_int_equal(number_at(all, "page_size"), DOCUMENT_PAGE);
    assert_int_equal(value_at(all, "runs/number")->n, l.runs.n);
    for (uint32_t i = 0; i < l.runs.n; i++)
        hold_row(&l, all, i, &l.runs.at[i]);

    const struct node *rest = ledger_lab_read(&l, "runs/0", 190); /* as if it had come since */
    assert_int_equal(number_at(rest, "total"), l.runs.n);
    assert_int_equal(value_at(rest, "runs/number")->n, l.runs.n - 189);
    for (uint32_t i = 0; i < l.runs.n - 189; i++)
        hold_row(&l, rest, i, &l.runs.at[i + 189]);
    assert_int_equal(value_at(ledger_lab_read(&l, "runs/0", 1 << 30), "runs/number")->n, 0);
    ledger_lab_deinit(&l);
}

/* What went wrong besides the expectation. */
static void test_flags(void **state)
{
    (void)state;
    struct ledger_lab l;
    struct err e = {0};
    faultload f;
    explore(&l, "examples/corpus/cinema-1.yaml");
    struct run *run = &l.runs.at[0];
    static const uint32_t flags[] = {RUN_HUNG, RUN_CRASHED, RUN_HUNG | RUN_CRASHED, RUN_OUTLIVED};
    ledger_event(l.ledger, &(struct event){.type = EVENT_AGAIN});
    for (uint32_t i = 0; i < 4; i++) {
        run->flags = flags[i];
        run->number = i + 1;
        ledger_event(l.ledger, &(struct event){.type = EVENT_RUN, .run = run});
    }
    /* a fault at a call that is not made, and a service that is down */
    const struct trace *trace = &run->trace;
    f = faultload_extend(&l.lab.fl, FAULTLOAD_EMPTY,
                         (struct fault){names_uid(&l.lab.names, trace->calls.at[0].uid, 0),
                                        mode_make(MODE_STATUS, 503)});
    struct run other = {.number = 5, .faultload = f, .trace = *trace};
    ledger_event(l.ledger, &(struct event){.type = EVENT_RUN, .run = &other});
    assert_int_equal(faultload_parse(&l.lab.names, &l.lab.fl, SLICE("bookings down"), &f, &e), 0);
    ledger_lab_run(&l, f, RUN_REPLAY);
    const struct node *all = ledger_lab_read(&l, "runs/0", 0);
    static const int64_t wanted[] = {1, 2, 3, 0, 4, 0};
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(column(all, "flags", i), wanted[i]);
    assert_true(slice_is(text_at(all, "calls", 1), "bookings down"));
    ledger_lab_deinit(&l);
}

/* Seven numbers for each call. */
static void hold_calls(struct ledger_lab *l, const struct node *page, const struct node *shown,
                       const struct run *run)
{
    const struct node *list = value_at(shown, "calls");
    struct buf text = BUF_INIT(1 << 16);
    assert_int_equal(number_at(shown, "number"), run->number);
    assert_int_equal(list->n, 7 * run->trace.calls.n);
    for (uint32_t i = 0; i < run->trace.calls.n; i++) {
        const struct call *c = &run->trace.calls.at[i];
        int64_t v[7];
        for (uint32_t k = 0; k < 7; k++)
            v[k] = (int64_t)list->list[7 * i + k]->num;
        uid_print(&l->lab.names, c->uid, &text);
        assert_true(slice_eq(text_at(page, "points", v[0]), buf_slice(&text)));
        buf_clear(&text);
        assert_int_equal(v[1], c->parent == CALL_NONE ? -1 : (int64_t)c->parent);
        outcome_print(c->seen, &text);
        assert_true(slice_eq(text_at(page, "outcomes", v[2]), buf_slice(&text)));
        buf_clear(&text);
        assert_int_equal(v[3] >= 0, c->handled);
        assert_int_equal(v[4] >= 0, c->mode != MODE_NONE);
        if (c->mode != MODE_NONE)
            mode_print(c->mode, &text);
        assert_true(!text.n || slice_eq(text_at(page, "modes", v[4]), buf_slice(&text)));
        buf_clear(&text);
        assert_int_equal(v[5], c->start_ns / 1000);
        assert_int_equal(v[6], c->end_ns / 1000);
    }
    buf_deinit(&text);
}

static void test_pages(void **state)
{
    (void)state;
    struct ledger_lab l;
    explore(&l, "examples/corpus/netflix-bugs.yaml");
    const struct document_row *row = NULL;
    for (uint32_t i = 0; i < n_documents; i++)
        row = document_rows[i].of == OF_PAGE ? &document_rows[i] : row;
    uint32_t pages = document_count(&l.source, row, 0), n = 0, failed = 0;
    assert_int_equal(pages, (l.runs.n + DOCUMENT_PAGE - 1) / DOCUMENT_PAGE);
    for (uint32_t p = 0; p < pages; p++) {
        struct buf name = BUF_INIT(100);
        document_name(row, &(struct document_place){.page = p}, &name);
        const struct node *page = ledger_lab_read(&l, buf_text(&name), 0);
        const struct node *runs = value_at(page, "runs");
        assert_int_equal(number_at(page, "page"), p);
        for (uint32_t i = 0; i < runs->n; i++)
            hold_calls(&l, page, runs->list[i], &l.runs.at[n++]);
        failed += ledger_failed(l.ledger, p);
        buf_deinit(&name);
    }
    assert_int_equal(n, l.runs.n);
    for (uint32_t i = 0; i < l.runs.n; i++)
        failed -= !l.runs.at[i].verdict.pass;
    assert_int_equal(failed, 0);
    assert_null(ledger_lab_read(&l, "runs/0/13", 0));
    assert_null(ledger_lab_read(&l, "runs/1/0", 0));
    assert_null(ledger_lab_read(&l, "runs/1", 0));
    ledger_lab_deinit(&l);
}

/* The store cannot be read: that is said, and nothing that looks whole. */
static int cannot_read(void *ctx, uint32_t scenario, uint64_t number, report_each each,
                       void *each_ctx)
{
    (void)ctx;
    (void)scenario;
    (void)number;
    (void)each;
    (void)each_ctx;
    return -1;
}

static void test_unreadable(void **state)
{
    (void)state;
    struct ledger_lab l;
    struct buf out = BUF_INIT(SIZE_MAX);
    struct err e = {0};
    explore(&l, "examples/corpus/cinema-1.yaml");
    l.source.runs_from = cannot_read;
    assert_int_equal(document_print(&l.source, SLICE("runs/0/0"), 0, &out, &e), STATUS_FAILED);
    assert_true(e.text[0]);
    l.source.runs_from = NULL;
    assert_int_equal(document_print(&l.source, SLICE("runs/0/0"), 0, &out, &e), STATUS_NONE);
    buf_deinit(&out);
    ledger_lab_deinit(&l);
}

static void test_calls(void **state)
{
    (void)state;
    struct ledger_lab l;
    struct buf out = BUF_INIT(SIZE_MAX);
    struct search_stats stats;
    uint32_t conditional = 0;
    explore(&l, "examples/corpus/netflix.yaml");
    search_stats(l.search, &stats);
    struct known_calls calls;
    ledger_calls(l.ledger, &calls);
    assert_int_equal(calls.n, stats.points + 1); /* and the request */
    assert_int_equal(calls.total, calls.n);
    for (uint32_t i = 0; i < calls.n; i++) {
        const struct known_call *c = &calls.at[i];
        assert_true(i == 0 || uid_cmp(&l.lab.names, calls.at[i - 1].call, c->call) < 0);
        conditional += c->conditional;
        assert_int_equal(c->runs, c->conditional ? 0 : 1);
        const struct trace *plain = &l.runs.at[0].trace;
        for (uint32_t k = 0; k < plain->calls.n; k++)
            if (plain->calls.at[k].uid == c->call)
                assert_int_equal(c->took_ns,
                                 plain->calls.at[k].end_ns - plain->calls.at[k].start_ns);
    }
    assert_int_equal(conditional, stats.conditional);
    vec_deinit(&calls);

    report_campaign_json(&l.source, &out);
    assert_int_equal(text_count(buf_text(&out), "\"conditional\": true"), stats.conditional);
    assert_has(buf_text(&out), "\"without_faults\": null");
    buf_deinit(&out);
    ledger_lab_deinit(&l);
}

/* The median of the runs without faults, in which nothing failed. */
static void test_median(void **state)
{
    (void)state;
    struct ledger_lab l;
    struct known_calls calls;
    explore(&l, "examples/corpus/cinema-1.yaml");
    struct run *run = &l.runs.at[0];
    ledger_event(l.ledger, &(struct event){.type = EVENT_AGAIN});
    for (uint32_t i = 0; i < 2 * LEDGER_TIMES; i++) {
        run->number = i + 1;
        /* 1, 101, 2, 102 ...; what comes after LEDGER_TIMES is counted, not looked at */
        run->trace.calls.at[1].end_ns = run->trace.calls.at[1].start_ns + 1 + i / 2 +
                                        (i % 2 ? 100 : 0) + (i < LEDGER_TIMES ? 0 : 100000);
        ledger_event(l.ledger, &(struct event){.type = EVENT_RUN, .run = run});
    }
    ledger_calls(l.ledger, &calls);
    for (uint32_t i = 0; i < calls.n; i++)
        if (calls.at[i].call == run->trace.calls.at[1].uid) {
            assert_int_equal(calls.at[i].runs, 2 * LEDGER_TIMES);
            assert_int_equal(calls.at[i].took_ns, 13); /* of 1 .. 13 and 101 .. 112 */
        }
    vec_deinit(&calls);
    run->number++;
    run->verdict.pass = false; /* then nothing is said of how long calls take */
    ledger_event(l.ledger, &(struct event){.type = EVENT_RUN, .run = run});
    ledger_calls(l.ledger, &calls);
    for (uint32_t i = 0; i < calls.n; i++)
        assert_int_equal(calls.at[i].runs, 2 * LEDGER_TIMES);
    vec_deinit(&calls);
    ledger_lab_deinit(&l);
}

/* There is room for so many lines; the rest is counted. */
static void test_bound_of_runs(void **state)
{
    (void)state;
    struct ledger_lab l;
    ledger_lab_init_file(&l, "examples/corpus/cinema-3.yaml");
    l.ledger->most = 10;
    struct search_options options = lab_options(&l.lab);
    ledger_lab_explore(&l, &options, 0);
    const struct node *all = ledger_lab_read(&l, "runs/0", 0);
    assert_int_equal(number_at(all, "total"), 27);
    assert_int_equal(value_at(all, "runs/number")->n, 10);
    assert_int_equal(value_at(ledger_lab_read(&l, "runs/0/0", 0), "runs")->n, 10);
    struct explanation late = {.run = 20}, early = {.run = 9}, none = {.run = UINT32_MAX};
    ledger_number_run(l.ledger, &late);
    ledger_number_run(l.ledger, &early);
    ledger_number_run(l.ledger, &none);
    assert_int_equal(late.run, UINT32_MAX); /* no number is better than a wrong one */
    assert_int_equal(early.run, 9);
    assert_int_equal(none.run, UINT32_MAX);
    ledger_lab_deinit(&l);
}

/* More calls than are listed: the first ones are, and how many there are is said. */
static void test_bound_of_calls(void **state)
{
    (void)state;
    struct ledger_lab l;
    struct known_calls calls;
    explore(&l, "examples/corpus/cinema-1.yaml");
    struct run run = {.number = l.runs.n + 1, .verdict = {.pass = true}};
    trace_copy(&l.runs.at[0].trace, &run.trace);
    struct call call = run.trace.calls.at[1];
    struct element element = *uid_element(&l.lab.names, call.uid);
    uint32_t before = run.trace.calls.n;
    for (uint32_t i = 1; i <= LEDGER_CALLS_MAX; i++) {
        element.n = i;
        call.uid = names_uid(&l.lab.names, run.trace.calls.at[0].uid,
                             names_element(&l.lab.names, element));
        vec_push(&run.trace.calls, call);
    }
    for (int i = 0; i < 2; i++) {
        ledger_event(l.ledger, &(struct event){.type = EVENT_RUN, .run = &run});
        ledger_calls(l.ledger, &calls);
        assert_int_equal(calls.n, LEDGER_CALLS_MAX);
        assert_int_equal(calls.total, LEDGER_CALLS_MAX + before);
        vec_deinit(&calls);
    }
    vec_deinit(&run.trace.calls);
    ledger_lab_deinit(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),         cmocka_unit_test(test_flags),
        cmocka_unit_test(test_pages),         cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_calls),         cmocka_unit_test(test_median),
        cmocka_unit_test(test_bound_of_runs), cmocka_unit_test(test_bound_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
