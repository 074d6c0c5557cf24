/* SPDX-License-Identifier: Apache-2.0
 *
 * Where numbers come from while a run lasts: a collector of the plan. */
#ifndef OUTFOX_PLAN_COLLECT_H
#define OUTFOX_PLAN_COLLECT_H

#include "base/vec.h"
#include "data/regex.h"
#include "plan/host.h"

enum { PLAN_COLLECTORS_MAX = 50, PLAN_KEEP_MAX = 50 };

enum plan_collect_kind {
    COLLECT_COMMAND,    /* prints metric NAME VALUE lines, or one number */
    COLLECT_PROMETHEUS, /* a page of samples */
    COLLECT_OTLP,       /* an address where exporters send traces to */
    COLLECT_FILE,       /* lines that are added to a file */
    COLLECT_LINE,       /* lines that nodes and clients print */
};

struct plan_collect {
    slice name;
    enum plan_collect_kind kind;
    bool found;                /* a key has said the kind */
    slice source;              /* the command, URL, address or file */
    slice authority, target;   /* of PROMETHEUS: the parts of the URL */
    slice line;                /* of FILE and LINE: as written */
    const struct regex *regex; /* the same with VALUE_MARK in the place of the value */
    struct texts keep;         /* names that are kept, as written; none: all */
    VEC(const struct regex *) kept;
    int64_t every_ns, within_ns;
    slice of;     /* whose the samples are; of LINE: who prints */
    int32_t node; /* which that is; PLAN_NONE: none */
    struct plan_place at;
};

/* The value in a line, which is where {value} stands in the pattern. */
bool plan_collect_line(const struct plan_collect *c, slice text, double *out);

/* Is a metric of this name kept? */
bool plan_collect_keeps(const struct plan_collect *c, slice name);

#endif
