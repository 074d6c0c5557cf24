/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"

enum field_kind field_kind_of_length(slice name)
{
    static const struct {
        slice name;
        enum field_kind kind;
    } rows[] = {
        {{"te", 2}, FIELD_TE},
        {{"host", 4}, FIELD_HOST},
        {{"expect", 6}, FIELD_EXPECT},
        {{"upgrade", 7}, FIELD_UPGRADE},
        {{"connection", 10}, FIELD_CONNECTION},
        {{"keep-alive", 10}, FIELD_DROPPED},
        {{"content-length", 14}, FIELD_LENGTH},
        {{"http2-settings", 14}, FIELD_DROPPED},
        {{"proxy-connection", 16}, FIELD_DROPPED},
        {{"transfer-encoding", 17}, FIELD_ENCODING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].name.n == name.n && rows[i].name.p[0] == (name.p[0] | 32) &&
            slice_eq_nocase(rows[i].name, name))
            return rows[i].kind;
    return FIELD_ORDINARY;
}

slice head_get(const struct head *h, slice name)
{
    for (uint32_t i = 0; i < h->n_fields; i++)
        if (slice_eq_nocase(h->fields[i].name, name))
            return h->fields[i].value;
    return (slice){0};
}

/* One piece of memory for everything: heads are copied once per call. */
struct head *head_copy(struct arena *a, const struct head *h)
{
    const slice *const texts[] = {&h->method, &h->scheme,  &h->authority,
                                  &h->target, &h->upgrade, &h->reason};
    size_t n = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        n += texts[i]->n;
    for (uint32_t i = 0; i < h->n_fields; i++)
        n += h->fields[i].name.n + h->fields[i].value.n;
    struct head *copy = arena_alloc(a, sizeof *copy + h->n_fields * sizeof *h->fields + n);
    struct field *fields = (struct field *)(copy + 1);
    char *at = (char *)(fields + h->n_fields);
    *copy = *h;
    copy->fields = fields;
    slice *const to[] = {&copy->method, &copy->scheme,  &copy->authority,
                         &copy->target, &copy->upgrade, &copy->reason};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        if (to[i]->n)
            memcpy(at, to[i]->p, to[i]->n);
        to[i]->p = at;
        at += to[i]->n;
    }
    for (uint32_t i = 0; i < h->n_fields; i++) {
        struct field f = h->fields[i];
        memcpy(at, f.name.p, f.name.n);
        fields[i].name = (slice){at, f.name.n};
        at += f.name.n;
        if (f.value.n)
            memcpy(at, f.value.p, f.value.n);
        fields[i].value = (slice){at, f.value.n};
        at += f.value.n;
    }
    return copy;
}

int wire_sniff(slice bytes)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    size_t n = bytes.n < sizeof preface - 1 ? bytes.n : sizeof preface - 1;
    if (n && memcmp(bytes.p, preface, n) != 0)
        return 1;
    return n == sizeof preface - 1 ? 2 : 0;
}

bool wire_is_settings(slice bytes)
{
    enum { FRAME = 9, SETTINGS = 4 };
    static const char of_the_connection[4] = {0};
    return bytes.n >= FRAME && bytes.p[0] == 0 && bytes.p[3] == SETTINGS && bytes.p[4] == 0 &&
           memcmp(bytes.p + 5, of_the_connection, 4) == 0;
}

bool wire_may_be_http(slice bytes)
{
    enum { METHOD_MOST = 64 };
    while (bytes.n && (bytes.p[0] == '\r' || bytes.p[0] == '\n'))
        bytes = slice_from(bytes, 1); /* between requests there may be empty lines */
    slice method = {bytes.p, slice_find(bytes, ' ')};
    if (bytes.n && (method.n > METHOD_MOST || !slice_is_token(method)))
        return false;
    size_t end = slice_find(bytes, '\n');
    slice line = slice_trim((slice){bytes.p, end});
    return end == bytes.n || (line.n > 9 && memmem(line.p, line.n, " HTTP/", 6));
}

/* A number, or a name that nobody can register. */
static bool is_local_host(slice authority)
{
    static const char *const ends[] = {".localhost", ".internal"};
    slice host = authority;
    while (host.n > 0 && host.p[host.n - 1] >= '0' && host.p[host.n - 1] <= '9')
        host.n--;
    bool port = host.n > 0 && host.p[host.n - 1] == ':';
    host.n = port ? host.n - 1 : authority.n;
    bool number = true, dots = false;
    for (size_t i = 0; i < host.n; i++) {
        dots |= host.p[i] == '.';
        number &= host.p[i] == '.' || (host.p[i] >= '0' && host.p[i] <= '9');
    }
    if (number || !dots || host.p[0] == '[')
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        slice end = slice_of(ends[i]);
        if (host.n > end.n && slice_eq_nocase(slice_from(host, host.n - end.n), end))
            return true;
    }
    return false;
}

bool head_is_local(const struct head *h)
{
    slice origin = head_get(h, SLICE("origin")), scheme = SLICE("http://");
    slice site = head_get(h, SLICE("sec-fetch-site"));
    if (site.p && !slice_is(site, "same-origin") && !slice_is(site, "none"))
        return false;
    if (origin.p && !(slice_starts(origin, scheme) &&
                      slice_eq_nocase(slice_from(origin, scheme.n), h->authority)))
        return false;
    return is_local_host(h->authority);
}

bool head_idempotent(const struct head *h)
{
    static const char *const methods[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (slice_is(h->method, methods[i]))
            return true;
    return false;
}
