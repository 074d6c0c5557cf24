/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary for people: the verdict first, then each finding with how to replay it, then the
 * figures. */
#include "report/text_int.h"

#include <math.h>

#include "report/words.h"

enum { REASONS_SHOWN = 10 };

static void print_number(FILE *out, double n)
{
    struct buf text = BUF_INIT(64);
    words_number(n, &text);
    fputs(buf_text(&text), out);
    buf_deinit(&text);
}

/* ", 3 warnings" */
static void print_warnings(const struct summary *s, const struct style *st, FILE *out)
{
    struct buf text = BUF_INIT(64);
    if (words_warnings(s, &text))
        fprintf(out, ", %s%s%s", st->yellow, buf_text(&text), st->off);
    buf_deinit(&text);
}

void text_verdict(const struct summary *s, const struct style *st, FILE *out)
{
    switch (summary_conclusion(s)) {
    case CONCLUSION_BROKEN:
        fprintf(out, "%sfails without any fault%s: %s", st->red, st->off, s->broken);
        break;
    case CONCLUSION_FINDINGS:
        fprintf(out, "%s%u %s%s", st->red, (unsigned)summary_wrong(s),
                plural(summary_wrong(s), "finding", "findings"), st->off);
        print_warnings(s, st, out);
        break;
    case CONCLUSION_INCONCLUSIVE:
        fprintf(out, "%sno finding%s", st->yellow, st->off);
        print_warnings(s, st, out);
        fprintf(out, "%s, but inconclusive%s: %s", st->yellow, st->off, words_unsure(s));
        break;
    case CONCLUSION_OK:
    case CONCLUSIONS:
        fprintf(out, "%sno finding%s", st->green, st->off);
        print_warnings(s, st, out);
        break;
    }
}

static void print_count(FILE *out, uint64_t n, const char *one, const char *many)
{
    print_number(out, (double)n);
    fputs(plural(n, one, many), out);
}

void text_what(const struct summary *s, FILE *out)
{
    fputs("\n  ", out);
    if (s->doubt && s->space <= 1) {
        print_count(out, s->runs + s->repeats, " run was", " runs were");
        fputs(" made, without any fault.\n", out);
        return;
    }
    if (s->points == 0) {
        print_count(out, s->runs, " run was", " runs were");
        fprintf(out, " made%s%s; no call can fail.\n", s->stopped ? " before " : "",
                s->stopped ? words_stopped(s->stopped) : "");
        return;
    }
    print_count(out, s->points, " call can fail", " calls can fail");
    if (s->conditional) {
        fputs(" (", out);
        print_count(out, s->conditional, " only after a fault)", " only after a fault)");
    }
    /* modes of gRPC are none of HTTP, and the other way round */
    bool all = s->space >= pow(s->n_modes + 1.0, s->points) * 0.999;
    fputs(all ? ", each in " : ", each in up to ", out);
    print_count(out, s->n_modes, " way: ", " ways: ");
    print_number(out, s->space);
    fputs(s->space > 1 ? " combinations.\n  " : " combination.\n  ", out);
    print_count(out, s->runs, " run ", " runs ");
    if (s->stopped) {
        fprintf(out, "before %s; ", words_stopped(s->stopped));
        print_number(out, (double)s->queued);
        fputs(plural(s->queued, " more was waiting.\n", " more were waiting.\n"), out);
    } else if (s->all_suspects) {
        fputs("made; what could not be tested is told under NOT SURE.\n", out);
    } else if (s->shards) {
        fprintf(out, "of part %u of %u; ", (unsigned)s->shard + 1, (unsigned)s->shards);
        print_count(out, s->elsewhere, " faultload is", " faultloads are");
        fputs(" left to the other parts.\n", out);
    } else if (s->assumptions.n) {
        fputs("to see every decision that the services can take, if these assumptions hold:\n",
              out);
    } else {
        fputs("to see every decision that the services can take.\n", out);
    }
    for (uint32_t i = 0; i < s->assumptions.n; i++)
        fprintf(out, "    %s\n", s->assumptions.at[i]);
}

void text_resume(const struct summary *s, const struct style *st, FILE *out)
{
    if (words_resume(s))
        fprintf(out, "  To go on from there: %s%s%s\n", st->bold, words_resume(s), st->off);
}

static void print_finding(const struct summary *s, uint32_t i, const struct style *st, FILE *out)
{
    const struct finding *f = &s->findings.at[i];
    struct buf text = BUF_INIT(1 << 16);
    fprintf(out, "\n%sFINDING %u%s  %s%s%s\n", st->red, (unsigned)i + 1, st->off, st->bold, f->why,
            st->off);
    words_finding(s, f, &text);
    fprintf(out, "  when    %s\n", buf_text(&text));
    buf_clear(&text);
    words_statuses(f, &text);
    fprintf(out, "  then    the client gets %s (seen in %llu %s)\n", buf_text(&text),
            (unsigned long long)f->runs, plural(f->runs, "run", "runs"));
    buf_clear(&text);
    words_replay(s, f, &text);
    fprintf(out, "  replay  %s%s%s\n", st->dim, buf_text(&text), st->off);
    buf_deinit(&text);
}

void text_more(const struct summary *s, FILE *out)
{
    uint64_t more = s->findings.n > FINDINGS_SHOWN ? s->findings.n - FINDINGS_SHOWN : 0;
    if (more + s->more_findings)
        fprintf(out, "\n  ... and %s%llu more %s; --json lists up to 200.\n",
                s->more_findings >= FINDINGS_MORE ? "at least " : "",
                (unsigned long long)(more + s->more_findings),
                plural(more + s->more_findings, "finding", "findings"));
}

static void print_reason(const struct summary *s, const struct reason *r, uint32_t number,
                         const struct style *st, FILE *out)
{
    struct buf text = BUF_INIT(1 << 16);
    struct remedy remedy;
    words_reason(s, r, &text);
    fprintf(out, "  %u. %s%s%s: %s\n", (unsigned)number, st->bold, words_reason_title(r), st->off,
            buf_text(&text));
    buf_clear(&text);
    words_reason_seen(s, r, &text);
    fprintf(out, "     seen    %s\n", buf_text(&text));
    for (uint32_t i = 0; words_remedy(s, r, i, &remedy); i++) {
        fprintf(out, "     %-7s %s%s%s  # %s\n", words_remedy_verb(r, i), st->bold,
                buf_text(&remedy.line), st->off, buf_text(&remedy.where));
        remedy_deinit(&remedy);
    }
    buf_deinit(&text);
}

void text_unsure(const struct summary *s, const struct style *st, FILE *out)
{
    uint64_t told = 0;
    if (s->all_suspects == 0)
        return;
    fprintf(out,
            "\n%sNOT SURE%s  some runs did not go as planned, so not everything was tested. %s\n",
            st->yellow, st->off, s->ids ? "What helps, in outfox.yaml:" : "Likely why:");
    for (uint32_t i = 0; i < s->reasons.n; i++) {
        if (i < REASONS_SHOWN)
            print_reason(s, &s->reasons.at[i], i + 1, st, out);
        told += s->reasons.at[i].times;
    }
    if (s->reasons.n > REASONS_SHOWN)
        fprintf(out, "  ... and %u more; --json lists all\n",
                (unsigned)(s->reasons.n - REASONS_SHOWN));
    if (s->all_suspects > told)
        fprintf(out,
                "  %llu more %s something was not as planned; only the first %llu were sorted\n",
                (unsigned long long)(s->all_suspects - told),
                plural(s->all_suspects - told, "time", "times"), (unsigned long long)told);
}

void text_figures(const struct summary *s, FILE *out)
{
    fprintf(out, "\n  runs by number of faults\n   ");
    for (uint32_t i = 0; i < s->runs_by_size.n; i++)
        fprintf(out, " %u: %llu%s", (unsigned)i, (unsigned long long)s->runs_by_size.at[i],
                i + 1 < s->runs_by_size.n ? "," : "\n");
    fprintf(out, "  what the client saw\n");
    for (uint32_t i = 0; i < s->outcomes.n; i++) {
        struct buf text = BUF_INIT(64);
        outcome_print(s->outcomes.at[i].status, &text);
        fprintf(out, "    %-9s %8llu %s  %s\n", buf_text(&text),
                (unsigned long long)s->outcomes.at[i].runs,
                plural(s->outcomes.at[i].runs, "run ", "runs"),
                s->outcomes.at[i].pass ? "as expected" : "NOT as expected");
        buf_deinit(&text);
    }
    fprintf(out, "  not run, and why%s\n",
            s->skipped_estimated ? " (exclusion, inclusion and unreachability: shares estimated)"
                                 : "");
    for (uint32_t i = 0; i < s->skipped.n; i++) {
        struct buf text = BUF_INIT(64);
        words_number(s->skipped.at[i].n, &text);
        fprintf(out, "    %-14s %16s  %s\n", s->skipped.at[i].name, buf_text(&text),
                s->skipped.at[i].why);
        buf_deinit(&text);
    }
    if (s->skipped.n == 0)
        fprintf(
            out,
            s->skipped_known
                ? "    nothing\n"
                : "    not known: it takes an exact, complete and stable search without delays\n");
    fprintf(out, "  decisions of services seen: %llu", (unsigned long long)s->transcripts);
    if (s->repeats)
        fprintf(out, "; runs repeated to learn what is stable: %llu",
                (unsigned long long)s->repeats);
    if (s->audited)
        fprintf(out, "; skipped ones run as an audit: %llu", (unsigned long long)s->audited);
    fputc('\n', out);
}

void text_untried(const struct summary *s, const struct style *st, FILE *out)
{
    struct buf text = BUF_INIT(4096);
    if (words_untried(s, &text))
        fprintf(out, "\n%sNOT TRIED%s  %s\n", st->yellow, st->off, buf_text(&text));
    buf_deinit(&text);
}

void report_text(const struct summary *s, const struct style *st, FILE *out)
{
    fprintf(out, "%s%s / %s%s: ", st->bold, s->system, s->scenario, st->off);
    text_verdict(s, st, out);
    fputc('\n', out);
    if (!s->broken)
        text_what(s, out);
    for (uint32_t i = 0; i < s->findings.n && i < FINDINGS_SHOWN; i++)
        print_finding(s, i, st, out);
    text_more(s, out);
    text_remarks(NULL, 0, s, st, out);
    text_unsure(s, st, out);
    text_figures(s, out);
    if (s->quick) /* the modes of a simulated system are its author's choice */
        text_untried(s, st, out);
}
