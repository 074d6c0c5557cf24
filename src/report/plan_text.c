/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a plan, for people: of each run a picture of characters, what clients saw over time
 * with the faults as bands below it, then what is expected; at the end the verdict, and what to do
 * next. */
#include <math.h>
#include <stdio.h>

#include "report/plan_int.h"
#include "report/words.h"

enum {
    COLUMNS = 60,
    BANDS_MOST = 30,   /* faults that are drawn */
    LINES_MOST = 5,    /* new lines that are quoted */
    RUNS_FULL = 20,    /* runs that are told in full; of further ones only those that do not hold */
    TEXT_BYTES = 1000, /* of a sentence */
};

/* A row of the picture: a name, a cell for each column, and what else there is to say. */
static void add_row(struct buf *out, slice name, const char *cells, const char *more)
{
    slice shown = {name.p, name.n < 16 ? name.n : 16};
    buf_addf(out, "    %-16.*s |%s|%s%s\n", SLICE_ARG(shown), cells, *more ? " " : "", more);
}

/* The axis: its beginning, its middle and its end. */
static void draw_axis(const struct node *run, uint32_t width, struct buf *out)
{
    double from = doc_number(run, "from_ms"), to = doc_number(run, "to_ms");
    uint32_t at = 0;
    buf_addf(out, "    %-16s  ", "");
    for (uint32_t i = 0; i < 3; i++) {
        struct buf text = BUF_INIT(40);
        doc_add_ms(&text, from + (to - from) * i / 2);
        uint32_t wanted = i == 0           ? 0
                          : i == 1         ? width / 2
                          : width > text.n ? width - (uint32_t)text.n
                                           : 0;
        for (; at < wanted; at++)
            buf_addc(out, ' ');
        buf_add(out, buf_slice(&text));
        at += (uint32_t)text.n;
        buf_deinit(&text);
    }
    buf_addc(out, '\n');
}

struct picture {
    uint32_t width;
    double ok[COLUMNS], failed[COLUMNS], slow[COLUMNS];
};

/* The columns of the document, several in one. */
static void take_columns(const struct node *series, struct picture *p)
{
    *p = (struct picture){.width = series->n < COLUMNS ? series->n : COLUMNS};
    for (uint32_t i = 0; i < series->n; i++) {
        const struct node *column = series->list[i];
        uint32_t k = (uint32_t)((uint64_t)i * p->width / series->n);
        p->ok[k] += doc_number(column, "ok");
        p->failed[k] += doc_number(column, "failed");
        p->slow[k] = fmax(p->slow[k], doc_number(column, "p99_ms"));
    }
}

/* The heights of the values, of which the highest is returned. */
static double draw_heights(const double *values, uint32_t n, char cells[COLUMNS + 1])
{
    static const char heights[] = " .:-=+*#";
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, values[i]);
    for (uint32_t i = 0; i < n; i++)
        cells[i] = heights[most > 0 && values[i] > 0 ? (int)ceil(values[i] * 7 / most) : 0];
    cells[n] = 0;
    return most;
}

static void draw_operations(const struct node *run, const struct picture *p, struct buf *out)
{
    char cells[COLUMNS + 1];
    struct buf more = BUF_INIT(200);
    double operations = doc_number(run, "operations"), failures = doc_number(run, "failures");
    double each_s = (doc_number(run, "to_ms") - doc_number(run, "from_ms")) / 1e3 / p->width;
    double most = draw_heights(p->ok, p->width, cells);
    buf_addf(&more, "%.0f", operations - failures);
    if (each_s > 0 && most > 0)
        buf_addf(&more, ", # is %.*f/s", most / each_s < 10 ? 1 : 0, most / each_s);
    add_row(out, SLICE("succeeded"), cells, buf_text(&more));
    for (uint32_t i = 0; i < p->width; i++)
        cells[i] = p->failed[i] > 0 ? 'x' : ' ';
    buf_clear(&more);
    buf_addf(&more, "%.0f", failures);
    add_row(out, SLICE("failed"), cells, buf_text(&more));
    buf_clear(&more);
    most = draw_heights(p->slow, p->width, cells);
    if (most > 0) {
        buf_adds(&more, "# is ");
        doc_add_ms(&more, most);
        add_row(out, SLICE("latency, p99"), cells, buf_text(&more));
    }
    buf_deinit(&more);
}

static void draw_fault(const struct node *run, const struct node *fault, uint32_t width,
                       struct buf *out)
{
    double from = doc_number(run, "from_ms"), span = doc_number(run, "to_ms") - from;
    double begin = doc_number(fault, "begin_ms"), end = doc_number(fault, "end_ms");
    double operations = doc_number(fault, "operations");
    const struct node *nodes = doc_list(fault, "nodes");
    char cells[COLUMNS + 1];
    struct buf more = BUF_INIT(TEXT_BYTES);
    for (uint32_t i = 0; i < width; i++)
        cells[i] =
            begin < from + span * (i + 1) / width && end >= from + span * i / width ? '=' : ' ';
    cells[width] = 0;
    for (uint32_t i = 0; i < nodes->n; i++) {
        buf_adds(&more, i ? ", " : "");
        buf_add(&more, nodes->list[i]->text);
    }
    if (node_get(fault, SLICE("packets")))
        buf_addf(&more, "%s%.0f packets", more.n ? ", " : "", doc_number(fault, "packets"));
    if (operations > 0)
        buf_addf(&more, "%smeanwhile %.0f of %.0f failed", more.n ? "; " : "",
                 doc_number(fault, "failures"), operations);
    add_row(out, doc_text(fault, "event"), cells, buf_text(&more));
    buf_deinit(&more);
}

/* Successes and latency as heights, failures as marks, faults as bands. */
static void draw(const struct node *run, struct buf *out)
{
    const struct node *faults = doc_list(run, "faults");
    struct picture p;
    uint32_t left_out = 0, drawn = 0;
    take_columns(doc_list(run, "series"), &p);
    if (!p.width)
        return;
    draw_axis(run, p.width, out);
    draw_operations(run, &p, out);
    for (uint32_t i = 0; i < faults->n; i++) {
        if (doc_text(faults->list[i], "failed").n)
            continue;
        if (drawn++ < BANDS_MOST)
            draw_fault(run, faults->list[i], p.width, out);
        else
            left_out++;
    }
    if (left_out)
        buf_addf(out, "    ... and %u more %s\n", left_out, plural(left_out, "fault", "faults"));
}

/* ---- a run ---- */

static void print_latency(const struct node *run, struct buf *out)
{
    static const char *const rows[][2] = {
        {"p50_ms", "p50"}, {"p95_ms", "p95"}, {"p99_ms", "p99"}, {"max_ms", "max"}};
    const struct node *latency = node_get(run, SLICE("latency"));
    if (!latency || latency->type != NODE_MAP)
        return;
    buf_adds(out, "  latency:");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_addf(out, "%s %s ", i ? "," : "", rows[i][1]);
        doc_add_ms(out, doc_number(latency, rows[i][0]));
    }
    buf_addc(out, '\n');
}

static void print_answers(const struct node *run, const struct style *style, struct buf *out)
{
    static const char *const words[] = {"holds   ", "VIOLATED", "not sure"};
    const char *const colours[] = {style->green, style->red, style->yellow};
    const struct node *answers = doc_list(run, "expectations");
    for (uint32_t i = 0; i < answers->n; i++) {
        enum answer_verdict v = doc_answer(answers->list[i]);
        slice name = doc_text(answers->list[i], "name"), seen = doc_text(answers->list[i], "seen");
        buf_addf(out, "  %s%s%s  %.*s: %.*s\n", colours[v], words[v], style->off, SLICE_ARG(name),
                 SLICE_ARG(seen));
    }
}

/* What happened that nobody ordered, and lines that are new. */
static void print_events(const struct node *run, struct buf *out)
{
    const struct node *deaths = doc_list(run, "deaths"), *lines = doc_list(run, "new_lines");
    for (uint32_t i = 0; i < deaths->n && i < LINES_MOST; i++) {
        slice node = doc_text(deaths->list[i], "node"), how = doc_text(deaths->list[i], "how");
        buf_addf(out, "  %.*s ended by itself (%.*s) at ", SLICE_ARG(node), SLICE_ARG(how));
        doc_add_ms(out, doc_number(deaths->list[i], "at_ms"));
        buf_addc(out, '\n');
    }
    for (uint32_t i = 0; i < lines->n && i < LINES_MOST; i++) {
        slice by = doc_text(lines->list[i], "by"), text = doc_text(lines->list[i], "text");
        buf_adds(out, "  new line at ");
        doc_add_ms(out, doc_number(lines->list[i], "at_ms"));
        buf_addf(out, ", %.*s: %.*s\n", SLICE_ARG(by), SLICE_ARG(text));
    }
    if (lines->n > LINES_MOST)
        buf_addf(out, "  ... and %u more\n", lines->n - LINES_MOST);
}

/* Collectors that failed, and samples for which there was no room. */
static void print_collectors(const struct node *run, struct buf *out)
{
    const struct node *all = doc_list(run, "collectors"), *measures = doc_list(run, "measures");
    double left_out = doc_number(run, "measures_left_out");
    for (uint32_t i = 0; i < all->n; i++) {
        double failed = doc_number(all->list[i], "failed");
        slice name = doc_text(all->list[i], "name"), why = doc_text(all->list[i], "why");
        if (failed > 0)
            buf_addf(
                out,
                "  collector %.*s: %.0f of %.0f times without a sample, the first time: %.*s\n",
                SLICE_ARG(name), failed, doc_number(all->list[i], "tries"), SLICE_ARG(why));
        else if (!(doc_number(all->list[i], "samples") > 0))
            buf_addf(out, "  collector %.*s: no sample\n", SLICE_ARG(name));
    }
    for (uint32_t i = 0; i < measures->n; i++)
        left_out += doc_number(measures->list[i], "left_out");
    if (left_out > 0)
        buf_addf(
            out,
            "  %.0f samples came for which there was no room (%d figures, %d samples of each)\n",
            left_out, PLAN_SERIES_MAX, PLAN_SAMPLES_MAX);
}

/* What somebody looks at first who wonders why. */
static void print_first_failure(const struct node *run, struct buf *out)
{
    const struct node *first = node_get(run, SLICE("first_failure"));
    if (!first)
        return;
    slice client = doc_text(first, "client"), said = doc_text(first, "said");
    buf_adds(out, "  first failure at ");
    doc_add_ms(out, doc_number(first, "at_ms"));
    buf_addf(out, ", %.*s: %.*s\n", SLICE_ARG(client),
             SLICE_ARG(said.n ? said : SLICE("it said nothing")));
}

static void print_run(const struct node *run, const struct style *style, struct buf *out)
{
    bool holds = doc_bool(run, "holds");
    slice name = doc_text(run, "name"), broken = doc_text(run, "broken"),
          dir = doc_text(run, "dir");
    struct buf why = BUF_INIT(TEXT_BYTES), doubts = BUF_INIT(10 * TEXT_BYTES);
    for (uint32_t i = 0; doc_failed_fault(run, &i, &why);) {
        buf_addf(&doubts, "  %snot sure%s  %s\n", style->yellow, style->off, buf_text(&why));
        buf_clear(&why);
    }
    buf_addf(out, "%s%.*s%s, %s: %s%s%s\n", style->bold, SLICE_ARG(name), style->off,
             doc_faulty(run) ? "with the faults" : "without faults",
             holds ? style->green : style->red,
             broken.n ? "not carried out"
             : holds  ? "all holds"
                      : "NOT AS EXPECTED",
             style->off);
    if (broken.n)
        buf_addf(out, "    %.*s\n", SLICE_ARG(broken));
    else
        draw(run, out);
    buf_add(out, buf_slice(&doubts));
    print_answers(run, style, out);
    if (!broken.n) {
        print_first_failure(run, out);
        print_events(run, out);
        print_latency(run, out);
        print_collectors(run, out);
    }
    if (doc_bool(run, "truncated"))
        buf_adds(out, "  more operations or lines came than are kept; the rest was left out\n");
    if (dir.n)
        buf_addf(out, "  logs and history: %.*s\n", SLICE_ARG(dir));
    buf_deinit(&why);
    buf_deinit(&doubts);
}

/* ---- the whole ---- */

static void print_end(const struct node *doc, const struct style *style, struct buf *out)
{
    enum plan_verdict verdict = plan_document_verdict(doc);
    const char *const colours[] = {[PLAN_HOLDS] = style->green,
                                   [PLAN_VIOLATED] = style->red,
                                   [PLAN_UNSURE] = style->yellow,
                                   [PLAN_SICK] = style->red};
    struct buf names = BUF_INIT(TEXT_BYTES);
    slice name = doc_text(doc, "plan"), command = doc_text(doc, "command");
    doc_violated(doc, verdict == PLAN_VIOLATED, &names);
    buf_addf(out, "%s%.*s: %s%s", colours[verdict], SLICE_ARG(name), doc_sentence(doc), style->off);
    if (names.n && verdict != PLAN_HOLDS)
        buf_addf(out, " (%s)", buf_text(&names));
    buf_adds(out, "; took ");
    doc_add_ms(out, doc_number(doc, "took_ms"));
    buf_addf(out, "\n  over time: outfox plan report %.*s --html report.html\n", SLICE_ARG(name));
    if (verdict != PLAN_HOLDS)
        buf_addf(out, "  again:     %.*s\n", SLICE_ARG(command));
    buf_deinit(&names);
}

void plan_document_text(const struct node *doc, const struct style *style, struct buf *out)
{
    const struct node *runs = doc_list(doc, "runs");
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < runs->n; i++) {
        if (i >= RUNS_FULL && doc_bool(runs->list[i], "holds")) {
            left_out++;
            continue;
        }
        print_run(runs->list[i], style, out);
        buf_addc(out, '\n');
    }
    if (left_out)
        buf_addf(out, "%u more %s, in which all holds\n\n", left_out,
                 plural(left_out, "run", "runs"));
    print_end(doc, style, out);
}

void plan_print_text(const struct plan_result *r, const struct style *style, struct buf *out)
{
    struct arena a = {0};
    struct buf json = BUF_INIT(SIZE_MAX);
    const struct node *doc;
    slice ignored;
    struct err e = {0};
    plan_print_json(r, "", &json);
    if (plan_document_read(&a, "the result", buf_keep(&json, &a), &doc, &ignored, &e))
        buf_adds(out, e.text);
    else
        plan_document_text(doc, style, out);
    arena_deinit(&a);
}
