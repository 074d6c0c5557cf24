/* SPDX-License-Identifier: Apache-2.0
 *
 *     client_send --> under way --answer, abort, timeout--> over --turn of the loop--> spare
 *                       ^    |
 *                       +----+ a kept connection was stale
 *
 * 1. A call that is over waits in the list `over` until the events that came with its end are done
 *    with its connection: only then it is known whether garbage follows the answer, and whoever is
 *    told may send the next request at once, on the same connection.
 * 2. Calls are used again with all of their memory, so that a call allocates nothing. */
#include "http/client.h"

#include <assert.h>

#include "base/clock.h"
#include "wire/grpc.h"

enum {
    SPARE_MAX = 64,
    SPARE_BYTES = 256 * 1024, /* a call that holds more is not kept */
    BODY_MOST = 1 << 30,
    FIELDS_ADDED = 2,
};

#define TIMEOUT_MOST_NS HOURS(366 * 24)

struct client_call {
    struct client_call *next, **self; /* in client->calls, over or spare */
    struct client *client;
    struct link_pool *pool;
    struct stream *stream; /* NULL: none (any more) */
    struct sending sending;
    struct timer deadline;
    struct arena arena; /* holds the request and, but for its body, the answer */
    struct head *request;
    slice body; /* of the request */
    bool grpc;
    int64_t timeout_ns;
    struct collector in;
    struct client_answer answer;
    void (*done)(void *user, const struct client_answer *a);
    void *user;
};

static void on_deadline(struct timer *t);

/* ---- the request as it is sent ---- */

static slice join(struct arena *a, slice before, slice text)
{
    char *p = arena_alloc(a, before.n + text.n);
    memcpy(p, before.p, before.n);
    if (text.n)
        memcpy(p + before.n, text.p, text.n);
    return (slice){p, before.n + text.n};
}

/* The head and the body: what the caller left out is filled in, what frames a message is ours to
 * say. */
static void make_request(struct client_call *k, const struct client_request *r)
{
    struct arena *a = &k->arena;
    struct head *h = k->request = head_copy(a, r->head);
    char prefix[GRPC_PREFIX];
    grpc_prefix((uint32_t)r->body.n, prefix);
    k->body = r->grpc ? join(a, (slice){prefix, GRPC_PREFIX}, r->body) : slice_copy(a, r->body);
    if (h->method.n == 0)
        h->method = r->grpc ? SLICE("POST") : SLICE("GET");
    h->scheme = r->tls ? SLICE("https") : SLICE("http");
    /* the caller's fields, and what gRPC needs besides: in HTTP/2 `te` is a field like others. A
     * Host that the caller has set is the authority */
    struct field *fields = arena_alloc(a, (h->n_fields + FIELDS_ADDED) * sizeof *fields);
    slice host = head_get(h, SLICE("host"));
    uint32_t n = 0;
    if (host.n)
        h->authority = host;
    if (r->grpc && !head_get(h, SLICE("content-type")).p)
        fields[n++] = (struct field){SLICE("content-type"), SLICE("application/grpc")};
    if (r->grpc)
        fields[n++] = (struct field){SLICE("te"), SLICE("trailers")};
    for (uint32_t i = 0; i < h->n_fields; i++)
        if (field_kind(h->fields[i].name) == FIELD_ORDINARY) /* what others say is ours to say */
            fields[n++] = h->fields[i];
    h->fields = fields;
    h->n_fields = n;
    if (h->authority.n == 0 && addr_is_unix(r->to)) {
        h->authority = SLICE("localhost");
    } else if (h->authority.n == 0) {
        struct buf text = BUF_INIT(sizeof r->to->text);
        addr_print(r->to, &text);
        h->authority = buf_keep(&text, a);
    }
    if (!slice_starts(h->target, SLICE("/")) && !slice_is(h->target, "*"))
        h->target = join(a, SLICE("/"), h->target);
    h->status = 0;
    h->expects = h->te = h->bodiless = false;
    h->upgrade = (slice){0};
    bool may_have_body = !slice_is(h->method, "GET") && !slice_is(h->method, "HEAD");
    h->has_length = !r->grpc && (k->body.n || may_have_body);
    h->length = k->body.n;
}

/* Text that would end a line makes another request of it. */
static bool breaks_lines(slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\r' || s.p[i] == '\n' || s.p[i] == 0)
            return true;
    return false;
}

/* Why it cannot be sent; NULL: it can. */
static const char *flaw_of(const struct head *h)
{
    const slice line[] = {h->method, h->authority, h->target};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        for (size_t at = 0; at < line[i].n; at++)
            if ((unsigned char)line[i].p[at] <= ' ' || line[i].p[at] == 127)
                return "the request's method, host or path contains a space or a control "
                       "character; encode it as %XX";
    for (uint32_t i = 0; i < h->n_fields; i++)
        if (h->fields[i].name.n == 0 || breaks_lines(h->fields[i].name) ||
            breaks_lines(h->fields[i].value))
            return "a header of the request has no name or contains a line break; remove it";
    return NULL;
}

/* ---- lists ---- */

static void call_unlink(struct client_call *k)
{
    if (k->client->over_behind == &k->next)
        k->client->over_behind = k->self;
    *k->self = k->next;
    if (k->next)
        k->next->self = k->self;
    k->next = NULL;
}

static void call_link(struct client_call **at, struct client_call *k)
{
    k->next = *at;
    k->self = at;
    if (k->next)
        k->next->self = &k->next;
    *at = k;
}

static struct client_call *call_new(struct client *c)
{
    struct client_call *k = c->spare;
    struct arena arena = {0};
    struct buf kept = {0};
    if (k) {
        c->spare = k->next;
        c->n_spare--;
        arena = k->arena;
        kept = k->in.kept;
    } else {
        k = mem_alloc(sizeof *k);
    }
    *k = (struct client_call){
        .client = c, .arena = arena, .in.kept = kept, .deadline.fire = on_deadline};
    return k;
}

static void call_free(struct client_call *k)
{
    arena_deinit(&k->arena);
    buf_deinit(&k->in.kept);
    mem_free(k);
}

/* It is in no list any more. */
static void call_put_away(struct client_call *k)
{
    struct client *c = k->client;
    if (c->n_spare == SPARE_MAX || k->arena.used > SPARE_BYTES || k->in.kept.cap > SPARE_BYTES) {
        call_free(k);
        return;
    }
    arena_reset(&k->arena);
    buf_clear(&k->in.kept);
    k->next = c->spare;
    c->spare = k;
    c->n_spare++;
}

/* Brings the request on its way, or again. */
static void call_go(struct client_call *k)
{
    k->stream = pool_open(k->pool, k->grpc, &k->sending);
    k->stream->user = k;
    stream_head(k->stream, k->request, k->body.n == 0);
    if (k->body.n) {
        stream_data(k->stream, k->body);
        stream_end(k->stream, NULL);
    }
}

/* ---- the end of a call ---- */

static void call_over(struct client_call *k, outcome seen)
{
    struct client *c = k->client;
    struct client_answer *a = &k->answer;
    timer_stop(c->terms.loop, &k->deadline);
    a->seen = seen;
    a->end_ns = clock_ns();
    a->head = k->in.head;
    a->trailers = k->in.trailers;
    a->body = collect_body(&k->in, k->grpc, &a->cut);
    call_unlink(k);
    call_link(c->over_behind, k);
    c->over_behind = &k->next;
    turn_start(c->terms.loop, &c->deliver);
}

/* The whole answer is here. */
static void call_answered(struct client_call *k)
{
    struct link *l = link_of(k->stream);
    stream_release(k->stream);
    k->stream = NULL;
    link_unuse(l);
    call_over(k, k->grpc ? collect_outcome(&k->in, true) : OUTCOME(OUT_STATUS, k->in.head->status));
}

/* Gives up what is under way. Not from within an event of the wire. */
static void call_leave(struct client_call *k)
{
    if (!k->stream)
        return;
    struct link *l = link_of(k->stream);
    stream_abort(k->stream, FINISH_NOT, H2_CANCEL);
    k->stream = NULL;
    link_unuse(l);
    if (l->n_calls == 0 && (!l->ready || l->wire->finish != FINISH_NOT))
        link_close(l);
}

static void on_deadline(struct timer *t)
{
    struct client_call *k = OWNER(t, struct client_call, deadline);
    call_leave(k);
    if (k->answer.error) { /* it was not even sent */
        call_over(k, OUTCOME(OUT_REFUSED, 0));
    } else {
        struct buf text = BUF_INIT(120);
        buf_adds(&text, k->in.head ? "the answer was not complete within " : "no answer within ");
        buf_add_ns(&text, k->timeout_ns);
        k->answer.error = buf_keep(&text, &k->arena).p;
        call_over(k, OUTCOME(OUT_TIMEOUT, 0));
    }
}

/* ---- what streams tell ---- */

static void explain(struct client_call *k, const struct link *l, enum wire_cut why, uint32_t code)
{
    static const char *const words[][2] = {
        [CUT_CLOSED] = {"the connection was closed before the answer",
                        "the connection was closed in the middle of the answer"},
        [CUT_RESET] = {"the connection was reset before the answer",
                       "the connection was reset in the middle of the answer"},
#define BOTH(text) {text, text}
        [CUT_REFUSED] = BOTH("the service refused the call (HTTP/2 REFUSED_STREAM or GOAWAY)"),
        [CUT_BAD] = BOTH("the answer is malformed"),
        [CUT_LIMIT] = BOTH("the head of the answer is too large, or too many interim answers (1xx) "
                           "came"),
    };
    struct buf text = BUF_INIT(400);
    bool lost = why == CUT_CLOSED || why == CUT_BAD;
    if (l->failed) {
        buf_addf(&text, "%s cannot be reached: %s", k->pool->to->text, l->why);
    } else if (!k->grpc && wire_is_settings((slice){l->sniffed, l->n_sniffed})) {
        buf_adds(&text,
                 "the service speaks only HTTP/2, but `request` sends HTTP/1.1: enable both in the "
                 "service, or use `command: curl -f --http2-prior-knowledge {url:NAME}/path`");
    } else {
        if (why == CUT_RESET && l->wire->finish == FINISH_NOT)
            buf_addf(&text, "the call was reset (HTTP/2 error %u)", (unsigned)code);
        else
            buf_adds(&text, words[why][k->in.head != NULL]);
        if ((why == CUT_BAD || why == CUT_LIMIT) && l->wire->error)
            buf_addf(&text, ": %s", l->wire->error);
        if (k->grpc && lost && !k->in.head)
            buf_adds(&text, " (gRPC requires a service that speaks HTTP/2)");
    }
    k->answer.error = buf_keep(&text, &k->arena).p;
}

static void on_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct client_call *k = s->user;
    struct link *l = link_of(s);
    bool again = pool_may_resend(&k->sending, s, why, k->in.head != NULL, true);
    k->stream = NULL;
    link_unuse(l);
    if (again) {
        call_go(k);
        return;
    }
    explain(k, l, why, code);
    bool reset = why == CUT_RESET || why == CUT_REFUSED;
    call_over(k, OUTCOME(l->failed ? OUT_REFUSED : reset ? OUT_RESET : OUT_CLOSED, 0));
}

static void on_head(struct stream *s, const struct head *h, bool end)
{
    struct client_call *k = s->user;
    if (collect_head(&k->in, h, &k->arena) && end)
        call_answered(k);
}

static void on_data(struct stream *s, slice bytes)
{
    struct client_call *k = s->user;
    collect_data(&k->in, bytes);
    stream_consume(s, bytes.n);
}

static void on_end(struct stream *s, const struct head *trailers)
{
    struct client_call *k = s->user;
    if (trailers)
        k->in.trailers = head_copy(&k->arena, trailers);
    call_answered(k);
}

static const struct wire_events events = {
    .head = on_head,
    .data = on_data,
    .end = on_end,
    .abort = on_abort,
    .sent = stream_sent_ignored,
};

/* ---- the face ---- */

static void on_turn(struct turn *t)
{
    struct client *c = OWNER(t, struct client, deliver);
    c->delivering = true;
    while (c->over) {
        struct client_call *k = c->over;
        call_unlink(k);
        k->done(k->user, &k->answer);
        call_put_away(k);
    }
    c->delivering = false;
}

static struct link_pool *pool_for(struct client *c, const struct addr *to, struct tls_context *tls)
{
    for (struct client_pool *p = c->pools; p; p = p->next)
        if (p->pool.tls == tls && p->pool.to->n == to->n &&
            memcmp(&p->pool.to->sa, &to->sa, to->n) == 0)
            return &p->pool;
    struct client_pool *p = mem_zero(sizeof *p);
    *p = (struct client_pool){.next = c->pools,
                              .pool = {.terms = &c->terms,
                                       .to = to,
                                       .tls = tls ? tls_context_hold(tls) : NULL,
                                       .most = UINT32_MAX}};
    c->pools = p;
    return &p->pool;
}

struct client *client_new(struct loop *l, bool fresh)
{
    /* services under test may send much, and may reset as many streams as faults make them */
    static const struct wire_limits limits = {.head_bytes = 256 * 1024,
                                              .head_fields = 512,
                                              .streams = 1,
                                              .resets = UINT32_MAX,
                                              .interims = 100};
    static const struct link_hooks hooks;
    struct client *c = mem_zero(sizeof *c);
    *c = (struct client){.terms = {.loop = l,
                                   .all = &c->links,
                                   .hooks = &hooks,
                                   .events = &events,
                                   .limits = &limits,
                                   .head_ns = SECONDS(5),
                                   .idle_ns = SECONDS(60),
                                   .total_ns = SECONDS(5)},
                         .fresh = fresh,
                         .over_behind = &c->over,
                         .deliver.fire = on_turn};
    return c;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    assert(!c->delivering);
    while (c->calls)
        client_cancel(c->calls);
    while (c->over)
        client_cancel(c->over);
    turn_stop(c->terms.loop, &c->deliver);
    while (c->links)
        link_close(c->links);
    while (c->pools) {
        struct client_pool *p = c->pools;
        c->pools = p->next;
        tls_context_free(p->pool.tls);
        mem_free(p);
    }
    while (c->spare) {
        struct client_call *k = c->spare;
        c->spare = k->next;
        call_free(k);
    }
    mem_free(c);
}

struct client_call *client_send(struct client *c, const struct client_request *r,
                                void (*done)(void *user, const struct client_answer *a), void *user)
{
    struct client_call *k = call_new(c);
    size_t most = r->body_max < BODY_MOST ? r->body_max : BODY_MOST;
    k->grpc = r->grpc;
    k->in.kept.max = most + (r->grpc ? GRPC_PREFIX : 0);
    k->pool = pool_for(c, r->to, r->tls);
    k->done = done;
    k->user = user;
    k->timeout_ns = r->timeout_ns < TIMEOUT_MOST_NS ? r->timeout_ns : TIMEOUT_MOST_NS;
    k->sending.alone = c->fresh;
    make_request(k, r);
    call_link(&c->calls, k);
    k->answer.error = flaw_of(k->request);
    k->answer.start_ns = clock_ns();
    timer_start(c->terms.loop, &k->deadline,
                k->answer.start_ns + (k->answer.error ? 0 : k->timeout_ns));
    if (!k->answer.error)
        call_go(k);
    return k;
}

void client_cancel(struct client_call *call)
{
    timer_stop(call->client->terms.loop, &call->deadline);
    call_leave(call);
    call_unlink(call);
    call_put_away(call);
}
