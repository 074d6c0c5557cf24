/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a trial suspicious? What was seen is held against what is usual, learned from trials without
 * faults; what differs is a symptom; a table of rulings says what each symptom means.
 *
 *   checker    symptoms                                  from
 *   crash      crash, exit, exit-other, not-back, hung   ends of nodes, and starting them again
 *   client     others-fail, alive-fails, subset,         operations by node: differential
 *              nobody, lasts, failures, slow             observability (Legolas, section 5.3)
 *   log        log                                       lines, without numbers and addresses
 *   invariant  invariant                                 people's own commands
 *   resources  threads, descriptors                      what nodes have at the end
 *
 * 1. A trial without a fault is judged by the same rules: a suspicious one is a mistake of ours, or a
 *    system that is sick without us. */
#ifndef OUTFOX_TRIAL_JUDGE_H
#define OUTFOX_TRIAL_JUDGE_H

#include "trial/result.h"

/* What is usual. */
struct usual;

struct usual *usual_new(const struct trials *t);
void usual_learn(struct usual *u, const struct trial_result *r);
void usual_free(struct usual *u);

/* Why trials without faults say nothing: in words; empty: they do. To be asked when all references
 * were learned. */
slice usual_sick(const struct usual *u);

/* Fills symptoms, verdict and reason of a result. Pure but for that. */
void trial_judge(const struct trials *t, const struct usual *u, struct trial_result *r);

/* For docs and tests: the table of rulings, a row each. False: there is no such row. */
struct ruling_row {
    enum symptom_kind kind;
    bool suspicious;
    const char *when, *why;
};
bool trial_ruling(uint32_t row, struct ruling_row *out);

#endif
