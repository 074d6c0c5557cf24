/* SPDX-License-Identifier: Apache-2.0
 *
 * Documents by their names: which there are, and that nothing else is taken for one. */
#include "page/document.h"
#include "support/report_desk.h"
#include "support/unit.h"

static void test_names(void **state)
{
    (void)state;
    struct document_place place;
    for (uint32_t i = 0; i < n_documents; i++) {
        struct buf name = BUF_INIT(DOCUMENT_NAME_MAX);
        struct document_place there = {.scenario = 4294967295u, .page = 17};
        document_name(&document_rows[i], &there, &name);
        assert_false(name.full);
        assert_ptr_equal(document_find(buf_slice(&name), &place), &document_rows[i]);
        assert_int_equal(place.scenario, document_rows[i].of == OF_CAMPAIGN ? 0 : there.scenario);
        assert_int_equal(place.page, document_rows[i].of == OF_PAGE ? 17 : 0);
        buf_deinit(&name);
    }
    static const char *const none[] = {"",         "/",         "repor",     "report/",
                                       "report/0", "Report",    "report/0/", "report ",
                                       "runs/-1",  "runs/01",   "runs/",     "runs/0/1/2",
                                       "runs/0/",  "runs/ 0/1", "../report", "runs/4294967296"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(document_find(slice_of(none[i]), &place));
}

/* A source without what it takes says so, and prints nothing. */
static void test_missing(void **state)
{
    (void)state;
    struct desk d;
    struct buf out = BUF_INIT(SIZE_MAX);
    struct err e = {0};
    desk_init(&d);
    assert_int_equal(document_print(&d.source, SLICE("dependencies"), 0, &out, &e), STATUS_NONE);
    assert_int_equal(document_print(&d.source, SLICE("oracles"), 0, &out, &e), STATUS_NONE);
    assert_int_equal(document_print(&d.source, SLICE("nothing"), 0, &out, &e), STATUS_NONE);
    assert_int_equal(out.n, 0);
    buf_deinit(&out);
    desk_deinit(&d);
}

static void test_same_as_printed(void **state)
{
    (void)state;
    struct desk d;
    struct buf out = BUF_INIT(SIZE_MAX), modes = BUF_INIT(SIZE_MAX);
    struct err e = {0};
    desk_init(&d);
    assert_int_equal(document_print(&d.source, SLICE("report"), 0, &out, &e), STATUS_OK);
    assert_string_equal(buf_text(&out), desk_print(&d, report_campaign_json));
    buf_clear(&out);
    assert_int_equal(document_print(&d.source, SLICE("modes"), 0, &out, &e), STATUS_OK);
    report_modes_json(&modes);
    assert_string_equal(buf_text(&out), buf_text(&modes));
    buf_deinit(&modes);
    buf_deinit(&out);
    desk_deinit(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_same_as_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
