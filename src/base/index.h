/* SPDX-License-Identifier: Apache-2.0
 *
 * index: a hash table from keys that live elsewhere (in a vector, say) to their 32-bit ids. The
 * owner hashes and compares; the index only remembers. Open addressing, 8 bytes per slot, at most
 * 3/4 full, nothing is removed. On top of it, map: from 64-bit keys to 32-bit values; and intern:
 * texts that are kept once, and known by their numbers or addresses. Zero-initialised is empty. */
#ifndef OUTFOX_BASE_INDEX_H
#define OUTFOX_BASE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

#define INDEX_NONE UINT32_MAX

struct index {
    struct index_slot {
        uint32_t hash, id;
    } * slot;
    uint32_t n, mask;
};

/* Is the item `id` of `owner` the one that `key` describes? */
typedef bool index_eq(const void *owner, uint32_t id, const void *key);

uint32_t index_get(const struct index *x, uint64_t hash, index_eq *eq, const void *owner,
                   const void *key);

/* The caller has made sure that the key is not there yet. id < INDEX_NONE. */
void index_put(struct index *x, uint64_t hash, uint32_t id);
void index_deinit(struct index *x);

struct map {
    struct index index;
    VEC(struct map_item {
        uint64_t key;
        uint32_t value;
    })
    items;
};

/* The value's address, valid until the next map_set; NULL when the key is unknown. */
const uint32_t *map_get(const struct map *m, uint64_t key);
void map_set(struct map *m, uint64_t key, uint32_t value);

/* The key's value; one that is new gets `next`. So a map finds the place of a key in a vector:
 * where it gives the vector's length, the owner pushes the item. */
uint32_t map_index(struct map *m, uint64_t key, uint32_t next);

/* Adds 1 to the key's value (0 when new) and returns the sum. */
uint32_t map_count(struct map *m, uint64_t key);

/* Empty again, with the memory it has. */
void map_clear(struct map *m);
void map_deinit(struct map *m);

enum { INTERN_BYTES_MAX = 64 << 20 };

#define INTERN_NONE UINT32_MAX

/* Equal numbers, equal texts. */
struct intern {
    struct arena arena;
    VEC(slice) text; /* by number; with a NUL behind each */
    struct index index;
};

/* The number of this text; INTERN_NONE when there is no room for more. */
uint32_t intern_put(struct intern *x, slice text);

/* The same without a bound; a text that is new is copied to `keep`. */
uint32_t intern_put_in(struct intern *x, struct arena *keep, slice text);

/* The text as it is kept, always at the same address. Without a bound. */
const char *intern_keep(struct intern *x, slice text);

slice intern_text(const struct intern *x, uint32_t id);
void intern_deinit(struct intern *x);

#endif
