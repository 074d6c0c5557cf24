/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests with a client or a server on a loop. The test has a struct lab, `turn` that turns its loop
 * once, and its PATIENCE in nanoseconds, far more than anything takes. */
#ifndef OUTFOX_TESTS_PUMP_H
#define OUTFOX_TESTS_PUMP_H

#include "base/clock.h"
#include "base/str.h"
#include "support/unit.h"

/* Turns the loop of b until the condition holds. */
#define PUMP(b, condition)                                                                         \
    do {                                                                                           \
        int64_t end_ns = clock_ns() + PATIENCE;                                                    \
        while (!(condition)) {                                                                     \
            if (clock_ns() > end_ns)                                                               \
                fail_msg("never: %s", #condition);                                                 \
            turn(b);                                                                               \
        }                                                                                          \
    } while (0)

/* As much of the text as there is room for. */
static inline void copy_text(char *to, size_t room, slice text)
{
    size_t n = text.n < room ? text.n : room - 1;
    if (n)
        memcpy(to, text.p, n);
    to[n] = 0;
}

#endif
