/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared file of a trial (include/outfox/abi.h): made, armed, read, removed. It is a file in memory
 * where there is one (/dev/shm), since processes that nobody has started by hand must find it by path.
 *
 * 1. All of its bytes are there from the start: a full file system is an error of share_open, and no
 *    process of the trial meets SIGBUS.
 * 2. A file says by a lock that its outfox lives. What killed ones have left is removed by the next
 *    share_clear_up.
 * 3. Beside it is a socket, where processes wink at what they do; they know by it, too, whether we live.
 * 4. What processes have written is hostile: nothing of it is believed without bounds. */
#ifndef OUTFOX_RIG_SHARE_H
#define OUTFOX_RIG_SHARE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "outfox/abi.h"

/* A program or library that is known before the trial. Arrays are the caller's, or NULL. */
struct share_module {
    uint64_t id;
    slice path;
    uint32_t sites, states, functions;
    const uint8_t *enabled; /* of each function */
    const uint8_t *muted;   /* of each site */
    const uint8_t *seen;    /* of each state of node 0, of node 1 ...: of OUTFOX_NODES */
};

struct share_spec {
    const struct share_module *modules; /* at most OUTFOX_MODULES */
    uint32_t n_modules;
    enum outfox_rule rule;
    enum outfox_act act;
    uint32_t chance;
    uint64_t key, nth, seed;
    int32_t error; /* this one alone; 0: any that is possible */
    int64_t delay_ns;
    uint64_t nodes; /* bits: may be harmed */
};

struct share;

/* dir NULL: where memory is. 0, or -1 with *e. */
int share_open(const char *dir, const struct share_spec *spec, struct share **out,
               struct err *e) MUST_USE;
const char *share_path(const struct share *s);
void share_arm(struct share *s, bool on);

/* Takes what processes have winked, so that they can go on winking. True: a fault was made. */
bool share_hear(struct share *s);

/* What is in it when all is over. Texts and items are in the arena. */
struct share_report {
    struct share_module *modules; /* in the order of the file: those of the spec first */
    uint32_t n_modules;
    struct outfox_point *points; /* whole ones alone, in the order of their keys */
    uint32_t n_points;
    uint64_t requests, lost;
    uint32_t attached, refused; /* refused: another version of the runtime; 0: none */
    bool injected;
    struct outfox_injection injection; /* its numbers are within bounds */
};
void share_read(const struct share *s, struct arena *a, struct share_report *out);

/* Unmaps and removes it. NULL is nothing. */
void share_free(struct share *s);

/* Removes what killed ones have left; how many files that were. */
uint32_t share_clear_up(const char *dir);

#endif
