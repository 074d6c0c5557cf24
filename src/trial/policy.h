/* SPDX-License-Identifier: Apache-2.0
 *
 * Which fault is made next: policies, a row each. A policy says what a trial is to be asked for (a
 * rule of the shared file) before it, and is told after it which requests there were and which was
 * granted. It never sees a request while it happens: processes decide by the rule alone.
 *
 *   exhaustive  each point with each of its errors once: its first request; points in the order in
 *               which they were seen first
 *   random      one request out of all that an earlier trial had, each as likely as the other
 *   new-state   the first request in a state in which no fault was made yet
 *   bsrr        budgeted state round robin (Legolas, NSDI 24, section 4.3): a state in focus, each of
 *               its requests with a chance that makes the whole trial idle in 1 of 100
 *   point       one request, as given: replays
 *
 * 1. Deterministic: equal seeds and equal trials, told in equal order, give equal orders.
 * 2. Of several trials at a time, `next` may be asked before all earlier ones were told; a policy
 *    then goes by what it knows.
 * 3. Reference trials are told too: they are what policies know first. Without any, the first trial
 *    is one without a fault.
 * 4. Modules have one number each in all trials, which the rig keeps: keys of points and of states
 *    mean the same from trial to trial. */
#ifndef OUTFOX_TRIAL_POLICY_H
#define OUTFOX_TRIAL_POLICY_H

#include "base/random.h"
#include "trial/trial.h"

/* Why there is a trial. */
enum trial_purpose {
    TRIAL_REFERENCE, /* no fault: what is usual */
    TRIAL_CONTROL,   /* no fault, judged as if there were one */
    TRIAL_EXPLORE,   /* a policy wants it */
    TRIAL_AGAIN,     /* what was suspicious, once more */
    TRIAL_VARY,      /* near to it: what of it matters? */
    TRIAL_REPLAY,    /* somebody wants it */
    TRIAL_PURPOSES
};

/* What a trial is asked for: goes to the shared file, field by field. */
struct trial_order {
    uint32_t number; /* of the trial, from 1 */
    enum trial_purpose purpose;
    uint32_t leg;     /* which policy and experiment (agenda.h); UINT32_MAX: none */
    uint64_t in_leg;  /* EXPLORE: the how manieth of its leg, from 1 */
    uint32_t finding; /* AGAIN, VARY: of which finding; else UINT32_MAX */
    uint32_t vary;    /* VARY: what of it, enum vary_what (finding.h) */
    enum outfox_rule rule;
    enum outfox_act act;
    uint32_t chance; /* of 2^32 */
    uint64_t key, nth, seed;
    uint64_t nodes; /* bits: that may be harmed */
    int32_t error;  /* this one alone; 0: any that is possible, by the seed */
    int64_t delay_ns;
};

/* What a policy learns of a trial when it is over. */
struct trial_seen {
    const struct outfox_point *point; /* `requests`: of this trial */
    uint32_t n_points;
    uint64_t requests;                        /* of all points, and those that were lost */
    const struct outfox_injection *injection; /* NULL: nothing was made */
};

/* The errors that are possible at a site; how many. What exhaustive goes through. */
typedef uint32_t policy_errors(void *user, uint32_t module, uint32_t site,
                               int errors[OUTFOX_ERRORS]);

struct policy_setup {
    uint64_t seed;
    enum outfox_act act;
    int64_t delay_ns;
    uint64_t nodes;
    uint32_t budget;
    double epsilon;
    bool total; /* bsrr: c is of all trials together, as Algorithm 2 reads by the letter */
    struct trial_order point; /* of `point` */
    policy_errors *errors;    /* NULL: one trial for each point, with whichever error */
    void *user;
};

struct trial_policy;

struct policy_ops {
    const char *name;
    const char *doc;
    size_t bytes; /* of its own struct, which begins with struct trial_policy */
    /* Fills rule, key, nth, chance, error of an order that has all else. False: it has nothing left
     * to try, and will not have unless it is told of more. */
    bool (*next)(struct trial_policy *p, struct trial_order *order);
    void (*took)(struct trial_policy *p, const struct trial_order *order,
                 const struct trial_seen *seen);
    /* OUTFOX_RULE_NEW: is this state no longer new? NULL: the policy does not use that rule. */
    bool (*knows)(const struct trial_policy *p, uint64_t state);
    void (*deinit)(struct trial_policy *p);
};

struct trial_policy {
    const struct policy_ops *ops;
    struct policy_setup setup;
    struct rng rng;
};

extern const struct policy_ops *const policies[]; /* up to NULL */
const struct policy_ops *policy_find(slice name); /* NULL: there is none */

struct trial_policy *policy_new(const struct policy_ops *ops, const struct policy_setup *setup);
void policy_free(struct trial_policy *p);

bool policy_next(struct trial_policy *p, struct trial_order *order);
void policy_took(struct trial_policy *p, const struct trial_order *order,
                 const struct trial_seen *seen);
bool policy_knows(const struct trial_policy *p, uint64_t state);

/* The state of a point: the key of OUTFOX_RULE_STATE. Requests in no state are of one more. */
static inline uint64_t policy_state(const struct outfox_point *p)
{
    return OUTFOX_STATE_KEY(p->node, p->state_module, p->state);
}

/* The chance with which one of c requests is granted so that all of c + 1 are refused in a share of
 * epsilon of the trials: 1 - e^(ln epsilon / (c + 1)). */
double policy_chance(double epsilon, double c);

#endif
