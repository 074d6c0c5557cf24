/* SPDX-License-Identifier: Apache-2.0
 *
 * A simulated system under test: loaded, run under faultloads, explored by the search or by brute
 * force, and what was seen of it as a set of facts: (handler, transcript, reply), each a 64-bit
 * hash. */
#ifndef OUTFOX_TESTS_LAB_H
#define OUTFOX_TESTS_LAB_H

#include "base/index.h"
#include "search/search.h"
#include "sim/sim.h"

struct lab {
    struct arena arena;
    struct names names;
    struct faultloads fl;
    struct sim *sim;
    uint32_t scenario; /* of the system; the first unless somebody says another one */
    struct aim aim;
    struct trace trace;
    struct trace_order order;
    struct verdict verdict;
    struct map facts;
    struct map faultloads; /* key of a faultload -> how often it was run */
    uint64_t seed;
    const mode *modes; /* in place of the system's own; NULL: those */
    uint32_t n_modes;
    uint8_t (*flags)(const struct names *names, uid u); /* of calls; NULL: none */
};

/* 0, or -1 with *e when the system does not load; lab_deinit is due either way. */
int lab_init(struct lab *lab, const struct node *system, struct err *e);
int lab_init_text(struct lab *lab, const char *yaml, struct err *e);
int lab_init_file(struct lab *lab, const char *path, struct err *e);

/* A handler with n calls side by side, s0 to sN, all of whose failures are absorbed; `deep`: each
 * has a call below it and answers 404 when that fails. */
void lab_init_many(struct lab *lab, uint32_t n, const char *modes, bool deep);
void lab_deinit(struct lab *lab);

/* One run; trace and verdict are in the lab, its facts are added. */
void lab_run(struct lab *lab, faultload f);

/* The same without looking at it: no facts, no flags. */
void lab_run_only(struct lab *lab, faultload f);

/* A number for the set of faults. */
uint64_t lab_key(const struct lab *lab, faultload f);

/* Did every fault of f fire in the last run? */
bool lab_all_fired(const struct lab *lab, faultload f);

/* Options with the lab's modes. */
struct search_options lab_options(const struct lab *lab);

/* Drives a search to its end, or for at most max_runs (0: no bound). */
struct search *lab_explore(struct lab *lab, const struct search_options *options,
                           uint64_t max_runs);

/* Every faultload that can be reached by adding faults at calls that were seen. For each:
 * visit(ctx, f, fired), which may be NULL. False when there are more than `most`. */
bool lab_brute_force(struct lab *lab, uint32_t most,
                     void (*visit)(void *ctx, faultload f, bool fired), void *ctx);

#endif
