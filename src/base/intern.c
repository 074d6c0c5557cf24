/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include "base/hash.h"

static bool is_text(const void *owner, uint32_t id, const void *key)
{
    const struct intern *x = owner;
    return slice_eq(x->text.at[id], *(const slice *)key);
}

uint32_t intern_put_in(struct intern *x, struct arena *keep, slice text)
{
    uint64_t hash = hash_slice(text);
    uint32_t id = index_get(&x->index, hash, is_text, x, &text);
    if (id != INDEX_NONE)
        return id;
    id = x->text.n;
    vec_push(&x->text, slice_copy(keep, text));
    index_put(&x->index, hash, id);
    return id;
}

uint32_t intern_put(struct intern *x, slice text)
{
    if (x->arena.used + text.n <= INTERN_BYTES_MAX)
        return intern_put_in(x, &x->arena, text);
    return index_get(&x->index, hash_slice(text), is_text, x, &text); /* or INTERN_NONE */
}

const char *intern_keep(struct intern *x, slice text)
{
    uint32_t id = intern_put_in(x, &x->arena, text);
    return x->text.at[id].p;
}

slice intern_text(const struct intern *x, uint32_t id)
{
    return id < x->text.n ? x->text.at[id] : SLICE("");
}

void intern_deinit(struct intern *x)
{
    arena_deinit(&x->arena);
    vec_deinit(&x->text);
    index_deinit(&x->index);
}
