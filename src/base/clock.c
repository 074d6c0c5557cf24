/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return SECONDS(t.tv_sec) + t.tv_nsec;
}

int64_t clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}
