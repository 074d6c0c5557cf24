/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of track/: track.c (runs, and what happens to their calls), name.c (names, and
 * learning about payloads). */
#ifndef OUTFOX_TRACK_TRACK_INT_H
#define OUTFOX_TRACK_TRACK_INT_H

#include "track/track.h"

enum { SLOTS_MAX = 64, ENDED_KEPT = 4096 };

/* What is known of a call besides its record. */
struct track_call {
    uint32_t service; /* that was called; CALLER_CLIENT: a command */
    sym interface;
    uint32_t payload;           /* its hash, where it is part of the name */
    uint32_t first, last, next; /* calls made on behalf of it; the next of its parent; CALL_NONE */
    bool open;
    struct payload fields; /* of a learning run */
};

/* A trace with what is needed to name its calls. */
struct track_calls {
    struct trace trace;
    VEC(struct track_call) calls;
};

struct track_run {
    uint64_t key;
    uint64_t secret;
    struct trace_id id;
    uint32_t slot;
    struct aim *aim;
    struct lessons *lessons; /* held */
    bool learning;
    struct track_calls all;
    uint32_t n_open;
    uint32_t blocks; /* that are open: nothing is injected */
    bool answered;
    bool cutting; /* what ends now is broken off by us */
    int64_t start_ns, active_ns, answered_ns, late_ns;
};

struct track_lesson {
    struct track_calls all;
};

struct ignore {
    struct pattern calls;
    uint64_t hits;
};

struct tracker {
    struct track_options opt;
    struct arena arena;
    sym *service; /* symbols of their names */
    sym client;
    struct track_run *slot[SLOTS_MAX];
    uint32_t n_slots; /* that were ever used */
    uint32_t n_runs;  /* under way */
    uint64_t n_begun;
    struct {
        uint64_t key;
        int64_t answered_ns;
        struct lessons *lessons; /* held */
    } ended[ENDED_KEPT];         /* runs that ended, the newest ones */
    uint64_t n_ended;
    VEC(struct ignore) ignore; /* the first is ours */
};

/* ---- name.c ---- */

/* Identifies an interface of a service, for payloads. */
uint64_t interface_key(const struct tracker *t, uint32_t service, slice interface);

/* The name of a call that is being made. */
uid name_call(const struct tracker *t, const struct track_calls *all, uint32_t parent,
              const struct track_call *call, int64_t start_ns);

/* Hangs call i below its parent. */
void calls_link(struct track_calls *all, uint32_t i);
void calls_deinit(struct track_calls *all);

#endif
