/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of an nghttp2 session. A call costs nghttp2 some twenty small pieces, allocated and
 * freed again in the same few sizes: a wire keeps them, by size, for its next calls.
 *
 * 1. A piece has its class in front of it, since nghttp2 does not say the size when it frees.
 * 2. At most KEPT_MAX bytes are kept; none where a sanitizer watches over what was freed. */
#include "wire/h2_int.h"

#include <stdalign.h>

/* What stands in front of the bytes that nghttp2 gets. */
struct h2_piece {
    alignas(max_align_t) struct h2_piece *next;
    size_t class; /* its size in units; H2_CLASSES: too large to be kept */
};

#ifdef SANITIZED
enum { UNIT = 32, KEPT_MAX = 0 };
#else
enum { UNIT = 32, KEPT_MAX = 32 * 1024 };
#endif

static void *piece_alloc(size_t size, void *user)
{
    struct h2_pool *pool = user;
    size_t class = size / UNIT + 1;
    bool large = class >= H2_CLASSES;
    if (!large && pool->free[class]) {
        struct h2_piece *kept = pool->free[class];
        pool->free[class] = kept->next;
        pool->kept -= class * UNIT;
        return kept + 1;
    }
    struct h2_piece *piece = mem_alloc(sizeof *piece + (large ? size : class * UNIT));
    piece->class = large ? H2_CLASSES : class;
    return piece + 1;
}

static void piece_free(void *p, void *user)
{
    struct h2_pool *pool = user;
    if (!p)
        return;
    struct h2_piece *piece = (struct h2_piece *)p - 1;
    size_t class = piece->class;
    if (class == H2_CLASSES || pool->kept + class * UNIT > KEPT_MAX) {
        mem_free(piece);
        return;
    }
    piece->next = pool->free[class];
    pool->free[class] = piece;
    pool->kept += class * UNIT;
}

static void *piece_zero(size_t count, size_t size, void *user)
{
    if (size && count > SIZE_MAX / size)
        mem_oom();
    return memset(piece_alloc(count * size, user), 0, count * size);
}

/* nghttp2 grows only its tables and buffers, seldom; those sizes it does not tell. */
static void *piece_grow(void *p, size_t size, void *user)
{
    if (!p)
        return piece_alloc(size, user);
    struct h2_piece *piece = (struct h2_piece *)p - 1;
    size_t class = piece->class;
    if (class == H2_CLASSES) {
        piece = mem_grow(piece, sizeof *piece + size, 1);
        return piece + 1;
    }
    void *larger = piece_alloc(size, user);
    memcpy(larger, p, size < class * UNIT ? size : class * UNIT);
    piece_free(p, user);
    return larger;
}

nghttp2_mem h2_pool_mem(struct h2_pool *pool)
{
    return (nghttp2_mem){pool, piece_alloc, piece_free, piece_zero, piece_grow};
}

void h2_pool_deinit(struct h2_pool *pool)
{
    for (size_t i = 0; i < H2_CLASSES; i++)
        while (pool->free[i]) {
            struct h2_piece *piece = pool->free[i];
            pool->free[i] = piece->next;
            mem_free(piece);
        }
    pool->kept = 0;
}
