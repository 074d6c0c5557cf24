/* SPDX-License-Identifier: Apache-2.0
 *
 * A suite: the searches of several scenarios of one system, which share one budget. Each explores its
 * own scenario; the suite says which of them makes the next run, by the order of their options: what
 * is most urgent in any of them comes first.
 *
 * 1. Pure, as a search is: equal options, equal observations and equal questions give equal answers.
 * 2. Names and faultloads are one table for all searches of a suite.
 * 3. A suite of one search is that search.
 * 4. Under `stateless`, and with an earlier campaign to build on, what one of them shows of a handler
 *    is known to all (knowledge.h). Together they show what each would show alone. */
#ifndef OUTFOX_SEARCH_SUITE_H
#define OUTFOX_SEARCH_SUITE_H

#include "search/search.h"

/* For so many searches, with these options. It outlives them; a search joins it by its options. */
struct suite *suite_new(uint32_t n, const struct search_options *options);
void suite_free(struct suite *suite);

/* Which of the searches that are ready to make a run (by seat) makes the next. One that has nothing
 * queued comes first: it has something else to do, or it is done; unless all that it waits for is what
 * others may show. SUITE_NOBODY: none is ready that has anything to do before runs under way have
 * ended. */
#define SUITE_NOBODY UINT32_MAX
uint32_t suite_turn(struct suite *suite, const bool *ready) MUST_USE;

#endif
