/* SPDX-License-Identifier: Apache-2.0
 *
 * chain: bytes in a queue of blocks, added at the end, taken from the front. What waits to be
 * written to a socket is a chain; an empty one holds no memory, so that ten thousand idle
 * connections cost nothing here. Blocks come from and go back to a `struct blocks`, a free list
 * that one thread owns. */
#ifndef OUTFOX_BASE_CHAIN_H
#define OUTFOX_BASE_CHAIN_H

#include <sys/uio.h>

#include "base/str.h"

enum { BLOCK_BYTES = 16 * 1024 - 32, BLOCKS_KEPT = 64 };

struct block {
    struct block *next;
    uint32_t start, end; /* the bytes in use */
    char bytes[BLOCK_BYTES];
};

/* Zero-initialised is empty and ready. */
struct blocks {
    struct block *free;
    uint32_t n_free; /* at most BLOCKS_KEPT */
};

struct chain {
    struct blocks *blocks;
    struct block *first, *last;
    size_t n; /* bytes */
};

#define CHAIN_INIT(from) ((struct chain){.blocks = (from)})

void blocks_deinit(struct blocks *blocks);

void chain_add(struct chain *c, slice s);
static inline void chain_adds(struct chain *c, const char *text)
{
    chain_add(c, slice_of(text));
}

/* Room for at least `least` <= BLOCK_BYTES bytes in one piece behind the last byte; chain_added
 * says how many of them were written. */
char *chain_room(struct chain *c, size_t least);
void chain_added(struct chain *c, size_t n);

/* The first piece; empty exactly when the chain is. */
slice chain_front(const struct chain *c);

/* Drops n <= c->n bytes from the front. */
void chain_drop(struct chain *c, size_t n);

/* Adds the first bytes to a text, as many as its bound lets in. */
void chain_print(const struct chain *c, struct buf *out);

/* Describes the first pieces for writev; returns how many of `max`. */
int chain_iov(const struct chain *c, struct iovec *iov, int max);

/* Empties it; it may be used again. */
void chain_clear(struct chain *c);

#endif
