/* SPDX-License-Identifier: Apache-2.0
 *
 * The difference of two texts, line by line, with a few lines around each change. */
#include "report/report.h"

#include "base/mem.h"

enum { LINES_MAX = 4000, AROUND = 2 };

struct lines {
    slice at[LINES_MAX];
    uint32_t n;
    bool all;
};

static void split(slice text, struct lines *out)
{
    slice line;
    out->n = 0;
    while (text.n && out->n < LINES_MAX && slice_cut(&text, '\n', &line))
        out->at[out->n++] = line;
    out->all = text.n == 0;
}

/* One line of the difference: ' ' in both, '-' in the first alone, '+' in the second alone. */
struct step {
    char sign;
    slice line;
};

/* The longest common subsequence, by the table of its lengths. */
static uint32_t compare(const struct lines *a, const struct lines *b, struct step *out)
{
    uint32_t width = b->n + 1, n = 0;
    uint16_t *best = mem_zero((size_t)(a->n + 1) * width * sizeof *best);
    for (uint32_t i = a->n; i-- > 0;)
        for (uint32_t k = b->n; k-- > 0;) {
            uint16_t below = best[(i + 1) * width + k], right = best[i * width + k + 1];
            best[i * width + k] = slice_eq(a->at[i], b->at[k])
                                      ? (uint16_t)(best[(i + 1) * width + k + 1] + 1)
                                      : (below > right ? below : right);
        }
    for (uint32_t i = 0, k = 0; i < a->n || k < b->n;) {
        if (i < a->n && k < b->n && slice_eq(a->at[i], b->at[k])) {
            out[n++] = (struct step){' ', a->at[i++]};
            k++;
        } else if (i < a->n &&
                   (k == b->n || best[(i + 1) * width + k] >= best[i * width + k + 1])) {
            out[n++] = (struct step){'-', a->at[i++]};
        } else {
            out[n++] = (struct step){'+', b->at[k++]};
        }
    }
    mem_free(best);
    return n;
}

static bool is_near(const struct step *steps, uint32_t n, uint32_t at)
{
    for (uint32_t i = at > AROUND ? at - AROUND : 0; i < n && i <= at + AROUND; i++)
        if (steps[i].sign != ' ')
            return true;
    return false;
}

void report_difference(const char *file, slice before, slice after, struct buf *out)
{
    struct lines *a = mem_zero(sizeof *a), *b = mem_zero(sizeof *b);
    split(before, a);
    split(after, b);
    buf_addf(out, "--- %s\n+++ %s\n", file, file);
    if (!a->all || !b->all) {
        buf_addf(out, "(more than %d lines: not compared)\n", LINES_MAX);
    } else {
        struct step *steps = mem_zero((a->n + b->n + 1) * sizeof *steps);
        uint32_t n = compare(a, b, steps), line = 1;
        bool shown = false;
        for (uint32_t i = 0; i < n; i++) {
            bool near = is_near(steps, n, i);
            if (near && !shown)
                buf_addf(out, "@@ line %u @@\n", (unsigned)line);
            if (near)
                buf_addf(out, "%c%.*s\n", steps[i].sign, SLICE_ARG(steps[i].line));
            shown = near;
            line += steps[i].sign != '+';
        }
        mem_free(steps);
    }
    mem_free(a);
    mem_free(b);
}
