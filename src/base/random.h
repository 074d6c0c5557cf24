/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that nobody can guess: keys. (What is drawn at random and must be the same again comes
 * from rng.h.) */
#ifndef OUTFOX_BASE_RANDOM_H
#define OUTFOX_BASE_RANDOM_H

#include <stdint.h>

/* From the system's source of randomness; never 0. */
uint64_t random_key(void);

#endif
