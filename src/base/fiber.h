/* SPDX-License-Identifier: Apache-2.0
 *
 * fiber: a story that can wait. A function on a stack of its own, which stops in the middle
 * (fiber_wait) until whoever drives it goes on with it (fiber_go). So what takes many steps, with
 * decisions between them, is told from top to bottom, and takes turns with others in one thread.
 *
 * 1. A fiber runs in the thread that calls fiber_go, and only there.
 * 2. One that has begun is driven to its end before it is freed: what it holds is on its stack. */
#ifndef OUTFOX_BASE_FIBER_H
#define OUTFOX_BASE_FIBER_H

#include <stdbool.h>

struct fiber;

struct fiber *fiber_new(void (*tell)(void *ctx), void *ctx);

/* Goes on with it, until it waits or ends. False: it has ended. */
bool fiber_go(struct fiber *f);

/* From inside: lets go, until fiber_go is called again. */
void fiber_wait(struct fiber *f);

/* It has ended, or was never begun. Accepts NULL. */
void fiber_free(struct fiber *f);

#endif
