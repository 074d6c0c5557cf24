/* SPDX-License-Identifier: Apache-2.0
 *
 * Random simulated systems that are right: whatever fails, they do what an engineer would want.
 * Every call has a timeout that is shorter than its caller's; retries wait, are few, are made only
 * of what may be repeated and never multiply; siblings are treated alike; fallbacks do not lean on
 * what failed; effects come last, or are undone when something fails after them; a failed
 * dependency is answered with 500 or 502 (INTERNAL with gRPC), never with a success that is none.
 *
 * And the same systems with one flaw, so that silence about the right ones means something.
 *
 * A system is a tree of parts: a part is a call and the handler that answers it. Equal seeds give
 * equal systems. */
#ifndef OUTFOX_TESTS_CORRECT_SYSTEM_H
#define OUTFOX_TESTS_CORRECT_SYSTEM_H

#include "base/str.h"

enum part_kind {
    PART_READ,
    PART_EFFECT,
    PART_NOTE, /* best effort: waited for, its failure does not matter */
    PART_CAST, /* not waited for */
};

/* What a handler does when one of its reads has failed for good. */
enum care { CARE_NONE, CARE_VALUE, CARE_SPARE };

enum { PARTS_MAX = 10, MODES_ALL = 6 };

struct part {
    uint32_t caller; /* the part whose handler makes the call; 0 of parts[0], the scenario's own */
    enum part_kind kind;
    uint32_t latency_ms;
    bool beside;  /* made at the same time as the read before it */
    bool checked; /* its service is asked for its health first */
    bool put;     /* an effect that may be repeated without a key */
    bool key;     /* has a key although it needs none */
    /* how its handler treats the calls it makes */
    uint32_t tries;   /* of each of them */
    bool eager;       /* tries again after any failure, where no callee does so too */
    enum care care;   /* of reads */
    bool critical;    /* but not of the first, which is what it is for */
    bool spare_value; /* when the spare has failed too: a value; else it is an error */
    uint32_t error;   /* its answer when it cannot do its work */
};

/* One way to get it wrong. FLAW(id, oracle that must see it). */
#define FLAWS_LIST                                                                                 \
    FLAW(NO_TIMEOUT, "no-timeout")                                                                 \
    FLAW(NO_DELAY, "retry-without-effect")                                                         \
    FLAW(FORWARD, "wrong-status")                                                                  \
    FLAW(NO_KEY, "duplicate-effect")                                                               \
    FLAW(NO_UNDO, "partial-effects")                                                               \
    FLAW(STORM, "retry-storm")                                                                     \
    FLAW(MULTIPLY, "retry-storm")                                                                  \
    FLAW(UNEVEN_RETRY, "uneven-retry")                                                             \
    FLAW(UNEVEN_FALLBACK, "uneven-fallback")                                                       \
    FLAW(TO_FAILED, "fallback-to-failed")                                                          \
    FLAW(INVERTED, "inverted-timeouts")                                                            \
    FLAW(SLOW, "slow-elsewhere")                                                                   \
    FLAW(HIDDEN, "hidden-error")                                                                   \
    FLAW(LOST, "lost-value")                                                                       \
    FLAW(UNCHECKED, "check-then-act")                                                              \
    FLAW(SKIPPED, "skipped-effect")                                                                \
    FLAW(UNREACHED, "fallback-unreached")                                                          \
    FLAW(WORSE, "fallback-worse")                                                                  \
    FLAW(NO_CAUSE, "failure-without-cause")                                                        \
    FLAW(LIMIT, "over-limit")

enum flaw {
#define FLAW(id, oracle) FLAW_##id,
    FLAWS_LIST
#undef FLAW
        FLAWS,
    FLAW_NONE = FLAWS
};

struct correct_system {
    uint64_t seed;
    bool grpc;
    uint32_t modes; /* bits: which of the modes it is explored with */
    uint32_t n;
    struct part parts[PARTS_MAX];
    enum flaw flaw;
    uint32_t flawed; /* the part that has it */
};

void correct_system(uint64_t seed, struct correct_system *out);

/* Can this part have the flaw? */
bool correct_system_fits(const struct correct_system *s, enum flaw flaw, uint32_t part);

/* Without a part and all below it. part > 0. */
void correct_system_without(const struct correct_system *s, uint32_t part,
                            struct correct_system *out);

/* As YAML. */
void correct_system_print(const struct correct_system *s, struct buf *out);

/* How long the scenario takes at most (unless it is flawed), and without faults. */
uint32_t correct_system_worst_ms(const struct correct_system *s);
uint32_t correct_system_usual_ms(const struct correct_system *s);

/* What it has, for whoever counts. */
bool correct_system_retries(const struct correct_system *s);
bool correct_system_effects(const struct correct_system *s);
bool correct_system_saga(const struct correct_system *s);
bool correct_system_parallel(const struct correct_system *s);
bool correct_system_cares(const struct correct_system *s, enum care care);

#endif
