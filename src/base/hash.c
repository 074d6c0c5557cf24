/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_slice(slice s)
{
    return XXH3_64bits(s.p ? s.p : "", s.n);
}
