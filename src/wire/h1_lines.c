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

/* Why a line (without its LF) is not a strict one, or NULL. */
static const char *line_fault(const char *p, size_t n, bool first)
{
    if (n == 0 || p[n - 1] != '\r')
        return "a line ends in LF without CR";
    if (!first && (p[0] == ' ' || p[0] == '\t'))
        return "a header is continued on a second line (obs-fold)";
    unsigned bad = 0;
    for (size_t i = 0; i + 1 < n; i++)
        bad |= is_control((uint8_t)p[i]);
    return bad ? "a line has a control byte" : NULL;
}

int64_t h1_find_end(slice bytes, size_t *scanned, struct h1_refusal *why)
{
    size_t at = *scanned;
    while (at < bytes.n) {
        const char *line = bytes.p + at;
        const char *lf = memchr(line, '\n', bytes.n - at);
        if (!lf)
            break;
        size_t n = (size_t)(lf - line);
        const char *fault = line_fault(line, n, at == 0);
        if (fault)
            return refuse(why, fault);
        at += n + 1;
        *scanned = at;
        if (n == 1)
            return (int64_t)at;
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
