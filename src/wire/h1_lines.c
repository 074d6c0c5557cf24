/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines, read strictly. llhttp 8 forgives what two parsers in a row may read differently (a bare LF
 * after a chunk size, continuation lines, a blank before the colon), and what two parsers read
 * differently is how requests are smuggled. So the lines are looked at here before llhttp sees
 * them, and nothing is ever repaired. */
#include "wire/h1_int.h"

/* The characters of tokens, one bit each: letters, digits and !#$%&'*+-.^_`|~ */
static const uint64_t token_bits[4] = {0x03ff6cfa00000000u, 0x57ffffffc7fffffeu, 0, 0};

/* Those of a host and port: letters, digits and -._~%!$&'()*+,;=:[] */
static const uint64_t authority_bits[4] = {0x2fff7ff200000000u, 0x47fffffeaffffffeu, 0, 0};

static bool is_control(uint8_t c)
{
    return (c < ' ' && c != '\t') || c == 127;
}

static int64_t refuse(struct h1_refusal *why, const char *text)
{
    *why = (struct h1_refusal){400, text};
    return -1;
}

/* Heads are looked at eight bytes at a time: a word in which no byte is below a blank or DEL, which
 * nearly all are, is fine as a whole. */
static bool has_control(const char *p, size_t n)
{
    const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word, del;
        memcpy(&word, p, 8);
        del = word ^ ones * 127;
        if (!((((word - ones * ' ') & ~word) | ((del - ones) & ~del)) & tops))
            continue;
        for (int i = 0; i < 8; i++)
            if (is_control((uint8_t)p[i]))
                return true;
    }
    for (; n; p++, n--)
        if (is_control((uint8_t)*p))
            return true;
    return false;
}

/* Why a line (without its LF) is not a strict one, or NULL. */
static const char *line_fault(const char *p, size_t n, bool first)
{
    if (n == 0 || p[n - 1] != '\r')
        return "a line ends in LF without CR";
    if (!first && (p[0] == ' ' || p[0] == '\t'))
        return "a header is continued on a second line (obs-fold)";
    return has_control(p, n - 1) ? "a line has a control byte" : NULL;
}

int64_t h1_find_end(slice bytes, struct h1_scan *scan, struct h1_refusal *why)
{
    while (scan->seen < bytes.n) {
        const char *lf = memchr(bytes.p + scan->seen, '\n', bytes.n - scan->seen);
        if (!lf) {
            scan->seen = bytes.n;
            break;
        }
        const char *line = bytes.p + scan->line;
        size_t n = (size_t)(lf - line);
        const char *fault = line_fault(line, n, scan->line == 0);
        if (fault)
            return refuse(why, fault);
        scan->line = scan->seen = scan->line + n + 1;
        if (n == 1)
            return (int64_t)scan->line;
    }
    return 0;
}

bool h1_cut_field(slice *lines, struct field *out)
{
    size_t end = slice_find(*lines, '\r');
    if (end == 0 || end >= lines->n)
        return false;
    slice line = {lines->p, end};
    *lines = slice_from(*lines, end + 2);
    size_t colon = slice_find(line, ':');
    out->name = (slice){line.p, colon};
    out->value = colon < line.n ? slice_trim(slice_from(line, colon + 1)) : (slice){0};
    if (colon == line.n)
        out->name.n = 0; /* no colon: no name */
    return true;
}

static bool all_in(slice s, const uint64_t *bits)
{
    unsigned bad = 0;
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        bad |= !(bits[c >> 6] >> (c & 63) & 1);
    }
    return !bad;
}

bool h1_is_token(slice s)
{
    return s.n > 0 && all_in(s, token_bits);
}

bool h1_is_authority(slice s)
{
    return all_in(s, authority_bits);
}
