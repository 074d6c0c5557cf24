/* SPDX-License-Identifier: Apache-2.0
 *
 * All trials of a file, from the first to the last: which is next, and what came of them.
 *
 *     references --> control --> for each policy, for each experiment: a leg
 *                                   explore ... a suspicious one --> again, again --> vary ...
 *
 * The rig asks for orders, as many at a time as it likes, carries them out and tells what came of
 * each; the agenda judges, finds what belongs together, and decides what follows. It waits for
 * nothing and knows no clock but what it is told.
 *
 * 1. Each order is told about once, by agenda_took, whatever became of it.
 * 2. A leg does not know of the others' trials, only of the references: policies can be compared.
 * 3. Trials that repeat and vary do not count as trials of a policy, and teach it nothing. */
#ifndef OUTFOX_TRIAL_AGENDA_H
#define OUTFOX_TRIAL_AGENDA_H

#include "trial/finding.h"

/* A policy with an experiment. */
struct agenda_leg {
    const struct policy_ops *policy;
    enum outfox_act act;
    uint64_t trials, injected, suspicious;
    uint64_t counts[VERDICTS]; /* trials */
    uint32_t idle;             /* trials in a row in which nothing could be done */
    bool over;
    slice why; /* it is over: in words */
};

enum agenda_answer {
    AGENDA_ORDER,
    AGENDA_WAIT, /* until something that is under way was told */
    AGENDA_OVER, /* nothing more, when all that is under way was told */
};

struct agenda;

/* `errors` as of policies; may be NULL. The file must live as long. */
struct agenda *agenda_new(const struct trials *t, policy_errors *errors, void *user);

/* The same for one trial alone, `repeats` times, after references. */
struct agenda *agenda_new_replay(const struct trials *t, const struct trial_order *point,
                                 uint32_t repeats);

/* now_ns: since the first trial, for the time limit. */
enum agenda_answer agenda_next(struct agenda *a, int64_t now_ns, struct trial_order *out);

/* Judges it; the result belongs to the agenda from then on. Operations, lines and points of those that
 * nobody looks at again are given back (trial_result_trim). */
void agenda_took(struct agenda *a, struct trial_result *r);

/* OUTFOX_RULE_NEW of an order: is this state (OUTFOX_STATE_KEY) no longer new? Fills `seen`. */
bool agenda_knows(const struct agenda *a, const struct trial_order *order, uint64_t state);

/* Stop exploring: what is under way is told, and then it is over. */
void agenda_stop(struct agenda *a, const char *why);

/* ---- what came of it, at any time ---- */

/* What trials without a fault met: what could have failed in them. */
struct agenda_met {
    uint64_t requests; /* of all of them */
    uint32_t sites, states, trials;
};

struct agenda_view {
    const struct trials *trials;
    struct trial_result *const *result; /* in the order in which they were told */
    uint32_t n_results;
    const struct agenda_leg *leg;
    uint32_t n_legs;
    const struct findings *findings;
    struct agenda_met met;
    slice stopped; /* not empty: before the end; why */
    slice sick;    /* not empty: references differ so that nothing can be said; why */
};
struct agenda_view agenda_view(const struct agenda *a);

/* Trials were made, and in none of them a fault: nothing can be concluded. */
bool agenda_made_nothing(const struct agenda_view *v);
void agenda_free(struct agenda *a);

#endif
