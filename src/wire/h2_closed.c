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
 * right is ever refused.
 * 2. A slot holds the number of a stream, without the bit that is always set, and its ending.
 *    Numbers only grow, so a slot with a smaller number shows that this one was never opened.
 * 3. nghttp2 does not even tell of DATA on a closed stream. So the bytes are walked along, and it
 *    gets those before the head of a DATA frame first. */
#include "wire/h2_int.h"

/* How the peer ended a stream that is closed, as far as it has. */
enum ending { NOT_ENDED = 1, ENDED, RESET };

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
        put(h, s->id, s->in_ended ? ENDED : s->reset_in ? RESET : NOT_ENDED);
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
        put(h, id, NOT_ENDED);
        return true;
    }
    uint32_t slot = *slot_of(h, id), ending = slot >> 2 == key_of(id) ? slot & 3 : 0;
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

static uint32_t number_at(const uint8_t *p, size_t n)
{
    uint32_t number = 0;
    for (size_t i = 0; i < n; i++)
        number = number << 8 | p[i];
    return number;
}

size_t h2_walk(struct h2_walk *w, slice bytes, nghttp2_frame_hd *data)
{
    size_t at = 0;
    while (at < bytes.n) {
        if (w->skip) {
            size_t n = w->skip < bytes.n - at ? w->skip : bytes.n - at;
            w->skip -= n;
            at += n;
            continue;
        }
        w->head[w->n] = (uint8_t)bytes.p[at];
        if (w->n == sizeof w->head - 1 && w->head[3] == NGHTTP2_DATA && !w->told) {
            w->told = true;
            *data =
                (nghttp2_frame_hd){.length = number_at(w->head, 3),
                                   .stream_id = (int32_t)(number_at(w->head + 5, 4) & INT32_MAX),
                                   .type = NGHTTP2_DATA};
            return at;
        }
        at++;
        if (++w->n < sizeof w->head)
            continue;
        w->skip = number_at(w->head, 3);
        w->n = 0;
        w->told = false;
    }
    return at;
}
