/* SPDX-License-Identifier: Apache-2.0
 *
 * page/html: documents come back as they were printed, in the place of the mark; pages of runs are
 * left out where there is no room, those with a failed run last, and that is said. */
#include "page/html.h"

#include "base/pack.h"
#include "data/json.h"
#include "page/document.h"
#include "page/ledger.h"
#include "page/page.h"
#include "support/report_desk.h"
#include "support/unit.h"

#define FRONT "<html>"
#define BACK  "</html>"

enum { PAGES = 6, FAILED_PAGE = 4 };

static const slice page = {FRONT PAGE_MARK BACK, sizeof FRONT PAGE_MARK BACK - 1};

/* ---- a campaign with runs ---- */

/* A desk whose source can tell of its runs. */
struct book {
    struct desk d;
    struct ledger *ledger;
    bool unreadable;
};

static const struct ledger *ledger_of_book(void *ctx, uint32_t scenario)
{
    (void)scenario;
    return ((struct book *)ctx)->ledger;
}

static int runs_from(void *ctx, uint32_t scenario, uint64_t number, report_each each,
                     void *each_ctx)
{
    struct book *b = ctx;
    struct err ignored = {0};
    (void)scenario;
    for (uint32_t i = (uint32_t)number - 1; i < b->d.runs.n && !b->unreadable; i++)
        if (each(each_ctx, &b->d.runs.at[i], &ignored))
            break;
    return b->unreadable ? -1 : 0;
}

/* PAGES pages of runs, of which one fails. */
static void book_init(struct book *b)
{
    static const struct desk_call calls[DESK_CALLS] = {{"a /", "200", NULL},
                                                       {"a / > b /", "500", "500"}};
    *b = (struct book){0};
    desk_init(&b->d);
    b->ledger = ledger_new(&b->d.names, &b->d.fl);
    b->d.source.ctx = b;
    b->d.source.run_of = NULL;
    b->d.source.each_run = NULL;
    b->d.source.ledger = ledger_of_book;
    b->d.source.runs_from = runs_from;
    b->d.summary.replay = " shop.yaml";
    faultload f = desk_load(&b->d, "a / > b / : 500");
    for (uint32_t i = 0; i < PAGES * DOCUMENT_PAGE; i++) {
        bool fails = i == FAILED_PAGE * DOCUMENT_PAGE + 7;
        struct run *run = desk_run(&b->d, f, fails ? "it broke" : NULL, calls);
        run->took_ns = (int64_t)i * 7919 % 1000000007; /* not all alike */
        struct event event = {.type = EVENT_RUN, .run = run, .counted = COUNTED_RUN};
        ledger_event(b->ledger, &event);
    }
}

static void book_deinit(struct book *b)
{
    ledger_free(b->ledger);
    desk_deinit(&b->d);
}

/* The document of this name, as it is in the report; NULL: it is not there. */
static const char *unpack(struct book *b, const struct buf *html, const char *name)
{
    const char *mark =
        arena_printf(&b->d.text, "<script type=\"text/plain\" id=\"outfox:%s\">", name);
    const char *at = strstr(buf_text(html), mark);
    if (!at)
        return NULL;
    slice text = slice_of(at + strlen(mark));
    struct buf packed = BUF_INIT(SIZE_MAX), plain = BUF_INIT(SIZE_MAX);
    text.n = slice_find(text, '<');
    assert_int_equal(pack_base64_decode(text, &packed), 0);
    assert_int_equal(pack_inflate(buf_slice(&packed), PACK_ZLIB, &plain), 0);
    buf_deinit(&packed);
    return buf_keep(&plain, &b->d.text).p;
}

static bool has_page(struct book *b, const struct buf *html, uint32_t p)
{
    return unpack(b, html, arena_printf(&b->d.text, "runs/0/%u", (unsigned)p)) != NULL;
}

/* ---- tests ---- */

static void test_all(void **state)
{
    static const char *const names[] = {"report",   "handlers/0", "runs/0",
                                        "runs/0/0", "runs/0/5",   "modes"};
    struct book b;
    struct buf html = BUF_INIT(SIZE_MAX);
    (void)state;
    book_init(&b);
    html_compose(&b.d.source, page, SIZE_MAX, &html);
    assert_true(slice_starts(buf_slice(&html), SLICE(FRONT "<script type=")));
    assert_string_equal(html.p + html.n - strlen("</script>\n" BACK), "</script>\n" BACK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buf printed = BUF_INIT(SIZE_MAX);
        struct err e = {0};
        assert_int_equal(document_print(&b.d.source, slice_of(names[i]), 0, &printed, &e), 0);
        assert_string_equal(unpack(&b, &html, names[i]), buf_text(&printed));
        buf_deinit(&printed);
    }
    assert_int_equal(text_count(buf_text(&html), "id=\"outfox:runs/0/"), PAGES);
    assert_null(unpack(&b, &html, "left-out"));
    buf_deinit(&html);
    book_deinit(&b);
}

/* From no page at all to all of them. */
static void test_budget(void **state)
{
    struct book b;
    struct buf whole = BUF_INIT(SIZE_MAX);
    uint32_t last = 0;
    (void)state;
    book_init(&b);
    html_compose(&b.d.source, page, SIZE_MAX, &whole);
    for (size_t most = 0; most <= whole.n + 1000; most += 500) {
        struct buf html = BUF_INIT(SIZE_MAX);
        uint32_t n = 0;
        html_compose(&b.d.source, page, most, &html);
        for (uint32_t p = 0; p < PAGES; p++)
            n += has_page(&b, &html, p);
        assert_true(n >= last);
        assert_non_null(unpack(&b, &html, "runs/0")); /* whatever the bound is */
        if (n)
            assert_true(has_page(&b, &html, FAILED_PAGE));
        const char *left = unpack(&b, &html, "left-out");
        assert_int_equal(left != NULL, n < PAGES);
        if (n)
            assert_true(html.n <= most + 2000); /* what is left out is said on top */
        if (left) {
            assert_has(left, "\"command\":\"outfox ui shop.yaml\"");
            assert_has(left, arena_printf(&b.d.text, "\"pages\":%d,\"left_out\":%u}", PAGES,
                                          (unsigned)(PAGES - n)));
        }
        last = n;
        buf_deinit(&html);
    }
    assert_int_equal(last, PAGES);
    buf_deinit(&whole);
    book_deinit(&b);
}

/* What cannot be read is missing, and that is said: the rest is there. */
static void test_unreadable(void **state)
{
    struct book b;
    struct buf html = BUF_INIT(SIZE_MAX);
    (void)state;
    book_init(&b);
    b.unreadable = true;
    html_compose(&b.d.source, page, SIZE_MAX, &html);
    assert_non_null(unpack(&b, &html, "report"));
    assert_null(unpack(&b, &html, "runs/0/0"));
    assert_has(unpack(&b, &html, "left-out"), "\"unreadable\":[\"runs/0/4: ");
    buf_deinit(&html);
    book_deinit(&b);
}

/* Whatever a system calls itself, it is no part of the page. */
static void test_hostile(void **state)
{
    struct book b;
    struct buf html = BUF_INIT(SIZE_MAX);
    (void)state;
    book_init(&b);
    b.d.summary.scenario = b.d.source.system = "</script><!--<script>" PAGE_MARK;
    html_compose(&b.d.source, page, SIZE_MAX, &html);
    uint32_t scripts = text_count(buf_text(&html), "<script");
    assert_int_equal(text_count(buf_text(&html), "<script type=\"text/plain\" id=\"outfox:"),
                     scripts);
    assert_int_equal(text_count(buf_text(&html), "</script>\n"), scripts);
    assert_int_equal(text_count(buf_text(&html), "<"), 2 * scripts + 2); /* and FRONT, BACK */
    assert_has(unpack(&b, &html, "report"), "</script><!--<script>");
    buf_deinit(&html);
    book_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
