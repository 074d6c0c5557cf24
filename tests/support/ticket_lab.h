/* SPDX-License-Identifier: Apache-2.0
 *
 * The train ticket shop (examples/train-ticket), all scenarios as one suite, in memory: what does an
 * order find within a budget? Counted are
 *
 *   failures   different (scenario, what the client got, expectation that it broke): the scenario is
 *              what the customer does, so this is the paper's (action sequence, error)
 *   paths      of the fallback paths in labels.yaml: those of which the call was made in any run */
#ifndef OUTFOX_TESTS_TICKET_LAB_H
#define OUTFOX_TESTS_TICKET_LAB_H

#include "support/suite_lab.h"

enum { TICKET_PATHS = 20 };

struct ticket_lab {
    struct suite_lab suite;
    struct {
        slice caller, callee; /* the latter with its interface */
    } paths[TICKET_PATHS];
    struct map failures;
    bool reached[TICKET_PATHS];
    uint32_t n_failures, n_reached; /* so far */
    uint32_t faulty;                /* runs with faults */
    uint32_t first;                 /* which of them failed first, from 1; 0: none did */
};

int ticket_lab_init(struct ticket_lab *t, const char *top, struct err *e) MUST_USE;
void ticket_lab_deinit(struct ticket_lab *t);

/* Nothing was run or is known, and the suite is open, in this order. */
void ticket_lab_begin(struct ticket_lab *t, const char *order, uint64_t seed);

/* Until so many runs with faults were made, or nothing is left. */
void ticket_lab_until(struct ticket_lab *t, uint32_t runs);
void ticket_lab_end(struct ticket_lab *t);

#endif
