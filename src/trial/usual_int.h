/* SPDX-License-Identifier: Apache-2.0
 *
 * What is usual, learned from trials without faults: the most of everything that any of them had. */
#ifndef OUTFOX_TRIAL_USUAL_INT_H
#define OUTFOX_TRIAL_USUAL_INT_H

#include "base/index.h"
#include "trial/judge.h"

/* Of a client, by its place among all clients. */
struct usual_client {
    uint32_t failures; /* of essential operations */
    int64_t took_ns;   /* the longest that one took */
    bool finished;     /* in at least one */
};

struct usual_node {
    uint32_t threads, descriptors;
    bool hung; /* in at least one */
};

struct usual {
    const struct trials *trials;
    uint32_t n; /* trials that were learned */
    VEC(struct usual_client) clients;
    VEC(struct usual_node) nodes;
    struct map lines; /* usual_shape of warnings and errors */
    struct arena arena;
    slice sick;
};

/* Is it an operation whose failure counts? */
bool usual_essential(const struct trials *t, const struct trial_op *op);

/* The same for lines that differ in numbers and addresses only. */
uint64_t usual_shape(slice line);

/* Is the line a warning or an error? */
bool usual_counts(const struct trials *t, slice line);

#endif
