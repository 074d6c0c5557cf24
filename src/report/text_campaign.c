/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary of a campaign for people: the verdict first, then each finding with the calls of a
 * run that shows it and how to replay it, then what else is worth knowing, then the figures. */
#include "report/campaign_int.h"
#include "report/text_int.h"
#include "report/words.h"

enum { CALLS_SHOWN = 60, TREES_SHOWN = 5, VOLATILE_SHOWN = 12 };

static void print_title(const struct summary *s, const struct finding *f, const struct style *st,
                        FILE *out)
{
    struct buf id = BUF_INIT(1 << 12);
    words_id(s, f, &id);
    fprintf(out, "\n%sFINDING %s%s  %s%s%s\n", st->red, buf_text(&id), st->off, st->bold, f->why,
            st->off);
    buf_deinit(&id);
}

static void print_kind(const struct finding *f, const struct style *st, FILE *out)
{
    const char *colour = f->state == FINDING_FLAKY ? st->yellow : "";
    fprintf(out, "  what    %s, %s%s%s%s\n", words_kind(f->kind), colour, words_state(f->state),
            *colour ? st->off : "",
            f->shrunk ? "; faults that it does not need were left out" : "");
}

static void print_then(const struct finding *f, FILE *out)
{
    struct buf text = BUF_INIT(1 << 16);
    words_then(f, &text);
    if (text.n)
        fprintf(out, "  then    %s (seen in %llu %s)\n", buf_text(&text),
                (unsigned long long)f->runs, plural(f->runs, "run", "runs"));
    if (words_detail(f))
        fprintf(out, "  %s    %s\n", text.n ? "    " : "then", words_detail(f));
    buf_deinit(&text);
}

/* What the service that went wrong wrote, each line below the other. */
static void print_log(const struct finding *f, FILE *out)
{
    slice rest = slice_of(f->log ? f->log : ""), line;
    if (!f->log)
        return;
    fprintf(out, "  log     of %s, when it was confirmed, ends with\n", f->log_of);
    while (slice_cut(&rest, '\n', &line))
        fprintf(out, "    %.*s\n", SLICE_ARG(line));
}

static void print_finding(const struct report_source *source, uint32_t scenario, uint32_t i,
                          const struct style *st, FILE *out)
{
    const struct summary *s = source->scenarios[scenario];
    const struct finding *f = &s->findings.at[i];
    struct buf text = BUF_INIT(1 << 16);
    struct report_runs runs;
    report_runs(source, scenario, f, &runs);
    print_title(s, f, st, out);
    print_kind(f, st, out);
    words_finding_runs(s, f, runs.plain, runs.seen, &text);
    fprintf(out, "  when    %s\n", buf_text(&text));
    print_then(f, out);
    if (runs.seen && i < TREES_SHOWN) {
        fputs("  calls\n", out);
        report_calls(runs.seen, s->names, "    ", CALLS_SHOWN, st, out);
    }
    print_log(f, out);
    buf_clear(&text);
    words_replay(s, f, &text);
    fprintf(out, "  replay  %s%s%s\n", st->dim, buf_text(&text), st->off);
    report_runs_deinit(&runs);
    buf_deinit(&text);
}

static void add_then(const struct finding *f, struct buf *out)
{
    buf_adds(out, "\n  then    ");
    size_t before = out->n;
    words_then(f, out);
    const char *detail = words_detail(f);
    if (out->n == before || detail)
        buf_addf(out, "%s%s", out->n == before ? "" : ": ", detail ? detail : words_kind(f->kind));
}

void report_found(const struct summary *s, const struct finding *f, const struct remark *r,
                  const struct trace *plain, const struct trace *seen, const struct style *st,
                  struct buf *out)
{
    bool several = s->ids && s->ids[0];
    struct finding as = f ? *f : words_as_finding(r);
    buf_addf(out, "%sFINDING%s  %s%s%s", st->red, st->off, st->bold, several ? s->scenario : "",
             several ? ": " : "");
    if (f)
        buf_adds(out, f->why);
    else
        words_remark(r, out);
    buf_addf(out, "%s%s\n  when    ", st->off,
             as.state == FINDING_FLAKY ? " (not in a second run)" : "");
    words_finding_runs(s, &as, plain, seen, out);
    if (f)
        add_then(f, out);
    buf_addf(out, "\n  replay  %s", st->dim);
    words_replay_faultload(s, as.faultload, out);
    buf_adds(out, st->off);
}

static void print_notes(const struct summary *s, const struct style *st, FILE *out)
{
    if (s->notes.n)
        fprintf(out, "\n%sNOTES%s\n", st->yellow, st->off);
    for (uint32_t i = 0; i < s->notes.n; i++)
        fprintf(out, "  - %s\n", s->notes.at[i]);
}

/* The note, unless it was told among the notes. */
static const char *level_note(const struct summary *s, const struct summary_level *l)
{
    for (uint32_t i = 0; l->note && i < s->notes.n; i++)
        if (strcmp(s->notes.at[i], l->note) == 0)
            return NULL;
    return l->note;
}

/* The first service of which the same is noted, but for its name. */
static const struct summary_level *level_like(const struct summary *s,
                                              const struct summary_level *l)
{
    const struct summary_level *like = s->levels.at;
    while (!like->note || strcmp(like->note + strnlen(like->service, strlen(like->note)),
                                 l->note + strnlen(l->service, strlen(l->note))) != 0)
        like++;
    return like;
}

void text_levels(const struct summary *s, FILE *out)
{
    if (s->levels.n == 0)
        return;
    fputs("  how calls are told apart, by the service that makes them\n", out);
    for (uint32_t i = 0; i < s->levels.n; i++) {
        const struct summary_level *l = &s->levels.at[i];
        fprintf(out, "    %-20s %8llu %s  ", l->service, (unsigned long long)l->calls,
                plural(l->calls, "call ", "calls"));
        const char *note = level_note(s, l);
        const struct summary_level *like = note ? level_like(s, l) : l;
        if (like != l)
            fprintf(out, "%-6s  like %s\n", l->level, like->service);
        else
            fprintf(out, note ? "%-6s  %s\n" : "%s%s\n", l->level, note ? note : "");
    }
}

void text_volatile(const struct summary *s, FILE *out)
{
    for (uint32_t i = 0; i < s->volatile_.n && i < VOLATILE_SHOWN; i++)
        fprintf(out, "%s%s", i ? ", " : "  answers are compared without ", s->volatile_.at[i]);
    if (s->volatile_.n > VOLATILE_SHOWN)
        fprintf(out, " and %u more", (unsigned)(s->volatile_.n - VOLATILE_SHOWN));
    if (s->volatile_.n)
        fputs(": what differs between runs without faults, or is listed as volatile\n", out);
}

static void print_time(const struct summary *s, FILE *out)
{
    struct buf took = BUF_INIT(64);
    if (s->took_ns <= 0)
        return;
    int64_t unit = s->took_ns >= 1000000000 ? 100000000 : 1000000;
    buf_add_ns(&took, s->took_ns / unit * unit);
    double rate = report_rate(s);
    fprintf(out,
            rate < 10 ? "  took %s, %.1f runs per second\n" : "  took %s, %.0f runs per second\n",
            buf_text(&took), rate);
    buf_deinit(&took);
}

/* It fails without faults: what is to be seen of that, and how to see it again. */
static void print_broken(const struct report_source *source, uint32_t scenario,
                         const struct style *st, FILE *out)
{
    const struct summary *s = source->scenarios[scenario];
    struct run run = {0};
    struct buf text = BUF_INIT(1 << 16);
    if (s->broken_detail)
        fprintf(out, "  %s\n", s->broken_detail);
    if (source->run_of && source->run_of(source->ctx, scenario, FAULTLOAD_EMPTY, &run) == 0 &&
        !run.verdict.pass) {
        fputs("  calls\n", out);
        report_calls(&run.trace, s->names, "    ", CALLS_SHOWN, st, out);
    }
    words_replay_faultload(s, FAULTLOAD_EMPTY, &text);
    fprintf(out, "  again   %s%s%s\n", st->dim, buf_text(&text), st->off);
    text_remarks(source, scenario, s, st, out);
    print_notes(s, st, out);
    vec_deinit(&run.trace.calls);
    buf_deinit(&text);
}

static void print_scenario(const struct report_source *source, uint32_t scenario,
                           const struct style *st, FILE *out)
{
    const struct summary *s = source->scenarios[scenario];
    fprintf(out, "%s%s / %s%s: ", st->bold, s->system, s->scenario, st->off);
    text_verdict(s, st, out);
    fputc('\n', out);
    if (s->broken)
        print_broken(source, scenario, st, out);
    if (!s->broken && s->runs_by_size.n)
        text_what(s, out);
    if (!s->broken)
        text_resume(s, st, out);
    if (s->broken || s->runs_by_size.n == 0)
        return;
    for (uint32_t i = 0; i < s->findings.n && i < FINDINGS_SHOWN; i++)
        print_finding(source, scenario, i, st, out);
    text_more(s, out);
    text_remarks(source, scenario, s, st, out);
    text_unsure(s, st, out);
    print_notes(s, st, out);
    text_figures(s, out);
    text_levels(s, out);
    text_volatile(s, out);
    print_time(s, out);
    text_untried(s, st, out);
}

/* One line for each scenario, when there are several. */
static void print_overview(const struct report_source *source, const struct style *st, FILE *out)
{
    fprintf(out, "%s%s%s: %u scenarios\n", st->bold, source->system, st->off, (unsigned)source->n);
    for (uint32_t i = 0; i < source->n; i++) {
        fprintf(out, "  %-20s ", source->scenarios[i]->scenario);
        text_verdict(source->scenarios[i], st, out);
        fputc('\n', out);
    }
    fputc('\n', out);
}

void report_campaign_text(const struct report_source *source, const struct style *st, FILE *out)
{
    if (source->n > 1)
        print_overview(source, st, out);
    for (uint32_t i = 0; i < source->n; i++) {
        if (i)
            fputc('\n', out);
        print_scenario(source, i, st, out);
    }
}
