/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of HTTP/2, on libnghttp2: the wire and the life of its streams (h2.c), what comes from
 * the peer (h2_recv.c), what the owner of a stream sends (h2_send.c).
 *
 * A stream is known to two sides, and its struct lives until both have let go of it:
 *
 *     held    the owner has it       until stream_release, stream_abort, stream_goaway or `abort`
 *     live    nghttp2 has it         until nghttp2 says that it is closed
 *
 * 1. nghttp2 must not be entered again from its callbacks, other than to submit frames. So while it
 *    sends, no event is given: a stream that has something to tell waits in the list `todo`.
 * 2. After an event that was given from a callback the stream is not touched any more. The event
 *    may have ended it, or the whole wire: then the next callback stops nghttp2.
 * 3. The connection's window is opened again as soon as bytes arrive, a stream's window only when
 *    its owner has consumed them: a stream that nobody reads holds up no other. */
#ifndef OUTFOX_WIRE_H2_INT_H
#define OUTFOX_WIRE_H2_INT_H

#include <nghttp2/nghttp2.h>

#include "base/vec.h"
#include "wire/wire.h"

enum {
    H2_OUT_MAX = 256 * 1024, /* of `out`, where pumping stops */
    H2_FRAMES_MAX = 4096,    /* that wait for a peer that does not read, where reading stops */
    H2_MEMORY_MAX = 4 << 20, /* of nghttp2, likewise; and H2_STREAM_MEMORY for each stream */
    H2_STREAM_MEMORY = 1024,
    H2_TURN = 128 * 1024, /* that a server decodes of heads in one turn; then others have theirs */
    H2_IN_MAX = 256 * 1024, /* bytes that wait for their turn */
    H2_HEAD_COST = 4096,    /* what a head counts in a turn beside its fields */
    H2_WASTE_HEADS = 16,    /* of the largest size that are decoded in vain before it is a flood */
    H2_WINDOW = 1 << 20,    /* of the connection */
    H2_CONSUME_STEP = WIRE_WINDOW / 4,
    H2_STREAMS_MAX = 1000, /* that a client opens, whatever the server would allow */
    H2_STREAMS_KEPT = 64,  /* unused ones, for the next calls */
    H2_FIELD_COST = 32,    /* what a field counts in a head beside its text: RFC 9113, 6.5.2 */
    H2_HEAD_OUT_MAX = 4 << 20,
    H2_BLOCK_KEPT = 1024,
    H2_CLASSES = 20,         /* of sizes that a pool keeps */
    H2_STRAYS_MAX = 1 << 16, /* frames on streams that we reset, after the last one */
    H2_STRAY_BYTES = 256,    /* that count as one more of them */
    H2_CLOSED_KEPT = 64,     /* streams of which is known how they were closed */
};

/* A header block that waits: fields, and behind them their text. */
struct h2_block {
    nghttp2_nv *nva;
    uint32_t n;
    size_t cap; /* bytes of memory at nva */
};

struct h2_stream {
    struct stream stream;
    struct h2_stream *prev, *next; /* of all of the wire; next also: in the list of unused ones */
    struct h2_stream *next_todo;
    struct chain body;        /* given by the owner, not yet sent */
    size_t sent;              /* bytes that left, not yet told */
    size_t unread;            /* bytes that came and that the owner has not consumed */
    size_t consumed;          /* bytes that it has, not yet told to nghttp2 */
    int32_t id;               /* 0: a client's, before its request */
    uint32_t pins;            /* it is on the stack of h2_settle */
    struct h2_block trailers; /* for the end of the body */
    uint32_t code;            /* of the abort, for the owner */
    uint32_t cut_code;        /* of the RST_STREAM to be sent */
    enum wire_cut why;        /* of the abort, for the owner */
    struct wire_interims interims;

    bool held, live;
    bool counted;   /* in n_streams */
    bool todo;      /* in the list */
    bool aborted;   /* the owner is to be told */
    bool head_only; /* the request is a HEAD */

    bool head_in;    /* the head arrived, other than 1xx */
    bool in_ended;   /* the peer has ended its direction */
    bool reset_in;   /* the peer sent RST_STREAM */
    bool head_given; /* by the owner, other than 1xx */
    bool out_ended;  /* by the owner */
    bool out_left;   /* END_STREAM is in `out` */
    bool deferred;   /* nghttp2 waits for more of the body */
    bool cut_waits;  /* RST_STREAM follows when everything before it has left */
    bool cut_ready;  /* it has */
    bool cut_sent;   /* RST_STREAM was submitted */
};

/* Where in a frame the peer is. */
struct h2_walk {
    size_t skip;     /* bytes up to the next frame; 0: in the head of one */
    uint8_t head[9]; /* as far as it is there: n */
    uint8_t n;
    bool told;       /* of this DATA frame */
    uint64_t ending; /* streams that frames end which nghttp2 has not got yet, by their last bits */
};

struct h2_closed {
    struct h2_walk walk;
    int32_t newest;                /* a server's: the last stream that the peer opened */
    uint32_t strays;               /* cost of frames on streams that we have reset */
    uint32_t last[H2_CLOSED_KEPT]; /* streams, by number, with their ending */
};

struct h2_pool {
    struct h2_piece *free[H2_CLASSES];
    size_t kept, used; /* bytes */
};

struct h2 {
    struct wire wire;
    nghttp2_session *session;
    struct h2_pool pool;       /* of the session's memory */
    struct h2_stream *streams; /* all */
    struct h2_stream *unused;
    struct h2_stream *todo, *todo_last;
    uint32_t n_unused;
    uint32_t n_resets; /* streams that the peer cancelled in excess of those that it let end */
    bool full;         /* pumping stopped because `out` was */
    bool busy;         /* nghttp2 is on the stack */
    bool pumping;
    bool paused; /* `in` holds what came, and waits for the next turn */
    bool failed; /* it ends with a GOAWAY of ours that tells why; the peer is not heard any more */
    bool dead;   /* the connection is gone */

    /* The header block that is arriving. */
    struct h2_stream *at; /* whose; NULL: it is ignored */
    struct head head;
    slice host;
    struct arena text;
    VEC(struct field) fields;
    size_t head_bytes;
    bool too_large;

    struct buf in;            /* bytes that wait */
    int64_t turn;             /* what may still be decoded in this turn */
    size_t waste, waste_most; /* bytes of fields decoded in excess of those of use; its bound */
    struct h2_closed closed;

    VEC(nghttp2_nv) nva;          /* a header block to be sent, for the time of a call */
    char numbers[2][DIGITS_MOST]; /* text that nva refers to */
    int32_t goaway_id;            /* the last stream that our GOAWAY covers */
    struct buf reason;            /* what `error` refers to, when it was made here */
};

static inline struct h2 *h2_of(struct wire *w)
{
    return (struct h2 *)w; /* the first member */
}

static inline struct h2_stream *h2_stream_of(struct stream *s)
{
    return (struct h2_stream *)s; /* the first member */
}

/* Does its owner get events of it? */
static inline bool h2_listens(const struct h2_stream *s)
{
    return s->held && !s->aborted && s->stream.user;
}

/* ---- h2.c ---- */

struct h2_stream *h2_stream_new(struct h2 *h);

/* Puts the struct away once nobody needs it. */
void h2_stream_drop(struct h2_stream *s);

void h2_todo(struct h2_stream *s);

/* Gives the events that wait, and sends the RST_STREAMs whose time has come. */
void h2_settle(struct h2 *h);

/* The owner is to lose the stream. The event comes with h2_settle. */
void h2_lose(struct h2_stream *s, enum wire_cut why, uint32_t code);

/* The connection ends with GOAWAY(code), all streams are lost. */
void h2_fail(struct h2 *h, enum wire_cut why, uint32_t code, const char *text);

/* GOAWAY(NO_ERROR) that covers the streams up to this one. */
void h2_submit_goaway(struct h2 *h, int32_t last_id);

/* Sets `finish` when there is nothing more to do. */
void h2_check_finish(struct h2 *h);

/* ---- h2_recv.c ---- */

void h2_set_recv_callbacks(nghttp2_session_callbacks *callbacks);
void h2_feed(struct wire *w, slice bytes);
void h2_resume(struct wire *w);

/* ---- h2_send.c ---- */

void h2_set_send_callbacks(nghttp2_session_callbacks *callbacks);

/* RST_STREAM at once; what waits to be sent is dropped. */
void h2_cut(struct h2_stream *s, uint32_t code);

/* A server's answer that no owner gave; then the stream is over. */
void h2_answer(struct h2_stream *s, uint16_t status);

/* What the owner of the stream calls; rows of h2_ops. */
void h2_send_head(struct stream *s, const struct head *head, bool end);
void h2_send_data(struct stream *s, slice bytes);
void h2_send_end(struct stream *s, const struct head *trailers);
void h2_abort(struct stream *s, enum wire_finish how, uint32_t code);
void h2_goaway(struct stream *s);
void h2_consume(struct stream *s, size_t n);
void h2_release(struct stream *s);

#endif
