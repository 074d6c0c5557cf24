/* SPDX-License-Identifier: Apache-2.0
 *
 * The earlier campaign, from a file that may hold anything: a JSON document, or an HTML report, of
 * which one document is taken out. */
#include "base/pack.h"
#include "report/compare.h"
#include "report/report.h"

#define MARK "id=\"outfox:report\">"

/* Where `what` is in the text; its length: nowhere. */
static size_t find(slice text, slice what)
{
    const char *at = memmem(text.p, text.n, what.p, what.n);
    return at ? (size_t)(at - text.p) : text.n;
}

/* The document in an HTML report. STATUS_NONE: it is none. */
static enum status unpack(struct arena *a, const char *file, slice html, slice *out, struct err *e)
{
    struct buf packed = BUF_INIT(JSON_BYTES_MAX), text = BUF_INIT(JSON_BYTES_MAX);
    size_t at = find(html, SLICE(MARK));
    if (at == html.n)
        return STATUS_NONE;
    html = slice_from(html, at + SLICE(MARK).n);
    html.n = slice_find(html, '<');
    int failed = pack_base64_decode(slice_trim(html), &packed) ||
                 pack_inflate(buf_slice(&packed), PACK_ZLIB, &text);
    buf_deinit(&packed);
    *out = buf_keep(&text, a);
    if (failed)
        return err_set(e, 0, 0, "%s is an HTML report that is damaged; make another one", file);
    return STATUS_OK;
}

/* ---- what is not needed of a document ----
 *
 * Calls of single runs are not compared. They can be deeper and more than a reader of JSON takes, so
 * they are left out before it is read: `trace` and `without_faults` become null. What is no JSON
 * remains none. */

/* Behind the string that begins at i, or the end. */
static size_t skip_string(slice text, size_t i)
{
    for (i++; i < text.n && text.p[i] != '"'; i++)
        i += text.p[i] == '\\';
    return i < text.n ? i + 1 : text.n;
}

/* Behind the object that begins at i, or the end. */
static size_t skip_object(slice text, size_t i)
{
    size_t depth = 0;
    while (i < text.n) {
        char c = text.p[i];
        depth += c == '{' ? 1 : 0;
        depth -= c == '}' ? 1 : 0;
        i = c == '"' ? skip_string(text, i) : i + 1;
        if (!depth)
            return i;
    }
    return text.n;
}

static size_t skip_blanks(slice text, size_t i)
{
    while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\n'))
        i++;
    return i;
}

static void without_traces(slice text, struct buf *out)
{
    size_t from = 0, i = 0; /* what is in between was looked at and stays */
    while (i < text.n) {
        if (text.p[i] != '"') {
            i++;
            continue;
        }
        size_t end = skip_string(text, i);
        slice name = {text.p + i, end - i};
        bool run = slice_is(name, "\"trace\"") || slice_is(name, "\"without_faults\"");
        i = skip_blanks(text, end);
        if (!run || i == text.n || text.p[i] != ':')
            continue;
        i = skip_blanks(text, i + 1);
        if (i == text.n || text.p[i] != '{')
            continue;
        buf_add(out, (slice){text.p + from, i - from});
        buf_adds(out, "null");
        i = from = skip_object(text, i);
    }
    buf_add(out, slice_from(text, from));
}

/* ---- the document ---- */

/* NULL, or what the value is instead of a report. */
static const char *flaw(const struct node *value)
{
    const struct node *scenarios = node_get(value, SLICE("scenarios"));
    if (!scenarios || scenarios->type != NODE_LIST || !node_get(value, SLICE("verdict")))
        return "is no report of a campaign";
    for (uint32_t i = 0; i < scenarios->n; i++)
        if (!node_get(scenarios->list[i], SLICE("findings")))
            return "is no report of a campaign";
    return NULL;
}

int compare_read(struct arena *a, const char *file, slice bytes, const struct node **out,
                 struct err *e)
{
    static const char remedy[] = "make one with outfox report --json FILE or --html FILE";
    slice text = slice_trim(bytes);
    struct buf less = BUF_INIT(JSON_BYTES_MAX);
    enum status html = STATUS_NONE;
    if (slice_starts(text, SLICE("SQLite format 3")))
        return err_set(e, 0, 0,
                       "%s is a stored campaign, not a report of it: make one with outfox report "
                       "--store %s --json FILE",
                       file, file);
    if (slice_starts(text, SLICE("<")))
        html = unpack(a, file, text, &text, e);
    if (html == STATUS_FAILED)
        return -1;
    without_traces(text, &less);
    if (less.full)
        return err_set(e, 0, 0,
                       "%s is too large to be compared with: more than %d MB without calls", file,
                       JSON_BYTES_MAX >> 20);
    if (node_parse_json(a, buf_keep(&less, a), out))
        return err_set(
            e, 0, 0,
            "%s is no report: it is neither JSON nor HTML of outfox, or it is cut short; %s", file,
            remedy);
    const char *wrong = flaw(*out);
    const struct node *version = node_get(*out, SLICE("schema_version"));
    if (version && version->type == NODE_NUM && version->num > REPORT_SCHEMA_VERSION)
        return err_set(e, 0, 0,
                       "%s has schema_version %.*s, but this outfox reads %d: use the outfox that "
                       "wrote it, or a later one",
                       file, SHORT(version->text), REPORT_SCHEMA_VERSION);
    if (wrong || !version || version->type != NODE_NUM || version->num < REPORT_SCHEMA_VERSION)
        return err_set(e, 0, 0, "%s %s; %s", file, wrong ? wrong : "is no report of a campaign",
                       remedy);
    return 0;
}
