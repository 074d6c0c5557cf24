/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal of a campaign: what later campaigns learn from. Of each run that a search was shown it has
 * what the search saw, the faultload and the trace, in a tenth of the bytes and of the time that the
 * run itself takes to be read; and it goes on through generations: a campaign that builds on an earlier
 * one (--since) begins its journal with that one's.
 *
 * It is a list of chunks. Each can be read alone, so they are copied from store to store as they are,
 * and a process that was killed loses at most the last one, whose runs are in the store all the same. */
#ifndef OUTFOX_STORE_JOURNAL_H
#define OUTFOX_STORE_JOURNAL_H

#include "store/store.h"

/* Of a handler in a run: does it tell how the handler behaves? */
enum journal_mark {
    JOURNAL_TELLS,
    JOURNAL_STALE, /* it did: its service has changed since */
};

/* A run. */
struct journal_entry {
    faultload faultload; /* all of it fired */
    const struct trace *trace;
    const uint8_t *marks; /* enum journal_mark of each call; NULL: all tell */
};

struct journal;

/* A writer of chunks, with names and faultloads that outlive it. */
struct journal *journal_new(const struct names *names, const struct faultloads *fl);
void journal_free(struct journal *j);

/* Adds a run to the chunk that is being written. False: it is too large for any chunk, and nothing was
 * added. */
bool journal_add(struct journal *j, const struct journal_entry *entry) MUST_USE;

/* The chunk so far (empty: nothing was added), and whether it is large enough to be kept; the next
 * one begins. */
slice journal_chunk(const struct journal *j);
bool journal_full(const struct journal *j);
void journal_clear(struct journal *j);

/* All entries of a chunk, which live during the call. `each` returns 0 to go on; anything else ends it
 * and is returned. -1: it is damaged. */
int journal_read(slice chunk, struct names *names, struct faultloads *fl,
                 int (*each)(void *ctx, const struct journal_entry *entry), void *ctx) MUST_USE;

/* ---- in the store ---- */

/* Adds a chunk to the journal of a campaign; one transaction. last: the number of the last of its runs,
 * 0 where all of it is of earlier campaigns. */
int journal_keep(struct store *s, uint64_t campaign, uint64_t last, slice chunk,
                 struct err *e) MUST_USE;

/* All chunks in their order, which live during the call. */
int journal_each(struct store *s, uint64_t campaign,
                 int (*each)(void *ctx, uint64_t last, slice chunk, struct err *e), void *ctx,
                 struct err *e) MUST_USE;

#endif
