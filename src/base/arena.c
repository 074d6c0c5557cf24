/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
    alignas(max_align_t) char bytes[];
};

enum { CHUNK_MIN = 4096, CHUNK_MAX = 1 << 20 };

static void arena_add_chunk(struct arena *a, size_t least)
{
    size_t size = a->chunk ? a->chunk->size * 2 : CHUNK_MIN;
    if (size > CHUNK_MAX)
        size = CHUNK_MAX;
    if (size < least)
        size = least;
    struct arena_chunk *c = mem_alloc(sizeof *c + size);
    c->next = a->chunk;
    c->size = size;
    a->chunk = c;
    a->at = c->bytes;
    a->end = c->bytes + size;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t step = alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        mem_oom();
    size = (size + step - 1) / step * step;
    if (!a->chunk || (size_t)(a->end - a->at) < size)
        arena_add_chunk(a, size);
    void *p = a->at;
    a->at += size;
    a->used += size;
    return p;
}

void *arena_zero(struct arena *a, size_t size)
{
    void *p = arena_alloc(a, size);
    memset(p, 0, size);
    return p;
}

char *arena_copy(struct arena *a, const char *p, size_t n)
{
    char *q = arena_alloc(a, n + 1);
    if (n)
        memcpy(q, p, n);
    q[n] = 0;
    return q;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    size_t size = n > 0 ? (size_t)n + 1 : 1;
    char *text = arena_alloc(a, size);
    text[0] = 0;
    vsnprintf(text, size, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void *arena_grown(struct arena *a, void *items, uint32_t n, size_t size)
{
    if (n & (n - 1)) /* full are those with 0, 1, 2, 4, 8 ... items */
        return items;
    void *more = arena_zero(a, (n ? 2 * (size_t)n : 1) * size);
    if (n)
        memcpy(more, items, n * size);
    return more;
}

void arena_reset(struct arena *a)
{
    struct arena_chunk *keep = a->chunk;
    if (!keep)
        return;
    while (keep->next) {
        struct arena_chunk *old = keep->next;
        keep->next = old->next;
        mem_free(old);
    }
    a->at = keep->bytes;
    a->end = keep->bytes + keep->size;
    a->used = 0;
}

void arena_deinit(struct arena *a)
{
    while (a->chunk) {
        struct arena_chunk *next = a->chunk->next;
        mem_free(a->chunk);
        a->chunk = next;
    }
    a->at = a->end = NULL;
    a->used = 0;
}
