/* SPDX-License-Identifier: Apache-2.0
 *
 * The dialects of trace context: one row per header, with how its value is read and written.
 *
 * 1. An id that is all zeros is none, in every dialect.
 * 2. What is printed is read back to the same lower half.
 * 3. Where a dialect wants the id of a span, too, it is the lower half: what it would be in the
 *    first span of a trace. */
#include "track/context_int.h"

#include <string.h>

/* ---- digits ---- */

/* The value of a hex digit and what it is; 0: no digit. */
enum { DIGIT = 0x10, LOWER = 0x20, BOTH = DIGIT | LOWER };
static const uint8_t hex_value[256] = {
    ['0'] = BOTH,       ['1'] = BOTH | 1,   ['2'] = BOTH | 2,   ['3'] = BOTH | 3,
    ['4'] = BOTH | 4,   ['5'] = BOTH | 5,   ['6'] = BOTH | 6,   ['7'] = BOTH | 7,
    ['8'] = BOTH | 8,   ['9'] = BOTH | 9,   ['a'] = BOTH | 10,  ['b'] = BOTH | 11,
    ['c'] = BOTH | 12,  ['d'] = BOTH | 13,  ['e'] = BOTH | 14,  ['f'] = BOTH | 15,
    ['A'] = DIGIT | 10, ['B'] = DIGIT | 11, ['C'] = DIGIT | 12, ['D'] = DIGIT | 13,
    ['E'] = DIGIT | 14, ['F'] = DIGIT | 15,
};

/* At most 16 digits. Returns what all of them are: 0, DIGIT or BOTH. */
static uint32_t parse_word(const char *p, size_t n, uint64_t *word)
{
    uint64_t x = 0;
    uint32_t all = BOTH;
    for (size_t i = 0; i < n; i++) {
        uint32_t digit = hex_value[(uint8_t)p[i]];
        all &= digit;
        x = x << 4 | (digit & 15);
    }
    *word = x;
    return all & BOTH;
}

static uint32_t parse_digits(slice s, struct trace_id *id)
{
    size_t low = s.n < 16 ? s.n : 16;
    uint32_t all = parse_word(s.p + s.n - low, low, &id->low);
    return all & parse_word(s.p, s.n - low, &id->high);
}

bool dialect_parse_hex(slice s, size_t most, struct trace_id *id)
{
    return s.n > 0 && s.n <= most && s.n <= 32 && parse_digits(s, id);
}

/* Exactly n digits that are not all 0. */
static bool parse_id(slice s, size_t n, struct trace_id *id)
{
    return s.n == n && dialect_parse_hex(s, n, id) && (id->high | id->low) != 0;
}

char *dialect_print_hex(uint64_t number, uint32_t digits, char *at)
{
    for (uint32_t i = digits; i-- > 0; number >>= 4)
        at[i] = "0123456789abcdef"[number & 15];
    return at + digits;
}

static char *print_slice(slice s, char *at)
{
    memcpy(at, s.p, s.n);
    return at + s.n;
}

/* ---- x-request-id, and headers that users name ---- */

bool dialect_parse_plain(slice value, struct trace_id *id)
{
    static const uint8_t groups[] = {8, 4, 4, 4, 12};
    char digits[32];
    size_t n = 0, at = 0;
    if (value.n != 36)
        return parse_id(value, 32, id);
    for (size_t i = 0; i < sizeof groups; i++) {
        if (i && value.p[at++] != '-')
            return false;
        memcpy(digits + n, value.p + at, groups[i]);
        n += groups[i];
        at += groups[i];
    }
    return parse_id((slice){digits, n}, 32, id);
}

char *dialect_print_plain(struct trace_id id, char *at)
{
    return dialect_print_hex(id.low, 16, dialect_print_hex(id.high, 16, at));
}

static char *print_span(struct trace_id id, char *at)
{
    return dialect_print_hex(id.low, 16, at);
}

static char *print_one(struct trace_id id, char *at)
{
    (void)id;
    *at = '1';
    return at + 1;
}

/* ---- W3C ---- */

/* VERSION-TRACE-PARENT-FLAGS. Of versions to come it is known that they start like version 00. */
static bool parse_traceparent(slice value, struct trace_id *id)
{
    enum { LENGTH = 55 };
    uint64_t version, parent, flags;
    if (value.n < LENGTH || value.p[2] != '-' || value.p[35] != '-' || value.p[52] != '-')
        return false;
    uint32_t all = parse_word(value.p, 2, &version) & parse_word(value.p + 3, 16, &id->high) &
                   parse_word(value.p + 19, 16, &id->low) & parse_word(value.p + 36, 16, &parent) &
                   parse_word(value.p + 53, 2, &flags);
    if (!(all & LOWER) || version == 0xff || parent == 0 || (id->high | id->low) == 0)
        return false;
    return value.n == LENGTH || (version != 0 && value.p[LENGTH] == '-');
}

static char *print_traceparent(struct trace_id id, char *at)
{
    at = dialect_print_plain(id, print_slice(SLICE("00-"), at));
    *at++ = '-';
    return print_slice(SLICE("-01"), print_span(id, at));
}

/* ---- B3 ---- */

static bool parse_b3_trace(slice value, struct trace_id *id)
{
    return parse_id(value, value.n == 16 ? 16 : 32, id);
}

/* TRACE-SPAN, TRACE-SPAN-SAMPLED or TRACE-SPAN-SAMPLED-PARENT; SAMPLED alone names no trace. */
static bool parse_b3(slice value, struct trace_id *id)
{
    slice rest = value, part[4];
    struct trace_id span;
    size_t n = 0;
    while (n < 4 && slice_cut(&rest, '-', &part[n]))
        n++;
    if (rest.p || n < 2 || !parse_id(part[1], 16, &span))
        return false;
    if (n > 2 && (part[2].n != 1 || !memchr("01d", part[2].p[0], 3)))
        return false;
    if (n > 3 && !parse_id(part[3], 16, &span))
        return false;
    return parse_b3_trace(part[0], id);
}

static char *print_b3(struct trace_id id, char *at)
{
    at = dialect_print_plain(id, at);
    *at++ = '-';
    return print_slice(SLICE("-1"), print_span(id, at));
}

/* ---- Jaeger ---- */

/* Cuts the part before the first colon, also one that is written as %3A, off *rest. */
static bool cut_colon(slice *rest, slice *part)
{
    if (!rest->p)
        return false;
    for (size_t i = 0; i < rest->n; i++) {
        bool coded = rest->n - i >= 3 && rest->p[i] == '%' && rest->p[i + 1] == '3' &&
                     (rest->p[i + 2] | 0x20) == 'a';
        if (!coded && rest->p[i] != ':')
            continue;
        *part = (slice){rest->p, i};
        *rest = slice_from(*rest, i + (coded ? 3 : 1));
        return true;
    }
    *part = *rest;
    *rest = (slice){0};
    return true;
}

/* TRACE:SPAN:PARENT:FLAGS, all of them without leading zeros if the sender likes. */
static bool parse_jaeger(slice value, struct trace_id *id)
{
    static const uint8_t most[] = {32, 16, 16, 2};
    struct trace_id part[4];
    slice rest = value, text;
    for (size_t i = 0; i < 4; i++)
        if (!cut_colon(&rest, &text) || !dialect_parse_hex(text, most[i], &part[i]))
            return false;
    *id = part[0];
    return !rest.p && (id->high | id->low) != 0 && part[1].low != 0;
}

static char *print_jaeger(struct trace_id id, char *at)
{
    at = dialect_print_plain(id, at);
    *at++ = ':';
    return print_slice(SLICE(":0:1"), print_span(id, at));
}

/* ---- Datadog ---- */

static bool parse_datadog(slice value, struct trace_id *id)
{
    id->high = 0;
    return slice_to_u64(value, UINT64_MAX, &id->low) && id->low != 0;
}

static char *print_datadog(struct trace_id id, char *at)
{
    char room[DIGITS_MOST];
    return print_slice(slice_of_u64(id.low, room), at);
}

/* ---- X-Ray ---- */

/* 1-TIME-REST: 8 and 24 hex digits that are one id of 128 bits. */
static bool parse_xray_root(slice value, struct trace_id *id)
{
    char digits[32];
    if (value.n != 35 || value.p[0] != '1' || value.p[1] != '-' || value.p[10] != '-')
        return false;
    memcpy(digits, value.p + 2, 8);
    memcpy(digits + 8, value.p + 11, 24);
    return parse_id((slice){digits, 32}, 32, id);
}

/* Root=...;Parent=...;Sampled=... in any order, with others between them. */
static bool parse_xray(slice value, struct trace_id *id)
{
    const slice root = SLICE("Root=");
    slice rest = value, part;
    while (slice_cut(&rest, ';', &part)) {
        part = slice_trim(part);
        if (slice_starts(part, root))
            return parse_xray_root(slice_from(part, root.n), id);
    }
    return false;
}

static char *print_xray(struct trace_id id, char *at)
{
    at = dialect_print_hex(id.high >> 32, 8, print_slice(SLICE("Root=1-"), at));
    *at++ = '-';
    at = print_span(id, dialect_print_hex(id.high & UINT32_MAX, 8, at));
    return print_slice(SLICE(";Sampled=1"), print_span(id, print_slice(SLICE(";Parent="), at)));
}

/* ---- the table ---- */

#define HEADER_ROWS(ROW)                                                                           \
    ROW("tracestate", DIALECT_TRACESTATE, NULL, NULL)                                              \
    ROW("baggage", DIALECT_BAGGAGE, NULL, NULL)                                                    \
    ROW("traceparent", DIALECT_TRACEPARENT, parse_traceparent, print_traceparent)                  \
    ROW("b3", DIALECT_B3, parse_b3, print_b3)                                                      \
    ROW("x-b3-traceid", DIALECT_B3_MULTI, parse_b3_trace, dialect_print_plain)                     \
    ROW("x-b3-spanid", DIALECT_B3_MULTI, NULL, print_span)                                         \
    ROW("x-b3-sampled", DIALECT_B3_MULTI, NULL, print_one)                                         \
    ROW("x-request-id", DIALECT_REQUEST_ID, dialect_parse_plain, dialect_print_plain)              \
    ROW("uber-trace-id", DIALECT_JAEGER, parse_jaeger, print_jaeger)                               \
    ROW("x-datadog-trace-id", DIALECT_DATADOG, parse_datadog, print_datadog)                       \
    ROW("x-datadog-parent-id", DIALECT_DATADOG, NULL, print_datadog)                               \
    ROW("x-amzn-trace-id", DIALECT_XRAY, parse_xray, print_xray)

#define HEADER_ROW(name, dialect, parse, print) {{name, sizeof(name) - 1}, dialect, parse, print},
const struct dialect_header dialect_headers[DIALECT_HEADERS] = {HEADER_ROWS(HEADER_ROW)};

/* Which lengths names have: most fields of a request are told from ours by that alone. */
#define HEADER_LENGTH(name, dialect, parse, print) | 1u << (sizeof(name) - 1)
static const uint32_t header_lengths = 0 HEADER_ROWS(HEADER_LENGTH);

const struct dialect_header *dialect_header_of(slice name)
{
    if (name.n > 31 || !(header_lengths >> name.n & 1))
        return NULL;
    for (size_t i = 0; i < DIALECT_HEADERS; i++) {
        const slice row = dialect_headers[i].name;
        if (row.n == name.n && (name.p[name.n - 1] | 0x20) == row.p[row.n - 1] &&
            slice_eq_nocase(row, name))
            return &dialect_headers[i];
    }
    return NULL;
}

const char *const dialect_names[DIALECTS] = {
    [DIALECT_TRACESTATE] = "tracestate",   [DIALECT_BAGGAGE] = "baggage",
    [DIALECT_TRACEPARENT] = "traceparent", [DIALECT_B3] = "b3",
    [DIALECT_B3_MULTI] = "x-b3-traceid",   [DIALECT_REQUEST_ID] = "x-request-id",
    [DIALECT_JAEGER] = "uber-trace-id",    [DIALECT_DATADOG] = "x-datadog-trace-id",
    [DIALECT_XRAY] = "x-amzn-trace-id",    [DIALECT_CUSTOM] = "custom",
};
