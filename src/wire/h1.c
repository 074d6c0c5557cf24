/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/1.1 on one connection, as a server or as a client. There is one stream at a time, so it is
 * part of the wire. What comes in and what goes out are two small machines:
 *
 *   in    IN_HEAD --parse--> IN_BODY --last byte--> IN_DONE --h1_turn()--> IN_HEAD
 *            \--101--> IN_TUNNEL --eof--> IN_DONE
 *   out   OUT_HEAD --h1_send_head--> OUT_BODY --h1_send_end--> OUT_DONE --h1_turn()--> OUT_HEAD
 *            \--101--> OUT_TUNNEL --h1_send_end--> OUT_DONE
 *
 * h1_turn() is the only way to the next exchange: both are done and the owner has let go. A
 * connection that cannot go on (Connection: close, a body cut short, an error) gets `finish`
 * instead.
 *
 * 1. Bytes are parsed where they lie. `in` holds what could not be used yet: half a head, or
 *    requests that came before their turn.
 * 2. `live`: the owner has the stream. Not live but IN_BODY: the rest of the body is dropped.
 * 3. A server never parses a request before the response to the one before is complete. */
#include "wire/h1_int.h"

static const struct wire_events *events(struct h1 *h)
{
    return h->wire.events;
}

/* ---- state changes ---- */

void h1_finish(struct h1 *h, enum wire_finish how)
{
    if (h->wire.finish == FINISH_NOT)
        h->wire.finish = how;
    h->wire.closing = true;
}

/* The owner loses the stream. */
static void lose(struct h1 *h, enum wire_cut why)
{
    struct stream *s = &h->stream;
    if (!h->live)
        return;
    h->live = false;
    h->unread = h->unsent = 0;
    h->wire.n_streams = 0;
    if (s->user)
        events(h)->abort(s, why, 0);
    s->user = NULL;
}

void h1_turn(struct h1 *h)
{
    if (h->live || h->in_state != IN_DONE || h->out_state != OUT_DONE)
        return;
    h->wire.n_streams = 0;
    if (!h->keep || h->wire.closing) {
        h1_finish(h, FINISH_CLOSE);
        return;
    }
    h->wire.draining = false;
    h->in_state = IN_HEAD;
    h->out_state = OUT_HEAD;
    h->scan = (struct h1_scan){0};
    h->skipped_blank = false;
    h->wire.resume = h->in.n > 0;
}

static void end_in(struct h1 *h, const struct head *trailers, bool tell)
{
    h->in_state = IN_DONE;
    if (tell && h->live && h->stream.user)
        events(h)->end(&h->stream, trailers);
    h1_turn(h);
}

/* The peer broke the rules. A server says so when it has not begun to answer. */
static void refuse(struct h1 *h, const struct h1_refusal *why)
{
    h->wire.error = why->text;
    if (h->wire.server && h->out_state == OUT_HEAD) {
        slice text = slice_of(why->text);
        struct field type = {SLICE("Content-Type"), SLICE("text/plain")};
        struct head answer = {.status = why->status,
                              .fields = &type,
                              .n_fields = 1,
                              .has_length = true,
                              .length = text.n + 1};
        h1_print_head(h->wire.out, &answer, &(struct h1_style){.close = true});
        chain_add(h->wire.out, text);
        chain_adds(h->wire.out, "\n");
    }
    h->out_state = OUT_DONE;
    h1_finish(h, FINISH_CLOSE);
    lose(h, why->status == 431 ? CUT_LIMIT : CUT_BAD);
}

/* ---- in ---- */

static void begin_request(struct h1 *h, const struct h1_head *r)
{
    h->live = true;
    h->wire.n_streams = 1;
    h->stream = (struct stream){.wire = &h->wire};
    h->keep = r->keep_alive;
    h->peer10 = r->head.http10;
    h->head_only = slice_is(r->head.method, "HEAD");
    h->awaits_continue = r->head.expects && !r->head.bodiless && !r->head.http10;
    h->asked_upgrade = r->head.upgrade.n > 0;
}

static void choose_body(struct h1 *h, const struct h1_head *r)
{
    const struct head *head = &r->head;
    h->body = (struct h1_body){.kind = r->chunked         ? BODY_CHUNKED
                                       : head->has_length ? BODY_LENGTH
                                       : r->must_close    ? BODY_CLOSE
                                                          : BODY_NONE,
                               .left = head->length};
    if (head->bodiless || r->chunked)
        h->body.left = 0;
    if (head->bodiless || (h->body.kind == BODY_LENGTH && h->body.left == 0))
        h->body.kind = BODY_NONE;
    if (h->body.kind == BODY_CLOSE)
        h->keep = false;
}

/* A response's head, of a client's wire. */
static void take_response(struct h1 *h, struct h1_head *r, size_t bytes)
{
    struct head *head = &r->head;
    if (head->status == 101) {
        if (!h->asked_upgrade || h->out_state != OUT_DONE) {
            refuse(h, &(struct h1_refusal){502, "an upgrade that nobody asked for"});
            return;
        }
        h->in_state = IN_TUNNEL;
        h->out_state = OUT_TUNNEL;
        h->keep = false;
        events(h)->head(&h->stream, head, false);
        return;
    }
    if (head->status < 200) {
        if (wire_interim(&h->interims, h->wire.limits, bytes))
            refuse(h, &(struct h1_refusal){431, "too many interim answers (1xx)"});
        else
            events(h)->head(&h->stream, head, false);
        return;
    }
    if (h->head_only) {
        head->bodiless = true;
        r->must_close = false;
    }
    h->keep &= r->keep_alive;
    choose_body(h, r);
    bool end = h->body.kind == BODY_NONE;
    head->bodiless = end;
    h->in_state = end ? IN_DONE : IN_BODY;
    events(h)->head(&h->stream, head, end);
    h1_turn(h);
}

static void take_request(struct h1 *h, struct h1_head *r)
{
    begin_request(h, r);
    choose_body(h, r);
    bool end = h->body.kind == BODY_NONE;
    h->in_state = end ? IN_DONE : IN_BODY;
    events(h)->head(&h->stream, &r->head, end);
}

/* The length of the head or trailers at the front of `bytes`; 0: it takes more bytes, or there are
 * too many already; -1: see *why. Bytes past the bound are not looked at, so that it does not
 * matter how the bytes were cut. */
static int64_t find_end(struct h1 *h, slice bytes, struct h1_refusal *why)
{
    size_t most = h->wire.limits->head_bytes;
    slice seen = {bytes.p, bytes.n < most ? bytes.n : most};
    int64_t n = h1_find_end(seen, &h->scan, why);
    if (n == 0 && bytes.n > most)
        refuse(h, &(struct h1_refusal){431, "the head is too large"});
    return n;
}

/* One head off *bytes; false when it takes more bytes, or the connection is done with. */
static bool take_head(struct h1 *h, slice *bytes)
{
    struct h1_refusal why;
    struct h1_head r;
    bool server = h->wire.server;
    if (!server && !h->live) {
        refuse(h, &(struct h1_refusal){502, "bytes that belong to no request"});
        return false;
    }
    int64_t n = find_end(h, *bytes, &why);
    if (n == 2 && server && !h->skipped_blank) { /* one blank line before a request is tolerated */
        h->skipped_blank = true;
        h->scan = (struct h1_scan){0};
        *bytes = slice_from(*bytes, 2);
        return true;
    }
    if (n == 0)
        return false;
    slice head = {bytes->p, n > 0 ? (size_t)n : 0};
    if (n < 0 || h1_head_parse(head, server, h->wire.limits->head_fields, &r, &why)) {
        refuse(h, &why);
        return false;
    }
    *bytes = slice_from(*bytes, (size_t)n);
    h->scan = (struct h1_scan){0};
    if (server)
        take_request(h, &r);
    else
        take_response(h, &r, head.n);
    return true;
}

/* 0, or -1 with *why. What concerns the connection or the framing is left out. */
static int read_trailers(slice lines, uint32_t most, struct field *fields, struct head *out,
                         struct h1_refusal *why)
{
    struct field f;
    while (h1_cut_field(&lines, &f)) {
        *why = (struct h1_refusal){400, "the trailers are malformed"};
        if (!h1_is_token(f.name))
            return -1;
        if (h1_is_known(f.name))
            continue;
        *why = (struct h1_refusal){431, "too many trailers"};
        if (out->n_fields == most || out->n_fields == H1_FIELDS_MAX)
            return -1;
        fields[out->n_fields++] = f;
    }
    return 0;
}

static bool take_trailers(struct h1 *h, slice *bytes)
{
    struct h1_refusal why;
    int64_t n = find_end(h, *bytes, &why);
    if (n == 0)
        return false;
    struct field fields[H1_FIELDS_MAX];
    struct head trailers = {.fields = fields};
    slice lines = {bytes->p, n > 0 ? (size_t)n : 0};
    if (n < 0 || read_trailers(lines, h->wire.limits->head_fields, fields, &trailers, &why)) {
        refuse(h, &why);
        return false;
    }
    *bytes = slice_from(*bytes, (size_t)n);
    h->scan = (struct h1_scan){0};
    end_in(h, trailers.n_fields ? &trailers : NULL, true);
    return true;
}

static void give_data(struct h1 *h, slice data)
{
    if (!h->live || !h->stream.user)
        return;
    h->unread += data.n;
    events(h)->data(&h->stream, data);
}

static bool take_body(struct h1 *h, slice *bytes)
{
    slice data;
    h->awaits_continue = false;
    switch (h1_body_step(&h->body, bytes, &data)) {
    case STEP_DATA:
        give_data(h, data);
        if (h->body.kind != BODY_LENGTH || h->body.left || h->in_state != IN_BODY)
            return true;
        end_in(h, NULL, true);
        return true;
    case STEP_TRAILERS: return take_trailers(h, bytes);
    case STEP_END: end_in(h, NULL, true); return true;
    case STEP_BAD: refuse(h, &(struct h1_refusal){400, "a chunk is malformed"}); return false;
    case STEP_MORE: return false;
    }
    return false;
}

/* The peer does not read its answers: no more requests until it does. */
static bool is_clogged(const struct h1 *h)
{
    return h->wire.server && h->wire.out->n >= H1_OUT_MAX;
}

/* Takes what can be taken off *bytes. Requests that are answered at once could go on and on: after
 * some of them other connections have their turn. */
static void take(struct h1 *h, slice *bytes)
{
    bool more = true;
    uint32_t heads = 0;
    while (more && bytes->n && h->wire.finish == FINISH_NOT) {
        switch (h->in_state) {
        case IN_HEAD:
            h->clogged = is_clogged(h);
            h->wire.resume = h->wire.server && heads++ == H1_TURN;
            more = !h->clogged && !h->wire.resume && take_head(h, bytes);
            break;
        case IN_BODY: more = take_body(h, bytes); break;
        case IN_TUNNEL:
            give_data(h, *bytes);
            *bytes = (slice){0};
            break;
        case IN_DONE:
            more = false;
            if (!h->wire.server)
                refuse(h, &(struct h1_refusal){502, "bytes after the end of a response"});
        }
    }
}

/* ---- from the connection below ---- */

/* Takes from `in`. What is left moves to its front. */
static void take_waiting(struct h1 *h)
{
    slice bytes = buf_slice(&h->in);
    take(h, &bytes);
    if (h->wire.finish != FINISH_NOT || bytes.n == 0) {
        buf_deinit(&h->in);
    } else if (bytes.n < h->in.n) {
        memmove(h->in.p, bytes.p, bytes.n);
        h->in.n = bytes.n;
    }
}

static void h1_feed(struct wire *w, slice bytes)
{
    struct h1 *h = h1_of(w);
    if (w->finish != FINISH_NOT)
        return;
    if (h->in.n == 0)
        take(h, &bytes);
    if (w->finish != FINISH_NOT || bytes.n == 0)
        return;
    bool waited = h->in.n > 0;
    buf_add(&h->in, bytes);
    if (h->in.full)
        refuse(h, &(struct h1_refusal){431, "too many bytes ahead of their turn"});
    else if (waited)
        take_waiting(h);
}

static void h1_resume(struct wire *w)
{
    w->resume = false;
    if (w->finish == FINISH_NOT && h1_of(w)->in.n)
        take_waiting(h1_of(w));
}

static void h1_eof(struct wire *w)
{
    struct h1 *h = h1_of(w);
    h->keep = false;
    if (h->in_state == IN_TUNNEL || (h->in_state == IN_BODY && h->body.kind == BODY_CLOSE)) {
        end_in(h, NULL, true);
        return;
    }
    h1_finish(h, FINISH_CLOSE);
    lose(h, CUT_CLOSED);
}

static void h1_broken(struct wire *w)
{
    h1_finish(h1_of(w), FINISH_RESET);
    lose(h1_of(w), CUT_RESET);
}

static bool h1_reads(const struct wire *w)
{
    const struct h1 *h = (const struct h1 *)w;
    /* half a head or trailers may be as large as the limit says; requests ahead of their turn not
     */
    size_t most = h->in_state == IN_DONE ? H1_WAITING_MAX : (size_t)w->limits->head_bytes + 1;
    return w->finish == FINISH_NOT && h->unread < WIRE_WINDOW && h->in.n < most && !is_clogged(h);
}

static void h1_pump(struct wire *w)
{
    (void)w; /* everything is in `out` already */
}

static void h1_wrote(struct wire *w)
{
    struct h1 *h = h1_of(w);
    size_t left = w->out->n < h->unsent ? w->out->n : h->unsent;
    size_t sent = h->unsent - left;
    h->unsent = left;
    if (sent && h->live && h->stream.user)
        events(h)->sent(&h->stream, sent);
    if (h->in.n && h->in_state == IN_HEAD && h->clogged && !is_clogged(h)) {
        h->clogged = false;
        w->resume = true;
    }
}

static bool h1_idle(const struct wire *w)
{
    const struct h1 *h = (const struct h1 *)w;
    return w->n_streams == 0 && h->in.n == 0;
}

static uint32_t h1_room(const struct wire *w)
{
    return w->n_streams == 0 && !w->closing;
}

static void h1_shutdown(struct wire *w)
{
    struct h1 *h = h1_of(w);
    h->keep = false;
    w->closing = true;
    if (w->n_streams == 0)
        h1_finish(h, FINISH_CLOSE);
}

static void h1_part(struct wire *w)
{
    w->closing = true; /* h1_turn ends it after the next exchange */
}

static void h1_free(struct wire *w)
{
    buf_deinit(&h1_of(w)->in);
    mem_free(w);
}

static const struct wire_ops h1_ops = {
    .name = "HTTP/1.1",
    .feed = h1_feed,
    .eof = h1_eof,
    .broken = h1_broken,
    .resume = h1_resume,
    .reads = h1_reads,
    .pump = h1_pump,
    .wrote = h1_wrote,
    .idle = h1_idle,
    .room = h1_room,
    .shutdown = h1_shutdown,
    .part = h1_part,
    .open = h1_open,
    .head = h1_send_head,
    .data = h1_send_data,
    .end = h1_send_end,
    .abort = h1_abort,
    .goaway = h1_goaway,
    .consume = h1_consume,
    .release = h1_release,
    .free = h1_free,
};

struct wire *h1_new(bool server, const struct wire_events *ev, const struct wire_limits *limits,
                    struct chain *out)
{
    struct h1 *h = mem_zero(sizeof *h);
    h->wire =
        (struct wire){.ops = &h1_ops, .events = ev, .limits = limits, .out = out, .server = server};
    h->in = BUF_INIT((size_t)limits->head_bytes + 2 * H1_WAITING_MAX + 4096);
    if (!server)
        h->in_state = IN_DONE;
    h->out_state = server ? OUT_HEAD : OUT_DONE;
    return &h->wire;
}
