/* SPDX-License-Identifier: Apache-2.0 */
#include "config/placeholder.h"

#include "base/err.h"

/* From PLACEHOLDER_PORT on, in the order of their kinds. */
enum { WORDS = 4 };
static const char *const words[WORDS] = {"port", "host", "address", "url"};

static bool is_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_';
}

/* `{word}` or `{word:name}` at the start of s. */
static bool read_form(slice s, struct placeholder *p)
{
    size_t n = 1;
    while (n < s.n && is_letter(s.p[n]))
        n++;
    slice word = {s.p + 1, n - 1};
    p->name = (slice){s.p + n, 0};
    if (word.n && n < s.n && s.p[n] == ':') {
        size_t from = ++n;
        while (n < s.n && is_name(s.p[n]))
            n++;
        p->name = (slice){s.p + from, n - from};
        if (!p->name.n)
            return false;
    }
    if (!word.n || n >= s.n || s.p[n] != '}')
        return false;
    p->text = (slice){s.p, n + 1};
    p->near = NULL;
    for (size_t i = 0; i < WORDS; i++)
        if (slice_is(word, words[i])) {
            p->kind = (enum placeholder_kind)(PLACEHOLDER_PORT + i);
            return true;
        }
    p->kind = PLACEHOLDER_WRONG;
    p->near = p->name.n ? err_nearest(word, words, WORDS) : NULL;
    return p->near != NULL;
}

/* What starts at the brace s.p[0]; how many bytes of it, 0: nothing. */
static size_t read_brace(slice s, struct placeholder *p)
{
    if (s.n > 1 && s.p[1] == '{') {
        if (!read_form(slice_from(s, 1), p) || p->text.n + 1 >= s.n || s.p[p->text.n + 1] != '}')
            return 0;
        p->kind = PLACEHOLDER_TEXT;
        return p->text.n + 2;
    }
    return read_form(s, p) ? p->text.n : 0;
}

bool placeholder_next(slice *rest, slice *literal, struct placeholder *p)
{
    slice s = *rest;
    *p = (struct placeholder){0};
    if (!s.p)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '$' && i + 1 < s.n && s.p[i + 1] == '{') {
            i++;
            continue;
        }
        size_t n = s.p[i] == '{' ? read_brace(slice_from(s, i), p) : 0;
        if (!n)
            continue;
        *literal = (slice){s.p, i};
        *rest = slice_from(s, i + n);
        return true;
    }
    *p = (struct placeholder){0};
    *literal = s;
    *rest = (slice){0};
    return true;
}

bool placeholder_own(slice text)
{
    slice literal;
    struct placeholder p;
    while (placeholder_next(&text, &literal, &p))
        if (p.kind != PLACEHOLDER_NONE && p.kind != PLACEHOLDER_TEXT && !p.name.n)
            return true;
    return false;
}
