/* SPDX-License-Identifier: Apache-2.0
 *
 * Annotations: workflow commands of GitHub, one line each. It shows ten errors and ten warnings of
 * a step. */
#include "report/campaign_int.h"
#include "report/escape.h"
#include "report/words.h"

enum { ANNOTATIONS_MAX = 10, MESSAGE_MAX = 8 * 1024 };

struct annotating {
    const struct report_source *source;
    FILE *out;
    uint32_t n;
    uint64_t left_out;
};

static void annotate(struct annotating *a, const struct summary *s, const char *level,
                     const char *title, const char *message)
{
    struct buf line = BUF_INIT(4 * MESSAGE_MAX);
    const char *file = a->source->path ? a->source->path : a->source->file;
    if (a->n == ANNOTATIONS_MAX) {
        a->left_out++;
        return;
    }
    a->n++;
    buf_addf(&line, "::%s file=", level);
    escape_github(slice_of(file), true, &line);
    buf_addf(&line, ",line=%u,title=", s->line ? (unsigned)s->line : 1u);
    escape_github(slice_of(title), true, &line);
    buf_adds(&line, "::");
    escape_github(slice_of(message), false, &line);
    fprintf(a->out, "%s\n", buf_text(&line));
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
    annotate(a, s, f->state == FINDING_FLAKY ? "warning" : "error", buf_text(&title),
             buf_text(&message));
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
    annotate(a, s, "error", buf_text(&title), buf_text(&message));
    buf_deinit(&title);
    buf_deinit(&message);
}

static void annotate_scenario(struct annotating *a, uint32_t scenario)
{
    const struct summary *s = a->source->scenarios[scenario];
    if (s->broken) { /* that it fails is no finding */
        annotate_broken(a, s);
        return;
    }
    for (uint32_t i = 0; i < s->findings.n; i++) {
        if (a->n < ANNOTATIONS_MAX)
            annotate_finding(a, scenario, i);
        else
            a->left_out++;
    }
    a->left_out += s->more_findings;
}

void report_github(const struct report_source *source, FILE *out)
{
    struct annotating a = {.source = source, .out = out};
    for (uint32_t i = 0; i < source->n; i++)
        annotate_scenario(&a, i);
    if (a.left_out)
        fprintf(out, "::notice title=outfox::%llu more findings have no annotation\n",
                (unsigned long long)a.left_out);
}
