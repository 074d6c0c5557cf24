/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTFOX_CMD_SEARCH_ARGS_H
#define OUTFOX_CMD_SEARCH_ARGS_H

#include "cmd/cmd.h"
#include "core/summary.h"
#include "search/search.h"

enum { MODES_MAX = 64 };

/* What the command line says, over what *out holds already. `modes` has room for MODES_MAX. */
int search_args(const struct args *args, mode *modes, struct search_options *out,
                struct err *e) MUST_USE;

/* The assumptions in use, in words. */
void search_assumptions(const struct search_options *options, struct arena *arena,
                        struct summary *summary);

#endif
