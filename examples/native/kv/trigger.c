/* SPDX-License-Identifier: Apache-2.0
 *
 * The fault of a test build; trigger.h says how it is asked for. Otherwise nothing. */
#ifdef KV_TRIGGER
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trigger.h"

int trigger(const char *function, const char *call, size_t *n)
{
    static atomic_int seen;
    const char *wanted = getenv("KV_TRIGGER");
    char name[200];
    size_t length = (size_t)snprintf(name, sizeof name, "%s:%s:", function, call);
    if (!wanted || strncmp(wanted, name, length) ||
        atomic_fetch_add(&seen, 1) + 1 != atoi(wanted + length))
        return 0;
    const char *act = strrchr(wanted, ':') + 1;
    fprintf(stderr, "TRIGGER %s\n", wanted);
    if (!strcmp(act, "delay"))
        nanosleep(&(struct timespec){.tv_sec = 2, .tv_nsec = 0}, NULL);
    else if (!strcmp(act, "short") && n && *n > 1)
        *n /= 2;
    errno = EIO;
    return !strcmp(act, "error");
}
#endif
typedef int trigger_unit; /* a unit is never empty */
