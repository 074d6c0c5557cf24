/* SPDX-License-Identifier: Apache-2.0
 *
 * The tests of a suite: from what their runner tells to scenarios of a configuration. */
#ifndef OUTFOX_CONFIG_SUITE_H
#define OUTFOX_CONFIG_SUITE_H

#include "config/config.h"

enum { TEST_BYTES_MAX = 4096, TESTS_MAX = 100 * SCENARIOS_MAX };

/* A test in each line, without the blanks round it; empty lines are none. The texts point into `out`.
 * Past TESTS_MAX it stops. */
void suite_lines(slice out, struct texts *tests);

/* Makes scenarios of those tests that `only` and `skip` choose, each test once, in their order; the texts
 * are copied. A scenario's name is made of its test, and differs from all others. -1: none is
 * chosen, there are more than SCENARIOS_MAX scenarios, or one cannot be a variable's value. */
int suite_add(struct campaign_config *c, const struct texts *tests, struct err *e) MUST_USE;

/* One that was added before, by the name that it got: from a store. -1: the name is none. */
int suite_add_named(struct campaign_config *c, slice name, slice test) MUST_USE;

#endif
