/* SPDX-License-Identifier: Apache-2.0
 *
 * What a search asks about what others have shown, and tells them (shared.c). */
#ifndef OUTFOX_SEARCH_SHARED_INT_H
#define OUTFOX_SEARCH_SHARED_INT_H

#include "search/search_int.h"

/* Begins, and ends. Has somebody else shown this edge, with no more faults than so many? On which
 * assumption it need not be run then; REDUCTIONS: nobody has. */
void shared_open(struct search *s);
void shared_close(struct search *s);
enum reduction shared_shows(struct search *s, uint32_t edge, uint32_t faults);
void shared_skip(struct search *s, struct frontier_item item, enum reduction why);

/* Is a call whose edges are all queued, seen or skipped like this one done with for good? */
bool shared_final(const struct search *s, uint32_t edge);

/* Tells others what a run showed; follow: what it shows is followed up. */
void shared_learn(struct search *s, const struct trace *trace, bool follow);

/* A run that verifies: is all as it is known? */
void shared_check(struct search *s, const struct trace *trace);

/* A callee is called from somewhere: what is known of its answers? And: what came meanwhile? */
void shared_meet(struct search *s, uint32_t root, uid callee);
void shared_take(struct search *s);

/* Nothing else is left: what is not known any more is queued. True: something is. */
bool shared_advance(struct search *s);

/* Do others go on, who may show something that matters here? Can nothing be done before they have? */
bool shared_waits(const struct search *s);
bool shared_sleeps(const struct search *s);

/* What tells handlers apart among the facts of an audit. */
uint64_t shared_key(struct search *s, uid handler);

#endif
