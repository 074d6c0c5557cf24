/* SPDX-License-Identifier: Apache-2.0
 *
 * verdict: what a scenario's expectation says of one run. */
#ifndef OUTFOX_CORE_VERDICT_H
#define OUTFOX_CORE_VERDICT_H

#include <stdbool.h>

#include "core/mode.h"

struct verdict {
    bool pass;
    outcome status;  /* what the client saw */
    const char *why; /* the sentence of the broken expectation; "" when it passed. Lives as long as
                        the scenario; equal for equal reasons, so without figures of one run */
    const char *detail; /* what it was in this run: "status 503, not 200"; NULL: nothing to add.
                           Lives as long as the run */
};

#endif
