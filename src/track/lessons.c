/* SPDX-License-Identifier: Apache-2.0
 *
 * Lessons: made, shared, and as text. */
#include "track/track.h"

/* What the scenario's own request carries until it is known what is of use. */
static const uint32_t all_dialects = (1u << DIALECTS) - 1;

struct lessons *lessons_new(uint32_t n_services)
{
    struct lessons *l = mem_zero(sizeof *l);
    l->holders = 1;
    l->n_services = n_services;
    l->facts = arena_zero(&l->arena, (n_services + 1) * sizeof *l->facts);
    l->dialects = all_dialects;
    l->payloads = payload_rules_new();
    return l;
}

void lessons_drop(struct lessons *l)
{
    if (!l || --l->holders > 0)
        return;
    payload_rules_free(l->payloads);
    arena_deinit(&l->arena);
    mem_free(l);
}

/* ---- as text ---- */

void lessons_print(const struct lessons *l, struct buf *out)
{
    buf_addf(out, "dialects %x\n", (unsigned)l->dialects);
    payload_rules_print(l->payloads, out);
}

int lessons_parse(struct lessons *l, slice text)
{
    slice line, word;
    uint64_t bits;
    slice_cut(&text, '\n', &line);
    slice_word(&line, &word);
    line = slice_trim(line);
    if (!slice_is(word, "dialects") || !slice_to_hex(line, &bits) || bits >> DIALECTS)
        return -1;
    l->dialects = (uint32_t)bits;
    l->decided = true;
    return payload_rules_parse(l->payloads, text.p ? text : (slice){"", 0});
}
