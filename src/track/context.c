/* SPDX-License-Identifier: Apache-2.0
 *
 * Trace context, read from the head of a request and written into it. First the dialects: one row
 * per header, with how its value is read and written. Then reading and writing, both one pass over
 * the fields; a field that is none of ours costs a look at the length of its name.
 *
 * 1. An id that is all zeros is none, in every dialect. What is printed is read back to the same
 *    lower half.
 * 2. Where a dialect wants the id of a span, too, it is the lower half: what it would be in the
 *    first span of a trace.
 * 3. Several fields of a list (tracestate, baggage) are one list, in their order.
 * 4. Members of others keep their bytes and their order. When a list gets too long by ours, it is
 *    the last that go; what was too long in bytes before we came is not ours to judge.
 * 5. Nothing is allocated but from the arena of the caller. */
#include "track/context.h"

#include <string.h>

#define OWN_KEY "outfox"
#define NOWHERE UINT32_MAX

enum {
    MEMBERS_MOST = 64,
    MEMBER_MOST = sizeof OWN_KEY "=0123456789abcdef-01234567", /* of ours */
};

enum { HEADER_TEXT_MOST = 96 }; /* no header that is printed here is longer */

struct dialect_header {
    slice name;
    enum dialect dialect;
    /* False: malformed, or it names no trace. NULL: it goes with another one, or is a list. */
    bool (*parse)(slice value, struct trace_id *id);
    /* Prints at `at` and returns the end. NULL: a list. */
    char *(*print)(struct trace_id id, char *at);
};

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

/* All of s, 1 to `most` hex digits of any case; `most` is 32 or less. */
static bool parse_hex(slice s, size_t most, struct trace_id *id)
{
    size_t low = s.n < 16 ? s.n : 16;
    return s.n > 0 && s.n <= most &&
           parse_word(s.p + s.n - low, low, &id->low) & parse_word(s.p, s.n - low, &id->high);
}

/* Exactly n digits that are not all 0. */
static bool parse_id(slice s, size_t n, struct trace_id *id)
{
    return s.n == n && parse_hex(s, n, id) && (id->high | id->low) != 0;
}

static char *print_hex(uint64_t number, uint32_t digits, char *at)
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

/* 32 hex digits, also as a UUID. */
static bool parse_plain(slice value, struct trace_id *id)
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

static char *print_plain(struct trace_id id, char *at)
{
    return print_hex(id.low, 16, print_hex(id.high, 16, at));
}

static char *print_span(struct trace_id id, char *at)
{
    return print_hex(id.low, 16, at);
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
    at = print_plain(id, print_slice(SLICE("00-"), at));
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
    at = print_plain(id, at);
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
        if (!cut_colon(&rest, &text) || !parse_hex(text, most[i], &part[i]))
            return false;
    *id = part[0];
    return !rest.p && (id->high | id->low) != 0 && part[1].low != 0;
}

static char *print_jaeger(struct trace_id id, char *at)
{
    at = print_plain(id, at);
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

/* Root=...;Parent=...;Sampled=... in any order, with others between them. Root is 1-TIME-REST: 8 and
 * 24 hex digits that are one id of 128 bits. */
static bool parse_xray(slice value, struct trace_id *id)
{
    const slice root = SLICE("Root=");
    slice rest = value, part;
    char digits[32];
    while (slice_cut(&rest, ';', &part)) {
        part = slice_trim(part);
        if (!slice_starts(part, root))
            continue;
        part = slice_from(part, root.n);
        if (part.n != 35 || part.p[0] != '1' || part.p[1] != '-' || part.p[10] != '-')
            return false;
        memcpy(digits, part.p + 2, 8);
        memcpy(digits + 8, part.p + 11, 24);
        return parse_id((slice){digits, 32}, 32, id);
    }
    return false;
}

static char *print_xray(struct trace_id id, char *at)
{
    at = print_hex(id.high >> 32, 8, print_slice(SLICE("Root=1-"), at));
    *at++ = '-';
    at = print_span(id, print_hex(id.high & UINT32_MAX, 8, at));
    return print_slice(SLICE(";Sampled=1"), print_span(id, print_slice(SLICE(";Parent="), at)));
}

/* ---- the table ---- */

#define HEADER_ROWS(ROW)                                                                           \
    ROW("tracestate", DIALECT_TRACESTATE, NULL, NULL)                                              \
    ROW("baggage", DIALECT_BAGGAGE, NULL, NULL)                                                    \
    ROW("traceparent", DIALECT_TRACEPARENT, parse_traceparent, print_traceparent)                  \
    ROW("b3", DIALECT_B3, parse_b3, print_b3)                                                      \
    ROW("x-b3-traceid", DIALECT_B3_MULTI, parse_b3_trace, print_plain)                             \
    ROW("x-b3-spanid", DIALECT_B3_MULTI, NULL, print_span)                                         \
    ROW("x-b3-sampled", DIALECT_B3_MULTI, NULL, print_one)                                         \
    ROW("x-request-id", DIALECT_REQUEST_ID, parse_plain, print_plain)                              \
    ROW("uber-trace-id", DIALECT_JAEGER, parse_jaeger, print_jaeger)                               \
    ROW("x-datadog-trace-id", DIALECT_DATADOG, parse_datadog, print_datadog)                       \
    ROW("x-datadog-parent-id", DIALECT_DATADOG, NULL, print_datadog)                               \
    ROW("x-amzn-trace-id", DIALECT_XRAY, parse_xray, print_xray)

#define HEADER_ROW(name, dialect, parse, print) {{name, sizeof(name) - 1}, dialect, parse, print},
static const struct dialect_header dialect_headers[] = {HEADER_ROWS(HEADER_ROW)};

enum { DIALECT_HEADERS = sizeof dialect_headers / sizeof *dialect_headers };

/* Which lengths names have: most fields of a request are told from ours by that alone. */
#define HEADER_LENGTH(name, dialect, parse, print) | 1u << (sizeof(name) - 1)
static const uint32_t header_lengths = 0 HEADER_ROWS(HEADER_LENGTH);

/* The row of this name in any case; NULL: the header is none of ours. */
static const struct dialect_header *header_of(slice name)
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

/* ---- reading ---- */

struct reader {
    bool (*known)(void *ctx, uint64_t run);
    void *ctx;
    struct context *out;
};

static void reader_take(struct reader *r, enum dialect by, uint64_t run, uint32_t call)
{
    r->out->seen |= 1u << by;
    if (by >= r->out->by || run == 0 || !r->known(r->ctx, run))
        return;
    r->out->by = by;
    r->out->run = run;
    r->out->call = call;
}

/* The next member of a list, without blanks; false at its end. */
static bool member_next(slice *rest, slice *member)
{
    while (slice_cut(rest, ',', member)) {
        *member = slice_trim(*member);
        if (member->n)
            return true;
    }
    return false;
}

/* Is the key ours? Then *value is what follows it. */
static bool member_is_own(slice member, slice *value)
{
    const slice key = SLICE(OWN_KEY);
    if (!slice_starts(member, key))
        return false;
    *value = slice_trim(slice_from(member, key.n));
    if (value->n == 0 || value->p[0] != '=')
        return false;
    *value = slice_trim(slice_from(*value, 1));
    return true;
}

/* Our member is RUN-CALL; what follows a `;` are properties that others have added (baggage). */
static void list_read(struct reader *r, enum dialect by, slice list)
{
    slice member, value;
    struct trace_id run, call;
    while (member_next(&list, &member)) {
        if (!member_is_own(member, &value)) {
            r->out->seen |= slice_find(member, '=') < member.n ? 1u << by : 0;
            continue;
        }
        value.n = slice_find(value, ';');
        value = slice_trim(value);
        if (value.n >= 18 && value.p[16] == '-' && parse_hex((slice){value.p, 16}, 16, &run) &&
            parse_hex(slice_from(value, 17), 8, &call))
            reader_take(r, by, run.low, (uint32_t)call.low);
    }
}

void context_read(const struct head *h, const slice *custom, uint32_t n_custom,
                  bool (*known)(void *ctx, uint64_t run), void *ctx, struct context *out)
{
    struct reader r = {known, ctx, out};
    *out = (struct context){.call = UINT32_MAX, .by = DIALECTS};
    for (uint32_t i = 0; i < h->n_fields; i++) {
        const struct field *f = &h->fields[i];
        const struct dialect_header *d = header_of(f->name);
        struct trace_id id;
        for (uint32_t k = 0; k < n_custom; k++)
            if (slice_eq_nocase(custom[k], f->name) && parse_plain(slice_trim(f->value), &id))
                reader_take(&r, DIALECT_CUSTOM, id.low, UINT32_MAX);
        if (!d)
            continue;
        if (!d->print)
            list_read(&r, d->dialect, f->value);
        else if (d->parse && d->parse(slice_trim(f->value), &id))
            reader_take(&r, d->dialect, id.low, UINT32_MAX);
    }
}

/* ---- lists with our member ---- */

/* W3C: of a tracestate that gets too long large members go first. */
static const struct list_rule {
    uint32_t members; /* ours included */
    size_t bytes, large;
} list_rules[] = {
    [DIALECT_TRACESTATE] = {32, 512, 128},
    [DIALECT_BAGGAGE] = {MEMBERS_MOST, 8192, SIZE_MAX},
};

enum { LISTS = DIALECT_BAGGAGE + 1 };

struct list {
    const struct list_rule *rule; /* NULL: not to be written */
    uint32_t field;               /* where it goes; NOWHERE: there was none */
    uint32_t n;
    size_t bytes;           /* of what is in `at`, with a comma each */
    slice at[MEMBERS_MOST]; /* of others */
};

static void list_add(struct list *l, slice value)
{
    slice member, own;
    while (member_next(&value, &member)) {
        if (member_is_own(member, &own))
            continue;
        if (l->n == l->rule->members - 1)
            return; /* the last go first */
        l->at[l->n++] = member;
        l->bytes += member.n + 1;
    }
}

static char *member_print(uint64_t run, uint32_t call, char *at)
{
    uint32_t digits = 1;
    while (digits < 8 && call >> 4 * digits)
        digits++;
    memcpy(at, OWN_KEY "=", sizeof OWN_KEY);
    at = print_hex(run, 16, at + sizeof OWN_KEY);
    *at++ = '-';
    return print_hex(call, digits, at);
}

static slice list_print(struct list *l, slice own, struct arena *a)
{
    bool fitted = l->bytes <= l->rule->bytes + 1; /* the comma of the last one */
    while (fitted && l->n && own.n + l->bytes > l->rule->bytes) {
        uint32_t i = l->n; /* the last large one goes first, then the last */
        while (i > 0 && l->at[i - 1].n <= l->rule->large)
            i--;
        i = (i ? i : l->n) - 1;
        l->bytes -= l->at[i].n + 1;
        l->n--;
        memmove(&l->at[i], &l->at[i + 1], (l->n - i) * sizeof *l->at);
    }
    char *text = arena_alloc(a, own.n + l->bytes), *at = print_slice(own, text);
    for (uint32_t i = 0; i < l->n; i++) {
        *at++ = ',';
        at = print_slice(l->at[i], at);
    }
    return (slice){text, (size_t)(at - text)};
}

/* ---- writing ---- */

struct writer {
    struct arena *a;
    struct field *fields;
    uint32_t n;
    bool lists; /* one of them is written: then the other must not say something else */
    struct list list[LISTS];
};

/* A list as it is, but without our member; empty: nothing is left of it. */
static slice list_strip(slice value, struct arena *a)
{
    slice rest = value, member, own;
    bool ours = false;
    while (member_next(&rest, &member))
        ours |= member_is_own(member, &own);
    if (!ours)
        return value;
    char *text = arena_alloc(a, value.n + 1), *at = text;
    for (rest = value; member_next(&rest, &member);) {
        if (member_is_own(member, &own))
            continue;
        if (at > text)
            *at++ = ',';
        at = print_slice(member, at);
    }
    return (slice){text, (size_t)(at - text)};
}

/* False: the field is not to be sent on. */
static bool writer_take_list(struct writer *w, struct list *l, struct field *f)
{
    if (!l->rule) {
        bool empty = f->value.n == 0;
        if (w->lists)
            f->value = list_strip(f->value, w->a);
        return empty || f->value.n > 0;
    }
    list_add(l, f->value);
    if (l->field != NOWHERE)
        return false;
    l->field = w->n;
    return true;
}

static void writer_add(struct writer *w, slice name, struct trace_id id,
                       char *(*print)(struct trace_id id, char *at))
{
    char room[HEADER_TEXT_MOST];
    slice value = {room, (size_t)(print(id, room) - room)};
    w->fields[w->n++] = (struct field){name, slice_copy(w->a, value)};
}

void context_write(const struct head *from, uint32_t write, const slice *custom, uint32_t n_custom,
                   struct trace_id id, uint32_t call, struct arena *a, const struct field **fields,
                   uint32_t *n_fields)
{
    struct writer w;
    size_t most = (size_t)from->n_fields + DIALECT_HEADERS + n_custom;
    w.a = a;
    w.n = 0;
    w.lists = (write & ((1u << LISTS) - 1)) != 0;
    w.fields = arena_alloc(a, most * sizeof *w.fields);
    for (uint32_t i = 0; i < LISTS; i++) { /* not `at`, which is large */
        w.list[i].rule = write >> i & 1 ? &list_rules[i] : NULL;
        w.list[i].field = NOWHERE;
        w.list[i].n = 0;
        w.list[i].bytes = 0;
    }
    uint32_t present = 0; /* bits 1 << enum dialect: a header of it was there, well-formed or not */
    for (uint32_t i = 0; i < from->n_fields; i++) {
        struct field f = from->fields[i];
        const struct dialect_header *d = header_of(f.name);
        if (d)
            present |= 1u << d->dialect;
        if (!d || d->print || writer_take_list(&w, &w.list[d->dialect], &f))
            w.fields[w.n++] = f;
    }
    if (write & 1u << DIALECT_TRACESTATE)
        write |= 1u << DIALECT_TRACEPARENT;
    for (uint32_t i = 0; i < DIALECT_HEADERS; i++) {
        const struct dialect_header *d = &dialect_headers[i];
        if (d->print && (write & ~present) >> d->dialect & 1)
            writer_add(&w, d->name, id, d->print);
    }
    char room[MEMBER_MOST];
    slice own = {room, (size_t)(member_print(id.low, call, room) - room)};
    for (uint32_t i = 0; i < LISTS; i++) {
        struct list *l = &w.list[i];
        if (!l->rule)
            continue;
        if (l->field == NOWHERE) {
            l->field = w.n++;
            w.fields[l->field].name = dialect_headers[i].name;
        }
        w.fields[l->field].value = list_print(l, own, a);
    }
    for (uint32_t i = 0; i < n_custom && write & 1u << DIALECT_CUSTOM; i++) {
        bool has = false;
        for (uint32_t k = 0; k < w.n && !has; k++)
            has = slice_eq_nocase(w.fields[k].name, custom[i]);
        if (!has)
            writer_add(&w, custom[i], id, print_plain);
    }
    *fields = w.fields;
    *n_fields = w.n;
}

void context_traceparent(struct trace_id id, struct buf *out)
{
    char room[HEADER_TEXT_MOST];
    buf_add(out, (slice){room, (size_t)(print_traceparent(id, room) - room)});
}

void context_member(struct trace_id id, uint32_t call, struct buf *out)
{
    char room[MEMBER_MOST];
    buf_add(out, (slice){room, (size_t)(member_print(id.low, call, room) - room)});
}
