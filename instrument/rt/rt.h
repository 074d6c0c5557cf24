/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime: what is linked into each instrumented program and shared library. It takes part in a trial
 * as include/outfox/abi.h says.
 *
 *   names.c      the symbols of the ABI; one runtime of the process serves all modules
 *   module.c     in each module: says at its start what records it has, and when it goes
 *   attach.c     finds the file of the trial, believes it after checks; finds the modules in it
 *   hook.c       a hit: is it a request, and is it granted?
 *   points.c     the table that counts requests
 *   subject.c    what a descriptor is, and what can happen to it
 *   inject.c     what is done, what is noted of it, the wink
 *   sys.h        system calls, without libc
 *
 * 1. No locks, no memory but its own few tables: any thread, signal handler or child may be in it.
 * 2. It ends nobody. What it cannot do it leaves, and the program runs on.
 * 3. The file is hostile: offsets are read once, held against its size, and kept here. */
#ifndef OUTFOX_RT_RT_H
#define OUTFOX_RT_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outfox/abi.h"

enum {
    RT_PARTS = 64, /* modules of a process, with those that have gone */
};

/* What is written at each hit shares no line of the cache with what is read at each hit. */
_Static_assert(offsetof(struct outfox_trial, requests) == 256, "lines of the cache");
_Static_assert(offsetof(struct outfox_trial, injection) == 320, "lines of the cache");
_Static_assert(sizeof(struct outfox_point) == 64, "lines of the cache");

/* A module of this process. Its place is kept when it goes, for it alone: so a reader that is late
 * finds addresses that nobody has, and never the tables of another one. */
struct rt_part {
    uint64_t id;
    const struct outfox_site *sites, *sites_end; /* NULL: it has gone */
    const struct outfox_state *states, *states_end;
    uintptr_t code, code_end, bias;
    const uint8_t *muted; /* in the file; NULL: none is */
    uint8_t *seen;        /* likewise, of this node; NULL: not kept */
    uint16_t module;      /* in the file */
};

/* What this process knows of the trial; it does not change after the start but by new parts. */
struct rt_self {
    bool has_tried;             /* to take part */
    struct outfox_trial *trial; /* NULL: it takes no part */
    uint64_t bytes;             /* of it */
    struct outfox_point *points;
    uint32_t points_mask;
    uint32_t node;
    int filters; /* for system calls, at the start: prctl(PR_GET_SECCOMP) */
    uint32_t n_parts;
    struct rt_part part[RT_PARTS];
};
extern struct rt_self rt_self;

/* The symbols of the ABI stand for these. */
int rt_hook(const struct outfox_site *site, long subject, unsigned long *count, const void *caller,
            long *value);
void rt_module(const struct outfox_part *part);
void rt_gone(const struct outfox_part *part);

/* ---- points ---- */

/* The point of the same place, or NULL: it is not in the table. */
struct outfox_point *rt_point_find(const struct outfox_point *like);
/* The same, entered if need be; NULL: no place is left. */
struct outfox_point *rt_point_enter(const struct outfox_point *like);

/* ---- subjects ---- */

struct rt_subject {
    uint32_t where; /* outfox_where; 0: no descriptor, or not known */
    int fd;         /* -1: none */
    bool waits;     /* not known to return at once whatever happens */
};

/* Whether the trial wants the nth of its errors, on such a subject. */
bool rt_error_fits(const struct outfox_site *site, unsigned n, const struct rt_subject *s);
/* Which of `acts` are possible at the site now. Strictly: whatever could make a fault there one that no
 * system shows counts against it. Not quiet nodes: with up to three system calls; strictly, with more. */
uint32_t rt_possible(const struct outfox_site *site, long subject, const unsigned long *count,
                     uint32_t acts, bool strictly, struct rt_subject *out);
/* Whether rt_possible has to ask the system. */
bool rt_must_ask(const struct outfox_site *site, uint32_t acts);
/* Whether this thread may make system calls that the program does not make itself. */
bool rt_may_ask(void);

/* ---- injections ---- */

struct rt_request {
    const struct outfox_site *site;
    const struct outfox_point *place; /* its key, and what that is of */
    uint32_t nth;                     /* of the point, from 1 */
    uint64_t request;                 /* of all, from 1; 0: not counted */
    long subject;
    unsigned long *count;
    const void *frame; /* of the hook: [0] the frame before it, [1] where it returns to */
    const void *caller;
    uint8_t *seen; /* to be set when it is claimed; or NULL */
};

/* Does `act` if nobody was faster. As the hook: 0, or 1 and *value. */
int rt_inject(const struct rt_request *r, uint32_t acts, long *value);
void rt_wink(uint32_t kind);

/* The module of an address of code; NULL: none that we know. */
const struct rt_part *rt_part_of_code(const void *address);

/* A number that depends on the seed, the point and which of its requests it is: not on what other threads
 * do at the same time. */
static inline uint64_t rt_random(uint64_t key, uint32_t nth, uint64_t what)
{
    uint64_t h = outfox_mix(outfox_mix(rt_self.trial->seed, key), nth);
    h = outfox_mix(outfox_mix(h, what), 0x6f7574666f78ull);
    return h ^ h >> 32;
}

#endif
