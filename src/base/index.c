/* SPDX-License-Identifier: Apache-2.0 */
#include "base/index.h"

#include "base/hash.h"

static uint32_t short_hash(uint64_t hash)
{
    return (uint32_t)(hash ^ (hash >> 32));
}

static void index_place(struct index *x, uint32_t hash, uint32_t id)
{
    uint32_t i = hash & x->mask;
    while (x->slot[i].id != INDEX_NONE)
        i = (i + 1) & x->mask;
    x->slot[i] = (struct index_slot){hash, id};
}

static void index_grow(struct index *x)
{
    struct index old = *x;
    uint32_t size = old.slot ? (old.mask + 1) * 2 : 16;
    if (size == 0)
        mem_oom();
    x->slot = mem_grow(NULL, size, sizeof *x->slot);
    x->mask = size - 1;
    for (uint32_t i = 0; i < size; i++)
        x->slot[i].id = INDEX_NONE;
    for (uint32_t i = 0; old.slot && i <= old.mask; i++)
        if (old.slot[i].id != INDEX_NONE)
            index_place(x, old.slot[i].hash, old.slot[i].id);
    mem_free(old.slot);
}

uint32_t index_get(const struct index *x, uint64_t hash, index_eq *eq, const void *owner,
                   const void *key)
{
    if (!x->slot)
        return INDEX_NONE;
    uint32_t h = short_hash(hash);
    for (uint32_t i = h & x->mask; x->slot[i].id != INDEX_NONE; i = (i + 1) & x->mask)
        if (x->slot[i].hash == h && eq(owner, x->slot[i].id, key))
            return x->slot[i].id;
    return INDEX_NONE;
}

void index_put(struct index *x, uint64_t hash, uint32_t id)
{
    if (!x->slot || x->n + 1 > (x->mask + 1) / 4 * 3)
        index_grow(x);
    index_place(x, short_hash(hash), id);
    x->n++;
}

void index_deinit(struct index *x)
{
    mem_free(x->slot);
    *x = (struct index){0};
}

static bool map_eq(const void *owner, uint32_t id, const void *key)
{
    const struct map *m = owner;
    const uint64_t *k = key;
    return m->items.at[id].key == *k;
}

static uint32_t map_find(const struct map *m, uint64_t key)
{
    return index_get(&m->index, hash_mix(0, key), map_eq, m, &key);
}

static void map_add(struct map *m, uint64_t key, uint32_t value)
{
    vec_push(&m->items, (struct map_item){key, value}); /* NOLINT: n < cap, so `at` is not NULL */
    index_put(&m->index, hash_mix(0, key), m->items.n - 1);
}

const uint32_t *map_get(const struct map *m, uint64_t key)
{
    uint32_t id = map_find(m, key);
    return id == INDEX_NONE ? NULL : &m->items.at[id].value;
}

void map_set(struct map *m, uint64_t key, uint32_t value)
{
    uint32_t id = map_find(m, key);
    if (id == INDEX_NONE)
        map_add(m, key, value);
    else
        m->items.at[id].value = value;
}

uint32_t map_index(struct map *m, uint64_t key, uint32_t next)
{
    uint32_t id = map_find(m, key);
    if (id != INDEX_NONE)
        return m->items.at[id].value;
    map_add(m, key, next);
    return next;
}

uint32_t map_count(struct map *m, uint64_t key)
{
    uint32_t id = map_find(m, key);
    if (id != INDEX_NONE)
        return ++m->items.at[id].value;
    map_add(m, key, 1);
    return 1;
}

void map_clear(struct map *m)
{
    for (uint32_t i = 0; m->index.slot && m->index.n && i <= m->index.mask; i++)
        m->index.slot[i].id = INDEX_NONE;
    m->index.n = m->items.n = 0;
}

void map_deinit(struct map *m)
{
    index_deinit(&m->index);
    vec_deinit(&m->items);
}

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
