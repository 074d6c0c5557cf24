/* SPDX-License-Identifier: Apache-2.0
 *
 * A head in bytes to a `struct head`. llhttp reads the start line and the headers; since the head
 * is whole and in one piece, each text that llhttp finds is one piece too, and nothing is copied.
 * What concerns this connection alone is taken out of the fields and told apart.
 *
 * Anything that another parser might frame differently is refused: several lengths, a length next
 * to an encoding, any encoding but chunked, several hosts, blanks that llhttp overlooks. */
#include "wire/h1_int.h"

#include <llhttp.h>

/* What a field means to this connection. */
enum known {
    KNOWN_NOT,
    KNOWN_DROP,
    KNOWN_CONNECTION,
    KNOWN_ENCODING,
    KNOWN_LENGTH,
    KNOWN_UPGRADE,
    KNOWN_TE,
    KNOWN_HOST,
    KNOWN_EXPECT,
};

static const struct {
    slice name;
    enum known known;
} known_fields[] = {
    {{"te", 2}, KNOWN_TE},
    {{"host", 4}, KNOWN_HOST},
    {{"expect", 6}, KNOWN_EXPECT},
    {{"upgrade", 7}, KNOWN_UPGRADE},
    {{"connection", 10}, KNOWN_CONNECTION},
    {{"keep-alive", 10}, KNOWN_DROP},
    {{"content-length", 14}, KNOWN_LENGTH},
    {{"http2-settings", 14}, KNOWN_DROP},
    {{"proxy-connection", 16}, KNOWN_DROP},
    {{"transfer-encoding", 17}, KNOWN_ENCODING},
};

enum { KNOWN_LENGTHS = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 14 | 1 << 16 | 1 << 17 };

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

static enum known known_field(slice name)
{
    if (name.n == 0 || name.n > 17 || !(KNOWN_LENGTHS >> name.n & 1))
        return KNOWN_NOT;
    for (size_t i = 0; i < sizeof known_fields / sizeof *known_fields; i++) {
        slice known = known_fields[i].name;
        if (known.n == name.n && known.p[0] == (name.p[0] | 32) && slice_eq_nocase(known, name))
            return known_fields[i].known;
    }
    return KNOWN_NOT;
}

bool h1_is_known(slice name)
{
    return known_field(name) != KNOWN_NOT;
}

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

/* An upgrade to HTTP/2 would be a tunnel through which requests pass unseen. */
static void read_upgrade(struct parse *p, slice value)
{
    slice token;
    p->out->head.upgrade = value;
    while (slice_cut(&value, ',', &token)) {
        token = slice_trim(token);
        if (slice_eq_nocase(token, SLICE("h2c")) || slice_eq_nocase(token, SLICE("h2")))
            p->to_h2 = true;
    }
}

/* Takes a field that means something to this connection; false: it is an ordinary one. */
static bool take_known(struct parse *p, const struct field *f)
{
    struct head *h = &p->out->head;
    switch (known_field(f->name)) {
    case KNOWN_NOT: return false;
    case KNOWN_DROP: return true;
    case KNOWN_CONNECTION: read_connection(p, f->value); return true;
    case KNOWN_ENCODING:
        /* a tab behind the word is allowed, but llhttp is not alone in not knowing that */
        if (p->encoded || !slice_eq_nocase(f->value, SLICE("chunked")) ||
            slice_find(p->field.value, '\t') < p->field.value.n)
            p->fault = "Transfer-Encoding is something else than chunked";
        p->encoded = true;
        return true;
    case KNOWN_LENGTH:
        if (h->has_length || !slice_to_u64(f->value, INT64_MAX, &h->length))
            p->fault = "Content-Length is not one number";
        h->has_length = true;
        return true;
    case KNOWN_UPGRADE: read_upgrade(p, f->value); return true;
    case KNOWN_TE: h->te |= slice_eq_nocase(f->value, SLICE("trailers")); return true;
    case KNOWN_HOST:
        if (p->hosted && !h->status)
            p->fault = "there is more than one Host";
        if (!h1_is_authority(f->value) && !h->status)
            p->fault = "Host is not a host";
        p->hosted = true;
        h->authority = f->value;
        return !h->status;
    case KNOWN_EXPECT:
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

static int refuse(struct h1_refusal *why, uint16_t status, const char *text)
{
    *why = (struct h1_refusal){status, text};
    return -1;
}

/* Drops the fields that Connection names. */
static void drop_nominated(struct h1_head *out, slice bytes)
{
    struct field f;
    slice lines = bytes, token;
    h1_cut_field(&lines, &f); /* the start line */
    while (h1_cut_field(&lines, &f)) {
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
           h1_is_token((slice){line.p, slice_find(line, ' ')});
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
        return refuse(why, 501, "CONNECT is not for a reverse proxy");
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
        if (h->authority.n && h1_is_authority(h->authority) && h->target.p[0] == '/')
            return 0;
    }
    return refuse(why, 400, "the target is neither a path nor an absolute URL");
}

static int finish_request(struct parse *p, slice bytes, struct h1_refusal *why)
{
    struct head *h = &p->out->head;
    if (p->encoded && h->http10)
        return refuse(why, 400, "Transfer-Encoding in HTTP/1.0");
    if (!p->hosted && !h->http10)
        return refuse(why, 400, "there is no Host");
    if (read_target(p, bytes, why))
        return -1;
    if (!p->upgrades || p->to_h2 || h->http10)
        h->upgrade = (slice){0};
    h->bodiless = !p->encoded && h->length == 0;
    return 0;
}

static void finish_response(struct parse *p)
{
    struct head *h = &p->out->head;
    if (h->status < 200 || h->status == 204 || h->status == 304)
        h->bodiless = true;
    if (!p->upgrades || h->status != 101)
        h->upgrade = (slice){0};
    p->out->must_close = !h->bodiless && !h->has_length && !p->encoded;
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
        return refuse(why, 501, "the method is not known");
    if (code == HPE_INVALID_VERSION || (code == HPE_PAUSED && ll.http_major != 1))
        return refuse(why, 505, "only HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken here");
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
    if (request)
        return finish_request(&p, bytes, why);
    finish_response(&p);
    return 0;
}
