/* SPDX-License-Identifier: Apache-2.0
 *
 * Annotations: workflow commands of GitHub, one line each. It shows ten errors and ten warnings of
 * a step: of either there are no more. They are commands indeed, and the text in them is harmless:
 * whoever writes them out must do so past the filter of the stream (outlet_raw). */
#include "report/card.h"
#include "report/escape.h"
#include "report/words.h"

enum { ANNOTATIONS_MAX = 10, REASONS_SHOWN = 10, TITLE_MAX = 512, MESSAGE_MAX = 8 * 1024 };

struct annotating {
    const struct report_source *source;
    struct buf *out;
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
                     const struct buf *message)
{
    struct buf line = BUF_INIT(4 * MESSAGE_MAX), whole = BUF_INIT(TITLE_MAX);
    const char *file = a->source->path ? a->source->path : a->source->file;
    a->n[warning]++;
    buf_addf(&whole, "%s / %s%s", s->system, s->scenario, title);
    buf_addf(&line, "::%s file=", warning ? "warning" : "error");
    escape_github(slice_of(file), true, &line);
    buf_addf(&line, ",line=%u,title=", s->line ? (unsigned)s->line : 1u);
    escape_github(buf_slice(&whole), true, &line);
    buf_adds(&line, "::");
    escape_github(buf_slice(message), false, &line);
    buf_addc(&line, '\n');
    buf_add(a->out, buf_slice(&line));
    buf_deinit(&line);
    buf_deinit(&whole);
}

static void annotate_card(struct annotating *a, struct card *c)
{
    struct buf title = BUF_INIT(TITLE_MAX), message = BUF_INIT(MESSAGE_MAX);
    buf_addf(&title, ": %s", c->title);
    buf_addf(&message, "when %s", c->when);
    for (uint32_t i = 0; i < c->n_during; i++)
        buf_addf(&message, "\nduring %s", c->during[i].text);
    if (c->then)
        buf_addf(&message, "\nthen %s", c->then);
    if (c->detail)
        buf_addf(&message, "\n%s", c->detail);
    if (c->kind)
        buf_addf(&message, "\n%s, %s", c->kind, c->state);
    for (uint32_t i = 0; i < c->n_evidence; i++)
        buf_addf(&message, "\n%s", c->evidence[i]);
    buf_addf(&message, "\nreplay: %s", c->replay);
    if (c->about)
        buf_addf(&message, "\nabout: %s", c->about);
    bool flaky = c->finding && c->finding->state == FINDING_FLAKY;
    annotate(a, c->s, c->warning || flaky, buf_text(&title), &message);
    buf_deinit(&title);
    buf_deinit(&message);
    card_deinit(c);
}

/* It fails without faults; or that nothing was found proves nothing: why, and what to do about it. */
static void annotate_doubt(struct annotating *a, const struct summary *s)
{
    struct buf message = BUF_INIT(MESSAGE_MAX);
    buf_adds(&message, s->broken ? s->broken : s->doubt ? s->doubt : words_unsure(s));
    if (s->broken && s->broken_detail)
        buf_addf(&message, "\n%s", s->broken_detail);
    for (uint32_t i = 0; !s->broken && i < s->reasons.n && i < REASONS_SHOWN; i++) {
        buf_addc(&message, '\n');
        words_reason_line(s, &s->reasons.at[i], &message);
    }
    for (uint32_t i = 0; !s->broken && i < s->notes.n; i++)
        buf_addf(&message, "\n%s", s->notes.at[i]);
    if (has_room(a, false))
        annotate(a, s, false, s->broken ? " fails without any fault" : " is inconclusive",
                 &message);
    buf_deinit(&message);
}

static void annotate_remarks(struct annotating *a, uint32_t scenario, enum severity severity)
{
    bool warning = severity == SEVERITY_WARNING;
    struct remarks_shown shown;
    remarks_choose(a->source->scenarios[scenario], severity, ANNOTATIONS_MAX - a->n[warning],
                   &shown);
    for (uint32_t i = 0; i < shown.n; i++) {
        struct card c;
        card_remark(&c, a->source, scenario, shown.at[i]);
        annotate_card(a, &c);
    }
    *(warning ? &a->warnings_left_out : &a->left_out) += shown.left_out;
}

static void count_left_out(uint64_t n, const char *one, const char *many, struct buf *out)
{
    if (n)
        buf_addf(out, "::notice title=outfox::%llu more %s no annotation\n", (unsigned long long)n,
                 plural(n, one, many));
}

void report_github(const struct report_source *source, struct buf *out)
{
    struct annotating a = {.source = source, .out = out};
    for (uint32_t i = 0; i < source->n; i++) {
        const struct summary *s = source->scenarios[i];
        if (s->broken || s->doubt || s->reasons.n)
            annotate_doubt(&a, s);
        if (s->broken) /* that it fails is no finding */
            continue;
        for (uint32_t k = 0; k < s->findings.n; k++)
            if (has_room(&a, s->findings.at[k].state == FINDING_FLAKY)) {
                struct card c;
                card_finding(&c, source, i, k);
                annotate_card(&a, &c);
            }
        a.left_out += s->more_findings;
        annotate_remarks(&a, i, SEVERITY_FINDING);
        annotate_remarks(&a, i, SEVERITY_WARNING);
    }
    count_left_out(a.left_out, "finding has", "findings have", out);
    count_left_out(a.warnings_left_out, "warning has", "warnings have", out);
}
