/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of a call: its method and path, with what differs from request to request taken
 * out. Segments of digits become [id], UUIDs [uuid]; then the user's rules apply in their order.
 * The query string is left out. Blanks and control bytes become %XX, and a path behind a method
 * starts with a slash, so that an interface is one or two words, and read back as what it is. */
#ifndef OUTFOX_CORE_INTERFACE_H
#define OUTFOX_CORE_INTERFACE_H

#include "base/err.h"
#include "base/str.h"

struct rewrite; /* the user's rules */

struct rewrite *rewrite_new(void);
void rewrite_free(struct rewrite *rw);

/* Adds "REGEX -> TEXT": every match of the POSIX extended expression in the path becomes TEXT. */
int rewrite_add(struct rewrite *rw, slice rule, struct err *e) MUST_USE;

/* Appends `METHOD /normalised/path`, or the path alone when method is empty (gRPC). rules may be
 * NULL. */
void interface_make(slice method, slice path, const struct rewrite *rules, struct buf *out);

/* Appends an interface that somebody wrote as those of calls are: `METHOD /items/7` becomes `METHOD
 * /items/[id]`. `*` stands for any method, any path and, in a path, for any part of it: what stands
 * before the segment with the first `*` is normalised whole, of the rest the segments are. A path
 * without a method is one of any method; other words are names of gRPC. */
void interface_read(slice text, const struct rewrite *rules, struct buf *out);

#endif
