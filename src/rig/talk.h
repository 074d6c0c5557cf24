/* SPDX-License-Identifier: Apache-2.0
 *
 * What the built-in clients speak: an operation in words becomes a request, bytes become replies. No
 * sockets, no clock.
 *
 *     redis      SET key value        *3\r\n$3\r\nSET\r\n ...      any command of Redis (RESP 2)
 *     memcached  set key value        set key 0 0 5\r\nvalue\r\n   its text protocol
 *
 * 1. A reply is bounded in bytes, depth and items: what is larger is BROKEN, not read.
 * 2. The same bytes give the same replies, however they are cut. */
#ifndef OUTFOX_RIG_TALK_H
#define OUTFOX_RIG_TALK_H

#include "base/str.h"

enum {
    TALK_WORDS_MAX = 64,
    TALK_REPLY_MAX = 1 << 20,
    TALK_DEPTH_MAX = 8,
    TALK_ITEMS_MAX = 1 << 16, /* of one reply, at all depths */
};

enum talk_kind {
    TALK_MORE, /* it has not come as a whole */
    TALK_OK,
    TALK_ERROR,  /* the server says that it did not do it */
    TALK_BROKEN, /* this is none of the protocol: the connection is of no more use */
};

struct talk_reply {
    enum talk_kind kind;
    size_t used;  /* bytes of it; MORE and BROKEN: 0 */
    slice text;   /* what it says: of an error its text, else its first value; of the bytes */
    bool nothing; /* there is no such value */
};

struct talk {
    const char *name;
    void (*request)(const slice *words, uint32_t n, struct buf *out);
    void (*reply)(slice bytes, struct talk_reply *out);
};

extern const struct talk talks[];
extern const size_t n_talks;

/* NULL: there is none of this name. */
const struct talk *talk_find(slice name);

#endif
