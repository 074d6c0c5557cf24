/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections of clients, and their requests from the head to the answer. The thread of a connection
 * reads. A request of HTTP/1.1 it handles itself; those of HTTP/2, of which many may be open, are
 * given to others.
 *
 *   bytes -> wire -> requests that are complete -> handled -> answered -> flushed
 *
 * 1. The lock is held wherever the wire is touched, and never while a request is handled. */
#include "serve/serve_int.h"

#include "base/hash.h"
#include "io/blocking.h"
#include "track/context.h"
#include "wire/grpc.h"

enum { STREAMS_MAX = 1000 };

struct server_link {
    struct block_link *link;
    struct serve *serve;
    uint32_t service;
    pthread_mutex_t lock;
    pthread_cond_t done; /* with the lock: `jobs` is 0 */
    uint32_t jobs;
    struct request *ready, **ready_last; /* complete, in the order of arrival */
};

static const struct wire_limits limits = {.head_bytes = 64 * 1024,
                                          .head_fields = 200,
                                          .streams = STREAMS_MAX,
                                          .resets = 10000,
                                          .interims = 100};

/* ---- a request ---- */

struct request *request_hold(struct request *r)
{
    atomic_fetch_add(&r->refs, 1);
    return r;
}

void request_drop(struct request *r)
{
    if (atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    for (struct request_arena *m = r->more, *next; m; m = next) {
        next = m->next;
        arena_deinit(&m->arena);
        mem_free(m);
    }
    arena_deinit(&r->arena);
    buf_deinit(&r->body);
    buf_deinit(&r->answer);
    buf_deinit(&r->grpc_message);
    pthread_mutex_destroy(&r->lock);
    mem_free(r);
}

static void answer_text(struct request *r, uint16_t status, int grpc, const char *text)
{
    buf_clear(&r->answer);
    r->status = r->grpc ? 200 : status;
    r->grpc_status = r->grpc ? grpc : -1;
    r->content_type = SLICE("text/plain");
    if (r->grpc)
        grpc_message_encode(slice_of(text), &r->grpc_message);
    else
        buf_addf(&r->answer, "%s\n", text);
}

static void handle(struct request *r)
{
    struct sim_request asked = {.service = r->service, .method = r->method, .path = r->target};
    outcome reply;
    const struct node *body;
    struct err e = {0};
    slice bytes = buf_slice(&r->body);
    asked.path.n = slice_find(asked.path, '?');
    if (r->grpc) {
        asked.method = SLICE("");
        asked.path = grpc_interface(r->target);
    }
    if (r->grpc && bytes.n) {
        if (bytes.n < GRPC_PREFIX || bytes.p[0] != 0) {
            answer_text(r, 400, 12, "the message is compressed or incomplete");
            return;
        }
        bytes = slice_from(bytes, GRPC_PREFIX);
    }
    asked.payload = body_parse(&r->arena, bytes);
    asked.seed = hash_mix(atomic_fetch_add(&r->serve->seed, 1), r->trace);
    if (sim_handle(r->serve->sim, &serve_world, r, &asked, &reply, &body, &e)) {
        answer_text(r, 500, 13, e.text);
        return;
    }
    bool grpc_code = outcome_kind(reply) == OUT_GRPC;
    uint32_t code = outcome_code(reply);
    r->status = grpc_code ? 200 : (uint16_t)code;
    r->grpc_status = grpc_code ? (int)code : r->grpc && outcome_ok(reply) ? 0 : -1;
    if (!grpc_code && r->grpc_status == 0)
        r->status = 200; /* gRPC knows one kind of success */
    r->content_type = SLICE("application/json");
    body_print(r->serve, r->service, body, &r->arena, &r->answer);
    if (r->answer.full)
        answer_text(r, 500, 8, "the answer is too large to be sent");
    else if (!grpc_code && code < 200)
        answer_text(r, 500, 13, "a status below 200 is not an answer");
}

/* ---- the control port ----
 *
 * What services remember can be asked for and reset between runs.
 *
 *   POST /reset                   everything as in the file
 *   GET /state[?trace=HEX]        {service: {name: value}} of this trace, else of trace 0
 *   DELETE /state[?trace=HEX]     forgets it
 *
 * Pages of the web that reach it by a browser are sent away. */

static void handle_control(struct request *r)
{
    uint64_t trace = 0;
    slice query = r->target, path;
    slice_cut(&query, '?', &path);
    r->grpc = false;
    r->content_type = SLICE("application/json");
    r->status = 404;
    if (r->foreign) {
        r->status = 403;
    } else if (query.n && !(slice_starts(query, SLICE("trace=")) &&
                            slice_to_hex(slice_from(query, 6), &trace))) {
        r->status = 400;
    } else if (slice_is(path, "/reset") && slice_is(r->method, "POST")) {
        states_reset(r->serve->states);
        r->status = 204;
    } else if (slice_is(path, "/state") && slice_is(r->method, "GET")) {
        states_print(r->serve->states, trace, r->serve->served, &r->answer);
        r->status = r->answer.full ? 500 : 200;
    } else if (slice_is(path, "/state") && slice_is(r->method, "DELETE")) {
        states_forget(r->serve->states, trace);
        r->status = 204;
    }
}

static void request_handle(struct request *r)
{
    if (r->too_large)
        answer_text(r, 413, 8, "the body is too large");
    else if (r->service == UINT32_MAX)
        handle_control(r);
    else if (r->depth >= SERVE_DEPTH_MAX)
        answer_text(r, 508, 13, "calls nest too deeply (the limit is 64)");
    else
        handle(r);
}

static void answer_grpc(struct request *r)
{
    static const struct field type = {{"content-type", 12}, {"application/grpc+json", 21}};
    char code[DIGITS_MOST], prefix[GRPC_PREFIX];
    struct field status[] = {
        {SLICE("grpc-status"), slice_of_u64((uint64_t)r->grpc_status, code)},
        {SLICE("grpc-message"), buf_slice(&r->grpc_message)},
    };
    struct head h = {.status = 200, .fields = &type, .n_fields = 1};
    struct head trailers = {.fields = status, .n_fields = r->grpc_message.n ? 2 : 1};
    stream_head(r->stream, &h, false);
    if (r->answer.n || r->grpc_status == 0) {
        grpc_prefix((uint32_t)r->answer.n, prefix);
        stream_data(r->stream, (slice){prefix, sizeof prefix});
        stream_data(r->stream, buf_slice(&r->answer));
    }
    stream_end(r->stream, &trailers);
}

/* With the lock: the answer is given to the wire, and the stream let go. */
static void answer(struct request *r)
{
    struct stream *s = r->stream;
    if (!s)
        return; /* gone, and with it the wire's reference */
    if (r->grpc && r->grpc_status >= 0) {
        answer_grpc(r);
    } else {
        char code[DIGITS_MOST];
        struct field fields[2];
        uint32_t n = 0;
        bool never = r->status == 204 || r->status == 304;
        bool end = never || r->head_only || r->answer.n == 0;
        if (r->answer.n && !never)
            fields[n++] = (struct field){SLICE("content-type"), r->content_type};
        if (r->grpc_status >= 0)
            fields[n++] =
                (struct field){SLICE("grpc-status"), slice_of_u64((uint64_t)r->grpc_status, code)};
        struct head h = {.status = r->status,
                         .fields = fields,
                         .n_fields = n,
                         .has_length = !never,
                         .length = r->answer.n,
                         .bodiless = r->head_only};
        stream_head(s, &h, end);
        if (!end) {
            stream_data(s, buf_slice(&r->answer));
            stream_end(s, NULL);
        }
    }
    r->stream = NULL;
    s->user = NULL;
    stream_release(s);
    request_drop(r);
}

/* ---- events of the wire ---- */

static void complete(struct request *r)
{
    struct server_link *sl = r->from;
    r->complete = true;
    request_hold(r);
    *sl->ready_last = r;
    sl->ready_last = &r->next;
}

static bool any_trace(void *ctx, uint64_t id)
{
    (void)ctx, (void)id;
    return true;
}

static void on_head(struct stream *s, const struct head *h, bool end)
{
    const struct block_link *l = s->wire->owner;
    struct server_link *sl = l->user;
    struct serve *serve = sl->serve;
    struct request *r = mem_zero(sizeof *r);
    *r = (struct request){.serve = serve,
                          .service = sl->service,
                          .from = sl,
                          .stream = s,
                          .foreign = !head_is_local(h),
                          .grpc = s->wire->ops->multiplexed && grpc_is_call(h),
                          .head_only = slice_is(h->method, "HEAD"),
                          .grpc_status = -1,
                          .body = BUF_INIT(SERVE_BODY_MAX),
                          .answer = BUF_INIT(SERVE_BODY_MAX),
                          .grpc_message = BUF_INIT(4096)};
    atomic_init(&r->refs, 1);
    pthread_mutex_init(&r->lock, NULL);
    r->method = slice_copy(&r->arena, h->method);
    r->target = slice_copy(&r->arena, h->target);
    struct field *fields = arena_alloc(&r->arena, h->n_fields * sizeof *fields);
    for (uint32_t i = 0; i < h->n_fields; i++) {
        const struct field *f = &h->fields[i];
        bool goes_on = false;
        for (uint32_t k = 0; k < serve->n_propagate; k++)
            goes_on |= slice_eq_nocase(serve->propagate[k], f->name);
        if (goes_on)
            fields[r->n_fields++] =
                (struct field){slice_copy(&r->arena, f->name), slice_copy(&r->arena, f->value)};
    }
    r->fields = fields;
    uint64_t depth = 0;
    if (slice_to_u64(head_get(h, SERVE_DEPTH_FIELD), SERVE_DEPTH_MAX, &depth))
        r->depth = (uint32_t)depth;
    struct context context;
    context_read(h, NULL, 0, any_trace, NULL, &context);
    r->trace = context.run;
    slice id = slice_trim(head_get(h, SLICE("x-request-id")));
    if (!r->trace && !slice_to_hex(id, &r->trace)) /* people write short ones by hand */
        r->trace = 0;
    s->user = r;
    if (end)
        complete(r);
    else if (h->expects)
        stream_head(s, &(struct head){.status = 100}, false);
}

static void on_data(struct stream *s, slice bytes)
{
    struct request *r = s->user;
    buf_add(&r->body, bytes);
    r->too_large |= r->body.full;
    stream_consume(s, bytes.n);
}

static void on_end(struct stream *s, const struct head *trailers)
{
    struct request *r = s->user;
    (void)trailers;
    if (!r->complete)
        complete(r);
}

static void on_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct request *r = s->user;
    (void)why;
    (void)code;
    r->stream = NULL;
    request_drop(r);
}

static const struct wire_events events = {on_head, on_data, on_end, on_abort, stream_sent_ignored};

/* ---- requests ---- */

static void handle_apart(void *arg)
{
    struct request *r = arg;
    struct server_link *sl = r->from;
    request_handle(r);
    pthread_mutex_lock(&sl->lock);
    answer(r);
    if (block_link_flush(sl->link) != 0)
        block_end(sl->link->fd); /* its own thread finds out */
    if (--sl->jobs == 0)
        pthread_cond_signal(&sl->done);
    pthread_mutex_unlock(&sl->lock);
    request_drop(r);
}

/* With the lock, which is open while a request is handled here. */
static void handle_ready(struct server_link *sl)
{
    bool apart = sl->link->wire->ops->multiplexed;
    while (sl->ready) {
        struct request *r = sl->ready;
        sl->ready = r->next;
        if (!sl->ready)
            sl->ready_last = &sl->ready;
        if (apart) {
            sl->jobs++;
            if (crew_give(sl->serve->crew, handle_apart, r))
                continue;
            sl->jobs--; /* all hands are busy: lend one */
        }
        pthread_mutex_unlock(&sl->lock);
        request_handle(r);
        pthread_mutex_lock(&sl->lock);
        answer(r);
        request_drop(r);
    }
}

/* ---- a connection ---- */

/* With the lock: requests are handled, what is to be sent is. False: the connection is at its end.
 */
static bool go_on(struct server_link *sl)
{
    struct wire *w = sl->link->wire;
    for (;;) {
        handle_ready(sl);
        if (block_link_flush(sl->link) != 0 || w->finish != FINISH_NOT)
            return false;
        if (!w->resume)
            return true;
        wire_resume(w);
    }
}

void server_serve(struct serve *s, int fd, uint32_t service)
{
    struct server_link sl = {.serve = s, .service = service};
    sl.ready_last = &sl.ready;
    pthread_mutex_init(&sl.lock, NULL);
    pthread_cond_init(&sl.done, NULL);
    block_init(fd);
    sl.link = block_link_new(&s->links, fd, SERVE_SILENCE_NS, SERVE_WAIT_NS);
    sl.link->user = &sl;
    if (block_link_accept(sl.link, &events, &limits)) {
        ssize_t got = 1;
        pthread_mutex_lock(&sl.lock);
        while (go_on(&sl) && got > 0) {
            pthread_mutex_unlock(&sl.lock);
            got = block_link_get(sl.link, 0);
            pthread_mutex_lock(&sl.lock);
            block_link_feed(sl.link, got);
        }
        wire_broken(sl.link->wire);
        handle_ready(&sl);
        while (sl.jobs)
            pthread_cond_wait(&sl.done, &sl.lock);
        pthread_mutex_unlock(&sl.lock);
    }
    block_link_free(sl.link);
    pthread_cond_destroy(&sl.done);
    pthread_mutex_destroy(&sl.lock);
}
