/* SPDX-License-Identifier: Apache-2.0
 *
 * tunnel: one connection through a door of tcp://, in bytes that nobody here understands. */
#ifndef OUTFOX_PROXY_TUNNEL_INT_H
#define OUTFOX_PROXY_TUNNEL_INT_H

#include "proxy/steer.h"
#include "proxy/worker_int.h"

/* Takes over fd. It counts as a client (plane->n_clients) until it ends. */
void tunnel_accept(struct site *site, int fd);

/* Of a door: see proxy/steer.h; -1: STEERS_MAX are on. */
int tunnels_steer(struct site *site, struct steer *s) MUST_USE;
void tunnels_release(struct site *site, struct steer *s);

/* The worker is stopping: what has come is still passed on, and both sides are told the end. */
void tunnels_close(struct worker *w);

#endif
