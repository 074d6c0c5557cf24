/* SPDX-License-Identifier: Apache-2.0
 *
 * One run, as the files of the lab see it:
 *
 *   lab.c      the story of a run, from top to bottom, and of all runs
 *   node.c     processes of the system
 *   client.c   what exercises it: operations, lines, history
 *   harm.c     faults: begun, ended, undone
 *
 * All waiting is lab_wait: the loop turns, callbacks move nodes, clients and faults, until what is
 * waited for holds or its time is over. */
#ifndef OUTFOX_LAB_LAB_INT_H
#define OUTFOX_LAB_LAB_INT_H

#include <stdio.h>

#include "base/clock.h"
#include "io/loop.h"
#include "io/process.h"
#include "lab/journal.h"
#include "lab/lab.h"
#include "lab/undoer.h"
#include "lab/voice.h"
#include "live/command.h"
#include "plan/injector.h"
#include "plan/schedule.h"

struct lab_node {
    struct lab *lab;
    uint32_t index;
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
    struct inject_order order;
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
    struct arena arena;
    VEC(struct text_pair) env;
    struct lab_node *nodes;
    struct lab_client *clients;
    struct harm *harms;
    struct asking *askings;
    uint32_t next_id;
    FILE *history;
    slice dir; /* of the run */
};

/* Turns the loop until `done` holds; false: the time is over, or somebody wants to stop. */
bool lab_wait(struct lab *lab, bool (*done)(const struct lab *lab), int64_t most_ns);

/* Since the clock of triggers was started. */
int64_t lab_now(const struct lab *lab);

/* Looks what the schedule wants, and when again. */
void lab_pump(struct lab *lab);

/* The environment of a command: the plan's, the run's, its own. In the run's arena. */
const struct text_pair *lab_env(struct lab *lab, const struct text_pairs *own, uint32_t *n);
slice lab_dir(struct lab *lab, slice own);

/* A file NAME.log of the run; -1: there is none. */
int lab_log(struct lab *lab, slice name);

void node_start(struct lab_node *n);
void node_kill(struct lab_node *n, int signal, bool again);
void node_stop(struct lab_node *n);

void client_start(struct lab_client *c);
void client_stop(struct lab_client *c);

/* Something was printed: by a node, or by a client. */
void lab_heard(struct lab *lab, int32_t node, int32_t client, slice text);

void harm_begin(struct lab *lab, const struct schedule_action *a);
void harm_end(struct lab *lab, uint32_t event);
void harm_end_all(struct lab *lab);
bool harm_none_moving(const struct lab *lab);
bool harm_none_left(const struct lab *lab);
void harm_free_all(struct lab *lab);

#endif
