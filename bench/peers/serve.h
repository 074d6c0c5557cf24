/* SPDX-License-Identifier: Apache-2.0
 *
 * What the origins of the proxy benchmark share: one thread, one epoll, connections on loopback.
 * They stand in for services, so they do as little as a server can. Nothing here is part of Outfox.
 */
#ifndef BENCH_PEERS_SERVE_H
#define BENCH_PEERS_SERVE_H

#include <stdbool.h>

struct service {
    /* Takes over a non-blocking connection. NULL: no memory, the connection is closed. */
    void *(*open)(int fd);
    /* Something can be read or written, and this is said only once: goes on until a read was short
     * or a write would block. False: the connection is done for and will be closed. */
    bool (*ready)(void *conn);
    /* Frees conn; the descriptor is closed by the caller. */
    void (*close)(void *conn);
};

/* Listens on a free port of 127.0.0.1, prints `listening on 127.0.0.1:PORT` and serves for ever.
 * Returns an exit code when it cannot start. */
int serve(const struct service *service);

#endif
