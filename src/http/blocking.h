/* SPDX-License-Identifier: Apache-2.0
 *
 * Links for threads that wait (io/blocking.h): a socket with a wire on it, on either side, and calls
 * that go out on such links, which are kept.
 *
 * 1. A link is used by one thread at a time; who shares one has a lock for it.
 * 2. All links are known to their set. After block_links_end no wait begins on any of them, and
 *    those that had begun come back. */
#ifndef OUTFOX_HTTP_BLOCKING_H
#define OUTFOX_HTTP_BLOCKING_H

#include <pthread.h>
#include <stdatomic.h>

#include "http/answer.h"
#include "io/addr.h"
#include "wire/wire.h"

struct block_links {
    pthread_mutex_t lock; /* of the list, of what peers keep, and for `ending` */
    pthread_cond_t ending;
    atomic_bool ended;
    struct block_link *all;
};

struct block_link {
    int fd;
    struct wire *wire;
    struct chain out;
    struct blocks blocks;
    int64_t patience_ns;     /* that the socket is set to */
    int64_t idle_ns;         /* since when it is kept */
    struct block_link *next; /* of those that are kept */
    struct block_link *all_next, **all_self;
    struct block_links *set;
    void *user;
};

void block_links_init(struct block_links *set);
void block_links_end(struct block_links *set);
void block_links_deinit(struct block_links *set);

/* Sleeps; block_links_end wakes it. */
void block_links_sleep(struct block_links *set, int64_t ns);

/* Takes over a connected socket, whose reads and writes wait this long. */
struct block_link *block_link_new(struct block_links *set, int fd, int64_t read_ns,
                                  int64_t write_ns);
void block_link_free(struct block_link *l);

/* A client's first bytes tell the protocol, and go to a wire of that. False: nothing came of it. */
bool block_link_accept(struct block_link *l, const struct wire_events *events,
                       const struct wire_limits *limits);

/* Reads once, no longer than until the deadline (0: as long as the socket is set to). How many bytes
 * it got, 0 at the end, or -errno; -EAGAIN: it was too long. Then the wire gets that. */
ssize_t block_link_get(struct block_link *l, int64_t deadline_ns);
void block_link_feed(struct block_link *l, ssize_t got);

/* Sends all that the wire has. 0, or -errno. */
int block_link_flush(struct block_link *l);

/* Somebody to be called, and the connections to it that are kept: each carries one call at a time,
 * also those of HTTP/2. */
struct block_peer {
    struct addr addr;
    bool h2;
    struct block_link *kept; /* the last one used first */
};

void block_peer_deinit(struct block_peer *p);

/* Sends a request and waits for the answer, whose heads are put into `a`; in->kept bounds its body.
 * gRPC where the peer speaks HTTP/2: `body` becomes one message. A kept connection is looked at
 * before it is used, and a call is never sent twice: one that breaks is an outcome. */
outcome block_call(struct block_links *set, struct block_peer *p, const struct head *h, slice body,
                   int64_t deadline_ns, struct arena *a, struct collector *in);

#endif
