/* SPDX-License-Identifier: Apache-2.0
 *
 * What follows from the parts of a correct system: for correct_system.c and correct_print.c. */
#ifndef OUTFOX_TESTS_CORRECT_SYSTEM_INT_H
#define OUTFOX_TESTS_CORRECT_SYSTEM_INT_H

#include "support/correct_system.h"

enum { READS = 1 << PART_READ, EFFECTS = 1 << PART_EFFECT, WORK = READS | EFFECTS, ALL = 15 };
enum { DELAY_MS = 20, STORM_TRIES = 9 };

/* How many calls of these kinds (1 << enum part_kind) the handler of part i makes. */
uint32_t part_calls(const struct correct_system *s, uint32_t i, uint32_t kinds);

/* A read or an effect: may make calls itself. */
bool part_works(const struct correct_system *s, uint32_t i);

bool part_flawed(const struct correct_system *s, enum flaw flaw, uint32_t i);

/* How often a call is made at most, by the policy of who makes it. */
uint32_t part_tries(const struct correct_system *s, uint32_t j);

/* Whoever the handler of i asks makes no calls in turn: it may try again whatever happened. */
bool part_asks_leaves(const struct correct_system *s, uint32_t i);

/* What its caller does when this read has failed for good. */
enum care part_care(const struct correct_system *s, uint32_t j);

/* Is a read made together with the one before it? */
bool part_beside(const struct correct_system *s, uint32_t j);
bool part_checked(const struct correct_system *s, uint32_t j);
bool part_has_key(const struct correct_system *s, uint32_t j);

/* Does a failure of this call make its caller answer with an error? */
bool part_hard(const struct correct_system *s, uint32_t j);

/* Does the handler of i undo its effects when it fails? One that makes a single effect, which is
 * not made of others, has nothing to undo. */
bool part_undoes(const struct correct_system *s, uint32_t i);

/* Of the call, of undoing it, and of what makes no calls: its spare, its health. */
uint32_t part_timeout_ms(const struct correct_system *s, uint32_t j);
uint32_t part_undo_timeout_ms(const struct correct_system *s, uint32_t j);
uint32_t part_leaf_timeout_ms(const struct correct_system *s, uint32_t j);

#endif
