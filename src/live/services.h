/* SPDX-License-Identifier: Apache-2.0
 *
 * The services of a campaign that are started by us: started together, ready by a deadline, started
 * again when they die, stopped at the end. The output of each goes to a file of its own.
 *
 *   services_start --> each: STARTING --> READY --> (dies: hook `died`) --> STARTING ...
 *                      all ready: hook `ready`;  one is not by its deadline, or dies: hook `failed`
 */
#ifndef OUTFOX_LIVE_SERVICES_H
#define OUTFOX_LIVE_SERVICES_H

#include "config/config.h"
#include "http/client.h"
#include "io/process.h"

struct services;

struct services_hooks {
    void *ctx;
    /* Expands {port}, {url:NAME} ... in a text of this service. 0, or -1 with *e. */
    int (*expand)(void *ctx, uint32_t service, slice text, struct buf *out, struct err *e);
    /* Where it listens (host and port are settled by now). */
    const struct addr *(*address)(void *ctx, uint32_t service);
    void (*ready)(void *ctx);
    /* One did not get ready. The sentence names the service, the cause (exit code, signal,
     * deadline) and its log file, with the last lines of it. */
    void (*failed)(void *ctx, const struct err *e);
    /* One died after it was ready: "payment died (signal 11, segmentation fault); see FILE". It is
     * not restarted until services_restart is called. */
    void (*died)(void *ctx, uint32_t service, const char *how);
    /* One has ended that services_end was told to end. */
    void (*over)(void *ctx, uint32_t service);
    /* One was lost, because somebody killed a helper process of ours: nothing can be said of it. */
    void (*lost)(void *ctx, const struct err *e);
};

/* Only services with `run` are ours. A port that is in use already is an error that says by whom,
 * where that is known. */
int services_new(struct loop *l, struct keeper *k, struct client *client,
                 const struct campaign_config *config, const struct services_hooks *hooks,
                 struct services **out, struct err *e) MUST_USE;

void services_start(struct services *s);

/* Starts those that died (all: stops the others first); then `ready` or `failed` as before. */
void services_restart(struct services *s, bool all);

/* Ends a service that is ready by this signal: `over` is called, not `died`. It is started again
 * before the next run; `again`: at once. False: it is not ready, or not ours. */
bool services_end(struct services *s, uint32_t service, int signal, bool again);

/* Is it one that services_end has ended, and that was not started again since? */
bool services_was_ended(const struct services *s, uint32_t service);

/* A run is about to begin: those with `restart: each-run` are killed and started anew, side by
 * side, and those that were ended are started. True: then `ready` or `failed` is called; one of the others may die meanwhile. False: there
 * are none. */
bool services_renew(struct services *s);

/* SIGTERM, then SIGKILL after stop_ns; `stopped` is called from the loop. */
void services_stop(struct services *s, void (*stopped)(void *ctx), void *ctx);
void services_free(struct services *s);

/* Where the logs end now; the end of what a service has written since then, without secrets, as
 * `most` lines at most. */
void services_log_mark(struct services *s);
void services_log_since(const struct services *s, uint32_t service, uint32_t most, struct buf *out);

/* Who is waited for: "waiting for stock (connecting to 127.0.0.1:5003: Connection refused)", or,
 * when they end, "waiting for stock to end". */
void services_waiting(const struct services *s, bool starting, struct buf *out);

/* Whose process is it: the service one of whose processes this is; UINT32_MAX: none of ours. */
uint32_t services_of_pid(const struct services *s, pid_t pid);

/* The process of a service; 0: not running, or not ours. */
pid_t services_pid(const struct services *s, uint32_t service);

/* What its processes hold; false: not running, not ours, or not known. */
bool services_usage(const struct services *s, uint32_t service, struct process_usage *out) MUST_USE;

#endif
