/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdio.h>

enum { WORD_MAX = 48 }; /* longer words are not compared */

int err_set(struct err *e, uint32_t line, uint32_t col, const char *format, ...)
{
    if (e->text[0])
        return -1;
    e->line = line;
    e->col = col;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    for (char *c = e->text; *c; c++) /* it may quote hostile bytes */
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return -1;
}

int err_place(struct err *e, uint32_t line, uint32_t col)
{
    e->line = line;
    e->col = col;
    return -1;
}

void err_print(const struct err *e, struct buf *out)
{
    if (e->source[0])
        buf_addf(out, "%s:", e->source);
    if (e->line)
        buf_addf(out, "%u:%u:", e->line, e->col);
    if (e->source[0] || e->line)
        buf_addc(out, ' ');
    buf_adds(out, e->text);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace one byte) that turn a into b. */
static size_t distance(slice a, slice b)
{
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= b.n; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t replace = diagonal + (a.p[i - 1] != b.p[j - 1]);
            diagonal = row[j];
            row[j] = least(replace, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b.n];
}

const char *err_nearest(slice wrong, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t best_distance = wrong.n / 3 + 2; /* further away is no suggestion */
    for (size_t i = 0; i < n && wrong.n <= WORD_MAX; i++) {
        slice word = slice_of(words[i]);
        if (word.n == 0 || word.n > WORD_MAX)
            continue;
        size_t d = distance(wrong, word);
        if (d < best_distance && d < word.n) {
            best_distance = d;
            best = words[i];
        }
    }
    return best;
}

struct hint err_hint(slice wrong, const char *const *words, size_t n)
{
    struct hint hint = {""};
    const char *near = err_nearest(wrong, words, n);
    if (near)
        snprintf(hint.text, sizeof hint.text, "; did you mean \"%.*s\"?", WORD_MAX, near);
    return hint;
}
