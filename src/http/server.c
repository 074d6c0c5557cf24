/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server.h"

#include "base/clock.h"
#include "http/link.h"
#include "io/sys.h"

static const int64_t IDLE_NS = SECONDS(75);

enum exchange_state {
    BODY,    /* is waited for */
    HANDLED, /* the handler is to answer */
    PARTS,   /* of the answer come */
    DONE,
};

/* A request under way. */
struct exchange {
    struct server_request request; /* first */
    struct server *server;
    const struct server_route *route;
    struct stream *stream; /* NULL: gone */
    enum exchange_state state;
    bool handling; /* the handler runs: the memory stays */
    struct arena arena;
    struct buf body;
    struct field fields[SERVER_FIELDS + 1]; /* of the answer; the first is its type */
    uint32_t n_fields;                      /* without that */
    struct timer patience; /* with a body that does not come, or a reader that takes nothing */
    size_t queued;         /* bytes that the reader has not taken */
    void (*gone)(void *user);
    void (*room)(void *user);
    void *user;
};

struct server {
    struct server_options o;
    struct listener listener;
    struct link_terms terms;
    struct link *links;
    uint32_t n_links;
};

static void on_patience(struct timer *t);

static void exchange_free(struct exchange *x)
{
    timer_stop(x->server->o.loop, &x->patience);
    arena_deinit(&x->arena);
    buf_deinit(&x->body);
    mem_free(x);
}

/* The answer is complete, or will never be. */
static void exchange_done(struct exchange *x)
{
    struct stream *s = x->stream;
    x->state = DONE;
    x->stream = NULL;
    if (s) {
        struct link *l = link_of(s);
        stream_release(s);
        link_unuse(l);
    }
    if (!x->handling)
        exchange_free(x);
}

/* ---- answers ---- */

static struct exchange *exchange_of(struct server_request *q)
{
    return (struct exchange *)(void *)q;
}

static void send_head(struct exchange *x, const char *type, struct head h, bool end)
{
    x->fields[0] = (struct field){SLICE("content-type"), slice_of(type ? type : "")};
    h.fields = type ? x->fields : x->fields + 1;
    h.n_fields = x->n_fields + (type ? 1 : 0);
    stream_head(x->stream, &h, end);
    link_touch(link_of(x->stream));
}

void server_field(struct server_request *q, const char *name, const char *value)
{
    struct exchange *x = exchange_of(q);
    if (x->n_fields < SERVER_FIELDS)
        x->fields[++x->n_fields] = (struct field){slice_copy(&x->arena, slice_of(name)),
                                                  slice_copy(&x->arena, slice_of(value))};
}

void server_answer(struct server_request *q, uint16_t status, const char *type, slice body)
{
    struct exchange *x = exchange_of(q);
    bool never = status == 204 || status == 304;
    bool head_only = slice_is(q->head->method, "HEAD");
    bool end = never || head_only || body.n == 0;
    send_head(x, never ? NULL : type,
              (struct head){.status = status,
                            .has_length = !never,
                            .length = body.n,
                            .bodiless = never || head_only},
              end);
    if (!end) {
        stream_data(x->stream, body);
        stream_end(x->stream, NULL);
    }
    exchange_done(x);
}

void server_begin(struct server_request *q, uint16_t status, const char *type,
                  void (*gone)(void *user), void (*room)(void *user), void *user)
{
    struct exchange *x = exchange_of(q);
    x->state = PARTS;
    x->gone = gone;
    x->room = room;
    x->user = user;
    send_head(x, type, (struct head){.status = status}, false);
}

bool server_send(struct server_request *q, slice bytes)
{
    struct exchange *x = exchange_of(q);
    if (x->queued + bytes.n > x->server->o.queue)
        return false;
    if (bytes.n == 0 || slice_is(q->head->method, "HEAD"))
        return true;
    if (x->queued == 0)
        timer_start(x->server->o.loop, &x->patience, clock_ns() + x->server->o.patience_ns);
    x->queued += bytes.n;
    stream_data(x->stream, bytes);
    link_touch(link_of(x->stream));
    return true;
}

void server_end(struct server_request *q)
{
    struct exchange *x = exchange_of(q);
    stream_end(x->stream, NULL);
    link_touch(link_of(x->stream));
    exchange_done(x);
}

/* `why` has its newline. */
static void refuse(struct exchange *x, uint16_t status, const char *why)
{
    if (x->server->o.refuse)
        x->server->o.refuse(&x->request, status, why);
    else
        server_answer(&x->request, status, "text/plain", slice_of(why));
}

/* ---- requests ---- */

static void handle(struct exchange *x)
{
    timer_stop(x->server->o.loop, &x->patience);
    x->state = HANDLED;
    x->request.body = buf_slice(&x->body);
    x->handling = true;
    x->route->handle(&x->request);
    x->handling = false;
    if (x->state == DONE)
        exchange_free(x);
}

static void on_head(struct stream *s, const struct head *h, bool end)
{
    struct link *l = link_of(s);
    struct server *server = l->terms->user;
    struct exchange *x = mem_zero(sizeof *x);
    bool other = false;
    slice query = h->target, path;
    slice_cut(&query, '?', &path);
    *x = (struct exchange){.server = server, .stream = s, .patience.fire = on_patience};
    h = head_copy(&x->arena, h);
    x->request = (struct server_request){.ctx = server->o.ctx,
                                         .head = h,
                                         .path = slice_copy(&x->arena, path),
                                         .query = slice_copy(&x->arena, query),
                                         .local = head_is_local(h)};
    for (uint32_t i = 0; i < server->o.n_routes && !x->route; i++) {
        const struct server_route *r = &server->o.routes[i];
        slice fits = slice_of(r->path);
        bool below = fits.n && fits.p[fits.n - 1] == '*';
        fits.n -= below;
        if (below ? !slice_starts(path, fits) : !slice_eq(path, fits))
            continue;
        if (!r->method || slice_is(h->method, r->method) ||
            (slice_is(h->method, "HEAD") && strcmp(r->method, "GET") == 0))
            x->route = r;
        other = true; /* there is one, if of another method */
    }
    s->user = x;
    link_use(l);
    l->unfinished = !end;
    if (!x->route) {
        refuse(x, other ? 405 : 404, other ? "method not allowed\n" : "not found\n");
        return;
    }
    x->body = BUF_INIT(x->route->body_max);
    if (end || !x->route->body_max) {
        handle(x);
        return;
    }
    if (h->has_length && h->length > x->route->body_max) {
        refuse(x, 413, "the body is too large\n");
        return;
    }
    timer_start(server->o.loop, &x->patience, server->o.loop->now_ns + server->o.patience_ns);
    if (h->expects) {
        stream_head(s, &(struct head){.status = 100}, false);
        link_touch(l);
    }
}

static void on_data(struct stream *s, slice bytes)
{
    struct exchange *x = s->user;
    stream_consume(s, bytes.n);
    if (x->state != BODY)
        return; /* it is not wanted */
    buf_add(&x->body, bytes);
    if (x->body.full)
        refuse(x, 413, "the body is too large\n");
}

static void on_end(struct stream *s, const struct head *trailers)
{
    struct exchange *x = s->user;
    (void)trailers;
    link_of(s)->unfinished = false;
    if (x->state == BODY)
        handle(x);
}

/* The stream is gone; whoever goes on with the answer is told. */
static void lost(struct exchange *x)
{
    x->stream = NULL;
    if (x->state == PARTS && x->gone)
        x->gone(x->user);
    exchange_done(x);
}

static void on_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct exchange *x = s->user;
    (void)why, (void)code;
    link_unuse(link_of(s));
    lost(x);
}

static void on_sent(struct stream *s, size_t n)
{
    struct exchange *x = s->user;
    if (x->state != PARTS)
        return;
    x->queued -= n < x->queued ? n : x->queued;
    if (x->queued) {
        timer_start(x->server->o.loop, &x->patience,
                    x->server->o.loop->now_ns + x->server->o.patience_ns);
        return;
    }
    timer_stop(x->server->o.loop, &x->patience);
    if (x->room)
        x->room(x->user);
}

static void on_patience(struct timer *t)
{
    struct exchange *x = OWNER(t, struct exchange, patience);
    if (x->state == BODY) {
        refuse(x, 408, "the body took too long\n");
        return;
    }
    struct link *l = link_of(x->stream);
    stream_abort(x->stream, FINISH_RESET, H2_CANCEL);
    link_unuse(l);
    lost(x);
}

static const struct wire_events events = {on_head, on_data, on_end, on_abort, on_sent};

/* ---- connections ---- */

static void on_freed(struct link *l)
{
    struct server *s = l->terms->user;
    s->n_links--;
}

static void on_accepted(struct listener *l, int fd)
{
    struct server *s = l->user;
    if (s->n_links >= s->o.connections) {
        sys_close(fd);
        return;
    }
    s->n_links++;
    link_accept(mem_zero(sizeof(struct link)), &s->terms, fd, s->o.tls);
}

static void on_closed(struct listener *l)
{
    struct server *s = l->user;
    tls_context_free(s->o.tls);
    mem_free(s);
}

int server_new(const struct server_options *o, struct addr *at, struct server **out, struct err *e)
{
    static const struct wire_limits limits = {.head_bytes = 64 * 1024,
                                              .head_fields = 200,
                                              .streams = 256,
                                              .resets = 1000,
                                              .interims = 100};
    static const struct link_hooks hooks = {.freed = on_freed};
    int fd = addr_listen(at, false, e);
    if (fd < 0)
        return -1;
    struct server *s = mem_zero(sizeof *s);
    s->o = *o;
    s->o.connections = o->connections ? o->connections : 100;
    s->o.queue = o->queue ? o->queue : 256 * 1024;
    s->o.patience_ns = o->patience_ns ? o->patience_ns : SECONDS(30);
    s->terms = (struct link_terms){.user = s,
                                   .loop = o->loop,
                                   .all = &s->links,
                                   .hooks = &hooks,
                                   .events = &events,
                                   .limits = &limits,
                                   .head_ns = s->o.patience_ns,
                                   .idle_ns = IDLE_NS,
                                   .total_ns = s->o.patience_ns};
    int failed = listener_init(&s->listener, o->loop, fd, on_accepted, s);
    if (failed) {
        mem_free(s);
        return err_set(e, 0, 0, "cannot listen at %s: %s", at->text, uv_strerror(failed));
    }
    if (s->o.tls)
        tls_context_hold(s->o.tls);
    *out = s;
    return 0;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    while (s->links)
        link_close(s->links);
    listener_close(&s->listener, on_closed);
}
