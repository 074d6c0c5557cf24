/* SPDX-License-Identifier: Apache-2.0
 *
 * What an execution sends and starts (request.c), and how it is judged. */
#ifndef OUTFOX_LIVE_EXECUTION_INT_H
#define OUTFOX_LIVE_EXECUTION_INT_H

#include "live/live_int.h"

/* The verdict of a run that has ended (execution_judge.c). state: of a simulated system, or NULL.
 */
void execution_judge(struct execution *x, const struct node *state);

/* The interface of a scenario's own request; of a command, a name for it. */
void request_interface(const struct live *l, const struct scenario_spec *spec, struct buf *out);

/* The answer's body as it is to be read: without its compression, where that can be undone. */
void request_read_answer(struct execution *x, const struct client_answer *a);

/* Sends the scenario's request, with the context of the run. */
void request_send(struct execution *x, void (*done)(void *, const struct client_answer *));

/* Asks a simulated system for its state in this run. */
void request_state(struct execution *x, void (*done)(void *, const struct client_answer *));

/* Runs a command of the scenario, with its environment. */
void command_run(struct execution *x, slice text,
                 void (*done)(void *, const struct command_result *));

#endif
