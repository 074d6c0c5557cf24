/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulated systems, run in memory (the language: docs/simulated-systems.md). A run is a function
 * of the system, the scenario, the plan and the seed; time is virtual. */
#ifndef OUTFOX_SIM_SIM_H
#define OUTFOX_SIM_SIM_H

#include "base/node.h"
#include "core/plan.h"
#include "core/trace.h"
#include "core/verdict.h"

struct sim;

/* Builds a system from its YAML. Names are interned in `names`, which outlives it. 0, or -1 with
 * *e. */
int sim_load(const struct node *root, struct names *names, struct sim **out,
             struct err *e) MUST_USE;
void sim_free(struct sim *sim);

const char *sim_name(const struct sim *sim);
const mode *sim_modes(const struct sim *sim, uint32_t *n);
uint32_t sim_scenarios(const struct sim *sim);
const char *sim_scenario_name(const struct sim *sim, uint32_t scenario);

/* The scenario of this name; the first when name is NULL; UINT32_MAX when there is none. */
uint32_t sim_scenario(const struct sim *sim, const char *name);

/* Does chance play a part: random, time, choose, shuffle? */
bool sim_random(const struct sim *sim);

/* How many services there are, without those outside of the system. */
uint32_t sim_services(const struct sim *sim);

/* The scenario's own request. */
uid sim_request(struct sim *sim, uint32_t scenario);

/* One run. The trace is cleared first. The body that the client received is in *body until the next
 * run (body may be NULL). -1 with *e when the run is impossible: calls nest too deeply, or there
 * are too many. */
int sim_run(struct sim *sim, uint32_t scenario, struct plan *plan, uint64_t seed,
            struct trace *trace, struct verdict *verdict, const struct node **body,
            struct err *e) MUST_USE;

#endif
