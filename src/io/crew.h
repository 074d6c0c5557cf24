/* SPDX-License-Identifier: Apache-2.0
 *
 * crew: threads that are kept. Work is given to one that is idle, else to a new one: work may wait
 * for other work without running out of hands. */
#ifndef OUTFOX_IO_CREW_H
#define OUTFOX_IO_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct crew;

/* Of at most this many threads. */
struct crew *crew_new(uint32_t most);

/* Has work(arg) done by another thread. False: all hands are busy, or the crew was stopped. */
bool crew_give(struct crew *c, void (*work)(void *arg), void *arg) MUST_USE;

/* No more work is taken; waits until all that was given is done, and frees it. */
void crew_free(struct crew *c);

#endif
