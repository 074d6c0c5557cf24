/* SPDX-License-Identifier: Apache-2.0
 *
 * The client's requests as they are sent: what the caller left out is filled in, what frames a
 * message is ours to say. */
#include "live/client_int.h"
#include "wire/grpc.h"

enum { FIELDS_ADDED = 2 };

static slice authority_of(struct arena *a, const struct addr *to)
{
    if (addr_is_unix(to))
        return SLICE("localhost");
    struct buf text = BUF_INIT(sizeof to->text);
    addr_print(to, &text);
    slice s = slice_copy(a, buf_slice(&text));
    buf_deinit(&text);
    return s;
}

static slice with_slash(struct arena *a, slice target)
{
    if ((target.n && target.p[0] == '/') || slice_is(target, "*"))
        return target;
    char *p = arena_alloc(a, target.n + 1);
    p[0] = '/';
    if (target.n)
        memcpy(p + 1, target.p, target.n);
    return (slice){p, target.n + 1};
}

/* Does the field say what is ours to say, or what the rest of the head says? */
static bool is_ours(const struct field *f)
{
    static const char *const names[] = {
        "te",         "host",           "expect",         "upgrade",          "connection",
        "keep-alive", "content-length", "http2-settings", "proxy-connection", "transfer-encoding"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (slice_eq_nocase(f->name, slice_of(names[i])))
            return true;
    return false;
}

/* The caller's fields, and what gRPC needs besides: in HTTP/2 `te` is a field like others. A Host
 * that the caller has set is the authority. */
static void make_fields(struct arena *a, struct head *h, bool grpc)
{
    struct field *fields = arena_alloc(a, (h->n_fields + FIELDS_ADDED) * sizeof *fields);
    slice host = head_get(h, SLICE("host"));
    uint32_t n = 0;
    if (host.n)
        h->authority = host;
    if (grpc && !head_get(h, SLICE("content-type")).p)
        fields[n++] = (struct field){SLICE("content-type"), SLICE("application/grpc")};
    if (grpc)
        fields[n++] = (struct field){SLICE("te"), SLICE("trailers")};
    for (uint32_t i = 0; i < h->n_fields; i++)
        if (!is_ours(&h->fields[i]))
            fields[n++] = h->fields[i];
    h->fields = fields;
    h->n_fields = n;
}

static slice make_body(struct arena *a, const struct client_request *r)
{
    if (!r->grpc)
        return slice_copy(a, r->body);
    char *p = arena_alloc(a, GRPC_PREFIX + r->body.n);
    grpc_prefix((uint32_t)r->body.n, p);
    if (r->body.n)
        memcpy(p + GRPC_PREFIX, r->body.p, r->body.n);
    return (slice){p, GRPC_PREFIX + r->body.n};
}

struct head *client_request_make(struct arena *a, const struct client_request *r, slice *body)
{
    struct head *h = head_copy(a, r->head);
    *body = make_body(a, r);
    if (h->method.n == 0)
        h->method = r->grpc ? SLICE("POST") : SLICE("GET");
    h->scheme = r->tls ? SLICE("https") : SLICE("http");
    make_fields(a, h, r->grpc);
    if (h->authority.n == 0)
        h->authority = authority_of(a, r->to);
    h->target = with_slash(a, h->target);
    h->status = 0;
    h->expects = h->te = h->bodiless = false;
    h->upgrade = (slice){0};
    bool may_have_body = !slice_is(h->method, "GET") && !slice_is(h->method, "HEAD");
    h->has_length = !r->grpc && (body->n || may_have_body);
    h->length = body->n;
    return h;
}

/* Text that would end a line makes another request of it. */
static bool breaks_lines(slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\r' || s.p[i] == '\n' || s.p[i] == 0)
            return true;
    return false;
}

const char *client_request_flaw(const struct head *h)
{
    const slice line[] = {h->method, h->authority, h->target};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        for (size_t at = 0; at < line[i].n; at++)
            if ((unsigned char)line[i].p[at] <= ' ' || line[i].p[at] == 127)
                return "the request's method, host or path holds a blank or a control character; "
                       "write it as %XX";
    for (uint32_t i = 0; i < h->n_fields; i++)
        if (h->fields[i].name.n == 0 || breaks_lines(h->fields[i].name) ||
            breaks_lines(h->fields[i].value))
            return "a header of the request has no name or holds a line break; take it out";
    return NULL;
}
