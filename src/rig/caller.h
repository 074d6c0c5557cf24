/* SPDX-License-Identifier: Apache-2.0
 *
 * A built-in client's connection: it carries out operations, one after the other, and says what came of
 * each. A connection that is lost, or answers late, is not used again: the next operation makes a
 * new one. */
#ifndef OUTFOX_RIG_CALLER_H
#define OUTFOX_RIG_CALLER_H

#include "io/loop.h"
#include "rig/talk.h"

enum call_end {
    CALL_OK,
    CALL_ERROR,   /* the server says that it did not do it */
    CALL_REFUSED, /* no connection could be made */
    CALL_LOST,    /* the connection ended, or what came was none of the protocol */
    CALL_TIMEOUT,
};

struct call_result {
    enum call_end end;
    slice text; /* what was answered, or what is wrong; lives during the call */
    bool nothing;
    int64_t took_ns;
};

struct caller;

/* Of 127.0.0.1. `done` is called once for each operation, from the loop, never from within; it may
 * ask for the next one, or free the caller. */
struct caller *caller_new(struct loop *l, const struct talk *talk, uint16_t port,
                          void (*done)(void *user, const struct call_result *r), void *user);

/* The operation, in words between blanks. None is under way. */
void caller_ask(struct caller *c, slice operation, int64_t timeout_ns);

/* NULL is nothing. `done` is not called any more. */
void caller_free(struct caller *c);

#endif
