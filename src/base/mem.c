/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdlib.h>
#include <unistd.h>

_Noreturn void mem_oom(void)
{
    static const char text[] = "outfox: out of memory\n";
    ssize_t ignored = write(2, text, sizeof text - 1);
    (void)ignored;
    _exit(3); /* EXIT_ENVIRONMENT; what is stored is whole, and the keeper ends what we started */
}

void *mem_alloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        mem_oom();
    return p;
}

void *mem_zero(size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        mem_oom();
    return p;
}

void *mem_grow(void *p, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        mem_oom();
    void *q = realloc(p, bytes ? bytes : 1);
    if (!q)
        mem_oom();
    return q;
}

void mem_free(void *p)
{
    free(p);
}
