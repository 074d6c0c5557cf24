/* SPDX-License-Identifier: Apache-2.0
 *
 * A trial while it is judged: what clients saw, summed up, and where the fault was made. */
#ifndef OUTFOX_TRIAL_JUDGE_INT_H
#define OUTFOX_TRIAL_JUDGE_INT_H

#include "trial/usual_int.h"

enum {
    FEW = 2,        /* so many failures of a client are the fault itself, passed on */
    LAST_LEAST = 3, /* so many one after the other up to the end are no accident */
};

/* For printf "%.*s": as much of what somebody said as a symptom quotes. */
#define QUOTED(s) (int)((s).n < 300 ? (s).n : 300), (s).p

/* What a client saw after the fault. */
struct client_sum {
    uint32_t node;
    uint32_t failures;         /* more than usual */
    int64_t first_ns, last_ns; /* the first failure began, the last one ended; -1: there is none */
    bool unfinished;           /* it was started, and did not finish */
    bool late;                 /* because the time of the phase was over */
    bool ends_failing;         /* its last essential operation failed */
    bool failing;              /* failures or unfinished */
    uint32_t slow;             /* operations that took longer than is usual */
    int64_t slowest_ns;
};

/* Facts about a symptom by which it is ruled. */
struct facts {
    uint32_t most;      /* failures of one client */
    int64_t lasted_ns;  /* from the fault to the last failure */
    bool stuck;         /* somebody waits, rather than being refused */
    bool partial;       /* meanwhile other operations succeeded */
    bool silent;        /* of an end: no new warning or error of the node */
    bool code_is_clean; /* of an end: such an exit code is */
};

struct scene {
    const struct trials *t;
    const struct usual *u;
    struct trial_result *r;
    int32_t harmed;            /* node; TRIALS_NONE: no fault was made */
    uint32_t gone;             /* bits: nodes that ended */
    uint64_t logged;           /* bits: nodes with new warnings or errors */
    struct client_sum *client; /* as r->clients */
};

/* Adds a symptom, ruled by its facts. */
void scene_add(struct scene *s, struct trial_symptom symptom, const struct facts *facts);

/* The checker of clients (judge_client.c). */
void judge_clients(struct scene *s);

static inline slice scene_node(const struct scene *s, uint32_t node)
{
    return s->t->nodes.at[node].name;
}

/* The names of nodes, "a, b". */
void scene_names(const struct scene *s, uint64_t nodes, struct buf *out);

#endif
