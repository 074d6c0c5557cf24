/* SPDX-License-Identifier: Apache-2.0 */
#include "support/wire_text.h"

enum { REPEAT_MAX = 4 << 20 };

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `\(...\)*N`, at the first parenthesis; *used: bytes of it. */
static bool unescape_repetition(slice text, struct buf *out, size_t *used)
{
    size_t close = 1;
    while (close + 1 < text.n && (text.p[close] != '\\' || text.p[close + 1] != ')'))
        close += text.p[close] == '\\' ? 2 : 1;
    if (close + 2 >= text.n || text.p[close + 2] != '*')
        return false;
    size_t end = close + 3;
    while (end < text.n && text.p[end] >= '0' && text.p[end] <= '9')
        end++;
    uint64_t count;
    if (!slice_to_u64((slice){text.p + close + 3, end - close - 3}, REPEAT_MAX, &count))
        return false;
    struct buf piece = BUF_INIT(REPEAT_MAX);
    bool well = text_unescape((slice){text.p + 1, close - 1}, &piece);
    for (uint64_t i = 0; well && i < count; i++)
        buf_add(out, buf_slice(&piece));
    buf_deinit(&piece);
    *used = end;
    return well;
}

/* What follows a backslash; *used: bytes of it. */
static bool unescape_one(slice text, struct buf *out, size_t *used)
{
    static const char from[] = "rnt\\", to[] = "\r\n\t\\";
    if (text.n == 0)
        return false;
    const char *at = strchr(from, text.p[0]);
    *used = 1;
    if (text.p[0] == '(')
        return unescape_repetition(text, out, used);
    if (at && *at) {
        buf_addc(out, to[at - from]);
        return true;
    }
    if (text.p[0] != 'x' || text.n < 3 || hex_value(text.p[1]) < 0 || hex_value(text.p[2]) < 0)
        return false;
    buf_addc(out, (char)(hex_value(text.p[1]) * 16 + hex_value(text.p[2])));
    *used = 3;
    return true;
}

bool text_unescape(slice text, struct buf *out)
{
    while (text.n) {
        size_t plain = slice_find(text, '\\'), used;
        buf_add(out, (slice){text.p, plain});
        text = slice_from(text, plain);
        if (text.n == 0)
            break;
        text = slice_from(text, 1);
        if (!unescape_one(text, out, &used))
            return false;
        text = slice_from(text, used);
    }
    return !out->full;
}

static void escape_byte(char c, struct buf *out)
{
    if (c == '\\')
        buf_adds(out, "\\\\");
    else if (c == '\r')
        buf_adds(out, "\\r");
    else if (c == '\n')
        buf_adds(out, "\\n\n");
    else if (c < ' ' || c == 127)
        buf_addf(out, "\\x%02x", (unsigned)(uint8_t)c);
    else
        buf_addc(out, c);
}

void text_escape(slice bytes, struct buf *out)
{
    for (size_t i = 0, run; i < bytes.n; i += run) {
        for (run = 1; i + run < bytes.n && bytes.p[i + run] == bytes.p[i];)
            run++;
        if (run > 40) {
            buf_adds(out, "\\(");
            escape_byte(bytes.p[i], out);
            buf_addf(out, "\\)*%zu", run);
            continue;
        }
        run = 1;
        escape_byte(bytes.p[i], out);
    }
}

bool text_cut_bar(slice *rest, slice *part)
{
    if (!rest->p)
        return false;
    size_t at = 0;
    while (at < rest->n && (rest->p[at] != '|' || at == 0 || rest->p[at - 1] != ' '))
        at++;
    *part = slice_trim((slice){rest->p, at});
    if (at < rest->n)
        *rest = slice_from(*rest, at + 1);
    else
        *rest = (slice){0};
    return true;
}

bool text_cut_name(slice text, slice *name, slice *value)
{
    size_t colon = text.n && text.p[0] == ':' ? 1 : 0;
    while (colon < text.n && text.p[colon] != ':')
        colon++;
    if (colon == text.n)
        return false;
    *name = (slice){text.p, colon};
    *value = slice_trim(slice_from(text, colon + 1));
    return true;
}
