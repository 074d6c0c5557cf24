/* SPDX-License-Identifier: Apache-2.0
 *
 * What loop, timers, connections and listeners have to know of each other. */
#ifndef OUTFOX_IO_LOOP_INT_H
#define OUTFOX_IO_LOOP_INT_H

#include "io/loop.h"

/* timer.c: libuv's timer fired. */
void timers_fire(uv_timer_t *tick);

/* conn.c: flushes what is touched, and what that touches in turn, up to a bound. */
void conns_flush(struct loop *l);

/* conn.c: closes what is still there, without a word to anybody. */
void conns_drop(struct loop *l);

#endif
