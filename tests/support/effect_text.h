/* SPDX-License-Identifier: Apache-2.0
 *
 * A side effect's rule as canonical text: read back it is the same rule. */
#ifndef OUTFOX_TESTS_EFFECT_TEXT_H
#define OUTFOX_TESTS_EFFECT_TEXT_H

#include "judge/judge.h"

static inline void effect_count_print(uint32_t low, uint32_t high, struct buf *out)
{
    if (high == 0 || (low == 0 && high == UINT32_MAX))
        buf_adds(out, high ? "any" : "none");
    else
        buf_addf(out, "%s %u",
                 low == high          ? "exactly"
                 : high == UINT32_MAX ? "at least"
                                      : "at most",
                 (unsigned)(high == UINT32_MAX ? low : high));
}

static inline void effect_rule_print(const struct effect_rule *r, struct buf *out)
{
    slice words = slice_of(r->text), word;
    for (size_t i = 0; i < words.n; i++)
        if (words.p[i] == ':' && (i + 1 == words.n || strchr(" \t\n\r", words.p[i + 1])))
            words.n = i; /* a colon that ends a word ends the pattern */
    for (bool more = false; slice_word(&words, &word); more = true) {
        buf_adds(out, more ? " " : "");
        buf_add(out, word);
    }
    if (!r->counted)
        return;
    buf_adds(out, ": ");
    effect_count_print(r->low, r->high, out);
    if (r->when == OUT_NONE)
        return;
    buf_adds(out, " when status ");
    outcome_print(r->when, out);
    if (r->else_low == 0 && r->else_high == UINT32_MAX)
        return;
    buf_adds(out, ", otherwise ");
    effect_count_print(r->else_low, r->else_high, out);
}

#endif
