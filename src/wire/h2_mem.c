/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of an nghttp2 session. A call costs nghttp2 some twenty small pieces, allocated and
 * freed again in the same few sizes: a wire keeps them, by size, for its next calls.
 *
 * 1. A piece has its size in front of it, since nghttp2 does not say it when it frees.
 * 2. At most KEPT_MAX bytes are kept; none where a sanitizer watches over what was freed.
 * 3. What is in use is counted: frames that wait for a peer that does not read are part of it. */
#include "wire/h2_int.h"

#include <stdalign.h>

/* What stands in front of the bytes that nghttp2 gets. */
struct h2_piece {
    alignas(max_align_t) struct h2_piece *next; /* while it is kept */
    size_t size;
};

#ifdef SANITIZED
enum { UNIT = 32, KEPT_MAX = 0 };
#else
enum { UNIT = 32, KEPT_MAX = 32 * 1024 };
#endif

/* Of which size it is, in units; H2_CLASSES and more: too large to be kept. */
static size_t class_of(size_t size)
{
    return size / UNIT + 1;
}

static void *piece_alloc(size_t size, void *user)
{
    struct h2_pool *pool = user;
    size_t class = class_of(size);
    bool large = class >= H2_CLASSES;
    struct h2_piece *piece = large ? NULL : pool->free[class];
    if (piece) {
        pool->free[class] = piece->next;
        pool->kept -= class * UNIT;
    } else {
        piece = mem_alloc(sizeof *piece + (large ? size : class * UNIT));
    }
    piece->size = size;
    pool->used += size;
    return piece + 1;
}

static void piece_free(void *p, void *user)
{
    struct h2_pool *pool = user;
    if (!p)
        return;
    struct h2_piece *piece = (struct h2_piece *)p - 1;
    size_t class = class_of(piece->size);
    pool->used -= piece->size;
    if (class >= H2_CLASSES || pool->kept + class * UNIT > KEPT_MAX) {
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

/* nghttp2 grows only its tables and buffers, seldom. */
static void *piece_grow(void *p, size_t size, void *user)
{
    void *larger = piece_alloc(size, user);
    if (!p)
        return larger;
    size_t before = ((struct h2_piece *)p - 1)->size;
    memcpy(larger, p, size < before ? size : before);
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
