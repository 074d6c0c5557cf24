/* SPDX-License-Identifier: Apache-2.0
 *
 * The face of this room: a plane, that is, all proxies of one configuration, running in threads of
 * their own.
 *
 *   plane_start --> runs --[plane_reload]--> runs --[plane_stop]--> drains --> plane_ended
 *               --> plane_free */
#ifndef OUTFOX_PROXY_PROXY_H
#define OUTFOX_PROXY_PROXY_H

#include "proxy/config.h"
#include "proxy/director.h"

struct plane;
struct loop;

/* Can its addresses be understood? */
int plane_check(const struct proxy_config *config, struct err *e) MUST_USE;

/* Listens and starts. Takes the finished configuration over when it succeeds. warn: gets sentences
 * for whoever runs it, from any thread. 0, or -1 with the cause and the remedy. */
int plane_start(struct proxy_config *config, void (*warn)(void *ctx, const char *text), void *ctx,
                struct plane **out, struct err *e) MUST_USE;

/* The same in the caller's thread: one worker, whose loop (plane_loop) the caller runs, and shares.
 * A director decides about calls in place of rules. After plane_stop the caller runs the loop until
 * it returns, then frees the plane; all that he put on the loop is closed by then. */
int plane_embed(struct proxy_config *config, const struct director *director,
                void (*warn)(void *ctx, const char *text), void *ctx, struct plane **out,
                struct err *e) MUST_USE;
struct loop *plane_loop(struct plane *p);

/* Breaks off the calls that the director has told to be of this run. In the thread of the loop. */
void plane_cut(struct plane *p, uint64_t run);

/* The calls of this run that wait for an event go on; `begun`: it is a fault that was acted out. In
 * the thread of the loop. */
void plane_go_on(struct plane *p, uint64_t run, bool begun);

/* Between runs: callers that keep HTTP/2 connections without a call are asked to take new ones, so
 * that no run depends on what the one before did to them. In the thread of the loop. */
void plane_part(struct plane *p);

/* Changes over to another configuration without breaking a connection. When it fails, the old one
 * stays, and the new one is still the caller's. */
int plane_reload(struct plane *p, struct proxy_config *config, struct err *e) MUST_USE;

/* Stops listening and lets open calls end, for at most the limit `drain`, or not at all (`now`). */
void plane_stop(struct plane *p, bool now);
bool plane_ended(const struct plane *p);

/* Where a proxy of its configuration listens in fact; and the same as text, and where it leads. */
const struct addr *plane_listens(const struct plane *p, uint32_t proxy);
void plane_where(const struct plane *p, uint32_t proxy, struct buf *listen, struct buf *to);

/* The configuration that is in force. */
const struct proxy_config *plane_config(const struct plane *p);

/* Could all calls be logged? */
bool plane_log_failed(const struct plane *p);

/* How many are not in the log, because nobody read it. */
uint64_t plane_log_left_out(const struct plane *p);

/* After it ended. */
void plane_free(struct plane *p);

#endif
