/* SPDX-License-Identifier: Apache-2.0
 *
 * How rules are proposed and written: for contract_propose.c and contract_update.c. */
#ifndef OUTFOX_CONTRACT_CONTRACT_PROPOSE_INT_H
#define OUTFOX_CONTRACT_CONTRACT_PROPOSE_INT_H

#include "contract/contract_parts_int.h"

/* Appends rules for what was seen and is not declared; changed: also for what is not as declared.
 */
void propose_rules(struct contract *c, bool changed);
void rules_truncate(struct contract *c, uint32_t n);

/* Is it as the rules say? *composed (may be NULL): no rule speaks of it by itself. */
bool seen_holds(struct contract *c, const struct seen *s, bool *composed);

/* kind: a comment says what kind of dependency it is. */
void rule_print(const struct contract *c, const struct contract_rule *r, uint32_t indent, bool kind,
                struct buf *out);
void head_print(const struct contract *c, struct buf *out);

#endif
