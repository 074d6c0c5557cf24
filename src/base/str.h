/* SPDX-License-Identifier: Apache-2.0
 *
 * slice: a piece of text that somebody else owns. buf: text that grows, up to a bound that its
 * maker names. */
#ifndef OUTFOX_BASE_STR_H
#define OUTFOX_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"

typedef struct slice {
    const char *p;
    size_t n;
} slice;

/* For printf: "%.*s", SLICE_ARG(s) */
#define SLICE_ARG(s)   (int)(s).n, (s).p
#define SLICE(literal) ((slice){"" literal, sizeof(literal) - 1})

static inline slice slice_of(const char *text)
{
    return (slice){text, strlen(text)};
}

static inline bool slice_eq(slice a, slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_eq_nocase(slice a, slice b)
{
    return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_is(slice a, const char *text)
{
    return slice_eq(a, slice_of(text));
}

static inline bool slice_starts(slice a, slice prefix)
{
    return a.n >= prefix.n && memcmp(a.p, prefix.p, prefix.n) == 0;
}

static inline slice slice_from(slice s, size_t at)
{
    return (slice){at ? s.p + at : s.p, s.n - at}; /* also of no text at all */
}

/* Byte order, shorter first where one is the beginning of the other. */
int slice_cmp(slice a, slice b);
slice slice_trim(slice s);

/* The last line of a text, without blanks around it. */
slice slice_last_line(slice text);

/* Index of c in s, or s.n. */
size_t slice_find(slice s, char c);

/* Cuts the part before the first `c` off *rest, or all of it; false when *rest had ended (p ==
 * NULL). */
bool slice_cut(slice *rest, char c, slice *part);

/* Is the text what the pattern says, in which each `*` stands for anything, also for nothing? */
bool slice_glob(slice pattern, slice text);

/* A token of HTTP (RFC 9110), as methods and names of fields are; at most 200 bytes. */
bool slice_is_token(slice s);

/* The next run of non-blank bytes of *rest; false when there is none. */
bool slice_word(slice *rest, slice *word);

/* Decimal digits only, no sign, at most `max`. */
bool slice_to_u64(slice s, uint64_t max, uint64_t *out) MUST_USE;

/* A finite number as people and programs write it, -1.5 or 2e6; at most 60 bytes, nothing else. */
bool slice_to_real(slice s, double *out) MUST_USE;

/* Letters and digits of ASCII, whatever the locale. */
static inline bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool is_letter(char c)
{
    return is_upper(c) || is_lower(c);
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What a hex digit of either case stands for; -1: it is none. */
static inline int hex_digit(char c)
{
    char lower = (char)(c | 0x20);
    return is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* 1 to 16 hex digits, nothing else. */
bool slice_to_hex(slice s, uint64_t *out) MUST_USE;

/* The word that goes with a count: plural(n, "run", "runs"). */
static inline const char *plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

/* The decimal digits of a number; the text is in `room`. */
enum { DIGITS_MOST = 20 };
slice slice_of_u64(uint64_t number, char room[DIGITS_MOST]);

/* A number with unit ns, us, ms, s, m or h. */
bool slice_to_ns(slice s, int64_t *out) MUST_USE;

slice slice_copy(struct arena *a, slice s);

struct buf {
    char *p; /* always NUL-terminated once something was added */
    size_t n, cap, max;
    bool full; /* something did not fit below max; the text is a prefix */
};

/* A buffer that never grows past max bytes. */
#define BUF_INIT(most) ((struct buf){.max = (most)})

void buf_add_slowly(struct buf *b, slice s);

/* Inline, because what is added is mostly short and known when compiling. */
static inline void buf_add(struct buf *b, slice s)
{
    if (s.n >= b->cap - b->n || s.n > b->max - b->n) {
        buf_add_slowly(b, s);
        return;
    }
    if (s.n)
        memcpy(b->p + b->n, s.p, s.n);
    b->n += s.n;
    b->p[b->n] = 0;
}

static inline void buf_adds(struct buf *b, const char *text)
{
    buf_add(b, slice_of(text));
}

static inline void buf_addc(struct buf *b, char c)
{
    buf_add(b, (slice){&c, 1});
}

void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_addv(struct buf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Percent-coding: bytes that may not stand where they are written become %XX. Which ones is the
 * caller's to say (`plain`: the byte is written as it is), so encoding is inline. */
static inline void percent_add(struct buf *out, char c)
{
    static const char digits[] = "0123456789ABCDEF";
    char text[] = {'%', digits[(uint8_t)c >> 4], digits[(uint8_t)c & 15]};
    buf_add(out, (slice){text, sizeof text});
}

static inline void percent_encode(slice text, bool (*plain)(char c), struct buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        if (plain(text.p[i]))
            buf_addc(out, text.p[i]);
        else
            percent_add(out, text.p[i]);
    }
}

/* form: + is a blank. False: somewhere no two digits follow a %, which then means itself. */
bool percent_decode(slice text, bool form, struct buf *out);

/* The text; "" when nothing was added. */
const char *buf_text(const struct buf *b);
slice buf_slice(const struct buf *b);
void buf_clear(struct buf *b);
void buf_deinit(struct buf *b);

/* A copy of the text that the arena keeps; the buffer is given back. */
slice buf_keep(struct buf *b, struct arena *a);

/* One word for a shell, whatever is in it. */
void buf_add_shell(struct buf *b, slice word);

/* A duration for people: 250us, 20ms, 1.5s, 2m. */
void buf_add_ns(struct buf *b, int64_t ns);

#endif
