/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON pointers, RFC 6901: /items/0/id. ~1 is a slash, ~0 a tilde; the empty one is the whole. */
#ifndef OUTFOX_DATA_POINTER_H
#define OUTFOX_DATA_POINTER_H

#include "data/node.h"

/* Is it one? */
bool pointer_valid(slice text);

/* Appends one step, escaped. */
void pointer_add(struct buf *path, slice key);

/* Takes the next step off *rest, a valid pointer, to *key, without its escapes. False: it had
 * ended. */
bool pointer_next(slice *rest, struct buf *key) MUST_USE;

/* The place in a list that a step means; false: none. (No zeros in front.) */
bool pointer_index(slice step, uint64_t *out) MUST_USE;

/* The value that a pointer leads to; NULL: there is none, or it is no pointer. */
const struct node *pointer_at(const struct node *from, slice pointer);

#endif
