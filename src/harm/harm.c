/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of what `outfox harm` does. */
#include "harm/harm.h"

#include <string.h>

#include "harm/disk.h"
#include "harm/harm_int.h"

static const struct harm_row rows[] = {
    {"syscalls", "FILE CALL... -- PROGRAM WORD...", calls_run},
    {"syscalls-arm", "FILE NAME RULE", calls_arm},
    {"syscalls-disarm", "FILE NAME", calls_disarm},
    {"disk", "DIRECTORY", disk_run},
    {"disk-arm", "DIRECTORY NAME DEED KEY=VALUE...", disk_arm},
    {"disk-disarm", "DIRECTORY NAME", disk_disarm},
    {"disk-node", "DIRECTORY PID", disk_node},
    {"disk-unmount", "DIRECTORY", disk_leave},
    {"clock", "on PID OFFSET-NS DRIFT-PPB | off PID", harm_clock},
    {"descriptors", "on PID MORE | off PID", harm_descriptors},
    {"exit", "PID CODE", harm_exit},
    {"limit", "on PID KEY=NUMBER... | off PID", harm_limit},
    {NULL, NULL, NULL},
};

const struct harm_row *harm_find(const char *kind)
{
    for (const struct harm_row *r = rows; r->kind; r++)
        if (strcmp(kind, r->kind) == 0)
            return r;
    return NULL;
}
