/* SPDX-License-Identifier: Apache-2.0
 *
 * The face of this room: campaigns on disk (SQLite). One file holds one campaign per scenario, and
 * of each all runs with their calls, what was learned, and the findings. Names, modes and outcomes
 * are stored as text, which outlives the process.
 *
 * 1. One run is one transaction. After kill -9, at any moment, all runs are there for which
 *    store_add has returned. After a power loss the file is sound too, but the runs of the last
 *    second may be missing: a commit waits for the disk at most once per second, and when the store
 *    is closed. A campaign that is resumed makes such runs again.
 * 2. The schema has a version (PRAGMA user_version). An older one is migrated when it is opened for
 *    writing; a newer one is refused with a sentence that says so.
 * 3. One process writes at a time; a second is told who does. The lock goes with the process, and
 *    its children do not have it (nor may they use the store). Readers never wait for long.
 * 4. What is read is checked: a file that is no database, is damaged or was edited is an error, not
 *    a crash, and runs that are read are those that were written (rows carry a sum of themselves).
 * 5. Whatever fails leaves the store as it was: when there is room on the disk again, say, the same
 *    call can be made again. Callbacks may use the store. It is used by one thread at a time. */
#ifndef OUTFOX_STORE_STORE_H
#define OUTFOX_STORE_STORE_H

#include "base/err.h"
#include "core/run.h"

struct store;

enum store_access { STORE_READ, STORE_WRITE };

/* Opens `path` (its directories are made when writing). 0, or -1 with the cause and the remedy. */
int store_open(const char *path, enum store_access access, struct store **out,
               struct err *e) MUST_USE;
void store_close(struct store *s);
bool store_writable(const struct store *s);

/* ---- campaigns ---- */

/* Facts of a campaign, by name: "config", "seed", "modes", "assume" ... Text, any length up to
 * 1 MiB. */
struct store_fact {
    slice name, value;
};

/* Begins a campaign of this scenario and removes what an earlier one of it left. *campaign
 * identifies it from then on. */
int store_begin(struct store *s, slice scenario, uint64_t *campaign, struct err *e) MUST_USE;

/* The campaign of this scenario; 0 in *campaign when there is none. */
int store_find(struct store *s, slice scenario, uint64_t *campaign, struct err *e) MUST_USE;

/* The campaign that began next after another (0: the first of all), and its scenario, which lives in `a`;
 * 0 in *campaign when there is none. */
int store_next(struct store *s, uint64_t after, struct arena *a, uint64_t *campaign,
               slice *scenario, struct err *e) MUST_USE;

/* Sets or replaces a fact; reads one (empty slice with p == NULL when it is not there; the text
 * lives in `a`). */
int store_set(struct store *s, uint64_t campaign, slice name, slice value, struct err *e) MUST_USE;
int store_get(struct store *s, uint64_t campaign, slice name, struct arena *a, slice *value,
              struct err *e) MUST_USE;

/* ---- runs ---- */

/* Adds a run; one transaction. `names` and `fl` give its numbers a meaning, during this call.
 * Refused are: a number that is not above those of the campaign's earlier runs, a body of more than
 * RUN_BODY_MAX bytes, another text of more than 1 MiB, a call that does not stand behind the one
 * that made it, and a name whose text would not be read back as the same. */
int store_add(struct store *s, uint64_t campaign, const struct names *names,
              const struct faultloads *fl, const struct run *run, struct err *e) MUST_USE;

/* All runs in their order. The run and all text in it live during the call; verdict.why is interned
 * in `keep` and lives as long as that. `each` returns 0 to go on; anything else ends it and is
 * returned. */
int store_each_run(struct store *s, uint64_t campaign, struct names *names, struct faultloads *fl,
                   struct arena *keep, int (*each)(void *ctx, const struct run *run, struct err *e),
                   void *ctx, struct err *e) MUST_USE;

/* The same from the run with this number on, or the next one that there is. */
int store_runs_from(struct store *s, uint64_t campaign, uint64_t number, struct names *names,
                    struct faultloads *fl, struct arena *keep,
                    int (*each)(void *ctx, const struct run *run, struct err *e), void *ctx,
                    struct err *e) MUST_USE;

/* One run by its number, or STATUS_NONE. The run lives in `keep`, but for trace.calls, which the
 * caller frees (vec_deinit). */
enum status store_run(struct store *s, uint64_t campaign, uint64_t number, struct names *names,
                      struct faultloads *fl, struct arena *keep, struct run *out,
                      struct err *e) MUST_USE;

/* ---- findings ---- */

/* A finding as it was reported, so that it can be replayed by its id. */
struct store_finding {
    uint32_t id; /* from 1, stable within the campaign */
    faultload faultload;
    slice why;
    slice state; /* "confirmed", "flaky" ... */
};

/* Replaces all findings of a campaign. */
int store_set_findings(struct store *s, uint64_t campaign, const struct names *names,
                       const struct faultloads *fl, const struct store_finding *findings,
                       uint32_t n, struct err *e) MUST_USE;

/* Or STATUS_NONE. Text lives in `a`. */
enum status store_finding(struct store *s, uint64_t campaign, uint32_t id, struct names *names,
                          struct faultloads *fl, struct arena *a, struct store_finding *out,
                          struct err *e) MUST_USE;

#endif
