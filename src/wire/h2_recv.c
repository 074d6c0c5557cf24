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

static struct h2_stream *stream_by_id(struct h2 *h, int32_t id)
{
    return nghttp2_session_get_stream_user_data(h->session, id);
}

/* ---- frames on streams that are closed ----
 *
 * nghttp2 forgets closed streams and ignores what comes on them;
 * RFC 9113, 5.1 and 5.1.1, is stricter:
 *
 *   the peer had ended it (END_STREAM)    its frame is an error of the connection
 *   the peer had reset it                 its frame is an error of the stream
 *   the peer had never opened it          HEADERS with a number below the last: of the connection
 *   we had reset it                       its frame was under way: ignored, up to a bound
 *
 * 1. Remembered are the last H2_CLOSED_KEPT streams. What is older is ignored: nothing that is
 *    right is ever refused.
 * 2. A slot holds the number of a stream, without the bit that is always set, and its ending.
 *    Numbers only grow, so a slot with a smaller number shows that this one was never opened.
 * 3. nghttp2 does not even tell of DATA on a closed stream. So the bytes are walked along; where
 *    DATA is for a stream that is closed, or that a frame before it may close, nghttp2 gets the
 *    bytes before it first. */

/* Open; or closed: by us, by the peer's END_STREAM, by its RST_STREAM. */
enum ending { OPEN, OURS, ENDED, RESET };

static uint32_t key_of(int32_t id)
{
    return (uint32_t)id >> 1;
}

static uint32_t *slot_of(struct h2 *h, int32_t id)
{
    return &h->closed.last[key_of(id) % H2_CLOSED_KEPT];
}

static void put_ending(struct h2 *h, int32_t id, enum ending ending)
{
    *slot_of(h, id) = key_of(id) << 2 | ending;
}

/* Cancelled streams are work for us and none for the peer. Counted are those that it resets, and
 * those that it makes us or nghttp2 reset. */
static void count_reset(struct h2 *h, bool reset)
{
    if (!reset)
        h->n_resets -= h->n_resets > 0;
    else if (++h->n_resets > h->wire.limits->resets)
        h2_fail(h, CUT_LIMIT, NGHTTP2_ENHANCE_YOUR_CALM, "a flood of cancelled streams");
}

/* Before DATA or HEADERS: false: it is on a stream that is closed, and the connection fails. */
static bool check_closed(struct h2 *h, const nghttp2_frame_hd *frame)
{
    int32_t id = frame->stream_id;
    bool heads = h->wire.server && frame->type == NGHTTP2_HEADERS;
    if (id <= 0 || !(id & 1))
        return true;
    if (heads && id > h->closed.newest) {
        h->closed.newest = id;
        put_ending(h, id, OURS); /* unless it is accepted */
        return true;
    }
    uint32_t slot = *slot_of(h, id), ending = slot >> 2 == key_of(id) ? slot & 3 : OPEN;
    if (ending == ENDED) {
        h2_fail(h, CUT_BAD, NGHTTP2_STREAM_CLOSED, "a frame on a stream that had ended");
    } else if (ending == RESET) {
        nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_STREAM_CLOSED);
        count_reset(h, true);
    } else if (heads && slot >> 2 < key_of(id)) {
        h2_fail(h, CUT_BAD, NGHTTP2_PROTOCOL_ERROR, "a stream with a number below the last one");
    } else if (!stream_by_id(h, id)) { /* it may have been under way when we reset the stream */
        h->closed.strays += 1 + (uint32_t)(frame->length / H2_STRAY_BYTES);
        if (h->closed.strays > H2_STRAYS_MAX)
            h2_fail(h, CUT_LIMIT, NGHTTP2_ENHANCE_YOUR_CALM, "a flood of frames on closed streams");
    }
    return !h->failed;
}

/* Of the head of a frame. */
static uint32_t length_at(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static int32_t stream_at(const uint8_t *p)
{
    return (int32_t)(((uint32_t)p[5] << 24 | (uint32_t)p[6] << 16 | (uint32_t)p[7] << 8 | p[8]) &
                     INT32_MAX);
}

/* The head of a frame is there. Is it DATA that is to be looked at? */
static bool is_doubtful(struct h2 *h, const uint8_t *p)
{
    struct h2_walk *w = &h->closed.walk;
    uint8_t type = p[3];
    bool ends = type <= NGHTTP2_HEADERS && p[4] & NGHTTP2_FLAG_END_STREAM;
    if (!ends && type != NGHTTP2_DATA && type != NGHTTP2_RST_STREAM)
        return false;
    int32_t id = stream_at(p);
    uint32_t slot = *slot_of(h, id);
    uint64_t bit = UINT64_C(1) << key_of(id) % 64, ending = w->ending;
    if (type != NGHTTP2_DATA || ends)
        w->ending |= bit;
    return type == NGHTTP2_DATA &&
           (ending & bit || (slot >> 2 == key_of(id) && (slot & 3) != OPEN));
}

/* The next head of a frame in bytes from *at on; NULL: not all of it is there. */
static const uint8_t *next_head(struct h2_walk *w, slice bytes, size_t *at)
{
    const uint8_t *p = (const uint8_t *)bytes.p + *at;
    if (w->n == 0 && bytes.n - *at >= sizeof w->head) {
        *at += sizeof w->head;
        return p;
    }
    while (*at < bytes.n && w->n < sizeof w->head)
        w->head[w->n++] = (uint8_t)bytes.p[(*at)++];
    return w->n == sizeof w->head ? w->head : NULL;
}

/* Walks along the bytes. Returns how many nghttp2 can have: all, or those up to the last byte of
 * the head of a DATA frame, *data, that check_closed is to look at then. data NULL: simply walks. */
static size_t walk(struct h2 *h, slice bytes, nghttp2_frame_hd *data)
{
    struct h2_walk *w = &h->closed.walk;
    const uint8_t *p;
    size_t at = 0;
    if (w->skip == 0 && w->n == 0)
        w->ending = 0; /* nghttp2 has got all of them */
    while (at < bytes.n) {
        size_t n = w->skip < bytes.n - at ? w->skip : bytes.n - at;
        w->skip -= n;
        at += n;
        if (at == bytes.n || !(p = next_head(w, bytes, &at)))
            return at;
        if (!w->told && is_doubtful(h, p) && data) {
            *data = (nghttp2_frame_hd){
                .length = length_at(p), .stream_id = stream_at(p), .type = NGHTTP2_DATA};
            memmove(w->head, p, sizeof w->head);
            w->n = sizeof w->head - 1;
            w->told = true;
            return at - 1;
        }
        w->skip = length_at(p);
        w->n = 0;
        w->told = false;
    }
    return at;
}

/* ---- a header block ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2 *h = user;
    int32_t id = frame->hd.stream_id;
    struct h2_stream *s;
    h->turn -= H2_HEAD_COST;
    if (h->dead)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        s = h2_stream_new(h); /* the peer has opened it */
        s->id = id;
        s->live = true;
        put_ending(h, id, OPEN);
        if (nghttp2_session_set_stream_user_data(session, id, s))
            mem_oom(); /* nghttp2 has just opened it */
        if (h->wire.closing) {
            h2_cut(s, NGHTTP2_REFUSED_STREAM);
            s = NULL;
        }
    } else {
        s = stream_by_id(h, id);
    }
    h->at = s;
    h->head = (struct head){0};
    h->host = (slice){0};
    h->fields.n = 0;
    h->head_bytes = 0;
    h->too_large = false;
    arena_reset(&h->text);
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

static void take_request(struct h2 *h, struct h2_stream *s, bool end)
{
    struct head *head = &h->head;
    /* nghttp2 lets pass what could not be passed on in HTTP/1.1 as what it is: a target that is no
     * path (it looks only at those of http and https), and a user in the authority */
    bool path = head->target.n && head->target.p[0] == '/';
    bool all = slice_is(head->target, "*") && slice_is(head->method, "OPTIONS");
    s->head_in = true;
    s->head_only = slice_is(head->method, "HEAD");
    if (head->authority.n == 0)
        head->authority = h->host;
    head->bodiless = end;
    if (h->too_large) {
        h2_answer(s, 431);
    } else if (slice_is(head->method, "CONNECT")) {
        h2_answer(s, 501);
    } else if (!(path || all) || slice_find(head->authority, '@') < head->authority.n) {
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

static void take_block(struct h2 *h, bool end)
{
    struct h2_stream *s = h->at;
    if (!s)
        return;
    h->at = NULL;
    h->head.fields = h->fields.at;
    h->head.n_fields = h->fields.n;
    s->in_ended |= end;
    if (!s->head_in) {
        (h->wire.server ? take_request : take_response)(h, s, end);
    } else if (h->too_large) { /* trailers */
        give_up_stream(s);
    } else {
        redeem(h);
        if (h2_listens(s))
            h->wire.events->end(&s->stream, h->fields.n ? &h->head : NULL);
    }
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

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2 *h = user;
    (void)session;
    bool end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (h->dead)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    bool ends = frame->hd.type == NGHTTP2_RST_STREAM || (frame->hd.type == NGHTTP2_DATA && end);
    struct h2_stream *s = ends ? stream_by_id(h, frame->hd.stream_id) : NULL;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS: take_block(h, end); break;
    case NGHTTP2_DATA:
        if (!s)
            break;
        s->in_ended = true;
        if (h2_listens(s))
            h->wire.events->end(&s->stream, NULL);
        break;
    case NGHTTP2_RST_STREAM:
        if (s)
            s->reset_in = true;
        break;
    case NGHTTP2_GOAWAY: /* nghttp2 goes on to close the streams that the peer will not look at */
        h->wire.closing = true;
        if (frame->goaway.error_code == NGHTTP2_NO_ERROR || h->wire.error)
            break;
        buf_addf(&h->reason, "the peer gave up: %s",
                 nghttp2_http2_strerror(frame->goaway.error_code));
        h->wire.error = buf_text(&h->reason);
        break;
    default: break;
    }
    return 0;
}

/* ---- the end of a stream ---- */

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
    struct h2 *h = user;
    (void)session;
    struct h2_stream *s = h->dead ? NULL : stream_by_id(h, id);
    if (!s)
        return 0;
    if (*slot_of(h, id) >> 2 <= key_of(id))
        put_ending(h, id, s->in_ended ? ENDED : s->reset_in ? RESET : OURS);
    s->live = false;
    s->deferred = false;
    chain_clear(&s->body);
    if (h->at == s)
        h->at = NULL;
    if (s->reset_in)
        h2_lose(s, code == NGHTTP2_REFUSED_STREAM ? CUT_REFUSED : CUT_RESET, code);
    else if (code == NGHTTP2_REFUSED_STREAM) /* GOAWAY did not cover it */
        h2_lose(s, h->wire.server ? CUT_CLOSED : CUT_REFUSED, 0);
    else if (code != NGHTTP2_NO_ERROR)
        h2_lose(s, CUT_BAD, 0);
    bool refused = code == NGHTTP2_NO_ERROR || code == NGHTTP2_REFUSED_STREAM;
    if (h->wire.server)
        count_reset(h, s->reset_in || !(refused || s->cut_sent));
    h2_stream_drop(s);
    return 0;
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *frame, void *user)
{
    struct h2 *h = user;
    (void)session;
    bool asked = frame->type == NGHTTP2_HEADERS && !h->dead && !h->failed;
    return !asked || check_closed(h, frame) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
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

/* ---- bytes of the peer ---- */

/* What nghttp2 cannot go on after. */
static void feed_failed(struct h2 *h, int code)
{
    static const struct {
        int code;
        enum wire_cut why;
        uint32_t answer;
        const char *text;
    } rows[] = {
        {NGHTTP2_ERR_BAD_CLIENT_MAGIC, CUT_BAD, NGHTTP2_PROTOCOL_ERROR,
         "the connection does not start as HTTP/2 does"},
        {NGHTTP2_ERR_FLOODED, CUT_LIMIT, NGHTTP2_ENHANCE_YOUR_CALM,
         "a flood of frames that have to be answered"},
        {NGHTTP2_ERR_TOO_MANY_CONTINUATIONS, CUT_LIMIT, NGHTTP2_ENHANCE_YOUR_CALM,
         "a head in too many frames"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code)
            h2_fail(h, rows[i].why, rows[i].answer, rows[i].text);
    h2_fail(h, CUT_BAD, NGHTTP2_INTERNAL_ERROR, nghttp2_strerror(code));
}

/* Gives nghttp2 bytes up to the next DATA frame in doubt; false: that is all for now. What it
 * leaves, because the turn is used up, stays in *bytes. */
static bool give(struct h2 *h, slice *bytes)
{
    struct h2_walk before = h->closed.walk;
    nghttp2_frame_hd data = {0};
    size_t upto = walk(h, *bytes, &data);
    bool more = upto < bytes->n;
    h->busy = true;
    ssize_t n = nghttp2_session_mem_recv(h->session, (const uint8_t *)bytes->p, upto);
    h->busy = false;
    if (n < 0)
        feed_failed(h, (int)n);
    if (h->failed || h->dead)
        return false;
    if (h->paused) {
        h->closed.walk = before;
        (void)walk(h, (slice){bytes->p, (size_t)n}, NULL);
    }
    *bytes = slice_from(*bytes, (size_t)n);
    return more && !h->paused && check_closed(h, &data);
}

/* Takes what came, as much as one turn allows, and keeps the rest. */
static void take(struct h2 *h, slice bytes)
{
    struct buf rest = BUF_INIT(H2_IN_MAX);
    h->turn = h->wire.server ? H2_TURN : INT64_MAX;
    h->paused = false;
    while (give(h, &bytes))
        ;
    if (h->paused)
        buf_add(&rest, bytes);
    buf_deinit(&h->in); /* `bytes` may be in there */
    h->in = rest;
    h2_settle(h);
    h->wire.resume |= h->paused;
    h2_check_finish(h);
}

void h2_feed(struct wire *w, slice bytes)
{
    struct h2 *h = h2_of(w);
    if (h->failed || h->dead || w->finish || bytes.n == 0)
        return;
    if (!h->paused)
        take(h, bytes);
    else if (h->in.n + bytes.n <= H2_IN_MAX)
        buf_add(&h->in, bytes);
    else
        h2_fail(h, CUT_LIMIT, NGHTTP2_ENHANCE_YOUR_CALM, "too many bytes ahead of their turn");
}

void h2_resume(struct wire *w)
{
    struct h2 *h = h2_of(w);
    w->resume = false;
    if (h->paused && !h->failed && !h->dead && !w->finish)
        take(h, buf_slice(&h->in));
}
