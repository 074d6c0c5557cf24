/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/2, the sending half: what the owner of a stream gives becomes frames. Heads are submitted at
 * once; bodies wait in the stream until nghttp2 asks for them, as far as the peer's windows and
 * `out` have room.
 *
 * 1. nghttp2 sends RST_STREAM before anything else of its stream that waits. Where something is to
 *    be seen before the RST_STREAM, that is submitted late: when the last byte is in `out`.
 * 2. Trailers are submitted when the body has ended, for the same reason. */
#include "wire/h2_int.h"

/* ---- header blocks ---- */

static void put(struct h2 *h, slice name, slice value)
{
    /* nghttp2 copies them, and lower-cases the copy of the name */
    vec_push(&h->nva, (nghttp2_nv){(uint8_t *)(uintptr_t)name.p, (uint8_t *)(uintptr_t)value.p,
                                   name.n, value.n, NGHTTP2_NV_FLAG_NONE});
}

/* Fields that HTTP/2 has no place for, or another one. */
static bool is_dropped(const struct field *f)
{
    if (f->name.n == 0 || f->name.p[0] == ':')
        return true;
    switch (field_kind(f->name)) {
    case FIELD_ORDINARY:
    case FIELD_EXPECT: return false;
    case FIELD_TE: return !slice_eq_nocase(f->value, SLICE("trailers"));
    default: return true;
    }
}

static void put_fields(struct h2 *h, const struct head *head)
{
    for (uint32_t i = 0; i < head->n_fields; i++)
        if (!is_dropped(&head->fields[i]))
            put(h, head->fields[i].name, head->fields[i].value);
}

/* A head's block is in h->nva until the next one. */
static void make_block(struct h2 *h, const struct head *head)
{
    h->nva.n = 0;
    if (head->status) {
        put(h, SLICE(":status"), slice_of_u64(head->status, h->numbers[0]));
    } else {
        put(h, SLICE(":method"), head->method);
        put(h, SLICE(":scheme"), head->scheme.n ? head->scheme : SLICE("http"));
        if (head->authority.n)
            put(h, SLICE(":authority"), head->authority);
        put(h, SLICE(":path"), head->target.n ? head->target : SLICE("/"));
    }
    put_fields(h, head);
    if (head->expects)
        put(h, SLICE("expect"), SLICE("100-continue"));
    if (head->has_length)
        put(h, SLICE("content-length"), slice_of_u64(head->length, h->numbers[1]));
}

/* Copies the block in h->nva to where it can wait. */
static void keep_block(struct h2 *h, struct h2_block *to)
{
    size_t size = h->nva.n * sizeof *h->nva.at;
    for (uint32_t i = 0; i < h->nva.n; i++)
        size += h->nva.at[i].namelen + h->nva.at[i].valuelen;
    if (size > to->cap) {
        mem_free(to->nva);
        to->nva = mem_alloc(size);
        to->cap = size;
    }
    uint8_t *text = (uint8_t *)(to->nva + h->nva.n);
    for (uint32_t i = 0; i < h->nva.n; i++) {
        nghttp2_nv nv = h->nva.at[i];
        memcpy(text, nv.name, nv.namelen);
        if (nv.valuelen)
            memcpy(text + nv.namelen, nv.value, nv.valuelen);
        nv.name = text;
        nv.value = text + nv.namelen;
        text += nv.namelen + nv.valuelen;
        to->nva[i] = nv;
    }
    to->n = h->nva.n;
}

/* ---- bodies ---- */

/* Everything that was given has left; a RST_STREAM that waits for that may follow. */
static void all_left(struct h2_stream *s)
{
    if (!s->cut_waits)
        return;
    s->cut_ready = true;
    h2_todo(s);
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t most,
                         uint32_t *flags, nghttp2_data_source *source, void *user)
{
    struct h2_stream *s = source->ptr;
    (void)user;
    size_t n = 0;
    while (n < most && s->body.n) {
        slice piece = chain_front(&s->body);
        if (piece.n > most - n)
            piece.n = most - n;
        memcpy(to + n, piece.p, piece.n);
        chain_drop(&s->body, piece.n);
        n += piece.n;
    }
    if (n) {
        s->sent += n;
        h2_todo(s);
    }
    if (s->body.n)
        return (ssize_t)n;
    if (s->out_ended) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (s->trailers.n) {
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            nghttp2_submit_trailer(session, id, s->trailers.nva, s->trailers.n);
        } else {
            s->out_left = true;
            all_left(s);
        }
        return (ssize_t)n;
    }
    all_left(s);
    if (n)
        return (ssize_t)n;
    s->deferred = true;
    return NGHTTP2_ERR_DEFERRED;
}

static void resume_body(struct h2_stream *s)
{
    if (!s->deferred)
        return;
    s->deferred = false;
    nghttp2_session_resume_data(h2_of(s->stream.wire)->session, s->id);
}

/* ---- frames that left, or did not ---- */

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2 *h = user;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
        struct h2_stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        if (s) {
            s->out_left = true;
            all_left(s);
        }
    }
    const nghttp2_goaway *away = &frame->goaway;
    if (frame->hd.type != NGHTTP2_GOAWAY || away->error_code == NGHTTP2_NO_ERROR || h->failed)
        return 0;
    buf_clear(&h->reason);
    buf_adds(&h->reason, nghttp2_http2_strerror(away->error_code));
    if (away->opaque_data_len)
        buf_addf(&h->reason, ": %.*s", (int)away->opaque_data_len, (const char *)away->opaque_data);
    h2_fail(h, CUT_BAD, away->error_code, buf_text(&h->reason));
    return 0;
}

/* What is larger than even H2_HEAD_OUT_MAX. */
static int on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int code,
                             void *user)
{
    (void)user;
    if (frame->hd.type != NGHTTP2_HEADERS || code != NGHTTP2_ERR_FRAME_SIZE_ERROR)
        return 0;
    struct h2_stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!s)
        return 0;
    h2_lose(s, CUT_LIMIT, 0);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) /* of which nghttp2 closes the stream */
        h2_cut(s, NGHTTP2_INTERNAL_ERROR);
    return 0;
}

void h2_set_send_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_frame_not_send);
}

/* ---- cutting ---- */

void h2_cut(struct h2_stream *s, uint32_t code)
{
    struct h2 *h = h2_of(s->stream.wire);
    if (!s->live || s->cut_sent)
        return;
    s->cut_sent = true;
    s->cut_waits = false;
    h->closed.strays = 0; /* frames of it are still under way */
    nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->id, code);
}

/* RST_STREAM when everything that was given has left. */
static void cut_later(struct h2_stream *s, uint32_t code)
{
    if (!s->head_given || s->deferred || s->out_left) {
        h2_cut(s, code);
    } else if (s->live && !s->cut_sent) {
        s->cut_waits = true;
        s->cut_code = code;
    }
}

/* ---- what the owner calls ---- */

/* Is there anybody to send to? */
static bool is_open(const struct h2_stream *s)
{
    return s->live && !s->aborted && !s->cut_sent;
}

void h2_send_head(struct stream *stream, const struct head *head, bool end)
{
    struct h2_stream *s = h2_stream_of(stream);
    struct h2 *h = h2_of(stream->wire);
    nghttp2_data_provider body = {{.ptr = s}, read_body};
    bool interim = head->status && head->status < 200;
    if (s->head_given || s->aborted || h->dead || head->status == 101)
        return;
    if (h->wire.server ? !is_open(s) : s->id != 0)
        return;
    make_block(h, head);
    if (interim) {
        nghttp2_submit_headers(h->session, NGHTTP2_FLAG_NONE, s->id, NULL, h->nva.at, h->nva.n,
                               NULL);
        return;
    }
    s->head_given = true;
    s->out_ended |= end;
    if (h->wire.server) {
        nghttp2_submit_response(h->session, s->id, h->nva.at, h->nva.n, end ? NULL : &body);
        return;
    }
    s->head_only = slice_is(head->method, "HEAD");
    int32_t id =
        nghttp2_submit_request(h->session, NULL, h->nva.at, h->nva.n, end ? NULL : &body, s);
    if (id < 0) { /* all numbers for streams are used up */
        h2_lose(s, CUT_REFUSED, 0);
        return;
    }
    s->id = id;
    s->live = true;
    if (nghttp2_session_get_next_stream_id(h->session) > INT32_MAX)
        h->wire.closing = true;
}

void h2_answer(struct h2_stream *s, uint16_t status)
{
    h2_send_head(&s->stream, &(struct head){.status = status}, true);
    if (!s->in_ended)
        cut_later(s, NGHTTP2_NO_ERROR);
}

void h2_send_data(struct stream *stream, slice bytes)
{
    struct h2_stream *s = h2_stream_of(stream);
    if (!is_open(s) || s->out_ended || bytes.n == 0)
        return;
    chain_add(&s->body, bytes);
    resume_body(s);
}

void h2_send_end(struct stream *stream, const struct head *trailers)
{
    struct h2_stream *s = h2_stream_of(stream);
    struct h2 *h = h2_of(stream->wire);
    if (!is_open(s) || s->out_ended || !s->head_given)
        return;
    s->out_ended = true;
    if (trailers) {
        h->nva.n = 0;
        put_fields(h, trailers);
        if (h->nva.n)
            keep_block(h, &s->trailers);
    }
    resume_body(s);
}

/* Tells nghttp2 that these bytes, and those told before, may come again. */
static void consume(struct h2_stream *s, size_t n)
{
    s->consumed += n;
    if (s->live && !s->in_ended)
        nghttp2_session_consume_stream(h2_of(s->stream.wire)->session, s->id, s->consumed);
    s->consumed = 0;
}

/* What the owner has not read is dropped, and so is what comes: a peer that first sends everything
 * and then reads the answer gets it. */
static void let_go(struct h2_stream *s)
{
    s->held = false;
    s->stream.user = NULL;
    if (s->unread && !h2_of(s->stream.wire)->dead)
        consume(s, s->unread);
    s->unread = 0;
}

/* The last step of all that let a stream go. */
static void drop(struct h2 *h, struct h2_stream *s)
{
    h2_stream_drop(s);
    h2_check_finish(h);
}

void h2_abort(struct stream *stream, enum wire_finish how, uint32_t code)
{
    struct h2_stream *s = h2_stream_of(stream);
    struct h2 *h = h2_of(stream->wire);
    let_go(s);
    if (!h->dead) {
        if (how == FINISH_NOT)
            h2_cut(s, code);
        else
            cut_later(s, code);
    }
    drop(h, s);
}

void h2_goaway(struct stream *stream)
{
    struct h2_stream *s = h2_stream_of(stream);
    struct h2 *h = h2_of(stream->wire);
    if (!h->wire.server) {
        wire_shutdown(&h->wire);
        h2_abort(stream, FINISH_NOT, NGHTTP2_CANCEL);
        return;
    }
    let_go(s);
    h2_submit_goaway(h, s->id - 2);
    drop(h, s);
}

void h2_consume(struct stream *stream, size_t n)
{
    struct h2_stream *s = h2_stream_of(stream);
    s->unread -= n < s->unread ? n : s->unread;
    if (s->consumed + n < H2_CONSUME_STEP)
        s->consumed += n;
    else
        consume(s, n);
}

void h2_release(struct stream *stream)
{
    struct h2_stream *s = h2_stream_of(stream);
    struct h2 *h = h2_of(stream->wire);
    /* a service that has answered may never take the rest of the request */
    bool out_done = h->wire.server ? s->out_ended : s->out_left;
    let_go(s);
    if (!h->dead && !(s->in_ended && out_done)) {
        if (!h->wire.server)
            h2_cut(s, NGHTTP2_CANCEL);
        else if (s->out_ended)
            cut_later(s, NGHTTP2_NO_ERROR);
        else
            h2_cut(s, NGHTTP2_INTERNAL_ERROR);
    }
    drop(h, s);
}
