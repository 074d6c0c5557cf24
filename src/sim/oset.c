/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_int.h"

static const struct {
    const char *word;
    uint32_t bit;
} words[] = {{"ok", OSET_OK},     {"failed", OSET_FAILED},   {"error", OSET_ERROR},
             {"conn", OSET_CONN}, {"timeout", OSET_TIMEOUT}, {"any", OSET_ANY}};

int outcome_parse(slice text, outcome *out, struct err *e)
{
    uint64_t code;
    if (slice_starts(text, SLICE("grpc:")) && slice_to_u64(slice_from(text, 5), 16, &code)) {
        *out = OUTCOME(OUT_GRPC, code);
        return 0;
    }
    if (slice_to_u64(text, 599, &code) && code >= 100) {
        *out = OUTCOME(OUT_STATUS, code);
        return 0;
    }
    return err_set(e, 0, 0,
                   "a status from 100 to 599 or grpc:0 to grpc:16 was expected, not \"%.*s\"",
                   SHORT(text));
}

static int parse_word(slice word, struct oset *out, struct err *e)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_is(word, words[i].word)) {
            out->bits |= words[i].bit;
            return 0;
        }
    if (word.n == 3 && word.p[0] >= '1' && word.p[0] <= '5' && word.p[1] == 'x' &&
        word.p[2] == 'x') {
        out->classes |= 1u << (word.p[0] - '0');
        return 0;
    }
    struct err ignored = {0};
    if (outcome_parse(word, &out->exact[out->n], &ignored) == 0) {
        out->n++;
        return 0;
    }
    const char *known[sizeof words / sizeof *words];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        known[i] = words[i].word;
    return err_set(e, 0, 0,
                   "there is no outcome \"%.*s\"; outcomes are ok, failed, error, conn, "
                   "timeout, any, 404, 5xx, grpc:14%s",
                   SHORT(word), err_hint(word, known, sizeof words / sizeof *words).text);
}

int oset_parse(slice text, struct arena *a, struct oset *out, struct err *e)
{
    size_t commas = 0;
    for (size_t i = 0; i < text.n; i++)
        commas += text.p[i] == ',';
    *out = (struct oset){.exact = arena_zero(a, (commas + 1) * sizeof *out->exact)};
    slice word;
    while (slice_cut(&text, ',', &word))
        if (parse_word(slice_trim(word), out, e))
            return -1;
    return 0;
}

bool oset_has(const struct oset *set, outcome o)
{
    enum outcome_kind k = outcome_kind(o);
    uint32_t bits = OSET_ANY | (outcome_ok(o) ? OSET_OK : OSET_FAILED);
    bits |= outcome_error(o) ? OSET_ERROR : 0;
    bits |= k == OUT_REFUSED || k == OUT_RESET || k == OUT_CLOSED ? OSET_CONN : 0;
    bits |= k == OUT_TIMEOUT ? OSET_TIMEOUT : 0;
    if (set->bits & bits)
        return true;
    if (k == OUT_STATUS && set->classes >> (outcome_code(o) / 100) & 1)
        return true;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->exact[i] == o)
            return true;
    return false;
}
