/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTFOX_CMD_SEARCH_ARGS_H
#define OUTFOX_CMD_SEARCH_ARGS_H

#include "cmd/cmd.h"
#include "core/mode_set.h"
#include "core/summary.h"
#include "search/search.h"

/* What the command line says, over what *out holds already. Its modes are kept in *modes; of sets
 * those that fit calls with the flags `speaks`. */
int search_args(const struct args *args, uint8_t speaks, struct mode_list *modes,
                struct search_options *out, struct err *e) MUST_USE;

/* What it says of the seed alone; 0: nothing. */
uint64_t search_seed(const struct args *args);

/* Modes, order, seed and the assumptions in use, in words. */
void search_describe(const struct search_options *options, struct arena *arena,
                     struct summary *out);

/* Prints what becomes of faultloads in this search. s: names all of them. */
void explain_print(const struct args *args, const struct summary *s, const struct search *search,
                   const faultload *meant, uint32_t n);

#endif
