/* SPDX-License-Identifier: Apache-2.0
 *
 * steer: what is done to the connections of a door of tcp://, from one moment to another: to those
 * that are open already as well as to new ones. Whoever embeds a plane has them, and the plane obeys.
 * Several may be on at once: latencies add up, the narrowest bandwidth and the smallest piece count. */
#ifndef OUTFOX_PROXY_STEER_H
#define OUTFOX_PROXY_STEER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct plane;

enum { STEERS_MAX = 32 }; /* of a door, at once */

struct steer {
    slice name;   /* for the log; lives as long as the plane */
    bool in, out; /* what clients say; what the service says */
    int64_t late_ns,
        jitter_ns;    /* bytes come so much later, and up to so much more; in their order */
    uint64_t rate;    /* bytes per second; 0: as they come */
    uint32_t slice;   /* bytes that are written at once, at most; 0: as they come */
    int64_t pause_ns; /* and so long after each */
    int64_t close_ns; /* ends are told so much later */
    uint64_t limit;   /* bytes, from now on, after which a connection is closed; 0: none */
    bool hold;        /* nothing passes; what was said goes on when it is over */
    bool reset;       /* connections are broken off, new ones too */
    bool down;        /* the same, but new ones are refused */
    /* Which connections, counted from 1, the open ones first, the oldest of them first: the nth alone;
     * each every-th. 0: all of them. */
    uint32_t nth, every;

    uint64_t struck; /* connections that met it */

    /* the plane's */
    struct steer *next;
    uint32_t bit;
    uint64_t counted; /* connections */
};

/* It is on: *s stays where it is until it is over. In the thread of the loop, and of an embedded
 * plane alone. 0, or -1: STEERS_MAX are on already, or the address cannot be given up. */
int plane_steer(struct plane *p, uint32_t proxy, struct steer *s, struct err *e) MUST_USE;

/* It is over. -1: the address cannot be listened at again. */
int plane_release(struct plane *p, uint32_t proxy, struct steer *s, struct err *e) MUST_USE;

#endif
