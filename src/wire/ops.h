/* SPDX-License-Identifier: Apache-2.0
 *
 * What a protocol implements; wire.h and stream.h say what each of them promises. */
#ifndef OUTFOX_WIRE_OPS_H
#define OUTFOX_WIRE_OPS_H

#include "wire/wire.h"

struct wire;
struct stream;

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

#endif
