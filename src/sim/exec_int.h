/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of handlers (exec.c), and what the two worlds in which handlers live must give
 * it: memory.c, where time is a number and a call is a recursion, and handler.c, where both are
 * real. */
#ifndef OUTFOX_SIM_EXEC_INT_H
#define OUTFOX_SIM_EXEC_INT_H

#include "sim/sim_int.h"

/* How a handler goes on after a step. */
enum flow { FLOW_ON, FLOW_REPLIED, FLOW_ABORT };

/* What all handlers of a run share. */
struct exec {
    const struct exec_ops *ops;
    struct rng rng;
    uint32_t steps;
    struct err *err;
};

/* A handler at work. */
struct frame {
    struct exec *exec;
    uint32_t service;
    uint32_t call; /* in memory: index of the call that it handles */
    uint32_t n_slots;
    struct env env;
    outcome last_seen; /* of the last call that it waited for: what a branch comes to */
    outcome reply;
    const struct node *body;
    VEC(uint32_t) children; /* in memory: calls that it made */
};

/* What a call asks for. Its tries ask the same. */
struct ask {
    slice target; /* SERVICE METHOD /path ... */
    const struct node *payload;
    slice key; /* its idempotency key; empty: none */
};

struct exec_ops {
    /* One try of a call. */
    enum flow (*call)(struct frame *f, const struct step *step, const struct ask *ask,
                      struct slot *out);
    void (*pause)(struct frame *f, int64_t ns);

    /* Carries out the branches of a `parallel`: branch i starts with the frame's slots and leaves
     * its own in after[i * n_slots]. *failed: the first branch in the file that failed, or
     * UINT32_MAX, with its outcome in *seen. What the other branches left is there when none failed
     * or the step waits for all of them. */
    enum flow (*branches)(struct frame *f, const struct step *step, struct slot *after,
                          uint32_t *failed, outcome *seen);
};

/* A frame for the work of this endpoint, which begins at `now_ns`. Give its env the rest. */
void frame_init(struct frame *f, struct exec *exec, const struct target *t, struct arena *a,
                const struct node *payload);
enum flow run_steps(struct frame *f, const struct steps *steps);
enum flow abort_run(struct exec *exec, const char *what, int limit);

#endif
