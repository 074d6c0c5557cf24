/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulated systems, run in memory (the language: docs/simulated-systems.md). A run is a function
 * of the system, the scenario, the aim and the seed; time is virtual. */
#ifndef OUTFOX_SIM_SIM_H
#define OUTFOX_SIM_SIM_H

#include "core/aim.h"
#include "core/mode_set.h"
#include "core/trace.h"
#include "data/node.h"

struct sim;

/* Builds a system from its YAML. Names are interned in `names`, which outlives it. 0, or -1 with
 * *e. */
int sim_load(const struct node *root, struct names *names, struct sim **out,
             struct err *e) MUST_USE;
void sim_free(struct sim *sim);

const char *sim_name(const struct sim *sim);
/* How its calls may fail, and what they speak (CALL_HTTP, CALL_GRPC or both). */
const struct mode_list *sim_modes(const struct sim *sim);
uint8_t sim_speaks(const struct sim *sim);

uint32_t sim_scenarios(const struct sim *sim);
const char *sim_scenario_name(const struct sim *sim, uint32_t scenario);

/* The scenario of this name; the first when name is NULL; UINT32_MAX when there is none. */
uint32_t sim_scenario(const struct sim *sim, const char *name);

/* What the file says about how it is judged, the map of the key `judge`; NULL: nothing. It is read
 * by the judge, not here. */
const struct node *sim_judge_settings(const struct sim *sim);

/* How long the scenario may take under one fault; 0: not said. */
int64_t sim_scenario_limit(const struct sim *sim, uint32_t scenario);

/* Does chance play a part: random, time, choose, shuffle? */
bool sim_random(const struct sim *sim);

/* How many services there are, without those outside of the system. */
uint32_t sim_services(const struct sim *sim);

/* All services, those outside of the system too: their number, names, and whether they are outside.
 */
uint32_t sim_service_count(const struct sim *sim);
const char *sim_service_name(const struct sim *sim, uint32_t service);
bool sim_service_external(const struct sim *sim, uint32_t service);

/* UINT32_MAX: there is none of this name. */
uint32_t sim_service_find(const struct sim *sim, slice name);

/* The rules of `normalise`, by which its calls are named. */
const struct rewrite *sim_rules(const struct sim *sim);

/* The initial state of a service, a map; NULL: it has none. */
const struct node *sim_service_state(const struct sim *sim, uint32_t service);

/* Does state survive from run to run? */
bool sim_keep_state(const struct sim *sim);

/* Could a handler of `caller` call `callee`? True as well where only a run can tell. */
bool sim_may_call(const struct sim *sim, uint32_t caller, uint32_t callee);

/* ---- for runs that are made elsewhere ---- */

/* The scenario's own request: whom it goes to, its method ("" for gRPC), its path (with the query;
 * package.Service/Method for gRPC) and its body (empty: none). The texts live in `a`. The service
 * is UINT32_MAX when it goes to nobody. */
void sim_request_parts(const struct sim *sim, uint32_t scenario, struct arena *a, uint32_t *service,
                       slice *method, slice *target, slice *payload_json);

/* Do the scenario's expectations look at the state of services? */
bool sim_wants_state(const struct sim *sim, uint32_t scenario);

/* What the scenario's expectations say of a run: what the client saw and received (NULL: no body),
 * the calls with their faults, and the services' state afterwards, {service: {name: value}} (NULL:
 * as in the file). */
void sim_judge(const struct sim *sim, uint32_t scenario, outcome status, const struct node *body,
               const struct trace *trace, const struct node *state, struct verdict *out);

/* The scenario's own request. */
uid sim_request(struct sim *sim, uint32_t scenario);

/* One run. The trace is cleared first. The body that the client received is in *body until the next
 * run (body may be NULL). -1 with *e when the run is impossible: calls nest too deeply, or there
 * are too many. */
int sim_run(struct sim *sim, uint32_t scenario, struct aim *aim, uint64_t seed, struct trace *trace,
            struct verdict *verdict, const struct node **body, struct err *e) MUST_USE;

#endif
