/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to packets on their way from one member of a network to another. Pure: the caller has
 * the clock, the packets and the ways to send them (lan.h).
 *
 *   packet --> rules that are on --> dropped
 *                               `--> answered by resets, both ways
 *                               `--> sent on, now or later
 *
 * 1. Packets of one member to another one never overtake each other.
 * 2. Rules of one group are one fault: a packet suffers it once.
 * 3. The same packets at the same moments, with the same seed, have the same fate. */
#ifndef OUTFOX_LAB_CABLE_H
#define OUTFOX_LAB_CABLE_H

#include "base/random.h"
#include "base/str.h"
#include "base/vec.h"

enum { CABLE_MEMBERS_MAX = 256, CABLE_RESET_BYTES = 40 };

struct cable_set {
    uint64_t bits[CABLE_MEMBERS_MAX / 64];
};

static inline void cable_set_add(struct cable_set *s, uint32_t member)
{
    s->bits[member / 64] |= UINT64_C(1) << (member % 64);
}

static inline bool cable_set_has(const struct cable_set *s, uint32_t member)
{
    return s->bits[member / 64] >> (member % 64) & 1;
}

enum cable_deed { CABLE_DROP, CABLE_RESET, CABLE_WORSEN };

/* A fault of the links between a member and others. */
struct cable_rule {
    uint32_t id, group;
    uint32_t member;
    struct cable_set others;
    bool out, in; /* which of the member's packets */
    enum cable_deed deed;
    int64_t latency_ns, jitter_ns; /* WORSEN */
    double loss;
    uint64_t bandwidth; /* bytes per second, each way; 0: any */
    int64_t free_ns[2]; /* when what was sent before is through: out, in */
    uint64_t struck;    /* packets that it touched */
};

struct cable {
    uint32_t n; /* members */
    struct rng rng;
    VEC(struct cable_rule) rules;
    int64_t *last_ns; /* [from * n + to]: when the last packet arrives */
    uint32_t next_id;
};

void cable_init(struct cable *w, uint32_t members, uint64_t seed);
void cable_deinit(struct cable *w);

/* Its id. `id`, `free_ns` and `struck` of the argument are not looked at. */
uint32_t cable_add(struct cable *w, const struct cable_rule *rule);

/* How many packets it touched. */
uint64_t cable_struck(const struct cable *w, uint32_t id);
void cable_remove(struct cable *w, uint32_t id);

enum cable_fate { CABLE_SENT, CABLE_LOST, CABLE_RESETS };

/* What becomes of a packet of so many bytes; CABLE_SENT: it arrives at *at_ns. */
enum cable_fate cable_decide(struct cable *w, uint32_t from, uint32_t to, size_t bytes,
                             int64_t now_ns, int64_t *at_ns);

/* The address to which a packet goes, as a number; 0: it is no packet of IPv4, or damaged. */
uint32_t cable_destination(const uint8_t *packet, size_t n);

/* The TCP resets with which a packet is answered as if each side had said it to the other: to its
 * sender, and to its receiver. false: it is no TCP, or a reset itself, or a later fragment. */
bool cable_resets(const uint8_t *packet, size_t n, uint8_t to_sender[static CABLE_RESET_BYTES],
                  uint8_t to_receiver[static CABLE_RESET_BYTES]) MUST_USE;

#endif
