/* SPDX-License-Identifier: Apache-2.0
 *
 * What was not tried, in one line with the command that tries it. "No finding" says nothing about a
 * class of failures that no mode stands for: who reads it should know. */
#include "report/words.h"

/* The classes of the set `standard`, and what only they bring to light. */
enum class { CLASS_ERROR, CLASS_BROKEN, CLASS_LOST, CLASS_NO_ANSWER, CLASSES };

static const char *const class_words[CLASSES] = {
    [CLASS_ERROR] = "error answers",
    [CLASS_BROKEN] = "broken connections",
    [CLASS_LOST] = "lost replies (they show work that is done twice)",
    [CLASS_NO_ANSWER] = "missing answers (they show missing timeouts)",
};

static enum class class_of(mode m) {
    static const enum class of[MODE_KINDS] =
        {
            [MODE_REFUSE] = CLASS_BROKEN,
            [MODE_RESET] = CLASS_BROKEN,
            [MODE_CLOSE] = CLASS_BROKEN,
            [MODE_RST_STREAM] = CLASS_BROKEN,
            [MODE_GOAWAY] = CLASS_BROKEN,
            [MODE_STATUS] = CLASS_ERROR,
            [MODE_GRPC] = CLASS_ERROR,
            [MODE_CORRUPT] = CLASSES,
            [MODE_TRUNCATE] = CLASSES,
            [MODE_DUPLICATE] = CLASSES,
            [MODE_HOLD] = CLASS_NO_ANSWER,
        };
    if (mode_waits(m)) return CLASS_NO_ANSWER;
    bool after_work = mode_lost(m) || (mode_reached(m) && of[mode_kind(m)] == CLASS_BROKEN);
    return after_work ? CLASS_LOST : of[mode_kind(m)];
}

static uint32_t classes_left(const struct summary *s)
{
    uint32_t left = (1u << CLASSES) - 1;
    for (uint32_t i = 0; i < s->n_modes; i++)
        left &= ~(1u << class_of(s->modes[i]));
    return left;
}

/* What the assumptions in use have left out, as far as it was counted. */
static double combinations_left(const struct summary *s)
{
    double n = 0;
    for (uint32_t i = 0; i < s->skipped.n; i++)
        for (uint32_t k = 0; k < s->assumptions.n; k++) {
            slice name = slice_of(s->skipped.at[i].name), said = slice_of(s->assumptions.at[k]);
            bool same =
                slice_starts(said, name) && (said.p[name.n] == ':' || said.p[name.n] == ' ');
            n += same ? s->skipped.at[i].n : 0;
        }
    return n;
}

static void print_command(const struct summary *s, struct buf *out)
{
    if (s->replay) {
        buf_addf(out, ": outfox run%s --modes standard", s->replay);
        return;
    }
    buf_adds(out, ": outfox sim explore ");
    words_quoted(slice_of(s->file), out);
    buf_adds(out, " --modes standard");
}

bool words_untried(const struct summary *s, struct buf *out)
{
    uint32_t left = classes_left(s);
    size_t before = out->n;
    if (s->broken || s->n_modes == 0 || s->points == 0)
        return false;
    for (enum class c = 0; c < CLASSES; c++)
        if (left >> c & 1) {
            bool more = left >> (c + 1), first = out->n == before;
            buf_addf(out, "%s%s", first ? "" : more ? ", " : " and ", class_words[c]);
        }
    if (s->quick && combinations_left(s) > 0) {
        double n = combinations_left(s);
        buf_adds(out, out->n > before ? "; at least " : "at least ");
        words_number(n, out);
        buf_addf(out, " combination%s, because this was a quick look", n > 1 ? "s" : "");
    }
    if (out->n == before)
        return false;
    print_command(s, out);
    return true;
}
