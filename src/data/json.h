/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON bytes to nodes. Strict RFC 8259: one value with nothing but blanks around it, in UTF-8
 * without surrogates. */
#ifndef OUTFOX_DATA_JSON_H
#define OUTFOX_DATA_JSON_H

#include "data/node.h"

enum {
    JSON_DEPTH_MAX = 64,
    JSON_NODES_MAX = 1 << 20,
    JSON_BYTES_MAX = 64 << 20,
};

/* 0, or -1 when it is no JSON, a key is there twice, or a bound is passed; *out is untouched then.
 * The nodes live in the arena; numbers and strings without escapes are slices of `bytes`, which
 * must live as long. */
int node_parse_json(struct arena *a, slice bytes, const struct node **out) MUST_USE;

#endif
