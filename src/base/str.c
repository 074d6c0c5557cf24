/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

static const struct {
    const char *unit;
    int64_t ns;
} units[] = {{"h", HOURS(1)}, {"m", MINUTES(1)}, {"s", SECONDS(1)},
             {"ms", MS(1)},   {"us", 1000},      {"ns", 1}};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int slice_cmp(slice a, slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

slice slice_trim(slice s)
{
    while (s.n && is_blank(s.p[0]))
        s = slice_from(s, 1);
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

slice slice_last_line(slice text)
{
    text = slice_trim(text);
    for (size_t i = text.n; i > 0; i--)
        if (text.p[i - 1] == '\n')
            return slice_trim(slice_from(text, i));
    return text;
}

size_t slice_find(slice s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    return at ? (size_t)(at - s.p) : s.n;
}

bool slice_cut(slice *rest, char c, slice *part)
{
    if (!rest->p)
        return false;
    size_t at = slice_find(*rest, c);
    *part = (slice){rest->p, at};
    *rest = at < rest->n ? slice_from(*rest, at + 1) : (slice){NULL, 0};
    return true;
}

bool slice_glob(slice pattern, slice text)
{
    slice star = {0}, resume = {0};
    while (text.n) {
        if (pattern.n && pattern.p[0] == '*') {
            pattern = star = slice_from(pattern, 1);
            resume = text;
        } else if (pattern.n && pattern.p[0] == text.p[0]) {
            pattern = slice_from(pattern, 1);
            text = slice_from(text, 1);
        } else if (star.p) { /* the last star takes one byte more */
            pattern = star;
            text = resume = slice_from(resume, 1);
        } else {
            return false;
        }
    }
    while (pattern.n && pattern.p[0] == '*')
        pattern = slice_from(pattern, 1);
    return pattern.n == 0;
}

bool slice_is_token(slice s)
{
    bool ok = s.n > 0 && s.n <= 200;
    for (size_t i = 0; ok && i < s.n; i++)
        ok = is_letter(s.p[i]) || (s.p[i] >= '0' && s.p[i] <= '9') ||
             (s.p[i] && strchr("!#$%&'*+-.^_`|~", s.p[i]));
    return ok;
}

bool slice_word(slice *rest, slice *word)
{
    slice s = slice_trim(*rest);
    size_t n = 0;
    while (n < s.n && !is_blank(s.p[n]))
        n++;
    *word = (slice){s.p, n};
    *rest = slice_from(s, n);
    return n > 0;
}

bool slice_to_u64(slice s, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(s.p[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (value > max)
        return false;
    *out = value;
    return true;
}

slice slice_of_u64(uint64_t number, char room[DIGITS_MOST])
{
    size_t at = DIGITS_MOST;
    do
        room[--at] = (char)('0' + number % 10);
    while (number /= 10);
    return (slice){room + at, DIGITS_MOST - at};
}

bool slice_to_real(slice s, double *out)
{
    char text[61], *end;
    if (s.n == 0 || s.n >= sizeof text)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_digit(s.p[i]) && !memchr("+-.eE", s.p[i], 5))
            return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    *out = strtod(text, &end);
    return end == text + s.n && isfinite(*out);
}

bool slice_to_hex(slice s, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s.n; i++) {
        int digit = hex_digit(s.p[i]);
        if (digit < 0)
            return false;
        *out = *out << 4 | (uint64_t)digit;
    }
    return s.n > 0 && s.n <= 16;
}

bool slice_to_ns(slice s, int64_t *out)
{
    size_t digits = 0;
    while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
        digits++;
    uint64_t number;
    if (!slice_to_u64((slice){s.p, digits}, INT64_MAX, &number))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (slice_is(slice_from(s, digits), units[i].unit))
            return !__builtin_mul_overflow((int64_t)number, units[i].ns, out);
    return false;
}

slice slice_copy(struct arena *a, slice s)
{
    return (slice){arena_copy(a, s.p, s.n), s.n};
}

/* Room for n more bytes and a NUL; how many of the n fit below the bound. */
static size_t buf_reserve(struct buf *b, size_t n)
{
    if (n > b->max - b->n) {
        n = b->max - b->n;
        b->full = true;
    }
    if (b->n + n + 1 > b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 64;
        while (cap < b->n + n + 1)
            cap *= 2;
        b->p = mem_grow(b->p, cap, 1);
        b->cap = cap;
    }
    return n;
}

void buf_add_slowly(struct buf *b, slice s)
{
    size_t n = buf_reserve(b, s.n);
    if (n)
        memcpy(b->p + b->n, s.p, n);
    b->n += n;
    b->p[b->n] = 0;
}

void buf_addv(struct buf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0) {
        size_t fits = buf_reserve(b, (size_t)n);
        vsnprintf(b->p + b->n, fits + 1, format, again);
        b->n += fits;
    }
    va_end(again);
}

void buf_addf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_addv(b, format, args);
    va_end(args);
}

const char *buf_text(const struct buf *b)
{
    return b->p ? b->p : "";
}

slice buf_slice(const struct buf *b)
{
    return (slice){buf_text(b), b->n};
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->full = false;
    if (b->p)
        b->p[0] = 0;
}

void buf_deinit(struct buf *b)
{
    mem_free(b->p);
    *b = BUF_INIT(b->max);
}

slice buf_keep(struct buf *b, struct arena *a)
{
    slice kept = slice_copy(a, buf_slice(b));
    buf_deinit(b);
    return kept;
}

void buf_add_ns(struct buf *b, int64_t ns)
{
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof *units && ns < units[i].ns)
        i++;
    if (ns % units[i].ns == 0)
        buf_addf(b, "%lld%s", (long long)(ns / units[i].ns), units[i].unit);
    else
        buf_addf(b, "%.1f%s", (double)ns / (double)units[i].ns, units[i].unit);
}

void buf_add_shell(struct buf *b, slice word)
{
    buf_addc(b, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            buf_adds(b, "'\\''");
        else
            buf_addc(b, word.p[i]);
    }
    buf_addc(b, '\'');
}

bool percent_decode(slice text, bool form, struct buf *out)
{
    bool good = true;
    for (size_t i = 0; i < text.n; i++) {
        uint64_t byte;
        bool code = text.p[i] == '%';
        if (code && i + 2 < text.n && slice_to_hex((slice){text.p + i + 1, 2}, &byte)) {
            buf_addc(out, (char)byte);
            i += 2;
            continue;
        }
        good &= !code;
        buf_addc(out, form && text.p[i] == '+' ? ' ' : text.p[i]);
    }
    return good;
}
