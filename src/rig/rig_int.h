/* SPDX-License-Identifier: Apache-2.0
 *
 * The rig, as its own files see it:
 *
 *   rig.c       all slots, until the agenda is over
 *   slot.c      the story of a trial, from top to bottom
 *   place.c     what a slot has for itself: directories, ports, environments
 *   node.c      processes of the system: started, ready, asked, ended
 *   client.c    what exercises them: built-in clients and commands
 *   follow.c    lines of logs, as they are written
 *
 * A slot's story is told by a fiber: it waits in slot_wait alone, while callbacks of the loop move nodes
 * and clients and say slot_wake. */
#ifndef OUTFOX_RIG_RIG_INT_H
#define OUTFOX_RIG_RIG_INT_H

#include "base/fiber.h"
#include "live/command.h"
#include "rig/caller.h"
#include "rig/rig.h"

struct slot;

/* A log whose lines are wanted, from a moment on. */
struct follow {
    const char *path;
    int fd; /* -1: it is not there yet */
    off_t at;
    struct buf line; /* one that has not ended */
};

struct rig_node {
    struct slot *slot;
    uint32_t index;
    struct process *process; /* NULL: none of it is left */
    bool ready, failed;
    bool ordered; /* we end it */
    bool ended;   /* the process itself; others of it may be left */
    struct command *probe;
    struct caller *asked; /* the built-in question: ready, or alive? */
    bool asking, answered;
    struct timer again;
    int64_t ready_by_ns; /* the last moment for it to become ready */
    int log_fd;
    const char *log;
    VEC(struct follow) follows;
    char why[300]; /* failed: why */
};

struct rig_client {
    struct slot *slot;
    uint32_t at; /* in the result's clients */
    const struct trials_client *what;
    struct caller *caller; /* a built-in one */
    struct voice *voice;   /* a command */
    int log_fd;
    struct timer next;
    uint32_t n; /* the operation under way, or the next */
    int64_t asked_ns, last_ns;
    bool over;
};

struct slot {
    struct rig *rig;
    uint32_t number; /* from 0 */
    struct fiber *fiber;
    struct turn turn;
    struct timer deadline, tick;
    bool late, idle, over;

    /* of the trial under way */
    struct arena arena;
    struct trial_order order;
    struct trial_result *result;
    struct share *share;
    uint32_t n_known; /* modules */
    slice base;
    uint16_t *port;
    slice *dir;
    struct trials_seats seats;
    struct rig_node *nodes;
    struct rig_client *clients; /* of the phase */
    uint32_t n_clients;
    int64_t armed_ns; /* 0: not yet */
    bool following;
    struct command *command;
    bool command_ok;
    slice command_said;
};

struct rig {
    const struct trials *trials;
    struct agenda *agenda;
    struct programs *programs;
    const struct rig_options *options;
    struct loop loop;
    struct keeper *keeper;
    uv_signal_t on_int, on_term;
    int signal;
    int64_t began_ns;
    struct slot *slots;
    uint32_t n_slots, n_live;
    uint64_t news;
    uint16_t next_port;
    int lock;
    struct arena arena;
    slice dir; /* absolute */
};

/* ---- slot.c ---- */

/* The fiber's story: trials until there are no more. */
void slot_tell(void *slot);

/* Something has happened that the story may wait for. */
void slot_wake(struct slot *s);

/* Waits until `done` holds; false: the time is over, or somebody wants to stop. slot_outlast: that
 * counts only for what is cleared up. */
bool slot_wait(struct slot *s, bool (*done)(const struct slot *s), int64_t most_ns);
bool slot_outlast(struct slot *s, bool (*done)(const struct slot *s), int64_t most_ns);

/* Since the trial was armed; -1: it was not yet. */
int64_t slot_now(const struct slot *s);

/* The trial says nothing; the first reason counts. -1. */
int slot_broken(struct slot *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- place.c ---- */

/* Directories made anew, ports that are free. 0, or -1: broken. */
int place_make(struct slot *s);

/* Text with values in place of variables; the environment of a node (UINT32_MAX: of none). In the
 * trial's arena. */
slice place_expand(struct slot *s, uint32_t node, slice text);
const struct text_pair *place_env(struct slot *s, uint32_t node, const struct text_pairs *own,
                                  uint32_t *n);

/* Keeps the logs, or removes all. */
void place_keep(struct slot *s);
void place_drop(struct slot *s);

/* ---- node.c ---- */

void rig_node_start(struct rig_node *n);

/* Is it alive? `answered` when `asking` has become false. */
void rig_node_ask(struct rig_node *n);

/* SIGTERM, or SIGKILL; it is over when `process` is NULL. */
void rig_node_end(struct rig_node *n, int signal);
void rig_node_count(struct rig_node *n); /* threads and descriptors */
void rig_node_free(struct rig_node *n);

/* ---- client.c ---- */

void rig_client_start(struct rig_client *c);
void rig_client_stop(struct rig_client *c); /* late, where it was not over */

/* ---- follow.c ---- */

/* From now on: what is there already does not count. */
void follow_begin(struct rig_node *n);
void follow_read(struct rig_node *n);
void follow_end(struct rig_node *n); /* with the line that has not ended */
#endif
