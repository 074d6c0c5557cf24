/* SPDX-License-Identifier: Apache-2.0
 *
 * A command that is run to its end: a scenario's, or what comes before and after each run. It runs
 * under /bin/sh -c in a process group of its own; when its time is up the whole group is killed.
 * What it leaves behind when it ends is killed 100 ms later. What it prints is kept, the last
 * COMMAND_OUTPUT_MAX bytes of it. */
#ifndef OUTFOX_LIVE_COMMAND_H
#define OUTFOX_LIVE_COMMAND_H

#include "config/config.h"
#include "findings/expect.h"
#include "io/process.h"

enum { COMMAND_OUTPUT_MAX = 64 * 1024 };

struct command;

struct command_request {
    slice text;
    slice dir;
    const struct text_pair *env; /* on top of our own environment */
    uint32_t n_env;
    int64_t timeout_ns; /* > 0 */
    bool apart;         /* only what it prints to stderr is kept; stdout goes to this one: */
    int stdout_fd;
};

/* `done` is called once, from the loop, never from within. The result lives during the call. */
struct command *command_start(struct keeper *k, const struct command_request *r,
                              void (*done)(void *user, const struct command_result *result),
                              void *user);

/* Kills it and forgets it; `done` is not called. */
void command_cancel(struct command *c);

/* "NAME=VALUE" of each, and NULL: also for services. */
const char *const *env_texts(struct arena *a, const struct text_pair *env, uint32_t n);

#endif
