/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/2, the receiving half: what nghttp2 reports of the peer becomes heads and events. nghttp2
 * has checked it: pseudo-header fields are there once and first, names and values are made of
 * permitted characters, a body is as long as its Content-Length says. What it refuses it answers
 * itself, with RST_STREAM or GOAWAY.
 *
 * 1. Header blocks do not mix, so that there is room for one in the wire (h->at and what follows).
 * 2. A head beyond the limits is still read to its end, since the compression wants that, but not
 *    kept. */
#include "wire/h2_int.h"

/* ---- a header block ---- */

static struct h2_stream *stream_by_id(struct h2 *h, int32_t id)
{
    return nghttp2_session_get_stream_user_data(h->session, id);
}

static void begin_block(struct h2 *h, struct h2_stream *s)
{
    h->at = s;
    h->head = (struct head){0};
    h->host = (slice){0};
    h->fields.n = 0;
    h->head_bytes = 0;
    h->too_large = false;
    arena_reset(&h->text);
}

/* A request of the peer begins. */
static struct h2_stream *accept_stream(struct h2 *h, int32_t id)
{
    struct h2_stream *s = h2_stream_new(h);
    s->id = id;
    s->live = true;
    h2_closed_open(h, id);
    if (nghttp2_session_set_stream_user_data(h->session, id, s))
        mem_oom(); /* nghttp2 has just opened it */
    if (!h->wire.closing)
        return s;
    h2_cut(s, NGHTTP2_REFUSED_STREAM);
    return NULL;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2 *h = user;
    (void)session;
    h->turn -= H2_HEAD_COST;
    bool opens = frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    if (h->dead)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    begin_block(h, opens ? accept_stream(h, frame->hd.stream_id)
                         : stream_by_id(h, frame->hd.stream_id));
    return 0;
}

static void add_pseudo(struct h2 *h, slice name, slice value)
{
    struct head *head = &h->head;
    uint64_t status;
    if (slice_is(name, ":method"))
        head->method = value;
    else if (slice_is(name, ":path"))
        head->target = value;
    else if (slice_is(name, ":authority"))
        head->authority = value;
    else if (slice_is(name, ":scheme"))
        head->scheme = value;
    else if (slice_is(name, ":status") && slice_to_u64(value, 999, &status))
        head->status = (uint16_t)status;
}

/* Fields that do not stand among the others; true: this was one. */
static bool add_special(struct h2 *h, slice name, slice value)
{
    struct head *head = &h->head;
    switch (name.n) {
    case 4:
        if (!slice_is(name, "host"))
            return false;
        h->host = value;
        return true;
    case 6:
        if (!slice_is(name, "expect") || !slice_eq_nocase(value, SLICE("100-continue")))
            return false;
        head->expects = true;
        return true;
    case 14:
        if (slice_is(name, "content-length")) {
            head->has_length = slice_to_u64(value, UINT64_MAX, &head->length);
            return true;
        }
        return slice_is(name, "http2-settings");
    default: return false;
    }
}

/* A field was decoded. A byte of HPACK may stand for some thousand of text, so the text counts:
 * what comes to nothing has a bound for each connection, and the rest waits when a turn is used up.
 * 0, or what nghttp2 is told. */
static inline int count_field(struct h2 *h, size_t n)
{
    h->waste += n;
    h->turn -= (int64_t)n;
    if (h->waste > h->waste_most) {
        h2_fail(h, CUT_LIMIT, NGHTTP2_ENHANCE_YOUR_CALM, "a flood of header fields");
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    if (h->turn > 0)
        return 0;
    h->paused = true;
    return NGHTTP2_ERR_PAUSE;
}

/* The block went to its owner: it was of use, and makes up for some that was not. */
static void redeem(struct h2 *h)
{
    size_t n = h->head_bytes + H2_CONSUME_STEP;
    h->waste -= n < h->waste ? n : h->waste;
}

static void keep_field(struct h2 *h, slice name_in, slice value_in)
{
    char *text = arena_alloc(&h->text, name_in.n + value_in.n);
    slice name = {text, name_in.n}, value = {text + name_in.n, value_in.n};
    memcpy(text, name_in.p, name.n);
    memcpy(text + name.n, value_in.p, value.n);
    if (name.n && name.p[0] == ':')
        add_pseudo(h, name, value);
    else if (add_special(h, name, value))
        return;
    else if (h->fields.n == h->wire.limits->head_fields)
        h->too_large = true;
    else
        vec_push(&h->fields, (struct field){name, value});
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name_p,
                     size_t name_n, const uint8_t *value_p, size_t value_n, uint8_t flags,
                     void *user)
{
    struct h2 *h = user;
    size_t n = name_n + value_n + H2_FIELD_COST;
    (void)session, (void)frame, (void)flags;
    if (h->at && !h->too_large) {
        h->head_bytes += n;
        h->too_large = h->head_bytes > h->wire.limits->head_bytes;
        if (!h->too_large)
            keep_field(h, (slice){(const char *)name_p, name_n},
                       (slice){(const char *)value_p, value_n});
    }
    return count_field(h, n);
}

/* ---- events ---- */

/* A head beyond the limits in the middle of a call, or too many of them. */
static void give_up_stream(struct h2_stream *s)
{
    h2_lose(s, CUT_LIMIT, 0);
    h2_cut(s, NGHTTP2_ENHANCE_YOUR_CALM);
}

/* What nghttp2 lets pass although it could not be passed on in HTTP/1.1 as what it is: a target
 * that is no path (it looks only at those of http and https), and a user in the authority. */
static bool is_well_addressed(const struct head *head)
{
    bool path = head->target.n && head->target.p[0] == '/';
    bool all = slice_is(head->target, "*") && slice_is(head->method, "OPTIONS");
    return (path || all) && slice_find(head->authority, '@') == head->authority.n;
}

static void take_request(struct h2 *h, struct h2_stream *s, bool end)
{
    struct head *head = &h->head;
    s->head_in = true;
    s->head_only = slice_is(head->method, "HEAD");
    if (head->authority.n == 0)
        head->authority = h->host;
    head->bodiless = end;
    if (h->too_large) {
        h2_answer(s, 431);
    } else if (slice_is(head->method, "CONNECT")) {
        h2_answer(s, 501);
    } else if (!is_well_addressed(head)) {
        h2_cut(s, NGHTTP2_PROTOCOL_ERROR);
    } else {
        s->held = true;
        redeem(h);
        h->wire.events->head(&s->stream, head, end);
    }
}

static void take_response(struct h2 *h, struct h2_stream *s, bool end)
{
    struct head *head = &h->head;
    bool final = head->status >= 200;
    bool many = !final && wire_interim(&s->interims, h->wire.limits, h->head_bytes);
    if (h->too_large || many) {
        give_up_stream(s);
        return;
    }
    if (head->status < 100) {
        h2_lose(s, CUT_BAD, 0);
        h2_cut(s, NGHTTP2_PROTOCOL_ERROR);
        return;
    }
    s->head_in = final;
    head->bodiless = end || !final || s->head_only || head->status == 204 || head->status == 304;
    redeem(h);
    if (h2_listens(s))
        h->wire.events->head(&s->stream, head, end);
}

static void take_trailers(struct h2 *h, struct h2_stream *s)
{
    if (h->too_large) {
        give_up_stream(s);
        return;
    }
    redeem(h);
    if (h2_listens(s))
        h->wire.events->end(&s->stream, h->fields.n ? &h->head : NULL);
}

static void take_block(struct h2 *h, bool end)
{
    struct h2_stream *s = h->at;
    if (!s)
        return;
    h->at = NULL;
    h->head.fields = h->fields.at;
    h->head.n_fields = h->fields.n;
    s->in_ended |= end;
    if (s->head_in)
        take_trailers(h, s);
    else if (h->wire.server)
        take_request(h, s, end);
    else
        take_response(h, s, end);
}

static int on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                         size_t n, void *user)
{
    struct h2 *h = user;
    (void)flags;
    if (h->dead)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    nghttp2_session_consume_connection(session, n);
    struct h2_stream *s = stream_by_id(h, id);
    if (!s || !h2_listens(s)) {
        nghttp2_session_consume_stream(session, id, n);
        return 0;
    }
    if (s->unread + n > WIRE_WINDOW) { /* nghttp2 is about to reset it, but reports the bytes */
        h2_lose(s, CUT_BAD, 0);
        return 0;
    }
    s->unread += n;
    h->wire.events->data(&s->stream, (slice){(const char *)bytes, n});
    return 0;
}

static void take_data_end(struct h2 *h, int32_t id)
{
    struct h2_stream *s = stream_by_id(h, id);
    if (!s)
        return;
    s->in_ended = true;
    if (h2_listens(s))
        h->wire.events->end(&s->stream, NULL);
}

/* nghttp2 goes on to close the streams that the peer will not look at. */
static void take_goaway(struct h2 *h, uint32_t code)
{
    h->wire.closing = true;
    if (code == NGHTTP2_NO_ERROR || h->wire.error)
        return;
    buf_addf(&h->reason, "the peer gave up: %s", nghttp2_http2_strerror(code));
    h->wire.error = buf_text(&h->reason);
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2 *h = user;
    (void)session;
    bool end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (h->dead)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS: take_block(h, end); break;
    case NGHTTP2_DATA:
        if (end)
            take_data_end(h, frame->hd.stream_id);
        break;
    case NGHTTP2_RST_STREAM: {
        struct h2_stream *s = stream_by_id(h, frame->hd.stream_id);
        if (s)
            s->reset_in = true;
        break;
    }
    case NGHTTP2_GOAWAY: take_goaway(h, frame->goaway.error_code); break;
    default: break;
    }
    return 0;
}

/* ---- the end of a stream ---- */

static void lose_closed(struct h2 *h, struct h2_stream *s, uint32_t code)
{
    if (s->reset_in)
        h2_lose(s, code == NGHTTP2_REFUSED_STREAM ? CUT_REFUSED : CUT_RESET, code);
    else if (code == NGHTTP2_REFUSED_STREAM) /* GOAWAY did not cover it */
        h2_lose(s, h->wire.server ? CUT_CLOSED : CUT_REFUSED, 0);
    else if (code != NGHTTP2_NO_ERROR)
        h2_lose(s, CUT_BAD, 0);
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
    struct h2 *h = user;
    (void)session;
    struct h2_stream *s = h->dead ? NULL : stream_by_id(h, id);
    if (!s)
        return 0;
    h2_closed_add(h, s);
    s->live = false;
    s->deferred = false;
    chain_clear(&s->body);
    if (h->at == s)
        h->at = NULL;
    lose_closed(h, s, code);
    bool refused = code == NGHTTP2_NO_ERROR || code == NGHTTP2_REFUSED_STREAM;
    if (h->wire.server)
        h2_count_reset(h, s->reset_in || !(refused || s->cut_sent));
    h2_stream_drop(s);
    return 0;
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *frame, void *user)
{
    struct h2 *h = user;
    (void)session;
    bool asked = frame->type == NGHTTP2_HEADERS && !h->dead && !h->failed;
    return !asked || h2_closed_check(h, frame) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

void h2_set_recv_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
}
