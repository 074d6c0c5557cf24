/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of payloads share. */
#ifndef OUTFOX_TRACK_PAYLOAD_INT_H
#define OUTFOX_TRACK_PAYLOAD_INT_H

#include "base/hash.h"
#include "base/look.h"
#include "track/payload.h"

enum { PAYLOAD_BYTES_MAX = 1 << 20 }; /* a larger body is not looked into */

/* Leaves as they are found, in any order and number. */
struct leaves {
    VEC(struct payload_field) list;
    struct map seen; /* hash of a place -> how often it was there: repeated fields have indexes */
    int64_t now_ns;
    bool target; /* they are of a target */
};

/* Where a leaf is: below `path`, by a key or by a number. */
static inline uint64_t path_key(uint64_t path, slice key)
{
    return hash_mix(path, hash_slice(key));
}

static inline uint64_t path_index(uint64_t path, uint64_t index)
{
    return hash_mix(path ^ 0x5b5d5b5d5b5d5b5du, index);
}

void leaves_add_text(struct leaves *l, uint64_t path, slice text);
void leaves_add_integer(struct leaves *l, uint64_t path, int64_t number);
void leaves_add_bytes(struct leaves *l, uint64_t path, slice bytes);

/* Something without a value of its own: true, null, an empty list ... */
void leaves_add_word(struct leaves *l, uint64_t path, const char *word);

/* payload_proto.c: messages of protobuf, with or without the prefixes of gRPC. False: it is none,
 * and some leaves may have been added. */
bool proto_read(struct leaves *l, slice body);

#endif
