/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of a failure plan as faults of calls: a service is killed, frozen or otherwise harmed when
 * a call arrives, and is well again when the run has ended.
 *
 *   events_begin --> begins --> on: plane_go_on, the call goes on --> events_end_all --> execution_mended
 *                       `-- failed: the run says why, the call goes on without its fault
 *
 * 1. One run at a time (campaign.c): services are everybody's.
 * 2. What leaves something behind is in the journal, and known to the undoer, before it begins, as in
 *    the lab (lab/harm_command.c).
 * 3. A service that an event has ended has not died: nobody makes a finding of that. */
#ifndef OUTFOX_LIVE_EVENTS_H
#define OUTFOX_LIVE_EVENTS_H

#include "base/err.h"
#include "io/loop.h"
#include "io/process.h"

struct events;
struct live;
struct services;

/* Before threads are started. 0, or -1 with *e. */
int events_new(struct live *l, struct events **out, struct err *e) MUST_USE;
void events_attach(struct events *all, struct loop *loop, struct keeper *k, struct services *s);

/* The event begins, because of a call to this service in this run. */
void events_begin(struct events *all, slice name, uint32_t callee, uint64_t run);

/* A service has ended that services_end was told to end. */
void events_over(struct events *all, uint32_t service);

/* Has the run met any? */
bool events_any(const struct events *all);

/* The run is over, and so are they. True: execution_mended comes when all is undone. */
bool events_end_all(struct events *all) MUST_USE;

/* Undoes what is left. NULL: nothing happens. */
void events_free(struct events *all);

#endif
