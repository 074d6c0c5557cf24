/* SPDX-License-Identifier: Apache-2.0
 *
 * An arena: many small allocations, one release. Everything that lives as long as a run, a file or
 * a campaign hangs on one. Zero-initialised is empty and ready. */
#ifndef OUTFOX_BASE_ARENA_H
#define OUTFOX_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunk; /* newest first */
    char *at, *end;            /* free part of the newest chunk */
    size_t used;               /* bytes given out since the last reset */
};

/* `size` bytes, aligned for any type, not cleared. */
void *arena_alloc(struct arena *a, size_t size) MUST_USE;
void *arena_zero(struct arena *a, size_t size) MUST_USE;

/* A copy of n bytes with a NUL behind it. */
char *arena_copy(struct arena *a, const char *p, size_t n) MUST_USE;

/* A text as of printf. */
char *arena_printf(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3))) MUST_USE;

/* `items`, an array of n in the arena, with room for one more, which is zero. */
void *arena_grown(struct arena *a, void *items, uint32_t n, size_t size) MUST_USE;

/* Forgets all allocations but keeps one chunk, so that the next run allocates nothing. */
void arena_reset(struct arena *a);

void arena_deinit(struct arena *a);

#endif
