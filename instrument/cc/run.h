/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that are run, and files that do not outlive us. */
#ifndef OUTFOX_CC_RUN_H
#define OUTFOX_CC_RUN_H

#include "base/str.h"

/* The words of a command; the last one is NULL once it is run. */
struct command {
    const char **at;
    uint32_t n, cap;
};

void command_add(struct command *c, const char *word); /* the word is not copied */
void command_deinit(struct command *c);

/* Runs it to its end. out: what it prints on standard output, up to the bound; NULL: that is ours.
 * Its exit code, 128 + N when signal N ended it, 127 when it cannot be started (which is said). */
int command_run(struct command *c, struct buf *out) MUST_USE;

/* Becomes it. Returns 127 when it cannot be started (which is said). */
int command_exec(struct command *c);

/* The path of a new, empty file with this ending, which is removed at the end or when a signal ends us;
 * NULL when it cannot be made (which is said). Lives until the end. */
const char *scratch_file(const char *ending);
void scratch_remove(void);

#endif
