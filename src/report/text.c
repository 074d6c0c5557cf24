/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary for people: the verdict first, then each finding with the calls of a run that shows
 * it and how to replay it, then what else is worth knowing, then the figures. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/outlet.h"
#include "report/card.h"
#include "report/compare.h"
#include "report/requests.h"
#include "report/suite.h"
#include "report/words.h"

enum {
    FINDINGS_SHOWN = 20,
    WARNINGS_SHOWN = 10,
    TREES_SHOWN = 5,
    CALLS_SHOWN = 60,
    REASONS_SHOWN = 10,
    VOLATILE_SHOWN = 12
};

/* ---- colours ---- */

const struct style style_plain = {"", "", "", "", "", ""};
const struct style style_colour = {"\033[1m",  "\033[31m", "\033[32m",
                                   "\033[33m", "\033[2m",  "\033[0m"};

bool style_terminal(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

const struct style *style_for(int fd, const char *when)
{
    const char *none = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
    bool wanted = strcmp(when, "always") == 0;
    if (strcmp(when, "auto") == 0 && !(none && none[0]))
        wanted = (force && force[0] && strcmp(force, "0") != 0) || style_terminal(fd);
    if (wanted)
        outlet_colours(fd);
    return wanted ? &style_colour : &style_plain;
}

/* ---- the verdict ---- */

/* "no finding, 3 warnings, but inconclusive: the budget of runs was used up" */
static void print_verdict(const struct summary *s, const struct style *st, struct buf *out)
{
    enum conclusion conclusion = summary_conclusion(s);
    uint64_t warnings = summary_warnings(s);
    bool unsure = conclusion == CONCLUSION_INCONCLUSIVE;
    if (conclusion == CONCLUSION_BROKEN) {
        buf_addf(out, "%sfails without any fault%s: %s", st->red, st->off, s->broken);
        return;
    }
    if (conclusion == CONCLUSION_FINDINGS)
        buf_addf(out, "%s%u %s%s", st->red, (unsigned)summary_wrong(s),
                 plural(summary_wrong(s), "finding", "findings"), st->off);
    else
        buf_addf(out, "%sno finding%s", unsure ? st->yellow : st->green, st->off);
    if (warnings)
        buf_addf(out, ", %s%llu %s%s", st->yellow, (unsigned long long)warnings,
                 plural(warnings, "warning", "warnings"), st->off);
    if (unsure)
        buf_addf(out, "%s, but inconclusive%s: %s", st->yellow, st->off, words_unsure(s));
}

static void add_count(struct buf *out, uint64_t n, const char *one, const char *many)
{
    words_number((double)n, out);
    buf_adds(out, plural(n, one, many));
}

void text_what(const struct summary *s, struct buf *out)
{
    buf_adds(out, "\n  ");
    if (s->doubt && s->space <= 1) {
        add_count(out, s->runs + s->repeats, " run was", " runs were");
        buf_adds(out, " made, without any fault.\n");
        return;
    }
    if (s->points == 0) {
        add_count(out, s->runs, " run was", " runs were");
        buf_addf(out, " made%s%s; no call can fail.\n", s->stopped ? " before " : "",
                 s->stopped ? words_stopped(s->stopped) : "");
        return;
    }
    add_count(out, s->points, " call can fail", " calls can fail");
    if (s->conditional) {
        buf_adds(out, " (");
        add_count(out, s->conditional, " only after a fault)", " only after a fault)");
    }
    /* modes of gRPC are none of HTTP, and the other way round: if all calls have as many ways, so many */
    double ways = fmin(round(pow(s->space, 1.0 / s->points)) - 1, s->n_modes);
    bool all = s->space >= pow(ways + 1, s->points) * 0.999 &&
               s->space * 0.999 <= pow(ways + 1, s->points);
    buf_adds(out, all ? ", each in " : ", each in up to ");
    add_count(out, all ? (uint64_t)ways : s->n_modes, " way: ", " ways: ");
    words_number(s->space, out);
    buf_adds(out, s->space > 1 ? " combinations.\n  " : " combination.\n  ");
    add_count(out, s->runs, " run ", " runs ");
    if (s->stopped) {
        buf_addf(out, "before %s; ", words_stopped(s->stopped));
        words_number((double)s->queued, out);
        buf_adds(out, plural(s->queued, " more was waiting.\n", " more were waiting.\n"));
    } else if (s->all_suspects) {
        buf_adds(out, "made; NOT SURE below says what could not be tested.\n");
    } else if (s->shards) {
        buf_addf(out, "of part %u of %u; ", (unsigned)s->shard + 1, (unsigned)s->shards);
        add_count(out, s->elsewhere, " faultload is", " faultloads are");
        buf_adds(out, " left to the other parts.\n");
    } else if (s->assumptions.n) {
        buf_adds(out,
                 "to see every decision that the services can take, if these assumptions hold:\n");
    } else {
        buf_adds(out, "to see every decision that the services can take.\n");
    }
    for (uint32_t i = 0; i < s->assumptions.n; i++)
        buf_addf(out, "    %s\n", s->assumptions.at[i]);
}

/* ---- what is wrong ---- */

/* What the service that went wrong wrote, each line below the other. */
static void print_log(const struct log_end *log, const char *when, struct buf *out)
{
    slice rest = slice_of(log->lines ? log->lines : ""), line;
    if (!log->lines)
        return;
    buf_addf(out, "  log     of %s, last lines %s:\n", log->service, when);
    while (slice_cut(&rest, '\n', &line))
        buf_addf(out, "    %.*s\n", SLICE_ARG(line));
}

static void print_card(const struct card *c, bool calls, const struct style *st, struct buf *out)
{
    const struct finding *f = c->finding;
    buf_addf(out, "\n%s%s %s%s  %s%s%s\n", c->warning ? st->yellow : st->red,
             c->warning ? "WARNING" : "FINDING", c->id, st->off, st->bold, c->title, st->off);
    if (c->kind) {
        const char *colour = f->state == FINDING_FLAKY ? st->yellow : "";
        buf_addf(out, "  what    %s, %s%s%s%s\n", c->kind, colour, c->state, *colour ? st->off : "",
                 f->shrunk ? "; faults that it does not need were removed" : "");
    }
    buf_addf(out, "  when    %s\n", c->when);
    for (uint32_t i = 0; i < c->n_during; i++)
        buf_addf(out, "  %-7s %s\n", i ? "" : "during", c->during[i].text);
    if (c->then)
        buf_addf(out, "  then    %s (seen in %llu %s)\n", c->then, (unsigned long long)f->runs,
                 plural(f->runs, "run", "runs"));
    if (c->rest)
        buf_addf(out, "  %s    %s\n", c->then ? "    " : "then", c->rest);
    for (uint32_t i = 0; i < c->n_evidence; i++)
        buf_addf(out, "  %-7s %s\n", i ? "" : "shows", c->evidence[i]);
    if (calls && c->seen) {
        buf_adds(out, "  calls\n");
        report_calls(c->seen, c->s->names, "    ", CALLS_SHOWN, st, out);
    }
    if (f)
        print_log(&f->log, "when it was confirmed", out);
    buf_addf(out, "  replay  %s%s%s\n", st->dim, c->replay, st->off);
}

void report_found(const struct summary *s, const struct finding *f, const struct remark *r,
                  const struct trace *plain, const struct trace *seen, const struct style *st,
                  struct buf *out)
{
    struct card c;
    bool several = s->ids && s->ids[0];
    card_news(&c, s, f, r, plain, seen);
    buf_addf(out, "%sFINDING%s  %s%s%s%s%s%s\n  when    %s", st->red, st->off, st->bold,
             several ? s->scenario : "", several ? ": " : "", c.title, st->off,
             f && f->state == FINDING_FLAKY ? " (not reproduced)" : "", c.when);
    for (uint32_t i = 0; i < c.n_during; i++)
        buf_addf(out, "\n  %-7s %s", i ? "" : "during", c.during[i].text);
    if (f)
        buf_addf(out, "\n  then    %s%s%s", c.then ? c.then : "", c.then && c.rest ? ": " : "",
                 c.rest    ? c.rest
                 : !c.then ? words_kind[f->kind]
                           : "");
    buf_addf(out, "\n  replay  %s%s%s", st->dim, c.replay, st->off);
    card_deinit(&c);
}

static void print_findings(const struct report_source *source, uint32_t scenario,
                           const struct style *st, struct buf *out)
{
    const struct summary *s = source->scenarios[scenario];
    uint64_t more = s->more_findings;
    for (uint32_t i = 0; i < s->findings.n; i++) {
        struct card c;
        if (i >= FINDINGS_SHOWN) {
            more++;
            continue;
        }
        card_finding(&c, source, scenario, i);
        print_card(&c, i < TREES_SHOWN, st, out);
        card_deinit(&c);
    }
    if (more)
        buf_addf(out, "\n  ... and %s%llu more %s; --json lists up to 200.\n",
                 s->more_findings >= FINDINGS_MORE ? "at least " : "", (unsigned long long)more,
                 plural(more, "finding", "findings"));
}

/* What oracles say. Where some are not shown, a number is missing. */
static void print_remarks(const struct report_source *source, uint32_t scenario,
                          const struct style *st, struct buf *out)
{
    static const struct {
        enum severity severity;
        uint32_t most;
        const char *one, *many;
    } rows[] = {
        {SEVERITY_FINDING, FINDINGS_SHOWN, "oracle finding", "oracle findings"},
        {SEVERITY_WARNING, WARNINGS_SHOWN, "warning", "warnings"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct remarks_shown shown;
        remarks_choose(source->scenarios[scenario], rows[k].severity, rows[k].most, &shown);
        for (uint32_t i = 0; i < shown.n; i++) {
            struct card c;
            card_remark(&c, source, scenario, shown.at[i]);
            print_card(&c, false, st, out);
            card_deinit(&c);
        }
        if (shown.left_out)
            buf_addf(out, "\n  ... and %llu more %s; --json lists up to 300.\n",
                     (unsigned long long)shown.left_out,
                     plural(shown.left_out, rows[k].one, rows[k].many));
    }
    if (source->scenarios[scenario]->remarks.n)
        buf_adds(out,
                 "\n  `outfox oracles NAME` explains what one of these means, why it matters and "
                 "what to do.\n");
}

/* ---- what else is worth knowing ---- */

/* Why runs could not be relied on, and what helps. */
static void print_unsure(const struct summary *s, const struct style *st, struct buf *out)
{
    uint64_t told = 0;
    if (s->all_suspects == 0)
        return;
    buf_addf(out,
             "\n%sNOT SURE%s  some runs did not go as planned, so not everything was tested. %s\n",
             st->yellow, st->off, s->ids ? "What helps, in outfox.yaml:" : "Likely why:");
    for (uint32_t i = 0; i < s->reasons.n; i++) {
        const struct reason *r = &s->reasons.at[i];
        struct remedy remedy;
        told += r->times;
        if (i >= REASONS_SHOWN)
            continue;
        buf_addf(out, "  %u. %s%s%s: ", (unsigned)i + 1, st->bold, words_reason_title(r), st->off);
        words_reason(s, r, out);
        buf_adds(out, "\n     seen    ");
        words_reason_seen(s, r, out);
        buf_addc(out, '\n');
        for (uint32_t k = 0; words_remedy(s, r, k, &remedy); k++) {
            buf_addf(out, "     %-7s %s%s%s  # %s\n", remedy.verb, st->bold, buf_text(&remedy.line),
                     st->off, buf_text(&remedy.where));
            remedy_deinit(&remedy);
        }
    }
    if (s->reasons.n > REASONS_SHOWN)
        buf_addf(out, "  ... and %u more; --json lists all\n",
                 (unsigned)(s->reasons.n - REASONS_SHOWN));
    if (s->all_suspects > told)
        buf_addf(
            out,
            "  %llu more %s something did not go as planned; only the first %llu were analysed\n",
            (unsigned long long)(s->all_suspects - told),
            plural(s->all_suspects - told, "time", "times"), (unsigned long long)told);
}

static void print_notes(const struct summary *s, const struct style *st, struct buf *out)
{
    if (s->notes.n)
        buf_addf(out, "\n%sNOTES%s\n", st->yellow, st->off);
    for (uint32_t i = 0; i < s->notes.n; i++)
        buf_addf(out, "  - %s\n", s->notes.at[i]);
}

static void print_runs(const struct summary *s, struct buf *out)
{
    buf_addf(out, "\n  runs by number of faults\n   ");
    for (uint32_t i = 0; i < s->runs_by_size.n; i++)
        buf_addf(out, " %u: %llu%s", (unsigned)i, (unsigned long long)s->runs_by_size.at[i],
                 i + 1 < s->runs_by_size.n ? "," : "\n");
    buf_addf(out, "  what the client saw\n");
    for (uint32_t i = 0; i < s->outcomes.n; i++) {
        struct buf text = BUF_INIT(64);
        outcome_print(s->outcomes.at[i].status, &text);
        buf_addf(out, "    %-9s %8llu %s  %s\n", buf_text(&text),
                 (unsigned long long)s->outcomes.at[i].runs,
                 plural(s->outcomes.at[i].runs, "run ", "runs"),
                 s->outcomes.at[i].pass ? "as expected" : "NOT as expected");
        buf_deinit(&text);
    }
    buf_addf(out, "  not run, and why%s\n",
             s->skipped_estimated ? " (exclusion, inclusion and unreachability: shares estimated)"
                                  : "");
    for (uint32_t i = 0; i < s->skipped.n; i++) {
        struct buf text = BUF_INIT(64);
        words_number(s->skipped.at[i].n, &text);
        buf_addf(out, "    %-14s %16s  %s\n", s->skipped.at[i].name, buf_text(&text),
                 s->skipped.at[i].why);
        buf_deinit(&text);
    }
    if (s->skipped.n == 0)
        buf_addf(
            out,
            s->skipped_known
                ? "    nothing\n"
                : "    unknown: only an exact, complete and stable search without delays can tell\n");
    buf_addf(out, "  service decisions seen: %llu", (unsigned long long)s->transcripts);
    if (s->repeats)
        buf_addf(out, "; runs repeated to learn what is stable: %llu",
                 (unsigned long long)s->repeats);
    if (s->audited)
        buf_addf(out, "; skipped runs made as an audit: %llu", (unsigned long long)s->audited);
    buf_addc(out, '\n');
}

static void print_levels(const struct summary *s, struct buf *out)
{
    if (s->levels.n == 0)
        return;
    buf_adds(out, "  how calls are identified, by calling service\n");
    for (uint32_t i = 0; i < s->levels.n; i++) {
        const struct summary_level *l = &s->levels.at[i];
        buf_addf(out, "    %-20s %8llu %s  ", l->service, (unsigned long long)l->calls,
                 plural(l->calls, "call ", "calls"));
        const struct summary_level *like = s->levels.at;
        const char *note = l->note;
        for (uint32_t k = 0; note && k < s->notes.n; k++) /* it may be told among the notes */
            note = strcmp(s->notes.at[k], l->note) == 0 ? NULL : note;
        /* the first of which the same is noted, but for its name */
        while (note &&
               (!like->note || strcmp(like->note + strnlen(like->service, strlen(like->note)),
                                      note + strnlen(l->service, strlen(note))) != 0))
            like++;
        if (note && like != l)
            buf_addf(out, "%-6s  like %s\n", l->level, like->service);
        else
            buf_addf(out, note ? "%-6s  %s\n" : "%s%s\n", l->level, note ? note : "");
    }
}

void text_figures(const struct summary *s, struct buf *out)
{
    print_runs(s, out);
    print_levels(s, out);
    for (uint32_t i = 0; i < s->volatile_.n && i < VOLATILE_SHOWN; i++)
        buf_addf(out, "%s%s", i ? ", " : "  answers are compared without ", s->volatile_.at[i]);
    if (s->volatile_.n > VOLATILE_SHOWN)
        buf_addf(out, " and %u more", (unsigned)(s->volatile_.n - VOLATILE_SHOWN));
    if (s->volatile_.n)
        buf_adds(out, ": what differs between runs without faults, or is listed as volatile\n");
}

/* ---- scenarios ---- */

/* It fails without faults: what is to be seen of that, and how to see it again. */
static void print_broken(const struct report_source *source, uint32_t scenario,
                         const struct style *st, struct buf *out)
{
    const struct summary *s = source->scenarios[scenario];
    struct run run = {0};
    if (s->broken_detail)
        buf_addf(out, "  %s\n", s->broken_detail);
    if (source->run_of && source->run_of(source->ctx, scenario, FAULTLOAD_EMPTY, &run) == 0 &&
        !run.verdict.pass) {
        buf_adds(out, "  calls\n");
        report_calls(&run.trace, s->names, "    ", CALLS_SHOWN, st, out);
    }
    print_log(&s->broken_log, "in that run", out);
    buf_addf(out, "  again   %s", st->dim);
    words_replay_faultload(s, FAULTLOAD_EMPTY, out);
    buf_addf(out, "%s\n", st->off);
    print_remarks(source, scenario, st, out);
    print_notes(s, st, out);
    vec_deinit(&run.trace.calls);
}

static void print_scenario(const struct report_source *source, uint32_t scenario,
                           const struct style *st, struct buf *out)
{
    const struct summary *s = source->scenarios[scenario];
    bool campaign = s->ids != NULL, begun = s->runs_by_size.n || !campaign;
    buf_addf(out, "%s%s / %s%s: ", st->bold, s->system, s->scenario, st->off);
    print_verdict(s, st, out);
    buf_addc(out, '\n');
    if (s->broken && campaign) {
        print_broken(source, scenario, st, out);
        return;
    }
    if (!s->broken && begun)
        text_what(s, out);
    if (!s->broken && words_resume(s))
        buf_addf(out, "  To continue: %s%s%s\n", st->bold, words_resume(s), st->off);
    if (!begun)
        return;
    requests_text(source, scenario, out);
    print_findings(source, scenario, st, out);
    print_remarks(source, scenario, st, out);
    print_unsure(s, st, out);
    print_notes(s, st, out);
    text_figures(s, out);
    if (s->took_ns > 0) {
        int64_t unit = s->took_ns >= SECONDS(1) ? MS(100) : MS(1);
        buf_adds(out, "  took ");
        buf_add_ns(out, s->took_ns / unit * unit);
        buf_addf(out, report_rate(s) < 10 ? ", %.1f runs per second\n" : ", %.0f runs per second\n",
                 report_rate(s));
    }
    struct buf untried = BUF_INIT(4096);
    /* the modes of a simulated system are its author's choice */
    if ((campaign || s->quick) && words_untried(s, &untried))
        buf_addf(out, "\n%sNOT TRIED%s  %s\n", st->yellow, st->off, buf_text(&untried));
    buf_deinit(&untried);
}

void report_text(const struct report_source *source, const struct style *st, struct buf *out)
{
    if (source->n > 1) { /* one line for each */
        buf_addf(out, "%s%s%s: %u scenarios\n", st->bold, source->system, st->off,
                 (unsigned)source->n);
        for (uint32_t i = 0; i < source->n; i++) {
            buf_addf(out, "  %-20s ", source->scenarios[i]->scenario);
            print_verdict(source->scenarios[i], st, out);
            buf_addc(out, '\n');
        }
        buf_addc(out, '\n');
    }
    for (uint32_t i = 0; i < source->n; i++) {
        buf_adds(out, i ? "\n" : "");
        print_scenario(source, i, st, out);
    }
    suite_text(source, st, out);
    if (source->comparison) {
        buf_addc(out, '\n');
        compare_text(source->comparison, st, out);
    }
}
