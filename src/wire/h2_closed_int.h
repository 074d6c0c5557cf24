/* SPDX-License-Identifier: Apache-2.0
 *
 * What a wire knows of streams that are closed; the rules are in h2_closed.c. */
#ifndef OUTFOX_WIRE_H2_CLOSED_INT_H
#define OUTFOX_WIRE_H2_CLOSED_INT_H

#include <nghttp2/nghttp2.h>

#include "base/str.h"

struct h2;
struct h2_stream;

enum {
    H2_STRAYS_MAX = 1 << 16, /* frames on streams that we reset, after the last one */
    H2_STRAY_BYTES = 256,    /* that count as one more of them */
    H2_CLOSED_KEPT = 64,     /* streams of which is known how they were closed */
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

/* A stream of the peer is accepted; one was closed; one is reset by us, and frames of it are still
 * under way. */
void h2_closed_open(struct h2 *h, int32_t id);
void h2_closed_add(struct h2 *h, const struct h2_stream *s);
void h2_closed_reset(struct h2 *h);

/* Before DATA or HEADERS: false: it is on a stream that is closed, and the connection fails. */
bool h2_closed_check(struct h2 *h, const nghttp2_frame_hd *frame);

/* The peer cancelled a stream or made us do it; or one has ended well. */
void h2_count_reset(struct h2 *h, bool reset);

/* Walks along the bytes. Returns how many nghttp2 can have: all, or those up to the last byte of
 * the head of a DATA frame, *data, that h2_closed_check is to look at then. data NULL: simply
 * walks. */
size_t h2_walk(struct h2 *h, slice bytes, nghttp2_frame_hd *data);

#endif
