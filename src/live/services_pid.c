/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose process is it, and what do the processes of a service hold? */
#include <unistd.h>

#include "live/services_int.h"

enum { GENERATIONS_MOST = 64 };

bool service_runs(const struct service *s)
{
    return s->state == SERVICE_STARTING || s->state == SERVICE_READY;
}

static uint32_t find(const struct services *s, pid_t pid, pid_t (*of)(const struct process *p))
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i].process && of(s->at[i].process) == pid)
            return i;
    return UINT32_MAX;
}

/* Nearly all are in the group of their service, which costs one call to find out. The others have
 * the service's guard among their ancestors. */
uint32_t services_of_pid(const struct services *s, pid_t pid)
{
    pid_t group = pid > 0 ? getpgid(pid) : -1;
    uint32_t found = group > 0 ? find(s, group, process_pid) : UINT32_MAX;
    for (int i = 0; i < GENERATIONS_MOST && found == UINT32_MAX && pid > 1; i++) {
        pid = process_parent(pid);
        if (pid > 0)
            found = find(s, pid, process_guard);
    }
    return found;
}

pid_t services_pid(const struct services *s, uint32_t service)
{
    const struct service *one = service < s->n ? &s->at[service] : NULL;
    return one && one->process && service_runs(one) ? process_pid(one->process) : 0;
}

bool services_usage(const struct services *s, uint32_t service, struct process_usage *out)
{
    const struct service *one = service < s->n ? &s->at[service] : NULL;
    return one && one->process && service_runs(one) && process_usage(one->process, out);
}
