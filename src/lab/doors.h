/* SPDX-License-Identifier: Apache-2.0
 *
 * The doors of a run: proxies of ours, in our own process, between those that call and what they call.
 * Their loop is a guest of the lab's, so whatever comes to a door and what happens because of it is
 * one function calling another. Nothing of them is left when we end.
 *
 * Each call and connection is a line of calls.jsonl, in the run's directory. */
#ifndef OUTFOX_LAB_DOORS_H
#define OUTFOX_LAB_DOORS_H

#include "base/err.h"
#include "base/random.h"
#include "plan/plan.h"

struct doors;
struct lab;
struct plane;

/* Opens those of the plan, and adds OUTFOX_DOOR_NAME to the variables of the run; lab->doors stays
 * NULL where there are none. 0, or -1 with *e. */
int doors_open(struct lab *lab, struct err *e) MUST_USE;

/* Ends all that is said there. NULL: nothing happens. */
void doors_close(struct doors *d);

/* Doors have the numbers that they have in the plan. */
struct plane *doors_plane(struct doors *d);

/* Calls that fail. From doors_add to doors_remove it stays where it is; of several the one that was
 * added last counts. */
struct door_calls {
    const struct plan_event *event;
    struct rng dice;
    uint64_t seen, struck;
    struct door_calls *next;
};
void doors_add(struct doors *d, struct door_calls *c);
void doors_remove(struct doors *d, struct door_calls *c);

#endif
