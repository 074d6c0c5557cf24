/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include "base/hash.h"

static bool is_text(const void *owner, uint32_t id, const void *key)
{
    const struct pool *p = owner;
    return slice_eq(p->text.at[id], *(const slice *)key);
}

uint32_t pool_put(struct pool *p, slice text)
{
    uint64_t hash = hash_slice(text);
    uint32_t id = index_get(&p->index, hash, is_text, p, &text);
    if (id != INDEX_NONE)
        return id;
    if (p->arena.used + text.n > POOL_BYTES_MAX)
        return POOL_NONE;
    id = p->text.n;
    char *copy = arena_alloc(&p->arena, text.n + 1); /* aligned: counts of effects are kept so */
    if (text.n)
        memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    vec_push(&p->text, (slice){copy, text.n});
    index_put(&p->index, hash, id);
    return id;
}

slice pool_text(const struct pool *p, uint32_t id)
{
    return id < p->text.n ? p->text.at[id] : SLICE("");
}

void pool_deinit(struct pool *p)
{
    arena_deinit(&p->arena);
    vec_deinit(&p->text);
    index_deinit(&p->index);
}
