/* SPDX-License-Identifier: Apache-2.0
 *
 * pace: so many bytes in a second. Something is held back, and a timer lets a share of it go; what a
 * share does not use up is not saved for later. */
#ifndef OUTFOX_PROXY_PACE_INT_H
#define OUTFOX_PROXY_PACE_INT_H

#include "base/clock.h"

/* A share is at most PACE_BYTES, so that it fits into a window of HTTP/2 whatever the rate. */
enum { PACE_BYTES = 16 * 1024 };

struct pace {
    uint64_t rate;   /* bytes per second */
    uint64_t budget; /* in thousandths of bytes */
};

/* The time from one share to the next. */
static inline int64_t pace_ns(const struct pace *p)
{
    int64_t ns = (int64_t)(PACE_BYTES * SECONDS(1) / p->rate);
    return ns > MS(50) ? MS(50) : ns < MS(1) ? MS(1) : ns;
}

/* It has passed: how many of the bytes that are held go now. */
static inline size_t pace_share(struct pace *p, size_t held)
{
    uint64_t share = p->rate * (uint64_t)(pace_ns(p) / 1000) / 1000;
    p->budget += share;
    size_t n = (size_t)(p->budget / 1000);
    if (n > held)
        n = held;
    p->budget -= n * 1000;
    if (p->budget >= 1000 && p->budget > share)
        p->budget = share; /* whole bytes that nobody had are not saved up */
    return n;
}

#endif
