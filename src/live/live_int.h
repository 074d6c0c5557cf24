/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a live system: live.c (start and end), direct.c (what happens to calls),
 * execution.c (one run of a scenario). */
#ifndef OUTFOX_LIVE_LIVE_INT_H
#define OUTFOX_LIVE_LIVE_INT_H

#include "findings/expect.h"
#include "http/client.h"
#include "live/command.h"
#include "live/control.h"
#include "live/events.h"
#include "live/live.h"
#include "live/services.h"
#include "live/wiring.h"

enum { LIVE_SLOTS_MAX = 64 };

enum execution_state {
    EXECUTION_FREE,
    EXECUTION_RENEWING, /* services are started anew for it */
    EXECUTION_BEFORE,   /* the command that comes before */
    EXECUTION_ACTING,   /* the request or command */
    EXECUTION_SETTLING, /* calls that it has caused may still be open, or begin */
    EXECUTION_MENDING,  /* events of a plan that it has met are ended */
    EXECUTION_STATE,    /* simulated: its state is asked for */
    EXECUTION_AFTER,    /* the command that comes after */
    EXECUTION_DONE,     /* waits to be taken by live_wait */
};

struct execution {
    struct live *live;
    uint32_t slot;
    enum execution_state state;
    struct execution_order order;
    struct execution_result result;
    struct arena arena; /* of this run */
    struct track_run *run;
    struct client_call *request;
    struct command *command;
    struct timer timer;
    int64_t begun_ns, answered_ns;
    int64_t cut_ns; /* when the calls that were open were cut off; 0: not yet */
    struct turn turn;
    uint32_t dying;              /* a service that may be, and is waited for; UINT32_MAX: none */
    uint32_t turns;              /* of the loop, since the answer was there */
    struct client_answer answer; /* kept in the arena */
    struct command_result ended;
    size_t kept; /* bytes of answers */
};

struct live {
    struct campaign_config *config;
    struct live_options opt;
    struct wiring *wiring;
    struct keeper *keeper;
    struct plane *plane;
    struct loop *loop;
    struct director director;
    struct tracker *tracker;
    struct client *client;
    struct control control;
    struct services *services;
    struct events *events;    /* of a plan; NULL: there is none */
    struct tls_context **tls; /* by service; NULL: plain */
    struct execution slot[LIVE_SLOTS_MAX];
    uint32_t n_running; /* not FREE */
    uv_signal_t on_int, on_term;
    struct guest beside;
    int signal;
    struct timer deadline; /* live_set_deadline */
    bool late;             /* it has passed */
    struct timer watch;    /* while services start or end: who is waited for? */
    int64_t watch_ns;      /* since when */
    bool waiting;          /* the loop is to be left when something happened */
    bool starting;         /* services are about to become ready */
    bool ready, failed, stopped;
    struct err failure;
    bool lost; /* a helper process of ours was killed: `failure` says so, and nothing goes on */
    uint32_t n_died;
    char death[400];      /* of a service that died when no run was under way */
    uint32_t *spared;     /* by service: how often it did not die when it seemed to */
    pid_t *pid;           /* of services that others run; 0: not looked for, -1: not known */
    bool *passed;         /* by service: a call came through a door of it, of a run or not */
    uint32_t sim_process; /* the service that serves the simulated system; UINT32_MAX: none */
};

/* Leaves the loop: somebody waits for what has just happened. */
void live_leave(struct live *l);

/* ---- direct.c ---- */
void direct_init(struct live *l);

/* ---- sim_serve.c ---- */

/* The command that serves the simulated system. */
void sim_command(const struct live *l, struct buf *out);

/* ---- execution.c ---- */

/* The services that were started anew are ready, or, with a reason, are not. False: no run waits
 * for them. */
bool execution_renewed(struct live *l, const struct err *failure);

/* All events that the run has met have ended. */
void execution_mended(struct live *l);

/* A call of this run ended. */
void execution_poke(struct live *l, uint64_t run);

/* What the client of a command received of one of its own calls. */
void execution_keep(struct live *l, uint64_t run, uint32_t call, slice body);

/* Something to be said about this run. The first word counts. */
void execution_note(struct live *l, uint64_t run, slice text);

/* A service died, or was lost (NULL: it was not): then runs under way are broken. Was there any? */
bool execution_hurt(struct live *l, const char *how, const struct err *lost);
void execution_cancel(struct execution *x);

#endif
