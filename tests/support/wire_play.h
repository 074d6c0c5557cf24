/* SPDX-License-Identifier: Apache-2.0
 *
 * Plays a wire case: a wire of src/wire, the bytes of its peer in pieces, and an owner that does
 * what the case says. What happened is kept as text and as messages. */
#ifndef OUTFOX_TESTS_WIRE_PLAY_H
#define OUTFOX_TESTS_WIRE_PLAY_H

#include "support/wire_case.h"

/* How the bytes are cut: 0 whole, 1 byte by byte, any other number is the seed of random cuts. */
enum { PLAY_WHOLE = 0, PLAY_BYTES = 1 };

/* What one stream brought. */
struct played {
    struct wire_play *play;
    struct stream *stream; /* NULL: gone */
    uint32_t number;
    bool in_ended, out_ended;
    bool tunnel, complete; /* complete: the message came to its end */
    bool head_only;        /* a client's: it asked with HEAD */
    struct head *head;     /* the last one that came, NULL at first */
    struct head *trailers;
    struct buf body;
    struct buf events;  /* one a line */
    bool data_last;     /* the last of them is data, which goes on */
    size_t given, sent; /* bytes of stream_data */
};

struct wire_play {
    const struct wire_case *given;
    struct wire *wire;
    struct blocks blocks;
    struct chain chain;
    struct arena arena;
    VEC(struct played *) streams;
    /* what happened */
    struct buf events; /* of no stream, and of all when it is over: stream by stream */
    struct buf out;
};

void wire_play(struct wire_play *p, const struct wire_case *c, uint64_t cuts);
void wire_play_deinit(struct wire_play *p);

/* Appends what makes two messages the same on whatever connection they travel: method, target,
 * authority or status, fields, body, trailers. */
void played_print(const struct played *s, struct buf *out);

/* Appends the bytes of the message when it is passed on in HTTP/1.1. */
void played_pass_on(const struct played *s, struct buf *out);

#endif
