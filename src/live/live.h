/* SPDX-License-Identifier: Apache-2.0
 *
 * live: a system under test with proxies between its services, in one thread. Services run (ours or
 * somebody's), calls are tracked, and scenarios are executed, several at a time where the level of
 * identification allows it.
 *
 *   live_open --> services are ready --> [live_begin ... live_wait]* --> live_close
 *
 * Everything happens in the loop of the plane; the functions here run that loop until what they
 * wait for has come, so that whoever uses them reads like a list of steps. */
#ifndef OUTFOX_LIVE_LIVE_H
#define OUTFOX_LIVE_LIVE_H

#include "config/config.h"
#include "core/event.h"
#include "sim/sim.h"
#include "track/track.h"

struct live;
struct execution;
struct intern;
struct loop;

struct live_options {
    struct names *names;
    const struct vocabulary *words; /* what tests may ask about */
    struct intern *sentences;       /* outlives what was judged */
    struct sim *sim;                /* the simulated system, or NULL */
    uint32_t slots;                 /* runs at a time, 1 to 64 */
    enum track_level best;
    uint64_t seed;
    const char *program;    /* our own, to serve the simulated system */
    struct event_sink sink; /* deaths, restarts, warnings, and who is waited for */
    struct loop *beside;    /* is turned with its own from the beginning to the end; NULL: none */
};

/* Puts the services and scenarios of a simulated system into the configuration that names it.
 * Before live_open. */
int sim_adopt(struct campaign_config *config, const struct sim *sim, const char *program,
              struct err *e) MUST_USE;

/* Ends what is left of campaigns that were killed together with all that watched over their
 * processes; how many processes that were. */
uint32_t live_clear_up(void);

/* Starts everything and waits until the services are ready. 0, -1, or the signal that came
 * meanwhile. */
int live_open(struct campaign_config *config, const struct live_options *options, struct live **out,
              struct err *e) MUST_USE;

/* Stops everything; waits for the services to end. */
void live_close(struct live *l);

struct tracker *live_tracker(struct live *l);

/* From this moment on nothing is waited for: live_wait and live_heal are interrupted, as by a
 * signal. 0: there is no such moment. */
void live_set_deadline(struct live *l, int64_t at_ns);

/* What a service of ours writes from now on; the last lines of it. Nothing where it writes nothing,
 * or is somebody's. */
void live_log_mark(struct live *l);
void live_log_since(const struct live *l, slice service, uint32_t most, struct buf *out);

/* ---- executing scenarios ---- */

struct execution_order {
    uint32_t scenario;
    const void *whose;   /* for live_cancel */
    faultload faultload; /* for the record */
    struct aim *aim;     /* decides; stays as it is until the execution has ended */
    enum run_purpose purpose;
    struct lessons *lessons; /* of the scenario; quiet_ns is how long it waits for late calls */
    bool learning;
    int64_t limit_ns; /* for the request or command; 0: the scenario's */
    void *user;
};

/* Begins one; there is a free slot. */
void live_begin(struct live *l, const struct execution_order *order);
/* Those that live_wait has not given back yet. */
uint32_t live_running(const struct live *l);
/* How many there may be. */
uint32_t live_slots(const struct live *l);

/* What came of it. */
struct execution_result {
    struct execution_order order;
    struct run run;              /* all but its number; the trace is the receiver's */
    struct track_lesson *lesson; /* of a learning run: in place of the trace */
    int64_t late_ns;             /* track_late_ns */
    int64_t death_ns;            /* so long after the answer a service died; 0: none did */
    uint64_t trace_key;
    const char *note; /* for whoever reads the report; NULL: nothing */
    bool broken;      /* it could not be executed at all; `why` says why not */
    struct err why;
};

/* Waits for the next one to end. STATUS_INTERRUPTED: by SIGINT, SIGTERM or the deadline;
 * STATUS_NONE: none is running. The result lives until the next call. */
enum status live_wait(struct live *l, const struct execution_result **out) MUST_USE;

/* Lets the system be for so long, or until somebody wants to stop; nothing is running. */
void live_rest(struct live *l, int64_t ns);

/* SIGINT, SIGTERM, or 0. */
int live_signal(const struct live *l);

/* Nothing runs, and nothing is to: until somebody pokes, or wants to stop by a signal. */
void live_idle(struct live *l);
void live_poke(struct live *l);

/* Gives up somebody's executions that are under way; NULL: all. */
void live_cancel(struct live *l, const void *whose);

/* Have services died since they were ready? */
bool live_hurt(const struct live *l);

/* How a service died when no run was under way; NULL: none did. */
const char *live_death(const struct live *l);

/* Starts those that died again (all: all of ours), and waits until they are ready. STATUS_OK,
 * STATUS_INTERRUPTED or STATUS_FAILED. */
enum status live_heal(struct live *l, bool all, struct err *e) MUST_USE;

/* Are there services that we started, and so can start again? */
bool live_has_own(const struct live *l);

struct owner_links;

/* Who is connected to the services' own addresses now (io/owner.h). Connections that are closed have no
 * owner: they are left out where calls came through a proxy, since they may be our own. */
void live_links(const struct live *l, struct owner_links *out);

/* The service whose process has this socket; UINT32_MAX: nobody's, or our own. */
uint32_t live_holder(struct live *l, uint64_t inode);

/* The service's own address, HOST:PORT. */
void live_address(const struct live *l, uint32_t service, struct buf *out);

struct process_usage;

/* What the processes of a service hold now, and which process it is (another one: it was started
 * again); false: not known. */
bool live_usage(const struct live *l, uint32_t service, struct process_usage *out,
                int64_t *process) MUST_USE;

/* The scenario's own request, as the first element of all names. */
uid live_request(struct live *l, uint32_t scenario);

#endif
