/* SPDX-License-Identifier: Apache-2.0
 *
 * Connectors: how a command gets to a host. A connector is a row of a table whose function writes
 * a command line of this machine, for /bin/sh -c, that runs a given script there: with its output,
 * its exit code, and its standard input. So whoever starts processes, journals undo scripts or asks
 * for a role does not know where they run. Pure.
 *
 * What runs there is looked after by a guard (connector_script), another shell script:
 *
 *   CONNECT_RUN   a command is run to its end
 *   CONNECT_UNDO  the same without a guard: once begun, it is not ended, whatever becomes of us
 *   CONNECT_HOLD  a command lasts: its first line is "outfox-on PID", where PID is its process group
 *   CONNECT_WARD  a command begins something: when it has succeeded the first line is
 *                 "outfox-on PID". When the input ends, the undo is run, and its exit code is ours
 *
 * 1. The command has a session of its own. When the guard's input ends, or says nothing for the
 *    lease, all of the command is killed, and what it has begun is undone: so nothing survives us
 *    or the connection, whatever ends them.
 * 2. What has left its group is found by a mark in its environment. */
#ifndef OUTFOX_PLAN_CONNECTOR_H
#define OUTFOX_PLAN_CONNECTOR_H

#include "plan/plan.h"

enum connect_kind { CONNECT_RUN, CONNECT_UNDO, CONNECT_HOLD, CONNECT_WARD };
extern const char *const connect_kinds[]; /* run, undo, hold, ward */

/* Is said every CONNECT_BEAT_S seconds, on the input of what lasts; silence of CONNECT_LEASE_S ends it. */
enum { CONNECT_BEAT_S = 3, CONNECT_LEASE_S = 20, CONNECT_TEXT_MAX = 100 * 1000 };

/* The exit code of a command line whose connection is lost, or could not be made. */
enum { CONNECT_LOST = 255, CONNECT_AGENT_PORT = 7700 };

struct connect_call {
    const struct plan_host *host;
    enum connect_kind kind;
    slice command, undo; /* for a POSIX shell */
    slice mark;          /* of the run: letters and digits */
    uint32_t lease_s;
    slice control; /* a directory here for what the run's calls share; empty: nothing is shared */
    bool opens;    /* it makes the connection that others share */
    slice program; /* outfox here, as a path */
};

struct connector {
    const char *name;
    const char *needs, *may; /* keys of the host, separated by blanks */
    const char *either;      /* and exactly one of these */
    const char *tool;        /* the program that must be here; NULL: none */
    const char *about;       /* one sentence */
    void (*wrap)(const struct connect_call *c, struct buf *out); /* NULL: this machine */
};

extern const struct connector connectors[];
extern const size_t n_connectors;
const struct connector *connector_find(slice name);

/* The command line for /bin/sh here. -1: it is longer than a system takes. */
int connector_wrap(const struct connect_call *c, struct buf *out) MUST_USE;

/* The guard of a call, as words of a shell: sh -c SCRIPT ... */
void connector_script(const struct connect_call *c, struct buf *out);

/* What helps where the connector's program has said this last; "": nobody knows. */
const char *connector_remedy(slice said);

/* A script that kills what is left of a run on a host, and removes its directory: may be run twice. */
void connector_sweep(slice mark, slice dir, struct buf *out);

#endif
