/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings: suspicious trials that are one thing. Those with the same functions on the stack of the
 * fault, the same experiment, and the same heaviest symptom. Each is repeated, and varied: what of
 * it matters?
 *
 *   CONFIRM   the same request again, `repeats` times           n of m show it
 *   VARY      near requests, which other trials have seen: another state, another caller, another
 *             time, another error, another site in the same state
 *   DONE
 *
 * 1. A variation asks for points that were seen: it needs no rule of its own in programs.
 * 2. What matters: none of the variations shows it. What does not: one of them does. */
#ifndef OUTFOX_TRIAL_FINDING_H
#define OUTFOX_TRIAL_FINDING_H

#include "trial/judge.h"

enum vary_what { VARY_STATE, VARY_CALLER, VARY_NTH, VARY_ERROR, VARY_SITE, VARY_WHATS };

struct finding_variation {
    uint32_t tried, shown; /* trials in which the fault was made; of them, with the symptom */
};

struct trial_finding {
    uint32_t number; /* from 1 */
    slice title;
    enum symptom_kind symptom;
    uint64_t stack; /* hash of its functions */
    enum outfox_act act;
    const struct trial_result *first;
    VEC(const struct trial_result *) seen; /* by policies, the first among them */
    uint32_t again_tried, again_shown;
    struct finding_variation varied[VARY_WHATS];
    struct trial_order replay; /* the first one's request */
    bool done;                 /* confirmed and varied */
};

struct findings;

struct findings *findings_new(const struct trials *t, policy_errors *errors, void *user);
void findings_free(struct findings *f);

uint32_t findings_n(const struct findings *f);
const struct trial_finding *findings_at(const struct findings *f, uint32_t i);

/* Points that can be asked for: of any trial. */
void findings_learn(struct findings *f, const struct trial_result *r);

/* A suspicious trial of a policy; sets r->finding. */
void findings_add(struct findings *f, struct trial_result *r);

/* The next trial that a finding needs, but for its number; false: none does. */
bool findings_next(struct findings *f, struct trial_order *out);
void findings_took(struct findings *f, const struct trial_result *r);

/* "bsrr found it after 12 trials": the trials of a leg until the finding, 0: it did not. */
uint64_t finding_trials(const struct trial_finding *f, uint32_t leg);

/* A request as text, for the command line, and back: KEY:NTH:error:5:SEED, KEY:NTH:delay:3s:SEED,
 * KEY:NTH:short:0:SEED; KEY and SEED in hexadecimal digits. 0, or -1 with *e. */
void trial_order_print(const struct trial_order *o, struct buf *out);
int trial_order_read(slice text, struct trial_order *o, struct err *e) MUST_USE;

#endif
