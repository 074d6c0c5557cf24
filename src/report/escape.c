/* SPDX-License-Identifier: Apache-2.0 */
#include "report/escape.h"

static const uint32_t REPLACEMENT = 0xfffd;

/* The bytes of a character, and what it is. */
struct character {
    slice bytes;
    uint32_t code;
};

/* Takes the first character off *text, which is not empty. */
static struct character take(slice *text)
{
    static const struct {
        uint8_t mask, lead, n;
        uint32_t least;
    } rows[] = {
        {0x80, 0, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    uint8_t first = (uint8_t)text->p[0];
    struct character none = {SLICE("\xef\xbf\xbd"), REPLACEMENT};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t k = 1;
        if ((first & rows[i].mask) != rows[i].lead || text->n < rows[i].n)
            continue;
        uint32_t code = first & (uint8_t)~rows[i].mask;
        for (; k < rows[i].n && (text->p[k] & 0xc0) == 0x80; k++)
            code = code << 6 | (text->p[k] & 0x3f);
        bool good = k == rows[i].n && code >= rows[i].least && code <= 0x10ffff &&
                    !(code >= 0xd800 && code < 0xe000);
        slice bytes = {text->p, good ? k : 1};
        *text = slice_from(*text, bytes.n);
        return good ? (struct character){bytes, code} : none;
    }
    *text = slice_from(*text, 1);
    return none;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

/* All of it or nothing: a buffer that is full must not end in half a character or entity. */
static void add_whole(struct buf *out, slice part)
{
    if (out->full || part.n > out->max - out->n)
        out->full = true;
    else
        buf_add(out, part);
}

void escape_line(slice text, struct buf *out)
{
    while (text.n) {
        struct character c = take(&text);
        add_whole(out, is_control(c.code) ? SLICE("?") : c.bytes);
    }
}

static slice xml_of(struct character c)
{
    switch (c.code) {
    case '&': return SLICE("&amp;");
    case '<': return SLICE("&lt;");
    case '>': return SLICE("&gt;");
    case '"': return SLICE("&quot;");
    case '\t': return SLICE("&#9;");
    case '\n': return SLICE("&#10;");
    case '\r': return SLICE("&#13;");
    default: break;
    }
    if (is_control(c.code) || c.code == 0xfffe || c.code == 0xffff)
        return (slice){0};
    return c.bytes;
}

void escape_xml(slice text, struct buf *out)
{
    while (text.n) {
        struct character c = take(&text);
        add_whole(out, xml_of(c));
    }
}

void escape_markdown(slice text, struct buf *out)
{
    while (text.n) {
        struct character c = take(&text);
        char pair[2] = {'\\', (char)c.code};
        if (is_control(c.code))
            add_whole(out, SLICE(" "));
        else if (c.code == '<' || c.code == '>' || c.code == '&')
            add_whole(out, xml_of(c));
        else if (c.code < 0x80 && c.code && strchr("\\`*_[]|~#$@!", (int)c.code))
            add_whole(out, (slice){pair, 2});
        else
            add_whole(out, c.bytes);
    }
}

static size_t longest_ticks(slice text)
{
    size_t longest = 0, now = 0;
    for (size_t i = 0; i < text.n; i++) {
        now = text.p[i] == '`' ? now + 1 : 0;
        longest = now > longest ? now : longest;
    }
    return longest;
}

void escape_code(slice text, const char *language, struct buf *out)
{
    size_t ticks = longest_ticks(text) + 1;
    ticks = ticks < 3 ? 3 : ticks;
    for (size_t i = 0; i < ticks; i++)
        buf_addc(out, '`');
    buf_addf(out, "%s\n", language);
    while (text.n) {
        struct character c = take(&text);
        add_whole(out, is_control(c.code) && c.code != '\n' ? SLICE("?") : c.bytes);
    }
    if (out->n && out->p[out->n - 1] != '\n')
        buf_addc(out, '\n');
    for (size_t i = 0; i < ticks; i++)
        buf_addc(out, '`');
    buf_addc(out, '\n');
}

void escape_github(slice text, bool property, struct buf *out)
{
    while (text.n) {
        struct character c = take(&text);
        if (c.code == '%')
            add_whole(out, SLICE("%25"));
        else if (c.code == '\n')
            add_whole(out, SLICE("%0A"));
        else if (c.code == '\r')
            add_whole(out, SLICE("%0D"));
        else if (property && c.code == ':')
            add_whole(out, SLICE("%3A"));
        else if (property && c.code == ',')
            add_whole(out, SLICE("%2C"));
        else
            add_whole(out, is_control(c.code) ? SLICE("?") : c.bytes);
    }
}
