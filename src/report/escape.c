/* SPDX-License-Identifier: Apache-2.0 */
#include "report/escape.h"

#include "base/printable.h"

/* All of it or nothing: a buffer that is full must not end in half a character or entity. */
static void add_whole(struct buf *out, slice part)
{
    if (out->full || part.n > out->max - out->n)
        out->full = true;
    else
        buf_add(out, part);
}

/* One character of a text: '?' when nobody may see it, with a blank in front of it when it would
 * complete the opening of a command. */
static void add_shown(struct buf *out, enum opening *at, struct glyph c)
{
    if (glyph_hidden(c.code))
        c = (struct glyph){SLICE("?"), '?'};
    if (opening_next(at, c.code))
        add_whole(out, SLICE(" "));
    add_whole(out, c.bytes);
}

void escape_line(slice text, struct buf *out)
{
    enum opening at = OPENING_NONE;
    while (text.n)
        add_shown(out, &at, glyph_take(&text));
}

static slice xml_of(struct glyph c)
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
    return glyph_hidden(c.code) ? (slice){0} : c.bytes;
}

void escape_xml(slice text, struct buf *out)
{
    enum opening at = OPENING_NONE;
    while (text.n) {
        struct glyph c = glyph_take(&text);
        slice part = xml_of(c);
        if (part.n && opening_next(&at, c.code) && c.code == '[')
            part = SLICE("&#91;");
        add_whole(out, part);
    }
}

void escape_markdown(slice text, struct buf *out)
{
    while (text.n) {
        struct glyph c = glyph_take(&text);
        char pair[2] = {'\\', (char)c.code};
        if (glyph_hidden(c.code))
            add_whole(out, SLICE(" "));
        else if (c.code == '<' || c.code == '>' || c.code == '&')
            add_whole(out, xml_of(c));
        else if (c.code < 0x80 && c.code && strchr("\\`*_[]|~#$@!", (int)c.code))
            add_whole(out, (slice){pair, 2});
        else
            add_whole(out, c.bytes);
    }
}

void escape_code(slice text, const char *language, struct buf *out)
{
    size_t ticks = 3; /* one more than the longest run of them in the text */
    for (size_t i = 0, now = 0; i < text.n; i++) {
        now = text.p[i] == '`' ? now + 1 : 0;
        ticks = now < ticks ? ticks : now + 1;
    }
    for (size_t i = 0; i < ticks; i++)
        buf_addc(out, '`');
    buf_addf(out, "%s\n", language);
    enum opening at = OPENING_LINE;
    while (text.n) {
        struct glyph c = glyph_take(&text);
        if (c.code == '\n') {
            add_whole(out, c.bytes);
            at = OPENING_LINE;
        } else {
            add_shown(out, &at, c);
        }
    }
    if (out->n && out->p[out->n - 1] != '\n')
        buf_addc(out, '\n');
    for (size_t i = 0; i < ticks; i++)
        buf_addc(out, '`');
    buf_addc(out, '\n');
}

void escape_github(slice text, bool property, struct buf *out)
{
    enum opening at = OPENING_NONE;
    while (text.n) {
        struct glyph c = glyph_take(&text);
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
            add_shown(out, &at, c);
    }
}

void escape_addf(struct buf *out, void (*escape)(slice text, struct buf *out), const char *format,
                 ...)
{
    va_list texts;
    va_start(texts, format);
    for (const char *at; (at = strstr(format, "%s")); format = at + 2) {
        buf_add(out, (slice){format, (size_t)(at - format)});
        escape(slice_of(va_arg(texts, const char *)), out);
    }
    va_end(texts);
    buf_adds(out, format);
}
