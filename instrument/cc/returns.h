/* SPDX-License-Identifier: Apache-2.0
 *
 * Which constants a function returns, and why. */
#ifndef OUTFOX_CC_RETURNS_H
#define OUTFOX_CC_RETURNS_H

#include "analyse.h"

/* What a condition is about; of several the last. */
enum cause {
    CAUSE_NONE,
    CAUSE_ARGUMENT, /* what the function was given */
    CAUSE_OWN,      /* what it read */
    CAUSE_CALL,     /* what a call returned: an error is only passed on */
};

/* A constant that is returned, by the edge between two blocks (to: the number of blocks, if by none). */
struct source {
    LLVMValueRef value;
    uint32_t at, to;
};

/* A way to one of them: from the branch that decides it to the return. */
struct path {
    LLVMValueRef value;
    uint32_t at, to; /* the branch is at the end of `at`, and goes to `to` */
    enum cause cause;
    bool only_argument; /* the condition is that an argument is NULL */
    bool says, sets_errno;
    uint32_t
        effects; /* what it does to what its caller can see: more than an injected error does */
};

struct returns {
    const struct flow *flow;
    VEC(struct source) source;
    uint32_t others; /* returns of what is not constant */
    VEC(struct path) path;
    LLVMValueRef phi[8];
    uint32_t n_phis;
};

void returns_find(struct returns *r, const struct flow *flow);
void returns_deinit(struct returns *r);

/* A call whose only purpose is that somebody reads it. */
bool is_utterance(LLVMValueRef target);

#endif
