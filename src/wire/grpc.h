/* SPDX-License-Identifier: Apache-2.0
 *
 * What gRPC adds to HTTP/2: how to tell a call, its length-prefixed messages, its timeouts, its
 * status in trailers. */
#ifndef OUTFOX_WIRE_GRPC_H
#define OUTFOX_WIRE_GRPC_H

#include "wire/wire.h"

enum { GRPC_PREFIX = 5 };

/* A request whose content type is application/grpc, also with +proto, +json ... or ;parameters.
 * gRPC-Web is not. */
bool grpc_is_call(const struct head *h);

/* `package.Service/Method` of the path `/package.Service/Method`. */
slice grpc_interface(slice target);

/* The gRPC code for an HTTP status that a proxy answers in place of a service: 500 INTERNAL ->
 * 2, 502 -> 13, 503 -> 14, 504 -> 4, others as the gRPC specification maps them. */
uint32_t grpc_of_status(uint32_t status);

/* The code of a head or trailers: grpc-status, 0 to 16; -1 when there is none or it is no number.
 */
int grpc_status(const struct head *h);

/* Appends text percent-encoded as grpc-message wants it. */
void grpc_message_encode(slice text, struct buf *out);

/* Counts length-prefixed messages in a stream of bytes. Zero-initialised is ready. */
struct grpc_framing {
    uint32_t have;     /* bytes of the prefix */
    uint32_t left;     /* bytes of the message still to come */
    uint32_t prefix;   /* the length, as far as it was read */
    uint64_t messages; /* complete ones */
};

/* Takes bytes up to the end of the next message, or all; returns how many were taken. */
size_t grpc_feed(struct grpc_framing *f, slice bytes);

/* Writes the prefix of an uncompressed message of n bytes. */
void grpc_prefix(uint32_t n, char to[GRPC_PREFIX]);

#endif
