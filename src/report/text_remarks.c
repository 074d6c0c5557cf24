/* SPDX-License-Identifier: Apache-2.0
 *
 * What oracles say, for people: findings are numbered after those of the expectation, warnings for
 * themselves. Both as in the JSON document: where some are not shown, a number is missing. */
#include "report/campaign_int.h"
#include "report/remarks_int.h"
#include "report/text_int.h"
#include "report/words.h"

enum { WARNINGS_SHOWN = 10 };

static void print_line(const char *name, const struct buf *text, const char *on, const char *off,
                       FILE *out)
{
    fprintf(out, "  %-7s %s%s%s\n", name, on, buf_text(text), off);
}

static void print_when(const struct report_source *source, uint32_t scenario,
                       const struct summary *s, const struct remark *r, FILE *out)
{
    struct buf text = BUF_INIT(1 << 16);
    struct report_runs runs = {0};
    struct finding as = words_as_finding(r);
    if (source)
        report_runs(source, scenario, &as, &runs);
    words_remark_when(s, r, runs.plain, runs.seen, &text);
    print_line("when", &text, "", "", out);
    report_runs_deinit(&runs);
    buf_deinit(&text);
}

static void print_rest(const struct summary *s, const struct remark *r, const struct style *st,
                       FILE *out)
{
    struct buf text = BUF_INIT(1 << 16);
    for (uint32_t i = 0; i < r->n_evidence; i++) {
        buf_clear(&text);
        words_evidence(s, r, i, &text);
        print_line(i ? "" : "shows", &text, "", "", out);
    }
    buf_clear(&text);
    words_remark_replay(s, r, &text);
    print_line("replay", &text, st->dim, st->off, out);
    buf_deinit(&text);
}

static void print_remarks(const struct report_source *source, uint32_t scenario,
                          const struct summary *s, enum severity severity, const struct style *st,
                          FILE *out)
{
    bool finding = severity == SEVERITY_FINDING;
    uint64_t before = finding ? s->findings.n + s->more_findings : 0;
    struct remarks_shown shown;
    remarks_choose(s, severity, finding ? FINDINGS_SHOWN : WARNINGS_SHOWN, &shown);
    for (uint32_t i = 0; i < shown.n; i++) {
        const struct remark *r = &s->remarks.at[shown.at[i]];
        struct buf title = BUF_INIT(1 << 12);
        words_remark(r, &title);
        fprintf(out, "\n%s%s %llu%s  %s%s%s\n", finding ? st->red : st->yellow,
                finding ? "FINDING" : "WARNING", (unsigned long long)(before + shown.number[i]),
                st->off, st->bold, buf_text(&title), st->off);
        buf_deinit(&title);
        print_when(source, scenario, s, r, out);
        print_rest(s, r, st, out);
    }
    if (shown.left_out)
        fprintf(out, "\n  ... and %llu more %s; --json lists up to 300.\n",
                (unsigned long long)shown.left_out,
                shown.left_out > 1 ? (finding ? "findings of oracles" : "warnings")
                                   : (finding ? "finding of an oracle" : "warning"));
}

void text_remarks(const struct report_source *source, uint32_t scenario, const struct summary *s,
                  const struct style *st, FILE *out)
{
    print_remarks(source, scenario, s, SEVERITY_FINDING, st, out);
    print_remarks(source, scenario, s, SEVERITY_WARNING, st, out);
    if (s->remarks.n)
        fputs("\n  `outfox oracles NAME` says what one of these means, why it matters and what to "
              "do.\n",
              out);
}
