/* SPDX-License-Identifier: Apache-2.0
 *
 * pool: texts that are kept once, and known by their numbers. Equal numbers, equal texts. */
#ifndef OUTFOX_BASE_POOL_H
#define OUTFOX_BASE_POOL_H

#include "base/index.h"
#include "base/str.h"

enum { POOL_BYTES_MAX = 64 << 20 };

#define POOL_NONE UINT32_MAX

struct pool {
    struct arena arena;
    VEC(slice) text;
    struct index index;
};

/* The number of this text; POOL_NONE when there is no room for more. */
uint32_t pool_put(struct pool *p, slice text);
slice pool_text(const struct pool *p, uint32_t id);
void pool_deinit(struct pool *p);

#endif
