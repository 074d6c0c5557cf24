/* SPDX-License-Identifier: Apache-2.0
 *
 * contract: what a scenario does when its calls fail, agreed by people and kept in a file
 * (docs/contracts.md). It judges runs in place of the scenario's expectation, remembers what was
 * seen, and says which lines are missing.
 *
 *   contract_load --> contract_learn* --> [contract_judge, contract_note]* --> contract_propose ...
 *
 * 1. Pure: no I/O, no clock. What it says does not depend on the order of the runs.
 * 2. A verdict's sentence is equal for equal reasons and lives as long as the contract. */
#ifndef OUTFOX_CONTRACT_CONTRACT_H
#define OUTFOX_CONTRACT_CONTRACT_H

#include "core/run.h"
#include "data/node.h"
#include "judge/judge.h"

struct contract;

struct contract_options {
    struct names *names;
    const struct vocabulary *words; /* what its patterns may name */
    const struct faultloads *faultloads;
    const struct judge_settings *settings; /* lives as long; NULL: nothing is said there */
    const char *scenario, *file;           /* likewise */
    uint32_t undecided, undecided_line;    /* rules with a comment `# decide`; the first of them */
    bool strict; /* the scenario says itself what must hold under faults: that stays */
};

/* From a file that was read; NULL, or null: an empty one. Texts of the node are copied. -1 with
 * line and column. */
int contract_load(const struct contract_options *options, const struct node *root,
                  struct contract **out, struct err *e) MUST_USE;
void contract_free(struct contract *c);

/* ---- runs ---- */

/* A fault-free run of the beginning: what is usual. All of them come before anything is judged. */
void contract_learn(struct contract *c, const struct run *run);

/* A later one that passed: what differs in its answer is not compared from now on. */
void contract_learn_answer(struct contract *c, const struct run *run);

/* Has a fault-free run been seen? Without one nothing is judged. */
bool contract_ready(const struct contract *c);

/* Replaces the run's verdict by what the contract says. A scenario that does not end, and a service
 * that dies, are not excused. */
void contract_judge(struct contract *c, struct run *run);

/* Remembers what a run with faults has shown. */
void contract_note(struct contract *c, const struct run *run);

/* Forgets all runs: they are made again. */
void contract_forget(struct contract *c);

/* ---- the end ---- */

/* The lines that would declare what was seen and is not declared, ready to be put under `when:`
 * (with what must stand above it, when the file has no `when`). Empty: nothing is missing. How many
 * rules they are. */
uint32_t contract_propose(struct contract *c, struct buf *out);

/* The whole file, from what was seen, as if nothing were declared. */
void contract_print(struct contract *c, struct buf *out);

/* `text` is the file that was loaded: appends it with what changed in it changed, and what was
 * missing added. False: it cannot be changed so, *e says why. */
bool contract_update(struct contract *c, slice text, struct buf *out, struct err *e);

/* Sentences about rules that were never used, and about those that hide what an oracle says; each
 * is added by `say`. complete: nothing was left untried. */
void contract_remark(struct contract *c, bool complete, const struct summary *summary,
                     void (*say)(void *ctx, const char *text), void *ctx);

/* Of all that was read: a campaign is judged by one contract from its beginning to its end. */
uint64_t contract_hash(const struct contract *c);

#endif
