/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTFOX_BASE_CLOCK_H
#define OUTFOX_BASE_CLOCK_H

#include <stdint.h>

/* Durations, in nanoseconds. */
#define MS(n)      ((n)*INT64_C(1000000))
#define SECONDS(n) ((n)*INT64_C(1000000000))
#define MINUTES(n) SECONDS(60 * (n))
#define HOURS(n)   MINUTES(60 * (n))

/* Nanoseconds of a clock that never goes back. */
int64_t clock_ns(void);

/* Nanoseconds since 1970, as the time of day has it: for people, not for durations. */
int64_t clock_wall_ns(void);

#endif
