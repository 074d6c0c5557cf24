/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers: keys that nobody can guess, and sequences that are the same again. */
#ifndef OUTFOX_BASE_RANDOM_H
#define OUTFOX_BASE_RANDOM_H

#include <stdint.h>

/* From the system's source of randomness; never 0. */
uint64_t random_key(void);

/* A small seeded generator (splitmix64): equal seeds give equal sequences on every machine. Not for
 * secrets. */
struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t x = r->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* 0 .. bound-1, bound > 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t bound)
{
    return (uint32_t)(((rng_next(r) >> 32) * bound) >> 32);
}

#endif
