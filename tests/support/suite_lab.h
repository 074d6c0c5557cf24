/* SPDX-License-Identifier: Apache-2.0
 *
 * A suite of simulated scenarios under test: several systems, or all scenarios of one, explored
 * together. Their names are one table, their facts (lab.h) are told apart. */
#ifndef OUTFOX_TESTS_SUITE_LAB_H
#define OUTFOX_TESTS_SUITE_LAB_H

#include "search/suite.h"
#include "support/lab.h"

struct suite_lab {
    struct lab lab;
    struct arena arena;
    VEC(struct sim *) sims;
    VEC(struct suite_seat {
        struct sim *sim;
        uint32_t scenario;
        struct map facts;
        struct search *search; /* NULL: the suite is not open */
    })
    seats;
    struct suite *suite;
    VEC(struct suite_run {
        uint32_t seat;
        faultload faultload;
    })
    runs;
    uint32_t max_faults; /* at a time; 0: no bound */
    bool no_facts;       /* they are not gathered, which takes longer than a run */

    /* After each run: whose it was; the rest is in `lab`. May be NULL. */
    void (*visit)(void *ctx, const struct suite_lab *l, uint32_t seat);
    void *ctx;
};

/* So many random systems, each with its one scenario; or all scenarios of a file. */
void suite_lab_random(struct suite_lab *l, uint64_t seed, uint32_t n);
int suite_lab_file(struct suite_lab *l, const char *path, struct err *e) MUST_USE;
void suite_lab_deinit(struct suite_lab *l);

/* The searches begin, in this order. A suite of one is a search like any other. */
void suite_lab_open(struct suite_lab *l, const char *order, uint64_t seed);

/* The searches end; what was seen and run stays. */
void suite_lab_close(struct suite_lab *l);

/* Nothing was seen or run. */
void suite_lab_forget(struct suite_lab *l);

/* One run, and it is observed. */
void suite_lab_run(struct suite_lab *l, uint32_t seat, faultload f);

/* As many runs as may be made; false: there is more to do. */
bool suite_lab_explore(struct suite_lab *l, uint32_t most);

#endif
