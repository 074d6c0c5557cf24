/* SPDX-License-Identifier: Apache-2.0
 *
 * One run, as the files of the lab see it:
 *
 *   lab.c      the story of a run, from top to bottom, and of all runs
 *   node.c     processes of the system
 *   client.c   what exercises it: operations, lines, history
 *   harm.c     faults: begun, ended, undone; harm_command.c and
 *              harm_link.c, harm_door.c, what that means for each kind
 *   doors.c    our own proxies between those that call and what they call
 *   tails.c    the ends of logs, for reports
 *   disk.c     disks of nodes' own
 *   host.c     other places where nodes and clients run
 *   lan.c      the network between nodes and clients, if the plan has one of its own
 *
 * All waiting is lab_wait: the loop turns, callbacks move nodes, clients and faults, until what is
 * waited for holds or its time is over. */
#ifndef OUTFOX_LAB_LAB_INT_H
#define OUTFOX_LAB_LAB_INT_H

#include <stdio.h>

#include "base/clock.h"
#include "harm/journal.h"
#include "harm/undoer.h"
#include "io/loop.h"
#include "io/process.h"
#include "lab/disk.h"
#include "lab/lab.h"
#include "lab/lan.h"
#include "lab/voice.h"
#include "live/command.h"
#include "plan/connector.h"
#include "plan/injector.h"
#include "plan/schedule.h"

#define PROBE_WITHIN_NS SECONDS(5) /* of one try of `ready` */

/* How commands of a member are run: as the plan says it, in its place of the network. In the run's
 * arena. */
struct lab_seat {
    const struct text_pair *env;
    uint32_t n_env;
    slice command; /* of a node: start */
    slice ready;
    slice dir;             /* of this machine, where the command line is run */
    struct lab_host *host; /* NULL: this machine */
};

/* Another place, during a run. Its ward makes the connection and the run's directory there; when the
 * ward ends, all that the run has left there goes. */
struct lab_host {
    struct lab *lab;
    const struct plan_host *plan;
    struct voice *ward; /* NULL: not open */
    bool up, closing;
    uint32_t id; /* in the journal */
    bool journalled;
    slice mark, dir; /* there */
};

/* A command whose end nobody waits for. */
struct errand {
    struct lab *lab;
    struct errand *next;
    struct command *command;
};

struct lab_node {
    struct lab *lab;
    struct lab_disk disk;
    uint32_t index;
    struct lab_seat seat;
    struct voice *voice;   /* NULL: not running */
    struct command *probe; /* whether it is ready */
    struct timer again;    /* the next probe */
    bool ready, failed;
    bool ordered; /* a fault ends it: its death says nothing */
    bool renewed; /* it is to be started again when it has ended */
    int log_fd;
    char why[300]; /* failed: why */
};

struct lab_client {
    struct lab *lab;
    uint32_t index;
    struct lab_seat seat;
    struct voice *voice;
    struct command *command; /* the operation under way */
    struct timer next;
    int64_t last_ns; /* when its last operation ended */
    bool over;       /* it ended by itself */
    int log_fd;
};

/* A fault on one node, or on none. */
struct harm {
    struct lab *lab;
    struct harm *next;
    uint32_t id, spell; /* spell: its place in run->spells */
    int32_t node;
    struct command *command; /* that begins or undoes it */
    struct voice *hold;
    enum { HARM_BEGINS, HARM_ON, HARM_ENDS, HARM_OVER } stage;
    bool journalled;
    uint32_t rule; /* of the network; 0: none */
    struct door_harm *at_door;
    struct inject_order order;
    struct timer late; /* what begins it on a host takes too long */
};

/* A role that is being asked for. */
struct asking {
    struct lab *lab;
    struct asking *next;
    struct schedule_action action;
    struct command *command;
};

struct lab {
    const struct plan *plan;
    const struct lab_options *options;
    struct plan_result *result;
    struct loop loop;
    struct keeper *keeper;
    struct journal *journal;
    struct undoer *undoer;
    uv_signal_t on_int, on_term;
    int signal; /* that wants us to stop; 0: none */
    struct timer deadline;
    bool late;

    /* of the run under way */
    struct plan_run *run;
    struct schedule *schedule;
    struct timer tick; /* the schedule has something to do */
    int64_t zero_ns;   /* the clock of triggers; 0: it has not started */
    bool faults;       /* faults may begin */
    bool watching;     /* from the start of that clock to the end of the run */
    struct arena arena;
    VEC(struct text_pair) env;
    struct lab_node *nodes;
    struct lab_client *clients;
    struct harm *harms;
    struct asking *askings;
    uint32_t next_id;
    FILE *history;
    struct doors *doors;       /* NULL: there are none */
    struct lab_socket *socket; /* NULL: there is none */
    struct lan *lan;           /* NULL: nodes share the network of this machine */
    slice dir;                 /* of the run */
    struct lab_host *hosts;    /* as in the plan; those that are not used stay closed */
    struct errand *errands;
    struct collect *collect; /* NULL: not open */
    slice control;           /* a directory here for connections to hosts; empty: there is none */
};

/* Turns the loop until `done` holds; false: the time is over, or somebody wants to stop. */
bool lab_wait(struct lab *lab, bool (*done)(const struct lab *lab), int64_t most_ns);

/* The same, also when somebody wants to stop: for what is undone. */
bool lab_outlast(struct lab *lab, bool (*done)(const struct lab *lab), int64_t most_ns);

/* Since the clock of triggers was started. */
int64_t lab_now(const struct lab *lab);

/* Looks what the schedule wants, and when again. */
void lab_pump(struct lab *lab);

/* A command of nobody's own, in the plan's directory: where the observer of the network is. */
struct command_request lab_request(struct lab *lab, slice text, int64_t within_ns);

/* A file NAME.log of the run; -1: there is none. */
int lab_log(struct lab *lab, slice name);

/* The process that lasts: what its member says, in its seat. */
struct voice *lab_voice(struct lab *lab, const struct lab_seat *seat, int log_fd,
                        const struct voice_events *events, void *user);

/* ---- hosts ---- */

/* Knows them; then, all that nodes, clients and faults need are opened. 0, or -1 with *e. */
void hosts_take(struct lab *lab);
int hosts_open(struct lab *lab, struct err *e) MUST_USE;

/* Waits until nothing of the run is left there. What could not be cleared stays in the journal: -1. */
int hosts_close(struct lab *lab, struct err *e) MUST_USE;

/* The host of a member or of a fault; NULL: this machine. */
struct lab_host *host_at(struct lab *lab, int32_t host);

/* The command with its directory (empty: the run's) and its variables, as it is run there. */
slice host_setting(struct lab_host *h, slice dir, const struct text_pair *env, uint32_t n_env,
                   slice command);

/* The command line here; in the run's arena. p NULL: it is too long. */
slice host_wrap(struct lab_host *h, enum connect_kind kind, slice command, slice undo,
                uint32_t lease_s);

/* Runs such a line of something that lasts. */
struct voice *host_voice(struct lab_host *h, slice line, int log_fd,
                         const struct voice_events *events, void *user);
void host_signal(struct lab_host *h, pid_t group, int signal);

void node_start(struct lab_node *n);
void node_kill(struct lab_node *n, int signal, bool again);
void node_stop(struct lab_node *n);

void client_start(struct lab_client *c);
void client_stop(struct lab_client *c);

/* Keeps the ends of the logs in the run. */
void tails_take(struct lab *lab);

/* Something was printed: by a node, or by a client. */
void lab_heard(struct lab *lab, int32_t node, int32_t client, slice text);

/* A client tells of an event. */
void lab_told(struct lab *lab, int32_t client, slice name, slice value);

/* A call arrives at a door, the nth of its kind (from 1; 0: before the clock started); somebody
 * connects to one. */
void lab_called(struct lab *lab, uint32_t door, slice interface, uint32_t nth);
void lab_connected(struct lab *lab, uint32_t door);

/* What a kind of faults does to one node (or to none). */
struct harm_kind {
    /* Begins it: harm_on says that it is on, now or later; harm_fail and harm_over that it is not. */
    void (*begin)(struct harm *h);
    void (*end)(struct harm *h); /* undoes it, then harm_over, now or later */
    bool running;                /* only on a node that is running */
};
extern const struct harm_kind harm_process, harm_script, harm_hold; /* harm_command.c */
extern const struct harm_kind harm_link, harm_names;                /* harm_link.c */
extern const struct harm_kind harm_door;

struct plan_spell *harm_spell(const struct harm *h);
const struct plan_event *harm_event(const struct harm *h);
void harm_on(struct harm *h);
void harm_fail(struct harm *h, slice why); /* the first reason counts */
void harm_undo(struct harm *h);
void harm_over(struct harm *h);

void harm_begin(struct lab *lab, const struct schedule_action *a);
void harm_end(struct lab *lab, uint32_t event);
void harm_end_all(struct lab *lab);
bool harm_none_moving(const struct lab *lab);
bool harm_none_left(const struct lab *lab);
void harm_free_all(struct lab *lab);
#endif
