/* SPDX-License-Identifier: Apache-2.0
 *
 * Annotations: workflow commands of GitHub, one line each. It shows ten errors and ten warnings of
 * a step: of either there are no more. */
#include "base/outlet.h"
#include "report/campaign_int.h"
#include "report/escape.h"
#include "report/remarks_int.h"
#include "report/words.h"

enum { ANNOTATIONS_MAX = 10, REASONS_SHOWN = 10, MESSAGE_MAX = 8 * 1024 };

struct annotating {
    const struct report_source *source;
    FILE *out;
    uint32_t n[2]; /* errors, warnings */
    uint64_t left_out, warnings_left_out;
};

/* Is there room for one more finding? Else it is counted as left out. */
static bool has_room(struct annotating *a, bool warning)
{
    bool room = a->n[warning] < ANNOTATIONS_MAX;
    a->left_out += !room;
    return room;
}

static void annotate(struct annotating *a, const struct summary *s, bool warning, const char *title,
                     const char *message)
{
    struct buf line = BUF_INIT(4 * MESSAGE_MAX);
    const char *file = a->source->path ? a->source->path : a->source->file;
    a->n[warning]++;
    buf_addf(&line, "::%s file=", warning ? "warning" : "error");
    escape_github(slice_of(file), true, &line);
    buf_addf(&line, ",line=%u,title=", s->line ? (unsigned)s->line : 1u);
    escape_github(slice_of(title), true, &line);
    buf_adds(&line, "::");
    escape_github(slice_of(message), false, &line);
    buf_addc(&line, '\n');
    outlet_raw(a->out, buf_slice(&line)); /* a command indeed, and the text in it is harmless */
    buf_deinit(&line);
}

static void annotate_finding(struct annotating *a, uint32_t scenario, uint32_t i)
{
    const struct summary *s = a->source->scenarios[scenario];
    const struct finding *f = &s->findings.at[i];
    struct buf title = BUF_INIT(512), message = BUF_INIT(MESSAGE_MAX), then = BUF_INIT(512);
    struct report_runs runs;
    report_runs(a->source, scenario, f, &runs);
    buf_addf(&title, "%s / %s: %s", s->system, s->scenario, f->why);
    buf_adds(&message, "when ");
    words_finding_runs(s, f, runs.plain, runs.seen, &message);
    words_then(f, &then);
    if (then.n)
        buf_addf(&message, "\nthen %s", buf_text(&then));
    if (f->detail)
        buf_addf(&message, "\n%s", f->detail);
    buf_addf(&message, "\n%s, %s\nreplay: ", words_kind(f->kind), words_state(f->state));
    words_replay(s, f, &message);
    annotate(a, s, f->state == FINDING_FLAKY, buf_text(&title), buf_text(&message));
    report_runs_deinit(&runs);
    buf_deinit(&title);
    buf_deinit(&message);
    buf_deinit(&then);
}

static void annotate_broken(struct annotating *a, const struct summary *s)
{
    struct buf title = BUF_INIT(512), message = BUF_INIT(MESSAGE_MAX);
    buf_addf(&title, "%s / %s fails without any fault", s->system, s->scenario);
    buf_adds(&message, s->broken);
    if (s->broken_detail)
        buf_addf(&message, "\n%s", s->broken_detail);
    if (has_room(a, false))
        annotate(a, s, false, buf_text(&title), buf_text(&message));
    buf_deinit(&title);
    buf_deinit(&message);
}

/* That nothing was found proves nothing: why, and what to do about it. */
static void annotate_doubt(struct annotating *a, const struct summary *s)
{
    struct buf title = BUF_INIT(512), message = BUF_INIT(MESSAGE_MAX);
    buf_addf(&title, "%s / %s is inconclusive", s->system, s->scenario);
    buf_adds(&message, s->doubt ? s->doubt : words_unsure(s));
    for (uint32_t i = 0; i < s->reasons.n && i < REASONS_SHOWN; i++) {
        buf_addc(&message, '\n');
        words_reason_line(s, &s->reasons.at[i], &message);
    }
    for (uint32_t i = 0; i < s->notes.n; i++)
        buf_addf(&message, "\n%s", s->notes.at[i]);
    if (has_room(a, false))
        annotate(a, s, false, buf_text(&title), buf_text(&message));
    buf_deinit(&title);
    buf_deinit(&message);
}

static void annotate_remark(struct annotating *a, const struct summary *s, const struct remark *r)
{
    struct buf title = BUF_INIT(512), message = BUF_INIT(MESSAGE_MAX);
    buf_addf(&title, "%s / %s: ", s->system, s->scenario);
    words_remark(r, &title);
    buf_adds(&message, "when ");
    words_remark_when(s, r, NULL, NULL, &message);
    for (uint32_t i = 0; i < r->n_evidence; i++) {
        buf_addc(&message, '\n');
        words_evidence(s, r, i, &message);
    }
    buf_adds(&message, "\nreplay: ");
    words_remark_replay(s, r, &message);
    buf_adds(&message, "\nabout: ");
    words_about(r, &message);
    annotate(a, s, r->severity == SEVERITY_WARNING, buf_text(&title), buf_text(&message));
    buf_deinit(&title);
    buf_deinit(&message);
}

static void annotate_remarks(struct annotating *a, const struct summary *s, enum severity severity)
{
    bool warning = severity == SEVERITY_WARNING;
    struct remarks_shown shown;
    remarks_choose(s, severity, ANNOTATIONS_MAX - a->n[warning], &shown);
    for (uint32_t i = 0; i < shown.n; i++)
        annotate_remark(a, s, &s->remarks.at[shown.at[i]]);
    *(warning ? &a->warnings_left_out : &a->left_out) += shown.left_out;
}

static void annotate_scenario(struct annotating *a, uint32_t scenario)
{
    const struct summary *s = a->source->scenarios[scenario];
    if (s->broken) { /* that it fails is no finding */
        annotate_broken(a, s);
        return;
    }
    if (s->doubt || s->reasons.n)
        annotate_doubt(a, s);
    for (uint32_t i = 0; i < s->findings.n; i++)
        if (has_room(a, s->findings.at[i].state == FINDING_FLAKY))
            annotate_finding(a, scenario, i);
    a->left_out += s->more_findings;
    annotate_remarks(a, s, SEVERITY_FINDING);
    annotate_remarks(a, s, SEVERITY_WARNING);
}

static void count_left_out(uint64_t n, const char *one, const char *many, FILE *out)
{
    struct buf line = BUF_INIT(128);
    if (n)
        buf_addf(&line, "::notice title=outfox::%llu more %s no annotation\n",
                 (unsigned long long)n, plural(n, one, many));
    outlet_raw(out, buf_slice(&line));
    buf_deinit(&line);
}

void report_github(const struct report_source *source, FILE *out)
{
    struct annotating a = {.source = source, .out = out};
    for (uint32_t i = 0; i < source->n; i++)
        annotate_scenario(&a, i);
    count_left_out(a.left_out, "finding has", "findings have", out);
    count_left_out(a.warnings_left_out, "warning has", "warnings have", out);
}
