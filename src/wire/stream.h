/* SPDX-License-Identifier: Apache-2.0
 *
 * What the owner of a stream calls. See wire.h for the life of a stream. */
#ifndef OUTFOX_WIRE_STREAM_H
#define OUTFOX_WIRE_STREAM_H

#include "wire/wire.h"

/* The event `sent`, for owners that do not mind how much is under way. */
static inline void stream_sent_ignored(struct stream *s, size_t n)
{
    (void)s, (void)n;
}

/* A client's wire, wire_room > 0. */
static inline struct stream *stream_open(struct wire *w)
{
    return w->ops->open(w);
}

/* Sends a head. `end`: nothing follows. A 1xx head does not end anything. */
static inline void stream_head(struct stream *s, const struct head *h, bool end)
{
    s->wire->ops->head(s, h, end);
}

static inline void stream_data(struct stream *s, slice bytes)
{
    s->wire->ops->data(s, bytes);
}

static inline void stream_end(struct stream *s, const struct head *trailers)
{
    s->wire->ops->end(s, trailers);
}

/* Breaks the stream off and releases it. HTTP/1.1: the connection is closed or reset when what was
 * sent so far has left. HTTP/2: RST_STREAM with this code then. FINISH_NOT: at once, and what has
 * not left need not (a call that nobody waits for any more). */
static inline void stream_abort(struct stream *s, enum wire_finish how, uint32_t code)
{
    s->wire->ops->abort(s, how, code);
}

/* Breaks the stream off by ending the connection: GOAWAY that does not cover it (HTTP/2), or
 * plainly (HTTP/1.1). Other streams of the connection may end. Releases it. */
static inline void stream_goaway(struct stream *s)
{
    s->wire->ops->goaway(s);
}

static inline void stream_consume(struct stream *s, size_t n)
{
    s->wire->ops->consume(s, n);
}

static inline void stream_release(struct stream *s)
{
    s->wire->ops->release(s);
}

#endif
