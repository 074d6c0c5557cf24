/* SPDX-License-Identifier: Apache-2.0
 *
 * A growable array of any type: `VEC(struct call) calls;`, then calls.at[i] and calls.n.
 * Zero-initialised is empty. Growing moves the items, so hold indexes, not pointers. At most 2^32 -
 * 1 items. */
#ifndef OUTFOX_BASE_VEC_H
#define OUTFOX_BASE_VEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t n, cap;                                                                           \
    }

/* The capacity that holds one more than n items. */
static inline uint32_t vec__cap(uint32_t n)
{
    if (n > UINT32_MAX / 2)
        mem_oom();
    return n < 4 ? 8 : n * 2;
}

#define vec_reserve_one(v)                                                                         \
    do {                                                                                           \
        if ((v)->n == (v)->cap) {                                                                  \
            (v)->cap = vec__cap((v)->n);                                                           \
            (v)->at = mem_grow((v)->at, (v)->cap, sizeof *(v)->at);                                \
        }                                                                                          \
    } while (0)

#define vec_push(v, ...)                                                                           \
    do {                                                                                           \
        vec_reserve_one(v);                                                                        \
        (v)->at[(v)->n++] = (__VA_ARGS__);                                                         \
    } while (0)

#define vec_last(v) ((v)->at[(v)->n - 1])

#define vec_deinit(v)                                                                              \
    do {                                                                                           \
        mem_free((v)->at);                                                                         \
        (v)->at = NULL;                                                                            \
        (v)->n = (v)->cap = 0;                                                                     \
    } while (0)

#endif
