/* SPDX-License-Identifier: Apache-2.0
 *
 * A simulated system that is explored, with a ledger that takes each run, and the documents that
 * are printed from it, read back. */
#ifndef OUTFOX_TESTS_LEDGER_LAB_H
#define OUTFOX_TESTS_LEDGER_LAB_H

#include "data/node.h"
#include "page/document.h"
#include "page/ledger.h"
#include "support/lab.h"

struct ledger_lab {
    struct lab lab;
    struct ledger *ledger;
    struct search *search;
    VEC(struct run) runs; /* all of them, as a store keeps them */
    struct summary summary;
    const struct summary *scenarios[1];
    struct report_source source;
    struct arena arena; /* documents that were read */
};

/* Fails the test when it does not load. */
void ledger_lab_init(struct ledger_lab *l, const struct node *system);
void ledger_lab_init_text(struct ledger_lab *l, const char *yaml);
void ledger_lab_init_file(struct ledger_lab *l, const char *path); /* below the top */
void ledger_lab_deinit(struct ledger_lab *l);

/* Explores it, for at most max_runs (0: to its end), and tells the ledger of each run. */
void ledger_lab_explore(struct ledger_lab *l, const struct search_options *options,
                        uint64_t max_runs);

/* One run more, which the search did not ask for. */
void ledger_lab_run(struct ledger_lab *l, faultload f, enum run_purpose purpose);

/* The document of this name, read back; NULL: there is none. */
const struct node *ledger_lab_read(struct ledger_lab *l, const char *name, uint64_t from);

/* A value in a document, which must be there: "handlers/0/nodes". And as a number. */
const struct node *value_at(const struct node *document, const char *path);
int64_t number_at(const struct node *document, const char *path);

#endif
