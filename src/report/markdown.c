/* SPDX-License-Identifier: Apache-2.0
 *
 * Markdown for the summary of a CI job. GitHub refuses one of more than 1 MiB, so findings that do
 * not fit are left out, as a whole, and counted. */
#include "report/card.h"
#include "report/compare.h"
#include "report/escape.h"
#include "report/requests.h"
#include "report/suite.h"
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
static void add_sentence(slice text, struct buf *out)
{
    struct buf escaped = BUF_INIT(SENTENCE_MAX);
    escape_markdown(text, &escaped);
    buf_add(out, buf_slice(&escaped));
    if (escaped.full)
        buf_adds(out, " ...");
    buf_deinit(&escaped);
}

/* Markdown, in which each %s is a sentence that means nothing in it. */
#define put(out, ...) escape_addf(out, add_sentence, __VA_ARGS__)

static void add_verdict(struct buf *out, const struct summary *s)
{
    uint64_t n = summary_wrong(s) + s->more_findings, warnings = summary_warnings(s);
    switch (summary_conclusion(s)) {
    case CONCLUSION_BROKEN: put(out, ":x: fails without any fault: %s", s->broken); return;
    case CONCLUSION_FINDINGS:
        buf_addf(out, ":x: **%llu %s**", (unsigned long long)n, plural(n, "finding", "findings"));
        break;
    case CONCLUSION_INCONCLUSIVE: put(out, ":warning: inconclusive: %s", words_unsure(s)); break;
    case CONCLUSION_OK:
    case CONCLUSIONS: buf_adds(out, ":white_check_mark: no finding"); break;
    }
    if (warnings)
        buf_addf(out, ", %llu %s", (unsigned long long)warnings,
                 plural(warnings, "warning", "warnings"));
}

static void add_table(struct buf *out, const struct report_source *source)
{
    buf_adds(out, "| scenario | verdict | runs | calls that can fail | combinations |\n"
                  "|---|---|--:|--:|--:|\n");
    for (uint32_t i = 0; i < source->n && i < ROWS_MAX; i++) {
        const struct summary *s = source->scenarios[i];
        const double figures[] = {(double)s->runs, s->points, s->space};
        put(out, "| %s | ", s->scenario);
        add_verdict(out, s);
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            buf_adds(out, " | ");
            words_number(figures[k], out);
        }
        buf_adds(out, " |\n");
    }
    if (source->n > ROWS_MAX)
        buf_addf(out, "| ... and %u more | | | | |\n", (unsigned)(source->n - ROWS_MAX));
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

static void add_card(struct buf *out, const struct card *c)
{
    if (c->warning) { /* folded: the title is one line within a tag, where Markdown means nothing */
        struct buf line = BUF_INIT(SENTENCE_MAX), escaped = BUF_INIT(6 * SENTENCE_MAX);
        escape_line(slice_of(c->title), &line);
        escape_xml(buf_slice(&line), &escaped);
        buf_addf(out, "<details><summary>%s</summary>\n\n", buf_text(&escaped));
        buf_deinit(&line);
        buf_deinit(&escaped);
    } else {
        put(out, "### Finding %s: %s\n\n", c->id, c->title);
    }
    if (c->kind)
        buf_addf(out, "%s, %s.\n\n", c->kind, c->state);
    put(out, "- **when** %s\n", c->when);
    for (uint32_t i = 0; i < c->n_during; i++)
        put(out, "- **during** %s\n", c->during[i].text);
    if (c->then)
        put(out, "- **then** %s\n", c->then);
    if (c->detail)
        put(out, "- %s\n", c->detail);
    for (uint32_t i = 0; i < c->n_evidence; i++)
        put(out, "- %s\n", c->evidence[i]);
    if (c->about)
        put(out, "- about: %s\n", c->about);
    buf_addc(out, '\n');
    escape_code(slice_of(c->replay), "sh", out);
    if (c->finding && c->seen) {
        struct buf calls = BUF_INIT(FINDING_MAX);
        report_calls(c->seen, c->s->names, "", CALLS_MAX, &style_plain, &calls);
        add_details(out, "calls", buf_slice(&calls));
        buf_deinit(&calls);
    }
    if (c->finding && c->finding->log.lines)
        add_details(out, "last lines of the log", slice_of(c->finding->log.lines));
    buf_adds(out, c->warning ? "\n</details>\n\n" : "\n");
}

/* Ends the card; false: there was no room for it. */
static bool add_fitting(struct buf *out, struct card *c)
{
    struct buf one = BUF_INIT(4 * FINDING_MAX);
    add_card(&one, c);
    bool fits = !one.full && out->n + one.n <= DOCUMENT_MAX / 4 * 3;
    if (fits)
        buf_add(out, buf_slice(&one));
    buf_deinit(&one);
    card_deinit(c);
    return fits;
}

/* How many are left out. */
static uint64_t add_remarks(struct buf *out, const struct report_source *source, uint32_t scenario,
                            enum severity severity)
{
    bool finding = severity == SEVERITY_FINDING;
    struct remarks_shown shown;
    remarks_choose(source->scenarios[scenario], severity, finding ? ROWS_MAX : WARNINGS_MAX,
                   &shown);
    if (!finding && shown.n)
        buf_adds(out, "### Warnings\n\n");
    for (uint32_t i = 0; i < shown.n; i++) {
        struct card c;
        card_remark(&c, source, scenario, shown.at[i]);
        shown.left_out += !add_fitting(out, &c);
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
    struct buf untried = BUF_INIT(4096);
    for (uint32_t i = 0; i < s->notes.n && i < NOTES_MAX; i++)
        put(out, "- %s\n", s->notes.at[i]);
    if (words_untried(s, &untried))
        put(out, "- Not tried: %s\n", buf_text(&untried));
    if (s->broken && s->broken_detail)
        put(out, "- %s\n", s->broken_detail);
    buf_addc(out, '\n');
    buf_deinit(&untried);
}

static void add_reasons(struct buf *out, const struct summary *s)
{
    if (s->reasons.n)
        buf_adds(out, "### Not sure\n\nSome runs did not go as planned, so not everything was "
                      "tested.\n\n");
    for (uint32_t i = 0; i < s->reasons.n && i < NOTES_MAX; i++) {
        struct buf text = BUF_INIT(SENTENCE_MAX);
        words_reason_line(s, &s->reasons.at[i], &text);
        buf_addf(out, "%u", (unsigned)i + 1);
        put(out, ". %s\n", buf_text(&text));
        buf_deinit(&text);
    }
    buf_adds(out, s->reasons.n ? "\n" : "");
}

static void add_scenario(struct buf *out, const struct report_source *source, uint32_t scenario)
{
    struct buf one = BUF_INIT(DOCUMENT_MAX), text = BUF_INIT(FINDING_MAX);
    const struct summary *s = source->scenarios[scenario];
    put(&one, "## %s: ", s->scenario);
    add_verdict(&one, s);
    buf_adds(&one, "\n\n");
    add_notes(&one, s);
    if (s->broken) {
        words_replay_faultload(s, FAULTLOAD_EMPTY, &text);
        escape_code(buf_slice(&text), "sh", &one);
        if (s->broken_log.lines)
            add_details(&one, "last lines of the log", slice_of(s->broken_log.lines));
    }
    uint64_t left_out = s->broken ? 0 : s->more_findings;
    for (uint32_t i = 0; i < s->findings.n && !s->broken; i++) {
        struct card c;
        card_finding(&c, source, scenario, i);
        left_out += !add_fitting(&one, &c);
    }
    left_out += add_remarks(&one, source, scenario, SEVERITY_FINDING);
    add_left_out(&one, left_out, "finding", "findings");
    add_left_out(&one, add_remarks(&one, source, scenario, SEVERITY_WARNING), "warning",
                 "warnings");
    add_reasons(&one, s);
    buf_clear(&text);
    text.max = FIGURES_MAX; /* what does not fit is not there */
    requests_text(source, scenario, &text);
    if (text.n)
        add_details(&one, "requests of the command", buf_slice(&text));
    buf_clear(&text);
    if (!s->broken)
        text_what(s, &text);
    text_figures(s, &text);
    add_details(&one, "figures", buf_slice(&text));
    buf_addc(&one, '\n');
    if (!one.full && one.n <= out->max - out->n - SENTENCE_MAX)
        buf_add(out, buf_slice(&one));
    buf_deinit(&one);
    buf_deinit(&text);
}

void report_markdown(const struct report_source *source, struct buf *out)
{
    struct buf text = BUF_INIT(DOCUMENT_MAX);
    put(&text, "# Outfox: %s\n\n", source->system);
    add_table(&text, source);
    const char *command = NULL; /* how to go on: the same for all that ended early */
    for (uint32_t i = 0; i < source->n && !command; i++)
        command = words_resume(source->scenarios[i]);
    if (command) {
        buf_adds(&text, "To continue:\n"
                        "\n");
        escape_code(slice_of(command), "sh", &text);
        buf_addc(&text, '\n');
    }
    if (source->error)
        put(&text,
            "> **The campaign could not continue**: %s\n"
            "\n",
            source->error);
    if (source->comparison)
        compare_markdown(source->comparison, &text);
    suite_markdown(source, &text);
    for (uint32_t i = 0; i < source->n; i++)
        add_scenario(&text, source, i);
    put(&text, "<sub>outfox %s</sub>\n", source->version);
    buf_add(out, buf_slice(&text));
    buf_deinit(&text);
}
