/* SPDX-License-Identifier: Apache-2.0
 *
 * A message that came on one wire, given to another one as a proxy does. */
#include "support/wire_play.h"

static void no_head(struct stream *s, const struct head *h, bool end)
{
    (void)h, (void)end;
    s->user = s->wire->owner;
    *(struct stream **)s->wire->owner = s;
}

static void no_data(struct stream *s, slice bytes)
{
    (void)s, (void)bytes;
}

static void no_end(struct stream *s, const struct head *trailers)
{
    (void)s, (void)trailers;
}

static void no_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    (void)s, (void)why, (void)code;
}

static void no_sent(struct stream *s, size_t n)
{
    (void)s, (void)n;
}

void played_pass_on(const struct played *s, struct buf *out)
{
    static const struct wire_events none = {no_head, no_data, no_end, no_abort, no_sent};
    static const struct wire_limits limits = {1 << 20, 512, 1, 1, 1};
    struct blocks blocks = {0};
    struct chain chain = CHAIN_INIT(&blocks);
    struct stream *stream = NULL;
    bool response = s->head->status != 0;
    struct wire *w = h1_new(response, &none, &limits, &chain);
    w->owner = &stream;
    if (response)
        wire_feed(w, slice_of(s->head_only ? "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
                                           : "GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    else
        stream = stream_open(w);
    bool end = s->body.n == 0 && !s->trailers && (!s->head->has_length || s->head->length == 0);
    stream_head(stream, s->head, end || s->head->bodiless);
    if (!end && !s->head->bodiless) {
        stream_data(stream, buf_slice(&s->body));
        stream_end(stream, s->trailers);
    }
    for (slice piece; (piece = chain_front(&chain)).n; chain_drop(&chain, piece.n))
        buf_add(out, piece);
    wire_free(w);
    blocks_deinit(&blocks);
}
