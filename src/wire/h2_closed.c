/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames on streams that are closed. nghttp2 forgets closed streams and ignores what comes on them;
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
#include "wire/h2_int.h"

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

static void put(struct h2 *h, int32_t id, enum ending ending)
{
    *slot_of(h, id) = key_of(id) << 2 | ending;
}

void h2_closed_add(struct h2 *h, const struct h2_stream *s)
{
    if (*slot_of(h, s->id) >> 2 <= key_of(s->id))
        put(h, s->id, s->in_ended ? ENDED : s->reset_in ? RESET : OURS);
}

void h2_closed_open(struct h2 *h, int32_t id)
{
    put(h, id, OPEN);
}

void h2_closed_reset(struct h2 *h)
{
    h->closed.strays = 0;
}

/* Cancelled streams are work for us and none for the peer. Counted are those that it resets, and
 * those that it makes us or nghttp2 reset. */
void h2_count_reset(struct h2 *h, bool reset)
{
    if (!reset)
        h->n_resets -= h->n_resets > 0;
    else if (++h->n_resets > h->wire.limits->resets)
        h2_fail(h, CUT_LIMIT, NGHTTP2_ENHANCE_YOUR_CALM, "a flood of cancelled streams");
}

/* It may have been under way when we reset the stream. */
static void count_stray(struct h2 *h, const nghttp2_frame_hd *frame)
{
    if (nghttp2_session_get_stream_user_data(h->session, frame->stream_id))
        return;
    h->closed.strays += 1 + (uint32_t)(frame->length / H2_STRAY_BYTES);
    if (h->closed.strays > H2_STRAYS_MAX)
        h2_fail(h, CUT_LIMIT, NGHTTP2_ENHANCE_YOUR_CALM, "a flood of frames on closed streams");
}

bool h2_closed_check(struct h2 *h, const nghttp2_frame_hd *frame)
{
    int32_t id = frame->stream_id;
    bool heads = h->wire.server && frame->type == NGHTTP2_HEADERS;
    if (id <= 0 || !(id & 1))
        return true;
    if (heads && id > h->closed.newest) {
        h->closed.newest = id;
        put(h, id, OURS); /* unless it is accepted */
        return true;
    }
    uint32_t slot = *slot_of(h, id), ending = slot >> 2 == key_of(id) ? slot & 3 : OPEN;
    if (ending == ENDED) {
        h2_fail(h, CUT_BAD, NGHTTP2_STREAM_CLOSED, "a frame on a stream that had ended");
    } else if (ending == RESET) {
        nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_STREAM_CLOSED);
        h2_count_reset(h, true);
    } else if (heads && slot >> 2 < key_of(id)) {
        h2_fail(h, CUT_BAD, NGHTTP2_PROTOCOL_ERROR, "a stream with a number below the last one");
    } else {
        count_stray(h, frame);
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

size_t h2_walk(struct h2 *h, slice bytes, nghttp2_frame_hd *data)
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
