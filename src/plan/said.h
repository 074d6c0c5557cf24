/* SPDX-License-Identifier: Apache-2.0
 *
 * What clients that last say of themselves, line by line:
 *
 *   ok [TOOK] [TEXT]       an operation succeeded; TOOK as in 1.5ms, else the time since the last one
 *   fail [TOOK] [TEXT]     one failed
 *   event NAME [VALUE]     something happened
 *
 * All else that they print is a line like any other. */
#ifndef OUTFOX_PLAN_SAID_H
#define OUTFOX_PLAN_SAID_H

#include "base/str.h"

enum said_kind { SAID_OTHER, SAID_OK, SAID_FAIL, SAID_EVENT };

struct said {
    enum said_kind kind;
    int64_t took_ns; /* -1: it does not say */
    slice name;      /* of an event */
    slice text;      /* the rest, trimmed; an event's value */
};

struct said said_read(slice line);

#endif
