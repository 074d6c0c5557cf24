/* SPDX-License-Identifier: Apache-2.0
 *
 * Markdown for the summary of a CI job. GitHub refuses one of more than 1 MiB, so findings that do
 * not fit are left out, as a whole, and counted. */
#include "report/campaign_int.h"
#include "report/escape.h"
#include "report/remarks_int.h"
#include "report/text_int.h"
#include "report/tree_int.h"
#include "report/words.h"

enum {
    DOCUMENT_MAX = 900 * 1000,
    FINDING_MAX = 40 * 1000,
    FIGURES_MAX = 20 * 1000,
    SENTENCE_MAX = 2000,
    ROWS_MAX = 200,
    CALLS_MAX = 60,
    NOTES_MAX = 50,
    WARNINGS_MAX = 50
};

/* A sentence: bounded, and one line. */
static void add_sentence(struct buf *out, const char *text)
{
    struct buf escaped = BUF_INIT(SENTENCE_MAX);
    escape_markdown(slice_of(text), &escaped);
    buf_add(out, buf_slice(&escaped));
    if (escaped.full)
        buf_adds(out, " ...");
    buf_deinit(&escaped);
}

static void add_warnings(struct buf *out, const struct summary *s)
{
    struct buf text = BUF_INIT(64);
    if (words_warnings(s, &text))
        buf_addf(out, ", %s", buf_text(&text));
    buf_deinit(&text);
}

static void add_verdict(struct buf *out, const struct summary *s)
{
    uint64_t n = summary_wrong(s) + s->more_findings;
    switch (summary_conclusion(s)) {
    case CONCLUSION_BROKEN:
        buf_adds(out, ":x: fails without any fault: ");
        add_sentence(out, s->broken);
        return;
    case CONCLUSION_FINDINGS:
        buf_addf(out, ":x: **%llu %s**", (unsigned long long)n, plural(n, "finding", "findings"));
        break;
    case CONCLUSION_INCONCLUSIVE:
        buf_adds(out, ":warning: inconclusive: ");
        add_sentence(out, words_unsure(s));
        break;
    case CONCLUSION_OK:
    case CONCLUSIONS: buf_adds(out, ":white_check_mark: no finding"); break;
    }
    add_warnings(out, s);
}

static void add_number(struct buf *out, double n)
{
    words_number(n, out);
}

static void add_table(struct buf *out, const struct report_source *source)
{
    buf_adds(out, "| scenario | verdict | runs | calls that can fail | combinations |\n"
                  "|---|---|--:|--:|--:|\n");
    for (uint32_t i = 0; i < source->n && i < ROWS_MAX; i++) {
        const struct summary *s = source->scenarios[i];
        buf_adds(out, "| ");
        add_sentence(out, s->scenario);
        buf_adds(out, " | ");
        add_verdict(out, s);
        buf_adds(out, " | ");
        add_number(out, (double)s->runs);
        buf_adds(out, " | ");
        add_number(out, s->points);
        buf_adds(out, " | ");
        add_number(out, s->space);
        buf_adds(out, " |\n");
    }
    if (source->n > ROWS_MAX)
        buf_addf(out, "| ... and %u more | | | | |\n", (unsigned)(source->n - ROWS_MAX));
    buf_addc(out, '\n');
}

/* How to go on; it is the same command for all that ended early. */
static void add_resume(struct buf *out, const struct report_source *source)
{
    for (uint32_t i = 0; i < source->n; i++) {
        const char *command = words_resume(source->scenarios[i]);
        if (!command)
            continue;
        buf_adds(out, "To go on from there:\n\n");
        escape_code(slice_of(command), "sh", out);
        buf_addc(out, '\n');
        return;
    }
}

static void add_words(struct buf *out, const char *before, const struct buf *text)
{
    buf_adds(out, before);
    add_sentence(out, buf_text(text));
    buf_addc(out, '\n');
}

static void add_details(struct buf *out, const char *title, slice text)
{
    struct buf code = BUF_INIT(FINDING_MAX);
    escape_code(text, "text", &code);
    if (!code.full)
        buf_addf(out, "\n<details><summary>%s</summary>\n\n%s\n</details>\n", title,
                 buf_text(&code));
    buf_deinit(&code);
}

static void add_heading(struct buf *out, const struct summary *s, const struct finding *f)
{
    struct buf id = BUF_INIT(SENTENCE_MAX);
    words_id(s, f, &id);
    buf_adds(out, "### Finding ");
    add_sentence(out, buf_text(&id));
    buf_adds(out, ": ");
    add_sentence(out, f->why);
    buf_addf(out, "\n\n%s, %s.\n\n", words_kind(f->kind), words_state(f->state));
    buf_deinit(&id);
}

static void add_finding(struct buf *out, const struct report_source *source, uint32_t scenario,
                        uint32_t i)
{
    const struct summary *s = source->scenarios[scenario];
    const struct finding *f = &s->findings.at[i];
    struct buf text = BUF_INIT(FINDING_MAX);
    struct report_runs runs;
    report_runs(source, scenario, f, &runs);
    add_heading(out, s, f);
    words_finding_runs(s, f, runs.plain, runs.seen, &text);
    add_words(out, "- **when** ", &text);
    buf_clear(&text);
    words_then(f, &text);
    if (text.n)
        add_words(out, "- **then** ", &text);
    if (f->detail) {
        buf_adds(out, "- ");
        add_sentence(out, f->detail);
        buf_addc(out, '\n');
    }
    buf_clear(&text);
    words_replay(s, f, &text);
    buf_addc(out, '\n');
    escape_code(buf_slice(&text), "sh", out);
    buf_clear(&text);
    if (runs.seen) {
        tree_text(runs.seen, s->names, CALLS_MAX, &text);
        add_details(out, "calls", buf_slice(&text));
    }
    if (f->log)
        add_details(out, "the end of the log", slice_of(f->log));
    buf_addc(out, '\n');
    report_runs_deinit(&runs);
    buf_deinit(&text);
}

static uint64_t add_findings(struct buf *out, const struct report_source *source, uint32_t scenario)
{
    const struct summary *s = source->scenarios[scenario];
    uint64_t left_out = s->more_findings;
    for (uint32_t i = 0; i < s->findings.n; i++) {
        struct buf one = BUF_INIT(4 * FINDING_MAX);
        add_finding(&one, source, scenario, i);
        if (one.full || out->n + one.n > DOCUMENT_MAX / 4 * 3)
            left_out++;
        else
            buf_add(out, buf_slice(&one));
        buf_deinit(&one);
    }
    return left_out;
}

/* ---- what oracles say ---- */

static void add_evidence(struct buf *out, const struct summary *s, const struct remark *r)
{
    struct buf text = BUF_INIT(FINDING_MAX);
    for (uint32_t i = 0; i < r->n_evidence; i++) {
        buf_clear(&text);
        words_evidence(s, r, i, &text);
        add_words(out, "- ", &text);
    }
    buf_deinit(&text);
}

/* One line within a tag, where Markdown means nothing. */
static void add_html(struct buf *out, slice text)
{
    struct buf line = BUF_INIT(SENTENCE_MAX), escaped = BUF_INIT(6 * SENTENCE_MAX);
    escape_line(text, &line);
    escape_xml(buf_slice(&line), &escaped);
    buf_add(out, buf_slice(&escaped));
    buf_deinit(&line);
    buf_deinit(&escaped);
}

/* A finding has a heading of its own, a warning is folded. */
static void add_remark(struct buf *out, const struct summary *s, const struct remark *r,
                       uint64_t number)
{
    bool finding = r->severity == SEVERITY_FINDING;
    struct buf text = BUF_INIT(FINDING_MAX);
    words_remark(r, &text);
    if (finding) {
        buf_addf(out, "### Finding %llu: ", (unsigned long long)number);
        add_sentence(out, buf_text(&text));
    } else {
        buf_adds(out, "<details><summary>");
        add_html(out, buf_slice(&text));
        buf_adds(out, "</summary>");
    }
    buf_clear(&text);
    words_remark_when(s, r, NULL, NULL, &text);
    add_words(out, "\n\n- **when** ", &text);
    add_evidence(out, s, r);
    buf_clear(&text);
    words_about(r, &text);
    add_words(out, "- about: ", &text);
    buf_clear(&text);
    words_remark_replay(s, r, &text);
    buf_addc(out, '\n');
    escape_code(buf_slice(&text), "sh", out);
    buf_adds(out, finding ? "\n" : "\n</details>\n\n");
    buf_deinit(&text);
}

/* How many are left out. */
static uint64_t add_remarks(struct buf *out, const struct summary *s, enum severity severity)
{
    bool finding = severity == SEVERITY_FINDING;
    uint64_t before = finding ? s->findings.n + s->more_findings : 0;
    struct remarks_shown shown;
    remarks_choose(s, severity, finding ? ROWS_MAX : WARNINGS_MAX, &shown);
    if (!finding && shown.n)
        buf_adds(out, "### Warnings\n\n");
    for (uint32_t i = 0; i < shown.n; i++) {
        struct buf one = BUF_INIT(4 * FINDING_MAX);
        add_remark(&one, s, &s->remarks.at[shown.at[i]], before + shown.number[i]);
        if (one.full || out->n + one.n > DOCUMENT_MAX / 4 * 3)
            shown.left_out++;
        else
            buf_add(out, buf_slice(&one));
        buf_deinit(&one);
    }
    return shown.left_out;
}

static void add_left_out(struct buf *out, uint64_t n, const char *one, const char *many)
{
    if (n)
        buf_addf(out, "... and %llu more %s.\n\n", (unsigned long long)n, plural(n, one, many));
}

static void add_notes(struct buf *out, const struct summary *s)
{
    for (uint32_t i = 0; i < s->notes.n && i < NOTES_MAX; i++) {
        buf_adds(out, "- ");
        add_sentence(out, s->notes.at[i]);
        buf_addc(out, '\n');
    }
    struct buf untried = BUF_INIT(4096);
    if (words_untried(s, &untried)) {
        buf_adds(out, "- Not tried: ");
        add_sentence(out, buf_text(&untried));
        buf_addc(out, '\n');
    }
    buf_deinit(&untried);
    if (s->broken && s->broken_detail) {
        buf_adds(out, "- ");
        add_sentence(out, s->broken_detail);
        buf_addc(out, '\n');
    }
    buf_addc(out, '\n');
}

static void add_reasons(struct buf *out, const struct summary *s)
{
    if (s->reasons.n)
        buf_adds(out, "### Not sure\n\nSome runs did not go as planned, so not everything was "
                      "tested.\n\n");
    for (uint32_t i = 0; i < s->reasons.n && i < NOTES_MAX; i++) {
        struct buf text = BUF_INIT(SENTENCE_MAX);
        words_reason_line(s, &s->reasons.at[i], &text);
        buf_addf(out, "%u. ", (unsigned)i + 1);
        add_sentence(out, buf_text(&text));
        buf_addc(out, '\n');
        buf_deinit(&text);
    }
    buf_adds(out, s->reasons.n ? "\n" : "");
}

/* How to see that it fails without faults. */
static void add_again(struct buf *out, const struct summary *s)
{
    struct buf command = BUF_INIT(FINDING_MAX);
    words_replay_faultload(s, FAULTLOAD_EMPTY, &command);
    escape_code(buf_slice(&command), "sh", out);
    buf_deinit(&command);
}

/* The figures of the summary for people. */
static void add_figures(struct buf *out, const struct summary *s)
{
    char *room = mem_zero(FIGURES_MAX + 1);
    FILE *stream = fmemopen(room, FIGURES_MAX, "w"); /* what does not fit is not there */
    if (stream) {
        if (!s->broken)
            text_what(s, stream);
        text_figures(s, stream);
        text_levels(s, stream);
        text_volatile(s, stream);
        fclose(stream);
        add_details(out, "figures", slice_of(room));
    }
    mem_free(room);
}

static void add_scenario(struct buf *out, const struct report_source *source, uint32_t scenario)
{
    struct buf one = BUF_INIT(DOCUMENT_MAX);
    const struct summary *s = source->scenarios[scenario];
    buf_adds(&one, "## ");
    add_sentence(&one, s->scenario);
    buf_adds(&one, ": ");
    add_verdict(&one, s);
    buf_adds(&one, "\n\n");
    add_notes(&one, s);
    if (s->broken)
        add_again(&one, s);
    uint64_t left_out = s->broken ? 0 : add_findings(&one, source, scenario);
    left_out += add_remarks(&one, s, SEVERITY_FINDING);
    add_left_out(&one, left_out, "finding", "findings");
    add_left_out(&one, add_remarks(&one, s, SEVERITY_WARNING), "warning", "warnings");
    add_reasons(&one, s);
    add_figures(&one, s);
    buf_addc(&one, '\n');
    if (!one.full && one.n <= out->max - out->n - SENTENCE_MAX)
        buf_add(out, buf_slice(&one));
    buf_deinit(&one);
}

void report_markdown(const struct report_source *source, FILE *out)
{
    struct buf text = BUF_INIT(DOCUMENT_MAX);
    buf_adds(&text, "# Outfox: ");
    add_sentence(&text, source->system);
    buf_adds(&text, "\n\n");
    add_table(&text, source);
    add_resume(&text, source);
    if (source->error) {
        buf_adds(&text, "> **It could not go on**: ");
        add_sentence(&text, source->error);
        buf_adds(&text, "\n\n");
    }
    for (uint32_t i = 0; i < source->n; i++)
        add_scenario(&text, source, i);
    buf_adds(&text, "<sub>outfox ");
    add_sentence(&text, source->version);
    buf_adds(&text, "</sub>\n");
    fwrite(buf_text(&text), 1, text.n, out);
    buf_deinit(&text);
}
