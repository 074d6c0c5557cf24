/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/oracle_int.h"

bool word_next(slice *rest, char out[WORD_MAX])
{
    slice s = *rest;
    size_t i = 0, n = 0;
    while (i < s.n && !is_letter(s.p[i]))
        i++;
    size_t first = i;
    for (; i < s.n && is_letter(s.p[i]); i++) {
        if (i > first && is_upper(s.p[i]) &&
            (is_lower(s.p[i - 1]) || (i + 1 < s.n && is_lower(s.p[i + 1]))))
            break; /* userError, IOError */
        if (n < WORD_MAX - 1)
            out[n++] = (char)(s.p[i] | 0x20);
    }
    out[n] = 0;
    *rest = slice_from(s, i);
    return n > 0;
}

const struct word *word_find(const struct word *list, slice text)
{
    char words[2][WORD_MAX] = {"", ""};
    for (uint32_t at = 0; word_next(&text, words[at]); at ^= 1)
        for (const struct word *w = list; w->word; w++)
            if (w->word[0] == words[at][0] && strcmp(w->word, words[at]) == 0 &&
                (!w->before || strcmp(w->before, words[at ^ 1]) == 0))
                return w;
    return NULL;
}

bool sounds_like_check(slice interface)
{
    static const struct word checks[] = {
        {"health", NULL}, {"healthz", NULL},  {"healthy", NULL},   {"healthcheck", NULL},
        {"ready", NULL},  {"readyz", NULL},   {"readiness", NULL}, {"live", NULL},
        {"livez", NULL},  {"liveness", NULL}, {"alive", NULL},     {"ping", NULL},
        {"status", NULL}, {"check", NULL},    {NULL, NULL},
    };
    return word_find(checks, interface);
}

/* ---- what takes an effect back ---- */

/* Beginnings of words. */
static const char *const undo_words[] = {"cancel", "refund",  "undo",   "rollback", "compensat",
                                         "releas", "void",    "revert", "revers",   "delet",
                                         "remov",  "restore", "abort",  "unreserve"};

bool sounds_like_undo(slice interface)
{
    for (char word[WORD_MAX]; word_next(&interface, word);)
        for (size_t k = 0; k < sizeof undo_words / sizeof *undo_words; k++)
            if (strncmp(word, undo_words[k], strlen(undo_words[k])) == 0)
                return true;
    return false;
}

/* ---- answers ---- */

enum { GRPC_CODES = 17 };
enum grpc_says { OF_NOBODY, OF_SERVICE, OF_REQUEST };

/* What a gRPC code speaks of; by its number. */
static const uint8_t grpc_says[GRPC_CODES] = {
    [2] = OF_SERVICE /* unknown */,          [3] = OF_REQUEST /* invalid argument */,
    [4] = OF_SERVICE /* deadline */,         [5] = OF_REQUEST /* not found */,
    [6] = OF_REQUEST /* exists */,           [7] = OF_REQUEST /* permission denied */,
    [9] = OF_REQUEST /* precondition */,     [11] = OF_REQUEST /* out of range */,
    [12] = OF_SERVICE /* unimplemented */,   [13] = OF_SERVICE /* internal */,
    [14] = OF_SERVICE /* unavailable */,     [15] = OF_SERVICE /* data loss */,
    [16] = OF_REQUEST /* unauthenticated */,
};

bool answer_is_error(outcome o)
{
    uint32_t code = outcome_code(o);
    return outcome_kind(o) == OUT_GRPC ? code < GRPC_CODES && grpc_says[code] == OF_SERVICE
                                       : outcome_error(o);
}

bool answer_blames(outcome o)
{
    uint32_t code = outcome_code(o);
    switch (outcome_kind(o)) {
    case OUT_GRPC: return code < GRPC_CODES && grpc_says[code] == OF_REQUEST;
    case OUT_STATUS:
        return code >= 400 && code < 500 && code != 408 && code != 424 && code != 425 &&
               code != 429 && code != 499;
    default: return false;
    }
}
