/* SPDX-License-Identifier: Apache-2.0
 *
 * What outfox and an agent say to each other, over TLS: frames. Pure.
 *
 *     kind (1 byte)   length (4 bytes, big-endian)   that many bytes
 *
 *   HELLO    ->   the version of this protocol (2 bytes), then the token
 *   RUN      ->   a script for /bin/sh
 *   INPUT    ->   bytes for its standard input
 *   END      ->   there are no more
 *   OUTPUT  <-    bytes of its standard output; ERRORS: of its standard error
 *   CODE    <-    its exit code (4 bytes), the last frame
 *   REFUSED <-    a sentence that says why nothing is run; the last frame
 *
 * A frame that may not come now, or is longer than its kind allows, is known by its head, before
 * anything of it is kept. */
#ifndef OUTFOX_AGENT_FRAME_H
#define OUTFOX_AGENT_FRAME_H

#include "base/chain.h"

enum frame_kind {
    FRAME_HELLO = 'H',
    FRAME_RUN = 'R',
    FRAME_INPUT = 'I',
    FRAME_END = 'E',
    FRAME_OUTPUT = 'O',
    FRAME_ERRORS = 'X',
    FRAME_CODE = 'C',
    FRAME_REFUSED = 'N',
};

enum {
    FRAME_VERSION = 1,
    FRAME_HEAD = 5,
    FRAME_PIECE_MAX = 16 * 1024, /* of INPUT, OUTPUT, ERRORS */
    FRAME_RUN_MAX = 128 * 1024,
    FRAME_REFUSED_MAX = 1000,
};

struct frame {
    enum frame_kind kind;
    slice bytes;
};

/* What was read of a frame so far; zero-initialised is nothing. */
struct frames {
    struct buf bytes;
};

enum frame_step { FRAME_MORE, FRAME_WHOLE, FRAME_WRONG };

/* Takes bytes off *in until a frame is whole. `may`: the kinds that may come now, as letters. The frame's
 * bytes are those of *f until the next call. */
enum frame_step frames_take(struct frames *f, const char *may, slice *in, struct frame *out);
void frames_deinit(struct frames *f);

/* Adds a frame; of more than its kind allows: several. */
void frame_add(struct chain *out, enum frame_kind kind, slice bytes);
void frame_add_hello(struct chain *out, slice token);
void frame_add_code(struct chain *out, int code);

/* False: it is none. */
bool frame_read_hello(slice bytes, uint32_t *version, slice *token) MUST_USE;
bool frame_read_code(slice bytes, int *code) MUST_USE;

#endif
