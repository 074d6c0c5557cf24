/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads of HTTP/1.1: bytes to a `struct head`, and back to bytes.
 *
 * Lines are read strictly. llhttp 8 forgives what two parsers in a row may read differently (a bare
 * LF after a chunk size, continuation lines, a blank before the colon), and what two parsers read
 * differently is how requests are smuggled. So the lines are looked at here before llhttp sees them,
 * and nothing is ever repaired.
 *
 * llhttp reads the start line and the headers; since the head is whole and in one piece, each text
 * that llhttp finds is one piece too, and nothing is copied. What concerns this connection alone is
 * taken out of the fields and told apart. Anything that another parser might frame differently is
 * refused: several lengths, a length next to an encoding, any encoding but chunked, several hosts,
 * blanks that llhttp overlooks. */
#include "wire/h1_int.h"

#include <llhttp.h>
#include <stdio.h>

/* ---- lines ---- */

static int refuse(struct h1_refusal *why, uint16_t status, const char *text)
{
    *why = (struct h1_refusal){status, text};
    return -1;
}

/* The characters of tokens, one bit each: letters, digits and !#$%&'*+-.^_`|~ */
static const uint64_t token_bits[4] = {0x03ff6cfa00000000u, 0x57ffffffc7fffffeu, 0, 0};

/* Those of a host and port: letters, digits and -._~%!$&'()*+,;=:[] */
static const uint64_t authority_bits[4] = {0x2fff7ff200000000u, 0x47fffffeaffffffeu, 0, 0};

static bool is_control(uint8_t c)
{
    return (c < ' ' && c != '\t') || c == 127;
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
        if (n == 0 || line[n - 1] != '\r')
            return refuse(why, 400, "a line ends in LF without CR");
        if (scan->line && (line[0] == ' ' || line[0] == '\t'))
            return refuse(why, 400, "a header is continued on a second line (obs-fold)");
        if (has_control(line, n - 1))
            return refuse(why, 400, "a line contains a control character");
        scan->line = scan->seen = scan->line + n + 1;
        if (n == 1)
            return (int64_t)scan->line;
    }
    return 0;
}

/* Cuts a line `name: value` of checked lines; false at the blank line. */
static bool cut_field(slice *lines, struct field *out)
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

/* Nothing but these characters: of a token, which is not empty, or of a host and its port. */
static bool all_in(slice s, const uint64_t *bits)
{
    unsigned bad = 0;
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        bad |= !(bits[c >> 6] >> (c & 63) & 1);
    }
    return !bad;
}

/* ---- what a field means ---- */

enum { NOMINATED_MAX = 32 };

struct parse {
    struct h1_head *out;
    uint32_t fields_max;
    struct field field; /* being read */
    slice url;
    bool encoded, hosted, upgrades, to_h2, close, keep_alive, too_many;
    uint32_t nominated; /* fields that Connection names besides */
    const char *fault;
};

/* ---- what llhttp tells ---- */

static int on_url(llhttp_t *ll, const char *at, size_t n)
{
    ((struct parse *)ll->data)->url = (slice){at, n};
    return 0;
}

static int on_reason(llhttp_t *ll, const char *at, size_t n)
{
    ((struct parse *)ll->data)->out->head.reason = (slice){at, n};
    return 0;
}

static int on_name(llhttp_t *ll, const char *at, size_t n)
{
    ((struct parse *)ll->data)->field = (struct field){.name = {at, n}};
    return 0;
}

static int on_value(llhttp_t *ll, const char *at, size_t n)
{
    struct parse *p = ll->data;
    if (p->field.value.p) /* a second piece: not one line after all */
        p->fault = "a header has several lines";
    p->field.value = (slice){at, n};
    return 0;
}

static void read_connection(struct parse *p, slice value)
{
    slice token;
    while (slice_cut(&value, ',', &token)) {
        token = slice_trim(token);
        if (slice_eq_nocase(token, SLICE("close")))
            p->close = true;
        else if (slice_eq_nocase(token, SLICE("keep-alive")))
            p->keep_alive = true;
        else if (slice_eq_nocase(token, SLICE("upgrade")))
            p->upgrades = true;
        else if (token.n && !slice_eq_nocase(token, SLICE("te")))
            p->nominated++;
    }
}

/* Takes a field that means something to this connection; false: it is an ordinary one. */
static bool take_known(struct parse *p, const struct field *f)
{
    struct head *h = &p->out->head;
    slice value = f->value, token;
    switch (field_kind(f->name)) {
    case FIELD_ORDINARY: return false;
    case FIELD_DROPPED: return true;
    case FIELD_CONNECTION: read_connection(p, f->value); return true;
    case FIELD_ENCODING:
        /* a tab behind the word is allowed, but llhttp is not alone in not knowing that */
        if (p->encoded || !slice_eq_nocase(f->value, SLICE("chunked")) ||
            slice_find(p->field.value, '\t') < p->field.value.n)
            p->fault = "Transfer-Encoding is not chunked";
        p->encoded = true;
        return true;
    case FIELD_LENGTH:
        if (h->has_length || !slice_to_u64(f->value, INT64_MAX, &h->length))
            p->fault = "Content-Length is not a single number";
        h->has_length = true;
        return true;
    case FIELD_UPGRADE:
        h->upgrade = value;
        while (slice_cut(&value, ',', &token)) { /* to HTTP/2: requests would pass unseen */
            token = slice_trim(token);
            p->to_h2 |= slice_eq_nocase(token, SLICE("h2c")) || slice_eq_nocase(token, SLICE("h2"));
        }
        return true;
    case FIELD_TE: h->te |= slice_eq_nocase(f->value, SLICE("trailers")); return true;
    case FIELD_HOST:
        if (p->hosted && !h->status)
            p->fault = "there is more than one Host header";
        if (!all_in(f->value, authority_bits) && !h->status)
            p->fault = "Host is not a valid host";
        p->hosted = true;
        h->authority = f->value;
        return !h->status;
    case FIELD_EXPECT:
        h->expects = slice_eq_nocase(f->value, SLICE("100-continue"));
        return h->expects;
    }
    return false;
}

static int on_field(llhttp_t *ll)
{
    struct parse *p = ll->data;
    struct field f = {p->field.name, slice_trim(p->field.value)};
    if (f.name.n == 0) { /* llhttp sees to it that others are tokens */
        p->fault = "a header has no name";
        return 0;
    }
    if (take_known(p, &f))
        return 0;
    struct head *h = &p->out->head;
    if (h->n_fields == p->fields_max)
        p->too_many = true;
    else
        p->out->fields[h->n_fields++] = f;
    return 0;
}

static int on_end(llhttp_t *ll)
{
    (void)ll;
    return HPE_PAUSED;
}

/* A status is known before the fields of its response. */
static int on_status_end(llhttp_t *ll)
{
    ((struct parse *)ll->data)->out->head.status = ll->status_code;
    return 0;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_status = on_reason,
    .on_status_complete = on_status_end,
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_header_value_complete = on_field,
    .on_headers_complete = on_end,
};

/* ---- what follows from it ---- */

/* Drops the fields that Connection names. */
static void drop_nominated(struct h1_head *out, slice bytes)
{
    struct field f;
    slice lines = bytes, token;
    cut_field(&lines, &f); /* the start line */
    while (cut_field(&lines, &f)) {
        if (!slice_eq_nocase(f.name, SLICE("connection")))
            continue;
        while (slice_cut(&f.value, ',', &token)) {
            token = slice_trim(token);
            uint32_t kept = 0;
            for (uint32_t i = 0; i < out->head.n_fields; i++)
                if (!slice_eq_nocase(out->fields[i].name, token))
                    out->fields[kept++] = out->fields[i];
            out->head.n_fields = kept;
        }
    }
}

/* `HTTP/1.1`, or other digits. */
static bool is_version(slice s)
{
    return s.n == 8 && slice_starts(s, SLICE("HTTP/")) && is_digit(s.p[5]) && s.p[6] == '.' &&
           is_digit(s.p[7]);
}

/* `METHOD SP target SP HTTP/x.y`, which llhttp reads more generously. */
static bool request_line_is_strict(slice line)
{
    size_t blanks = 0;
    for (size_t i = 0; i < line.n; i++)
        blanks += line.p[i] == ' ' || line.p[i] == '\t';
    return blanks == 2 && line.n > 9 && line.p[line.n - 9] == ' ' &&
           is_version(slice_from(line, line.n - 8)) &&
           all_in((slice){line.p, slice_find(line, ' ')}, token_bits);
}

/* `HTTP/x.y SP 3DIGIT [SP reason]`, the digits at least 100. */
static bool status_line_is_strict(slice line)
{
    return line.n >= 12 && is_version((slice){line.p, 8}) && line.p[8] == ' ' &&
           is_digit(line.p[9]) && line.p[9] > '0' && is_digit(line.p[10]) && is_digit(line.p[11]) &&
           (line.n == 12 || line.p[12] == ' ');
}

/* The method, and of the target what belongs to a proxy: an absolute one names the authority. */
static int read_target(struct parse *p, slice bytes, struct h1_refusal *why)
{
    struct head *h = &p->out->head;
    h->method = (slice){bytes.p, slice_find(bytes, ' ')};
    h->scheme = SLICE("http");
    h->target = p->url;
    if (slice_is(h->method, "CONNECT"))
        return refuse(why, 501, "a reverse proxy does not support CONNECT");
    if (h->target.n && h->target.p[0] == '/')
        return 0;
    if (slice_is(h->target, "*") && slice_is(h->method, "OPTIONS"))
        return 0;
    static const slice schemes[] = {{"http://", 7}, {"https://", 8}};
    for (int i = 0; i < 2; i++) {
        slice start = {h->target.p, h->target.n < schemes[i].n ? h->target.n : schemes[i].n};
        if (!slice_eq_nocase(start, schemes[i]))
            continue;
        slice rest = slice_from(h->target, schemes[i].n);
        size_t slash = 0;
        while (slash < rest.n && rest.p[slash] != '/' && rest.p[slash] != '?')
            slash++;
        h->authority = (slice){rest.p, slash};
        h->target = slice_from(rest, slash);
        if (h->target.n == 0)
            h->target = SLICE("/");
        if (h->authority.n && all_in(h->authority, authority_bits) && h->target.p[0] == '/')
            return 0;
    }
    return refuse(why, 400, "the target is neither a path nor an absolute URL");
}

int h1_head_parse(slice bytes, bool request, uint32_t fields_max, struct h1_head *out,
                  struct h1_refusal *why)
{
    struct parse p = {.out = out,
                      .fields_max = fields_max < H1_FIELDS_MAX ? fields_max : H1_FIELDS_MAX};
    out->head = (struct head){.fields = out->fields};
    out->must_close = false;
    llhttp_t ll;
    llhttp_init(&ll, request ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
    ll.data = &p;
    slice line = {bytes.p, slice_find(bytes, '\r')};
    if (request && !request_line_is_strict(line))
        return refuse(why, 400, "the request line is not `METHOD TARGET HTTP/1.1`");
    if (!request && !status_line_is_strict(line))
        return refuse(why, 400, "the status line is not `HTTP/1.1 STATUS REASON`");
    llhttp_errno_t code = llhttp_execute(&ll, bytes.p, bytes.n);
    if (p.fault)
        return refuse(why, 400, p.fault);
    if (code == HPE_INVALID_METHOD)
        return refuse(why, 501, "the method is unknown");
    if (code == HPE_INVALID_VERSION || (code == HPE_PAUSED && ll.http_major != 1))
        return refuse(why, 505, "only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported");
    if (code != HPE_PAUSED)
        return refuse(why, 400, "the head is malformed");
    if (p.too_many)
        return refuse(why, 431, "too many headers");
    struct head *h = &out->head;
    h->http10 = ll.http_minor == 0;
    if (p.encoded && h->has_length)
        return refuse(why, 400, "Content-Length next to Transfer-Encoding");
    out->chunked = p.encoded;
    out->keep_alive = h->http10 ? p.keep_alive && !p.close && !p.encoded : !p.close;
    if (p.nominated > NOMINATED_MAX)
        return refuse(why, 400, "Connection names too many headers");
    if (p.nominated)
        drop_nominated(out, bytes);
    if (request) {
        if (p.encoded && h->http10)
            return refuse(why, 400, "Transfer-Encoding in HTTP/1.0");
        if (!p.hosted && !h->http10)
            return refuse(why, 400, "the Host header is missing");
        if (!p.upgrades || p.to_h2 || h->http10)
            h->upgrade = (slice){0};
        h->bodiless = !p.encoded && h->length == 0;
        return read_target(&p, bytes, why);
    }
    h->bodiless = h->status < 200 || h->status == 204 || h->status == 304;
    if (!p.upgrades || h->status != 101)
        h->upgrade = (slice){0};
    out->must_close = !h->bodiless && !h->has_length && !p.encoded;
    return 0;
}

int h1_trailers_parse(slice lines, uint32_t most, struct h1_trailers *out, struct h1_refusal *why)
{
    struct field f;
    out->head = (struct head){.fields = out->fields};
    while (cut_field(&lines, &f)) {
        if (f.name.n == 0 || !all_in(f.name, token_bits))
            return refuse(why, 400, "the trailers are malformed");
        if (field_kind(f.name) != FIELD_ORDINARY)
            continue;
        if (out->head.n_fields == most || out->head.n_fields == H1_FIELDS_MAX)
            return refuse(why, 431, "too many trailers");
        out->fields[out->head.n_fields++] = f;
    }
    return 0;
}

/* ---- heads to bytes ---- */

static const struct {
    uint16_t status;
    const char *reason;
} reasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {418, "I'm a teapot"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {511, "Network Authentication Required"},
};

/* "Bad Gateway"; "" for what has no name. */
static const char *reason_of(uint16_t status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}

/* Writes into room that is known to suffice. */
struct pen {
    char *at;
};

static void put(struct pen *pen, slice s)
{
    if (s.n)
        memcpy(pen->at, s.p, s.n);
    pen->at += s.n;
}

static void put_field(struct pen *pen, slice name, slice value)
{
    put(pen, name);
    put(pen, SLICE(": "));
    put(pen, value);
    put(pen, SLICE("\r\n"));
}

static void put_number(struct pen *pen, uint64_t number)
{
    char digits[DIGITS_MOST];
    put(pen, slice_of_u64(number, digits));
}

static void put_head(struct pen *pen, const struct head *h, const struct h1_style *style)
{
    if (h->status) {
        put(pen, SLICE("HTTP/1.1 "));
        put_number(pen, h->status);
        put(pen, SLICE(" "));
        put(pen, h->reason.n ? h->reason : slice_of(reason_of(h->status)));
        put(pen, SLICE("\r\n"));
    } else {
        put(pen, h->method);
        put(pen, SLICE(" "));
        put(pen, h->target);
        put(pen, SLICE(" HTTP/1.1\r\n"));
        put_field(pen, SLICE("Host"), h->authority);
    }
    for (uint32_t i = 0; i < h->n_fields; i++)
        put_field(pen, h->fields[i].name, h->fields[i].value);
    if (h->expects)
        put(pen, SLICE("Expect: 100-continue\r\n"));
    if (style->chunked) {
        put(pen, SLICE("Transfer-Encoding: chunked\r\n"));
    } else if (h->has_length && h->status != 204 && (h->status == 0 || h->status >= 200)) {
        put(pen, SLICE("Content-Length: "));
        put_number(pen, h->length);
        put(pen, SLICE("\r\n"));
    }
    if (h->te)
        put(pen, SLICE("TE: trailers\r\nConnection: TE\r\n"));
    if (h->upgrade.n) {
        put(pen, SLICE("Connection: upgrade\r\n"));
        put_field(pen, SLICE("Upgrade"), h->upgrade);
    } else if (style->close) {
        put(pen, SLICE("Connection: close\r\n"));
    } else if (style->keep_alive) {
        put(pen, SLICE("Connection: keep-alive\r\n"));
    }
    put(pen, SLICE("\r\n"));
}

void h1_print_head(struct chain *out, const struct head *h, const struct h1_style *style)
{
    /* no less than what put_head writes */
    size_t room = 256 + h->method.n + h->target.n + h->authority.n + h->reason.n + h->upgrade.n;
    for (uint32_t i = 0; i < h->n_fields; i++)
        room += h->fields[i].name.n + h->fields[i].value.n + 4;
    bool large = room > BLOCK_BYTES;
    char *start = large ? mem_alloc(room) : chain_room(out, room);
    struct pen pen = {start};
    put_head(&pen, h, style);
    size_t n = (size_t)(pen.at - start);
    if (large) {
        chain_add(out, (slice){start, n});
        mem_free(start);
    } else {
        chain_added(out, n);
    }
}

void h1_print_last_chunk(struct chain *out, const struct head *trailers)
{
    chain_adds(out, "0\r\n");
    for (uint32_t i = 0; trailers && i < trailers->n_fields; i++) {
        chain_add(out, trailers->fields[i].name);
        chain_adds(out, ": ");
        chain_add(out, trailers->fields[i].value);
        chain_adds(out, "\r\n");
    }
    chain_adds(out, "\r\n");
}

void h1_print_chunk(struct chain *out, slice bytes)
{
    char *room = chain_room(out, 24);
    chain_added(out, (size_t)snprintf(room, 24, "%zx\r\n", bytes.n));
    chain_add(out, bytes);
    chain_adds(out, "\r\n");
}
