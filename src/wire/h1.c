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

enum body_kind { BODY_NONE, BODY_LENGTH, BODY_CHUNKED, BODY_CLOSE };

struct body {
    enum body_kind kind;
    uint64_t left; /* of the length, or of the chunk */
    uint8_t state; /* of BODY_CHUNKED, CHUNK_SIZE ... */
    uint8_t digits;
    uint32_t extensions; /* bytes of chunk extensions so far */
};

enum step {
    STEP_MORE,     /* all bytes were taken */
    STEP_DATA,     /* *data is a piece of the body */
    STEP_TRAILERS, /* trailers, or the blank line for none, come next */
    STEP_END,
    STEP_BAD,
};

enum h1_in_state { IN_HEAD, IN_BODY, IN_DONE, IN_TUNNEL };
enum h1_out_state { OUT_HEAD, OUT_BODY, OUT_DONE, OUT_TUNNEL };

enum {
    H1_WAITING_MAX = 64 * 1024, /* bytes in `in` after which reading stops */
    H1_OUT_MAX = 256 * 1024,    /* bytes in `out`, likewise */
    H1_TURN = 64,               /* requests that are taken in one turn */
};

struct h1 {
    struct wire wire;
    struct stream stream;
    struct buf in;
    struct h1_scan scan; /* of a head in the making */
    enum h1_in_state in_state;
    enum h1_out_state out_state;
    struct body body;
    uint64_t out_left; /* of the length that was told */
    struct wire_interims interims;
    size_t unread; /* given to the owner, not consumed */
    size_t unsent; /* given by the owner, still in `out` */
    bool live;
    bool keep;      /* another exchange may follow on this connection */
    bool peer10;    /* server: the request was HTTP/1.0 */
    bool head_only; /* the request is a HEAD */
    bool asked_upgrade;
    bool awaits_continue; /* server: the client waits for a 100 before it sends its body */
    bool skipped_blank;
    bool clogged;                               /* a request waits until the peer reads more */
    bool out_chunked, out_counted, out_dropped; /* framing of what is sent; dropped: no body */
};

static struct h1 *h1_of(struct wire *w)
{
    return (struct h1 *)w; /* the first member */
}

static const struct wire_events *events(struct h1 *h)
{
    return h->wire.events;
}

/* ---- state changes ---- */

/* The connection is to end. The first reason counts. */
static void h1_finish(struct h1 *h, enum wire_finish how)
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

/* On to the next exchange, when this one is over in both directions. */
static void h1_turn(struct h1 *h)
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

static void end_in(struct h1 *h, const struct head *trailers)
{
    h->in_state = IN_DONE;
    if (h->live && h->stream.user)
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

/* ---- a body, unwrapped ----
 *
 * By length, in chunks, or until the connection ends. Chunks are read strictly: hexadecimal digits,
 * extensions (dropped, and bounded), CRLF, the bytes, CRLF. */

enum {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_BYTES,
    CHUNK_CR,
    CHUNK_LF,
    CHUNK_TRAILERS
};
enum { DIGITS_MAX = 15, EXTENSIONS_MAX = 16 * 1024 };

/* One byte of the line before a chunk. */
static enum step size_byte(struct body *b, char c)
{
    int digit = hex_digit(c);
    if (b->state == CHUNK_SIZE && digit >= 0) {
        b->left = b->left * 16 + (unsigned)digit;
        return ++b->digits > DIGITS_MAX ? STEP_BAD : STEP_MORE;
    }
    if (b->state == CHUNK_SIZE_LF) {
        if (c != '\n')
            return STEP_BAD;
        b->state = b->left ? CHUNK_BYTES : CHUNK_TRAILERS;
        b->digits = 0;
        return b->left ? STEP_MORE : STEP_TRAILERS;
    }
    if (b->digits == 0)
        return STEP_BAD;
    if (c == '\r') {
        b->state = CHUNK_SIZE_LF;
        return STEP_MORE;
    }
    if (b->state == CHUNK_SIZE && c != ';')
        return STEP_BAD;
    b->state = CHUNK_EXTENSION;
    bool control = (uint8_t)c < ' ' && c != '\t';
    return control || c == 127 || ++b->extensions > EXTENSIONS_MAX ? STEP_BAD : STEP_MORE;
}

static enum step take_data(struct body *b, slice *bytes, slice *data)
{
    data->p = bytes->p;
    data->n = bytes->n < b->left ? bytes->n : (size_t)b->left;
    *bytes = slice_from(*bytes, data->n);
    b->left -= data->n;
    return STEP_DATA;
}

static enum step chunk_step(struct body *b, slice *bytes, slice *data)
{
    while (bytes->n) {
        if (b->state == CHUNK_TRAILERS)
            return STEP_TRAILERS;
        if (b->state == CHUNK_BYTES) {
            enum step step = take_data(b, bytes, data);
            if (b->left == 0)
                b->state = CHUNK_CR;
            return step;
        }
        char c = *bytes->p;
        *bytes = slice_from(*bytes, 1);
        if (b->state < CHUNK_CR) {
            enum step step = size_byte(b, c);
            if (step != STEP_MORE)
                return step;
            continue;
        }
        if (c != (b->state == CHUNK_CR ? '\r' : '\n')) /* the CRLF behind a chunk */
            return STEP_BAD;
        b->state = b->state == CHUNK_CR ? CHUNK_LF : CHUNK_SIZE;
    }
    return STEP_MORE;
}

/* Takes one piece off *bytes. */
static enum step body_step(struct body *b, slice *bytes, slice *data)
{
    switch (b->kind) {
    case BODY_NONE: return STEP_END;
    case BODY_LENGTH:
        if (b->left == 0)
            return STEP_END;
        return bytes->n ? take_data(b, bytes, data) : STEP_MORE;
    case BODY_CLOSE:
        if (bytes->n == 0)
            return STEP_MORE;
        *data = *bytes;
        *bytes = slice_from(*bytes, bytes->n);
        return STEP_DATA;
    case BODY_CHUNKED: break;
    }
    return chunk_step(b, bytes, data);
}

/* ---- in ---- */

static void choose_body(struct h1 *h, const struct h1_head *r)
{
    const struct head *head = &r->head;
    h->body = (struct body){.kind = r->chunked         ? BODY_CHUNKED
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
            refuse(h, &(struct h1_refusal){502, "an upgrade that was not requested"});
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

static void take_request(struct h1 *h, const struct h1_head *r)
{
    const struct head *head = &r->head;
    h->live = true;
    h->wire.n_streams = 1;
    h->stream = (struct stream){.wire = &h->wire};
    h->keep = r->keep_alive;
    h->peer10 = head->http10;
    h->head_only = slice_is(head->method, "HEAD");
    h->awaits_continue = head->expects && !head->bodiless && !head->http10;
    h->asked_upgrade = head->upgrade.n > 0;
    choose_body(h, r);
    bool end = h->body.kind == BODY_NONE;
    h->in_state = end ? IN_DONE : IN_BODY;
    events(h)->head(&h->stream, head, end);
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

static bool take_trailers(struct h1 *h, slice *bytes)
{
    struct h1_refusal why;
    int64_t n = find_end(h, *bytes, &why);
    if (n == 0)
        return false;
    struct h1_trailers trailers;
    slice lines = {bytes->p, n > 0 ? (size_t)n : 0};
    if (n < 0 || h1_trailers_parse(lines, h->wire.limits->head_fields, &trailers, &why)) {
        refuse(h, &why);
        return false;
    }
    *bytes = slice_from(*bytes, (size_t)n);
    h->scan = (struct h1_scan){0};
    end_in(h, trailers.head.n_fields ? &trailers.head : NULL);
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
    slice data = {0};
    h->awaits_continue = false;
    switch (body_step(&h->body, bytes, &data)) {
    case STEP_DATA:
        give_data(h, data);
        if (h->body.kind != BODY_LENGTH || h->body.left || h->in_state != IN_BODY)
            return true;
        end_in(h, NULL);
        return true;
    case STEP_TRAILERS: return take_trailers(h, bytes);
    case STEP_END: end_in(h, NULL); return true;
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
        end_in(h, NULL);
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

/* ---- out: what the owner of the stream calls ----
 *
 * How a body is framed follows from its head: by its length where that is known, else in chunks, else
 * (for a peer that speaks HTTP/1.0) by the end of the connection. */

static void end_out(struct h1 *h)
{
    h->out_state = OUT_DONE;
    h1_turn(h);
}

static struct stream *h1_open(struct wire *w)
{
    struct h1 *h = h1_of(w);
    h->live = true;
    w->n_streams = 1;
    h->keep = true;
    h->in_state = IN_HEAD;
    h->out_state = OUT_HEAD;
    h->stream = (struct stream){.wire = w};
    h->interims = (struct wire_interims){0};
    return &h->stream;
}

/* The peer was promised more than it gets. */
static void check_promise(struct h1 *h)
{
    if (h->out_counted && h->out_left)
        h1_finish(h, FINISH_CLOSE);
}

static void send_response(struct h1 *h, const struct head *head, bool end)
{
    bool never = h->head_only || head->status == 204 || head->status == 304; /* is there a body */
    end |= head->bodiless;
    h->out_dropped = never || head->bodiless;
    h->out_counted = head->has_length && !never;
    h->out_left = head->length;
    h->out_chunked = !end && !h->out_dropped && !head->has_length && !h->peer10;
    bool to_close = !end && !h->out_dropped && !head->has_length && h->peer10;
    if (to_close || h->wire.closing || (h->awaits_continue && h->in_state == IN_BODY))
        h->keep = false;
    struct head told = *head;
    if (end && !never && !head->has_length) {
        told.has_length = true;
        told.length = 0;
    }
    h1_print_head(h->wire.out, &told,
                  &(struct h1_style){.chunked = h->out_chunked,
                                     .close = !h->keep,
                                     .keep_alive = h->keep && h->peer10});
}

static void h1_send_head(struct stream *s, const struct head *head, bool end)
{
    struct h1 *h = h1_of(s->wire);
    if (h->out_state != OUT_HEAD)
        return;
    if (!h->wire.server) {
        h->head_only = slice_is(head->method, "HEAD");
        h->asked_upgrade = head->upgrade.n > 0;
        h->out_counted = head->has_length;
        h->out_left = head->length;
        h->out_chunked = !end && !head->has_length;
        h->out_dropped = false;
        h1_print_head(h->wire.out, head, &(struct h1_style){.chunked = h->out_chunked});
    } else if (head->status == 101) {
        h1_print_head(h->wire.out, head, &(struct h1_style){0});
        h->keep = false;
        h->in_state = IN_TUNNEL;
        h->out_state = OUT_TUNNEL;
        h->wire.resume = h->in.n > 0;
        return;
    } else if (head->status < 200) {
        if (!h->peer10)
            h1_print_head(h->wire.out, head, &(struct h1_style){0});
        h->awaits_continue &= head->status != 100;
        return;
    } else {
        send_response(h, head, end);
    }
    h->out_state = OUT_BODY;
    if (end) {
        check_promise(h);
        end_out(h);
    }
}

static void h1_send_data(struct stream *s, slice bytes)
{
    struct h1 *h = h1_of(s->wire);
    bool raw = h->out_state == OUT_TUNNEL;
    if (bytes.n == 0 || (!raw && (h->out_state != OUT_BODY || h->out_dropped)))
        return;
    h->unsent += bytes.n;
    if (!raw && h->out_counted) {
        if (bytes.n > h->out_left)
            bytes.n = (size_t)h->out_left;
        h->out_left -= bytes.n;
    }
    if (h->out_chunked && !raw)
        h1_print_chunk(s->wire->out, bytes);
    else
        chain_add(s->wire->out, bytes);
}

static void h1_send_end(struct stream *s, const struct head *trailers)
{
    struct h1 *h = h1_of(s->wire);
    if (h->out_state == OUT_TUNNEL) {
        h->out_state = OUT_DONE;
        h1_finish(h, FINISH_CLOSE);
        return;
    }
    if (h->out_state != OUT_BODY)
        return;
    if (h->out_chunked)
        h1_print_last_chunk(s->wire->out, trailers);
    else
        check_promise(h);
    end_out(h);
}

static void h1_abort(struct stream *s, enum wire_finish how, uint32_t code)
{
    struct h1 *h = h1_of(s->wire);
    (void)code;
    if (how == FINISH_NOT && !s->wire->server)
        chain_clear(s->wire->out); /* nobody waits for the answer to it */
    h->live = false;
    h->unread = h->unsent = 0;
    s->user = NULL;
    s->wire->n_streams = 0;
    h1_finish(h, how == FINISH_NOT ? FINISH_CLOSE : how);
}

static void h1_goaway(struct stream *s)
{
    h1_abort(s, FINISH_CLOSE, 0);
}

static void h1_consume(struct stream *s, size_t n)
{
    struct h1 *h = h1_of(s->wire);
    h->unread -= n < h->unread ? n : h->unread;
}

static void h1_release(struct stream *s)
{
    struct h1 *h = h1_of(s->wire);
    h->live = false;
    h->unread = h->unsent = 0;
    s->user = NULL;
    s->wire->n_streams = 0; /* also while the rest of a request is dropped */
    bool drains = s->wire->server && h->in_state == IN_BODY && !h->awaits_continue;
    s->wire->draining = drains;
    if (h->out_state != OUT_DONE || (h->in_state != IN_DONE && !drains))
        h1_finish(h, FINISH_CLOSE);
    h1_turn(h);
}

/* ---- all of it ---- */

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
