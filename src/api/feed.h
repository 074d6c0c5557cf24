/* SPDX-License-Identifier: Apache-2.0
 *
 * feed: what happens, as server-sent events to many readers.
 *
 *     feed_event --> ring: the last events that somebody wants, as text, each with its number
 *                      ^
 *     reader: where it is in the ring; gets a piece when its turn comes and it has taken the last
 *
 * 1. A reader has no queue of its own: it has a place in the ring, and one piece under way. Who is so
 *    slow that the ring has moved on past something that it wants is told so (`reset`) and goes on
 *    with what is new. Who takes nothing for long is cut off by the server.
 * 2. Readers take turns, so many per turn, a turn every 100 ms: 1,000 readers cost no more than 64.
 * 3. What no reader wants is not formatted. For a while after the last one left it is, so that who
 *    lost the connection catches up (Last-Event-ID). Of each type it is known which one was the last
 *    that is not in the ring: so it is known who missed something.
 * 4. `state` is not in the ring: a reader gets the newest one, at most two a second. It carries the
 *    number of the last event before it, so that who takes little else catches up as well.
 * 5. Numbers go on from process to process: they begin with the microseconds that the machine is up,
 *    so an old one is never taken for a new one. */
#ifndef OUTFOX_API_FEED_H
#define OUTFOX_API_FEED_H

#include "core/event.h"
#include "http/server.h"
#include "io/loop.h"

enum { FEED_STATE = EVENT_TYPES, FEED_REPLAY, FEED_TYPES };
enum { FEED_RING = 4096, FEED_RING_BYTES = 8 << 20 };

struct feed_reader;

struct feed {
    struct loop *loop;
    void *ctx;
    void (*print_state)(void *ctx, struct buf *out);
    uint32_t most, n; /* readers */
    struct feed_reader *first, *last;
    uint32_t wanted;              /* types that a reader wants: 1 << type */
    uint64_t next;                /* number of the event that comes */
    uint64_t dropped[FEED_TYPES]; /* the last number of each type that is not in the ring */
    uint64_t begin, end;          /* places in the ring: of the first, and behind the last */
    struct feed_entry {
        uint64_t number;
        uint32_t type;
        struct buf text;
    } ring[FEED_RING];
    size_t bytes; /* of all texts in it */
    struct buf state, piece;
    uint64_t state_version, printed; /* of the state; of what is in `state` */
    struct timer tick;
    int64_t ping_ns;  /* a reader that gets nothing else gets a comment so often */
    int64_t turn_ns;  /* of the last turn */
    int64_t until_ns; /* nobody reads: events are kept until then */
};

void feed_init(struct feed *f, struct loop *loop, uint32_t most, uint64_t first,
               void (*print_state)(void *ctx, struct buf *out), void *ctx);

/* Its readers are gone already. */
void feed_deinit(struct feed *f);

void feed_event(struct feed *f, const struct event *event, const struct names *names,
                const struct faultloads *fl);
void feed_replay(struct feed *f, uint64_t id);

/* The state is another one. */
void feed_changed(struct feed *f);

/* Which types a list with commas names; p NULL: all. 0: one of them is none, and *e says which. */
uint32_t feed_types(slice list, struct err *e);

/* Answers with events from now on; after the one with this number (Last-Event-ID; p NULL: none).
 * There is room for one more reader: n < most. */
void feed_open(struct feed *f, struct server_request *q, uint32_t types, slice after);

/* Sends what is there, for the last time. */
void feed_flush(struct feed *f);

#endif
