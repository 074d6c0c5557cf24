/* SPDX-License-Identifier: Apache-2.0
 *
 * The face of this room: bytes in, messages out; messages in, bytes out. No sockets and no clock. A
 * `struct wire` speaks HTTP on one connection, on the side of a server or of a client, in HTTP/1.1
 * or HTTP/2; whoever uses it cannot tell which, and need not.
 *
 *     bytes ---> wire_feed ---> events: head, data, end | abort  ---> the owner of the stream
 *     bytes <--- wire->out <--- stream_head, stream_data, stream_end | stream_abort <---
 *
 * A stream is one request and its response. On a server's wire it begins with the event `head` of
 * the request; on a client's with stream_open. Life of a stream, in either direction:
 *
 *     [head 1xx]* -> head -> data* -> end        abort may come instead of any step, and is last
 *
 * 1. After the event `abort` the stream is gone: its owner forgets it and does nothing with it.
 * 2. Otherwise the owner calls stream_release exactly once: normally when both directions have
 *    ended. Released early, the wire brings the stream to its end by itself: it reads and drops
 *    what the peer still sends, or cuts the stream where that is the only way.
 * 3. Text in an event is valid only during the event. Text that is given is copied.
 * 4. Body bytes that were given to the owner (event data) count as unread until stream_consume says
 *    that they are done with. More than WIRE_WINDOW unread bytes never pile up: HTTP/2 by its flow
 *    control, HTTP/1.1 because wire_reads turns false.
 * 5. Body bytes taken from the owner are reported by the event `sent` when they have left. So the
 *    owner knows how much is under way, and a slow reader throttles its writer end to end.
 * 6. wire_feed never answers a message with anything of its own but refusals of malformed requests.
 *    Those never reach an owner.
 * 7. Events may call all functions of this header on any stream but wire_feed, wire_eof and
 *    wire_resume. */
#ifndef OUTFOX_WIRE_WIRE_H
#define OUTFOX_WIRE_WIRE_H

#include "base/chain.h"
#include "wire/message.h"

enum { WIRE_WINDOW = 64 * 1024 };

struct wire;
struct stream;

/* Why a stream ended without an end. */
enum wire_cut {
    CUT_CLOSED,  /* the connection ended before the exchange did */
    CUT_RESET,   /* the connection broke (only said by wire_broken) or RST_STREAM came, see code */
    CUT_REFUSED, /* HTTP/2: the peer says it did not look at this request; may be tried again */
    CUT_BAD,     /* the peer broke the protocol */
    CUT_LIMIT,   /* the peer passed one of our limits */
};

struct wire_events {
    /* A head; of a stream that the peer opened it is the first event, and stream->user is to be
     * set. `end`: there is no body and no trailers; no other event follows in this direction. */
    void (*head)(struct stream *s, const struct head *h, bool end);
    void (*data)(struct stream *s, slice bytes);
    /* The message ended. trailers: fields only, or NULL. (After a 101 both directions are open
     * again, for the bytes of the other protocol: data and one more end follow.) */
    void (*end)(struct stream *s, const struct head *trailers);
    /* code: HTTP/2 error code of the peer, or 0. */
    void (*abort)(struct stream *s, enum wire_cut why, uint32_t code);
    /* n bytes of stream_data have left. */
    void (*sent)(struct stream *s, size_t n);
};

struct wire_limits {
    uint32_t head_bytes, head_fields; /* of one head */
    uint32_t streams;                 /* open at once, that the peer may open */
    uint32_t resets;                  /* streams that the peer may cancel in excess of those that it
                                         lets end: more is a flood of resets */
    uint32_t interims; /* interim answers (1xx) of one call; together no larger than a head */
};

/* What the connection below is to do when everything of `out` is written. */
enum wire_finish { FINISH_NOT, FINISH_CLOSE, FINISH_RESET };

struct wire {
    const struct wire_ops *ops;
    const struct wire_events *events;
    const struct wire_limits *limits;
    struct chain *out; /* bytes for the peer; whoever writes them calls wire_sent afterwards */
    void *owner;       /* for the one who made it */
    enum wire_finish finish;
    bool server;
    bool resume;   /* wire_resume has something to do */
    bool closing;  /* no new stream may be opened on it: GOAWAY, Connection: close */
    bool draining; /* a server's: the rest of a request comes that its owner has let go of */
    uint32_t n_streams;
    const char *error; /* why it was given up, for people; NULL: it was not */
};

struct stream {
    struct wire *wire;
    void *user; /* for its owner; no events while NULL */
};

/* What a protocol implements; below, and in stream.h, is what each of them promises. */
struct wire_ops {
    const char *name; /* "HTTP/1.1", "HTTP/2" */
    bool multiplexed;
    void (*feed)(struct wire *w, slice bytes);
    void (*eof)(struct wire *w);
    void (*broken)(struct wire *w);
    void (*resume)(struct wire *w);
    bool (*reads)(const struct wire *w);
    void (*pump)(struct wire *w);
    void (*wrote)(struct wire *w);
    bool (*idle)(const struct wire *w);
    uint32_t (*room)(const struct wire *w);
    void (*shutdown)(struct wire *w);
    void (*part)(struct wire *w);
    struct stream *(*open)(struct wire *w);
    void (*head)(struct stream *s, const struct head *h, bool end);
    void (*data)(struct stream *s, slice bytes);
    void (*end)(struct stream *s, const struct head *trailers);
    void (*abort)(struct stream *s, enum wire_finish how, uint32_t code);
    void (*goaway)(struct stream *s);
    void (*consume)(struct stream *s, size_t n);
    void (*release)(struct stream *s);
    void (*free)(struct wire *w);
};

/* The interim answers of a call so far. */
struct wire_interims {
    uint32_t n;
    size_t bytes;
};

/* One more came; true: they are too many. */
static inline bool wire_interim(struct wire_interims *i, const struct wire_limits *limits,
                                size_t bytes)
{
    i->bytes += bytes;
    return ++i->n > limits->interims || i->bytes > limits->head_bytes;
}

/* `out` outlives the wire. */
struct wire *h1_new(bool server, const struct wire_events *events, const struct wire_limits *limits,
                    struct chain *out);
struct wire *h2_new(bool server, const struct wire_events *events, const struct wire_limits *limits,
                    struct chain *out);

/* Which protocol a client speaks that starts with these bytes: 1, 2, or 0 when it takes more bytes
 * to know (at most 24). */
int wire_sniff(slice bytes);

/* Is this how a server that speaks HTTP/2 begins: with its settings? */
bool wire_is_settings(slice bytes);

/* Can a client that starts with these bytes be speaking HTTP? False as soon as it is certain that
 * they are no request, of HTTP/1.1 or 2: a line that does not end with a version, bytes that no
 * method has. */
bool wire_may_be_http(slice bytes);

/* ---- the connection below calls these ---- */

/* Takes bytes of the peer, all of them. When the peer broke the protocol, `finish` and `error` are
 * set and the streams are aborted, at the latest by the next wire_pump; further bytes are dropped.
 */
static inline void wire_feed(struct wire *w, slice bytes)
{
    w->ops->feed(w, bytes);
}

/* The peer will send no more (FIN). */
static inline void wire_eof(struct wire *w)
{
    w->ops->eof(w);
}

/* The connection is gone (RST, error). All streams are aborted with CUT_RESET. */
static inline void wire_broken(struct wire *w)
{
    w->ops->broken(w);
}

/* Goes on with bytes that had to wait: pipelined requests, or what was too much for one turn. Call
 * it when `resume` is set, from the loop, not from an event. */
static inline void wire_resume(struct wire *w)
{
    w->ops->resume(w);
}

/* Should the connection below read now? */
static inline bool wire_reads(const struct wire *w)
{
    return w->ops->reads(w);
}

/* Puts what is ready into `out`, up to a bound. Call before writing. */
static inline void wire_pump(struct wire *w)
{
    w->ops->pump(w);
}

/* Bytes of `out` were written. Call after writing. */
static inline void wire_wrote(struct wire *w)
{
    w->ops->wrote(w);
}

/* Nothing is under way. */
static inline bool wire_idle(const struct wire *w)
{
    return w->ops->idle(w);
}

/* A client's wire: how many more streams may be opened now. */
static inline uint32_t wire_room(const struct wire *w)
{
    return w->ops->room(w);
}

/* Ends politely: no new streams (GOAWAY; Connection: close); `finish` is set when none is left. */
static inline void wire_shutdown(struct wire *w)
{
    w->ops->shutdown(w);
}

/* A server's wire: the peer is to take another connection for what it asks next (HTTP/2: a GOAWAY
 * that takes nothing back; HTTP/1.1: the next answer says so). What comes on this one all the same
 * is answered; whoever has the connection closes it when the peer does not. */
static inline void wire_part(struct wire *w)
{
    w->ops->part(w);
}

/* Frees the wire and its streams, without events. */
static inline void wire_free(struct wire *w)
{
    if (w)
        w->ops->free(w);
}

#include "wire/stream.h" /* what the owner of a stream calls */

#endif
