/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

static const uint32_t REPLACEMENT = 0xfffd;

/* ---- characters ---- */

/* How many bytes a character takes that begins so; 0: none does. */
static size_t length_of(uint8_t first)
{
    return first < 0x80                    ? 1
           : first >= 0xc2 && first < 0xe0 ? 2
           : (first & 0xf0) == 0xe0        ? 3
           : first >= 0xf0 && first < 0xf5 ? 4
                                           : 0;
}

struct glyph glyph_take(slice *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t)text->p[0];
    size_t n = length_of(first), k = 1;
    uint32_t code = n > 1 ? first & (0x7fu >> n) : first;
    for (; k < n && k < text->n && (text->p[k] & 0xc0) == 0x80; k++)
        code = code << 6 | (text->p[k] & 0x3f);
    bool good = n && k == n && code >= least[n] && code <= 0x10ffff && (code & ~0x7ffu) != 0xd800;
    slice bytes = {text->p, good ? n : 1};
    *text = slice_from(*text, bytes.n);
    return good ? (struct glyph){bytes, code} : (struct glyph){SLICE("\xef\xbf\xbd"), REPLACEMENT};
}

bool text_is_utf8(slice text)
{
    while (text.n) {
        const char *at = text.p;
        if (glyph_take(&text).bytes.p != at) /* another stands for it */
            return false;
    }
    return true;
}

bool glyph_hidden(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } rows[] = {
        {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},     {0x34f, 0x34f},
        {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5}, {0x180b, 0x180f},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f}, {0x3164, 0x3164},
        {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
        {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && rows[i].first <= code; i++)
        if (code <= rows[i].last)
            return true;
    return (code & 0xfffe) == 0xfffe; /* no characters, at the end of each plane */
}

/* ---- commands ---- */

bool opening_next(enum opening *at, uint32_t c)
{
    enum opening was = *at;
    /* what a runner skips at the beginning of a line, as far as it is printed */
    bool blank = c == ' ' || c == '\t' || c == 0xa0 || c == 0x1680 ||
                 (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
    /* of the word between "##" and "[" */
    bool word = c < 0x80 && (c == '#' || c == '_' || c == '-' || c == '.' || is_digit((char)c) ||
                             is_letter((char)c));
    if (c == '\n' || c == '\r' || (was == OPENING_LINE && blank))
        *at = OPENING_LINE;
    else if (was == OPENING_LINE && c == ':')
        *at = OPENING_COLON;
    else if (was == OPENING_HASHES && word)
        *at = OPENING_HASHES;
    else if (c != '#')
        *at = OPENING_NONE;
    else
        *at = was == OPENING_HASH ? OPENING_HASHES : OPENING_HASH;
    return (was == OPENING_COLON && c == ':') || (was == OPENING_HASHES && c == '[');
}

/* The length of the beginning that needs no look at its characters. */
static size_t plain_length(slice s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= ' ' && s.p[n] < 0x7f && s.p[n] != '#')
        n++;
    return n;
}

/* ---- JSON ---- */

void printable_json(slice text, struct buf *out)
{
    enum opening at = OPENING_NONE;
    while (text.n) {
        size_t plain = at == OPENING_NONE ? plain_length(text) : 0;
        buf_add(out, (slice){text.p, plain});
        text = slice_from(text, plain);
        if (!text.n)
            return;
        struct glyph g = glyph_take(&text);
        bool opens = opening_next(&at, g.code);
        if (!opens && (g.code < 0x7f || !glyph_hidden(g.code)))
            buf_add(out, g.bytes);
        else if (g.code < 0x10000)
            buf_addf(out, "\\u%04x", (unsigned)g.code);
        else
            buf_addf(out, "\\u%04x\\u%04x", 0xd800 + (unsigned)((g.code - 0x10000) >> 10),
                     0xdc00 + (unsigned)((g.code - 0x10000) & 0x3ff));
        at = at < OPENING_NONE ? OPENING_NONE : at; /* a text in quotes begins no line */
    }
}

/* ---- a stream ---- */

/* Does the text begin with one of our own colours? Its length; SIZE_MAX: it may, once there is
 * more of it. */
static size_t colour_of(slice text)
{
    static const char *const rows[] = {"\033[0m",  "\033[1m",  "\033[2m",
                                       "\033[31m", "\033[32m", "\033[33m"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        slice row = slice_of(rows[i]);
        if (slice_starts(text, row))
            return row.n;
        if (text.n < row.n && slice_starts(row, text))
            return SIZE_MAX;
    }
    return 0;
}

/* Is this the beginning of a character that the next piece may complete? */
static bool is_begun(slice text)
{
    size_t n = length_of((uint8_t)text.p[0]);
    for (size_t k = 1; k < text.n && k < n; k++)
        if ((text.p[k] & 0xc0) != 0x80)
            return false;
    return n > text.n;
}

static void add_whole(struct printable *p, slice text, struct buf *out)
{
    while (text.n) {
        size_t plain = p->opening == OPENING_NONE ? plain_length(text) : 0;
        buf_add(out, (slice){text.p, plain});
        text = slice_from(text, plain);
        if (!text.n)
            return;
        size_t colour = p->colours ? colour_of(text) : 0;
        if (colour == SIZE_MAX || is_begun(text)) {
            memcpy(p->held, text.p, text.n);
            p->n_held = text.n;
            return;
        }
        if (colour) {
            buf_add(out, (slice){text.p, colour});
            text = slice_from(text, colour);
            continue;
        }
        struct glyph g = glyph_take(&text);
        if (glyph_hidden(g.code) && g.code != '\n' && g.code != '\t')
            g = (struct glyph){SLICE("?"), '?'};
        if (opening_next(&p->opening, g.code))
            buf_addc(out, ' ');
        buf_add(out, g.bytes);
    }
}

void printable_add(struct printable *p, slice text, struct buf *out)
{
    if (!p->n_held) {
        add_whole(p, text, out);
        return;
    }
    struct buf all = BUF_INIT(sizeof p->held + text.n);
    buf_add(&all, (slice){p->held, p->n_held});
    buf_add(&all, text);
    p->n_held = 0;
    add_whole(p, buf_slice(&all), out);
    buf_deinit(&all);
}
