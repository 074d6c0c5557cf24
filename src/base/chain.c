/* SPDX-License-Identifier: Apache-2.0 */
#include "base/chain.h"

#include <assert.h>

static struct block *block_take(struct blocks *from)
{
    struct block *b = from->free;
    if (b) {
        from->free = b->next;
        from->n_free--;
    } else {
        b = mem_alloc(sizeof *b);
    }
    b->next = NULL;
    b->start = b->end = 0;
    return b;
}

static void block_give(struct blocks *to, struct block *b)
{
    if (to->n_free == BLOCKS_KEPT) {
        mem_free(b);
        return;
    }
    b->next = to->free;
    to->free = b;
    to->n_free++;
}

void blocks_deinit(struct blocks *blocks)
{
    while (blocks->free) {
        struct block *b = blocks->free;
        blocks->free = b->next;
        mem_free(b);
    }
    blocks->n_free = 0;
}

char *chain_room(struct chain *c, size_t least)
{
    assert(least <= BLOCK_BYTES);
    if (!c->last || BLOCK_BYTES - c->last->end < least) {
        struct block *b = block_take(c->blocks);
        if (c->last)
            c->last->next = b;
        else
            c->first = b;
        c->last = b;
    }
    return c->last->bytes + c->last->end;
}

void chain_added(struct chain *c, size_t n)
{
    c->last->end += (uint32_t)n;
    c->n += n;
}

void chain_add(struct chain *c, slice s)
{
    while (s.n) {
        char *room = chain_room(c, 1);
        size_t n = BLOCK_BYTES - c->last->end;
        if (n > s.n)
            n = s.n;
        memcpy(room, s.p, n);
        chain_added(c, n);
        s = slice_from(s, n);
    }
}

slice chain_front(const struct chain *c)
{
    for (const struct block *b = c->first; b; b = b->next)
        if (b->end > b->start)
            return (slice){b->bytes + b->start, b->end - b->start};
    return (slice){0};
}

void chain_drop(struct chain *c, size_t n)
{
    assert(n <= c->n);
    c->n -= n;
    while (c->first) {
        struct block *b = c->first;
        size_t has = b->end - b->start;
        if (n < has) {
            b->start += (uint32_t)n;
            return;
        }
        n -= has;
        c->first = b->next;
        block_give(c->blocks, b);
    }
    c->last = NULL;
}

void chain_print(const struct chain *c, struct buf *out)
{
    for (const struct block *b = c->first; b && !out->full; b = b->next)
        buf_add(out, (slice){b->bytes + b->start, b->end - b->start});
}

int chain_iov(const struct chain *c, struct iovec *iov, int max)
{
    int n = 0;
    for (struct block *b = c->first; b && n < max; b = b->next)
        if (b->end > b->start)
            iov[n++] = (struct iovec){b->bytes + b->start, b->end - b->start};
    return n;
}

void chain_clear(struct chain *c)
{
    chain_drop(c, c->n);
}
