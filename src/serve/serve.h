/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulated systems as real servers: one listening socket per service, HTTP/1.1, HTTP/2 and gRPC,
 * real calls, real time (docs/simulated-systems.md, "As real servers"). */
#ifndef OUTFOX_SERVE_SERVE_H
#define OUTFOX_SERVE_SERVE_H

#include "sim/sim.h"

struct serve;

/* A server of this system, which outlives it. */
struct serve *serve_new(const struct sim *sim);
void serve_free(struct serve *s);

/* One option: service NAME, port NAME=PORT, to [CALLER>]CALLEE=URL, propagate LIST, control PORT.
 * 0, or -1 with *e. */
int serve_option(struct serve *s, slice name, slice value, struct err *e) MUST_USE;

/* When all options were given: do they fit together? 0, or -1 with *e. */
int serve_choose(struct serve *s, struct err *e) MUST_USE;

/* Listens everywhere. 0, or -1 with *e. */
int serve_listen(struct serve *s, struct err *e) MUST_USE;

/* Where it listens, a line "NAME http://127.0.0.1:PORT" each. */
void serve_print(const struct serve *s, struct buf *out);

/* Serves until SIGTERM or SIGINT comes, which the calling thread has blocked before it made other
 * threads; returns which of them. */
int serve_run(struct serve *s);

#endif
