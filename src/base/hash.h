/* SPDX-License-Identifier: Apache-2.0
 *
 * Hashing for identity: XXH3, the same on every machine and in every run, so hashes may be stored.
 */
#ifndef OUTFOX_BASE_HASH_H
#define OUTFOX_BASE_HASH_H

#include <stdint.h>

#include "base/str.h"

uint64_t hash_slice(slice s);

/* Mixes b into a; order matters. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    /* odd factors: for an equal b different values of a stay different, and the other way round */
    uint64_t x =
        a * 0x9e3779b97f4a7c15u + (b ^ b >> 32) * 0xc2b2ae3d27d4eb4fu + 0x165667b19e3779f9u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 29;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 32;
    return x;
}

/* 32 bits that are never 0, for places where 0 means "none". */
static inline uint32_t hash_fold(uint64_t h)
{
    uint32_t x = (uint32_t)(h ^ (h >> 32));
    return x ? x : 1;
}

#endif
