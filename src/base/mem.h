/* SPDX-License-Identifier: Apache-2.0
 *
 * The only door to the heap. Allocation never returns NULL: when memory is gone the process says so
 * and ends with exit code 3, because nothing that Outfox could do without memory would be better
 * than stopping at once. */
#ifndef OUTFOX_BASE_MEM_H
#define OUTFOX_BASE_MEM_H

#include <stddef.h>

#define MUST_USE __attribute__((warn_unused_result))

/* The struct of this type whose member p points to. */
#define OWNER(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))

_Noreturn void mem_oom(void);

void *mem_alloc(size_t size) MUST_USE;
void *mem_zero(size_t size) MUST_USE;

/* Like realloc, for `count` items of `size` bytes; the product is checked for overflow. */
void *mem_grow(void *p, size_t count, size_t size) MUST_USE;

/* Accepts NULL. */
void mem_free(void *p);

#endif
