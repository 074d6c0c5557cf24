/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses: `127.0.0.1:8001`, `[::1]:8001`, `localhost:8001`, `:8001` (all of IPv4), `8001` (the
 * same on 127.0.0.1) and `unix:/path` (`unix:@name` for the abstract kind). Names are resolved when
 * they are read: a reload reads them again. Of a name with several addresses the first of IPv4 is
 * taken, so that `localhost` means the same everywhere; without one, the first of IPv6. */
#ifndef OUTFOX_IO_ADDR_H
#define OUTFOX_IO_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

enum { LISTEN_BACKLOG = 4096 };

struct addr {
    struct sockaddr_storage sa;
    socklen_t n;
    bool listening; /* addr_listen has succeeded for it */
    char text[160]; /* as it was written, for messages; with the host where only a port was */
    char host[128]; /* the host for SNI and verifying, no brackets, no scope; "": unix */
};

/* 0, or -1 with the cause and the remedy. `what` names the option or key in messages: "--to". Port
 * 0 is accepted: it makes sense only for listening. May wait for the resolver. */
int addr_parse(slice text, const char *what, struct addr *out, struct err *e) MUST_USE;

/* `127.0.0.1:8001`, `[::1]:8001` or `unix:/path`: what it is in fact. */
void addr_print(const struct addr *a, struct buf *out);

/* 0 for a unix socket. */
uint16_t addr_port(const struct addr *a);
bool addr_is_unix(const struct addr *a);

/* A non-blocking listening socket, close-on-exec. Port 0 is chosen by the system and put into
 * a->sa. With `shared` it may be called again with the same `a`, and the system spreads connections
 * over all of these sockets (SO_REUSEPORT); not for unix sockets, whose descriptor can be dup'ed
 * instead. The first call for `a` fails when anybody else listens there, shared or not. A unix
 * socket that nobody listens at any more is replaced; one in use, and a file that is no socket, is
 * an error. Returns the descriptor, or -1 with the cause and the remedy (in use, no permission, no
 * such address). */
int addr_listen(struct addr *a, bool shared, struct err *e) MUST_USE;

/* Removes the file of a listening unix socket; does nothing for other addresses. */
void addr_unlink(const struct addr *a);

/* A non-blocking socket that is being connected, close-on-exec, TCP_NODELAY; -1 with errno. */
int addr_connect(const struct addr *a) MUST_USE;

#endif
