/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: what the processes of a service held over the runs of a campaign, and whether it keeps
 * growing. Pure: it is given samples. What grows at first and then no more is a cache or a pool;
 * what goes up and down is work. So the least of each quarter of the samples is compared, after
 * the first of them were left out: all must grow, and the last step as much as the first. */
#ifndef OUTFOX_LIVE_USAGE_H
#define OUTFOX_LIVE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum usage_kind { USAGE_DESCRIPTORS, USAGE_MEMORY, USAGE_KINDS };

struct usage_sample {
    uint64_t run; /* after which it was taken */
    uint64_t value[USAGE_KINDS];
};

enum { USAGE_SAMPLES = 32 };

/* Zero-initialised is empty. */
struct usage {
    int64_t process; /* another one starts afresh */
    uint32_t n;
    uint64_t stride; /* runs between samples; 0 counts as 1 */
    struct usage_sample at[USAGE_SAMPLES];
};

/* Is it time for another sample? */
bool usage_due(const struct usage *u, uint64_t run);

/* One more; when there is no room, every second one is left out and they are taken half as often.
 */
void usage_add(struct usage *u, int64_t process, const struct usage_sample *sample);

/* Does it grow? *from: the sample from which on it does. jobs: runs at a time; the more there are,
 * the larger are pools of connections, and the more runs it takes to fill them. */
bool usage_grows(const struct usage *u, enum usage_kind kind, uint32_t jobs,
                 const struct usage_sample **from);

/* Has it come to hold very many descriptors in a few runs, up to the last? To be asked when the
 * system has just broken. */
bool usage_swells(const struct usage *u);

/* "12 open descriptors after run 3, 61 after run 50". */
void usage_print(enum usage_kind kind, const struct usage_sample *from,
                 const struct usage_sample *to, struct buf *out);

#endif
