/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the trial that counts requests by their place. All processes enter points; nobody removes
 * one while the trial lasts.
 *
 * 1. The way to a point is its key, four multiplications that wait for each other. The process remembers
 *    where it found the points that it met last, by a cheaper hash of the same; what it remembers is held
 *    against the point itself, so it may be wrong, and need not be written at once. */
#include <string.h>

#include "rt.h"

enum { REMEMBERED = 2048 };
static uint32_t remembered[REMEMBERED]; /* index of a point */

_Static_assert(offsetof(struct outfox_point, reserved) == offsetof(struct outfox_point, node) + 16,
               "what makes a place, but the caller, is in one piece");

static inline bool is_like(const struct outfox_point *p, const struct outfox_point *like)
{
    return p->caller == like->caller && memcmp(&p->node, &like->node, 16) == 0;
}

static inline uint32_t *memory_of(const struct outfox_point *like)
{
    uint64_t h = like->caller * 0x9e3779b1u + like->site * 0x85ebca6bu + like->state * 0xc2b2ae35u;
    return &remembered[(h ^ h >> 15) % REMEMBERED];
}

/* The point of a key, or the first free place (its key is 0), or NULL. */
static struct outfox_point *look(uint64_t key)
{
    for (uint32_t i = 0; i < OUTFOX_PROBES && i <= rt_self.points_mask; i++) {
        struct outfox_point *p = &rt_self.points[(key + i) & rt_self.points_mask];
        uint64_t found = __atomic_load_n(&p->key, __ATOMIC_ACQUIRE);
        if (!found || found == key)
            return p;
    }
    return NULL;
}

struct outfox_point *rt_point_find(const struct outfox_point *like)
{
    uint32_t *memory = memory_of(like);
    uint32_t index = __atomic_load_n(memory, __ATOMIC_RELAXED);
    struct outfox_point *p = &rt_self.points[index & rt_self.points_mask];
    if (__atomic_load_n(&p->filled, __ATOMIC_ACQUIRE) == 1 && is_like(p, like))
        return p;
    p = look(outfox_point_key(like));
    if (!p || !__atomic_load_n(&p->key, __ATOMIC_RELAXED))
        return NULL;
    __atomic_store_n(memory, (uint32_t)(p - rt_self.points), __ATOMIC_RELAXED);
    return p;
}

struct outfox_point *rt_point_enter(const struct outfox_point *like)
{
    uint64_t key = outfox_point_key(like);
    for (struct outfox_point *p; (p = look(key));) {
        uint64_t found = 0;
        if (!__atomic_compare_exchange_n(&p->key, &found, key, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            if (found == key)
                return p;
            continue; /* somebody else was faster: it is not free any more */
        }
        p->caller = like->caller;
        p->node = like->node;
        p->module = like->module;
        p->state_module = like->state_module;
        p->caller_module = like->caller_module;
        p->site = like->site;
        p->state = like->state;
        __atomic_store_n(&p->filled, 1, __ATOMIC_RELEASE);
        return p;
    }
    return NULL;
}
