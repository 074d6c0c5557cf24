/* SPDX-License-Identifier: Apache-2.0
 *
 * A report for browsers: the page (ui/), and all documents that it shows (document.h), in one file
 * that asks nobody for anything.
 *
 *     page up to PAGE_MARK
 *     <script type="text/plain" id="outfox:report">base64 of what zlib made of the document</script>
 *     ... one for each document
 *     the rest of the page
 *
 * 1. Text of others is in documents alone, and there it is base64: it can neither end an element nor
 *    begin one.
 * 2. Most of the file is what single runs did, page by page. Those are added, pages with a failed
 *    run first, as long as the file stays below FILE_MAX; what is left out is said in a document of
 *    its own, `left-out`. */
#include "page/html.h"

#include "base/pack.h"
#include "data/json.h"
#include "page/document.h"
#include "page/ledger.h"
#include "page/page.h"

enum { FILE_MAX = 14 * 1000 * 1000 };

/* What became of one document. */
enum added { ADDED, ADDED_NOT, ADDED_TOO_LARGE };

struct file {
    const struct report_source *source;
    size_t most; /* bytes */
    struct buf *out;
    struct buf json, packed, name; /* of the document at hand */
    VEC(const char *) unreadable;  /* documents that could not be made, and why */
    VEC(uint64_t) left_out;        /* pages, by scenario */
    struct arena arena;
};

/* Puts in what f->json holds, unless the file would be larger than `most`. */
static enum added add_json(struct file *f, size_t most)
{
    buf_clear(&f->packed);
    pack_deflate(buf_slice(&f->json), &f->packed);
    size_t size = (f->packed.n + 2) / 3 * 4 + DOCUMENT_NAME_MAX;
    if (f->out->n + size > most)
        return ADDED_TOO_LARGE;
    buf_addf(f->out, "<script type=\"text/plain\" id=\"outfox:%s\">", buf_text(&f->name));
    pack_base64(buf_slice(&f->packed), f->out);
    buf_adds(f->out, "</script>\n");
    return ADDED;
}

static enum added add_document(struct file *f, const struct document_row *row,
                               const struct document_place *place, size_t most)
{
    struct err e = {0};
    buf_clear(&f->json);
    buf_clear(&f->name);
    document_name(row, place, &f->name);
    enum status status = document_print(f->source, buf_slice(&f->name), 0, &f->json, &e);
    if (status == STATUS_FAILED)
        vec_push(&f->unreadable, arena_printf(&f->arena, "%s: %s", buf_text(&f->name), e.text));
    return status == STATUS_OK ? add_json(f, most) : ADDED_NOT;
}

/* All but pages of runs: without these nothing is shown. */
static void add_whole(struct file *f)
{
    for (uint32_t i = 0; i < n_documents; i++) {
        const struct document_row *row = &document_rows[i];
        uint32_t scenarios = row->of == OF_CAMPAIGN ? 1 : row->of == OF_SCENARIO ? f->source->n : 0;
        for (uint32_t s = 0; s < scenarios; s++)
            (void)add_document(f, row, &(struct document_place){.scenario = s}, SIZE_MAX);
    }
}

/* ---- what single runs did ---- */

static const struct document_row *row_of_pages(void)
{
    for (uint32_t i = 0; i < n_documents; i++)
        if (document_rows[i].of == OF_PAGE)
            return &document_rows[i];
    return NULL;
}

/* Did a run of this page fail? */
static bool has_failed(const struct report_source *source, uint32_t scenario, uint32_t page)
{
    const struct ledger *l = source->ledger ? source->ledger(source->ctx, scenario) : NULL;
    return l && ledger_failed(l, page) > 0;
}

static void add_pages(struct file *f)
{
    const struct document_row *row = row_of_pages();
    for (int failed = 1; row && failed >= 0; failed--)
        for (uint32_t s = 0; s < f->source->n; s++)
            for (uint32_t p = 0; p < document_count(f->source, row, s); p++) {
                struct document_place place = {.scenario = s, .page = p};
                if (has_failed(f->source, s, p) == failed)
                    f->left_out.at[s] += add_document(f, row, &place, f->most) == ADDED_TOO_LARGE;
            }
}

/* Says what is missing, if anything is, and the command that shows it. */
static void add_left_out(struct file *f)
{
    struct json_out j = json_out(&f->json, JSON_COMPACT);
    const struct report_source *source = f->source;
    uint64_t n = f->unreadable.n;
    for (uint32_t s = 0; s < source->n; s++)
        n += f->left_out.at[s];
    if (!n)
        return;
    buf_clear(&f->json);
    buf_clear(&f->name);
    buf_adds(&f->name, "left-out");
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_uint(&j, "max_bytes", f->most);
    json_text(&j, "command", arena_printf(&f->arena, "outfox ui%s", source->scenarios[0]->replay));
    json_list(&j, "scenarios");
    for (uint32_t s = 0; s < source->n; s++) {
        json_map(&j, NULL);
        json_text(&j, "scenario", source->scenarios[s]->scenario);
        json_uint(&j, "pages", row_of_pages() ? document_count(source, row_of_pages(), s) : 0);
        json_uint(&j, "left_out", f->left_out.at[s]);
        json_map_end(&j);
    }
    json_list_end(&j);
    json_list(&j, "unreadable");
    for (uint32_t i = 0; i < f->unreadable.n; i++)
        json_text(&j, NULL, f->unreadable.at[i]);
    json_list_end(&j);
    json_map_end(&j);
    (void)add_json(f, SIZE_MAX);
}

/* Cuts the page where documents belong. */
static void cut_page(slice page, slice *front, slice *back)
{
    const char *mark = memmem(page.p, page.n, PAGE_MARK, sizeof PAGE_MARK - 1);
    *front = (slice){page.p, mark ? (size_t)(mark - page.p) : page.n};
    *back = slice_from(page, mark ? front->n + sizeof PAGE_MARK - 1 : page.n);
}

void html_plan(slice document, struct buf *out)
{
    struct file f = {.out = out,
                     .json = BUF_INIT(SIZE_MAX),
                     .packed = BUF_INIT(SIZE_MAX),
                     .name = BUF_INIT(DOCUMENT_NAME_MAX)};
    slice front, back;
    cut_page(page_html, &front, &back);
    buf_add(out, front);
    buf_add(&f.json, document);
    buf_adds(&f.name, "plan-result");
    (void)add_json(&f, SIZE_MAX);
    buf_add(out, back);
    buf_deinit(&f.json);
    buf_deinit(&f.packed);
    buf_deinit(&f.name);
}

void html_compose(const struct report_source *source, slice page, size_t most, struct buf *out)
{
    struct file f = {.source = source,
                     .most = most,
                     .out = out,
                     .json = BUF_INIT(SIZE_MAX),
                     .packed = BUF_INIT(SIZE_MAX),
                     .name = BUF_INIT(DOCUMENT_NAME_MAX)};
    slice front, back;
    cut_page(page, &front, &back);
    for (uint32_t s = 0; s < source->n; s++)
        vec_push(&f.left_out, 0);
    buf_add(out, front);
    add_whole(&f);
    add_pages(&f);
    add_left_out(&f);
    buf_add(out, back);
    buf_deinit(&f.json);
    buf_deinit(&f.packed);
    buf_deinit(&f.name);
    vec_deinit(&f.unreadable);
    vec_deinit(&f.left_out);
    arena_deinit(&f.arena);
}

void html_report(const struct report_source *source, struct buf *out)
{
    html_compose(source, page_html, FILE_MAX, out);
}
