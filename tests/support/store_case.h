/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs to be stored: run i of a world is always the same run, whoever makes it, so that it can be
 * told whether what is read is what was written. */
#ifndef OUTFOX_TESTS_STORE_CASE_H
#define OUTFOX_TESTS_STORE_CASE_H

#include "core/run.h"

struct store_world {
    struct names names;
    struct faultloads fl;
    struct arena text;
};

void store_world_init(struct store_world *w);
void store_world_deinit(struct store_world *w);

/* Run `number`, at random but for its number: every kind of value that a run can have. What it
 * points to lives as long as the world, but for trace.calls, which the caller frees. */
struct run store_case_run(struct store_world *w, uint64_t number);

/* All that is in a run, as text that does not depend on the numbers of its names. */
void store_case_print(const struct store_world *w, const struct run *run, struct buf *out);

#endif
