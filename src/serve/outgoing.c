/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that go out. Connections are kept and used again, one call at a time each, also those of
 * HTTP/2. One that is kept is looked at before it is used: a call is never sent twice, because a
 * connection that breaks is an outcome that the handler is to see. */
#include "serve/request_int.h"

#include <errno.h>

#include "base/clock.h"
#include "io/blocking.h"
#include "io/sys.h"
#include "wire/grpc.h"

enum { READS_MOST = 100 }; /* of what a peer said while nobody called it */
static const int64_t SECOND_NS = 1000000000;

struct outgoing {
    struct serve *serve;
    pthread_mutex_t lock; /* of the list of peers and of what they keep */
    VEC(struct peer *) peers;
};

/* A call under way. */
struct attempt {
    bool done, grpc;
    outcome seen;
    uint16_t status;
    int grpc_status; /* -1: none so far */
    struct buf body;
    struct stream *stream; /* NULL: gone */
};

static const struct wire_limits limits = {
    .head_bytes = 64 * 1024, .head_fields = 200, .streams = 100, .resets = 1000, .interims = 100};

/* ---- events of the wire ---- */

static void finish(struct attempt *c)
{
    c->done = true;
    if (c->grpc_status >= 0)
        c->seen = OUTCOME(OUT_GRPC, c->grpc_status);
    else if (c->grpc && c->status == 200)
        c->seen = OUTCOME(OUT_GRPC, 2); /* UNKNOWN: an answer that does not say */
    else
        c->seen = OUTCOME(OUT_STATUS, c->status);
}

static void on_head(struct stream *s, const struct head *h, bool end)
{
    struct attempt *c = s->user;
    if (h->status < 200)
        return;
    c->status = h->status;
    c->grpc_status = grpc_status(h);
    if (end)
        finish(c);
}

static void on_data(struct stream *s, slice bytes)
{
    struct attempt *c = s->user;
    buf_add(&c->body, bytes);
    stream_consume(s, bytes.n);
}

static void on_end(struct stream *s, const struct head *trailers)
{
    struct attempt *c = s->user;
    if (trailers && c->grpc_status < 0)
        c->grpc_status = grpc_status(trailers);
    finish(c);
}

static void on_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    static const enum outcome_kind kinds[] = {[CUT_CLOSED] = OUT_CLOSED,
                                              [CUT_RESET] = OUT_RESET,
                                              [CUT_REFUSED] = OUT_REFUSED,
                                              [CUT_BAD] = OUT_CLOSED,
                                              [CUT_LIMIT] = OUT_CLOSED};
    struct attempt *c = s->user;
    (void)code;
    c->stream = NULL;
    c->done = true;
    c->seen = OUTCOME(kinds[why], 0);
}

static void on_sent(struct stream *s, size_t n)
{
    (void)s;
    (void)n;
}

static const struct wire_events events = {on_head, on_data, on_end, on_abort, on_sent};

/* ---- peers ---- */

struct outgoing *outgoing_new(struct serve *s)
{
    struct outgoing *c = mem_zero(sizeof *c);
    c->serve = s;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void outgoing_free(struct outgoing *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->peers.n; i++) {
        struct peer *p = c->peers.at[i];
        for (struct link *l = p->kept, *next; l; l = next) {
            next = l->next;
            link_free(l);
        }
        mem_free(p);
    }
    vec_deinit(&c->peers);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

struct peer *outgoing_peer(struct outgoing *c, const struct addr *addr, slice authority, bool h2)
{
    struct peer *found = NULL;
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < c->peers.n && !found; i++) {
        struct peer *p = c->peers.at[i];
        if (p->h2 == h2 && slice_is(authority, p->authority))
            found = p;
    }
    if (!found && c->peers.n < SERVE_PEERS_MAX && authority.n < sizeof found->authority) {
        found = mem_zero(sizeof *found);
        found->addr = *addr;
        found->h2 = h2;
        memcpy(found->authority, authority.p, authority.n);
        vec_push(&c->peers, found);
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

/* Can it take a call? What an HTTP/2 peer said meanwhile is read first. */
static bool link_usable(struct link *l, int64_t now_ns)
{
    if (now_ns - l->idle_ns > SERVE_IDLE_NS)
        return false;
    for (int i = 0; !sys_quiet(l->fd); i++)
        if (!l->wire->ops->multiplexed || i == READS_MOST || link_read(l, now_ns + SECOND_NS) <= 0)
            return false;
    return l->wire->finish == FINISH_NOT && !l->wire->closing && wire_room(l->wire) > 0;
}

static struct link *take(struct outgoing *c, struct peer *p)
{
    for (;;) {
        pthread_mutex_lock(&c->lock);
        struct link *l = p->kept;
        if (l)
            p->kept = l->next;
        pthread_mutex_unlock(&c->lock);
        if (!l || link_usable(l, clock_ns()))
            return l;
        link_free(l);
    }
}

static void keep_or_free(struct outgoing *c, struct peer *p, struct link *l)
{
    bool sound = l->wire->finish == FINISH_NOT && !l->wire->closing && wire_idle(l->wire);
    if (sound && l->wire->ops->multiplexed)
        sound = link_flush(l) == 0; /* acknowledgements */
    if (!sound || atomic_load(&c->serve->stopping)) {
        link_free(l);
        return;
    }
    l->idle_ns = clock_ns();
    pthread_mutex_lock(&c->lock);
    l->next = p->kept;
    p->kept = l;
    pthread_mutex_unlock(&c->lock);
}

static struct link *dial(struct outgoing *c, struct peer *p, int64_t deadline_ns, outcome *seen)
{
    int fd =
        atomic_load(&c->serve->stopping) ? -ECONNREFUSED : block_connect(&p->addr, deadline_ns);
    if (fd < 0) {
        enum outcome_kind kind = fd == -ETIMEDOUT    ? OUT_TIMEOUT
                                 : fd == -ECONNRESET ? OUT_RESET
                                                     : OUT_REFUSED;
        *seen = OUTCOME(kind, 0);
        return NULL;
    }
    struct link *l = link_new(c->serve, fd);
    link_wire(l, (p->h2 ? h2_new : h1_new)(false, &events, &limits, &l->out));
    return l;
}

/* ---- a call ---- */

enum { OWN_FIELDS = 4, KEY_MAX = 1000 };

/* Can it be the value of a header? A handler computes it of what it was sent. */
static bool is_key(slice key)
{
    bool ok = key.n > 0 && key.n <= KEY_MAX;
    for (size_t i = 0; ok && i < key.n; i++)
        ok = key.p[i] > ' ' && key.p[i] < 0x7f;
    return ok;
}

static void send_request(struct attempt *c, const struct peer *p, const struct request *r,
                         const struct sim_call *call, struct arena *a)
{
    struct buf body = BUF_INIT(SERVE_BODY_MAX);
    char depth[DIGITS_MOST], prefix[GRPC_PREFIX];
    struct field *fields = arena_alloc(a, (r->n_fields + OWN_FIELDS) * sizeof *fields);
    uint32_t n = r->n_fields;
    if (n)
        memcpy(fields, r->fields, n * sizeof *fields);
    if (call->payload->type != NODE_NULL)
        node_print(call->payload, &body);
    fields[n++] = (struct field){SERVE_DEPTH_FIELD, slice_of_u64(r->depth + 1, depth)};
    if (c->grpc || body.n)
        fields[n++] = (struct field){SLICE("content-type"), c->grpc ? SLICE("application/grpc+json")
                                                                    : SLICE("application/json")};
    if (c->grpc)
        fields[n++] = (struct field){SLICE("te"), SLICE("trailers")};
    if (is_key(call->key))
        fields[n++] = (struct field){SLICE("idempotency-key"), call->key};
    slice path = sim_path_encode(a, call->path);
    if (c->grpc) {
        struct buf target = BUF_INIT(path.n + 1);
        buf_addf(&target, "/%.*s", SLICE_ARG(path));
        path = slice_copy(a, buf_slice(&target));
        buf_deinit(&target);
    }
    struct head h = {.method = c->grpc ? SLICE("POST") : call->method,
                     .scheme = SLICE("http"),
                     .authority = slice_of(p->authority),
                     .target = path,
                     .fields = fields,
                     .n_fields = n,
                     .has_length = !c->grpc && body.n > 0,
                     .length = body.n};
    bool end = !c->grpc && body.n == 0;
    stream_head(c->stream, &h, end);
    if (c->grpc) {
        grpc_prefix((uint32_t)body.n, prefix);
        stream_data(c->stream, (slice){prefix, sizeof prefix});
    }
    if (c->stream && body.n)
        stream_data(c->stream, buf_slice(&body));
    if (c->stream && !end)
        stream_end(c->stream, NULL);
    buf_deinit(&body);
}

static void give_up(struct attempt *c, enum outcome_kind kind)
{
    c->done = true;
    c->seen = OUTCOME(kind, 0);
}

/* Sends what the wire has; when that does not work, the call is over. */
static void send_all(struct link *l, struct attempt *c, int64_t deadline_ns)
{
    int code = link_patience(l, deadline_ns) ? link_flush(l) : -EAGAIN;
    if (code == 0 || c->done)
        return;
    if (code == -EAGAIN)
        give_up(c, OUT_TIMEOUT);
    else
        wire_broken(l->wire);
}

/* Sends the request and waits for the answer; c->seen says what came of it. */
static void await(struct link *l, struct attempt *c, int64_t deadline_ns)
{
    send_all(l, c, deadline_ns);
    while (!c->done) {
        ssize_t got = link_read(l, deadline_ns);
        if (c->done)
            break;
        if (got == -EAGAIN)
            give_up(c, OUT_TIMEOUT);
        else if (got <= 0)
            give_up(c, got == 0 ? OUT_CLOSED : OUT_RESET);
        else if (c->body.full) /* more than we take */
            give_up(c, OUT_CLOSED);
        else if (l->wire->ops->multiplexed)
            send_all(l, c, deadline_ns);
    }
}

static slice unwrap(const struct attempt *c)
{
    slice bytes = buf_slice(&c->body);
    if (!c->grpc)
        return bytes;
    return bytes.n >= GRPC_PREFIX ? slice_from(bytes, GRPC_PREFIX) : SLICE("");
}

outcome outgoing_call(struct outgoing *c, struct peer *p, const struct request *r,
                      const struct sim_call *sim_call, struct arena *a, const struct node **body)
{
    struct attempt call = {.grpc = p->h2, .grpc_status = -1, .body = BUF_INIT(SERVE_BODY_MAX)};
    int64_t wait_ns = sim_call->timeout_ns ? sim_call->timeout_ns : SERVE_WAIT_NS;
    int64_t deadline_ns = clock_ns() + wait_ns;
    struct link *l = take(c, p);
    *body = &node_null;
    if (!l && !(l = dial(c, p, deadline_ns, &call.seen)))
        return call.seen;
    call.stream = stream_open(l->wire);
    call.stream->user = &call;
    send_request(&call, p, r, sim_call, a);
    await(l, &call, deadline_ns);
    enum outcome_kind kind = outcome_kind(call.seen);
    bool answered = kind == OUT_STATUS || kind == OUT_GRPC;
    if (call.stream && answered)
        stream_release(call.stream);
    else if (call.stream)
        stream_abort(call.stream, FINISH_NOT, 8 /* CANCEL */);
    if (answered)
        *body = body_parse(a, unwrap(&call));
    buf_deinit(&call.body);
    if (answered)
        keep_or_free(c, p, l);
    else
        link_free(l);
    return call.seen;
}
