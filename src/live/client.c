/* SPDX-License-Identifier: Apache-2.0
 *
 * The client, as far as calls are concerned.
 *
 *     client_send --> under way --answer, abort, timeout--> over --client_deliver--> spare
 *                       ^    |
 *                       +----+ a kept connection was stale
 *
 * 1. A call that is over waits in the list `over` until the event that ended it is done with its
 *    connection: only then it is known whether garbage follows the answer, and whoever is told may
 *    send the next request at once, on the same connection.
 * 2. Calls are used again with all of their memory, so that a call allocates nothing. */
#include "live/client_int.h"

#include <assert.h>
#include <stdio.h>

#include "io/sys.h"
#include "wire/grpc.h"

enum {
    ATTEMPTS_MAX = 3,
    SPARE_MAX = 64,
    SPARE_BYTES = 256 * 1024, /* a call that holds more is not kept */
    BODY_MOST = 1 << 30,
};

#define TIMEOUT_MOST_NS (366 * 24 * 3600 * 1000000000LL)

struct client_call {
    struct client_call *next, **self; /* in client->calls, over or spare */
    struct client *client;
    struct client_pool *pool;
    struct stream *stream; /* NULL: none (any more) */
    struct timer deadline;
    struct arena arena; /* holds the request and, but for its body, the answer */
    struct head *request;
    slice body; /* of the request */
    bool grpc, pooled, begun, retried;
    uint32_t attempts;
    uint64_t acked; /* what the service's system had acknowledged before; UINT64_MAX: unknown */
    uint64_t got;   /* bytes of the answer's body */
    int64_t timeout_ns;
    struct buf kept; /* of the answer's body */
    struct client_answer answer;
    void (*done)(void *user, const struct client_answer *a);
    void *user;
};

static void on_deadline(struct timer *t);

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
        kept = k->kept;
    } else {
        k = mem_alloc(sizeof *k);
    }
    *k = (struct client_call){.client = c,
                              .arena = arena,
                              .kept = kept,
                              .acked = UINT64_MAX,
                              .deadline.fire = on_deadline};
    return k;
}

static void call_free(struct client_call *k)
{
    arena_deinit(&k->arena);
    buf_deinit(&k->kept);
    mem_free(k);
}

/* It is in no list any more. */
static void call_put_away(struct client_call *k)
{
    struct client *c = k->client;
    if (c->n_spare == SPARE_MAX || k->arena.used > SPARE_BYTES || k->kept.cap > SPARE_BYTES) {
        call_free(k);
        return;
    }
    arena_reset(&k->arena);
    buf_clear(&k->kept);
    k->next = c->spare;
    c->spare = k;
    c->n_spare++;
}

/* ---- the request ---- */

/* Brings the request on its way, or again. */
static void call_go(struct client_call *k)
{
    struct client_pool *p = k->pool;
    k->stream = client_link_open(p, k->retried && (!p->h2 || k->attempts > 1));
    k->stream->user = k;
    k->attempts++;
    const struct client_link *l = client_link_of(k->stream);
    k->pooled = l->pooled;
    k->acked = k->pooled ? sys_acked(l->conn->fd) : UINT64_MAX;
    stream_head(k->stream, k->request, k->body.n == 0);
    if (k->body.n) {
        stream_data(k->stream, k->body);
        stream_end(k->stream, NULL);
    }
}

/* ---- the end of a call ---- */

/* The first message of what is kept, without its prefix. */
static slice first_message(const struct client_call *k, bool *cut)
{
    slice all = buf_slice(&k->kept);
    if (all.n < GRPC_PREFIX) {
        *cut = k->got > 0;
        return (slice){"", 0};
    }
    uint32_t n = 0;
    for (int i = 1; i < GRPC_PREFIX; i++)
        n = n << 8 | (uint8_t)all.p[i];
    slice message = slice_from(all, GRPC_PREFIX);
    *cut = k->got != GRPC_PREFIX + (uint64_t)n || message.n < n;
    if (message.n > n)
        message.n = n;
    return message;
}

static void call_over(struct client_call *k, outcome seen)
{
    struct client *c = k->client;
    struct client_answer *a = &k->answer;
    timer_stop(c->loop, &k->deadline);
    a->seen = seen;
    a->end_ns = clock_ns();
    a->body = buf_slice(&k->kept);
    a->cut = k->got > a->body.n;
    if (k->grpc)
        a->body = first_message(k, &a->cut);
    call_unlink(k);
    call_link(c->over_behind, k);
    c->over_behind = &k->next;
}

/* The whole answer is here. */
static void call_answered(struct client_call *k)
{
    struct client_link *l = client_link_of(k->stream);
    stream_release(k->stream);
    k->stream = NULL;
    client_link_lost(l);
    const struct client_answer *a = &k->answer;
    int code = k->grpc && a->trailers ? grpc_status(a->trailers) : -1;
    if (k->grpc && code < 0)
        code = grpc_status(a->head);
    if (k->grpc && code < 0 && a->head->status / 100 == 2)
        code = (int)grpc_of_status(a->head->status); /* no success: it was not said */
    call_over(k, code >= 0 ? OUTCOME(OUT_GRPC, code) : OUTCOME(OUT_STATUS, a->head->status));
}

/* Gives up what is under way. Not from within an event of the wire. */
static void call_leave(struct client_call *k)
{
    if (!k->stream)
        return;
    struct client_link *l = client_link_of(k->stream);
    stream_abort(k->stream, FINISH_NOT, H2_CANCEL);
    k->stream = NULL;
    client_link_left(l);
}

static void on_deadline(struct timer *t)
{
    struct client_call *k = OWNER(t, struct client_call, deadline);
    struct client *c = k->client;
    call_leave(k);
    if (k->answer.error) { /* it was not even sent */
        call_over(k, OUTCOME(OUT_REFUSED, 0));
    } else {
        struct buf text = BUF_INIT(120);
        buf_adds(&text, k->begun ? "the answer was not complete within " : "no answer within ");
        buf_add_ns(&text, k->timeout_ns);
        k->answer.error = arena_copy(&k->arena, buf_text(&text), text.n);
        buf_deinit(&text);
        call_over(k, OUTCOME(OUT_TIMEOUT, 0));
    }
    client_deliver(c);
}

/* ---- what streams tell ---- */

/* A kept connection that the service closed before a byte of the call came: the rule is that of
 * proxy/answer.c for calls of a run. */
static bool is_stale(const struct client_call *k, const struct client_link *l, enum wire_cut why)
{
    return k->pooled && why == CUT_CLOSED && k->acked != UINT64_MAX &&
           k->acked == sys_acked(l->conn->fd);
}

static const char *words_for(const struct client_call *k, enum wire_cut why)
{
    switch (why) {
    case CUT_BAD: return "the answer is malformed";
    case CUT_LIMIT:
        return "the head of the answer is too large, or too many interim answers (1xx) came";
    case CUT_RESET:
        return k->begun ? "the connection was reset in the middle of the answer"
                        : "the connection was reset before the answer";
    case CUT_REFUSED: return "the service refused the call (HTTP/2 REFUSED_STREAM or GOAWAY)";
    case CUT_CLOSED: break;
    }
    return k->begun ? "the connection was closed in the middle of the answer"
                    : "the connection was closed before the answer";
}

static void explain(struct client_call *k, const struct client_link *l, enum wire_cut why,
                    uint32_t code)
{
    struct buf text = BUF_INIT(400);
    bool lost = why == CUT_CLOSED || why == CUT_BAD;
    if (l->failed) {
        buf_addf(&text, "%s cannot be reached: %s", k->pool->to->text, l->why);
    } else if (l->only_h2) {
        buf_adds(&text, "the service speaks only HTTP/2, and `request` sends HTTP/1.1: let it take "
                        "both, or use `command: curl -f --http2-prior-knowledge {url:NAME}/path`");
    } else {
        if (why == CUT_RESET && l->wire->finish == FINISH_NOT)
            buf_addf(&text, "the call was reset (HTTP/2 error %u)", (unsigned)code);
        else
            buf_adds(&text, words_for(k, why));
        if ((why == CUT_BAD || why == CUT_LIMIT) && l->wire->error)
            buf_addf(&text, ": %s", l->wire->error);
        if (k->pool->h2 && lost && !k->begun)
            buf_adds(&text, " (gRPC takes a service that speaks HTTP/2)");
    }
    k->answer.error = arena_copy(&k->arena, buf_text(&text), text.n);
    buf_deinit(&text);
}

static void on_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct client_call *k = s->user;
    struct client_link *l = client_link_of(s);
    bool again = !k->client->fresh && !k->begun && k->attempts < ATTEMPTS_MAX && !l->failed &&
                 (is_stale(k, l, why) || why == CUT_REFUSED);
    k->stream = NULL;
    client_link_lost(l);
    if (again) {
        k->retried = true;
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
    if (h->status < 200)
        return;
    k->begun = true;
    k->answer.head = head_copy(&k->arena, h);
    if (end)
        call_answered(k);
}

static void on_data(struct stream *s, slice bytes)
{
    struct client_call *k = s->user;
    k->got += bytes.n;
    if (!k->kept.full)
        buf_add(&k->kept, bytes);
    stream_consume(s, bytes.n);
}

static void on_end(struct stream *s, const struct head *trailers)
{
    struct client_call *k = s->user;
    if (trailers)
        k->answer.trailers = head_copy(&k->arena, trailers);
    call_answered(k);
}

static void on_sent(struct stream *s, size_t n)
{
    (void)s, (void)n;
}

const struct wire_events client_wire_events = {
    .head = on_head,
    .data = on_data,
    .end = on_end,
    .abort = on_abort,
    .sent = on_sent,
};

/* ---- the face ---- */

void client_deliver(struct client *c)
{
    if (!c->over || c->delivering)
        return;
    c->delivering = true;
    while (c->over) {
        struct client_call *k = c->over;
        call_unlink(k);
        k->done(k->user, &k->answer);
        call_put_away(k);
    }
    c->delivering = false;
}

struct client *client_new(struct loop *l, bool fresh)
{
    struct client *c = mem_zero(sizeof *c);
    c->loop = l;
    c->fresh = fresh;
    c->over_behind = &c->over;
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
    client_pools_free(c);
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
    k->kept.max = most + (r->grpc ? GRPC_PREFIX : 0);
    k->pool = client_pool_for(c, r->to, r->tls, r->grpc);
    k->done = done;
    k->user = user;
    k->timeout_ns = r->timeout_ns < TIMEOUT_MOST_NS ? r->timeout_ns : TIMEOUT_MOST_NS;
    k->request = client_request_make(&k->arena, r, &k->body);
    call_link(&c->calls, k);
    k->answer.error = client_request_flaw(k->request);
    k->answer.start_ns = clock_ns();
    timer_start(c->loop, &k->deadline, k->answer.start_ns + (k->answer.error ? 0 : k->timeout_ns));
    if (!k->answer.error)
        call_go(k);
    return k;
}

void client_cancel(struct client_call *call)
{
    timer_stop(call->client->loop, &call->deadline);
    call_leave(call);
    call_unlink(call);
    call_put_away(call);
}
