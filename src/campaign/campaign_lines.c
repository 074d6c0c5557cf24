/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of outfox.yaml that name calls nobody has seen: they do nothing, and whoever wrote them
 * does not know. */
#include "campaign/campaign_lines_int.h"

static void note_ignore(struct campaign *c)
{
    const struct texts *ignore = &c->opt.config->ignore;
    for (uint32_t i = 0; i < ignore->n; i++) {
        struct pattern p = {0};
        struct err e = {0};
        struct buf text = BUF_INIT(2000);
        bool any = slice_starts(ignore->at[i], SLICE("*")); /* a precaution, for whoever has it */
        if (any || !c->target->tracker || track_ignores(c->target->tracker, i))
            continue;
        buf_addf(&text, "`ignore: %.*s` matched no call", SLICE_ARG(ignore->at[i]));
        if (!pattern_parse(&p, c->opt.words, PATTERN_CALLS, ignore->at[i], &e) &&
            pattern_seen(&p, c->opt.names, &e))
            buf_addf(&text, ": %s", e.text);
        campaign_note(c, buf_text(&text));
        pattern_deinit(&p);
        buf_deinit(&text);
    }
}

static void note_pattern(struct campaign *c, const char *key, const struct pattern *p)
{
    struct err e = {0};
    struct buf text = BUF_INIT(2000);
    if (pattern_seen(p, c->opt.names, &e)) {
        buf_addf(&text, "`judge: %s` names a call that was never made: %s", key, e.text);
        campaign_note(c, buf_text(&text));
    }
    buf_deinit(&text);
}

void campaign_note_lines(struct campaign *c)
{
    const struct judge_settings *s = c->opt.judging ? &c->opt.judging->settings : NULL;
    if (!search_done(c->search) || c->summary.broken)
        return; /* it might have come yet */
    note_ignore(c);
    for (uint32_t i = 0; s && i < s->reads.n; i++)
        note_pattern(c, "reads", &s->reads.at[i]);
    for (uint32_t i = 0; s && i < s->idempotent.n; i++)
        note_pattern(c, "idempotent", &s->idempotent.at[i]);
    for (uint32_t i = 0; s && i < s->effects.n; i++)
        note_pattern(c, "effects", &s->effects.at[i].calls);
    for (uint32_t i = 0; s && i < s->undo.n; i++) {
        note_pattern(c, "undo", &s->undo.at[i].effect);
        note_pattern(c, "undo", &s->undo.at[i].undo);
    }
}
