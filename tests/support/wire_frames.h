/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/2 frames as lines of text, in both directions:
 *
 *   HEADERS 1 end | :method: GET | :path: /       `end`: END_STREAM. Only written: `more` (no
 *                                                 END_HEADERS), `split=N` (the rest in
 *                                                 CONTINUATION frames of N bytes)
 *                                                 `@GET a /`: all that a request starts with
 *   CONTINUATION 1 more | a: b
 *   DATA 1 end pad=3 | hello
 *   RST_STREAM 1 CANCEL
 *   SETTINGS ack | 0x3=100 ...
 *   GOAWAY 0 last=1 NO_ERROR
 *   WINDOW_UPDATE 0 1000
 *   PING 0 ack | 12345678
 *   FRAME type=8 flags=1 stream=3 | bytes         any frame (only written)
 *   BYTES | bytes                                 no frame at all (only written)
 *
 * In place of a stream's number, `+` is a new one (the last plus 2) and `.` the last one. */
#ifndef OUTFOX_TESTS_WIRE_FRAMES_H
#define OUTFOX_TESTS_WIRE_FRAMES_H

#include <nghttp2/nghttp2.h>

#include "base/str.h"

#define FRAMES_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

struct frame_writer {
    nghttp2_hd_deflater *deflater;
    uint32_t stream; /* the last one that was named */
};

void frame_writer_init(struct frame_writer *w);
void frame_writer_deinit(struct frame_writer *w);

/* Appends the bytes of a frame; false when the line is malformed. */
bool frame_write(struct frame_writer *w, slice line, struct buf *out) MUST_USE;

/* Appends the lines of all frames, those of a stream together, in the order of streams; adjacent
 * DATA of a stream is one line. Without `all`: no SETTINGS and WINDOW_UPDATE, which depend on when
 * the peer reads. The bytes of a client start with the preface. False when the bytes are no
 * frames. */
bool frames_read(slice bytes, bool client, bool all, struct buf *out) MUST_USE;

#endif
