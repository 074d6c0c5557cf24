/* SPDX-License-Identifier: Apache-2.0
 *
 * tunnel: one connection through a door of tcp://, in bytes that nobody here understands. */
#ifndef OUTFOX_PROXY_TUNNEL_INT_H
#define OUTFOX_PROXY_TUNNEL_INT_H

#include "proxy/worker_int.h"

/* Takes over fd. It counts as a client (plane->n_clients) until it ends. */
void tunnel_accept(struct worker *w, uint32_t door, int fd);

/* The worker is stopping: what has come is still passed on, and both sides are told the end. */
void tunnels_close(struct worker *w);

#endif
