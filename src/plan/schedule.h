/* SPDX-License-Identifier: Apache-2.0
 *
 * When faults begin and end: what happens goes in, what is to be done comes out. Pure: the caller
 * has the clock, and carries out what is due.
 *
 *   waiting --(trigger: nth time, chance)--> due --(delay)--> BEGIN --> on --(duration, until)--> END --> over
 *
 * 1. An event fires at most once in a run.
 * 2. Actions that are due together come in the order of their moments, then of the plan.
 * 3. The same inputs give the same actions: dice are the seed's, one die per event and purpose,
 *    whatever the order in which events fire. */
#ifndef OUTFOX_PLAN_SCHEDULE_H
#define OUTFOX_PLAN_SCHEDULE_H

#include "plan/plan.h"

enum schedule_act { SCHEDULE_BEGIN, SCHEDULE_END };

struct schedule_action {
    enum schedule_act act;
    uint32_t event;
    int64_t due_ns;
    int32_t trigger_node; /* on which its trigger fired; PLAN_NONE: on none */
};

struct schedule;

struct schedule *schedule_new(const struct plan *p, uint64_t seed);
void schedule_free(struct schedule *s);

/* ---- what happens. Moments never go back. ---- */

/* The clock of triggers starts, at 0. */
void schedule_start(struct schedule *s);
/* node, client: who printed it; the other one is PLAN_NONE. */
void schedule_line(struct schedule *s, int64_t now_ns, int32_t node, int32_t client, slice text);
void schedule_event(struct schedule *s, int64_t now_ns, int32_t client, slice name, slice value);

/* A sample of a metric, of whom (node: which one that is, or PLAN_NONE), with its value before; no
 * number: it is the first one. */
void schedule_metric(struct schedule *s, int64_t now_ns, int32_t node, slice metric, slice of,
                     double value, double before);
/* A service tells of a call: "SERVICE NAME". node: that which has the name of the service. */
void schedule_span(struct schedule *s, int64_t now_ns, int32_t node, slice span);
/* A call of this interface arrives at a door; somebody connects to one. */
void schedule_call(struct schedule *s, int64_t now_ns, uint32_t door, slice interface);
void schedule_connection(struct schedule *s, int64_t now_ns, uint32_t door);

/* Somebody fires an event by hand. False: it does not wait for that any more. */
bool schedule_fire(struct schedule *s, int64_t now_ns, uint32_t event) MUST_USE;
bool schedule_waits(const struct schedule *s, uint32_t event);

/* An action was carried out; or it could not be. */
void schedule_began(struct schedule *s, int64_t now_ns, uint32_t event);
void schedule_ended(struct schedule *s, int64_t now_ns, uint32_t event);
void schedule_failed(struct schedule *s, uint32_t event);

/* ---- what is to be done ---- */

/* The next action that is due; false: none is, yet. Each is given once. */
bool schedule_take(struct schedule *s, int64_t now_ns, struct schedule_action *out) MUST_USE;

/* When the next action is due; INT64_MAX: not before something else happens. */
int64_t schedule_next_ns(const struct schedule *s);

/* The nodes that an event is aimed at. `role`: who has the role of the target now. *out is emptied
 * first. */
struct schedule_nodes {
    uint32_t *at;
    uint32_t n, cap;
};
void schedule_aim(const struct schedule *s, const struct schedule_action *a, int32_t role,
                  struct schedule_nodes *out);

/* The members on the other side of a link fault of this event, where it is aimed at these nodes and
 * `node` is one of them. *out is emptied first. */
void schedule_from(const struct schedule *s, uint32_t event, const struct schedule_nodes *aim,
                   uint32_t node, struct schedule_nodes *out);

#endif
