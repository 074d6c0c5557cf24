/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans out of a plan: which faults could happen to its system, and when. What was seen in the runs
 * without faults goes in (sights: lines, events, calls), candidates come out: events that make the
 * plan another plan.
 *
 *   each fault x each node x each time slot      \
 *   each fault x each sight as its trigger        >  candidates --run--> new sights --> candidates
 *   what others derive (own commands)            /         `--> pairs of those that held
 *
 * Pure: the caller runs them. What `explore` of the plan says is the bound of it all.
 *
 * 1. No candidate comes twice: events that are written the same are the same.
 * 2. A candidate of several faults is tried only where each of its parts held: what it breaks, it
 *    breaks together.
 * 3. The same sights in the same order give the same candidates in the same order. */
#ifndef OUTFOX_PLAN_DERIVE_H
#define OUTFOX_PLAN_DERIVE_H

#include "plan/plan.h"

enum { DERIVE_SIGHTS_MAX = 2000, DERIVE_CANDIDATES_MAX = 20000 };

enum sight_kind { SIGHT_LINE, SIGHT_EVENT, SIGHT_SPAN, SIGHT_CALL };

/* Something that happened in a run and could be a trigger. */
struct sight {
    enum sight_kind kind;
    int32_t node, client; /* who printed it; the other one is PLAN_NONE. Of a call: who is called */
    slice text;   /* the line; the name of the event; "SERVICE NAME" of a span; the interface */
    slice value;  /* of an event: a node's name, or whatever it was; of a call: the door */
    uint32_t nth; /* of a call: which one of its kind, from 1 */
};

struct candidate {
    const struct node *events; /* a list of maps, as in a plan */
    uint32_t faults;           /* how many */
    slice why;                 /* where it comes from: "slot 2 of 4", "after db1 printed ..." */
};

struct derive;

/* Are the faults that `explore` names such as an event can have? 0, or -1 with *e. */
int derive_check(const struct plan *p, struct err *e) MUST_USE;

/* The plan must live as long. */
struct derive *derive_new(const struct plan *p);
void derive_free(struct derive *d);

/* Seen while the faults of a candidate were on (NULL: without any). True: it is new. */
bool derive_see(struct derive *d, const struct candidate *during, const struct sight *s);

/* What somebody else derived: a JSON list of lists of events. 0, or -1 with *e. */
int derive_take(struct derive *d, slice json, const char *who, struct err *e) MUST_USE;

/* The next one to run; NULL: there is none, for now. It lives as long as `d`. */
const struct candidate *derive_next(struct derive *d);

/* It was run, and all that is expected held. */
void derive_held(struct derive *d, const struct candidate *c);

/* How many sights there were; how many candidates there are, with those that were run; whether there
 * were more than are kept. */
struct derive_count {
    uint32_t sights, candidates;
    bool left_out;
};
struct derive_count derive_count(const struct derive *d);

#endif
