/* SPDX-License-Identifier: Apache-2.0
 *
 * The name server of a plan's own network: it knows the members by their names, and some of its
 * answers are faults. Pure: packets go in and come out; the network (lan.h) carries them.
 *
 *   question of a member --> the first rule that is about it: nothing, an error, or late
 *                       `--> NAME or NAME.lan: its address; all else is not there (NXDOMAIN)
 *
 * Addresses of IPv4 (A) alone: whoever asks for others of a known name gets none, and no error. */
#ifndef OUTFOX_LAB_RESOLVER_H
#define OUTFOX_LAB_RESOLVER_H

#include "lab/cable.h"

enum { RESOLVER_PORT = 53, RESOLVER_PACKET_MAX = 512 };

enum resolver_answer {
    RESOLVER_TRUE,
    RESOLVER_NONE,
    RESOLVER_NXDOMAIN,
    RESOLVER_SERVFAIL,
    RESOLVER_REFUSED
};

/* A fault of lookups. */
struct resolver_rule {
    uint32_t id;
    struct cable_set members; /* who asks */
    slice names;              /* a pattern with *; empty: whatever they ask for */
    enum resolver_answer answer;
    int64_t latency_ns; /* and so much later */
    uint64_t struck;    /* questions that it met */
};

struct resolver {
    const slice *names; /* of the members; their addresses are network + 1, ... */
    uint32_t n, network;
    VEC(struct resolver_rule) rules;
    uint32_t next_id;
};

/* Its id. `id` and `struck` of the argument are not looked at; `names` of it lives as long. */
uint32_t resolver_add(struct resolver *r, const struct resolver_rule *rule);
uint64_t resolver_struck(const struct resolver *r, uint32_t id);
void resolver_remove(struct resolver *r, uint32_t id);
void resolver_deinit(struct resolver *r);

/* Is the packet a question for a name server? */
bool resolver_is_asked(const uint8_t *packet, size_t n);

/* The packet that answers such a one, *late_ns from now; 0: nothing answers it. */
size_t resolver_answer(struct resolver *r, uint32_t member, const uint8_t *packet, size_t n,
                       uint8_t answer[static RESOLVER_PACKET_MAX], int64_t *late_ns);

#endif
